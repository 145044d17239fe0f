"""`systemctl`, `systemd-run`, `iptables`, `sysctl`."""

from __future__ import annotations

import shlex
from pathlib import Path

from stellwerk.virtual import simroot
from stellwerk.virtual.call import Call, Usage, Words
from stellwerk.virtual.network import Rule

_AUTHENTICATION = "Interactive authentication required."


async def systemctl(call: Call) -> int:
    """systemctl daemon-reload | enable | disable | start | stop | is-active | is-enabled | status NAME"""
    words = Words([word for word in call.argv if not word.startswith("-")])
    verb = words.take()
    units = call.machine.units
    if verb in (None, "list-units", "list-jobs"):
        for name in sorted(units.running):
            call.line(f"  {name} loaded active running")
        return 0
    if verb == "is-system-running":
        call.line("running")
        return 0
    if verb in ("daemon-reload", "daemon-reexec"):
        call.need_root(f"Failed to reload daemon: {_AUTHENTICATION}", 1)
        call.machine.note("systemctl", call.argv, root=True)
        return 0
    names = [_full_name(name) for name in words.rest]
    if not names:
        raise Usage("Too few arguments.", 1)
    if verb == "is-active":
        states = [units.is_active(name) for name in names]
        for state in states:
            call.line("active" if state else "inactive")
        return 0 if all(states) else 3
    if verb == "is-enabled":
        return _is_enabled(call, names)
    if verb in ("enable", "disable", "start", "stop", "restart", "reset-failed"):
        call.need_root(f"Failed to {verb} unit: {_AUTHENTICATION}", 1)
        call.machine.note("systemctl", call.argv, root=True)
        for name in names:
            code = await _change(call, verb, name)
            if code:
                return code
        if "--now" in call.argv and verb in ("enable", "disable"):
            for name in names:
                await _change(call, "start" if verb == "enable" else "stop", name)
        return 0
    raise Usage(f"Unknown command verb '{verb}'.", 1)


def _full_name(name: str) -> str:
    return name if "." in name else f"{name}.service"


def _is_enabled(call: Call, names: list[str]) -> int:
    code = 0
    for name in names:
        if call.machine.units.load(name) is None:
            call.err(f"Failed to get unit file state for {name}: No such file or directory")
            code = 1
        elif call.machine.units.is_enabled(name):
            call.line("enabled")
        else:
            call.line("disabled")
            code = 1
    return code


