"""`weakspot doctor`: which tools are installed."""

from __future__ import annotations

import click

from weakspot.harness.cli.errors import FINDINGS, NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.output import json_lines, say


@command(
    epilog="""\
Exit code 1 when something is missing that the full main job needs.

Example:
  weakspot doctor --json"""
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def doctor(as_json: bool) -> int:
    """What is installed, and what is lost without the rest."""
    from weakspot.harness.report import doctor, terminal

    lines = doctor.report()
    if as_json:
        say(json_lines(lines))
    else:
        doctor.render(lines, terminal.console())
    return FINDINGS if doctor.missing_required(lines) else NOTHING_FOUND
