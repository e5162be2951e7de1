"""What relax found, in a terminal: a row an annotation, a column a minimal assignment, and why no
order in it can be weaker."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from weakspot.harness.annotations import Annotation, at_most
from weakspot.harness.relax import Relaxed, findings, reason
from weakspot.harness.report import witness
from weakspot.harness.report.terminal import columns, style
from weakspot.harness.words import rounded

_COLUMNS = 4  # assignments that are shown side by side


def relaxed(found: Relaxed, out: Console, *, witnesses: bool = False) -> None:
    """Print all of it, with the executions that break what is weaker when they are asked for."""
    count = len(found.annotations)
    out.print(
        Text.assemble(
            (found.subject, "bold"),
            f"  {count} annotation{'' if count == 1 else 's'} in {_scenarios(found)} "
            f"under {found.model}",
        )
    )
    for line in columns(_table(found), indent=2):
        out.print(line)
    if len(found.weakest) > _COLUMNS:
        left = len(found.weakest) - _COLUMNS
        out.print(Text(f"  and {left:,} more assignments that are minimal too", style="dim"))
    for text in _fenced(found):
        out.print(Text(text))
    if witnesses:
        for text in _witnesses(found):
            out.print(Text(text))
    for finding in findings(found):
        out.print(Text.assemble((f"{finding.id} ", style(finding.severity)), finding.message))
        for site in finding.sites:
            out.print(Text.assemble("  --> ", site))
        out.print(Text.assemble(("help: ", "cyan"), finding.fix))
    for each in found.left_out:
        out.print(Text(f"takes no part: {each.scenario}, {each.why}", style="dim"))
    for note in found.notes:
        out.print(Text.assemble(("undecided: ", "yellow"), note))
    out.print(Text(_closing(found), style="dim"))


def _scenarios(found: Relaxed) -> str:
    count = len(found.scenarios)
    return f"{count} scenario{'' if count == 1 else 's'}"


def _table(found: Relaxed) -> Iterator[list[str | Text]]:
    shown = found.weakest[:_COLUMNS]
    heads = ["weakest"] if len(shown) == 1 else [f"weakest {n}" for n in range(1, len(shown) + 1)]
    if not shown:
        return
    yield [Text(head, style="dim") for head in ("site", "", "", "written", *heads, "why")]
    for number, each in enumerate(found.annotations):
        orders = [Text(one.orders[number], style=_style(each, one.orders[number])) for one in shown]
        why = next((reason(one.needs[number]) for one in shown if one.needs[number]), "")
        yield [str(each), each.operation, each.function, each.order, *orders, why]


def _style(each: Annotation, order: str) -> str:
    """Yellow where less is enough than is written, red where that is too little."""
    if order == each.order:
        return ""
    return "yellow" if at_most(order, each.order) else "red"


def _fenced(found: Relaxed) -> Iterator[str]:
    """`with a rel fence before it, ptlq.h:102 store may be rlx`, and what else may be then."""
    for one in found.fenced:
        each = found.annotations[one.annotation]
        sides = (("before", one.before), ("after", one.after))
        fences = " and ".join(f"a fence {order} {side}" for side, order in sides if order != "none")
        others = "".join(
            f", {other} {order}"
            for number, (other, order) in enumerate(zip(found.annotations, one.orders, strict=True))
            if number != one.annotation and order != found.weakest[0].orders[number]
        )
        own = one.orders[one.annotation]
        yield f"  or with {fences} {each}: {each.operation} {own}{others}"


def _witnesses(found: Relaxed) -> Iterator[str]:
    """For each order of the cheapest assignment the execution that breaks below it."""
    for one in found.weakest[:1]:
        for each, order, needs in zip(found.annotations, one.orders, one.needs, strict=True):
            for need in needs:
                yield ""
                yield f"{each} {each.operation} is {order}; with {need.below}, in {need.scenario}:"
                yield f"  {need.violation.message}"
                yield from (f"  {line}" for line in witness.columns(need.violation.witness))
        yield ""


def _closing(found: Relaxed) -> str:
    if not found.scenarios:
        return "no scenario takes part" if found.decided else "nothing was found yet"
    said = ""
    if found.weakest and not found.suffices:
        said = "the orders as written do not suffice for all scenarios; "
    every = rounded(found.assignments)
    return (
        f"{said}{len(found.weakest):,} minimal of {every} assignments, by "
        f"{found.explorations:,} explorations in {found.seconds:.1f} s; what no scenario does "
        "may need more"
    )
