"""Answers, claims and campaigns as the tests of the judge need them."""

from __future__ import annotations

from typing import Any

import msgspec
from fakes import make_test

from weakspot.harness.judge.findings import exit_code, judge
from weakspot.harness.values.claims import Claim, Scenario
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.histogram import Count, Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import (
    Entry,
    GoldenDifference,
    MachineInfo,
    Manifest,
    ModelInfo,
    Plan,
    Record,
    StructureInfo,
)
from weakspot.harness.values.verdict import Verdict

MODELS = (
    ModelInfo("sc", "SC", "reference"),
    ModelInfo("tso", "TSO", "hardware", ("x86_64",)),
    ModelInfo("arm", "ARM", "hardware", ("aarch64",)),
    ModelInfo("rc11", "RC11", "language"),
    ModelInfo("clr2", "CLR", "paper"),
)
MANIFEST = Manifest(
    format=1,
    weakspot="0",
    plan=Plan(what=("flags",)),
    started="",
    finished="yes",
    models=MODELS,
    machines=(MachineInfo("local", "x86_64", False),),
)
NO_DRIFT = GoldenDifference()
WEAK = {"0:r0": "0", "1:r0": "0"}
STRONG = {"0:r0": "1", "1:r0": "1"}


def verdict(observation: str, model: str, checker: str = "herd7", **more: Any) -> Verdict:
    states = {"Never": (STRONG,), "Sometimes": (WEAK, STRONG), "Always": (WEAK,)}
    given = {
        "test": "SB",
        "condition_holds": None,
        "states": () if checker == "cbmc" else states.get(observation, ()),
        **more,
    }
    return Verdict(model=model, checker=checker, observation=observation, **given)  # type: ignore[arg-type]


def histogram(target: int, arch: str = "x86_64", **more: Any) -> Histogram:
    given = {
        "test": "SB",
        "machine": "local",
        "runner": "litmus7",
        "histogram": tuple(
            Count(state, count) for state, count in ((WEAK, target), (STRONG, 1000)) if count
        ),
        "target": target,
        "iterations": 1000 + target,
        "seconds": 1.0,
        "arch": arch,
        **more,
    }
    return Histogram(**given)


def claim(**more: Any) -> Claim:
    given = {"scenario": "both", "where": "page 1", "says": "so", **more}
    return Claim(**given)


def record(
    *values: Any, claims: tuple[Claim, ...] = (), drift: GoldenDifference = NO_DRIFT
) -> Record:
    """A record of one structure with one test, SB, and the given answers."""
    structure = StructureInfo(
        name="flags",
        title="Flags",
        models=tuple(model.name for model in MODELS),
        scenarios=(Scenario("both", "both.c"),),
        claims=claims,
        drift=drift,
    )
    entry = Entry(
        test=make_test("SB"), structures=("flags",), models=(), digest="", file="SB.litmus"
    )
    return Record(
        manifest=MANIFEST,
        structures=(structure,),
        entries=(entry,),
        verdicts=tuple(each for each in values if isinstance(each, Verdict)),
        histograms=tuple(each for each in values if isinstance(each, Histogram)),
        explorations=tuple(each for each in values if isinstance(each, Exploration)),
        runs=tuple(each for each in values if isinstance(each, ProgramRun)),
    )


def found(*values: Any, **more: Any) -> list[tuple[str, str, bool]]:
    return [(each.id, each.severity, each.recorded) for each in judge(record(*values, **more))]


def exploration(
    result: str, kind: str = "assertion", model: str = "sc", test: str = ""
) -> Exploration:
    bad = Violation(
        kind=kind,  # type: ignore[arg-type]
        message="`x == 1` fails",
        sites=("both.c:2",),
        test=test,
    )
    return Exploration(
        program="flags/both",
        model=model,
        result=result,  # type: ignore[arg-type]
        violations=(bad,) if result == "Violated" else (),
        complete=6,
        reasons=("the loop at both.c:5 iterates more than 4 times",) if result == "Unknown" else (),
    )


def code(*values: Any, **more: Any) -> int:
    made = record(*values, **more)
    return exit_code(msgspec.structs.replace(made, findings=judge(made)))
