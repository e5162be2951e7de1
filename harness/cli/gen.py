"""`weakspot gen`: litmus tests of programs."""

from __future__ import annotations

from pathlib import Path

import click

from weakspot.harness.cli.errors import FINDINGS, NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import listed, source_options, what_argument
from weakspot.harness.cli.output import gathered, say


@command(
    epilog="""\
Without -o the tests go to standard output. Notes about the programs go to standard error.

Examples:
  weakspot gen duffy_wsq --list        names, shapes and where they come from
  weakspot gen my_queue.c -o tests     one file a test, and @all for herd7 and litmus7
  weakspot gen MP.litmus --isa all     the assembly that C11 atomics compile to
  weakspot gen all --check             do the golden tests still fit their sources?
  weakspot gen duffy_wsq --promote     make what is generated now the golden tests"""
)
@what_argument
@click.option(
    "-o", "--output", metavar="DIR", type=click.Path(path_type=Path), help="Write the tests here."
)
@click.option("--list", "as_list", is_flag=True, help="Print names, shapes and sites only.")
@click.option("--check", "compare", is_flag=True, help="Compare with the golden tests; 1 if not.")
@click.option("--promote", is_flag=True, help="Replace the golden tests; says what changes.")
@click.option(
    "--isa",
    multiple=True,
    callback=listed,
    metavar="TARGET[,…]",
    help="In assembly, as compilers map C11 to x86, aarch64, aarch64-lse, aarch64-rcpc, armv7, "
    "power, power-trailing, riscv; or all.",
)
@source_options
def gen(
    what: tuple[str, ...],
    output: Path | None,
    as_list: bool,
    compare: bool,
    promote: bool,
    isa: tuple[str, ...],
    defines: tuple[str, ...],
    include: tuple[Path, ...],
) -> int:
    """Make litmus tests of programs.

    They are the critical cycles of the programs' access patterns: where a weak memory order can
    show at all."""
    from weakspot.harness.corpus import golden
    from weakspot.harness.corpus.material import generator
    from weakspot.harness.report import listing, terminal

    if sum(map(bool, (output, as_list, compare, promote))) > 1:
        raise click.UsageError("-o, --list, --check and --promote exclude each other.")
    if isa and (compare or promote):
        raise click.UsageError(
            "Golden tests are in C: --isa goes with neither --check nor --promote."
        )
    if compare or promote:
        drifts = golden.drifts(what, promoted=promote)
        say(listing.drifts(drifts, promoted=promote))
        return FINDINGS if compare and any(drift for _, drift in drifts) else NOTHING_FOUND
    material = gathered(what, (), generator(defines, include))
    for note in listing.notes(material):
        click.echo(note, err=True)
    if isa:
        from weakspot.harness.corpus.material import compiled

        material, left_out = compiled(material, isa)
        for message in left_out:
            click.echo(f"note: {message}", err=True)
    if output is not None:
        golden.write(output, (entry.test for entry in material.entries), index=True)
        say([f"{len(material.entries):,} tests are in {output}"])
    elif as_list:
        for line in listing.tests(material.entries):
            terminal.console().print(line)
    else:
        say(entry.test.text.rstrip() + "\n" for entry in material.entries)
    return NOTHING_FOUND
