"""A comparison of two campaigns or logs, in a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Console
from rich.text import Text

from weakspot.harness.report.terminal import columns, print_dim, print_table, style
from weakspot.harness.values.difference import Comparison, Difference, DifferenceKind
from weakspot.harness.values.numbers import amount, scientific
from weakspot.harness.values.state import State, state_text

_SHOWN, _STATES = 20, 6

KINDS: dict[DifferenceKind, tuple[str, str]] = {
    "finding": ("findings", ""),
    "exploration": ("explorations", "exploration"),
    "verdict": ("verdicts", "verdict"),
    "code": ("machine code", "code"),
    "outcome": ("outcomes", "test"),
    "rate": ("rates", "histogram"),
    "run": ("runs of programs", "run"),
    "text": ("texts of tests and programs", ""),
    "setting": ("settings", ""),
}
"""The heading of each kind of difference, and what is counted."""


def print_comparison(found: Comparison, out: Console, *, everything: bool = False) -> None:
    """Print each kind of difference as a table, and what only one side has."""
    print_table([["A", found.before], ["B", found.after]], out)
    for note in found.notes:
        print_dim(f"note: {note}", out)
    for kind, (title, _) in KINDS.items():
        those = [each for each in found.differences if each.kind == kind]
        if those:
            out.print()
            out.print(Text(title, style="bold"))
            limit = len(those) if everything else _SHOWN
            for line in _table(those[:limit]):
                out.print(line)
            if len(those) > limit:
                print_dim(f"  and {len(those) - limit:,} more: --all", out)
    out.print()
    for text in missing_texts(found, everything=everything):
        print_dim(text, out)
    out.print(_closing(found))


def _table(those: Sequence[Difference]) -> Iterator[Text]:
    rows: list[list[str | Text]] = []
    for each in those:
        if each.kind == "finding":
            label = Text("new", "red") if each.after else Text("gone", "green")
            rows.append([label, each.under, f"{each.subject}: {each.after or each.before}"])
            continue
        if each.kind == "text":  # the two digests say nothing to a reader
            rows.append([each.subject, "differs"])
            continue
        p = "" if each.p is None else Text(f"p {scientific(each.p)}", style="dim")
        rows.append(
            [
                each.subject,
                Text(each.under, style="dim"),
                Text.assemble(
                    (each.before, style(each.before)), " → ", (each.after, style(each.after))
                ),
                p,
            ]
        )
    for each, line in zip(those, columns(rows, indent=2), strict=True):
        yield line
        yield from _states("A", each.only_before)
        yield from _states("B", each.only_after)


def _states(side: str, states: Sequence[State]) -> Iterator[Text]:
    """`only in A: 0:r0=1 1:r0=1`"""
    if states:
        shown = "; ".join(map(state_text, states[:_STATES]))
        more = f"; {len(states) - _STATES:,} more" if len(states) > _STATES else ""
        yield Text(f"      only in {side}: {shown}{more}")


def missing_texts(found: Comparison, *, everything: bool) -> Iterator[str]:
    """What only one side has, one line per kind."""
    for kind, sides in found.missing.items():
        if found.compared.get("outcome") and kind in ("verdict", "rate"):
            continue  # one side has verdicts and the other one histograms
        for side, names in zip("AB", sides, strict=True):
            if names:
                shown = names if everything else names[:3]
                more = f", {len(names) - len(shown):,} more" if len(names) > len(shown) else ""
                what = KINDS[kind][1]
                yield f"only {side} has {amount(len(names), what)}: {', '.join(shown)}{more}"


def compared_text(found: Comparison) -> str:
    """`40 verdicts, 2 explorations`"""
    counts = found.compared.items()
    return ", ".join(amount(count, KINDS[kind][1]) for kind, count in counts if count)


def _closing(found: Comparison) -> Text:
    """`2 of 40 verdicts changed, 40 of 40 explorations are the same`"""
    changed = [each for each in found.differences if each.weight != "note"]
    compared = compared_text(found)
    text = amount(len(changed), "difference") if changed else "no difference"
    colour = "red" if changed else "green"
    if not compared:
        return Text("no question is answered by both", style="bold yellow")
    return Text.assemble((text, f"bold {colour}"), f" in {compared}")
