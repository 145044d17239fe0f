"""Netplan files: read as netplan reads them, ours accepted by netplan, foreign ones cut without a scratch."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.machines import mac_of
from stellwerk.fabric import yamltree
from stellwerk.fabric.netplan import NetplanText, Stanza, configured, diff, parse_files, render
from stellwerk.model.errors import BadInput
from stellwerk.model.facts import NetDevice, NetplanFile
from stellwerk.model.plan import FileChange

PATH = "/etc/netplan/40-cx7.yaml"
FIXTURES = Path(__file__).parents[2] / "fixtures" / "netplan"
HALF = NetDevice("enp1s0f0np0", mac="3c:6d:66:00:01:00", driver="mlx5_core")


def without(text: str, *keys: str) -> str | None:
    return NetplanText(PATH, text).without(keys)


def test_a_block_file_loses_only_our_lines() -> None:
    text = (
        "# by hand, 2026\nnetwork:\n  version: 2\n  ethernets:\n    # the office LAN\n    enP7s7:\n"
        "      dhcp4: true  # do not touch\n    enp1s0f0np0:\n      dhcp4: no\n\n      addresses:\n"
        "        - 192.168.100.10/24\n    # wifi comes later\n  wifis: {}\n"
    )
    assert without(text, "enp1s0f0np0") == (
        "# by hand, 2026\nnetwork:\n  version: 2\n  ethernets:\n    # the office LAN\n    enP7s7:\n"
        "      dhcp4: true  # do not touch\n    # wifi comes later\n  wifis: {}\n"
    )


def test_a_file_with_nothing_else_is_moved_away() -> None:
    text = "network:\n  version: 2\n  ethernets:\n    enp1s0f0np0: {dhcp4: no}\n    enP2p1s0f0np0: {dhcp4: no}\n"
    assert without(text, "enp1s0f0np0", "enP2p1s0f0np0") is None


def test_a_renderer_is_something_else_and_stays() -> None:
    text = "network:\n  version: 2\n  renderer: NetworkManager\n  ethernets:\n    enp1s0f0np0:\n      dhcp4: no\n"
    assert without(text, "enp1s0f0np0") == "network:\n  version: 2\n  renderer: NetworkManager\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("network: {ethernets: {enp1s0f0np0: {dhcp4: no}, a: {}}}", "network: {ethernets: {a: {}}}"),
        ("network: {ethernets: {a: {}, enp1s0f0np0: {dhcp4: no}}}", "network: {ethernets: {a: {} }}"),
        ("network: {ethernets: {a: {}, enp1s0f0np0: {}, }}", "network: {ethernets: {a: {}, }}"),
        (
            "network: {version: 2, ethernets: {enp1s0f0np0: {}}, wifis: {w: {}}}",
            "network: {version: 2, wifis: {w: {}}}",
        ),
        (
            "network:\n  ethernets: {a: {}, # one, two\n    enp1s0f0np0: {}} # end\n",
            "network:\n  ethernets: {a: {} # one, two\n    } # end\n",
        ),
    ],
)
def test_flow_style_keeps_its_commas_right(text: str, expected: str) -> None:
    assert without(text, "enp1s0f0np0") == expected


def test_line_ends_marks_and_tabs_stay_as_they_are() -> None:
    text = "\ufeffnetwork:\r\n  ethernets:\r\n    enp1s0f0np0:\t# ours\r\n      mtu: \t9000\r\n    é: {}\r\n"
    assert without(text, "enp1s0f0np0") == "\ufeffnetwork:\r\n  ethernets:\r\n    é: {}\r\n"


def test_an_anchor_that_others_use_is_not_torn_out() -> None:
    text = "network:\n  ethernets:\n    enp1s0f0np0: &x\n      dhcp4: no\n    enP7s7: *x\n"
    with pytest.raises(BadInput, match="by hand"):
        without(text, "enp1s0f0np0")
    assert without(text, "enP7s7") == "network:\n  ethernets:\n    enp1s0f0np0: &x\n      dhcp4: no\n"


def test_a_key_that_is_there_twice_goes_twice() -> None:
    text = "network:\n  ethernets:\n    enp1s0f0np0: {mtu: 1}\n    a: {}\n    enp1s0f0np0: {mtu: 2}\n"
    assert without(text, "enp1s0f0np0") == "network:\n  ethernets:\n    a: {}\n"


@pytest.mark.parametrize(
    "text",
    [
        "network: [1, 2]",
        "- a\n- b\n",
        "network:\n  ethernets: 5\n",
        "network:\n\tethernets: {}\n",
        "network: {",
        "a: *nowhere",
        "network: {}\n---\nnetwork: {}\n",
        "network: &n {ethernets: *n}",
        "x: " + "[" * 500,
        "\x00",
        "&a ? *a : b",
    ],
)
def test_garbage_is_a_clear_message_that_names_the_file(text: str) -> None:
    with pytest.raises(BadInput, match="40-cx7"):
        NetplanText(PATH, text)


def test_aliases_that_explode_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    with pytest.raises(BadInput, match="without end"):
        NetplanText(PATH, "\n".join(lines))


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        NetplanText(PATH, text).without(["enp1s0f0np0"])
    except BadInput as error:
        assert "40-cx7" in str(error)


# --- a generator of ugly files, each with what must be left of it ---

SCALARS = st.sampled_from(["no", "true", "9000", '"quo:ted"', "'it''s'", "10.0.0.1/24", "[]", "[a, b]", "{x: 1}", ""])
COMMENTS = st.sampled_from(["", "  # note, with: comma", "\t# tab"])


@st.composite
def ugly(draw: Any) -> tuple[str, list[str], list[str]]:
    """(text, our ids, all ids): block style with comments, flow values, blank lines, lists, odd indentation."""
    eol = draw(st.sampled_from(["\n", "\r\n"]))
    step = " " * draw(st.integers(1, 4))
    ids = draw(st.permutations(["enp1s0f0np0", "enP2p1s0f0np0", "enP7s7", "usb0"]))
    ids = ids[: draw(st.integers(1, 4))]
    lines = [draw(st.sampled_from(["# head", "---", "", "#"])), "network:"]
    if draw(st.booleans()):
        lines.append(f"{step}version: 2")
    lines.append(f"{step}ethernets:{draw(COMMENTS)}")
    for name in ids:
        if draw(st.booleans()):
            lines.append(draw(st.sampled_from(["", "      # about the next", f"{step * 3}# deep"])))
        key = draw(st.sampled_from([name, f'"{name}"', f"'{name}'"]))
        if draw(st.booleans()):
            lines.append(f"{step * 2}{key}: {{dhcp4: no, addresses: [1.2.3.4/24]}}{draw(COMMENTS)}")
            continue
        lines.append(f"{step * 2}{key}:{draw(COMMENTS)}")
        for setting in draw(st.lists(st.sampled_from(["dhcp4", "mtu", "match-x", "k"]), unique=True, max_size=3)):
            lines.append(f"{step * 3}{setting}: {draw(SCALARS)}{draw(COMMENTS)}")
            if draw(st.booleans()):
                lines.append(draw(st.sampled_from(["", f"{step * 5}# inside"])))
        if draw(st.booleans()):
            lines += [f"{step * 3}addresses:", f"{step * 3}- 1.1.1.1/24{draw(COMMENTS)}", f"{step * 4}"]
    if draw(st.booleans()):
        lines += [f"{step}wifis:{draw(COMMENTS)}", f"{step * 2}wlan0: {{}}"]
    text = eol.join(lines) + draw(st.sampled_from(["", eol, eol * 2]))
    ours = [name for name in ids if name.startswith("en") and name != "enP7s7"]
    return text, ours, list(ids)


@settings(max_examples=300, deadline=None)
@given(ugly())
def test_ugly_files_lose_our_keys_and_nothing_else(case: tuple[str, list[str], list[str]]) -> None:
    text, ours, _ids = case
    before = NetplanText(PATH, text)
    result = before.without(ours)
    if result is None:
        assert set(before.ethernets) <= set(ours) and "wifis" not in before.network
        return
    after = NetplanText(PATH, result)
    assert set(after.ethernets) == set(before.ethernets) - set(ours)
    for name in after.ethernets:
        assert after.ethernets[name] == before.ethernets[name]
    assert {k: v for k, v in after.network.items() if k != "ethernets"} == {
        k: v for k, v in before.network.items() if k != "ethernets"
    }
    # What is left is the old text with whole pieces cut out: a subsequence in lines, no line changed.
    old = iter(text.splitlines(keepends=True))
    assert all(line in old for line in result.splitlines(keepends=True))


# --- what the files say ---


def test_files_add_up_as_netplan_merges_them() -> None:
    files = [
        NetplanFile("/etc/netplan/90-b.yaml", 0o600, "network: {ethernets: {enp1s0f0np0: {mtu: 9000, dhcp4: off}}}"),
        NetplanFile(
            "/etc/netplan/40-a.yaml",
            0o600,
            "network: {ethernets: {enp1s0f0np0: {mtu: 1500, dhcp4: yes, addresses: [10.0.0.1/24]}}}",
        ),
        NetplanFile("/etc/netplan/41.yaml", 0o600, "network: {ethernets: {enp1s0f0np0: {addresses: [10.0.1.1/24]}}}"),
        NetplanFile("/etc/netplan/42.yaml.sync-disabled-1", 0o600, "garbage: ["),
    ]
    found = configured(parse_files(files), HALF)
    assert (found.addresses, found.mtu, found.dhcp4) == (("10.0.0.1/24", "10.0.1.1/24"), 9000, False)
    assert found.files == ("/etc/netplan/40-a.yaml", "/etc/netplan/41.yaml", "/etc/netplan/90-b.yaml")


@pytest.mark.parametrize(
    ("stanza", "kind"),
    [
        ("enp1s0f0np0: {}", "own"),
        ("NM-1: {match: {name: enp1s0f0np0}}", "own"),
        ("x: {match: {macaddress: '3C:6D:66:00:01:00'}}", "own"),
        ("x: {match: {macaddress: '3c:6d:66:00:01:02'}}", None),
        ("x: {match: {name: 'en*'}}", "pattern"),
        ("x: {match: {driver: mlx5_*}}", "pattern"),
        ("x: {match: {}}", "pattern"),
        ("x: {match: {name: 'eth*'}}", None),
        ("x: {match: {macaddress: '3c:6d:66:00:01:00'}, set-name: enp1s0f0np0}", "rename"),
        ("enp1s0f0np0: {match: {name: other0}}", None),
        ("enP7s7: {}", None),
    ],
)
def test_how_a_stanza_claims_an_interface(stanza: str, kind: str | None) -> None:
    claims = NetplanText(PATH, f"network: {{ethernets: {{{stanza}}}}}").claims(HALF)
    assert [claim.kind for claim in claims] == ([kind] if kind else [])


def test_a_mac_of_digits_stays_a_string() -> None:
    device = NetDevice("x0", mac="12:34:56:01:02:03")
    text = NetplanText(PATH, "network: {ethernets: {x: {match: {macaddress: 12:34:56:01:02:03}}}}")
    assert [claim.kind for claim in text.claims(device)] == ["own"]


def test_a_bond_member_is_named() -> None:
    text = NetplanText(PATH, "network: {bonds: {bond0: {interfaces: [enp1s0f0np0, a]}}}")
    assert [(claim.key, claim.kind) for claim in text.claims(HALF)] == [("bonds.bond0", "member")]


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.yaml")), ids=lambda path: path.name)
def test_files_of_the_field_are_read(path: Path) -> None:
    text = NetplanText(str(path), path.read_text())
    assert text.ethernets
    assert text.without(text.ethernets) is None or "renderer" in text.network


# --- our own file ---

NAMES = st.one_of(
    st.sampled_from(["enp1s0f0np0", "enP2p1s0f1np1", "fabric0", "eth0.5", "on", "null", "1e3", "0x1f", "a:b"]),
    st.from_regex(r"[a-zA-Z0-9_.-]{1,15}", fullmatch=True).filter(lambda name: name not in (".", "..")),
)


@st.composite
def stanza_lists(draw: Any) -> list[Stanza]:
    names = draw(st.lists(NAMES, unique=True, min_size=1, max_size=6))
    result = []
    for index, name in enumerate(names):
        routes = tuple(
            (f"10.200.{n}.0/24", f"10.100.{index}.9")
            for n in draw(st.lists(st.integers(0, 255), unique=True, max_size=3))
        )
        result.append(
            Stanza(name, f"10.100.{index}.{draw(st.integers(1, 8))}/24", draw(st.integers(1280, 9216)), routes)
        )
    return result


@given(stanza_lists())
def test_our_file_says_what_was_planned(stanzas: list[Stanza]) -> None:
    texts = parse_files([NetplanFile("/etc/netplan/60-stellwerk.yaml", 0o600, render(stanzas))])
    assert "renderer" not in texts[0].network
    for stanza in stanzas:
        found = configured(texts, NetDevice(stanza.netdev))
        assert found.addresses == (stanza.address,)
        assert (found.mtu, found.dhcp4, found.link_local_off, found.routes) == (stanza.mtu, False, True, stanza.routes)


def netplan_accepts(tmp: Path, files: dict[str, str]) -> str:
    """Runs the real `netplan generate` on a tree; the empty string when it accepts, else what it said."""
    where = tmp / "etc" / "netplan"
    shutil.rmtree(tmp / "etc", ignore_errors=True)
    where.mkdir(parents=True)
    for path, text in files.items():
        target = where / Path(path).name
        target.write_text(text, newline="")
        target.chmod(0o600)
    done = subprocess.run(
        ["netplan", "generate", "--root-dir", str(tmp)], capture_output=True, text=True, check=False, timeout=60
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr or "failed"


@pytest.mark.skipif(shutil.which("netplan") is None, reason="netplan is not installed")
def test_netplan_accepts_every_file_that_we_write(tmp_path_factory: pytest.TempPathFactory) -> None:
    tmp = tmp_path_factory.mktemp("root")

    @settings(max_examples=12, deadline=None)
    @given(stanza_lists())
    def accepted(stanzas: list[Stanza]) -> None:
        assert netplan_accepts(tmp, {"60-stellwerk.yaml": render(stanzas)}) == ""

    accepted()


def test_a_diff_shows_both_sides() -> None:
    shown = diff(FileChange(PATH, "a\nb\n", "a\nc\n"))
    assert shown.splitlines()[0] == f"--- {PATH}" and "-b" in shown and "+c" in shown
    assert diff(FileChange(PATH, None, "a\n")).startswith("--- /dev/null")


def test_fixture_macs_are_distinct() -> None:
    assert len({mac_of(n, d) for n in (1, 2) for d in ("enp1s0f0np0", "enP2p1s0f0np0")}) == 4


def test_the_tree_keeps_places() -> None:
    text = "a: {b: [1, 2]} # c\n"
    tree = yamltree.mapping(yamltree.parse(text, PATH))
    assert tree is not None
    value = tree.get("a")
    assert value is not None and text[value.start : value.end] == "{b: [1, 2]}"
