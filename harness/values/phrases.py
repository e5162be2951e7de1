"""A verdict, a histogram, an exploration in a line: the words of findings and reports."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from weakspot.harness.values.claims import Claim
from weakspot.harness.values.record import StructureNote
from weakspot.harness.values.verdict import (
    Exploration,
    Failure,
    Histogram,
    ProgramRun,
    State,
    Verdict,
    WitnessEvent,
)

EMULATED = "emulated: says nothing of how weak a real one is"
"""What stands by whatever an emulated machine showed or did not show."""


def said(structure: StructureNote, claim: Claim) -> str:
    return f"{structure.name}/claims.toml, {claim.where}: {claim.says}"


def answered(verdict: Verdict) -> str:
    flags = f" ({', '.join(verdict.flags)})" if verdict.flags else ""
    states = f", {len(verdict.states)} states" if verdict.states else ""
    reason = f": {verdict.reason}" if verdict.reason else ""
    return f"{verdict.checker}: {verdict.observation} under {verdict.model}{flags}{states}{reason}"


def counted(histogram: Histogram) -> str:
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


def failed(run: ProgramRun, failure: Failure) -> str:
    """`native on local: failed 1,345 of 5,595 instances, with popped=1 stolen=1`"""
    emulated = ", emulated" if run.emulated else ""
    common = failure.values[0] if failure.values else None
    often = "" if common is None or common.count == failure.count else "most often "
    shown = f", {often}with {stated(common.state)}" if common else ""
    return (
        f"{run.runner} on {run.machine}{emulated}: failed {failure.count:,} of "
        f"{rounded(run.instances)} instances{shown}"
    )


def shown_by(histogram: Histogram, among: Iterable[Histogram]) -> str:
    """The machine, and the runner where there are several."""
    several = len({each.runner for each in among}) > 1
    return f"{histogram.machine} {histogram.runner}" if several else histogram.machine


def silence(histogram: Histogram) -> str:
    """What it is worth that the outcome was not seen; "" where it was, or nothing is known."""
    if is_mute(histogram):
        return "no sibling was seen either: this silence says nothing"
    told = [(each.missed, each) for each in histogram.controls if each.missed is not None]
    if histogram.target or not told:
        return ""
    missed, sibling = max(told, key=lambda each: each[0])
    seen = sibling.target_independent / max(1, sibling.iterations)
    emulated = f" ({EMULATED})" if histogram.emulated else ""
    return (
        f"a sibling ({sibling.change}) was seen at a rate of {small(seen)}; were this one as "
        f"likely, it would have been missed with probability {small(missed)}{emulated}"
    )


def is_mute(histogram: Histogram) -> bool:
    """Whether nothing was seen of the test, nor of a sibling, by a runner that runs them too."""
    return (
        bool(histogram.controls and histogram.iterations)
        and not histogram.target
        and all(each.missed is None for each in histogram.controls)
    )


def steady(known: Mapping[str, Any]) -> str:
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


def told(exploration: Exploration) -> str:
    why = f": {reasoned(exploration)}" if exploration.reasons else ""
    return f"{outcome(exploration)} under {exploration.model}, {executed(exploration)}{why}"


def outcome(exploration: Exploration) -> str:
    """`Violated: assertion, race`, as claims say it."""
    kinds = ", ".join(dict.fromkeys(each.kind for each in exploration.violations))
    return f"{exploration.result}: {kinds}" if kinds else exploration.result


def executed(exploration: Exploration) -> str:
    """`1,204 executions (3 blocked) in 0.1 s`"""
    blocked = f" ({exploration.blocked:,} blocked)" if exploration.blocked else ""
    plural = "" if exploration.executions == 1 else "s"
    return f"{exploration.executions:,} execution{plural}{blocked} in {exploration.seconds:.1f} s"


def reasoned(exploration: Exploration) -> str:
    return "; ".join(exploration.reasons) or "unknown"


def times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def rounded(count: int) -> str:
    """12,000,000 as 1.2·10⁷; what is below 10,000 as it is."""
    if count < 10_000:
        return f"{count:,}"
    power = len(str(count)) - 1
    head = f"{count / 10**power:.1f}".removesuffix(".0")
    if head == "10":
        head, power = "1", power + 1
    exponent = str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{exponent}" if head == "1" else f"{head}·10{exponent}"


def small(number: float) -> str:
    """0.25, 1.2·10⁻³; below 10⁻¹² it says that."""
    if number >= 0.01:
        return f"{number:.2g}"
    if number < 1e-12:
        return "below 10⁻¹²"
    head, _, power = f"{number:.1e}".partition("e")
    exponent = str(int(power)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{head.removesuffix('.0')}·10{exponent}"


def stated(state: State) -> str:
    """`0:r0=1 [x]=2`, in the order of the state."""
    return " ".join(f"{name}={value}" for name, value in state.items())


def done(event: WitnessEvent) -> str:
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
