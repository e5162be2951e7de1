"""`weakspot relax`: the weakest memory orders that suffice."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from weakspot.errors import WeakspotError
from weakspot.harness.cli.client_options import client_options
from weakspot.harness.cli.errors import BAD, FINDINGS, INCONCLUSIVE, NOTHING_FOUND
from weakspot.harness.cli.exploration_options import program_options
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import (
    language_models,
    machine_models,
    optional_time,
    project_models,
    what_argument,
)
from weakspot.harness.cli.output import json_lines, one_by_one, progress_bar, write_lines

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build
    from weakspot.harness.campaign.executor import Executor
    from weakspot.harness.campaign.progress import Progress
    from weakspot.harness.clients.subject import ClientChoice
    from weakspot.harness.edits.changes import ByHand, Rewritten
    from weakspot.harness.orders.relaxation import Relaxed
    from weakspot.harness.values.bounds import Bounds
    from weakspot.projects import Relaxations


@command(
    epilog="""\
Pass every program that includes a header: the proposed memory orders are safe for all of them. The
scenarios of a structure are taken together too. A use that no scenario contains may need stronger
ones. If macros select several versions of a structure's source, each is reported separately.

With --as, WHAT is a file with the operations of an object, as for weakspot linearize, whose options
choose the clients, the programs that call them; weakspot new writes such a file for a header. An
object that does not behave so as it is written is reported as linearize does. The proposed memory
orders are safe for all clients up to the size.

The exit code is 1 if a memory order is stronger than needed, or if a program fails as it is; then
the weakest memory orders are those that repair it, if any do. It is 3 if a limit was reached, or if
a program of a folder cannot be read; such programs are listed at the end.