async def _change(call: Call, verb: str, name: str) -> int:
    units = call.machine.units
    if verb == "stop":
        units.stop(name)
        return 0
    if verb == "reset-failed":
        return 0
    unit = units.load(name)
    if verb == "disable":
        for directory in ("wants", "requires"):
            for link in units.directory.glob(f"*.{directory}/{name}"):
                link.unlink()
                call.err(f'Removed "/etc/systemd/system/{link.parent.name}/{name}".')
        return 0
    if unit is None:
        raise Usage(f"Failed to {verb} unit: Unit file {name} does not exist.", 5 if verb == "start" else 1)
    if verb == "enable":
        for link in units.links(unit):
            link.parent.mkdir(exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(units.directory / name)
                call.err(f"Created symlink /etc/systemd/system/{link.parent.name}/{name} → "
                         f"/etc/systemd/system/{name}.")  # fmt: skip
        return 0
    if verb == "restart":
        units.stop(name)
    code = await units.start(unit)
    if code:
        raise Usage(f"Job for {name} failed because the control process exited with error code.", 1)
    return 0


async def systemd_run(call: Call) -> int:
    """systemd-run [--quiet] [--collect] [--unit=NAME] [--property=…] [--] COMMAND …"""
    words = Words(call.argv)
    name, quiet, env = f"run-u{call.pid}.service", False, {}
    while (word := words.peek()) is not None and word.startswith("-"):
        words.take()
        if word == "--":
            break
        option, equals, value = word.partition("=")
        if option in ("--unit", "-u", "--property", "-p", "--setenv", "-E", "--description") and not equals:
            value = words.need(f"systemd-run: option '{option}' requires an argument", 1)
        if option in ("--unit", "-u"):
            name = _full_name(value)
        elif option in ("--setenv", "-E"):
            key, _, text = value.partition("=")
            env[key] = text
        elif option in ("--quiet", "-q"):
            quiet = True
        elif option in ("--user", "--scope", "--pty", "--wait", "--pipe"):
            raise Usage(f"systemd-run: {option} is not simulated", 1)
    command = words.rest
    if not command:
        raise Usage("Command line to execute required.", 1)
    call.need_root(f"Failed to start transient service unit: {_AUTHENTICATION}", 1)
    if call.machine.units.is_active(name):
        raise Usage(f"Failed to start transient service unit: Unit {name} was already loaded.", 1)
    path = call.machine.lookup_program(command[0])
    if path is None:
        raise Usage(f"Failed to find executable {command[0]}: No such file or directory", 1)
    call.machine.note("systemd-run", command, root=True)
    log = call.machine.dir / "journal" / f"{name}.log"
    process = await call.machine.start_as_root([str(path), *command[1:]], log, env)
    call.machine.units.running[name] = process
    if not quiet:
        call.err(f"Running as unit: {name}")
    return 0


async def iptables(call: Call) -> int:
    """iptables [-w [S]] [-t TABLE] -S [CHAIN] | -L | -A|-I|-D|-C CHAIN RULE… | -F CHAIN"""
    call.need_root("iptables v1.8.10 (nf_tables): Could not fetch rule set generation id: Permission denied "
                   "(you must be root)", 4)  # fmt: skip
    words = Words(call.argv)
    table, network = "filter", call.machine.network
    while words:
        word = words.need("", 2)
        if word in ("-w", "--wait"):
            if (words.peek() or "").isdecimal():
                words.take()
        elif word in ("-t", "--table"):
            table = words.need('iptables: option "-t" requires an argument', 2)
        elif word in ("-S", "--list-rules", "-L", "--list"):
            _list_rules(call, table, words.take())
            return 0
        elif word in ("-A", "-I", "-D", "-C", "-F", "--append", "--insert", "--delete", "--check", "--flush"):
            break
        elif word not in ("-n", "-v", "-4"):
            raise Usage(f'iptables v1.8.10 (nf_tables): unknown option "{word}"', 2)
    else:
        raise Usage("iptables v1.8.10 (nf_tables): no command specified", 2)
    action = word.lstrip("-")[0].upper()
    chain = words.need("iptables: option requires an argument", 2)
    if action == "F":
        network.rules = [rule for rule in network.rules if (rule.table, rule.chain) != (table, chain)]
        return 0
    if action == "I" and (words.peek() or "").isdecimal():
        words.take()
    rule = Rule(table, chain, tuple(words.rest))
    if chain not in CHAINS.get(table, ()):
        raise Usage(f"iptables v1.8.10 (nf_tables): Chain '{chain}' does not exist", 1)
    call.machine.note("iptables", call.argv, root=True)
    if action in ("C", "D"):
        if rule not in network.rules:
            raise Usage("iptables: Bad rule (does a matching rule exist in that chain?).", 1)
        if action == "D":
            network.rules.remove(rule)
    elif action == "A":
        network.rules.append(rule)
    else:
        network.rules.insert(0, rule)
    return 0


CHAINS = {
    "filter": ("INPUT", "FORWARD", "OUTPUT", "DOCKER-USER", "DOCKER"),
    "nat": ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING", "DOCKER"),
    "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
}


def _list_rules(call: Call, table: str, wanted: str | None) -> None:
    chains = [chain for chain in CHAINS.get(table, ()) if wanted in (None, chain)]
    for chain in chains:
        policy = call.machine.network.forward_policy if chain == "FORWARD" else "ACCEPT"
        call.line(f"-N {chain}" if chain.startswith("DOCKER") else f"-P {chain} {policy}")
    if table == "filter" and "FORWARD" in chains:
        call.line("-A FORWARD -j DOCKER-USER")
    for rule in call.machine.network.rules:
        if rule.table == table and rule.chain in chains:
            call.line(f"-A {rule.chain} {shlex.join(rule.words)}")


async def sysctl(call: Call) -> int:
    """sysctl [-n] KEY… | -w KEY=VALUE… | -p FILE | --system"""
    words = Words(call.argv)
    values_only = False
    while (word := words.peek()) is not None and word.startswith("-"):
        words.take()
        if word in ("-n", "--values"):
            values_only = True
        elif word == "--system":
            call.need_root("sysctl: permission denied on key", 255)
            simroot.apply_sysctl_files(call.machine.tree)
            return 0
        elif word in ("-p", "--load"):
            call.need_root("sysctl: permission denied on key", 255)
            file = Path(words.take() or "/etc/sysctl.conf")
            lines = file.read_text().splitlines() if file.exists() else []
            for line in lines:
                if "=" in line and not line.lstrip().startswith("#"):
                    _set(call, line)
            return 0
    for word in words.rest:
        if "=" in word:
            call.need_root(f'sysctl: permission denied on key "{word.partition("=")[0]}"', 255)
            _set(call, word)
            continue
        value = call.machine.tree.read(simroot.sysctl_path(word))
        if value is None:
            raise Usage(f"sysctl: cannot stat {simroot.sysctl_path(word)}: No such file or directory", 255)
        call.line(value.strip() if values_only else f"{word} = {value.strip()}")
    return 0


def _set(call: Call, assignment: str) -> None:
    key, _, value = (part.strip() for part in assignment.partition("="))
    path = simroot.sysctl_path(key)
    if not call.machine.tree.path(path).exists():
        raise Usage(f"sysctl: cannot stat {path}: No such file or directory", 255)
    call.machine.tree.forget(path)
    call.machine.tree.put(path, f"{value}\n")
    call.line(f"{key} = {value}")
