"""`weakspot mutate`: whether the scenarios notice weaker memory orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weakspot.harness.cli.errors import FINDINGS, INCONCLUSIVE, NOTHING_FOUND
from weakspot.harness.cli.exploration_options import bound_options
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import (
    language_models,
    machine_models,
    project_models,
    source_options,
    what_argument,
)
from weakspot.harness.cli.output import json_lines, one_by_one, say

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build
    from weakspot.harness.orders.mutants import Mutated
    from weakspot.harness.values.bounds import Bounds


@command(
    epilog="""\
Pass every program that uses a library: a mutant survives if none of them notices it. A mutant has
one memory order a step weaker, or lacks one fence or one notification of a condition variable.
Scenarios that are violated as they are written are left out.

Exit code 1 if a mutant survives, 3 if a limit was reached.

Examples:
  weakspot mutate tests/weakspot/*.cpp -I include
  weakspot mutate my_queue.c --all               what notices each of the others, too
  weakspot mutate ms_queue --model rc20,tso
  weakspot mutate my_queue.c --json | jq '.mutants[] | select(.result == "survives")'"""
)
@what_argument
@language_models("Models, one after the other.")
@project_models
@click.option("--all", "everything", is_flag=True, help="Print the mutants that are noticed too.")
@bound_options
@source_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def mutate(
    what: tuple[str, ...],
    models: tuple[str, ...],
    everything: bool,
    bounds: Bounds,
    build: Build,
    as_json: bool,
) -> int:
    """Find changes that no scenario notices.

    Weakens each memory order by one step, leaves out each fence and each notification, and explores
    the scenarios: a change after which all of them are still safe is one that nothing tests."""
    from weakspot import projects
    from weakspot.harness.report import mutants, terminal

    def show(each: Mutated) -> None:
        if as_json:
            say(json_lines([each]))
        else:
            mutants.mutated(each, terminal.console(), everything=everything)

    found = one_by_one(
        lambda progress: projects.mutate(
            what,
            models=models,
            machine_models=machine_models(),
            bounds=bounds,
            build=build,
            progress=progress,
        ),
        show,
        "the results so far are printed",
    )
    if any(each.of("survives") for each in found):
        return FINDINGS
    return NOTHING_FOUND if all(each.decided for each in found) else INCONCLUSIVE
