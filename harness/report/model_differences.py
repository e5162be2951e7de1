"""The programs and tests that distinguish memory models: what `weakspot check --diff` and
`weakspot models --compare` print."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from weakspot.harness.report import witness
from weakspot.harness.report.terminal import print_table, style, text_width
from weakspot.harness.values.descriptions import exploration_outcome
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.model_comparison import ModelComparison
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
        print_table(
            [
                [each.model, Text(exploration_outcome(each), style=style(each.result))]
                for each in explorations
                if each.program == name
            ],
            out,
            indent=2,
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


def print_comparison(found: ModelComparison, out: Console) -> None:
    """Print the smallest test that distinguishes two models, with its answers, or what is known
    about the sizes that were searched."""
    names = " and ".join(found.models)
    if found.test:
        out.print(Text(found.text.rstrip()))
        out.print()
        _print_test(found.verdicts, out)
    for each in found.searched:
        tests = f"{amount(each.decided, 'test')} of {each.accesses} accesses"
        if found.test and each is found.searched[-1]:
            break
        how_many = f"none of all {tests}" if each.is_complete else f"none of the first {tests}"
        unknown = f"; {each.undecided:,} could not be decided" if each.undecided else ""
        out.print(f"{how_many} distinguishes {names}{unknown}")
    if not found.is_conclusive:
        out.print("help: --seconds gives the search more time")


def _print_test(verdicts: Sequence[Verdict], out: Console) -> None:
    out.print(Text.assemble((verdicts[0].test, "bold"), f"  {verdicts[0].condition}"))
    rows: list[Sequence[str | Text]] = []
    for each in verdicts:
        why = witness.forbidding_axioms(each) if each.forbidden_by else ", ".join(each.flags)
        observed = Text(each.observation, style=style(each.observation))
        rows.append(
            [each.model, observed, amount(len(each.states), "state"), Text(why, style="dim")]
        )
    print_table(rows, out, indent=2)
    allowed = (each.witness for each in verdicts if not each.forbidden_by)
    shown = next((each for each in allowed if each is not None), None)
    for text in witness.columns(shown, text_width(out, 4)):
        out.print(Text(f"    {text}".rstrip()))
    out.print()
