"""Stand-ins for process tests: a `sudo` that decides as the real one does, and the packed agent.

The stand-in knows the options that `netguard/commands.py` lists, asks SUDO_ASKPASS, clears the environment, and writes
down every argument and environment that it saw. It becomes no other user; how the real sudo answers is tested in
tests/lab/netguard.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

from stellwerk.remote.artefact import build_agent

SUDO = """\
#!{python} -IS
import json, os, pathlib, subprocess, sys
here = pathlib.Path({here!r})
rules = json.loads((here / "sudo.json").read_text())
with open(here / "sudo.log", "a") as log:
    log.write(json.dumps([sys.argv, dict(os.environ)]) + "\\n")
words = sys.argv[1:]
options = []
while words and words[0].startswith("-"):
    options.append(words.pop(0))
    if options[-1] == "--":
        break
assert set(options) <= {{"-k", "-n", "-A", "--"}}, options
def refuse(text, rc=1):
    sys.stderr.write(f"sudo: {{text}}\\n")
    sys.exit(rc)
if rules["mode"] == "password":
    if "-n" in options:
        refuse("a password is required")
    for attempt in range(3):
        answer = subprocess.run([os.environ["SUDO_ASKPASS"]], stdout=subprocess.PIPE)
        if not answer.stdout:
            refuse("no password was provided" + (f"\\nsudo: {{attempt}} incorrect password attempt" if attempt else ""))
        if answer.stdout == rules["password"].encode() + b"\\n":
            break
        sys.stderr.write("Sorry, try again.\\n")
    if rules.get("member") is False:
        sys.stderr.write("nvidia is not in the sudoers file.\\n")
        sys.exit(1)
elif rules["mode"] == "stranger":
    refuse("a password is required") if "-n" in options else None
    sys.stderr.write("nvidia is not in the sudoers file.\\n")
    sys.exit(1)
if words == ["true"]:
    sys.exit(0)
environment = {{"PATH": os.environ["PATH"], "SUDO_UID": str(os.getuid()), "SUDO_USER": "nvidia", "LANG": "C"}}
os.execvpe(words[0], words, environment)
"""


class StandIn:
    """A PATH directory with the stand-in, and what it saw."""

    def __init__(self, base: Path) -> None:
        self.bin = base / "bin"
        self.here = base / "sudo"
        self.here.mkdir()
        self.bin.mkdir(exist_ok=True)
        script = self.bin / "sudo"
        script.write_text(SUDO.format(python=os.path.realpath(sys.executable), here=str(self.here)))
        script.chmod(0o755)
        self.rules(mode="nopasswd")

    def rules(self, **rules: Any) -> None:
        (self.here / "sudo.json").write_text(json.dumps({"password": "s3cret-Wörd", **rules}))

    def seen(self) -> list[tuple[list[str], dict[str, str]]]:
        log = self.here / "sudo.log"
        return [tuple(json.loads(line)) for line in log.read_text().splitlines()] if log.exists() else []  # type: ignore[misc]


def packed_agent(directory: Path) -> Path:
    """The agent as it is sent to a node."""
    path = directory / "agent.pyz"
    path.write_bytes(build_agent().data)
    path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    return path
