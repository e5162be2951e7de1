"""`weakspot cost`: what memory orders cost on a machine."""

from __future__ import annotations

from pathlib import Path

import click

from weakspot.harness.cli.errors import NOTHING_FOUND, keeping
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import (
    Listing,
    machine_forms,
    some_time,
    source_options,
    what_argument,
)
from weakspot.harness.cli.output import json_lines, say, watched


@command(
    epilog="""\
The programs run as a whole, alone and together: their threads one after the other, and at once.
What is printed is the difference to the weakest order of the place, for one execution of it; what
is written stands in brackets, and beside it how often a run executes it. relax ranks by what this
machine has measured, as long as the file is not changed.

Examples:
  weakspot cost duffy_wsq
  weakspot cost my_queue.c -I include --for 1m     the longer, the less noise
  weakspot cost my_queue.c --fences                for relax --fences
  weakspot cost my_queue.c --on ssh:pi             on another machine
  weakspot cost my_queue.c --json | jq .sites"""
)
@what_argument
@click.option(
    "--on",
    "machine",
    default="local",
    show_default=True,
    cls=Listing,
    metavar=machine_forms,
    help=lambda: "The machine to measure on.",
)
@click.option(
    "--for",
    "seconds",
    callback=some_time,
    default="10s",
    show_default=True,
    metavar="DURATION",
    help="How long to measure each structure.",
)
@click.option("--fences", is_flag=True, help="Measure fences beside accesses too.")
@source_options
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def cost(
    what: tuple[str, ...],
    machine: str,
    seconds: float,
    fences: bool,
    defines: tuple[str, ...],
    include: tuple[Path, ...],
    as_json: bool,
) -> int:
    """Measure what each memory order costs.

    For every annotation, and every order that C11 allows there, what the program's own operations
    take with it, in nanoseconds and with the noise."""
    from weakspot.harness import machines
    from weakspot.harness.campaign.executor import LocalExecutor, ask
    from weakspot.harness.campaign.store import MemoryStore
    from weakspot.harness.machines.prices import Prices
    from weakspot.harness.machines.profile import profile
    from weakspot.harness.orders.cost import Costs, MeasureCosts, prices
    from weakspot.harness.orders.subjects import subjects
    from weakspot.harness.report import costs, terminal

    place = machines.resolve(machine)
    executor = LocalExecutor(gauge=None)

    def show(found: Costs) -> None:
        Prices(profile(place)).remember((site.annotation, prices(site)) for site in found.sites)
        if as_json:
            say(json_lines([found]))
        else:
            costs.costs(found, terminal.console())

    with watched() as progress:
        progress.start(0, "reading")
        for subject in subjects(what, defines=defines, include=include, report=progress.at):
            job = MeasureCosts.of(
                subject.name, subject.programs, place, fences=fences, seconds=seconds
            )
            store = MemoryStore()

            def show_stored(store: MemoryStore = store, job: MeasureCosts = job) -> None:
                found = store.get(job.key)
                if isinstance(found, Costs):
                    show(found)

            with keeping("the costs measured so far are printed", show_stored):
                ask([job], store, executor, progress=progress)
            show_stored()
    return NOTHING_FOUND
