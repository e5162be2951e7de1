"""The gate as text for a person, in a terminal or a log."""

from __future__ import annotations

from weakspot.harness.gate.outcome import GateOutcome
from weakspot.harness.report import gate, terminal
from weakspot.harness.report.outputs import Printed


def show(outcome: GateOutcome) -> None:
    """Print every finding with its excerpt and its execution, then a closing line."""
    gate.gate(outcome, terminal.console())


OUTPUT = Printed("text", 0, "Print findings for a person.", show, instead=True)
