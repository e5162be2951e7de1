"""The command line: one module per command, named like it, with one function that parses, calls
and prints.

A command's module is imported when the command is used, and a command imports what it needs when
it runs, so that `weakspot --help` and the commands that only read answer at once. A new command is
a module here and its line in COMMANDS.
"""

from __future__ import annotations

import click

from weakspot import __version__
from weakspot.harness.cli.errors import guarded
from weakspot.harness.cli.help import Commands

#: what `weakspot --help` prints of each command; a test compares it with the command's own help
COMMANDS = {
    "gen": "Make litmus tests of programs.",
    "check": "Decide programs and tests under memory models.",
    "run": "Run programs and tests on hardware, and count what comes out.",
    "gate": "Fail where a memory order is too weak.",
    "relax": "The weakest memory orders that suffice.",
    "cost": "Measure what each memory order costs.",
    "test": "The main job: gen, explore, check, run, judge, report.",
    "report": "Write campaigns as static sites.",
    "doctor": "Show which tools are installed, and what does not work without the others.",
    "structures": "The structures of the corpus.",
    "models": "The memory models.",
    "explain": "What a finding means, why it matters, what to do.",
}


def main() -> None:
    """What the `weakspot` program does."""
    raise SystemExit(guarded(weakspot))


@click.group(
    cls=Commands,
    summaries=COMMANDS,
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
