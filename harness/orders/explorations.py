"""Explorations of programs under other memory orders, asked through the executor and stored in
memory: a question that is asked twice is answered once.

The key of a question has the program's digest, which differs where one memory order does.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self, cast

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.pipeline import NamedProgram
from weakspot.generators.source.program import Program
from weakspot.harness.campaign.executor import Executor, LocalExecutor, answer_of, ask
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.campaign.plan import models
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.checkers.explorer import EngineExplorer, asked
from weakspot.harness.corpus.models import Model, load
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.record import program_name
from weakspot.system.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict


_SHORTEST = 0.001  # seconds of an exploration


class ExploreOrders(Job, frozen=True, kw_only=True):
    """What does the program violate? The answer is the engine's, which names sites by number; of a
    `named` program it is an Exploration, with the litmus tests of the violations. `threads` is how
    many explore it, 0 for one per core."""

    program: Program
    model: Model
    bounds: Bounds
    named: NamedProgram | None = None
    threads: int = 1
    stop_at_first: bool = True
    end: Deadline = NEVER

    phase = "exploring"

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        for job in jobs:
            seconds = max(job.end.at_most(job.bounds.seconds), _SHORTEST)
            limits = msgspec.structs.replace(job.bounds, seconds=seconds)
            if job.named is not None:
                explorer = EngineExplorer(jobs=job.threads)
                sink.answered(job, explorer.under(job.named, job.model, limits))
                continue
            answer = asked(
                job.program,
                job.model,
                limits,
                jobs=job.threads,
                stop_at_first=job.stop_at_first,
            )
            sink.answered(job, answer)


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
        question = self._question(
            program, stop_at_first=stop_at_first, threads=threads, endless=endless
        )
        return cast("ExplorationDict", self._decisive(question))

    def explained(self, program: NamedProgram) -> Exploration:
        """What the program violates, with the litmus tests of that."""
        return cast(Exploration, self._decisive(self._question(program.program, named=program)))

    def _decisive(self, question: ExploreOrders) -> object:
        """The answer under the first model under which the program is not safe, or the last."""
        for under in self._models:
            answer = answer_of(self._under(question, under), self._store, self._executor)
            if _result(answer) != "Safe":
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
                if _result(self._store.get(job.key)) == "Safe"
            ]

    def _question(
        self,
        program: Program,
        *,
        named: NamedProgram | None = None,
        stop_at_first: bool = True,
        threads: int = 1,
        endless: bool = False,
    ) -> ExploreOrders:
        bounds = self.bounds
        if endless:
            bounds = msgspec.structs.replace(bounds, loops=bounds.first_loops)
        name = program_name(named.structure, named.scenario) if named is not None else ""
        return ExploreOrders(
            key=f"{program.digest}:{name}:{threads}:{stop_at_first}:{endless}",
            program=program,
            model=self.model,
            bounds=bounds,
            named=named,
            threads=threads,
            stop_at_first=stop_at_first,
            end=self.end,
        )

    def _under(self, question: ExploreOrders, under: str) -> ExploreOrders:
        """The question under one of the models."""
        key = f"{question.key}:{under}"
        return msgspec.structs.replace(question, key=key, model=self._models[under])


def _result(answer: Any) -> str:
    return answer.result if isinstance(answer, Exploration) else answer["result"]


def within(exploration: ExplorationDict) -> bool:
    """Whether the loop bound is the only limit reached: all executions within it are known."""
    return exploration["limits"] == ["loops"] and exploration["limit"] is None


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
