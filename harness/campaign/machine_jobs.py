"""What machines show of programs and tests."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Self

from weakspot.generators.litmus import Test
from weakspot.harness.campaign.jobs import MachineJob, Sink
from weakspot.harness.runners import Runner
from weakspot.harness.values.histogram import INTERRUPTED, Histogram
from weakspot.harness.values.numbers import amount
from weakspot.harness.values.program_run import ProgramRun

if TYPE_CHECKING:
    from weakspot.generators.source.program import Program

ProgramRunner = Callable[..., None]
"""Runs whole programs on a machine: whole_programs.run."""


class RunProgram(MachineJob, frozen=True, kw_only=True):
    """Which assertions of the program fail on the machine? The answer is a ProgramRun."""

    name: str
    program: Program
    seconds: float
    runner: ProgramRunner

    @property
    def phase(self) -> str:
        return f"running programs on {self.on.name}"

    @property
    def label(self) -> str:
        return f"programs on {self.on.name}"

    @property
    def batch(self) -> Hashable:
        return "programs", self.on.name

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        by_name = {job.name: job for job in jobs}

        def done(run: ProgramRun) -> None:
            sink.answered(by_name[run.program], run, final=run.ended_early != INTERRUPTED)

        first = jobs[0]
        programs = [(job.name, job.program) for job in jobs]
        first.runner(programs, first.on, seconds=first.seconds, done=done, end=first.end)


class RunTest(MachineJob, frozen=True, kw_only=True):
    """Which outcomes does the machine show for the test? The answer is a Histogram; that of a test
    whose machine was lost meanwhile, or that was interrupted, is not final."""

    test: Test
    runner: Runner
    seconds: float

    @property
    def phase(self) -> str:
        return f"running on {self.on.name} with {self.runner.name}"

    @property
    def label(self) -> str:
        return f"{self.runner.name} on {self.on.name}"

    @property
    def batch(self) -> Hashable:
        return self.runner.name, self.on.name

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        by_test = {job.test.name: job for job in jobs}

        def done(histogram: Histogram) -> None:
            interrupted = histogram.parameters.get("ended_early") == INTERRUPTED
            final = not histogram.lost and not interrupted
            sink.answered(by_test[histogram.test], histogram, final=final)
            if histogram.target:
                sink.at(f"{histogram.test} seen {amount(histogram.target, 'time')}")

        first = jobs[0]
        tests = [job.test for job in jobs]
        first.runner.run(tests, first.on, seconds=first.seconds, done=done, end=first.end)
