"""The explorer: every execution of a whole program that a model allows, by the engine.

In: a Program and a Model. Out: an Exploration; each violation comes with the execution that shows
it and, if that is weak, with the litmus test of its critical cycle.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, cast

import msgspec

from weakspot.generators.litmus import Site, Test
from weakspot.harness.checkers.engine import MODULE
from weakspot.harness.corpus import models
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.bounds import ALL, Bounds, Part
from weakspot.harness.values.descriptions import describe_estimate
from weakspot.harness.values.exploration import (
    Estimate,
    Exploration,
    Result,
    Sample,
    Violation,
    ViolationKind,
)
from weakspot.harness.values.numbers import amount, percent
from weakspot.harness.values.record import program_name
from weakspot.harness.values.witness import (
    Execution,
    History,
    ReturnedCall,
    Wait,
    WitnessEvent,
)
from weakspot.system import tools
from weakspot.system.deadline import NEVER, Deadline, ending
from weakspot.system.durations import duration_text

if TYPE_CHECKING:
    from weakspot._engine import CallsDict, ExecutionDict, ExplorationDict, ViolationDict
    from weakspot.generators.cycles.patterns import Habits
    from weakspot.generators.pipeline import Generated
    from weakspot.generators.source.program import Program

Keep = Callable[[bytes], object]
"""Takes what is needed to resume an exploration that ends early."""

Done = Callable[[int, "tuple[float, float] | None"], object]
"""Called from time to time with the number of executions so far, and with an estimate of how many
there are and its standard error, once there is one."""


class Explorer(Protocol):
    """What every explorer offers."""

    @property
    def version(self) -> str: ...

    @property
    def on_one_core(self) -> Explorer | None:
        """The same explorer for one of several explorations at once; None if they cannot share the
        cores."""

    def applicable(self, model: Model) -> str:
        """ "" if programs can be explored under the model, else why not, in one phrase."""
        ...

    def explore(
        self,
        generated: Generated,
        model: Model,
        bounds: Bounds,
        *,
        structure: str,
        scenario: str,
        done: Done,
        earlier: bytes | None = None,
        keep: Keep | None = None,
    ) -> Exploration:
        """Explore one program. `keep` is called with what is needed to resume an exploration that a
        limit, Ctrl-C or `done` ends; passed as `earlier`, with the same program, model, version and
        limits but for those of executions and time, it is resumed. Raises BadInput for a malformed
        cat file, and Unsupported for operations of the program without a meaning."""
        ...


class Share(msgspec.Struct, frozen=True):
    """What exploring a share of what an exploration has left open has led to: all that was found
    there and is left open; the number of executions; whether nothing is left open, and whether the
    share was of a search tree that is right (see _engine.Program.explore)."""

    left: bytes
    executions: int
    earlier: int
    complete: bool
    resumed: bool


class EngineExplorer(msgspec.Struct, frozen=True):
    """The engine. It uses `jobs` threads, 0 for one per core, and explores a `part` of the
    executions; nothing after the `end`. Of the time limit there are at most `rest` seconds left."""

    jobs: int = 0
    part: Part = ALL
    end: Deadline = NEVER
    rest: float = float("inf")

    @property
    def version(self) -> str:
        tool = tools.find(MODULE)
        version = (tool and tool.version) or "unknown"
        return version if self.part == ALL else f"{version} {self.part}"

    @property
    def on_one_core(self) -> EngineExplorer | None:
        # what is drawn takes the time that it is given
        if (self.part.sample and not self.part.fallback) or self.part.estimate:
            return None
        return msgspec.structs.replace(self, jobs=1)

    def applicable(self, model: Model) -> str:
        model = model.of_programs
        if readable := [each for each in model.dialects if each != "C"]:
            return f"model {model.name} applies to {' and '.join(readable)} tests, not to programs"
        if model.acyclic in ("program order", "dependencies"):
            return ""
        if model.is_configuration:
            why = f"{model.name}, which applies to the source of litmus tests"
        elif model.acyclic == "none":
            why = f"{model.name}, which allows values out of thin air"
        elif found := _unsuitable(model):
            why = f"{model.name}: {found}"
        else:
            return ""
        return f"programs are not explored under {why}; their tests are checked"

    def explore(
        self,
        generated: Generated,
        model: Model,
        bounds: Bounds,
        *,
        structure: str,
        scenario: str,
        done: Done,
        earlier: bytes | None = None,
        keep: Keep | None = None,
    ) -> Exploration:
        """See Explorer. What violates the program is looked for under the model of the standard's
        earlier editions too, in the time that is left."""
        if self.end.passed:
            return Exploration(
                program=program_name(structure, scenario), model=model.name, result="Unknown"
            )
        bounds = msgspec.structs.replace(bounds, seconds=self.end.at_most(bounds.seconds))

        def under(
            model: Model, bounds: Bounds, earlier: bytes | None = None, keep: Keep | None = None
        ) -> Exploration:
            return explored(
                generated.program,
                generated.habits,
                model,
                bounds,
                structure=structure,
                scenario=scenario,
                jobs=self.jobs,
                part=self.part,
                done=done,
                earlier=earlier,
                keep=keep,
                within=self.rest,
            )

        end = ending(min(bounds.seconds, self.rest))
        found = under(model, bounds, earlier, keep)
        left = end.left
        if not model.earlier or not found.violations or left <= 0:
            return found
        before = models.load()[model.earlier]
        return _compared(found, under(before, msgspec.structs.replace(bounds, seconds=left)))

    def explore_share(
        self,
        generated: Generated,
        model: Model,
        bounds: Bounds,
        share: bytes | None,
        seconds: float,
    ) -> Share | None:
        """Explore a share of what an exploration has left open, or everything without one, for so
        many seconds; None if the time did not even suffice for what has to be known before, such
        as what a specification allows. Raises as `explore` does."""
        from weakspot import _engine

        left: list[bytes] = []
        found = asked(
            generated.program,
            model,
            msgspec.structs.replace(bounds, seconds=seconds),
            jobs=self.jobs,
            part=self.part,
            share=True,
            earlier=share,
            keep=left.append,
        )
        if not left:
            return None
        executions = sum(found[end] for end in ("complete", "blocked", "truncated", "faulty"))
        return Share(
            left=left[-1],
            executions=executions,
            earlier=found["earlier"],
            complete=not _engine.divide(left[-1], 1)[1],
            resumed=found["resumed"],
        )


def asked(
    program: Program,
    model: Model,
    bounds: Bounds,
    *,
    jobs: int = 0,
    part: Part = ALL,
    stop_at_first: bool = False,
    share: bool = False,
    done: Done | None = None,
    earlier: bytes | None = None,
    keep: Keep | None = None,
) -> ExplorationDict:
    """The engine's answer for a program, as its binding returns it. A part of the executions is not
    resumed, and is explored without what it is a fallback for."""
    model = model.of_programs
    whole = part == part.whole
    return program.explore(
        model.path,
        folders=models.include_folders(model),
        loops=bounds.loops,
        executions=bounds.executions,
        seconds=bounds.seconds,
        events=bounds.events,
        instructions=bounds.instructions,
        calls=bounds.calls,
        jobs=jobs,
        acyclic=None if model.acyclic == "none" else model.acyclic,
        symmetry=not part.exchanged,
        arrivals=part.arrivals,
        retries=part.retries,
        stop_at_first=stop_at_first,
        departures=part.departures,
        sample=part.seed if part.sample else None,
        estimate=part.seed if part.estimate else None,
        share=share,
        resume=earlier if whole else None,
        keep=keep if whole else None,
        done=done,
    )


def explored(
    program: Program,
    habits: Habits,
    model: Model,
    bounds: Bounds,
    *,
    structure: str,
    scenario: str,
    jobs: int = 0,
    part: Part = ALL,
    stop_at_first: bool = False,
    done: Done | None = None,
    earlier: bytes | None = None,
    keep: Keep | None = None,
    within: float = float("inf"),
) -> Exploration:
    """Explore a program with these habits, `within` so many seconds if that is less than the time
    limit; see Explorer."""
    limits = msgspec.structs.replace(bounds, seconds=min(bounds.seconds, within))

    def answer(
        of: Part, limits: Bounds, earlier: bytes | None, keep: Keep | None
    ) -> tuple[ExplorationDict, Exploration]:
        found = asked(
            program,
            model,
            limits,
            jobs=jobs,
            part=of,
            stop_at_first=stop_at_first,
            done=done,
            earlier=earlier,
            keep=keep,
        )
        name = structure, scenario
        return found, _exploration(found, program.sites, habits, model, bounds, of, name)

    if not part.fallback:
        return answer(part, limits, earlier, keep)[1]
    left: list[bytes] = []
    end = ending(bounds.seconds)

    def rest() -> Bounds:
        return msgspec.structs.replace(bounds, seconds=end.left)

    try:
        half = msgspec.structs.replace(bounds, seconds=bounds.seconds * _HALF)
        found, exploration = answer(part.whole, half, earlier, left.append)
        if found["limit"] != "seconds" or exploration.violations or not end.left:
            return exploration
        _, more = answer(msgspec.structs.replace(part, fallback=False), rest(), None, None)
        if more.result == "Unknown" and end.left:
            _, again = answer(part.whole, rest(), left.pop(), left.append)
            resumed = exploration.resumed if again.resumed else 0
            exploration = msgspec.structs.replace(again, resumed=resumed)
        return _completed(exploration, more)
    finally:
        if left and keep is not None:
            keep(left[-1])


_HALF = 0.5
"""How much of the time is for all executions before it is known whether that suffices, if a part of
them is the fallback."""


def _completed(found: Exploration, part: Exploration) -> Exploration:
    """An exploration for which there was not enough time at first, with what exploring a part
    showed."""
    seconds = round(found.seconds + part.seconds, 6)
    if found.result == "Unknown" and part.result != "Unknown":
        return msgspec.structs.replace(part, seconds=seconds)
    shown = part.sample is not None or (part.departures is not None and not part.truncated)
    if found.result != "Unknown" or not shown:
        return msgspec.structs.replace(found, seconds=seconds)
    return msgspec.structs.replace(
        found,
        departures=part.departures,
        sample=part.sample,
        seconds=seconds,
        reasons=(part.reasons[0], *found.reasons),
    )


def _exploration(
    found: ExplorationDict,
    sites: Sequence[Site],
    habits: Habits,
    model: Model,
    bounds: Bounds,
    part: Part,
    name: tuple[str, str],
) -> Exploration:
    """What the engine found of a structure's scenario, as an Exploration."""
    from weakspot.generators.cycles.witness import cycle_test

    structure, scenario = name
    violations: dict[tuple[str, str, tuple[str, ...]], Violation] = {}
    tests: dict[str, Test] = {}
    for each in found["violations"]:
        test = None
        if each["witness"] is not None:
            test = cycle_test(
                each["witness"], sites, habits, structure=structure, scenario=scenario
            )
        if test is not None:
            tests[test.name] = test
        violation = _violation(each, sites, test)
        # a line is one place here, whichever calls lead to it
        same = (violation.kind, violation.message, violation.sites)
        violations[same] = min(violations.get(same, violation), violation, key=_size)
    # what matters is that main ends, not how the execution comes there
    warnings = (
        msgspec.structs.replace(_violation(each, sites, None), witness=None)
        for each in found["warnings"]
    )
    shown = {violation.test for violation in violations.values()}
    return Exploration(
        program=program_name(structure, scenario),
        model=model.name,
        result=cast(Result, found["result"]),
        violations=tuple(violations.values()),
        # as above, a line is one place
        warnings=tuple({(each.message, each.sites): each for each in warnings}.values()),
        threads=found["threads"],
        complete=found["complete"],
        blocked=found["blocked"],
        represented=found["represented"],
        truncated=found["truncated"],
        faulty=found["faulty"],
        seconds=round(found["seconds"], 6),
        reasons=_reasons(found, bounds, part),
        tests=tuple(test for name, test in tests.items() if name in shown),
        departures=found["departures"],
        iterations=found["rounds"],
        estimate=_estimate(found),
        sample=_sample(found, part),
        resumed=found["earlier"],
        notes=(_calls_not_compared(model),) if found["skips_calls"] else (),
    )


