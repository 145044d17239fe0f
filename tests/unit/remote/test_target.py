"""Targets: what people type and what their SSH configuration says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stellwerk.model.errors import BadInput
from stellwerk.remote.target import Target, import_targets, parse_target, parse_targets


def parse(text: str, config: Path | None = None, jump: str | None = None) -> Target:
    return parse_target(text, config, default_user="me", jump=jump)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / ".ssh"
    folder.mkdir()
    return folder / "config"


@pytest.mark.parametrize(
    ("text", "user", "host", "port"),
    [
        ("spark-1", "me", "spark-1", 22),
        ("  spark-1.local  ", "me", "spark-1.local", 22),
        ("nvidia@10.0.0.4", "nvidia", "10.0.0.4", 22),
        ("nvidia@spark-1:2222", "nvidia", "spark-1", 2222),
        ("spark_1:22", "me", "spark_1", 22),
        ("ssh://nvidia@spark-1:2222", "nvidia", "spark-1", 2222),
        ("SSH://spark-1/", "me", "spark-1", 22),
        ("ssh://[fd00::1]:2200", "me", "fd00::1", 2200),
        ("fd00::1", "me", "fd00::1", 22),
        ("n@fe80::1%enP7s7", "n", "fe80::1%enP7s7", 22),
        ("n@[fe80::1%enP7s7]:2222", "n", "fe80::1%enP7s7", 2222),
        ("köln", "me", "köln", 22),
    ],
)
def test_what_people_type(text: str, user: str, host: str, port: int) -> None:
    target = parse(text)
    assert (target.user, target.host, target.port) == (user, host, port)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no machine"),
        ("   ", "no machine"),
        ("http://spark-1", "not an SSH address"),
        ("@spark-1", "user name before the @"),
        ("spark-1:", "not a port"),
        ("spark-1:0", "not a port"),
        ("spark-1:65536", "not a port"),
        ("spark-1:２２", "not a port"),
        ("300.1.1.1", "not an IPv4"),
        ("1.2.3", "not an IPv4"),
        ("-oProxyCommand=x", "does not name"),
        ("a b", "does not name"),
        ("a\nb", "does not name"),
        ("$(reboot)", "does not name"),
        ("[fd00::1", "brackets"),
        ("[spark-1]:22", "brackets"),
        ("fd00::zz", "not an IPv6"),
        ("user:secret@host", "not a user name"),
        ("-l@host", "not a user name"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_reason(text: str, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        parse(text)


def test_a_link_local_address_without_interface_says_which_part_is_missing() -> None:
    with pytest.raises(BadInput) as caught:
        parse("nvidia@[fe80::aa]:22")
    assert "fe80::aa%eth0" in str(caught.value)


def test_an_alias_brings_host_user_port_and_keys(config: Path) -> None:
    config.write_text(
        "Host other\n  HostName 1.1.1.1\n"
        "Host spark spark-*\n  HostName 10.0.0.9\n  Port=2200\n  User nvidia\n"
        "  IdentityFile ~/.ssh/id_spark\n  IdentityFile /keys/%r-%h\n  IdentitiesOnly yes\n"
        "  IdentityAgent ~/agent.sock\n"
        "Host *\n  User nobody\n  Port 22\n"
    )
    target = parse("spark", config)
    assert (target.name, target.host, target.port, target.user) == ("spark", "10.0.0.9", 2200, "nvidia")
    home = config.parent.parent
    assert target.identity_files == (f"{home}/.ssh/id_spark", "/keys/nvidia-10.0.0.9")
    assert target.identities_only
    assert target.identity_agent == f"{home}/agent.sock"


def test_what_is_typed_wins_over_the_configuration(config: Path) -> None:
    config.write_text("Host spark\n  Port 2200\n  User nvidia\n")
    target = parse("root@spark:2222", config)
    assert (target.user, target.port) == ("root", 2222)


def test_negated_patterns_match_blocks_and_includes(config: Path) -> None:
    (config.parent / "more").write_text("Host spark-1\n  Port 2201\n")
    config.write_text(
        "Include more\n"
        "Host spark-* !spark-2\n  User nvidia\n"
        'Match originalhost spark-2 exec "touch /tmp/never-run"\n  User evil\n'
        "Match host spark-2\n  User second\n"
    )
    assert (parse("spark-1", config).user, parse("spark-1", config).port) == ("nvidia", 2201)
    assert parse("spark-2", config).user == "second"
    assert parse("other", config).user == "me"


def test_an_include_inside_a_block_only_counts_for_that_block(config: Path) -> None:
    (config.parent / "inner").write_text("Port 2209\n")
    config.write_text("Host a\n  Include inner\nHost b\n  User x\n")
    assert parse("a", config).port == 2209
    assert parse("b", config).port == 22


def test_a_file_that_includes_itself_ends_with_a_message(config: Path) -> None:
    config.write_text("Include config\n")
    with pytest.raises(BadInput, match="includes itself"):
        parse("a", config)


def test_jump_hosts_are_resolved_in_order_with_their_own_entries(config: Path) -> None:
    config.write_text(
        "Host spark\n  ProxyJump gate,me2@inner:2202\n"
        "Host gate\n  HostName 203.0.113.5\n  User door\n  ProxyJump outer\n"
        "Host inner\n  ProxyJump ignored\n"
    )
    target = parse("spark", config)
    assert [hop.address for hop in target.jump] == ["me@outer", "door@203.0.113.5", "me2@inner:2202"]
    assert all(hop.jump == () for hop in target.jump)


def test_a_jump_host_can_be_typed_or_switched_off(config: Path) -> None:
    config.write_text("Host spark\n  ProxyJump gate\n")
    assert [h.host for h in parse("spark", config, jump="a,b").jump] == ["a", "b"]
    assert parse("spark", config, jump="none").jump == ()


def test_jump_hosts_in_a_circle_are_refused(config: Path) -> None:
    config.write_text("Host a\n  ProxyJump b\nHost b\n  ProxyJump a\n")
    with pytest.raises(BadInput, match="circle"):
        parse("a", config)


def test_a_proxy_command_is_not_run_but_named(config: Path) -> None:
    config.write_text("Host a\n  ProxyCommand nc -X 5 %h %p # 'x\n")
    with pytest.raises(BadInput, match="ProxyCommand"):
        parse("a", config)


def test_a_missing_configuration_says_nothing(tmp_path: Path) -> None:
    assert parse("a", tmp_path / "none").host == "a"


def test_broken_lines_name_file_and_line(config: Path) -> None:
    config.write_text('Host a\n  User "x\n')
    with pytest.raises(BadInput, match="line 2"):
        parse("a", config)
    config.write_bytes(b"\x00\xff\xfe garbage")
    with pytest.raises(BadInput, match="line 1"):
        parse("a", config)


def test_a_list_gives_the_good_ones_and_names_the_bad_lines() -> None:
    targets, problems = parse_targets("a, b\n# c\nd:99999 # comment\nA\n", default_user="me")
    assert [t.name for t in targets] == ["a", "b"]
    assert len(problems) == 1
    assert "line 3" in str(problems[0])


def test_the_aliases_of_a_configuration_can_be_imported(config: Path) -> None:
    config.write_text("Host a b\nHost *.lan !c\nHost d\n  HostName fe80::1\n")
    targets, problems = import_targets(config, default_user="me")
    assert [t.name for t in targets] == ["a", "b"]
    assert "link-local" in str(problems[0])


@given(st.text(max_size=40))
def test_any_text_is_a_target_or_bad_input(text: str) -> None:
    try:
        target = parse(text)
    except BadInput:
        return
    assert parse(target.address) == Target(target.host, target.port, target.user, target.host)


@given(st.text(max_size=200))
def test_any_configuration_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    path = tmp_path_factory.mktemp("cfg") / "config"
    path.write_text(text, encoding="utf-8", errors="replace")
    try:
        assert parse("a", path).name == "a"
    except BadInput:
        pass


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("nvidia@spark-1", "ssh nvidia@spark-1"),
        ("nvidia@spark-1:2222", "ssh -p 2222 nvidia@spark-1"),
        ("n@[fd00::1]:2222", "ssh -p 2222 n@fd00::1"),
    ],
)
def test_the_command_for_a_terminal_is_what_ssh_takes(text: str, command: str) -> None:
    assert parse(text).ssh_command == command
