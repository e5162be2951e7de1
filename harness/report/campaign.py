"""A campaign in a terminal: structure by structure, the most important first. Many structures have
a row each.

Outcomes that a machine showed although a model forbids them stand above everything else, other
findings at the end, before the closing line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from rich.console import Console
from rich.text import Text

from weakspot.harness.judge.claims import standing
from weakspot.harness.judge.findings import undecided
from weakspot.harness.report.findings import findings
from weakspot.harness.report.structures import Ranking, print_overview, print_structure, print_tests
from weakspot.harness.report.terminal import print_dim
from weakspot.harness.values.descriptions import describe_machine, describe_steadiness
from weakspot.harness.values.finding import Finding, by_cause
from weakspot.harness.values.numbers import amount
from weakspot.harness.values.record import MachineInfo, Record

_TESTS, _TESTS_OF_MANY = 8, 4  # tests printed of a single structure, of one among others
_MANY = 10  # structures, of which each has one row
_FINDINGS = 40
_FIRST = "WS201"  # printed above everything else


def campaign(record: Record, out: Console, *, report: str = "", everything: bool = False) -> None:
    """Print what a campaign found. `report` is the path of its site; with `everything`
    all tests are printed, not only the notable ones of at most ten structures."""
    ranking = Ranking(record)
    shown = _TESTS if len(record.structures) == 1 else _TESTS_OF_MANY
    limit = len(record.entries) if everything else shown
    unrecorded = [each for each in record.findings if not each.recorded]
    _findings(record, [each for each in unrecorded if each.id == _FIRST], everything, out)
    for machine in record.manifest.machines:
        print_dim(_machine(machine), out)
    if len(record.structures) > _MANY and not everything:
        print_overview(record, record.structures, out)
    else:
        for structure in record.structures:
            print_structure(record, structure, ranking, out, limit)
            out.print()
    without_structure = [entry for entry in record.entries if not entry.structures]
    if without_structure:
        out.print(
            Text.assemble(("litmus tests", "bold"), f"  {amount(len(without_structure), 'test')}")
        )
        print_tests(record, without_structure, "", ranking, out, max(limit, _TESTS))
        out.print()
    _findings(record, [each for each in unrecorded if each.id != _FIRST], everything, out)
    for text in undecided(record)[:10]:
        out.print(Text.assemble(("undecided: ", "yellow"), text))
    for note in record.manifest.notes:
        print_dim(f"note: {note}", out)
    out.print(_closing(record, report))


def _findings(record: Record, found: Sequence[Finding], everything: bool, out: Console) -> None:
    causes = by_cause(found)
    shown = causes if everything else causes[:_FINDINGS]
    findings(record, [each for cause in shown for each in cause], out)
    if len(causes) > len(shown):
        left = amount(len(causes) - len(shown), "finding")
        print_dim(f"and {left} more in the report", out)


def summary(record: Record) -> tuple[Literal["bad", "open", "good"], str]:
    """The campaign in one phrase, and whether it is good."""
    if record.errors:
        return "bad", amount(len(by_cause(record.errors)), "finding")
    if left := undecided(record):
        return "open", f"{amount(len(left), 'question')} undecided"
    if not record.manifest.finished:
        return "open", "interrupted: run the same command again to resume"
    warnings = [each for each in record.findings if each.severity == "warning"]
    claims = standing(record, record.structures)
    parts = [claims, amount(len(by_cause(warnings)), "warning") if warnings else ""]
    text = "; ".join(filter(None, parts)) or "nothing found"
    # `62 of 66 claims confirmed; 4 not observed this time` leaves something open
    return ("open" if ";" in claims else "good"), text


def _closing(record: Record, report: str) -> Text:
    state, text = summary(record)
    colour = {"bad": "red", "open": "yellow", "good": "green"}[state]
    line = Text.assemble((text, f"bold {colour}"))
    if report:
        line.append(f" · report: {report}")
    return line


def _machine(each: MachineInfo) -> str:
    """`machine local: x86_64, AMD EPYC, 2 cores, KVM, 0.1 % of its time stolen`"""
    parts = describe_machine(each), describe_steadiness(each.profile)
    return f"machine {each.name}: {', '.join(filter(None, parts))}"
