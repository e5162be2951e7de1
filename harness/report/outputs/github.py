"""The gate as GitHub's workflow commands, which become annotations at the lines of a change."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from weakspot.harness.gate.outcome import GateOutcome, ReportedFinding
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.report.gate import prose, same_cause
from weakspot.harness.report.outputs import Printed


def commands(outcome: GateOutcome) -> Iterator[str]:
    """One command per finding that is not hidden, and per undecided question."""
    for reported in outcome.findings:
        if not reported.is_hidden and not reported.is_repeat:
            yield _finding(outcome, reported)
    for text in outcome.undecided:
        yield f"::warning title=weakspot: undecided::{_data(text)}"


def _finding(outcome: GateOutcome, reported: ReportedFinding) -> str:
    place = reported.place
    command = "error" if reported.status == "fails" else "notice"
    properties = {"file": outcome.uri(place), "line": str(place.line)}
    if place.column:
        properties |= {"col": str(place.column), "endColumn": str(place.end)}
    properties["title"] = f"{reported.finding.id} {KINDS[reported.finding.id].title}"
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    needs = [f"{need.place}: {need.asks}" for need in reported.needs]
    others = same_cause(outcome, reported)
    lines = [f"{reported.scenario}: {reported.message}", *needs, *prose(reported), *others]
    lines.append(f"Help: {reported.fix}" if reported.fix else "")
    return f"::{command} {given}::{_data(chr(10).join(filter(None, lines)))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def show(outcome: GateOutcome) -> None:
    """Print the commands."""
    for command in commands(outcome):
        sys.stdout.write(f"{command}\n")


OUTPUT = Printed("github", 2, "Print annotations for GitHub's workflows too.", show)