def _calls_not_compared(model: Model) -> str:
    return (
        f"linearizability is not decided under {model.name}, which does not say which call happens "
        "before which"
    )


def _compared(found: Exploration, earlier: Exploration) -> Exploration:
    """The exploration, with those violations marked that the model of earlier editions excludes:
    nothing of the kind happens under it at any of their sites, or with their message, and no limit
    was reached."""

    def absent(violation: Violation) -> bool:
        return not earlier.reasons and not any(
            each.kind == violation.kind
            and (each.message == violation.message or set(each.sites) & set(violation.sites))
            for each in earlier.violations
        )

    return msgspec.structs.replace(
        found,
        violations=tuple(
            msgspec.structs.replace(each, absent_under=earlier.model) if absent(each) else each
            for each in found.violations
        ),
        seconds=round(found.seconds + earlier.seconds, 6),
    )


@lru_cache(maxsize=64)  # each program asks
def _unsuitable(model: Model) -> str:
    """Why the engine cannot explore under a cat file; "" if it can, or cannot read the file:
    exploring reports that."""
    from weakspot import _engine

    folders = [str(folder) for folder in models.include_folders(model)]
    try:
        return _engine.unsuitable(str(model.path), folders=folders)
    except _engine.EngineError:
        return ""


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


_TIME_LIMIT = "time limit of"  # how the engine's reason begins


