"""The gate's findings as SARIF 2.1.0 (OASIS, 2020): what code scanning and editors read.

A witness is a code flow, a thread flow a thread, whose steps are numbered in an order in which they
can be read. Paths are relative to the repository, columns count characters.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec

from weakspot import __version__
from weakspot.harness.gate.outcome import Outcome, Place, Told
from weakspot.harness.judge.kinds import KINDS, FindingKind
from weakspot.harness.report import witness
from weakspot.harness.report.gate import execution
from weakspot.harness.report.outputs import File
from weakspot.harness.values import descriptions

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_Json = dict[str, Any]


def sarif(outcome: Outcome) -> bytes:
    """The file's content."""
    rules = sorted({each.finding.id for each in outcome.told})
    run: _Json = {
        "tool": {
            "driver": {
                "name": "weakspot",
                "semanticVersion": __version__,
                "rules": [_rule(KINDS[id]) for id in rules],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "exitCode": outcome.exit_code,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": f"undecided: {text}"}}
                    for text in outcome.undecided
                ],
            }
        ],
        "results": [_result(outcome, each, rules.index(each.finding.id)) for each in outcome.told],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log), indent=1) + b"\n"


def _rule(kind: FindingKind) -> _Json:
    return {
        "id": kind.id,
        "name": "".join(word.capitalize() for word in kind.title.split()),
        "shortDescription": {"text": kind.title},
        "fullDescription": {"text": kind.meaning},
        "help": {"text": kind.text, "markdown": kind.text},
        "defaultConfiguration": {"level": kind.severity},
        "properties": {"tags": ["concurrency", "memory-model"]},
    }


def _result(outcome: Outcome, told: Told, rule: int) -> _Json:
    asked = (f"{need.place} {need.asks}" for need in told.needs)
    text = ". ".join(filter(None, (told.message, *asked, told.fix)))
    others = [place for place in told.places if place != told.place]
    result: _Json = {
        "ruleId": told.finding.id,
        "ruleIndex": rule,
        "level": told.finding.severity,
        "message": {"text": text},
        "locations": [_location(outcome, told.place)],
        "relatedLocations": [
            {"id": number, **_location(outcome, place, place.does or told.message)}
            for number, place in enumerate(others, 1)
        ],
        "partialFingerprints": {"weakspot/v1": told.fingerprint},
        "properties": {
            "scenario": told.scenario,
            "models": list(told.models),
            "machines": told.machines,
        },
    }
    if told.witness is not None:
        result["codeFlows"] = [
            {
                "message": {"text": "\n".join(execution(told))},
                "threadFlows": list(_threads(outcome, told)),
            }
        ]
    if told.status == "accepted":
        result["suppressions"] = [
            {"kind": "external", "justification": f"accepted in {outcome.baseline}"}
        ]
    return result


def _threads(outcome: Outcome, told: Told) -> Iterator[_Json]:
    """A thread flow a thread; one without a place in the source says so by its message alone."""
    found = told.witness
    assert found is not None
    rows = witness.places(found)
    for thread in sorted({found.events[number].thread or 0 for number in rows}):
        steps = []
        for number, (_, row) in sorted(rows.items(), key=lambda item: item[1][1]):
            event, place = found.events[number], told.steps[number]
            if (event.thread or 0) != thread:
                continue
            label = f"{event.label}: {descriptions.describe_event(event)}"
            location = (
                _location(outcome, place, label)
                if place is not None
                else {"message": {"text": label}}
            )
            steps.append({"location": location, "executionOrder": row + 1})
        heading = witness.heading(found, thread)
        yield {"id": str(thread), "message": {"text": heading}, "locations": steps}


def _location(outcome: Outcome, place: Place, text: str = "") -> _Json:
    region: _Json = {"startLine": place.line}
    physical: _Json = {
        "artifactLocation": {"uri": quote(outcome.uri(place)), "uriBaseId": "%SRCROOT%"},
        "region": region,
    }
    whole = {"startLine": place.line, "snippet": {"text": place.text}}
    if place.column:
        region |= {"startColumn": place.column, "endColumn": place.end}
        if place.text:
            # a snippet is the text of its region, and here that is a word
            physical["contextRegion"] = whole
    elif place.text:
        region |= whole
    location: _Json = {"physicalLocation": physical}
    if place.function:
        location["logicalLocations"] = [{"name": place.function, "kind": "function"}]
    if text:
        location["message"] = {"text": text}
    return location


OUTPUT = File("sarif", 3, "Write the findings as SARIF 2.1.0.", sarif)
