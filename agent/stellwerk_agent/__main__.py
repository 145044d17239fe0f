"""Entry point of the agent: one sub command per process that it can be."""

from __future__ import annotations

import sys

# Exit codes that the desktop tells apart (values of sysexits.h).
EXIT_USAGE = 64

USAGE = """\
usage: agent COMMAND [options]
  attach   join stdin and stdout to this node's daemon, starting it when none runs
  daemon   run the daemon in the foreground
  keeper   stay beside one job and write down how it ends (started by the daemon)
  root     the fixed verbs that run as root (started through sudo)
options: --root DIR  --hear-carrier sockets|unix:DIR  --address-map FILE  --state-dir DIR
"""


def main(argv: list[str] | None = None) -> int:
    """Run one sub command and give its exit code. Modules are imported only by the command that needs them."""
    arguments = sys.argv[1:] if argv is None else argv
    command, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    if command == "attach":
        from stellwerk_agent import attach

        return attach.main(rest)
    if command == "daemon":
        from stellwerk_agent import daemon

        return daemon.main(rest)
    if command == "keeper":
        from stellwerk_agent import keeper

        return keeper.main(rest)
    if command == "root":
        from stellwerk_agent import root

        return root.main(rest)
    sys.stderr.write(USAGE)
    return EXIT_USAGE


if __name__ == "__main__":
    sys.exit(main())
