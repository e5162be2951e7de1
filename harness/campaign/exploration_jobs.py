"""The question which violations of a program a model allows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

import msgspec

from weakspot import __version__
from weakspot.harness.campaign.frontiers import Frontier
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.checkers.explorer import Course, Done, Explorer, Keep
from weakspot.harness.corpus.material import ScenarioProgram
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.reason import Reason
from weakspot.harness.values.record import key
from weakspot.system.deadline import ending
from weakspot.system.processors import cores

JOBS_PER_CORE = 8
"""How many programs are explored side by side. A process that is killed loses that many answers."""


class Explore(Job, frozen=True, kw_only=True):
    """Which violations of the program does the model allow? The answer is an Exploration."""

    program: ScenarioProgram
    model: Model
    bounds: Bounds
    explorer: Explorer
    frontier: Frontier = Frontier()
    of_budget: bool = False
    """Whether the time limit is a share of a budget: then an answer that it truncates, of which
    there is always one, holds for this command only."""

    phase = "exploring"
    batch = "exploring"
    is_long = True

    @property
    def asked_models(self) -> Iterable[Model]:
        return (self.model,)

    @property
    def together(self) -> int:
        # answers are reported in the order of the jobs, and so wait for those before them
        return JOBS_PER_CORE * cores()

    def on_one_core(self) -> Self:
        return msgspec.structs.replace(self, explorer=self.explorer.on_one_core or self.explorer)

    def within(self, seconds: float) -> Self:
        bounds = msgspec.structs.replace(self.bounds, seconds=seconds)
        return msgspec.structs.replace(self, bounds=bounds, of_budget=True)

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        from weakspot.harness.campaign.pace import ExplorationPace

        answers = cls._quick(jobs, sink) if len(jobs) > 1 else {}
        for job in jobs:
            if (answer := answers.get(job.key)) is not None:
                sink.answered(job, answer)
                continue
            if job.of_budget and not job.bounds.seconds:
                sink.answered(job, job.unknown(), final=False)
                continue
            sink.at(job.what)
            end = ending(job.bounds.seconds)
            pace = ExplorationPace(job.what, job.bounds.seconds, sink.at)
            try:
                answer = job.explored(job.explorer, pace)
            except KeyboardInterrupt:
                answer = job.unknown(interrupted=True, executions=pace.count, seconds=pace.elapsed)
                sink.answered(job, answer, final=False)
                raise
            truncated = job.of_budget and answer.result == "Unknown" and end.passed
            sink.answered(job, answer, final=not truncated)

    @classmethod
    def _quick(cls, jobs: Sequence[Self], sink: Sink) -> dict[str, Exploration]:
        """The answers of the jobs that take little time, by their keys; after Ctrl-C they are
        reported at once."""
        from weakspot.harness.campaign.several_programs import side_by_side

        answers: dict[str, Exploration] = {}
        alone = {job.key: one for job in jobs if (one := job.explorer.on_one_core) is not None}

        def found(job: Self, answer: Exploration) -> None:
            answers[job.key] = answer
            sink.at(f"{len(answers):,} of {len(alone):,} explored")

        asked = [job for job in jobs if job.key in alone]
        asked.sort(key=lambda job: len(job.program.generated.program.sites), reverse=True)
        try:
            side_by_side(
                asked, lambda job, done: job.explored(alone[job.key], done), found, cores=cores()
            )
        except KeyboardInterrupt:
            for job in jobs:
                if job.key in answers:
                    sink.answered(job, answers[job.key])
            raise
        return answers

    @property
    def what(self) -> str:
        return f"{self.program.name} under {self.model.name}"

    def explored(self, explorer: Explorer, done: Done) -> Exploration:
        """What the explorer finds."""

        def explore(earlier: bytes | None, keep: Keep | None) -> Exploration:
            course = Course(done, earlier, keep)
            return explorer.explore(self.program.named, self.model, self.bounds, course)

        return self.frontier.explored(self.question, explore, lambda: self.is_current)

    @property
    def question(self) -> str:
        """What an exploration that is resumed has to have asked: all that its executions depend
        on."""
        if self.frontier.path is None:
            return ""
        digests = self.program.generated.program.digest, self.model.digest_of_text
        limits = map(str, self.bounds.of_executions)
        return key(__version__, *digests, self.explorer.version, self.program.name, *limits)

    def unknown(
        self, *, interrupted: bool = False, executions: int = 0, seconds: float = 0.0
    ) -> Exploration:
        """The answer when the exploration did not end, or did not begin."""
        return Exploration(
            program=self.program.name,
            model=self.model.name,
            result="Unknown",
            complete=executions,
            seconds=round(seconds, 6),
            incomplete=(Reason(kind="interrupted"),) if interrupted else (),
            limits=("stopped",) if interrupted else (),
        )