Examples:
  weakspot relax my_queue.c
  weakspot relax push.c pop.c -I include         two programs that include one queue
  weakspot relax my_queue_ops.c --as queue       for every client of up to 4 calls
  weakspot relax duffy_wsq --witness             what fails with each weaker memory order
  weakspot relax my_queue.c --diff > weaker.patch
  weakspot relax my_queue.c --apply
  weakspot relax my_queue.c --fences             propose fences beside weaker accesses too
  weakspot relax my_queue.c --fences --take 2 --apply
  weakspot relax my_queue.c --for 5m             print what is known after five minutes
  weakspot relax my_queue.c --json | jq .weakest
  weakspot relax all --check                     compare with what the corpus records"""
)
@what_argument
@language_models("Models, one after the other.")
@project_models
@click.option(
    "--witness",
    "witnesses",
    is_flag=True,
    help="Show an execution that fails with each weaker memory order.",
)
@click.option(
    "--fences", is_flag=True, help="Also propose fences in place of stronger memory orders."
)
@click.option(
    "--take",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of the assignment for --diff and --apply.  [default: the cheapest]",
)
@client_options()
@click.option(
    "--for",
    "seconds",
    callback=optional_time,
    metavar="DURATION",
    help="Time limit for the whole search, compiling included. If it is reached, the results so "
    "far are printed, and the exit code is 3.  [default: no limit]",
)
@click.option("--diff", is_flag=True, help="Print only the change, as a patch.")
@click.option("--apply", is_flag=True, help="Make the change in the source files.")
@click.option(
    "--check", "compare", is_flag=True, help="Compare with claims.toml; exit code 1 if they differ."
)
@click.option(
    "--promote", is_flag=True, help="Record the result in claims.toml and print the changes."
)
@program_options
def relax(
    what: tuple[str, ...],
    models: tuple[str, ...],
    witnesses: bool,
    fences: bool,
    take: int | None,
    seconds: float | None,
    diff: bool,
    apply: bool,
    compare: bool,
    promote: bool,
    strict: bool,
    choice: ClientChoice | None,
    bounds: Bounds,
    build: Build,
    as_json: bool,
    executor: Executor | None,
) -> int:
    """Find the weakest memory orders that suffice.

    For each memory order in the source, prints the weakest one with which all programs are still
    safe, and why it cannot be weaker."""
    from weakspot import objects, projects
    from weakspot.harness.cli.linearize import check_clients
    from weakspot.harness.orders.relaxation import findings
    from weakspot.harness.report import terminal, weakest_orders
    from weakspot.system.deadline import NEVER, ending

    if sum((diff, apply, compare, promote)) > 1:
        raise click.UsageError("--diff, --apply, --check and --promote exclude each other.")
    if fences and (compare or promote):
        raise click.UsageError(
            "The corpus records memory orders without additional fences: leave --fences out."
        )
    if seconds and (compare or promote):
        raise click.UsageError("The corpus records complete searches: leave --for out.")
    if take and not (diff or apply):
        raise click.UsageError("--take requires --diff or --apply.")
    if apply and len(set(models)) > 1:
        raise click.UsageError("--apply can be used with one model only.")
    if executor is not None and (compare or promote):
        raise click.UsageError("--cluster cannot be used with --check or --promote.")
    if choice is not None:
        if len(what) != 1:
            raise click.UsageError("--as requires one file, which defines the operations.")
        if compare or promote:
            raise click.UsageError("The corpus records scenarios, not clients: leave --as out.")
        if executor is not None:
            raise click.UsageError("--cluster cannot be used with --as.")
        end = NEVER if seconds is None else ending(seconds)
        code = check_clients(
            what[0],
            choice,
            as_json=as_json,
            aside=diff,
            show=lambda found: found.result == "Violated" or end.passed or found.interrupted,
            models=models,
            bounds=bounds,
            seconds=end.left,
            build=build,
        )
        if end.passed and code == NOTHING_FOUND:
            click.echo(f"time limit of {seconds:g} s: no weaker memory order was tried", err=True)
            return INCONCLUSIVE
        if code == FINDINGS or end.passed:
            return code
        seconds = end.left if seconds is not None else None
    if compare or promote:
        return _recorded(what, models, bounds, promote=promote)

    def show(each: Relaxed) -> None:
        if diff:
            _show_change(asked[0].proposal(each, take=take))
        elif as_json:
            write_lines(json_lines((each, *findings(each))))
        else:
            weakest_orders.relaxed(each, terminal.console(), witnesses=witnesses)
        if not diff and not apply and each.decided:
            try:
                _show_by_hand(asked[0].by_hand(each), aside=as_json)
            except WeakspotError as error:
                click.echo(f"--diff and --apply change nothing: {error.message}", err=True)

    asked: list[Relaxations] = []

    def ask(progress: Progress) -> Relaxations:
        common: dict[str, Any] = {
            "models": models,
            "machine_models": machine_models(),
            "fences": fences,
            "seconds": seconds,
            "bounds": bounds,
            "build": build,
            "progress": progress,
        }
        if choice is not None:
            results = objects.relax_object(what[0], choice, **common)
        else:
            results = projects.relax(what, executor=executor, **common)
        if apply:
            results.refuse_corpus()
        asked.append(results)
        return results

    found, results = one_by_one(ask, show, "the results so far are printed")
    if apply:
        for each in found:
            _show_applied(asked[0].apply(each, take=take), aside=as_json)
    if strict and results.unread:
        return BAD
    # the corpus holds mistakes on purpose
    wrong = (each.fails_as_written for each in found if each.subject not in results.recorded)
    if any(findings(each) for each in found) or any(wrong):
        return FINDINGS
    decided = not results.unread and all(each.decided for each in found)
    return NOTHING_FOUND if decided else INCONCLUSIVE


def _show_change(change: Rewritten) -> None:
    """The change as a patch on standard output, what is left to do by hand beside it."""
    write_lines(change.diff())
    _show_by_hand(change.by_hand, aside=True)


def _show_applied(change: Rewritten, *, aside: bool) -> None:
    for path in change.after:
        click.echo(f"changed {os.path.relpath(path)}", err=aside)
    _show_by_hand(change.by_hand, aside=True)


def _show_by_hand(places: Sequence[ByHand], *, aside: bool) -> None:
    from weakspot.harness.report.weakest_orders import by_hand

    for line in by_hand(places):
        click.echo(line, err=aside)


def _recorded(
    what: tuple[str, ...], models: tuple[str, ...], bounds: Bounds, *, promote: bool
) -> int:
    """Compare with what the corpus records, or record it; never what a limit left open."""
    from weakspot import projects
    from weakspot.harness.report import weakest_orders

    code = NOTHING_FOUND
    with progress_bar() as progress:
        for each in projects.compare_orders(
            what, models=models, bounds=bounds, promote=promote, progress=progress
        ):
            write_lines(weakest_orders.difference(each, promoted=promote))
            if each.undecided:
                code = code or INCONCLUSIVE
            elif each.lines and not promote:
                code = FINDINGS
    return code
