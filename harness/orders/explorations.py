"""Explorations of programs under other memory orders, asked through the executor and stored in
memory: a question that is asked twice is answered once.

The key of a question has the program's digest, which differs where one memory order does.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import msgspec

from weakspot.generators.pipeline import NamedProgram
from weakspot.generators.source.program import Program
from weakspot.harness.campaign.executor import Executor, LocalExecutor, answer_of, ask
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.checkers.explorer import EngineExplorer, asked
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.record import program_name
from weakspot.system.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict


_SHORTEST = 0.001  # seconds of an exploration


class _OrdersJob(Job, frozen=True, kw_only=True):
    """What does a program violate?"""

    model: Model
    bounds: Bounds
    end: Deadline = NEVER

    @property
    def phase(self) -> str:
        return "exploring"

    @property
    def limits(self) -> Bounds:
        """The bounds, with what time is left."""
        seconds = max(self.end.at_most(self.bounds.seconds), _SHORTEST)
        return msgspec.structs.replace(self.bounds, seconds=seconds)


class ExploreOrders(_OrdersJob, frozen=True, kw_only=True):
    """What does the program violate? The answer is the engine's, which names sites by number.
    `threads` is how many explore it, 0 for one per core."""

    program: Program
    threads: int
    stop_at_first: bool

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        for job in jobs:
            found = asked(
                job.program,
                job.model,
                job.limits,
                jobs=job.threads,
                stop_at_first=job.stop_at_first,
            )
            sink.answered(job, found)


class ExplainOrders(_OrdersJob, frozen=True, kw_only=True):
    """What does the program violate, with the litmus tests of the violations? The answer is an
    Exploration."""

    program: NamedProgram

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        for job in jobs:
            sink.answered(job, EngineExplorer(jobs=1).under(job.program, job.model, job.limits))


AHEAD = 32
"""How many questions are asked before it is known whether their answers are needed, where several
are answered at once."""


class Explorations:
    """The explorations of programs under one model and within the same bounds, none of which takes
    longer than until `end`. What is safe under the model is explored under those of `also`, one
    after the other, as long as it is safe. An `executor` that is given performs several at once.
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
        self.model, self.also = model, tuple(also)
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
        program: Program,
        *,
        stop_at_first: bool = True,
        threads: int = 1,
        endless: bool = False,
    ) -> ExplorationDict:
        """What the program violates. With one thread, what is found first is always the same. The
        loops of an `endless` program are not followed further than at first."""
        found = self._decisive(
            lambda under: self._question(
                program, under, stop_at_first=stop_at_first, threads=threads, endless=endless
            ),
            lambda answer: answer["result"],
        )
        return cast("ExplorationDict", found)

    def _decisive(self, question: Callable[[str], Job], result: Callable[[Any], str]) -> Any:
        """The answer under the first model under which the program is not safe, or the last."""
        for under in self._models:
            answer = answer_of(question(under), self._store, self._executor)
            if result(answer) != "Safe":
                break
        self.finished += not self.end.passed
        return answer

    def prepare(self, programs: Sequence[Program], *, endless: bool = False) -> None:
        """Have what `of` will find of the programs found at once, if the executor does that."""
        for under in self._models if self.ahead else ():
            jobs = [self._question(each, under, endless=endless) for each in programs]
            ask(jobs, self._store, self._executor)
            found = (cast("ExplorationDict", self._store.get(job.key)) for job in jobs)
            programs = [
                each
                for each, answer in zip(programs, found, strict=True)
                if answer["result"] == "Safe"
            ]

    def _question(
        self,
        program: Program,
        under: str,
        *,
        stop_at_first: bool = True,
        threads: int = 1,
        endless: bool = False,
    ) -> ExploreOrders:
        bounds = self.bounds
        if endless:
            bounds = msgspec.structs.replace(bounds, loops=bounds.first_loops)
        return ExploreOrders(
            key=f"{program.digest}:{under}:{threads}:{stop_at_first}:{endless}",
            program=program,
            model=self._models[under],
            bounds=bounds,
            threads=threads,
            stop_at_first=stop_at_first,
            end=self.end,
        )

    def explained(self, program: NamedProgram) -> Exploration:
        """What the program violates, with the litmus tests of that."""
        name = program_name(program.structure, program.scenario)
        found = self._decisive(
            lambda under: ExplainOrders(
                key=f"{program.program.digest}:{under}:{name}",
                program=program,
                model=self._models[under],
                bounds=self.bounds,
                end=self.end,
            ),
            lambda answer: answer.result,
        )
        return cast(Exploration, found)
