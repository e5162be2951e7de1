"""What the engine found of a program, as an Exploration.

In: the engine's answer, and the sites of the program. Out: an Exploration; each violation comes
with the execution that shows it and, if that is weak, with the litmus test of its critical cycle.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from weakspot.generators.litmus import KERNEL_ORDER, Site, Test
from weakspot.harness.checkers.exploration_notes import doubled_loops, notes
from weakspot.harness.checkers.library_calls import library_call, library_files
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.bounds import Bounds, Part
from weakspot.harness.values.estimate import Estimate, Sample
from weakspot.harness.values.exploration import (
    Exploration,
    ExplorationEvidence,
    Result,
    Violation,
    ViolationKind,
    between,
)
from weakspot.harness.values.reason import Reason
from weakspot.harness.values.record import program_name
from weakspot.harness.values.witness import Execution, History, ReturnedCall, Wait, WitnessEvent

if TYPE_CHECKING:
    from weakspot._engine import (
        CallsDict,
        EventOfExecution,
        ExecutionDict,
        ExplorationDict,
        ViolationDict,
    )
    from weakspot.generators.pipeline import NamedProgram

_MORE = {"loops", "seconds", "executions", "events"}
"""The limits that programs reach in which weak compare-exchanges fail often."""


def exploration_of(
    found: ExplorationDict,
    program: NamedProgram,
    model: Model,
    bounds: Bounds,
    part: Part,
    *,
    tests: bool = True,
) -> Exploration:
    """What the engine found of a program, as an Exploration; with the litmus `tests` of its
    violations."""
    from weakspot.generators.cycles.witness import cycle_test

    structure, scenario, sites = program.structure, program.scenario, program.program.sites
    libraries = library_files(program.program)
    violations: dict[str, Violation] = {}
    made: dict[str, Test] = {}
    for each in found["violations"]:
        test = None
        # tests of C11 mean nothing to a model with annotations of its own, nor its tests to others
        kernel = program.program.kernel
        if tests and each["witness"] is not None and kernel == model.is_configuration:
            test = cycle_test(
                each["witness"],
                sites,
                program.habits,
                structure=structure,
                scenario=scenario,
                of_kernel=kernel,
            )
        if test is not None:
            made[test.name] = test
        violation = _violation(each, sites, test, libraries)
        if program.program.kernel:
            violation = msgspec.structs.replace(violation, witness=_of_kernel(violation.witness))
        # an operation is one place here, whichever calls lead to it
        same = violations.get(violation.identity, violation)
        violations[violation.identity] = min(same, violation, key=_size)
    missed = tuple(_missed(found, sites))
    # what matters is that main ends, not how the execution comes there
    warnings = (
        msgspec.structs.replace(_violation(each, sites, None, libraries), witness=None)
        for each in found["warnings"]
    )
    shown = {violation.test for violation in violations.values()}
    return Exploration(
        program=program_name(structure, scenario),
        model=model.name,
        result="Violated" if missed else cast(Result, found["result"]),
        violations=(*violations.values(), *missed),
        warnings=tuple({each.identity: each for each in warnings}.values()),
        threads=found["threads"],
        complete=found["complete"],
        blocked=found["blocked"],
        represented=found["represented"],
        truncated=found["truncated"],
        faulty=found["faulty"],
        seconds=round(found["seconds"], 6),
        incomplete=tuple(_incomplete(found, bounds, part)),
        limits=_limits(found),
        tests=tuple(test for name, test in made.items() if name in shown),
        departures=found["departures"],
        iterations=found["rounds"],
        loops=doubled_loops(found, bounds),
        estimate=_estimate(found),
        sample=_sample(found, part),
        resumed=found["earlier"],
        notes=notes(found, model, bounds, part, program.program),
        evidence=msgspec.convert(found["evidence"], ExplorationEvidence),
    )


def executions_of(found: ExplorationDict) -> int:
    """The number of executions explored, of all four kinds."""
    return found["complete"] + found["blocked"] + found["truncated"] + found["faulty"]


def _missed(found: ExplorationDict, sites: Sequence[Site]) -> Iterator[Violation]:
    """What the audit found and the search did not."""
    audit = found["evidence"]["audit"]
    for kind, message, site in audit["missed"] if audit else ():
        yield Violation(
            kind="missed",
            message=f"the explorer has missed a violation that its audit found ({kind}: {message})",
            sites=() if site is None else (str(sites[site]),),
            identity=" ".join(("missed", kind, *_exact(sites, [site]))),
        )


def _exact(sites: Sequence[Site], numbers: Iterable[int | None]) -> list[str]:
    """These sites, each once, with their columns."""
    known = (sites[number] for number in dict.fromkeys(numbers) if number is not None)
    return [f"{site}:{site.column}" for site in known]


def _estimate(found: ExplorationDict) -> Estimate | None:
    if (of := found["estimate"]) is None:
        return None
    executions, error, descents = of
    rate = found["rate"]
    seconds = executions / rate if rate else None
    return Estimate(executions=executions, error=error, descents=descents, seconds=seconds)


def _sample(found: ExplorationDict, part: Part) -> Sample | None:
    if (of := found["sample"]) is None or not part.sample:
        return None
    draws, distinct, known = of
    return Sample(draws=draws, distinct=distinct, known=known, seed=part.seed)


def reasons_of(found: ExplorationDict) -> list[Reason]:
    """Why the engine did not explore everything, each reason once."""
    return list(dict.fromkeys(msgspec.convert(found["reasons"], list[Reason])))


def _incomplete(found: ExplorationDict, bounds: Bounds, part: Part) -> Iterator[Reason]:
    """The limits that were reached, where, and how to explore further."""
    estimate = _estimate(found)
    if estimate and (sample := _sample(found, part)):
        yield Reason(kind="sample", estimate=estimate, sample=sample)
        return
    if estimate and part.estimate:
        yield Reason(kind="estimate", estimate=estimate)
        return
    departures, rounds = found["departures"], found["rounds"]
    if rounds is not None:
        yield Reason(kind="iterations", number=rounds)
    if departures is not None:
        yield Reason(kind="departures", number=departures)
    for reason in reasons_of(found):
        if reason.kind == "limit" and reason.limit == "seconds":
            # part of the time may have gone to another part
            reason = msgspec.structs.replace(reason, number=bounds.seconds)
        yield reason
    if departures is not None and found["limit"] is None and not found["violations"]:
        yield Reason(kind="raise limit", option="--bound", number=departures + 2)
    if estimate and estimate.executions:
        exceeded = executions_of(found) > estimate.executions
        yield Reason(kind="exceeded size" if exceeded else "size", estimate=estimate)
    if (doubled := found["doubled"]) is not None:
        (executions, error, descents), rate = doubled
        more = Estimate(
            executions=executions, error=error, descents=descents, seconds=executions / rate
        )
        loops = 2 * found["loop_bound"]
        yield Reason(kind="size of more iterations", number=loops, estimate=more)
    for name in filter(None, _limits(found)):
        if option := bounds.given.get(name):
            if name == "loops" and not bounds.loops and found["limit"] is not None:
                continue  # the bound is doubled in the time that there is
            reached = found["loop_bound"] if name == "loops" else getattr(bounds, name)
            yield Reason(kind="raise limit", limit=name, option=option, number=2 * reached)
    if found["fails"] and part.weak_failures == "always" and _MORE.intersection(_limits(found)):
        yield Reason(kind="fewer failures")
    if "" in found["limits"]:
        yield Reason(kind="smaller program")


def _limits(found: ExplorationDict) -> tuple[str, ...]:
    """The bounds that were reached: those of executions, then what ended the exploration."""
    return (*found["limits"], *([] if found["limit"] is None else [found["limit"]]))


def _size(violation: Violation) -> tuple[bool, int]:
    """The order in which witnesses are preferred: interleavings before cycles, then few events."""
    witness = violation.witness
    return (bool(witness and witness.cycle), len(witness.events) if witness else 0)


def _violation(
    found: ViolationDict, sites: Sequence[Site], test: Test | None, libraries: Collection[str]
) -> Violation:
    places = [found["site"]]
    witness = found["witness"]
    if witness is not None:
        racing = [witness["events"][event]["site"] for event in witness["conflict"] or ()]
        places += racing[::-1] if places[0] in racing[1:] else racing
    accesses = tuple(
        "" if site is None else f"{sites[site]}:{sites[site].column}" for site in found["accesses"]
    )
    message = found["message"] + between(accesses)
    identity = [found["kind"], *_exact(sites, places)]
    identity += [message] if found["kind"] == "flag" else []
    if witness is not None:
        places += [wait["site"] for wait in witness["waits"]]
    named = (str(sites[site]) for site in places if site is not None)
    execution = _execution(witness, sites, libraries) if witness is not None else None
    history = execution.history if execution is not None else None
    if history is not None and history.differs is not None:
        call = history.calls[history.differs]
        message = f"{call.returning(call.result)} in no sequential order of the calls"
    elif history is not None:
        message = "all calls return, which they do in no sequential order"
    return Violation(
        kind=cast(ViolationKind, found["kind"]),
        message=message,
        sites=tuple(dict.fromkeys(named)),
        test=test.name if test else "",
        witness=execution,
        identity=" ".join(identity),
        accesses=accesses,
    )


def _event(
    found: EventOfExecution, sites: Sequence[Site], libraries: Collection[str]
) -> WitnessEvent:
    site = None if found["site"] is None else sites[found["site"]]
    call = ("", "") if site is None else library_call(site, found["call"] or "", libraries)
    where = {"site": "" if site is None else str(site), "call": call[0], "caller": call[1]}
    return msgspec.convert({**found, **where}, WitnessEvent)


def _of_kernel(witness: Execution | None) -> Execution | None:
    """An execution with the memory orders as the Linux kernel's model names them."""
    if witness is None:
        return None
    events = tuple(
        msgspec.structs.replace(each, order=KERNEL_ORDER.get(each.order, each.order))
        for each in witness.events
    )
    return msgspec.structs.replace(witness, events=events)


def _execution(
    found: ExecutionDict, sites: Sequence[Site], libraries: Collection[str]
) -> Execution:
    own = {
        "events": [_event(each, sites, libraries) for each in found["events"]],
        "waits": [
            Wait(wait["thread"], wait["what"], str(site := sites[wait["site"]]), site.column)
            for wait in found["waits"]
        ],
        "history": _history(calls) if (calls := found["calls"]) is not None else None,
    }
    return msgspec.convert({**found, **own}, Execution)


def _history(found: CallsDict) -> History:
    """The calls that have a name: others tell the histories of different clients apart."""
    shown = [number for number, call in enumerate(found["calls"]) if call["call"]]
    at = {number: place for place, number in enumerate(shown)}
    differs = found["differs"]
    return History(
        calls=tuple(
            ReturnedCall(
                call["thread"],
                call["call"],
                call["result"],
                tuple(at[number] for number in call["before"] if number in at),
            )
            for call in found["calls"]
            if call["call"]
        ),
        nearest=tuple((at[number], result) for number, result in found["nearest"] if number in at),
        differs=at.get(differs) if differs is not None else None,
    )
