"""The gate as JSON lines: one object per finding."""

from __future__ import annotations

import sys

import msgspec

from weakspot.harness.gate.outcome import Outcome
from weakspot.harness.report import gate
from weakspot.harness.report.outputs import Printed


def show(outcome: Outcome) -> None:
    """Print the findings; questions without an answer go to standard error."""
    for told in outcome.told:
        sys.stdout.write(f"{msgspec.json.encode(gate.flat(told)).decode()}\n")
    for text in outcome.undecided:
        print(f"undecided: {text}", file=sys.stderr)


OUTPUT = Printed("json", 1, "Print the findings, one JSON object per line.", show, instead=True)
