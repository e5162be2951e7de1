"""`weakspot gen`: litmus tests of programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from weakspot.harness.cli.errors import FINDINGS, INCONCLUSIVE, NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import listed, output_option, what_argument
from weakspot.harness.cli.output import progress_bar, write_lines, write_unread
from weakspot.harness.cli.source_options import crate_options, source_options

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build


@command(
    epilog="""\
Without -o, tests are printed to standard output. Notes about programs go to standard error.

Examples:
  weakspot gen duffy_wsq --list        names, shapes and source lines
  weakspot gen my_queue.c -o tests     one file per test, and @all for herd7 and litmus7
  weakspot gen MP.litmus --isa all     the assembly that C11 atomics compile to
  weakspot gen all --check             do the golden tests still match their sources?
  weakspot gen duffy_wsq --promote     replace the golden tests"""
)
@what_argument
@output_option("DIR", "Write the tests to this folder.")
@click.option("--list", "as_list", is_flag=True, help="Print only names, shapes and source lines.")
@click.option(
    "--check",
    "compare",
    is_flag=True,
    help="Compare with the golden tests; exit code 1 if they differ.",
)
@click.option("--promote", is_flag=True, help="Replace the golden tests and print the changes.")
@click.option(
    "--isa",
    multiple=True,
    callback=listed,
    metavar="TARGET[,…]",
    help="Print assembly, by the standard mappings of C11 to x86, aarch64, aarch64-lse, "
    "aarch64-rcpc, armv7, power, power-trailing, riscv, riscv-zacas, riscv-lrsc, riscv-zalasr; "
    "or all.",
)
@source_options
@crate_options
def gen(
    what: tuple[str, ...],
    output: Path | None,
    as_list: bool,
    compare: bool,
    promote: bool,
    isa: tuple[str, ...],
    build: Build,
) -> int:
    """Generate litmus tests from programs.

    Each test asks about one critical cycle of a program's memory accesses. Only critical cycles can
    show the effect of a weak memory order."""
    from weakspot import questions
    from weakspot.harness.report import listing, terminal

    if sum(map(bool, (output, as_list, compare, promote))) > 1:
        raise click.UsageError("-o, --list, --check and --promote exclude each other.")
    if isa and (compare or promote):
        raise click.UsageError(
            "Golden tests are in C: --isa cannot be used with --check or --promote."
        )
    if compare or promote:
        drifts = questions.golden_tests(what, promote=promote)
        write_lines(listing.drifts(drifts, promoted=promote))
        return FINDINGS if compare and any(drifts.values()) else NOTHING_FOUND
    with progress_bar() as progress:
        tests = questions.generate(what, isa=isa, build=build, progress=progress)
    for note in listing.notes(tests.material, tests.unmapped):
        click.echo(note, err=True)
    write_unread(tests.material.unread)
    if output is not None:
        write_lines([f"{len(tests.write(output)):,} tests are in {output}"])
    elif as_list:
        for line in listing.tests(tests.material.entries):
            terminal.console().print(line)
    else:
        write_lines(test.text.rstrip() + "\n" for test in tests)
    return INCONCLUSIVE if tests.unmapped or tests.material.unread else NOTHING_FOUND
