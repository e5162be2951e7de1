"""The gate as GitHub's workflow commands, which become annotations at the lines of a change."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from weakspot.harness.gate.outcome import Outcome, Told
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.report.gate import execution
from weakspot.harness.report.outputs import Printed


def commands(outcome: Outcome) -> Iterator[str]:
    """A command a finding that is not accepted, and one for each question that is undecided."""
    for told in outcome.told:
        if told.status != "accepted" and not told.again:
            yield _finding(outcome, told)
    for text in outcome.undecided:
        yield f"::warning title=weakspot: undecided::{_data(text)}"


def _finding(outcome: Outcome, told: Told) -> str:
    place = told.place
    command = "error" if told.status == "fails" else "notice"
    properties = {"file": outcome.uri(place), "line": str(place.line)}
    if place.column:
        properties |= {"col": str(place.column), "endColumn": str(place.end)}
    properties["title"] = f"{told.finding.id} {KINDS[told.finding.id].title}"
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items())
    needs = [f"{need.place}: {need.asks}" for need in told.needs]
    lines = [f"{told.scenario}: {told.message}", *needs, *execution(told), told.fix]
    return f"::{command} {given}::{_data(chr(10).join(filter(None, lines)))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def show(outcome: Outcome) -> None:
    """Print the commands."""
    for command in commands(outcome):
        sys.stdout.write(f"{command}\n")


OUTPUT = Printed("github", 2, "Print annotations for GitHub's workflows too.", show)
