"""The public API: what the commands of `weakspot` do, as functions of Python.

In: `what` to ask about, as on the command line: a structure's name, "all", a C or C++ file, a
.litmus file, a folder of these; also a Test, and sequences of all of these. Out: frozen values.
`check`, `explore` and `run` return Answers, which yield each answer as soon as it is known.

Every function raises WeakspotError, whose subclasses say what kind: BadInput for names and files
that cannot be used, Unsupported for a construct that weakspot does not model, MissingTool and
ToolFailed for the programs that it starts. docs/python.md has examples.
"""

from __future__ import annotations

from weakspot.errors import BadInput, MissingTool, ToolFailed, Unsupported, WeakspotError
from weakspot.generators.litmus import Site, Test
from weakspot.generators.source.build import Build
from weakspot.generators.source.program import Program
from weakspot.harness.checkers.explorer import Bounds
from weakspot.harness.corpus.models import Model
from weakspot.harness.gate.outcome import GateOutcome
from weakspot.harness.orders.relaxation import Relaxed
from weakspot.harness.values.codegen import CodegenComparison, Codes
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.finding import Evidence, Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import Record
from weakspot.harness.values.verdict import Verdict
from weakspot.projects import campaign, gate, read_campaign, relax
from weakspot.questions import (
    Answers,
    What,
    check,
    compare_code,
    explore,
    generate,
    model,
    run,
)

__all__ = [
    "Answers",
    "BadInput",
    "Bounds",
    "Build",
    "CodegenComparison",
    "Codes",
    "Evidence",
    "Exploration",
    "Finding",
    "GateOutcome",
    "Histogram",
    "MissingTool",
    "Model",
    "Program",
    "ProgramRun",
    "Record",
    "Relaxed",
    "Site",
    "Test",
    "ToolFailed",
    "Unsupported",
    "Verdict",
    "Violation",
    "WeakspotError",
    "What",
    "campaign",
    "check",
    "compare_code",
    "explore",
    "gate",
    "generate",
    "model",
    "read_campaign",
    "relax",
    "run",
]
