"""What relax found, in a terminal: a row an annotation, a column a minimal assignment, and why no
order in it can be weaker."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from weakspot.harness.orders.relaxation import Relaxed, findings, reason
from weakspot.harness.report import witness
from weakspot.harness.report.terminal import columns, style
from weakspot.harness.values.annotations import Annotation
from weakspot.harness.values.numbers import rounded
from weakspot.harness.values.strength import at_most, split

_COLUMNS = 4  # assignments that are shown side by side
_LINES = 20  # others


def relaxed(found: Relaxed, out: Console, *, witnesses: bool = False) -> None:
    """Print all of it, with the executions that break what is weaker when they are asked for."""
    count = len(found.annotations)
    out.print(
        Text.assemble(
            (found.subject, "bold"),
            f" ({', '.join(found.version)})" if found.version else "",
            f"  {count} annotation{'' if count == 1 else 's'} in {_scenarios(found)} "
            f"under {found.model}",
        )
    )
    for line in columns(_table(found), indent=2):
        out.print(line)
    for text in (*_others(found), *_failing(found)):
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
    shown = found.weakest[: _columns(found)]
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


def _columns(found: Relaxed) -> int:
    """How many assignments are shown side by side: none with a fence that is not written."""
    plain = [all(split(order)[1] == order for order in each.orders) for each in found.weakest]
    return min(sum(plain), _COLUMNS)


def _others(found: Relaxed) -> Iterator[str]:
    """What else suffices, by how it differs from the first: `q.h:102 fence rel, store rlx`."""
    rest = list(enumerate(found.weakest, 1))[_columns(found) :]
    if rest:
        yield "  instead of weakest 1, as --take N:" if rest[0][0] > 2 else "  or, as --take N:"
    for number, one in rest[:_LINES]:
        orders = zip(found.annotations, one.orders, found.weakest[0].orders, strict=True)
        told = (_with_fences(each, order) for each, order, first in orders if order != first)
        yield f"  {number:>3}  {'; '.join(told)}"
    if len(rest) > _LINES:
        yield f"  and {len(rest) - _LINES:,} more, which --json lists"


def _failing(found: Relaxed) -> Iterator[str]:
    """Of a search that was cut, what is too weak however strong all else is."""
    if found.failing:
        yield "  known to be too weak, however strong the others are:"
    for one in found.failing[:_LINES]:
        orders = (_with_fences(found.annotations[at], order) for at, order in one.orders.items())
        yield f"    {'; '.join(orders)}: {one.kind} in {one.scenario}"
    if len(found.failing) > _LINES:
        yield f"    and {len(found.failing) - _LINES:,} more, which --json lists"


def _with_fences(each: Annotation, order: str) -> str:
    before, own, after = split(order)
    first, last = (f"fence {fence}" if fence != "none" else "" for fence in (before, after))
    return f"{each} {', '.join(filter(None, (first, f'{each.operation} {own}', last)))}"


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
    explorations = f"by {found.explorations:,} explorations in {found.seconds:.1f} s"
    if not found.scenarios and found.decided:
        return "no scenario takes part"
    if not found.weakest and not found.decided:
        return f"no minimal assignment was found yet, {explorations}"
    said = ""
    if found.weakest and not found.suffices:
        said = "the orders as written do not suffice for all scenarios; "
    every = rounded(found.assignments)
    if found.measured and len(found.weakest) > 1:
        said += "the cheapest comes first, as weakspot cost has measured it here; "
    return (
        f"{said}{len(found.weakest):,} minimal of {every} assignments, {explorations}; "
        "what no scenario does may need more"
    )
