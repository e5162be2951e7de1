"""Jobs: questions as frozen values, each with a key made of everything its answer depends on.

In: programs, tests, models, and the explorer, checker, runner or machine to ask. Out: through a
Sink, one answer per job. A kind of job is a subclass of Job that says which jobs can be performed
together and how; a backend needs to know no kind by name. Keys name the content first (program or
test, then the model), so that an answer about a source or a model that has changed since is not
used.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, Self

import msgspec

from weakspot import __version__
from weakspot.generators.litmus import Test
from weakspot.harness.campaign.frontiers import Frontier
from weakspot.harness.checkers import Checker, FileChecker, FilesCheck
from weakspot.harness.checkers.explorer import Done, Explorer, Keep
from weakspot.harness.corpus.material import ScenarioProgram
from weakspot.harness.corpus.models import Model
from weakspot.harness.machines import Machine
from weakspot.harness.runners import Runner
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.codegen import Codes
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import INTERRUPTED, Histogram
from weakspot.harness.values.numbers import amount
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import key
from weakspot.harness.values.verdict import PrintedVerdict, Verdict
from weakspot.system.deadline import NEVER, Deadline, ending
from weakspot.system.processors import cores

if TYPE_CHECKING:
    from weakspot._engine import LitmusFile
    from weakspot.generators.source.program import Program
    from weakspot.harness.codegen.configurations import Configuration
    from weakspot.harness.codegen.operations import ProgramWithTests

TESTS_PER_COMPILATION = 40
"""How many tests are compiled together. An interruption loses the comparisons of that many."""

JOBS_PER_CORE = 8
"""How many programs are explored side by side. A process that is killed loses that many answers."""

SHORTEST_CHECK = 0.001
"""Seconds of a check of which nothing is left of a budget."""

COMPARING = "comparing compiled code"
"""The phase of jobs that compare compiled code with its source."""

ProgramRunner = Callable[..., None]
"""Runs whole programs on a machine: whole_programs.run."""


class Sink(Protocol):
    """Where a job's answers go."""

    def answered(self, job: Job, answer: object, *, final: bool = True) -> None:
        """Takes the answer of a job as soon as it is known. An answer that is not `final` holds
        for this command only: the job was truncated or lost its machine, and will be asked again.
        """

    def at(self, text: str) -> None:
        """Reports how far the job in progress is."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One question. `key` is made of everything that the answer depends on."""

    key: str

    @property
    def phase(self) -> str:
        """What is being done, for the progress display."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """Names the tool, for the note about its failure: "herd7 under tso"."""
        return self.phase

    @property
    def machine(self) -> Machine | None:
        """The machine that the job has to itself; None for a job that may share a processor."""
        return None

    @property
    def batch(self) -> Hashable:
        """Consecutive jobs of one batch are performed together, at most `together` at a time."""
        return self.key

    @property
    def kind(self) -> Hashable:
        """Jobs of one kind take about equally long, unless more is known of each."""
        return type(self)

    @property
    def deadline(self) -> Deadline:
        """When the phase of the job has ended."""
        return NEVER

    @property
    def together(self) -> int:
        """How many jobs of a batch may be performed together; 0 for any number."""
        return 0

    @property
    def count(self) -> int:
        """How many questions of the user's the job answers, for the progress display."""
        return 1

    @property
    def is_long(self) -> bool:
        """Whether it takes so long that a worker performs it alone."""
        return False

    @property
    def asked_models(self) -> Iterable[Model]:
        """The models whose files are read while the job is performed."""
        return ()

    @property
    def is_current(self) -> bool:
        """Whether the files that the job reads while it is performed are still those that its key
        names; otherwise its answer is not stored."""
        return all(model.is_current for model in self.asked_models)

    def on_one_core(self) -> Self:
        """The same question for a worker that has no file of the user, and whose machine other jobs
        use at the same time."""
        return self

    def within(self, seconds: float) -> Self:  # noqa: ARG002
        """The same question with at most this much time for its answer."""
        return self

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        """Answer jobs of one batch. Raises MissingTool or ToolFailed where no answer is possible
        this time, and BadInput."""
        raise NotImplementedError


