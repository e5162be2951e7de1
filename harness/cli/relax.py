"""`weakspot relax`: the weakest memory orders that suffice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import click

from weakspot.errors import BadInput
from weakspot.harness.cli.errors import FINDINGS, INCONCLUSIVE, NOTHING_FOUND, keeping
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import bound_options, listed, source_options, what_argument
from weakspot.harness.cli.output import json_lines, say, watched

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build
    from weakspot.harness.orders.explorations import Explorations
    from weakspot.harness.orders.program_groups import ProgramGroup
    from weakspot.harness.orders.relax import Relaxing
    from weakspot.harness.orders.relaxation import Relaxed
    from weakspot.harness.orders.rewrite import Rewritten


@command(
    epilog="""\
Pass every program that includes a header: the proposed orders are safe for all of them. The
scenarios of a structure are taken together too. What no scenario does may need stronger orders. If
macros select several versions of a structure's source, each version is reported separately.

Exit code 1 if an order is stronger than needed, or if a program fails as it is; then the weakest
orders are those that repair it, if any do. Exit code 3 if a limit was reached.

Examples:
  weakspot relax my_queue.c
  weakspot relax push.c pop.c -I include         two programs that include one queue
  weakspot relax duffy_wsq --witness             an execution that fails with each weaker order
  weakspot relax my_queue.c --diff > weaker.patch
  weakspot relax my_queue.c --apply
  weakspot relax my_queue.c --fences             propose fences in place of stronger orders too
  weakspot relax my_queue.c --fences --take 2 --apply
  weakspot relax my_queue.c --json | jq .weakest
  weakspot relax all --check                     compare with what the corpus records"""
)
@what_argument
@click.option(
    "--model",
    "-m",
    "models",
    multiple=True,
    callback=listed,
    default=("rc11",),
    show_default=True,
    metavar="M[,M…]",
    help="Models, one after the other.",
)
@click.option(
    "--witness",
    "witnesses",
    is_flag=True,
    help="Show an execution that fails with each weaker order.",
)
@click.option("--fences", is_flag=True, help="Also propose fences in place of stronger orders.")
@click.option(
    "--take",
    type=click.IntRange(min=1),
    metavar="N",
    help="Number of the assignment for --diff and --apply.  [default: the cheapest]",
)
@click.option("--diff", is_flag=True, help="Print only the change, as a patch.")
@click.option("--apply", is_flag=True, help="Make the change in the source files.")
@click.option(
    "--check", "compare", is_flag=True, help="Compare with claims.toml; exit code 1 if they differ."
)
@click.option(
    "--promote", is_flag=True, help="Record the result in claims.toml and print the changes."
)
@bound_options
@source_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def relax(
    what: tuple[str, ...],
    models: tuple[str, ...],
    witnesses: bool,
    fences: bool,
    take: int | None,
    diff: bool,
    apply: bool,
    compare: bool,
    promote: bool,
    explore_seconds: float,
    executions: int,
    loops: int,
    build: Build,
    as_json: bool,
) -> int:
    """Find the weakest memory orders that suffice.

    For each memory order in the source, prints the weakest one with which all programs are still
    safe, and why it cannot be weaker."""
    from weakspot.harness.checkers.explorer import Bounds
    from weakspot.harness.machines.prices import Prices
    from weakspot.harness.orders.explorations import Explorations
    from weakspot.harness.orders.program_groups import program_groups
    from weakspot.harness.orders.relax import explorable, searches
    from weakspot.harness.orders.relaxation import findings
    from weakspot.harness.report import relaxed, terminal

    wanted = explorable(models)
    bounds = Bounds(loops=loops, executions=executions, seconds=explore_seconds)
    found: list[Relaxed] = []
    if sum((diff, apply, compare, promote)) > 1:
        raise click.UsageError("--diff, --apply, --check and --promote exclude each other.")
    if fences and (compare or promote):
        raise click.UsageError(
            "The corpus records orders without additional fences: leave --fences out."
        )
    if take and not (diff or apply):
        raise click.UsageError("--take requires --diff or --apply.")
    if apply and len(wanted) > 1:
        raise click.UsageError("--apply can be used with one model only.")

    def show(search: Relaxing) -> None:
        found.append(each := search.result())
        if diff:
            _patch(each, take)
        elif compare or promote:
            return
        elif as_json:
            say(json_lines((each, *findings(each))))
        else:
            relaxed.relaxed(each, terminal.console(), witnesses=witnesses)

    with watched() as progress:
        progress.start(0, "reading")
        named = program_groups(what, build=build, report=progress.at)
        recorded = [each.name for each in named if each.structure]
        if apply and recorded:
            raise BadInput(
                "relax does not change sources of the corpus, which records them as published",
                place=recorded[0],
                advice="--diff prints the change",
            )
        if (compare or promote) and (own := [each.name for each in named if not each.structure]):
            raise BadInput(
                "results are recorded only for structures of the corpus",
                place=own[0],
                advice="name a structure, or all; weakspot structures lists them",
            )
        # what the corpus records depends on no machine
        prices = None if compare or promote else Prices()
        for search in searches(
            named, wanted, bounds, fences=fences, prices=prices, report=progress.at
        ):
            with keeping("the results so far are printed", partial(show, search)):
                search.run()
            show(search)
    if compare or promote:
        return _recorded(named, found, promote=promote)
    if apply:
        for each, group in zip(found, named, strict=True):
            reread = partial(program_groups, what, build=build)
            _apply(each, group.name, take, Explorations(wanted[0], bounds), reread, aside=as_json)
    # the corpus holds mistakes on purpose
    mine = {each.name for each in named if each.structure is None}
    wrong = (
        each.subject in mine
        and ((each.scenarios and not each.suffices) or any(one.violated for one in each.left_out))
        for each in found
    )
    if any(findings(each) for each in found) or any(wrong):
        return FINDINGS
    return NOTHING_FOUND if all(each.decided for each in found) else INCONCLUSIVE


def _patch(found: Relaxed, take: int | None) -> None:
    """The change on standard output, what is left to do by hand beside it."""
    from weakspot.harness.orders.relaxation import chosen
    from weakspot.harness.orders.rewrite import rewrite

    change = rewrite(found.annotations, chosen(found, take))
    say(change.diff())
    _by_hand(change)


def _apply(
    found: Relaxed,
    name: str,
    take: int | None,
    explorations: Explorations,
    reread: Callable[[], Sequence[ProgramGroup]],
    *,
    aside: bool,
) -> None:
    """Make the change, and see that it is what was meant; else leave the files as they were."""
    from weakspot.harness.orders.relaxation import chosen, confirm
    from weakspot.harness.orders.rewrite import rewrite

    orders = chosen(found, take)
    change = rewrite(found.annotations, orders)
    if change.after and not found.decided:
        raise BadInput(
            "nothing is changed, because a limit was reached",
            place=name,
            advice="raise the limit with --loops, --executions or --seconds",
        )

    def confirmed() -> None:
        (again,) = (each for each in reread() if each.name == name)
        confirm(again.programs, found, orders, change.by_hand, explorations)

    change.write(confirmed)
    for path in change.after:
        click.echo(f"changed {path}", err=aside)
    _by_hand(change)


def _by_hand(change: Rewritten) -> None:
    from weakspot.harness.values.strength import spelled

    for each in change.by_hand:
        what = "leave it out" if each.order == "none" else f"write {spelled(each.order)}"
        click.echo(f"by hand: {each.annotation}: {what} ({each.why})", err=True)


def _recorded(named: Sequence[ProgramGroup], found: Sequence[Relaxed], *, promote: bool) -> int:
    """Compare with what the corpus records, or record it; never what a limit left open."""
    from weakspot.harness.orders import promotion

    code = NOTHING_FOUND
    for group in named:
        assert group.structure is not None
        mine = [each for each in found if each.subject == group.name]
        if open_ := [note for each in mine for note in each.notes]:
            say([f"{group.name}: undecided, {'; '.join(open_)}"])
            code = code or INCONCLUSIVE
            continue
        tables = [promotion.recorded(each) for each in mine]
        lines = promotion.drift(group.structure, tables)
        same = "as recorded" if not lines else "promoted" if promote else "not as recorded"
        say([f"{group.name}: {same}", *(f"  {line}" for line in lines)])
        if lines and promote:
            promotion.promote(group.structure, tables)
        elif lines:
            code = FINDINGS
    return code
