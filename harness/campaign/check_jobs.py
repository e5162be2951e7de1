"""The questions about litmus tests: what a checker answers, also for the tests of folders, and
whether compiled code allows more."""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Self

import msgspec

from weakspot.generators.litmus import Test
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.checkers import Checker, FileChecker, FilesCheck
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.codegen import Codes
from weakspot.harness.values.verdict import PrintedVerdict, Verdict
from weakspot.system.deadline import ending

if TYPE_CHECKING:
    from weakspot._engine import LitmusFile
    from weakspot.harness.codegen.configurations import Configuration
    from weakspot.harness.codegen.operations import ProgramWithTests

TESTS_PER_COMPILATION = 40
"""How many tests are compiled together. An interruption loses the comparisons of that many."""

SHORTEST_CHECK = 0.001
"""Seconds of a check of which nothing is left of a budget."""

COMPARING = "comparing compiled code"
"""The phase of jobs that compare compiled code with its source."""


class Check(Job, frozen=True, kw_only=True):
    """What does the checker answer for the test under the model? The answer is a Verdict."""

    test: Test
    model: Model
    checker: Checker
    seconds: float
    of_budget: bool = False
    """As for Explore."""

    phase = "checking"

    @property
    def asked_models(self) -> Iterable[Model]:
        return (self.model,)

    @property
    def label(self) -> str:
        return f"{self.checker.name} under {self.model.name}"

    @property
    def kind(self) -> Hashable:
        return self.checker.name

    @property
    def batch(self) -> Hashable:
        return self.checker.name, self.model.name

    def within(self, seconds: float) -> Self:
        seconds = max(seconds, SHORTEST_CHECK)
        return msgspec.structs.replace(self, seconds=seconds, of_budget=True)

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        by_test = {job.test.name: job for job in jobs}
        first = jobs[0]
        end = ending(first.seconds)

        def done(verdict: Verdict) -> None:
            job = by_test[verdict.test]
            truncated = job.of_budget and verdict.observation == "Unknown" and end.passed
            sink.answered(job, verdict, final=not truncated)

        tests = [job.test for job in jobs]
        first.checker.check(tests, first.model, seconds=first.seconds, done=done)


class CheckFiles(Job, frozen=True, kw_only=True):
    """What does the checker answer for some files of a folder, each under its models? The answer
    is a tuple of PrintedVerdicts in this `form`, file by file. It holds as long as nobody writes
    the files: the key names their paths."""

    files: Sequence[LitmusFile]
    models: Sequence[tuple[Model, Container[str]]]
    """With the architectures of the files that are checked under each."""
    checker: FileChecker
    form: str
    seconds: float

    phase = "checking"

    @property
    def asked_models(self) -> Iterable[Model]:
        return (model for model, _ in self.models)

    @property
    def label(self) -> str:
        return self.checker.name

    @property
    def batch(self) -> Hashable:
        # each model is read once
        return self.checker.name, self.form, self.seconds

    @property
    def count(self) -> int:
        return len(self.files)

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        checks: dict[str, FilesCheck] = {}
        for at in range(0, len(jobs), FILE_JOBS_AT_ONCE):
            answers = [_FileAnswers(job) for job in jobs[at : at + FILE_JOBS_AT_ONCE]]
            try:
                cls._check(answers, checks, sink)
            except KeyboardInterrupt:
                for each in answers:
                    if any(each.found):
                        sink.answered(each.job, each.joined(), final=False)
                raise

    @classmethod
    def _check(cls, answers: list[_FileAnswers], checks: dict[str, FilesCheck], sink: Sink) -> None:
        """Check the files of jobs under one model after the other, and report each job as soon as
        it and those before it are answered. Answers that are reported are removed."""

        def report() -> None:
            while answers and not answers[0].left:
                each = answers.pop(0)
                sink.answered(each.job, each.joined())

        report()
        models = {model.name: model for each in answers for model, _ in each.job.models}
        for name, model in models.items():
            asked = [
                (each, number)
                for each in answers
                for under, numbers in each.asked
                if under.name == name
                for number in numbers
            ]

            def done(
                at: int, verdict: PrintedVerdict, asked: Sequence[tuple[_FileAnswers, int]] = asked
            ) -> None:
                answer, number = asked[at]
                answer.found[number].append(verdict)
                answer.left -= 1
                if not answer.left:
                    report()

            if name not in checks:
                job = answers[0].job
                checks[name] = job.checker.files_check(model, form=job.form, seconds=job.seconds)
            checks[name]([each.job.files[number] for each, number in asked], done)


FILE_JOBS_AT_ONCE = 8
"""How many jobs about files are performed at once. While a job is printed, processors work on the
next one, and none waits for the slowest test of a job but the last."""


class _FileAnswers:
    """What is known of a job about files: file by file, the verdicts under its models; the numbers
    of the files that are asked about under each; and how many verdicts are left."""

    def __init__(self, job: CheckFiles) -> None:
        self.job = job
        self.found: list[list[PrintedVerdict]] = [[] for _ in job.files]
        archs = [file.arch for file in job.files]
        self.asked = [
            (model, [number for number, arch in enumerate(archs) if arch in those])
            for model, those in job.models
        ]
        self.left = sum(len(numbers) for _, numbers in self.asked)

    def joined(self) -> tuple[PrintedVerdict, ...]:
        return tuple(verdict for of_file in self.found for verdict in of_file)


class CodeComparison(msgspec.Struct, frozen=True, kw_only=True):
    """What compiled code is compared with, and which: `language` are the models of the source, each
    check takes `seconds` at most. The tests' own C is compiled if it is `of_tests`, and the
    operations of `programs` as these execute them."""

    language: tuple[Model, ...]
    checker: Checker
    builds: tuple[Configuration, ...]
    seconds: float
    of_tests: bool = True
    programs: tuple[ProgramWithTests, ...] = ()


class Compare(Job, frozen=True, kw_only=True):
    """Does the compiled code of the test allow more than its source? The answer is Codes."""

    test: Test
    comparison: CodeComparison

    phase = COMPARING
    label = "comparing compiled code with tests"
    batch = "compiled code"

    @property
    def asked_models(self) -> Iterable[Model]:
        return self.comparison.language

    @property
    def together(self) -> int:
        # a program is executed once for all of its tests
        return 0 if self.comparison.programs else TESTS_PER_COMPILATION

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        from weakspot.harness.codegen.check import CodegenCheck

        how = jobs[0].comparison
        inspection = CodegenCheck(
            [job.test for job in jobs],
            how.language,
            how.checker,
            tests_too=how.of_tests,
            programs=how.programs,
        )

        def answer(*, final: bool) -> None:
            found = inspection.answers()
            for job in jobs:
                codes = tuple(each for each in found if each.source == job.test.name)
                if final or codes:
                    sink.answered(job, Codes(job.test.name, codes), final=final)

        try:
            sink.at("compiling")
            inspection.compile(how.builds, lambda: None)
            sink.at("checking")
            inspection.check(how.seconds, lambda: None)
        except KeyboardInterrupt:
            answer(final=False)
            raise
        answer(final=True)
