"""Finding RDMA devices in a made-up sysfs, and the way from rank to rank."""

from __future__ import annotations

from ipaddress import IPv4Interface
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.collectives.algorithms import Call, algorithms_for, build
from stellwerk.collectives.kinds import DataType, Operation
from stellwerk.collectives.neighbours import NEAR
from stellwerk.collectives.roce import NoRail, Rail, find_rails, find_routes, neighbours, prefix_of, shared


def device(root: Path, name: str, gids: dict[int, tuple[str, str]], state: str = "4: ACTIVE") -> None:
    port = root / "class" / "infiniband" / name / "ports" / "1"
    (port / "gids").mkdir(parents=True)
    (port / "gid_attrs" / "types").mkdir(parents=True)
    (port / "gid_attrs" / "ndevs").mkdir(parents=True)
    (port / "state").write_text(state + "\n", encoding="ascii")
    for index, (gid, kind) in gids.items():
        (port / "gids" / str(index)).write_text(gid + "\n", encoding="ascii")
        (port / "gid_attrs" / "types" / str(index)).write_text(kind + "\n", encoding="ascii")
        (port / "gid_attrs" / "ndevs" / str(index)).write_text(f"net-{name}\n", encoding="ascii")


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


def prefix(interface: str, address: str) -> int:
    if address == "192.168.250.1":
        raise OSError("cannot assign requested address")
    assert interface.startswith("net-roce")
    return 24


def rail(device: str, address: str, index: int = 3) -> Rail:
    return Rail(device, index, IPv4Interface(address))


def test_the_device_with_the_own_address_is_found_with_the_index_of_its_gid(sysfs: Path) -> None:
    found = find_rails([], {"192.168.100.1"}, sysfs, prefix)
    assert found == [rail("rocep1s0f0", "192.168.100.1/24", 4)]


def test_on_a_ring_the_devices_of_all_own_addresses_are_found(sysfs: Path) -> None:
    found = find_rails([], {"192.168.100.1", "192.168.101.1"}, sysfs, prefix)
    assert [r.device for r in found] == ["roceP2p1s0f0", "rocep1s0f0"]


def test_both_halves_can_be_named(sysfs: Path) -> None:
    rails = find_rails(["rocep1s0f0", "roceP2p1s0f0"], {""}, sysfs, prefix)
    assert [(r.device, r.gid_index) for r in rails] == [("rocep1s0f0", 4), ("roceP2p1s0f0", 11)]


def test_every_address_of_a_device_counts_but_not_one_that_has_just_gone(tmp_path: Path) -> None:
    gids = {1: "192.168.250.1", 2: "10.0.0.1", 5: "10.1.0.1"}
    device(tmp_path, "rocep1s0f0", {index: (mapped(address), "RoCE v2") for index, address in gids.items()})
    found = find_rails(["rocep1s0f0"], {""}, tmp_path, prefix)
    assert [str(r) for r in found] == ["rocep1s0f0 10.0.0.1/24", "rocep1s0f0 10.1.0.1/24"]
    assert [r.gid_index for r in found] == [2, 5]


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
        find_rails(names, {address}, sysfs, prefix)


def test_a_machine_without_rdma_says_so(tmp_path: Path) -> None:
    with pytest.raises(NoRail, match="there is no RDMA device"):
        find_rails([], {"10.0.0.1"}, tmp_path, prefix)


def test_the_prefix_of_an_address_comes_from_the_kernel() -> None:
    assert prefix_of("lo", "127.0.0.1") == 8
    with pytest.raises(OSError, match="lo has no address"):
        prefix_of("lo", "192.0.2.1")


def test_both_halves_of_a_cable_are_the_two_rails_of_a_pair() -> None:
    everybody = [
        [rail("rocep1s0f0", "10.0.1.1/24"), rail("roceP2p1s0f0", "10.0.2.1/24")],
        [rail("roceP2p1s0f1", "10.0.2.2/24"), rail("rocep1s0f1", "10.0.1.2/24")],  # the other port, named the other way
    ]
    first, second = (find_routes(r, everybody, ["a", "b"], ring=False) for r in range(2))
    assert first.rails == second.rails == 2
    assert [first.ports[i].device for i in first.by_peer[1]] == ["rocep1s0f0", "roceP2p1s0f0"]
    assert [second.ports[i].device for i in second.by_peer[0]] == ["rocep1s0f1", "roceP2p1s0f1"]


