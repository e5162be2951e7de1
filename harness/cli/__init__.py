"""The command line: one module per command, with one function that parses, calls and prints.

A command's module is imported when the command is used, and a command imports what it needs when
it runs, so that `weakspot --help` and the commands that only read answer at once. A new command is
a module here and its line in COMMANDS.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from weakspot import __version__
from weakspot.harness.cli.errors import guarded
from weakspot.harness.cli.help import Commands

#: the first line of each command's help, for `weakspot --help`; a test compares the two
COMMANDS = {
    "check": "Check programs and litmus tests under memory models.",
    "gate": "Check a project's own programs, in CI.",
    "linearize": "Check that an object behaves as a queue, a stack, ….",
    "relax": "Find the weakest memory orders that suffice.",
    "mutate": "Find changes that no scenario notices.",
    "cost": "Measure what each memory order costs.",
    "gen": "Generate litmus tests from programs.",
    "run": "Run programs and litmus tests on hardware.",
    "test": "Generate, explore, check, run, judge and report.",
    "plan": "Show what `weakspot test` would do, and how long it takes.",
    "report": "Write campaigns as static web sites.",
    "diff": "Compare two campaigns or logs.",
    "explain": "Explain a finding.",
    "structures": "List the structures of the corpus.",
    "models": "List the memory models, or compare two.",
    "machines": "List the machines that tests run on.",
    "new": "Check that what a header declares is linearizable.",
    "init": "Write the first files of a project.",
    "doctor": "Show which tools are installed.",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """The `weakspot` program."""
    # nearly all objects of a command live until its end: looking for garbage cycles among them as
    # often as Python does takes a tenth of the time of short commands
    gc.set_threshold(50_000, 20, 20)
    code = guarded(weakspot, arguments)
    # nor need Python look for any when it ends
    gc.freeze()
    raise SystemExit(code)


def cargo() -> None:
    """The `cargo-weakspot` program, which cargo starts as `cargo-weakspot weakspot …`: `weakspot
    check` of the crate that the user is in."""
    from weakspot.generators.source.language import MANIFEST

    here = Path.cwd()
    crate = next((each for each in (here, *here.parents) if (each / MANIFEST).is_file()), None)
    words = sys.argv[2:] if sys.argv[1:2] == ["weakspot"] else sys.argv[1:]
    main(["check", os.path.relpath(crate) if crate else MANIFEST, *words])


def _cmake_dir(context: click.Context) -> None:
    from weakspot.system import packages

    click.echo(packages.folder("weakspot") / "cmake")
    context.exit()


@click.group(
    cls=Commands,
    summaries=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\
WHAT is a structure of the corpus (`weakspot structures` lists them), `all`, a C, C++ or Rust file,
a .litmus file, a folder of these, or that of a Rust crate; `-` is a program on standard input.

Exit codes: 0 nothing found; 1 findings; 2 bad usage or bad input; 3 inconclusive: something was
not answered or not measured; 130 interrupted.

Examples:
  weakspot check my_queue.c            explore every execution of a program
  weakspot relax my_queue.c            find memory orders stronger than needed
  weakspot check SB.litmus -m tso      is the outcome allowed under x86-TSO?
  weakspot test duffy_wsq              test one structure of the corpus""",
)
@click.option(
    "--cmake-dir",
    is_flag=True,
    expose_value=False,
    is_eager=True,
    callback=lambda ctx, _, asked: _cmake_dir(ctx) if asked else None,
    help="Print the folder of the CMake package, for -Dweakspot_DIR=.",
)
@click.version_option(__version__, "--version", "-V", message="weakspot %(version)s")
def weakspot() -> None:
    """Find weak memory orders in concurrent C and C++ programs.

    weakspot explores every execution that a memory model allows, generates litmus tests, checks
    them under memory models, and runs them on hardware."""
