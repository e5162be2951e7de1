"""Findings of the gate and of a campaign, looked up by name and printed."""

from __future__ import annotations

from rich.console import Console

from weakspot.harness.gate.outcome import GateOutcome
from weakspot.harness.report import findings, gate, terminal
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.record import Record


def gate_findings(outcome: GateOutcome, name: str, out: Console) -> list[str]:
    """Print the gate's findings with that fingerprint, scenario or test. Returns their ids."""
    found = [
        each
        for each in outcome.findings
        if each.fingerprint.startswith(name) or name in (each.scenario, each.test)
    ]
    for each in found:
        for line in gate.finding(each, outcome.alike(each), terminal.text_width(out)):
            out.print(line)
        out.print()
    return [each.finding.id for each in found]


def campaign_findings(record: Record, name: str, out: Console) -> list[str]:
    """Print a campaign's findings about that program or test. Returns their ids."""
    programs = {
        each.program
        for each in record.explorations
        if any(violation.test == name for violation in each.violations)
    }
    found: list[Finding] = [
        each for each in record.findings if each.subject == name or each.subject in programs
    ]
    findings.findings(record, found, out)
    if found:
        out.print()
    return [each.id for each in found]
