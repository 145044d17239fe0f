"""Finding RDMA devices in a made-up sysfs."""

from __future__ import annotations

from pathlib import Path

import pytest

from stellwerk.collectives.roce import NoRail, Rail, find_rails


def device(root: Path, name: str, gids: dict[int, tuple[str, str]], state: str = "4: ACTIVE") -> None:
    port = root / "class" / "infiniband" / name / "ports" / "1"
    (port / "gids").mkdir(parents=True)
    (port / "gid_attrs" / "types").mkdir(parents=True)
    (port / "state").write_text(state + "\n", encoding="ascii")
    for index, (gid, kind) in gids.items():
        (port / "gids" / str(index)).write_text(gid + "\n", encoding="ascii")
        (port / "gid_attrs" / "types" / str(index)).write_text(kind + "\n", encoding="ascii")


LINK_LOCAL = "fe80:0000:0000:0000:3e6d:66ff:fe01:b3b0"


def mapped(address: str) -> str:
    a, b, c, d = (int(part) for part in address.split("."))
    return f"0000:0000:0000:0000:0000:ffff:{a:02x}{b:02x}:{c:02x}{d:02x}"


@pytest.fixture
def sysfs(tmp_path: Path) -> Path:
    device(
        tmp_path,
        "rocep1s0f0",
        {
            0: (LINK_LOCAL, "IB/RoCE v1"),
            1: (LINK_LOCAL, "RoCE v2"),
            2: (mapped("192.168.100.1"), "IB/RoCE v1"),
            4: (mapped("192.168.100.1"), "RoCE v2"),  # not 3: the index moves when addresses come and go
        },
    )
    device(tmp_path, "roceP2p1s0f0", {11: (mapped("192.168.101.1"), "RoCE v2"), 2: (LINK_LOCAL, "RoCE v2")})
    device(tmp_path, "rocep1s0f1", {3: (mapped("10.0.0.1"), "RoCE v2")}, "1: DOWN")
    return tmp_path


def test_the_device_with_the_own_address_is_found_with_the_index_of_its_gid(sysfs: Path) -> None:
    assert find_rails([], "192.168.100.1", sysfs) == [Rail("rocep1s0f0", 4, "192.168.100.1")]


def test_both_halves_can_be_named(sysfs: Path) -> None:
    rails = find_rails(["rocep1s0f0", "roceP2p1s0f0"], "", sysfs)
    assert [(rail.device, rail.gid_index) for rail in rails] == [("rocep1s0f0", 4), ("roceP2p1s0f0", 11)]


@pytest.mark.parametrize(
    ("names", "address", "why"),
    [
        (["mlx5_0"], "", "mlx5_0 not found; there are roceP2p1s0f0, rocep1s0f0, rocep1s0f1"),
        (["rocep1s0f1"], "", "rocep1s0f1 is not active"),
        ([], "10.9.9.9", "no RDMA device has the address 10.9.9.9"),
    ],
)
def test_what_is_missing_is_named(sysfs: Path, names: list[str], address: str, why: str) -> None:
    with pytest.raises(NoRail, match=why):
        find_rails(names, address, sysfs)


def test_a_machine_without_rdma_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoRail, match="there is no RDMA device"):
        find_rails([], "10.0.0.1", tmp_path)
