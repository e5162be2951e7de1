"""A verdict, a histogram, an exploration in a line: the words of findings and reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weakspot.harness.values.claims import Claim
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import rounded, scientific
from weakspot.harness.values.program_run import Failure, ProgramRun
from weakspot.harness.values.record import StructureInfo
from weakspot.harness.values.state import state_text
from weakspot.harness.values.verdict import Verdict
from weakspot.harness.values.witness import WitnessEvent

EMULATED = "emulated: says nothing of how weak a real one is"
"""What stands by whatever an emulated machine showed or did not show."""


def describe_claim(structure: StructureInfo, claim: Claim) -> str:
    return f"{structure.name}/claims.toml, {claim.where}: {claim.says}"


def describe_verdict(verdict: Verdict) -> str:
    flags = f" ({', '.join(verdict.flags)})" if verdict.flags else ""
    states = f", {len(verdict.states)} states" if verdict.states else ""
    reason = f": {verdict.reason}" if verdict.reason else ""
    return f"{verdict.checker}: {verdict.observation} under {verdict.model}{flags}{states}{reason}"


def describe_histogram(histogram: Histogram) -> str:
    independent = (
        f" (independent {histogram.target_independent:,})"
        if histogram.target_independent is not None
        else ""
    )
    emulated = ", emulated" if histogram.emulated else ""
    return (
        f"{histogram.runner} on {histogram.machine}{emulated}: {histogram.target:,} of "
        f"{rounded(histogram.iterations)}{independent}"
    )


def describe_failure(run: ProgramRun, failure: Failure) -> str:
    """`native on local: failed 1,345 of 5,595 instances, with popped=1 stolen=1`"""
    emulated = ", emulated" if run.emulated else ""
    common = failure.values[0] if failure.values else None
    often = "" if common is None or common.count == failure.count else "most often "
    shown = f", {often}with {state_text(common.state)}" if common else ""
    return (
        f"{run.runner} on {run.machine}{emulated}: failed {failure.count:,} of "
        f"{rounded(run.instances)} instances{shown}"
    )


def machine_label(histogram: Histogram, among: Iterable[Histogram]) -> str:
    """The machine, and the runner where there are several."""
    several = len({each.runner for each in among}) > 1
    return f"{histogram.machine} {histogram.runner}" if several else histogram.machine


def negative_result_strength(histogram: Histogram) -> str:
    """What it is worth that the outcome was not seen; "" where it was, or nothing is known."""
    if has_no_observed_variant(histogram):
        return "no sibling was seen either: this silence says nothing"
    describe_exploration = [
        (each.missed, each) for each in histogram.controls if each.missed is not None
    ]
    if histogram.target or not describe_exploration:
        return ""
    missed, sibling = max(describe_exploration, key=lambda each: each[0])
    seen = sibling.target_independent / max(1, sibling.iterations)
    emulated = f" ({EMULATED})" if histogram.emulated else ""
    return (
        f"a sibling ({sibling.change}) was seen at a rate of {scientific(seen)}; were this one as "
        f"likely, it would have been missed with probability {scientific(missed)}{emulated}"
    )


def has_no_observed_variant(histogram: Histogram) -> bool:
    """Whether nothing was seen of the test, nor of a sibling, by a runner that runs them too."""
    return (
        bool(histogram.controls and histogram.iterations)
        and not histogram.target
        and all(each.missed is None for each in histogram.controls)
    )


def describe_steadiness(known: Mapping[str, Any]) -> str:
    """How evenly a machine ran, of its profile: `slowest probe 4 % below the fastest of 260, 0.1 %
    of its time stolen`; what was not measured is left out."""
    parts = []
    if (slowed := known.get("throttling")) is not None:
        probes = known.get("probes", 0)
        parts.append(
            f"slowest of {probes:,} probes {slowed:.0%} below the fastest".replace("%", " %")
        )
    if (steal := known.get("steal")) is not None:
        parts.append(f"{100 * steal:.2g} % of its time stolen")
    return ", ".join(parts)


def describe_exploration(exploration: Exploration) -> str:
    limits = f": {limits_reached(exploration)}" if exploration.reasons else ""
    outcome = f"{exploration_outcome(exploration)} under {exploration.model}"
    return f"{outcome}, {execution_count(exploration)}{limits}"


def exploration_outcome(exploration: Exploration) -> str:
    """`Violated: assertion, race`, as claims say it."""
    kinds = ", ".join(dict.fromkeys(each.kind for each in exploration.violations))
    return f"{exploration.result}: {kinds}" if kinds else exploration.result


def execution_count(exploration: Exploration) -> str:
    """`1,204 executions (3 blocked) in 0.1 s`"""
    blocked = f" ({exploration.blocked:,} blocked)" if exploration.blocked else ""
    plural = "" if exploration.executions == 1 else "s"
    return f"{exploration.executions:,} execution{plural}{blocked} in {exploration.seconds:.1f} s"


def limits_reached(exploration: Exploration) -> str:
    return "; ".join(exploration.reasons) or "unknown"


def describe_event(event: WitnessEvent) -> str:
    """`store x = 1 (rel)`"""
    order = f" ({event.order})" if event.order else ""
    match event.kind:
        case "R":
            return f"load {event.location} = {event.read}{order}"
        case "W":
            return f"store {event.location} = {event.written}{order}"
        case "RMW":
            return f"update {event.location}: {event.read} → {event.written}{order}"
        case "F":
            return f"fence{order}"
        case kind:
            return f"{kind.lower()} {event.location}".rstrip()
