"""What a small pool beside a large one is worth: aggregate throughput of a mixed load over the small pool's share.

    python tests/bench/mixed_load.py [--seconds 4] [--json FILE] [--picture FILE.svg|FILE.png]

Two *simulated* pools: small and fast, large and slow. A closed loop of clients sends easy and hard prompts; the
embedded classifier holds the share of calls that go to the small pool. The figure is tokens per second of both pools
together over the same load on the large pool alone. It shows what routing does with given speeds, not what a model can.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import time
from pathlib import Path

from stellwerk.serving.decision.decide import decide
from stellwerk.serving.decision.request import RequestView
from stellwerk.serving.engines.simulated.engine import SimulatedEngine
from stellwerk.serving.engines.simulated.settings import SimulatedSettings
from stellwerk.serving.gateway.app import Gateway
from stellwerk.serving.gateway.settings import GatewaySettings
from stellwerk.serving.policy.load import load_policy

SMALL = SimulatedSettings(model="small", ttft_s=0.03, rate=150, batch=16, batch_share=0.6, answer_tokens=40)
LARGE = SimulatedSettings(model="large", ttft_s=0.12, rate=40, batch=16, batch_share=0.5, answer_tokens=40)
SHARES = (0, 20, 40, 60, 70, 80, 90, 100)
CLIENTS = 48
WARM_UP = 400  # requests that are decided, and not sent, before each point
EASY = (
    "What is the capital of {}?",
    "Translate 'good morning' into the language of {}.",
    "Name three rivers of {}.",
    "Say hello to somebody from {}.",
)
HARD = (
    "Prove by induction that the sum of the first n cubes is the square of the nth triangular number, then find a "
    "counterexample to the claim for {} variables over a finite field and explain each step.",
    "Write a thread-safe lock-free queue in C++20 for {} producers, argue its memory ordering, and derive the "
    "worst-case latency under contention.",
    "A train leaves {} at 7:40 with 83 km/h, another 25 minutes later with 112 km/h from a town 310 km away; the first "
    "stops four times for 3 minutes. When and where do they meet? Show all equations.",
    "Analyse the legal and economic consequences for {} of replacing income tax by a land value tax, with a model.",
)
PLACES = ("France", "Peru", "Japan", "Kenya", "Norway", "India", "Chile", "Egypt", "Canada", "Poland")


def prompt(number: int) -> str:
    """Seven of ten are easy, in an order that repeats."""
    kind = EASY if number * 7 % 10 < 7 else HARD
    return kind[number % len(kind)].format(PLACES[number // 4 % len(PLACES)])


def policy_text(share: int, small: int, large: int) -> str:
    pools = f"""pools:
  small: {{model: small, max_running: 16, max_waiting: 500, replicas: [{{url: "http://127.0.0.1:{small}/v1"}}]}}
  large: {{model: large, max_running: 16, max_waiting: 500, replicas: [{{url: "http://127.0.0.1:{large}/v1"}}]}}
"""
    if share in (0, 100):
        return f"version: 1\nmodels: {{auto: {'small' if share else 'large'}}}\n{pools}"
    return f"""version: 1
models: {{auto: ask}}
{pools}
classifiers: {{difficulty: {{kind: embedded}}}}
steps:
  ask:
    classify: difficulty
    to: {{simple: small, complex: large}}
    share: {{simple: {share}%}}