def _reasons(found: ExplorationDict, bounds: Bounds, part: Part) -> tuple[str, ...]:
    """The limits that were reached, where, and how to explore further."""
    if (estimate := _estimate(found)) and (sample := _sample(found, part)):
        share = sample.distinct / estimate.executions if estimate.executions else 1.0
        return (
            f"{amount(sample.distinct, 'execution')} drawn with seed {sample.seed}, "
            f"{percent(min(share, 1.0))} of {describe_estimate(estimate)}; a further draw shows "
            f"another one with probability {percent(max(1 - sample.known, 0.0))}",
        )
    if estimate and part.estimate:
        return (f"{describe_estimate(estimate)}, not all of them explored",)
    reasons = list(dict.fromkeys(found["reasons"]))
    if found["limit"] == "seconds":  # part of the time may have gone to another part
        whole = f"{_TIME_LIMIT} {round(bounds.seconds, 3):.15g} s"
        reasons = [whole if each.startswith(_TIME_LIMIT) else each for each in reasons]
    if (departures := found["departures"]) is not None:
        up_to = amount(departures, "departure")
        reasons.insert(0, f"what takes more than {up_to} was not explored")
        if found["limit"] is None and not found["violations"]:
            reasons.append(f"--bound {departures + 2} explores further")
    if (rounds := found["rounds"]) is not None:
        reasons.insert(0, f"complete for loops of at most {amount(rounds, 'iteration')}")
    if estimate and estimate.executions:
        reasons.append(_number(estimate, found))
    for name in filter(None, (*found["limits"], found["limit"])):
        if option := bounds.given.get(name):
            more = round(2 * getattr(bounds, name), 3)
            reasons.append(f"{option} {more:.15g} explores further")
    if "" in found["limits"]:
        reasons.append("have the threads of the program do less: this limit is fixed")
    return tuple(reasons)


