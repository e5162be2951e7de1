"""`weakspot cost`: what memory orders cost on a machine."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from weakspot.harness.cli.errors import INCONCLUSIVE, NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import (
    is_given,
    json_option,
    machine_option,
    named_machines,
    some_time,
    what_argument,
)
from weakspot.harness.cli.output import one_by_one, write_answers
from weakspot.harness.cli.source_options import crate_options, source_options

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build
    from weakspot.harness.costs.result import Costs


@command(
    epilog="""\
The whole programs run, first with one thread at a time, then with all threads at once. Each figure
is the difference from the weakest memory order of the same operation, per execution. The memory
order in the source is in brackets; the column "per run" counts how often a run executes the
operation. Until the file changes, relax prefers memory orders that are cheap on this machine.

Examples:
  weakspot cost duffy_wsq
  weakspot cost my_queue.c -I include --for 1m     a longer run has less noise
  weakspot cost my_queue.c --fences                for relax --fences
  weakspot cost my_queue.c --on ssh:pi             on another machine
  weakspot cost my_queue.c --json | jq .sites"""
)
@what_argument
@machine_option("machine", "Machine to measure on.", default="local", show_default=True)
@click.option(
    "--for",
    "seconds",
    callback=some_time,
    default="10s",
    show_default=True,
    metavar="DURATION",
    help="How long to measure each structure. If given, each takes at most a second more, "
    "compiling included; what was not measured in this time is reported, with exit code 3.",
)
@click.option("--fences", is_flag=True, help="Also measure fences next to accesses.")
@source_options
@crate_options
@json_option
def cost(
    what: tuple[str, ...], machine: str, seconds: float, fences: bool, build: Build, as_json: bool
) -> int:
    """Measure what each memory order costs.

    For each memory order in the source, and every order that C11 allows there, measures the
    program's own operations, in nanoseconds with confidence intervals."""
    from weakspot import projects
    from weakspot.harness.report import costs

    def show(found: Costs) -> None:
        write_answers([found], as_json, partial(costs.costs, found))

    found, results = one_by_one(
        lambda progress: projects.cost(
            what,
            on=machine,
            named=named_machines(),
            seconds=seconds,
            limited=is_given("seconds"),
            fences=fences,
            build=build,
            progress=progress,
        ),
        show,
        "the costs measured so far are printed",
    )
    complete = not results.unread and all(each.is_complete for each in found)
    return NOTHING_FOUND if complete else INCONCLUSIVE
