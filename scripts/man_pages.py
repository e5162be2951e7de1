"""Writes the manual pages of weakspot and its commands into a folder, from the source of --help.

click-man makes the pages; what it leaves out of a command's help, its last part, is added as it is
written there: what the command reads, and examples.
"""

from __future__ import annotations

import sys
from pathlib import Path

import click
from click_man.core import generate_man_page  # type: ignore[import, unused-ignore]

from weakspot import __version__
from weakspot.harness.cli import COMMANDS, weakspot
from weakspot.harness.cli.help import Command


def write(folder: Path) -> None:
    """One page per command, and one for weakspot itself."""
    group = click.Context(weakspot, info_name="weakspot")
    commands = {name: weakspot.get_command(group, name) for name in COMMANDS}
    weakspot.commands = {name: each for name, each in commands.items() if each is not None}
    for command in (weakspot, *weakspot.commands.values()):  # click would truncate the first line
        command.short_help = (command.help or "").partition("\n")[0]
    contexts = [
        click.Context(each, info_name=name, parent=group)
        for name, each in weakspot.commands.items()
    ]
    for context in (group, *contexts):
        path = folder / f"{context.command_path.replace(' ', '-')}.1"
        command = context.command
        notes = command.notes if isinstance(command, Command) else command.epilog or ""
        text: str = generate_man_page(context, version=__version__)
        path.write_text(text + _notes(notes), encoding="utf-8")


def _notes(epilog: str) -> str:
    """The text as roff, with its lines as they are."""
    escaped = epilog.replace("\\", "\\e").replace("-", "\\-")
    lines = [f"\\&{line}" if line.startswith((".", "'")) else line for line in escaped.splitlines()]
    return "\n".join([".SH NOTES", ".nf", *lines, ".fi", ""]) if epilog else ""


if __name__ == "__main__":
    write(Path(sys.argv[1]))
