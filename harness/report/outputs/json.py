"""The gate as JSON lines: one object per finding."""

from __future__ import annotations

import sys

import msgspec

from weakspot.harness.gate.outcome import GateOutcome
from weakspot.harness.report import gate
from weakspot.harness.report.outputs import Printed


def show(outcome: GateOutcome) -> None:
    """Print the findings; questions without an answer go to standard error."""
    for reported in outcome.findings:
        sys.stdout.write(f"{msgspec.json.encode(gate.flat(reported)).decode()}\n")
    for text in outcome.undecided:
        print(f"undecided: {text}", file=sys.stderr)


OUTPUT = Printed("json", 1, "Print the findings, one JSON object per line.", show, instead=True)
