"""The explorer: every execution of a whole program that a model allows, by the engine.

In: a Program and a Model. Out: an Exploration; each violation comes with the execution that shows
it and, if that is weak, with the litmus test of its critical cycle.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

import msgspec

from weakspot.harness.checkers.engine import MODULE
from weakspot.harness.checkers.engine_answers import executions_of, exploration_of
from weakspot.harness.corpus import models
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.bounds import ALL, Bounds, Part
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.record import program_name
from weakspot.system import processors, tools
from weakspot.system.deadline import NEVER, Deadline, ending

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict
    from weakspot.generators.pipeline import NamedProgram
    from weakspot.generators.source.program import Program

Keep = Callable[[bytes], object]
"""Takes what is needed to resume an exploration that ends early."""

Done = Callable[[int, "tuple[float, float] | None"], object]
"""Called from time to time with the number of executions so far, and with an estimate of how many
there are and its standard error, once there is one."""


class Course(NamedTuple):
    """How an exploration goes: `done` gets its progress. `keep` is called with what is needed to
    resume it if a limit, Ctrl-C or `done` ends it; as the `earlier` of another one, with the same
    program, model, version of the explorer and limits but for those of executions and time, that
    is resumed."""

    done: Done | None = None
    earlier: bytes | None = None
    keep: Keep | None = None


UNOBSERVED = Course()


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
        self, program: NamedProgram, model: Model, bounds: Bounds, course: Course = UNOBSERVED
    ) -> Exploration:
        """Explore one program. Raises BadInput for a malformed cat file, and Unsupported for
        operations of the program without a meaning."""
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
        if model.acyclic == "none":
            why = f"{model.name}, which allows values out of thin air"
        elif found := _unsuitable(model):
            why = f"{model.name}: {found}"
        else:
            return ""
        return f"programs are not explored under {why}; their tests are checked"

    def explore(
        self, program: NamedProgram, model: Model, bounds: Bounds, course: Course = UNOBSERVED
    ) -> Exploration:
        """See Explorer. What violates the program is looked for under the model of the standard's
        earlier editions too, in the time that is left."""
        if self.end.passed:
            name = program_name(program.structure, program.scenario)
            return Exploration(program=name, model=model.name, result="Unknown")
        bounds = msgspec.structs.replace(bounds, seconds=self.end.at_most(bounds.seconds))

        end = ending(min(bounds.seconds, self.rest))
        found = self._under(program, model, bounds, course)
        left = end.left
        if not model.earlier or not found.violations or left <= 0:
            return found
        before = models.load()[model.earlier]
        within = msgspec.structs.replace(bounds, seconds=left)
        return _compared(found, self._under(program, before, within, Course(course.done)))

    def _under(
        self, program: NamedProgram, model: Model, bounds: Bounds, course: Course
    ) -> Exploration:
        """See Explorer; what this model alone says."""

        def answer(
            part: Part, limits: Bounds, earlier: bytes | None, keep: Keep | None
        ) -> tuple[ExplorationDict, Exploration]:
            own = Course(course.done, earlier, keep)
            found = asked(program.program, model, limits, own, jobs=self.jobs, part=part)
            return found, exploration_of(found, program, model, bounds, part)

        limits = msgspec.structs.replace(bounds, seconds=min(bounds.seconds, self.rest))
        part = self.part
        if not part.fallback:
            return answer(part, limits, course.earlier, course.keep)[1]
        left: list[bytes] = []
        end = ending(bounds.seconds)

        def rest() -> Bounds:
            return msgspec.structs.replace(bounds, seconds=end.left)

        try:
            half = msgspec.structs.replace(bounds, seconds=bounds.seconds * _HALF)
            found, exploration = answer(part.whole, half, course.earlier, left.append)
            if found["limit"] != "seconds" or exploration.violations or not end.left:
                return exploration
            _, more = answer(msgspec.structs.replace(part, fallback=False), rest(), None, None)
            if more.result == "Unknown" and end.left:
                _, again = answer(part.whole, rest(), left.pop(), left.append)
                resumed = exploration.resumed if again.resumed else 0
                exploration = msgspec.structs.replace(again, resumed=resumed)
            return _completed(exploration, more)
        finally:
            if left and course.keep is not None:
                course.keep(left[-1])

    def explore_share(
        self,
        program: NamedProgram,
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
            program.program,
            model,
            msgspec.structs.replace(bounds, seconds=seconds),
            Course(earlier=share, keep=left.append),
            jobs=self.jobs,
            part=self.part,
            share=True,
        )
        if not left:
            return None
        return Share(
            left=left[-1],
            executions=executions_of(found),
            earlier=found["earlier"],
            complete=not _engine.divide(left[-1], 1)[1],
            resumed=found["resumed"],
        )


def asked(
    program: Program,
    model: Model,
    bounds: Bounds,
    course: Course = UNOBSERVED,
    *,
    jobs: int = 0,
    part: Part = ALL,
    stop_at_first: bool = False,
    share: bool = False,
) -> ExplorationDict:
    """The engine's answer for a program, as its binding returns it. A part of the executions is not
    resumed, and is explored without what it is a fallback for."""
    model = model.of_programs
    if model.one_size:
        part = msgspec.structs.replace(part, mixed_sizes=False)
    resumes = part == part.whole and not part.reference
    return program.explore(
        model.path,
        bounds=bounds,
        part=part,
        folders=[str(folder) for folder in models.include_folders(model)],
        acyclic=None if model.acyclic == "none" else model.acyclic,
        jobs=jobs or processors.most(),
        stop_at_first=stop_at_first,
        share=share,
        resume=course.earlier if resumes else None,
        keep=course.keep if resumes else None,
        done=course.done,
    )


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
        incomplete=(part.incomplete[0], *found.incomplete),
    )


def _compared(found: Exploration, earlier: Exploration) -> Exploration:
    """The exploration, with those violations marked that the model of earlier editions excludes:
    nothing of the kind happens under it at any of their sites, and no limit was reached."""

    def absent(violation: Violation) -> bool:
        return not earlier.incomplete and not any(
            each.key == violation.key
            or (each.kind == violation.kind and set(each.sites) & set(violation.sites))
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
