"""`weakspot mutate`: whether the scenarios notice weaker memory orders."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weakspot.harness.cli.client_options import client_options
from weakspot.harness.cli.errors import BAD, FINDINGS, INCONCLUSIVE, NOTHING_FOUND
from weakspot.harness.cli.exploration_options import program_options
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import (
    language_models,
    machine_models,
    output_option,
    project_models,
    what_argument,
)
from weakspot.harness.cli.output import one_by_one, write_answers

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build
    from weakspot.harness.campaign.executor import Executor
    from weakspot.harness.campaign.progress import Progress
    from weakspot.harness.clients.mutants import Clients
    from weakspot.harness.clients.subject import ClientChoice
    from weakspot.harness.orders.mutants import Mutated
    from weakspot.harness.values.bounds import Bounds
    from weakspot.projects import Results


@command(
    epilog="""\
Pass every program that uses a library: a mutant survives if none of them notices it. A mutant has
one memory order a step weaker, lacks one fence, notification or post of a semaphore, or notifies
one thread instead of all. Scenarios that are violated as written are excluded: repair them first.

With --clients and --as, which mean the same as in weakspot linearize, the smallest client of the
object that notices a surviving mutant is printed, and -o writes these clients as a scenario.

The exit code is 1 if a mutant survives, or if a program of yours is violated as written; 3 if a
limit was reached, or if a program of a folder cannot be read; such programs are listed at the end.

Examples:
  weakspot mutate tests/weakspot/*.cpp -I include
  weakspot mutate my_queue.c --all               what notices each of the others, too
  weakspot mutate ms_queue --model rc20,tso
  weakspot mutate tests/*.c --clients my_queue_ops.c --as queue -o tests/clients.c
  weakspot mutate my_queue.c --json | jq '.mutants[] | select(.result == "survives")'"""
)
@what_argument
@language_models("Models, one after the other.")
@project_models
@click.option(
    "--clients",
    "clients",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Operations of the object, of which clients are made.",
)
@client_options()
@output_option("FILE", "Write the clients that notice surviving mutants as one scenario.")
@click.option("--all", "everything", is_flag=True, help="Print the mutants that are noticed too.")
@program_options
def mutate(
    what: tuple[str, ...],
    models: tuple[str, ...],
    clients: Path | None,
    choice: ClientChoice | None,
    output: Path | None,
    everything: bool,
    strict: bool,
    bounds: Bounds,
    build: Build,
    as_json: bool,
    executor: Executor | None,
) -> int:
    """Find changes that no scenario notices.

    Weakens each memory order by one step, leaves out each fence and each notification, and explores
    the scenarios: a change after which all of them are still safe is one that nothing tests."""
    if (clients is None) != (choice is None):
        raise click.UsageError("--clients and --as are given together.")
    if output is not None and clients is None:
        raise click.UsageError("-o needs --clients and --as.")
    from weakspot import objects, projects
    from weakspot.harness.report import mutants

    def show(each: Mutated) -> None:
        write_answers([each], as_json, partial(mutants.mutated, each, everything=everything))

    tried: list[Clients] = []

    def mutants_of(progress: Progress) -> Results[Mutated]:
        if clients is not None and choice is not None:
            tried.append(objects.object_clients(clients, choice, build=build, progress=progress))
        return projects.mutate(
            what,
            models=models,
            machine_models=machine_models(),
            clients=tried[0] if tried else None,
            bounds=bounds,
            build=build,
            progress=progress,
            executor=executor,
        )

    found, results = one_by_one(mutants_of, show, "the results so far are printed")
    if output is not None and tried and tried[0].noticing:
        tried[0].write(output)
    if strict and results.unread:
        return BAD
    # the corpus holds mistakes on purpose
    wrong = any(each.violated for each in found if each.subject not in results.recorded)
    if wrong or any(each.of("survives") for each in found):
        return FINDINGS
    decided = not results.unread and all(each.decided for each in found)
    return NOTHING_FOUND if decided else INCONCLUSIVE
