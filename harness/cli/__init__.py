"""The command line; one function a command. What a command needs is imported when it runs, so
that `weakspot --help` answers at once."""

from __future__ import annotations

import click

from weakspot import __version__
from weakspot.harness.cli.campaigns import report, test
from weakspot.harness.cli.cost import cost
from weakspot.harness.cli.errors import Commands, guarded
from weakspot.harness.cli.gate import explain, gate
from weakspot.harness.cli.lists import doctor, models, structures
from weakspot.harness.cli.questions import check, gen, run
from weakspot.harness.cli.relax import relax


def main() -> None:
    """What the `weakspot` program does."""
    raise SystemExit(guarded(weakspot))


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\
WHAT is a structure's name (`weakspot structures` lists them), `all`, a C file, a .litmus file
or a folder of them.

Exit codes: 0 nothing found; 1 findings; 2 bad usage or bad input; 3 inconclusive.

Examples:
  weakspot test duffy_wsq              generate, check, run, judge, report
  weakspot check SB.litmus -m tso      is the outcome allowed under x86-TSO?
  weakspot gen my_queue.c -o tests     the litmus tests of a program of yours""",
)
@click.version_option(__version__, "--version", "-V", message="weakspot %(version)s")
def weakspot() -> None:
    """Finds the weak spots in a concurrent C or C++ program's memory-order annotations: explores
    it and makes litmus tests of it, checks them under memory models, runs them on hardware."""


for command in (
    gen,
    check,
    run,
    gate,
    relax,
    cost,
    test,
    report,
    doctor,
    structures,
    models,
    explain,
):
    weakspot.add_command(command)
