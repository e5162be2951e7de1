"""Outcomes that a machine showed although a model forbids them: WS201."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.values.agreement import agreed_observation, conclusive
from weakspot.harness.values.descriptions import evidence_of
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import times
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import ModelInfo, Record
from weakspot.harness.values.state import state_text, within
from weakspot.harness.values.verdict import Verdict

_EMULATOR = (
    "suspect the emulator first: it has to implement the other machine's memory ordering on this "
    "one; `weakspot check --compiled` says whether the machine code allows the outcome"
)


class ObservedOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A test's outcome that a machine showed, and the models that forbid or allow it."""

    histogram: Histogram
    forbidden: tuple[str, ...]
    allowed: tuple[str, ...]
    contradicted: tuple[str, ...]  # the forbidding models that apply to this machine


def observed_outcomes(record: Record) -> tuple[ObservedOutcome, ...]:
    """Every outcome that a machine showed, one per histogram."""
    found = []
    for histogram in record.histograms:
        if histogram.target > 0:
            forbidden = models_that(record, histogram.test, forbid=True)
            contradicted = (
                name for name in forbidden if can_contradict(record.model[name], histogram)
            )
            found.append(
                ObservedOutcome(
                    histogram=histogram,
                    forbidden=forbidden,
                    allowed=models_that(record, histogram.test, forbid=False),
                    contradicted=tuple(contradicted),
                )
            )
    return tuple(found)


def can_contradict(model: ModelInfo, observed: Histogram | ProgramRun) -> bool:
    """Whether the model is wrong if the machine shows an outcome that it forbids.

    No machine promises sequential consistency. A hardware model applies to its own machines, and
    to no emulated one.
    """
    if model.role == "hardware":
        return not observed.emulated and model.applies_to(observed.arch)
    return model.role in ("language", "paper")


def models_that(record: Record, test: str, *, forbid: bool) -> tuple[str, ...]:
    """The models that forbid the test's outcome, or those that allow it."""
    wanted = ("Never",) if forbid else ("Sometimes", "Always", "Undefined")
    return tuple(
        model for model in record.model if agreed_observation(record, test, model) in wanted
    )


def emulator_severity(observed: Histogram | ProgramRun) -> Literal["error", "warning"]:
    """A warning for what only an emulator shows, which the program's author cannot correct."""
    return "warning" if observed.emulated else "error"


def likely_cause(observed: Histogram | ProgramRun) -> str:
    """What to look at first."""
    return _EMULATOR if observed.emulated else KINDS["WS201"].advice


def disallowed(record: Record) -> Iterator[Finding]:
    """One finding per test and machine, with every model that it contradicts."""
    for histogram in record.histograms:
        broken: list[tuple[Verdict, str]] = []
        for model in record.model.values():
            if not can_contradict(model, histogram):
                continue
            decided = conclusive(record.verdicts_of.get((histogram.test, model.name), ()))
            outside = [what for verdict in decided if (what := _outside(verdict, histogram))]
            if outside and len(outside) == len(decided):  # else the checkers disagree: WS401
                broken.append((decided[0], outside[0]))
        for known in (False, True):
            here = [
                (verdict, what)
                for verdict, what in broken
                if _is_recorded(record, verdict, histogram) is known
            ]
            if here:
                yield _contradiction(histogram, here, known)


def _contradiction(
    histogram: Histogram, broken: Sequence[tuple[Verdict, str]], known: bool
) -> Finding:
    models = ", ".join(verdict.model for verdict, _ in broken)
    emulated = " (emulated)" if histogram.emulated else ""
    return Finding(
        id="WS201",
        severity=emulator_severity(histogram),
        message=f"{histogram.test}: {broken[0][1]} on {histogram.machine}{emulated}, "
        f"forbidden by {models}",
        subject=histogram.test,
        sites=histogram.sites or broken[0][0].sites,
        evidence=(evidence_of(histogram), *(evidence_of(verdict) for verdict, _ in broken)),
        fix="" if known else likely_cause(histogram),
        recorded=known,
    )


def _is_recorded(record: Record, verdict: Verdict, histogram: Histogram) -> bool:
    """Whether a claim records this outcome for this kind of machine and no other state is new.

    An outcome recorded for any real machine is expected on an emulated one.
    """
    disallowed_count = sum(
        count.count
        for count in histogram.histogram
        if verdict.states and not within(count.state, verdict.states)
    )
    return disallowed_count <= histogram.target and any(
        claim.test == verdict.test
        and claim.verdict.get(verdict.model) == "Never"
        and (histogram.arch in claim.seen or (histogram.emulated and len(claim.seen) > 0))
        for _, claim in record.claims
    )


def _outside(verdict: Verdict, histogram: Histogram) -> str:
    """The first thing in the histogram that the verdict does not allow; empty if there is none."""
    if verdict.observation == "Undefined":  # a racy program may do anything
        return ""
    if verdict.observation == "Never" and histogram.target > 0:
        return f"the outcome was observed {times(histogram.target)}"
    for count in histogram.histogram:
        if count.count and verdict.states and not within(count.state, verdict.states):
            return f"the state {state_text(count.state)} was observed {times(count.count)}"
    total = sum(count.count for count in histogram.histogram)
    if verdict.observation == "Always" and histogram.target < total:
        missed = total - histogram.target
        return f"an outcome that the model requires was missing {times(missed)}"
    return ""
