"""The public API: what the commands of `weakspot` do, as functions of Python.

In: `what` to ask about, as on the command line: a structure's name, "all", a C or C++ file, a
.litmus file, a folder of these; also a Test, and sequences of all of these. Out: frozen values.
`check`, `explore` and `run` return Answers, which yield each answer as soon as it is known, `relax`
and `cost` Results, which find each when it is asked for.

Every function raises WeakspotError, whose subclasses say what kind: BadInput for names and files
that cannot be used, Unsupported for a construct that weakspot does not model, MissingTool and
ToolFailed for the programs that it starts, LimitReached for a source that is not read in the time
that is given for it. docs/python.md has examples.
"""

from __future__ import annotations

from weakspot.answers import Answers, GeneratedTests
from weakspot.campaigns import campaign, diff, read_campaign
from weakspot.errors import (
    BadInput,
    LimitReached,
    MissingTool,
    ToolFailed,
    Unsupported,
    WeakspotError,
)
from weakspot.generators.litmus import Site, Test
from weakspot.generators.source.build import Build
from weakspot.generators.source.program import Program
from weakspot.harness.clients.subject import ClientChoice, Variation
from weakspot.harness.corpus.models import Model
from weakspot.harness.costs.result import Costs
from weakspot.harness.edits.changes import Rewritten
from weakspot.harness.gate.outcome import GateOutcome
from weakspot.harness.orders.mutants import Mutant, Mutated
from weakspot.harness.orders.promotion import OrdersDifference
from weakspot.harness.orders.relaxation import Relaxed
from weakspot.harness.scaffold.project import Written
from weakspot.harness.values.bounds import Bounds, Part
from weakspot.harness.values.codegen import CodegenComparison, Codes
from weakspot.harness.values.difference import Comparison, Difference
from weakspot.harness.values.estimate import Estimate, Sample
from weakspot.harness.values.exploration import Audit, Exploration, ExplorationEvidence, Violation
from weakspot.harness.values.finding import Evidence, Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.linearizability import Linearizability
from weakspot.harness.values.model_comparison import ModelComparison, Searched
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.reason import Reason
from weakspot.harness.values.record import GoldenDifference, Record
from weakspot.harness.values.verdict import Verdict
from weakspot.model_comparison import compare_models
from weakspot.objects import linearize, object_clients, relax_object
from weakspot.projects import (
    Relaxations,
    Results,
    compare_orders,
    cost,
    gate,
    init,
    mutate,
    relax,
    write_baseline,
)
from weakspot.questions import (
    What,
    check,
    compare_code,
    explore,
    generate,
    golden_tests,
    model,
    run,
)

__all__ = [
    "Answers",
    "Audit",
    "BadInput",
    "Bounds",
    "Build",
    "ClientChoice",
    "CodegenComparison",
    "Codes",
    "Comparison",
    "Costs",
    "Difference",
    "Estimate",
    "Evidence",
    "Exploration",
    "ExplorationEvidence",
    "Finding",
    "GateOutcome",
    "GeneratedTests",
    "GoldenDifference",
    "Histogram",
    "LimitReached",
    "Linearizability",
    "MissingTool",
    "Model",
    "ModelComparison",
    "Mutant",
    "Mutated",
    "OrdersDifference",
    "Part",
    "Program",
    "ProgramRun",
    "Reason",
    "Record",
    "Relaxations",
    "Relaxed",
    "Results",
    "Rewritten",
    "Sample",
    "Searched",
    "Site",
    "Test",
    "ToolFailed",
    "Unsupported",
    "Variation",
    "Verdict",
    "Violation",
    "WeakspotError",
    "What",
    "Written",
    "campaign",
    "check",
    "compare_code",
    "compare_models",
    "compare_orders",
    "cost",
    "diff",
    "explore",
    "gate",
    "generate",
    "golden_tests",
    "init",
    "linearize",
    "model",
    "mutate",
    "object_clients",
    "read_campaign",
    "relax",
    "relax_object",
    "run",
    "write_baseline",
]
