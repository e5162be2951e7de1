"""`weakspot doctor`: which tools are installed."""

from __future__ import annotations

import click

from weakspot.harness.cli.errors import FINDINGS, NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import json_option
from weakspot.harness.cli.output import json_lines, write_lines, write_wrapped


@command(
    epilog="""\
Exit code 1 when something is missing that `weakspot test` needs.

Examples:
  weakspot doctor
  weakspot doctor --quick       locate the tools without starting them
  weakspot doctor --json"""
)
@click.option("--quick", is_flag=True, help="Only locate the tools; do not ask for versions.")
@json_option
def doctor(quick: bool, as_json: bool) -> int:
    """Show which tools are installed.

    For each missing tool, shows what does not work without it and how to get it."""
    from weakspot.harness.report import doctor

    lines = doctor.report(versions=not quick)
    if as_json:
        write_lines(json_lines(lines))
    else:
        write_wrapped(doctor.plain(lines))
    return FINDINGS if doctor.missing_required(lines) else NOTHING_FOUND
