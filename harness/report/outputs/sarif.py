"""The gate's findings as SARIF 2.1.0 (OASIS, 2020), which code scanning and editors read.

A witness is a code flow with one thread flow per thread; its steps are numbered in reading order.
Paths are relative to the repository, columns count characters.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec

from weakspot import __version__
from weakspot.harness.gate.outcome import GateOutcome, ReportedFinding, SourceSpan
from weakspot.harness.judge.kinds import KINDS, FindingKind
from weakspot.harness.report import witness
from weakspot.harness.report.gate import prose, same_cause
from weakspot.harness.report.outputs import File
from weakspot.harness.values import descriptions

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_SEVERITIES = {"error": "error", "warning": "warning", "note": "recommendation"}
"""What code scanning calls severities."""
_Json = dict[str, Any]


def sarif(outcome: GateOutcome) -> bytes:
    """The file's content."""
    rules = sorted({each.finding.id for each in outcome.findings})
    run: _Json = {
        "tool": {
            "driver": {
                "name": "weakspot",
                "semanticVersion": __version__,
                **({"informationUri": url} if (url := _documentation()) else {}),
                "rules": [_rule(KINDS[id], outcome.pages) for id in rules],
            }
        },
        "automationDetails": {"id": f"weakspot/{outcome.below}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": outcome.exit_code != 2,
                "exitCode": outcome.exit_code,
                "toolExecutionNotifications": [
                    {"level": "warning", "message": {"text": f"undecided: {text}"}}
                    for text in outcome.undecided
                ],
            }
        ],
        "results": [
            _result(outcome, each, rules.index(each.finding.id))
            for each in outcome.findings
            if not each.is_repeat
        ],
    }
    log = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return msgspec.json.format(msgspec.json.encode(log), indent=1) + b"\n"


def _documentation() -> str:
    """The address of weakspot's documentation, if the installed package names one
    ([project.urls])."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        urls = importlib.metadata.metadata("weakspot").get_all("Project-URL") or []
        of = {
            label.strip().lower(): url.strip() for label, _, url in (u.partition(",") for u in urls)
        }
        return of.get("documentation") or of.get("homepage") or ""
    return ""


def _page(kind: FindingKind, pages: str) -> str:
    """The address of the page on a kind of finding: among the published `pages`, or in weakspot's
    documentation; "" without these, since the page is in `help` in any case."""
    if pages:
        return pages.replace("{id}", kind.id) if "{id}" in pages else f"{pages}#{kind.id}"
    documentation = _documentation()
    return f"{documentation}#{kind.id}" if documentation else ""


def _rule(kind: FindingKind, pages: str) -> _Json:
    return {
        "id": kind.id,
        "name": "".join(word.capitalize() for word in kind.title.split()),
        "shortDescription": {"text": kind.title},
        "fullDescription": {"text": kind.meaning},
        **({"helpUri": url} if (url := _page(kind, pages)) else {}),
        "help": {"text": kind.text, "markdown": kind.text},
        "defaultConfiguration": {"level": kind.severity},
        "properties": {
            "tags": ["concurrency", "memory-model"],
            "problem.severity": _SEVERITIES[kind.severity],
            "precision": "very-high",  # an execution shows it
        },
    }


def _result(outcome: GateOutcome, reported: ReportedFinding, rule: int) -> _Json:
    asked = (f"{need.place} {need.asks}" for need in reported.needs)
    same = same_cause(outcome, reported)
    text = ". ".join(filter(None, (reported.message, *asked, reported.fix, *same)))
    others = [place for place in reported.places if place != reported.place]
    result: _Json = {
        "ruleId": reported.finding.id,
        "ruleIndex": rule,
        "level": reported.finding.severity,
        "message": {"text": text},
        "locations": [_location(outcome, reported.place)],
        "relatedLocations": [
            {"id": number, **_location(outcome, place, place.does or reported.message)}
            for number, place in enumerate(others, 1)
        ],
        "partialFingerprints": {"weakspot/v1": reported.fingerprint},
        "properties": {
            "scenario": reported.scenario,
            "models": list(reported.models),
            "machines": reported.machines,
        },
    }
    if reported.edits:
        result["fixes"] = [_fix(outcome, reported)]
    if reported.witness is not None:
        result["codeFlows"] = [
            {
                "message": {"text": "\n".join(prose(reported))},
                "threadFlows": list(_threads(outcome, reported)),
            }
        ]
    if reported.status == "accepted":
        result["suppressions"] = [
            {"kind": "external", "justification": f"accepted in {outcome.baseline}"}
        ]
    if reported.status == "suppressed":
        result["suppressions"] = [{"kind": "inSource", "justification": reported.justification}]
    return result


def _fix(outcome: GateOutcome, reported: ReportedFinding) -> _Json:
    """The edits of the first repair."""
    changes: dict[str, list[_Json]] = {}
    for edit in reported.edits:
        region = {"startLine": edit.line, "startColumn": 1, "endLine": edit.end, "endColumn": 1}
        replacement = {"deletedRegion": region, "insertedContent": {"text": edit.text}}
        uri = quote(outcome.uri(SourceSpan(edit.file, edit.line)))
        changes.setdefault(uri, []).append(replacement)
    return {
        "description": {"text": reported.fix},
        "artifactChanges": [
            {
                "artifactLocation": {"uri": uri, "uriBaseId": "%SRCROOT%"},
                "replacements": replacements,
            }
            for uri, replacements in changes.items()
        ],
    }


def _threads(outcome: GateOutcome, reported: ReportedFinding) -> Iterator[_Json]:
    """One thread flow per thread; a step without a source line has a message only."""
    found = reported.witness
    assert found is not None
    rows = witness.places(found)
    for thread in sorted({found.events[number].thread or 0 for number in rows}):
        steps = []
        for number, (_, row) in sorted(rows.items(), key=lambda item: item[1][1]):
            event, place = found.events[number], reported.steps[number]
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


def _location(outcome: GateOutcome, place: SourceSpan, text: str = "") -> _Json:
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
