"""The gate as JUnit XML: one test case per scenario and model, as CI systems count them."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from weakspot.harness.gate.outcome import GateOutcome, ScenarioResult, source_of
from weakspot.harness.report.gate import plain
from weakspot.harness.report.outputs import File

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(outcome: GateOutcome) -> bytes:
    """The file's content. An undecided question is an error, and so is an unreadable scenario."""
    cases = [_case(outcome, each) for each in outcome.scenarios]
    suite = ElementTree.Element(
        "testsuite",
        name="weakspot gate",
        tests=str(len(cases)),
        failures=str(sum(case.find("failure") is not None for case in cases)),
        errors=str(sum(case.find("error") is not None for case in cases)),
        skipped="0",
        time=f"{outcome.seconds:.3f}",
    )
    suite.extend(cases)
    suites = ElementTree.Element("testsuites")
    suites.append(suite)
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n'.encode()


def _case(outcome: GateOutcome, scenario: ScenarioResult) -> ElementTree.Element:
    case = ElementTree.Element(
        "testcase",
        classname=scenario.file,
        name=scenario.model,
        file=source_of(scenario.file),
        time=f"{scenario.seconds:.3f}",
    )
    here = [
        each
        for each in outcome.findings
        if each.scenario == scenario.file and scenario.model in each.models
    ]
    failing = [each for each in here if each.status == "fails"]
    if failing:
        kinds = dict.fromkeys(each.finding.id for each in failing)
        messages = "; ".join(dict.fromkeys(each.message for each in failing))
        failure = ElementTree.SubElement(
            case,
            "error" if scenario.result == "Error" else "failure",
            type=", ".join(kinds),
            message=_NOT_XML.sub("?", messages),
        )
        first = {each.cause: each for each in reversed(failing)}
        shown = (
            plain(each, [other for other in outcome.alike(each) if other in failing])
            for each in failing
            if first[each.cause] is each
        )
        failure.text = _NOT_XML.sub("?", "\n\n".join(shown))
    elif scenario.undecided:
        ElementTree.SubElement(case, "error", type="inconclusive", message=scenario.undecided)
    if rest := [each for each in here if each.status != "fails"]:
        out = ElementTree.SubElement(case, "system-out")
        out.text = _NOT_XML.sub("?", "\n\n".join(f"{each.status}: {plain(each)}" for each in rest))
    return case


OUTPUT = File("junit", 4, "Write a JUnit test case per scenario and model.", junit)
