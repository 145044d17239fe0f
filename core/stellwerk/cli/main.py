"""Entry point `stellwerk`. Commands are imported only when they are called, so that `--help` stays fast."""

from __future__ import annotations

import importlib
import sys

import click

from stellwerk import __version__

# name -> (module, attribute). A module adds its command here and nowhere else.
COMMANDS: dict[str, tuple[str, str]] = {
    "launch": ("stellwerk.cli.launch", "launch"),
    "measure": ("stellwerk.cli.measure", "measure"),
    "virtual": ("stellwerk.cli.virtual", "virtual"),
    "discover": ("stellwerk.cli.nodes", "discover"),
    "pair": ("stellwerk.cli.nodes", "pair"),
    "facts": ("stellwerk.cli.nodes", "facts"),
    "unpair": ("stellwerk.cli.nodes", "unpair"),
    "cables": ("stellwerk.cli.network", "cables"),
    "plan": ("stellwerk.cli.network", "plan"),
    "apply": ("stellwerk.cli.network", "apply"),
    "undo": ("stellwerk.cli.network", "undo"),
    "verify": ("stellwerk.cli.proof", "verify"),
    "report": ("stellwerk.cli.proof", "report"),
    "setup": ("stellwerk.cli.setup", "setup"),
    "env": ("stellwerk.cli.environment", "env"),
    "monitor": ("stellwerk.cli.monitor", "monitor"),
    "doctor": ("stellwerk.cli.doctor", "doctor"),
    "window": ("stellwerk.cli.window", "window"),
    "shots": ("stellwerk.cli.shots", "shots"),
    "mesh": ("stellwerk.cli.mesh", "mesh"),
    "faults": ("stellwerk.cli.faults", "faults"),
    "policy": ("stellwerk.cli.policy", "policy"),
    "serve": ("stellwerk.cli.serve", "serve"),
    "engine": ("stellwerk.cli.serve", "engine"),
    "key": ("stellwerk.cli.serve", "key"),
}


class LazyGroup(click.Group):
    """A click group whose commands live in modules that are imported on first use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        target = COMMANDS.get(cmd_name)
        if target is None:
            return None
        module, attribute = target
        command = getattr(importlib.import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="stellwerk")
def cli() -> None:
    """Turn one to eight DGX Spark machines into a cluster and keep it in hand."""


def main() -> None:
    """Run the command line."""
    sys.exit(cli(standalone_mode=True))


if __name__ == "__main__":
    main()
