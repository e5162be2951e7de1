"""The programs and tests that distinguish memory models: what `weakspot check --diff` prints."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from weakspot.harness.report import witness
from weakspot.harness.report.terminal import columns, style, text_width
from weakspot.harness.values.descriptions import exploration_outcome
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.numbers import amount
from weakspot.harness.values.record import Record, unique
from weakspot.harness.values.verdict import Verdict


def print_differences(
    record: Record, explorations: Sequence[Exploration], verdicts: Sequence[Verdict], out: Console
) -> None:
    """Print each program and test with its answers; for a test, also an execution that some models
    allow, and the axioms by which others forbid it. `record` is all that was asked."""
    programs = unique(each.program for each in explorations)
    for name in programs:
        out.print(Text(name, style="bold"))
        _print_rows(
            [
                [each.model, Text(exploration_outcome(each), style=style(each.result))]
                for each in explorations
                if each.program == name
            ],
            out,
        )
    tests = unique(each.test for each in verdicts)
    for name in tests:
        _print_test([each for each in verdicts if each.test == name], out)
    models = ", ".join(each.name for each in record.manifest.models)
    counts = [
        f"{len(found):,} of {amount(asked, what)}"
        for found, asked, what in (
            (programs, len(record.explorations_of), "program"),
            (tests, len({each.test for each in record.verdicts}), "test"),
        )
        if asked
    ]
    out.print(f"{' and '.join(counts)} distinguish {models}")


def _print_test(verdicts: Sequence[Verdict], out: Console) -> None:
    out.print(Text.assemble((verdicts[0].test, "bold"), f"  {verdicts[0].condition}"))
    rows: list[Sequence[str | Text]] = []
    for each in verdicts:
        why = witness.forbidding_axioms(each) if each.forbidden_by else ", ".join(each.flags)
        observed = Text(each.observation, style=style(each.observation))
        rows.append(
            [each.model, observed, amount(len(each.states), "state"), Text(why, style="dim")]
        )
    _print_rows(rows, out)
    allowed = (each.witness for each in verdicts if not each.forbidden_by)
    shown = next((each for each in allowed if each is not None), None)
    for text in witness.columns(shown, text_width(out, 4)):
        out.print(Text(f"    {text}".rstrip()))
    out.print()


def _print_rows(rows: Sequence[Sequence[str | Text]], out: Console) -> None:
    for line in columns(rows, indent=2):
        out.print(line)
