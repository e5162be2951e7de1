"""Mutants and which scenarios notice them: `weakspot mutate`."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from weakspot.harness.edits.strength import spelled
from weakspot.harness.orders.mutants import Mutant, Mutated
from weakspot.harness.report.terminal import advice, print_dim, print_table, style
from weakspot.harness.values.numbers import amount

_SHORT = "memory_order_"


def mutated(found: Mutated, out: Console, *, everything: bool = False) -> None:
    """Print the mutants that survive or are undecided; with `everything` also those that are
    noticed."""
    under = " and ".join((found.model, *found.machine_models))
    out.print(
        Text.assemble(
            (found.subject, "bold"),
            f"  {amount(len(found.mutants), 'mutant')} in "
            f"{amount(len(found.scenarios), 'scenario')} under {under}",
        )
    )
    shown = [each for each in found.mutants if everything or each.result != "noticed"]
    if shown:
        head = ["place", "operation", "change", "result"]
        print_table([head, *map(_row, shown)], out, indent=2)
    for each in found.of("undecided"):
        for reason in each.reasons:
            print_dim(f"undecided: {each.place}: {reason}", out)
    for left in found.left_out:
        print_dim(f"excluded: {left.scenario}, {left.why}", out)
    if found.violated and not found.scenarios:
        out.print(
            advice(
                "every scenario is violated as it is written: repair it first (weakspot relax "
                "proposes a change)"
            )
        )
    for each in found.of("survives"):
        if each.client:
            mutant = f"{each.place} {each.operation} {change(each)}"
            out.print(advice(f"{mutant} is noticed by ", (each.client, "bold")))
    if found.of("survives"):
        out.print(
            advice(
                "what survives is either stronger than needed (weakspot relax), or no scenario "
                "exercises what it is needed for: write one that fails with the change"
            )
        )
    parts = [
        f"{len(found.of('noticed')):,} noticed",
        f"{len(found.of('survives')):,} survive",
        *([f"{len(found.of('undecided')):,} undecided"] if found.of("undecided") else []),
    ]
    ended = "" if found.finished else "; interrupted"
    print_dim(
        f"{', '.join(parts)}; {amount(found.explorations, 'exploration')} in "
        f"{found.seconds:.1f} s{ended}",
        out,
    )


def _row(mutant: Mutant) -> list[str | Text]:
    result = {
        "noticed": Text(f"{mutant.violation} in {mutant.noticed_by}", style=style("Safe")),
        "survives": Text("survives", style=style("Violated")),
        "undecided": Text("undecided", style=style("Unknown")),
    }[mutant.result]
    return [mutant.place, mutant.operation, change(mutant), result]


def change(mutant: Mutant) -> str:
    """`release → relaxed`, `release → relaxed on success`, `left out` or `all → one`"""
    if mutant.weaker == "none":
        return "left out"
    if mutant.weaker == "one":
        return "all → one"
    if mutant.primitives is not None:
        return " → ".join(mutant.primitives)
    pair, side = (mutant.written, mutant.weaker), ""
    (success, _, failure), (below, _, other) = (each.partition("/") for each in pair)
    if failure and failure == other:
        pair, side = (success, below), " on success"
    elif failure and success == below:
        pair, side = (failure, other), " on failure"
    return " → ".join(spelled(each).replace(_SHORT, "") for each in pair) + side
