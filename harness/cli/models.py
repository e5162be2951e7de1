"""`weakspot models`: the memory models, and the smallest test that distinguishes two."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from weakspot.harness.cli import completion
from weakspot.harness.cli.errors import INCONCLUSIVE, NOTHING_FOUND, on_interrupt
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import json_option, some_time
from weakspot.harness.cli.output import (
    json_lines,
    progress_bar,
    write_answers,
    write_lines,
    write_wrapped,
)

if TYPE_CHECKING:
    from weakspot.harness.values.model_comparison import ModelComparison


@command(
    epilog="""\
Examples:
  weakspot models
  weakspot models rc11              its description and its axioms
  weakspot models rc11 --path       the path of its cat file
  weakspot models lkmm              that of the Linux kernel, where it is installed
  weakspot models --compare rc11 rc20                    a test that distinguishes them
  weakspot models --compare aarch64 mine.cat --isa aarch64
  weakspot models --compare rc20 mine.cat --accesses 4   none of up to 4 accesses?

With --compare, the exit code is 0 when a test was found and also when all tests up to the size
were decided, 3 when the time ran out or a test could not be decided."""
)
@click.argument("names", nargs=-1, metavar="[NAME…]", shell_complete=completion.models)
@click.option("--path", "as_path", is_flag=True, help="Print only the path of the cat file.")
@json_option
@click.option(
    "--compare",
    "compared",
    nargs=2,
    metavar="A B",
    help="Search for the smallest litmus test that distinguishes two models.",
)
@click.option(
    "--accesses",
    type=int,
    metavar="N",
    help="With --compare: maximum number of accesses of a test.  [default: as many as the time "
    "allows]",
)
@click.option(
    "--isa",
    default="",
    metavar="TARGET",
    help="With --compare: compile the tests for models of machines, as `weakspot gen` does.",
)
@click.option(
    "--seconds",
    callback=some_time,
    metavar="DURATION",
    default="1m",
    show_default=True,
    help="With --compare: the time to search.",
)
def models(
    names: tuple[str, ...],
    as_path: bool,
    as_json: bool,
    compared: tuple[str, str] | None,
    accesses: int | None,
    isa: str,
    seconds: float,
) -> int:
    """List the memory models, or compare two."""
    if compared is not None:
        if names or as_path:
            raise click.UsageError("--compare takes two models, and excludes NAME and --path.")
        return _compare(compared, accesses, isa, seconds, as_json=as_json)
    for option, is_given in (("--accesses", accesses is not None), ("--isa", isa)):
        if is_given:
            raise click.UsageError(f"{option} requires --compare.")
    from weakspot.harness.corpus import models
    from weakspot.harness.report import corpus

    found = [models.resolve(name) for name in names] or list(models.available().values())
    if as_json:
        write_lines(json_lines(found))
    elif as_path:
        write_lines(str(model.path) for model in found)
    else:
        write_wrapped(corpus.models(found, alone=bool(names)))
    return NOTHING_FOUND


def _compare(
    compared: tuple[str, str], accesses: int | None, isa: str, seconds: float, *, as_json: bool
) -> int:
    """`models --compare`."""
    from weakspot.harness.report import model_differences
    from weakspot.model_comparison import ModelSearch

    search = ModelSearch(*compared, isa=isa, accesses=accesses)

    def show(found: ModelComparison) -> None:
        write_answers([found], as_json, partial(model_differences.print_comparison, found))

    with (
        on_interrupt("the tests so far are named", lambda: show(search.found)),
        progress_bar() as progress,
    ):
        found = search.run(seconds, progress)
    show(found)
    return NOTHING_FOUND if found.is_conclusive else INCONCLUSIVE
