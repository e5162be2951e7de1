"""Explorations of programs under other memory orders, asked through the executor and stored in
memory: a question that is asked twice is answered once.

The key of a question has the program's digest, which differs where one memory order does.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.cycles.patterns import Habits
from weakspot.generators.pipeline import NamedProgram
from weakspot.generators.source.program import Program
from weakspot.harness.campaign.executor import Executor, LocalExecutor, answer_of, ask
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.plan import models
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.checkers.engine_answers import exploration_of, reasons_of
from weakspot.harness.checkers.explorer import UNOBSERVED, Course, EngineExplorer, asked
from weakspot.harness.corpus.material import ScenarioProgram
from weakspot.harness.corpus.models import Model, load
from weakspot.harness.values.bounds import ALL, Bounds
from weakspot.harness.values.exploration import Exploration
from weakspot.system.deadline import NEVER, Deadline

_SHORTEST = 0.001  # seconds of an exploration


class OrdersExploration(Exploration, frozen=True, kw_only=True):
    """An exploration, with the sites of the first violation's witness by number: those of fences
    that were added are not in the source."""

    witness_sites: frozenset[int] = frozenset()


class OrdersExplorer(EngineExplorer, frozen=True):
    """The engine, for what a program violates under other memory orders. With one thread, and if it
    stops at the `first` violation, that is always the same; otherwise the answer has the litmus
    tests of all violations."""

    first: bool = True

    def explore(
        self, program: NamedProgram, model: Model, bounds: Bounds, course: Course = UNOBSERVED
    ) -> OrdersExploration:
        """See Explorer. Nothing is resumed."""
        seconds = max(self.end.at_most(bounds.seconds), _SHORTEST)
        limits = msgspec.structs.replace(bounds, seconds=seconds)
        own = Course(course.done)
        found = asked(program.program, model, limits, own, jobs=self.jobs, stop_at_first=self.first)
        answer = exploration_of(found, program, model, limits, ALL, tests=not self.first)
        witnesses = (each["witness"] for each in found["violations"][:1])
        events = (event for each in witnesses if each for event in each["events"])
        # a search states the limits that were reached; how to explore further is not its advice
        return OrdersExploration(
            **msgspec.structs.asdict(answer) | {"incomplete": tuple(reasons_of(found))},
            witness_sites=frozenset(event["site"] for event in events if event["site"] is not None),
        )


AHEAD = 32
"""How many questions are asked before it is known whether their answers are needed, where several
are answered at once."""


class Explorations:
    """The explorations of programs under one model and within the same bounds, none of which takes
    longer than until `end`. What is safe under the model is explored under those of `also`, one
    after the other, as long as it is safe; not if the model has primitives of its own, as the Linux
    kernel's has. An `executor` that is given performs several at once.
    `finished` counts the answers before the `end`, since the time `begun`."""

    def __init__(
        self,
        model: Model,
        bounds: Bounds,
        executor: Executor | None = None,
        *,
        also: Sequence[Model] = (),
        end: Deadline = NEVER,
    ) -> None:
        self.model, self.also = model, () if model.is_configuration else tuple(also)
        self.bounds, self.end = bounds, end
        self.begun, self.finished = time.monotonic(), 0
        self._store, self._executor = MemoryStore(), executor or LocalExecutor()
        self.ahead = 0 if executor is None else AHEAD
        self._models = {
            f"{each.of_programs.digest_of_text}:{each.name}:{bounds}": each
            for each in (model, *also)
        }

    def of(
        self,
        program: Program | NamedProgram,
        *,
        stop_at_first: bool = True,
        threads: int = 1,
        endless: bool = False,
    ) -> OrdersExploration:
        """What the program violates, under the first model under which it is not safe, or the last.
        With one thread, what is found first is always the same. The loops of an `endless` program
        are not followed further than at first."""
        question = self._question(
            program, stop_at_first=stop_at_first, threads=threads, endless=endless
        )
        for under in self._models:
            answer = self._answer(self._under(question, under))
            if answer.result != "Safe":
                break
        self.finished += not self.end.passed
        return answer

    def prepare(self, programs: Sequence[Program], *, endless: bool = False) -> None:
        """Have what `of` will find of the programs found at once, if the executor does that."""
        questions = [self._question(each, endless=endless) for each in programs]
        for under in self._models if self.ahead else ():
            jobs = [self._under(each, under) for each in questions]
            ask(jobs, self._store, self._executor)
            questions = [
                each
                for each, job in zip(questions, jobs, strict=True)
                if self._answer(job).result == "Safe"
            ]

    def _question(
        self,
        program: Program | NamedProgram,
        *,
        stop_at_first: bool = True,
        threads: int = 1,
        endless: bool = False,
    ) -> Explore:
        bounds = self.bounds
        if endless:
            bounds = msgspec.structs.replace(bounds, loops=bounds.first_loops)
        named = (
            program
            if isinstance(program, NamedProgram)
            else NamedProgram(program, Habits(), "", "")
        )
        subject = ScenarioProgram.of(named)
        return Explore(
            key=f"{named.program.digest}:{subject.name}:{threads}:{stop_at_first}:{endless}",
            program=subject,
            model=self.model,
            bounds=bounds,
            explorer=OrdersExplorer(jobs=threads, first=stop_at_first, end=self.end),
        )

    def _answer(self, question: Explore) -> OrdersExploration:
        answer = answer_of(question, self._store, self._executor)
        assert isinstance(answer, OrdersExploration)
        return answer

    def _under(self, question: Explore, under: str) -> Explore:
        """The question under one of the models."""
        key = f"{question.key}:{under}"
        return msgspec.structs.replace(question, key=key, model=self._models[under])


def within(exploration: Exploration) -> bool:
    """Whether the loop bound is the only limit reached: all executions within it are known."""
    return exploration.limits == ("loops",)


def explorable(names: Iterable[str]) -> list[Model]:
    """The models of these names. Raises BadInput for one that programs are not explored under."""
    chosen = models(names)
    for model in chosen:
        if why := EngineExplorer().applicable(model):
            own = (
                known.name for known in load().values() if not EngineExplorer().applicable(known)
            )
            raise BadInput(why, advice=f"{', '.join(own)} can be explored")
    return chosen
