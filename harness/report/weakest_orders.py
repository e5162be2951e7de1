"""The result of `weakspot relax` in a terminal.

One row per annotation, one column per minimal assignment, and why no memory order in it can be
weaker.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from weakspot.harness.edits.annotations import Annotation
from weakspot.harness.edits.changes import ByHand
from weakspot.harness.edits.strength import at_most, split
from weakspot.harness.orders.promotion import OrdersDifference
from weakspot.harness.orders.relaxation import Relaxed, findings, reason, wanted
from weakspot.harness.report import witness
from weakspot.harness.report.terminal import advice, diagnostic, print_dim, print_table, text_width
from weakspot.harness.values.descriptions import STARTS_NO_THREAD
from weakspot.harness.values.numbers import amount, rounded

_COLUMNS = 4  # assignments that are printed side by side
_LINES = 20  # further assignments


def relaxed(found: Relaxed, out: Console, *, witnesses: bool = False) -> None:
    """Print the result; with `witnesses` also the executions that a weaker memory order allows."""
    out.print(
        Text.assemble(
            (found.subject, "bold"),
            f" ({', '.join(found.version)})" if found.version else "",
            f"  {amount(len(found.annotations), 'annotation')}"
            f"{f' in {found.checked}' if found.scenarios or found.decided else ''}"
            f" under {found.under}",
        )
    )
    print_table(_table(found), out, indent=2)
    for text in (*_unexercised(found), *_others(found), *_failing(found)):
        out.print(Text(text))
    if witnesses:
        for text in _witnesses(found, text_width(out, 2)):
            out.print(Text(text))
    for finding in findings(found):
        out.print(diagnostic(finding.id, finding.severity, finding.message))
        for site in finding.sites:
            out.print(Text.assemble("  --> ", site))
        out.print(advice(finding.fix))
    for text in _first(f"excluded: {each.scenario}, {each.why}" for each in found.left_out):
        print_dim(text, out)
    for name in found.sequential if found.clients is None else ():
        print_dim(f"{name} {STARTS_NO_THREAD}", out)
    for note in _first(found.notes):
        out.print(Text.assemble(("undecided: ", "yellow"), note))
    print_dim(_closing(found), out)


def _first(lines: Iterable[str], indent: str = "") -> Iterator[str]:
    """The first lines, and how many more there are."""
    every = list(lines)
    yield from (f"{indent}{line}" for line in every[:_LINES])
    if len(every) > _LINES:
        yield f"{indent}and {len(every) - _LINES:,} more, which --json lists"


def by_hand(places: Iterable[ByHand]) -> Iterator[str]:
    """One line per annotation that the user has to change."""
    for each in places:
        what = (
            "remove it" if each.order == "none" else f"write {each.annotation.spelled(each.order)}"
        )
        yield f"by hand: {each.annotation}: {what} ({each.why})"


def difference(found: OrdersDifference, *, promoted: bool) -> Iterator[str]:
    """What promoting changes, or has changed, in a structure's record."""
    if found.undecided:
        yield f"{found.structure}: undecided, {'; '.join(found.undecided)}"
        return
    same = "as recorded" if not found.lines else "promoted" if promoted else "not as recorded"
    yield f"{found.structure}: {same}"
    yield from (f"  {line}" for line in found.lines)


def _table(found: Relaxed) -> Iterator[list[str | Text]]:
    shown = found.weakest[: _columns(found)]
    name = "weakest" if found.suffices else "repair"
    heads = [name] if len(shown) == 1 else [f"{name} {n}" for n in range(1, len(shown) + 1)]
    if not shown:
        return
    yield [Text(head, style="dim") for head in ("site", "", "", "written", *heads, "why")]
    for number, each in enumerate(found.annotations):
        given = [one.orders[number] for one in shown]
        orders = [Text(each.named(order), style=_style(each, order)) for order in given]
        why = next((reason(each, one.needs[number]) for one in shown if one.needs[number]), "")
        written = each.named(each.order)
        yield [str(each), each.operation, each.function, written, *orders, why]