def _number(estimate: Estimate, found: ExplorationDict) -> str:
    """About how many executions there are, and how long exploring them takes."""
    explored = found["complete"] + found["blocked"] + found["truncated"] + found["faulty"]
    about = describe_estimate(estimate)
    if explored > estimate.executions:
        return f"there are {about.replace('about', 'more than the estimated', 1)}"
    time = f", {duration_text(estimate.seconds)}" if estimate.seconds is not None else ""
    return f"there are {about}{time}"


def _size(violation: Violation) -> tuple[bool, int]:
    """The order in which witnesses are preferred: interleavings before cycles, then few events."""
    witness = violation.witness
    return (bool(witness and witness.cycle), len(witness.events) if witness else 0)


def _violation(found: ViolationDict, sites: Sequence[Site], test: Test | None) -> Violation:
    places = [found["site"]]
    witness = found["witness"]
    if witness is not None:
        places += [witness["events"][event]["site"] for event in witness["conflict"] or ()]
        places += [wait["site"] for wait in witness["waits"]]
    named = (str(sites[site]) for site in places if site is not None)
    execution = _execution(witness, sites) if witness is not None else None
    message = found["message"]
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
    )


def _execution(found: ExecutionDict, sites: Sequence[Site]) -> Execution:
    return Execution(
        events=tuple(
            WitnessEvent(
                thread=event["thread"],
                label=event["label"],
                kind=event["kind"],
                order=event["order"],
                location=event["location"],
                read=event["read"],
                written=event["written"],
                site="" if event["site"] is None else str(sites[event["site"]]),
            )
            for event in found["events"]
        ),
        rf=tuple(found["rf"]),
        co=tuple(found["co"]),
        fr=tuple(found["fr"]),
        cycle=tuple(found["cycle"]),
        functions=tuple(found["functions"]),
        conflict=found["conflict"],
        waits=tuple(
            Wait(wait["thread"], wait["what"], str(sites[wait["site"]])) for wait in found["waits"]
        ),
        history=_history(calls) if (calls := found["calls"]) is not None else None,
    )


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
