"""A report as one HTML page: no script, no request to anywhere, every string from a machine escaped."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence

from stellwerk import __version__
from stellwerk.model.finding import Check, Finding, Verdict, Verification
from stellwerk.model.selftest import SelfTest
from stellwerk.model.units import NOT_AVAILABLE, gibibytes_from_kb, link_speed, size_text
from stellwerk.report.compare import Change, Compared, compare
from stellwerk.report.model import Report
from stellwerk.report.summary import headline

_COLUMNS = (
    ("carrier", "Link"),
    ("speed", "Speed"),
    ("pcie", "PCIe"),
    ("rdma", "RDMA"),
    ("address", "Address"),
    ("gid", "GID"),
    ("route", "Route"),
    ("mtu", "MTU"),
    ("neighbour", "Neighbour"),
    ("bandwidth", "Bandwidth"),
    ("latency", "Latency"),
)
_RANK = (Verdict.FAIL, Verdict.NOT_AVAILABLE, Verdict.DEGRADED, Verdict.PASS)
_CLASS = {Verdict.PASS: "pass", Verdict.DEGRADED: "warn", Verdict.FAIL: "bad", Verdict.NOT_AVAILABLE: "none"}
_SIGN = {Verdict.PASS: "✓", Verdict.DEGRADED: "△", Verdict.FAIL: "✗", Verdict.NOT_AVAILABLE: "–"}
_MOST = 400  # characters of one string; a machine may say what it likes

_STYLE = """
:root{color-scheme:light dark;--bg:#fff;--fg:#1c2023;--mute:#5c666d;--line:#d9dee1;--pass:#267b43;--warn:#8f5a00;
--bad:#b3261e;--card:#f5f7f8}
@media(prefers-color-scheme:dark){:root{--bg:#16181a;--fg:#e6e9eb;--mute:#9aa4ab;--line:#33393d;--pass:#5cc27c;
--warn:#e3a13a;--bad:#ef7f77;--card:#1f2326}}
body{background:var(--bg);color:var(--fg);font:14px/1.5 "Inter",system-ui,sans-serif;margin:2rem auto;max-width:76rem;
padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);
vertical-align:top}th{color:var(--mute);font-weight:500}
.pass{color:var(--pass)}.warn{color:var(--warn)}.bad{color:var(--bad)}.none,.mute{color:var(--mute)}
.simulated{border:2px dashed var(--warn);color:var(--warn);padding:.5rem 1rem;border-radius:6px}
.card{background:var(--card);border-radius:6px;padding:.6rem 1rem;margin:.5rem 0}
.scroll{overflow-x:auto}code{font-family:"JetBrains Mono",monospace;font-size:.85em}
"""


def _is_shown(character: str) -> bool:
    return unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")


def clean(text: str) -> str:
    """A machine's string, safe inside HTML: no markup, no control or direction characters, not too long."""
    shown = "".join(" " if c in "\r\n\t" else c for c in text if c in "\r\n\t" or _is_shown(c))
    if len(shown) > _MOST:
        shown = shown[:_MOST] + "…"
    return html.escape(shown, quote=True)


def to_html(report: Report, comparison: Sequence[Compared] = (), compared_with: str = "") -> str:
    """The page. `comparison` adds what changed since an earlier run."""
    size = f" of {len(report.nodes)}" if report.nodes else ""
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>{clean(report.cluster)}: cluster report</title><style>{_STYLE}</style></head><body>",
        f"<h1>{clean(report.cluster)}: {clean(report.topology)}{size}</h1>",
        f'<p class="mute">Made {clean(report.created_at)} by Stellwerk {clean(report.product_version)}.</p>',
    ]
    if report.simulated:
        parts.append(
            '<p class="simulated">Simulated: these machines are simulated. No figure here was measured on hardware.</p>'
        )
    parts += _proof(report)
    parts += _comparison(comparison, compared_with)
    parts += _findings(report.findings, report.not_available)
    parts += _machines(report) if report.nodes else []
    parts += [f'<p class="mute">{clean(note)}</p>' for note in report.notes]
    parts.append("</body></html>")
    return "\n".join(parts) + "\n"


def render_html(verification: Verification, earlier: Verification | None = None) -> str:
    """The page of one run of *Prove* alone, compared with an earlier run."""
    report = Report(
        verification.cluster,
        verification.started_at,
        __version__,
        verification.topology,
        verification=verification,
        simulated=verification.simulated,
    )
    if earlier is None:
        return to_html(report)
    return to_html(report, compare(earlier, verification), f"the run of {earlier.started_at}")


def _proof(report: Report) -> list[str]:
    proof = report.verification
    if proof is None:
        return ["<p>The cluster has not been proven yet.</p>"]
    top = headline(proof)
    parts = [f'<h2 class="{_CLASS[top.verdict]}">{_SIGN[top.verdict]} {clean(top.sentence)}</h2>']
    parts.append(f'<p>{clean(top.counts)} <span class="mute">Started {clean(proof.started_at)}.</span></p>')
    parts += [f'<p class="mute">{clean(note)}</p>' for note in proof.notes]
    rows: dict[tuple[str, str], list[Check]] = {}
    for check in proof.checks:
        rows.setdefault((check.node, _place(check)), []).append(check)
    columns = [column for column in _COLUMNS if any(check.kind == column[0] for check in proof.checks)]
    parts.append('<div class="scroll"><table><thead><tr><th>Node</th><th>Half</th>')
    parts += [f"<th>{title}</th>" for _, title in columns]
    parts.append("</tr></thead><tbody>")
    for (node, place), checks in rows.items():
        cells = "".join(_cell([check for check in checks if check.kind == kind]) for kind, _ in columns)
        parts.append(f"<tr><td>{clean(node)}</td><td>{clean(place)}</td>{cells}</tr>")
    parts.append("</tbody></table></div>")
    others = [c for c in proof.checks if c.kind not in dict(_COLUMNS)]
    parts += [
        f'<p class="{_CLASS[c.verdict]}">{_SIGN[c.verdict]} {clean(c.node)}, {clean(c.subject)}: {clean(c.text)}</p>'
        for c in others
    ]
    parts += _self_test(proof.self_test)
    wrong = [check for check in proof.checks if check.verdict is not Verdict.PASS]
    if wrong:
        parts.append("<h2>Why, and what to do</h2>")
        parts += [_reason(check) for check in wrong]
    return parts


def _self_test(test: SelfTest | None) -> list[str]:
    """The collectives: every algorithm, its medians, whether each sum was exact."""
    if test is None:
        return []
    kind = "bad" if test.wrong else "warn" if test.notes else "pass"
    verdict = "wrong sums" if test.wrong else "exact" if test.rows else "nothing was tested"
    how = f"all-reduce over {clean(test.transport)}, {test.ranks} ranks, {test.calls} calls, median times"
    parts = [f'<h2>Collective self-test: <span class="{kind}">{verdict}</span></h2><p class="mute">{how}.</p>']
    if test.simulated:
        parts.append(
            '<p class="mute">The machines are simulated: the ranks share one computer, and so do the times.</p>'
        )
    parts.append('<div class="scroll"><table><thead><tr><th>Algorithm</th>')
    parts += [f"<th>{size_text(size)}</th>" for size in test.sizes]
    parts.append("<th>Sum</th></tr></thead><tbody>")
    for row in test.rows:
        cells = []
        for us, best in zip(row.median_us, test.best, strict=False):
            text = "–" if us is None else f"{us:.1f} µs"
            cells.append(f"<td><strong>{text}</strong></td>" if best == row.algorithm else f"<td>{text}</td>")
        end = f'<td class="bad">{row.wrong} wrong</td>' if row.wrong else '<td class="pass">✓ exact</td>'
        parts.append(f"<tr><td>{clean(row.algorithm)}</td>{''.join(cells)}{end}</tr>")
    parts.append("</tbody></table></div>")
    return parts + [f'<p class="warn">{clean(note)}</p>' for note in test.notes]


def _place(check: Check) -> str:
    return f"port {check.port} {check.half}" if check.port is not None and check.half else check.subject


def _cell(checks: Sequence[Check]) -> str:
    """The worst of several checks of one kind (the two directions of a link)."""
    if not checks:
        return '<td class="none">–</td>'
    worst = min(checks, key=lambda check: _RANK.index(check.verdict))
    text = worst.text or worst.verdict.value
    return f'<td class="{_CLASS[worst.verdict]}">{_SIGN[worst.verdict]} {clean(text)}</td>'


def _reason(check: Check) -> str:
    mark = f", pass mark {check.pass_mark:g} {clean(check.unit)}" if check.pass_mark is not None else ""
    why = f"<br>{clean(check.why)}." if check.why else ""
    remedy = f"<br>What to do: {clean(check.remedy)}." if check.remedy else ""
    return (
        f'<div class="card"><strong class="{_CLASS[check.verdict]}">{_SIGN[check.verdict]} {clean(check.node)}, '
        f"{clean(check.subject)}: {clean(check.kind)} {clean(check.text)}</strong>{mark}{why}{remedy}</div>"
    )


def _comparison(comparison: Sequence[Compared], compared_with: str) -> list[str]:
    if not comparison:
        return []
    changed = [compared for compared in comparison if compared.change is not Change.SAME]
    parts = [f"<h2>Compared with {clean(compared_with)}</h2>" if compared_with else "<h2>Compared</h2>"]
    if not changed:
        return [*parts, "<p>Nothing changed.</p>"]
    kind = {Change.WORSE: "bad", Change.BETTER: "pass"}
    parts.append("<table><tbody>")
    for compared in changed:
        check = compared.check
        parts.append(
            f'<tr><td class="{kind.get(compared.change, "mute")}">{compared.change.value}</td>'
            f"<td>{clean(check.node)}</td><td>{clean(check.subject)}</td><td>{clean(check.kind)}</td><td>{clean(compared.text)}</td></tr>"
        )
    parts.append("</tbody></table>")
    return parts


def _findings(findings: Iterable[Finding], not_available: Sequence[str]) -> list[str]:
    parts = []
    word = {"bad": "Problem", "warn": "Warning", "info": "Note"}
    for finding in findings:
        evidence = "".join(f"<br><code>{clean(line)}</code>" for line in finding.evidence)
        steps = "".join(f"<li>{clean(step)}</li>" for step in finding.remedy)
        where = ", ".join(clean(part) for part in (finding.node, finding.subject) if part)
        shade = {"bad": "bad", "warn": "warn", "info": "mute"}[finding.severity.value]
        parts.append(
            f'<div class="card"><strong class="{shade}">{word[finding.severity.value]}: {clean(finding.title)}</strong>'
            f'<br><span class="mute">{where} <code>{clean(finding.code)}</code></span><br>{clean(finding.meaning)}'
            f"{evidence}<ol>{steps}</ol></div>"
        )
    if parts:
        parts.insert(0, "<h2>Findings</h2>")
    if not_available:
        parts.append("<h2>Not available</h2><ul>")
        parts += [f'<li class="mute">{clean(line)}</li>' for line in not_available]
        parts.append("</ul>")
    return parts


def _machines(report: Report) -> list[str]:
    parts = ["<h2>Nodes</h2>", '<div class="scroll"><table><thead><tr>']
    titles = ("Name", "Host name", "Product", "System", "DGX OS", "Kernel", "Driver", "Firmware", "Memory")
    parts += [f"<th>{title}</th>" for title in titles]
    parts.append("</tr></thead><tbody>")
    for node in report.nodes:
        values = (node.name, node.hostname, node.product, node.os, node.dgx_os, node.kernel, node.driver, node.firmware)
        cells = [clean(value) if value else NOT_AVAILABLE for value in values]
        cells.append(clean(gibibytes_from_kb(node.memory_kb)))
        parts.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    parts.append("</tbody></table></div>")
    if report.cables:
        parts.append("<h2>Cables</h2><ul>")
        parts += [f"<li>{clean(cable)}</li>" for cable in report.cables]
        parts.append("</ul>")
    parts.append('<h2>Ports</h2><div class="scroll"><table><thead><tr>')
    parts += [f"<th>{title}</th>" for title in ("Node", "Port", "Half", "Interface", "RDMA", "Address", "MTU", "Speed")]
    parts.append("</tr></thead><tbody>")
    for half in report.halves:
        cells = [
            clean(half.node),
            str(half.port),
            clean(half.half),
            clean(half.netdev),
            clean(half.rdma or NOT_AVAILABLE),
        ]
        cells += [clean(", ".join(half.addresses) or "no address"), str(half.mtu or NOT_AVAILABLE)]
        cells.append(clean(link_speed(half.speed_mbps)))
        parts.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    parts.append("</tbody></table></div>")
    return parts
