"""`sudo`: asks for a password as the real one does, then really runs the command, marked as root."""

from __future__ import annotations

from dataclasses import dataclass, field

from stellwerk.virtual import hardware
from stellwerk.virtual.call import Call, Usage, Words

MAX_TRIES = 3


@dataclass(slots=True)
class _Options:
    non_interactive: bool = False
    askpass: bool = False
    stdin: bool = False
    forget: bool = False
    forget_for_good: bool = False
    validate: bool = False
    listing: bool = False
    prompt: str = f"[sudo] password for {hardware.USER}: "
    user: str = "root"
    assignments: dict[str, str] = field(default_factory=dict)


_FLAGS = {
    "n": "non_interactive", "A": "askpass", "S": "stdin", "k": "forget", "K": "forget_for_good", "v": "validate",
    "l": "listing",
}  # fmt: skip
_LONG = {
    "--non-interactive": "n", "--askpass": "A", "--stdin": "S", "--reset-timestamp": "k", "--remove-timestamp": "K",
    "--validate": "v", "--list": "l",
}  # fmt: skip


def parse(argv: list[str]) -> tuple[_Options, list[str]]:
    """Options and the command. Raises `Usage`."""
    options, words = _Options(), Words(argv)
    while (word := words.peek()) is not None:
        if word == "--":
            words.take()
            break
        if "=" in word and not word.startswith("-"):
            name, _, value = word.partition("=")
            options.assignments[name] = value
            words.take()
            continue
        if not word.startswith("-") or word == "-":
            break
        words.take()
        letters = _LONG.get(word) or word[1:]
        if letters.startswith(("p", "u")):
            value = letters[1:] or words.need(f"sudo: option requires an argument -- '{letters[0]}'", 1)
            setattr(options, "prompt" if letters[0] == "p" else "user", value)
            continue
        for letter in letters:
            if letter in "EH":
                continue
            if letter not in _FLAGS:
                raise Usage(f"sudo: invalid option -- '{letter}'", 1)
            setattr(options, _FLAGS[letter], True)
    return options, words.rest


async def run(call: Call) -> int:
    """sudo [-nASkKv] [--] command …"""
    options, command = parse(call.argv)
    machine = call.machine
    if options.forget_for_good:
        machine.sudo_cached = False
        return 0
    if options.forget and not command and not options.validate and not options.listing:
        machine.sudo_cached = False
        return 0
    if not command and not options.validate and not options.listing:
        raise Usage("usage: sudo -h | -K | -k | -V\nusage: sudo [-ABkNnS] [-p prompt] [-u user] [command [arg ...]]", 1)
    # `-k` with a command ignores what is cached and leaves nothing behind.
    if not call.root:
        await _authenticate(call, options, use_cache=not options.forget)
    if options.validate:
        return 0
    if options.listing:
        call.line(f"User {hardware.USER} may run the following commands on {machine.name}:\n    (ALL : ALL) ALL")
        return 0
    return _execute(call, options, command)


async def _authenticate(call: Call, options: _Options, *, use_cache: bool) -> None:
    machine = call.machine
    if machine.sudo_mode == "nopasswd" or (use_cache and machine.sudo_cached and machine.sudo_mode == "password"):
        return
    if options.non_interactive:
        raise Usage("sudo: a password is required", 1)
    for attempt in range(1, MAX_TRIES + 1):
        password = await _password(call, options, attempt)
        # Without an entry in sudoers sudo still asks first, so that nobody learns who is in there.
        right = password == (machine.password if machine.sudo_mode == "none" else machine.sudo_password)
        if right and machine.sudo_mode == "none":
            raise Usage(f"{hardware.USER} is not in the sudoers file.", 1)
        if right:
            machine.sudo_cached = use_cache
            return
        machine.note("sudo: wrong password")
        if attempt < MAX_TRIES:
            call.err("Sorry, try again.")
    raise Usage(f"sudo: {MAX_TRIES} incorrect password attempts", 1)


async def _password(call: Call, options: _Options, attempt: int) -> str:
    if options.askpass:
        program = call.env.get("SUDO_ASKPASS")
        if not program:
            raise Usage("sudo: no askpass program specified, try setting SUDO_ASKPASS\nsudo: a password is required", 1)
        line, why = await call.ask("askpass", program=program, prompt=options.prompt)
        if why:
            call.err(f"sudo: unable to run {program}: {why}")
    elif options.stdin:
        call.prompt(options.prompt)
        line, why = await call.ask("stdin")
    else:
        line, why = await call.ask("tty", prompt=options.prompt)
        if why:
            raise Usage(
                "sudo: a terminal is required to read the password; either use the -S option to read from standard "
                "input or configure an askpass helper\nsudo: a password is required",
                1,
            )
    if line is None or (line == "" and options.askpass):
        tries = attempt - 1
        said = f"\nsudo: {tries} incorrect password attempt{'s' if tries > 1 else ''}" if tries else ""
        raise Usage(f"sudo: no password was provided{said or chr(10) + 'sudo: a password is required'}", 1)
    return line


def _execute(call: Call, options: _Options, command: list[str]) -> int:
    machine = call.machine
    path = machine.lookup_program(command[0])
    if path is None and command[0] == "true":
        return 0  # coreutils are not in the node's PATH; sudo's usual test still has to work
    if path is None:
        raise Usage(f"sudo: {command[0]}: command not found", 1)
    machine.note("sudo", command, root=True)
    if options.user not in ("root", "#0"):
        call.become(path, command, machine.environment() | options.assignments)
        return 0
    kept = {key: call.env[key] for key in ("LANG", "LC_ALL", "TERM") if key in call.env}
    environment = machine.root_environment() | kept | options.assignments | {"SUDO_COMMAND": " ".join(command)}
    call.become(path, command, environment, root=True)
    return 0