"""


async def one(port: int, number: int) -> int:
    """Tokens of one answer."""
    body = json.dumps({"model": "auto", "messages": [{"role": "user", "content": prompt(number)}]})
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"{head}content-type: application/json\r\nconnection: close\r\n\r\n{body}".encode())
    text = await reader.read()
    writer.close()
    head_text, _, answer = text.partition(b"\r\n\r\n")
    if not head_text.startswith(b"HTTP/1.1 200"):
        raise RuntimeError(f"not answered: {text[:300]!r}")
    return int(json.loads(answer)["usage"]["completion_tokens"])


def settle_shares(gateway: Gateway) -> None:
    """Let the share follow this traffic before anything is measured, as in a gateway that has run for a while."""
    deployment = gateway.deployment
    for number in range(WARM_UP):
        body = {"model": "auto", "messages": [{"role": "user", "content": prompt(number)}]}
        deployment.observe(decide(deployment.policy, RequestView("auto", body), deployment.snapshot()).scores)


async def measure(share: int, seconds: float) -> dict[str, float]:
    """One point of the curve."""
    small, large = SimulatedEngine(SMALL), SimulatedEngine(LARGE)
    text = policy_text(share, await small.start(), await large.start())
    gateway = Gateway(load_policy(text), GatewaySettings(port=0, log_path=None))
    port = await gateway.start()
    settle_shares(gateway)
    end_s = time.monotonic() + seconds
    numbers = iter(range(10**9))
    tokens: list[int] = []

    async def client() -> None:
        while time.monotonic() < end_s:
            tokens.append(await one(port, next(numbers)))

    begun_s = time.monotonic()
    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(CLIENTS):
                group.create_task(client())
        took_s = time.monotonic() - begun_s
    finally:
        await gateway.stop(0)
        await small.stop()
        await large.stop()
    return {
        "share": share,
        "small_calls": small.served / max(1, small.served + large.served),
        "tokens_per_s": sum(tokens) / took_s,
        "answers_per_s": len(tokens) / took_s,
    }


def svg(points: list[dict[str, float]]) -> str:
    """The curve as a picture: speed-up over the share of calls on the small pool."""
    width, height, left, right, top, bottom = 640, 380, 60, 30, 56, 56
    base = points[0]["tokens_per_s"]
    factors = [point["tokens_per_s"] / base for point in points]
    most = math.ceil(max(factors) * 1.08)

    def x(share: float) -> float:
        return left + share * (width - left - right)

    def y(factor: float) -> float:
        return height - bottom - factor / most * (height - top - bottom)

    def say(at_x: float, at_y: float, text: str, anchor: str = "middle", more: str = "") -> str:
        return f'<text x="{at_x:.1f}" y="{at_y:.1f}" font-size="12" text-anchor="{anchor}"{more}>{text}</text>'

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        say(left, 22, "Tokens per second against the large pool alone", "start", ' font-weight="bold"'),
        say(left, 40, "Simulated pools, one mixed load of easy and hard prompts", "start", ' fill="#555"'),
    ]
    for factor in range(most + 1):
        parts.append(f'<path d="M{left},{y(factor):.1f} H{width - right}" stroke="#e2e2e2"/>')
        parts.append(say(left - 8, y(factor) + 4, f"{factor}x", "end"))
    parts += [say(x(percent / 100), height - bottom + 18, f"{percent} %") for percent in range(0, 101, 20)]
    places = [(x(point["small_calls"]), y(factor)) for point, factor in zip(points, factors, strict=True)]
    line = " ".join(f"{at_x:.1f},{at_y:.1f}" for at_x, at_y in places)
    parts.append(f'<polyline points="{line}" fill="none" stroke="#3d7a00" stroke-width="2"/>')
    for (at_x, at_y), factor in zip(places, factors, strict=True):
        parts.append(f'<circle cx="{at_x:.1f}" cy="{at_y:.1f}" r="3.5" fill="#3d7a00"/>')
        parts.append(say(at_x + 2, at_y - 10, f"{factor:.2f}x", "end" if at_x > left + 40 else "start"))
    parts.append(say((left + width - right) / 2, height - 14, "share of calls on the small pool") + "</svg>")
    return "\n".join(parts)


def draw(text: str, path: Path) -> None:
    """Write the picture as SVG, or as PNG where the name says so (that needs the window's Qt)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix != ".png":
        path.write_text(text)
        return
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtGui import QGuiApplication, QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    application = QGuiApplication.instance() or QGuiApplication([])
    renderer = QSvgRenderer(text.encode())
    image = QImage(renderer.defaultSize() * 2, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    if not image.save(str(path)):
        raise OSError(f"{path} cannot be written")
    del application


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0, help="per point")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="the curve, as .svg or .png")
    options = parser.parse_args()
    points = [asyncio.run(measure(share, options.seconds)) for share in SHARES]
    base = points[0]["tokens_per_s"]
    print("wanted  on small   tokens/s  answers/s  against large only (simulated pools)")
    for point in points:
        factor = point["tokens_per_s"] / base
        print(
            f"{point['share']:5.0f}%  {point['small_calls']:7.1%}  {point['tokens_per_s']:9.1f}  "
            f"{point['answers_per_s']:9.2f}  {factor:5.2f}x {'#' * round(factor * 12)}"
        )
    best = max(points, key=lambda point: point["tokens_per_s"])
    print(f"most: {best['tokens_per_s'] / base:.2f}x, with {best['small_calls']:.0%} of the calls on the small pool")
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(points, indent=1))
    if options.picture is not None:
        draw(svg(points), options.picture)


if __name__ == "__main__":
    main()