def test_all_pairs_use_as_many_rails_as_the_poorest() -> None:
    whole = [[rail("a", f"10.0.1.{r}/24"), rail("b", f"10.0.2.{r}/24")] for r in (1, 2)]
    routes = find_routes(0, [*whole, [rail("a", "10.0.1.3/24")]], ["x"] * 3, ring=False)
    assert routes.rails == 1
    assert [p.device for p in routes.ports] == ["a"]


def test_a_rank_alone_needs_no_device() -> None:
    routes = find_routes(0, [[rail("a", "10.0.1.1/24")]], ["x"], ring=False)
    assert (routes.ports, routes.by_peer, routes.rails) == ((), ((),), 1)


def test_ranks_without_a_common_subnet_are_named_alike_on_all() -> None:
    everybody = [[rail("a", "10.0.1.1/24")], [rail("a", "10.0.1.2/24")], [rail("b", "10.0.9.3/24")]]
    for rank in range(3):
        why = r"rank 0 \(x: a 10.0.1.1/24\) and rank 2 \(z: b 10.0.9.3/24\) have no RDMA devices in a common subnet"
        with pytest.raises(NoRail, match=why):
            find_routes(rank, everybody, ["x", "y", "z"], ring=False)


def ring_of(ranks: int, halves: int) -> list[list[Rail]]:
    """Cable i joins ranks i and i + 1; every half of it is a subnet."""
    rails: list[list[Rail]] = [[] for _ in range(ranks)]
    for cable in range(ranks):
        for half in range(halves):
            for end, rank in enumerate((cable, (cable + 1) % ranks)):
                rails[rank].append(rail(f"port{end}{half}", f"10.{half}.{cable}.{end + 1}/24"))
    return rails


@given(st.integers(4, 16), st.integers(1, 2), st.randoms(use_true_random=False))
def test_on_a_ring_each_neighbour_is_behind_a_device_of_its_own(ranks: int, halves: int, chance: object) -> None:
    everybody = ring_of(ranks, halves)
    for rails in everybody:
        chance.shuffle(rails)  # type: ignore[attr-defined]
    routes = [find_routes(r, everybody, ["x"] * ranks, ring=True) for r in range(ranks)]
    for rank in range(ranks):
        assert {p for p in range(ranks) if routes[rank].by_peer[p]} == {(rank - 1) % ranks, (rank + 1) % ranks}
        assert routes[rank].rails == halves
        for peer in neighbours(rank, ranks, ring=True):
            mine = [routes[rank].ports[i].address for i in routes[rank].by_peer[peer]]
            theirs = [routes[peer].ports[i].address for i in routes[peer].by_peer[rank]]
            assert [a.network for a in mine] == [a.network for a in theirs], "both ends number their rails alike"
            assert all(a != b for a, b in zip(mine, theirs, strict=True))


@given(st.lists(st.integers(0, 3), max_size=6), st.lists(st.integers(0, 3), max_size=6))
def test_what_two_ranks_share_is_the_same_from_both_sides(mine: list[int], theirs: list[int]) -> None:
    own = [rail(f"m{i}", f"10.0.{subnet}.{i + 1}/24") for i, subnet in enumerate(mine)]
    others = [rail(f"t{i}", f"10.0.{subnet}.{i + 101}/24") for i, subnet in enumerate(theirs)]
    assert shared(own, others) == [(a, b) for b, a in shared(others, own)]


@pytest.mark.parametrize("operation", Operation)
@pytest.mark.parametrize("ranks", [4, 5, 8])
def test_what_goes_over_rdma_on_a_ring_is_sent_to_neighbours_only(operation: Operation, ranks: int) -> None:
    for algorithm in NEAR.intersection(algorithms_for(operation)):
        for rank in range(ranks):
            schedule = build(Call(operation, algorithm, rank, ranks, 1000, DataType.FLOAT32, 2))
            reached = {peer for step in schedule.steps for peer in step.peers}
            assert reached <= neighbours(rank, ranks, ring=True), (algorithm, rank)