def _style(each: Annotation, order: str) -> str:
    """Yellow if a weaker memory order than in the source suffices, red if a stronger one is
    needed."""
    if order == each.order:
        return ""
    return "yellow" if at_most(order, each.order) else "red"


def _unexercised(found: Relaxed) -> Iterator[str]:
    """The memory orders that stay because no program exercises them, and what would."""
    if found.unexercised:
        yield "  not exercised, so no weaker memory order is proposed:"
    what = "scenario" if found.clients is None else "client"
    for number, one in found.unexercised.items():
        each = found.annotations[number]
        yield f"    {_operation(each, each.order)}: needs a {what} {wanted(each, one)}"


def _columns(found: Relaxed) -> int:
    """How many assignments are printed side by side: those without additional fences."""
    plain = [all(split(order)[1] == order for order in each.orders) for each in found.weakest]
    return min(sum(plain), _COLUMNS)


def _others(found: Relaxed) -> Iterator[str]:
    """The other minimal assignments, as changes to the first: `q.h:102 fence rel, store rlx`."""
    rest = list(enumerate(found.weakest, 1))[_columns(found) :]
    if rest:
        yield (
            "  alternatives to weakest 1, for --take N:"
            if rest[0][0] > 2
            else "  alternatives, for --take N:"
        )
    lines = []
    for number, one in rest:
        orders = zip(found.annotations, one.orders, found.weakest[0].orders, strict=True)
        changes = (_with_fences(each, order) for each, order, first in orders if order != first)
        lines.append(f"{number:>3}  {'; '.join(changes)}")
    yield from _first(lines, "  ")


def _failing(found: Relaxed) -> Iterator[str]:
    """The memory orders that an interrupted search knows to be too weak even if all others are
    seq_cst."""
    if found.failing:
        yield "  too weak, even with all other memory orders as strong as possible:"
    lines = []
    for one in found.failing:
        orders = (_with_fences(found.annotations[at], order) for at, order in one.orders.items())
        lines.append(f"{'; '.join(orders)}: {one.kind} in {one.scenario}")
    yield from _first(lines, "    ")


def _with_fences(each: Annotation, order: str) -> str:
    before, own, after = split(order)
    first, last = (f"fence {fence}" if fence != "none" else "" for fence in (before, after))
    if each.kernel:
        return f"{each} {each.named(order)}"
    return f"{each} {', '.join(filter(None, (first, f'{each.operation} {own}', last)))}"


def _operation(each: Annotation, order: str) -> str:
    """`q.c:20 store rel`; `q.c:20 smp_store_release` of the Linux kernel."""
    if each.kernel:
        return f"{each} {each.named(order)}"
    return f"{each} {each.operation} {order}"


def _witnesses(found: Relaxed, most: int | None) -> Iterator[str]:
    """For each order of the cheapest assignment, an execution that a weaker one allows."""
    for one in found.weakest[:1]:
        for each, order, needs in zip(found.annotations, one.orders, one.needs, strict=True):
            for need in needs:
                yield ""
                head = f"{each} {each.operation} needs {each.named(order)}"
                yield f"{head}; with {each.named(need.below)}, in {need.scenario}:"
                yield f"  {need.violation.message}"
                shown = witness.columns(need.violation.witness, most)
                yield from (f"  {line}" for line in shown)
        yield ""


def _closing(found: Relaxed) -> str:
    explorations = f"by {found.explorations:,} explorations in {found.seconds:.1f} s"
    if not found.scenarios and found.decided:
        return "every scenario is excluded"
    if not found.weakest and not found.decided:
        return f"no minimal assignment found so far, {explorations}"
    notes = ""
    if found.weakest and not found.suffices:
        notes = "the memory orders in the source do not suffice for all scenarios; "
    every = rounded(found.assignments)
    if found.measured and len(found.weakest) > 1:
        notes += "cheapest first, as measured by weakspot cost on this machine; "
    return (
        f"{notes}{len(found.weakest):,} minimal of {every} assignments, {explorations}; "
        f"{'a larger client' if found.clients else 'a use without a scenario'} may need a stronger "
        "memory order"
    )
