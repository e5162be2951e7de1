"""Values described in one line each, for findings and reports."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from weakspot.harness.values.claims import Claim
from weakspot.harness.values.estimate import describe_estimate, relative_error
from weakspot.harness.values.exploration import Exploration, ExplorationEvidence
from weakspot.harness.values.finding import Evidence
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import amount, rounded, scientific
from weakspot.harness.values.program_run import Failure, ProgramRun
from weakspot.harness.values.record import Entry, MachineInfo, StructureInfo
from weakspot.harness.values.state import state_text
from weakspot.harness.values.verdict import Verdict
from weakspot.harness.values.witness import WitnessEvent
from weakspot.system.durations import duration_text

EMULATED = "emulated: shows little of the weak behaviour of real hardware"
"""The caveat printed with every result of an emulated machine."""

STARTS_NO_THREAD = "starts no thread: nothing in it depends on a memory order"
"""The note printed with every answer about a program that is not concurrent."""


def describe_claim(structure: StructureInfo, claim: Claim) -> str:
    """`spsc/claims.toml, part 1: the fence is needed`"""
    return f"{structure.name}/claims.toml, {claim.where}: {claim.says}"


def describe_verdict(verdict: Verdict) -> str:
    """`herd7: Sometimes under tso, 4 states`"""
    flags = f" ({', '.join(verdict.flags)})" if verdict.flags else ""
    states = f", {amount(len(verdict.states), 'state')}" if verdict.states else ""
    reason = f": {verdict.reason}" if verdict.reason else ""
    return f"{verdict.checker}: {verdict.observation} under {verdict.model}{flags}{states}{reason}"


def describe_histogram(histogram: Histogram) -> str:
    """`native on local: 4,021 of 1.2·10⁷ (independent 3,877)`"""
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


def evidence_of(answer: Exploration | Verdict | Histogram) -> Evidence:
    """An answer as evidence of a finding."""
    match answer:
        case Exploration():
            return Evidence("exploration", describe_exploration(answer))
        case Verdict():
            return Evidence("verdict", describe_verdict(answer))
        case Histogram():
            return Evidence("histogram", describe_histogram(answer))


def describe_failure(run: ProgramRun, failure: Failure) -> str:
    """`native on local: 1,345 of 5,595 instances failed, with popped=1 stolen=1`"""
    emulated = ", emulated" if run.emulated else ""
    common = failure.values[0] if failure.values else None
    often = "" if common is None or common.count == failure.count else "most often "
    shown = f", {often}with {state_text(common.state)}" if common else ""
    return (
        f"{run.runner} on {run.machine}{emulated}: {failure.count:,} of "
        f"{rounded(run.instances)} instances failed{shown}"
    )


def machine_label(histogram: Histogram, among: Iterable[Histogram]) -> str:
    """The machine; with the runner if `among` come from several runners."""
    several = len({each.runner for each in among}) > 1
    return f"{histogram.machine} {histogram.runner}" if several else histogram.machine


def describe_origin(entry: Entry, structure: str = "") -> str:
    """The operations and sites that a test comes from: `push wsq.h:41 ∥ steal wsq.h:63`.

    If there are several origins, the first one in `structure` is described.
    """
    if not entry.test.origins:
        return entry.test.path or "written by hand"
    here = [origin for origin in entry.test.origins if origin.structure == structure]
    origin = (here or entry.test.origins)[0]
    parts = []
    for operation, sites in zip(origin.operations, origin.sites, strict=True):
        lines: dict[str, list[int]] = defaultdict(list)
        for site in sites:
            if site.line not in lines[site.file]:
                lines[site.file].append(site.line)
        locations = " ".join(f"{file}:{','.join(map(str, at))}" for file, at in lines.items())
        parts.append(f"{operation} {locations}")
    others = len(here or entry.test.origins) - 1
    more = f"  and {others} more" if others else ""
    return " ∥ ".join(parts) + more


def observed_share(histogram: Histogram) -> str:
    """`4,021 of 1.2·10⁷`, or that the outcome was not observed."""
    if histogram.reason and not histogram.iterations:
        return f"not run: {histogram.reason}"
    total = rounded(histogram.iterations)
    return f"{histogram.target:,} of {total}" if histogram.target else f"not observed in {total}"


def negative_result_strength(histogram: Histogram) -> str:
    """What it proves that the outcome was not observed; empty if it was, or without control tests.

    The strength is the probability of missing the outcome if it were as likely as the weaker
    variant for which that probability is the largest.
    """
    if has_no_observed_variant(histogram):
        return "no weaker variant was observed either, so this is no evidence"
    known = [(each.missed, each) for each in histogram.control_tests if each.missed is not None]
    if histogram.target or not known:
        return ""
    missed, variant = max(known, key=lambda each: each[0])
    rate = variant.target_independent / max(1, variant.iterations)
    emulated = f" ({EMULATED})" if histogram.emulated else ""
    return (
        f"a weaker variant ({variant.change}) was observed at a rate of "
        f"{scientific(rate)}; an outcome as likely would have been missed with probability "
        f"{scientific(missed)}{emulated}"
    )


def has_no_observed_variant(histogram: Histogram) -> bool:
    """Whether neither the test nor any of its weaker variants, if it has some, was observed."""
    return (
        bool(histogram.control_tests and histogram.iterations)
        and not histogram.target
        and all(each.missed is None for each in histogram.control_tests)
    )


def describe_machine(machine: MachineInfo) -> str:
    """`x86_64, AMD EPYC, 2 cores, KVM`"""
    known = machine.profile
    cores = known.get("cores")
    parts = [
        machine.arch,
        EMULATED if machine.emulated else "",
        str(known.get("cpu") or ""),
        amount(cores, "core") if isinstance(cores, int) else "",
        {"yes": "virtual", None: ""}.get(known.get("hypervisor"), str(known.get("hypervisor"))),
    ]
    return ", ".join(filter(None, parts))


def describe_steadiness(profile: Mapping[str, Any]) -> str:
    """How evenly a machine ran, from its profile: `slowest of 260 probes 4 % below the fastest,
    0.1 % of its time stolen`. What was not measured is left out."""
    parts = []
    if (throttling := profile.get("throttling")) is not None:
        slower = f"{throttling:.0%}".replace("%", " %")
        parts.append(f"slowest of {profile.get('probes', 0):,} probes {slower} below the fastest")
    if (steal := profile.get("steal")) is not None:
        parts.append(f"{100 * steal:.2g} % of its time stolen")
    return ", ".join(parts)


def describe_exploration(exploration: Exploration) -> str:
    """`Violated: race under rc20, 1,204 executions (3 blocked) in 0.1 s`"""
    limits = f": {limits_reached(exploration)}" if exploration.reasons else ""
    outcome = f"{exploration_outcome(exploration)} under {exploration.model}"
    return f"{outcome}, {execution_count(exploration)}{limits}"


def exploration_outcome(exploration: Exploration) -> str:
    """`Violated: assertion, race`, as claims.toml spells it; `Safe up to 2 departures` where more
    was not explored."""
    kinds = ", ".join(dict.fromkeys(each.kind for each in exploration.violations))
    if kinds:
        return f"{exploration.result}: {kinds}"
    if exploration.departures is not None and not exploration.truncated:
        return f"Safe up to {amount(exploration.departures, 'departure')}"
    if exploration.iterations is not None:
        return f"Safe up to {amount(exploration.iterations, 'iteration')}"
    if exploration.sample is not None:
        return f"not seen in {rounded(exploration.sample.draws)} samples"
    return exploration.result


def describe_size(exploration: Exploration) -> str:
    """`1,204 executions`, or `1.5·10⁷ executions ± 18 %, 2 min` if their number is estimated."""
    estimate = exploration.estimate
    if estimate is None:
        return amount(exploration.executions, "execution")
    if math.isinf(estimate.error) or not estimate.executions:
        return describe_estimate(estimate)
    time = f", {duration_text(estimate.seconds)}" if estimate.seconds is not None else ""
    return f"{rounded(round(estimate.executions))} executions ± {relative_error(estimate)}{time}"


def execution_count(exploration: Exploration) -> str:
    """`1,204 executions (3 blocked) in 0.1 s`"""
    blocked = f" ({exploration.blocked:,} blocked)" if exploration.blocked else ""
    return f"{amount(exploration.executions, 'execution')}{blocked} in {exploration.seconds:.1f} s"


def describe_evidence(evidence: ExplorationEvidence) -> str:
    """`model proved; reductions: waits, main-alone; audit: 54 executions of the reference`"""
    reductions = ", ".join(evidence.reductions) or "none"
    audit = evidence.audit
    if audit is None:
        audited = "none"
    elif audit.refused:
        audited = f"none, {audit.refused}"
    else:
        audited = amount(audit.descents, "random execution") + " of the reference"
    return f"model {evidence.model}; reductions: {reductions}; audit: {audited}"


def resumption(exploration: Exploration) -> tuple[str, ...]:
    """`resumed: 1.2·10⁶ executions explored before`, if so, and what was wrong with what an earlier
    command had stored."""
    before = exploration.resumed
    plural = "" if before == 1 else "s"
    resumed = f"resumed: {rounded(before)} execution{plural} explored before"
    return (resumed, *exploration.notes) if before else exploration.notes


def notes_of(answers: Iterable[tuple[str, Exploration]]) -> Iterator[tuple[str, str]]:
    """What is noted about explorations, each of what the text before it names: that, and
    ` under rc11, rc20: note`."""
    found: dict[tuple[str, str], list[str]] = {}
    for about, exploration in answers:
        for note in resumption(exploration):
            found.setdefault((about, note), []).append(exploration.model)
    for (about, note), names in found.items():
        yield about, f" under {', '.join(names)}: {note}"


def limits_reached(exploration: Exploration) -> str:
    """Which bound truncated the exploration, and where."""
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
        case "CALL":
            return f"call {event.location} ({amount(int(event.read), 'event')})"
        case "FAILS":
            return "compare-exchange fails spuriously"
        case "RETURNS":
            return "wait returns spuriously"
        case "CLOCK":
            return "clock shows the same time as before"
        case "ROUNDS":
            return f"{amount(int(event.read), 'more round')} alike"
        case kind:
            return f"{kind.lower()} {event.location}".rstrip()
