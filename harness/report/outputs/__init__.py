"""The outputs of the gate: text, JSON lines, SARIF, JUnit, GitHub annotations, Markdown.

In: a GateOutcome. Out: a file's content, or lines on standard output. To add an output, add a file
NAME.py that defines OUTPUT, a File or a Printed: `weakspot gate` then has the option --NAME.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from weakspot.harness.gate.outcome import GateOutcome
from weakspot.system.registry import Registry


class File(msgspec.Struct, frozen=True):
    """An output that is written to the file that `--NAME FILE` names. `rank` orders the options."""

    name: str
    rank: int
    help: str
    content: Callable[[GateOutcome], bytes]


class Printed(msgspec.Struct, frozen=True):
    """An output that is printed with `--NAME`: in addition to the text, or `instead` of it."""

    name: str
    rank: int
    help: str
    show: Callable[[GateOutcome], None]
    instead: bool = False


Output = File | Printed

OUTPUTS: Registry[Output] = Registry("output", __name__, "OUTPUT")
"""The outputs by name. The default, which has no option, is printed unless another is instead."""