class MachineJob(Job, frozen=True, kw_only=True):
    """One question to a machine, which the job has to itself. `end` is when the last job of the
    batch must have ended."""

    on: Machine
    end: Deadline = NEVER

    @property
    def machine(self) -> Machine:
        return self.on

    @property
    def deadline(self) -> Deadline:
        return self.end


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

    @property
    def asked_models(self) -> Iterable[Model]:
        return (self.model,)

    @property
    def phase(self) -> str:
        return "exploring"

    @property
    def batch(self) -> Hashable:
        return "exploring"

    @property
    def together(self) -> int:
        # answers are reported in the order of the jobs, and so wait for those before them
        return JOBS_PER_CORE * cores()

    @property
    def is_long(self) -> bool:
        return True

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
                answer = job.unknown(INTERRUPTED, executions=pace.count, seconds=pace.elapsed)
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
            return explorer.explore(
                self.program.named,
                self.model,
                self.bounds,
                done=done,
                earlier=earlier,
                keep=keep,
            )

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

    def unknown(self, *why: str, executions: int = 0, seconds: float = 0.0) -> Exploration:
        """The answer when the exploration did not end, or did not begin."""
        return Exploration(
            program=self.program.name,
            model=self.model.name,
            result="Unknown",
            complete=executions,
            seconds=round(seconds, 6),
            reasons=why,
        )


class Check(Job, frozen=True, kw_only=True):
    """What does the checker answer for the test under the model? The answer is a Verdict."""

    test: Test
    model: Model
    checker: Checker
    seconds: float
    of_budget: bool = False
    """As for Explore."""

    @property
    def asked_models(self) -> Iterable[Model]:
        return (self.model,)

    @property
    def phase(self) -> str:
        return "checking"

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

    @property
    def asked_models(self) -> Iterable[Model]:
        return (model for model, _ in self.models)

    @property
    def phase(self) -> str:
        return "checking"

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
                at: int,
                verdict: PrintedVerdict,
                asked: Sequence[tuple[_FileAnswers, int]] = asked,
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


class Compare(Job, frozen=True, kw_only=True):
    """Does the compiled code of the test allow more than its source? The answer is Codes.

    `language` are the models of the source. With `programs` the code of their operations is
    compared, as they execute it; `of_test` says whether the test's own C is compiled too.
    """

    test: Test
    language: tuple[Model, ...]
    checker: Checker
    builds: tuple[Configuration, ...]
    seconds: float
    of_test: bool = True
    programs: tuple[ProgramWithTests, ...] = ()

    @property
    def asked_models(self) -> Iterable[Model]:
        return self.language

    @property
    def phase(self) -> str:
        return COMPARING

    @property
    def label(self) -> str:
        return "comparing compiled code with tests"

    @property
    def batch(self) -> Hashable:
        return "compiled code"

    @property
    def together(self) -> int:
        # a program is executed once for all of its tests
        return 0 if self.programs else TESTS_PER_COMPILATION

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        from weakspot.harness.codegen.check import CodegenCheck

        first = jobs[0]
        programs = {each.name: each for job in jobs for each in job.programs}
        inspection = CodegenCheck(
            [job.test for job in jobs],
            first.language,
            first.checker,
            tests_too=first.of_test,
            programs=tuple(programs.values()),
        )

        def answer(*, final: bool) -> None:
            found = inspection.answers()
            for job in jobs:
                codes = tuple(each for each in found if each.source == job.test.name)
                if final or codes:
                    sink.answered(job, Codes(job.test.name, codes), final=final)

        try:
            sink.at("compiling")
            inspection.compile(first.builds, lambda: None)
            sink.at("checking")
            inspection.check(first.seconds, lambda: None)
        except KeyboardInterrupt:
            answer(final=False)
            raise
        answer(final=True)


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
