"""The answers that a run of the gate rests on: each scenario under each configured model, and where
a scenario violates something, under the models that show where that happens.

Answers are stored in the project's `.weakspot`, under a key of all that is known before the files
are read; see campaign.cache.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput, Interrupted, LimitReached, WeakspotError
from weakspot.generators.litmus import Test, read_test
from weakspot.generators.source.build import Build, Entry
from weakspot.generators.source.language import MANIFEST
from weakspot.harness.campaign import plan
from weakspot.harness.campaign.cache import project_folder
from weakspot.harness.campaign.check_jobs import Check
from weakspot.harness.campaign.executor import Events, LocalExecutor, TimedExecutor, ask, stoppable
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.frontiers import Frontiers
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.corpus import models
from weakspot.harness.corpus.models import Model, default_models
from weakspot.harness.gate.config import Config
from weakspot.harness.gate.outcome import Note, ScenarioResult, source_of
from weakspot.harness.gate.scenarios import Answer, AnswerStore, Scenario
from weakspot.harness.values.descriptions import resumption
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.reason import Reason
from weakspot.harness.values.record import program_name
from weakspot.system import cache
from weakspot.system.deadline import Deadline, ending
from weakspot.system.processors import cores

COMPARED = ("sc", "tso")
"""A program that violates something is explored under these too, to show where it happens: sc is
what memory orders cannot repair, tso is x86."""

_SHORTEST_ROUND = 0.1
"""Seconds for which it is worth asking again."""


class Question(msgspec.Struct, frozen=True):
    """A scenario under a model. `compared` marks one whose answer only shows under which models a
    violation happens."""

    key: str
    scenario: Scenario
    model: Model
    compared: bool = False

    @property
    def file(self) -> str:
        return self.scenario.name


class Answered(msgspec.Struct, frozen=True):
    """A question with its answer; `unchanged` if an earlier run has left it."""

    question: Question
    answer: Answer
    unchanged: bool

    @property
    def file(self) -> str:
        return self.question.file

    @property
    def model(self) -> Model:
        return self.question.model

    @property
    def violated(self) -> bool:
        found = self.answer.exploration
        return found is not None and bool(found.violations)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the exploration."""
        found = self.answer.exploration
        return found is not None and "stopped" in found.limits


class Answers(Events):
    """The answers about scenarios, within the configured budget. `refused` are questions that
    cannot be asked: a program under a model under which none can be explored; `unreadable` are the
    scenarios that cannot be read or compiled, about which nothing more is asked. `notes` are about
    the repairs; `tests` are the litmus files among the scenarios; `ends` is when the budget is used
    up; `seconds` is the time that each question took, by key."""

    def __init__(
        self,
        config: Config,
        *,
        cached: bool,
        progress: Progress,
        executor: TimedExecutor | None = None,
    ) -> None:
        self.config, self.progress = config, progress
        self._files: tuple[str, ...] = ()
        self._executor = executor or LocalExecutor()
        self.notes: list[Note] = []
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self._answered: dict[str, Answered] = {}
        self.refused: list[ScenarioResult] = []
        self.unreadable: dict[str, WeakspotError] = {}
        self.tests: dict[str, Test] = {}
        self.ends = time.monotonic() + config.budget
        known = project_folder(config.root) if cached else None
        self.folder = known and known / "answers"
        self._frontiers = Frontiers(known and known / "frontiers")
        self._questions: dict[str, Question] = {}
        self._store = AnswerStore(self.folder, lambda key: self._questions[key].scenario)
        self._scenarios: dict[str, Scenario] = {}
        self._entries: dict[str, Entry] = {}
        self._digests: dict[Path, str] = {}
        self._explorer = EngineExplorer(part=config.explore.part)
        self._checker = Engine()

    def ask(self, files: Sequence[str]) -> None:
        """Answer every question about the scenarios. Raises Stopped on Ctrl-C.

        Each gets a share of the budget. What the others leave of it goes to what follows from their
        answers, and to those that it did not suffice for, which resume, until all is answered or no
        time is left.
        """
        self._files = files = tuple(self._named(files))
        self._read()
        configured = {file: self._readable(file) for file in files if file not in self.unreadable}
        while due := [
            question
            for file in configured
            for question in (*configured[file], *self._weaker(file), *self._compared(file))
            if self._is_due(question)
        ]:
            self._ask(due, later=self._following(due))

    def _is_due(self, question: Question) -> bool:
        """Whether the question was not asked yet, or its share of the budget did not suffice and
        there is more."""
        if question.file in self.unreadable or question.key not in self._questions:
            return question.file not in self.unreadable
        known = self._answered.get(question.key)
        return (
            known is not None
            and not question.compared
            and known.answer.unknown
            and not self._store.has(question.key)
            and question.scenario.is_current
            and self.ends - time.monotonic() > _SHORTEST_ROUND
        )

    def _following(self, due: Sequence[Question]) -> int:
        """How many questions may follow from the answers: a repair where something is violated, and
        further models; a scenario that is asked about again, alone, gets all of the time."""
        asked = [each for each in due if not each.compared]
        alone = all(each.key in self._answered for each in asked)
        further = max(len(self.config.machine_models), len(COMPARED))
        repairs = _files(each for each in self.answered if each.violated)
        return repairs + further * max(0, _files(asked) - alone)

    @property
    def answered(self) -> list[Answered]:
        """The answers so far, in the order of the scenarios."""
        place = {file: at for at, file in enumerate(self._files)}
        return sorted(self._answered.values(), key=lambda each: place[each.file])

    @property
    def used_up(self) -> str:
        """Why a question was not asked."""
        return f"the budget of {self.config.budget:g} s was used up before"

    def path(self, file: str) -> Path:
        """A file of the project as errors name it: relative to where the user is."""
        return Path(os.path.relpath(self.config.root / source_of(file)))

    def _ask(self, questions: Sequence[Question], *, later: int) -> None:
        """Ask the questions, and leave time for so many that may follow."""
        begun = time.monotonic()
        until = begun + max(0.0, self.ends - begun) * len(questions) / (len(questions) + later)
        self._questions |= {each.key: each for each in questions}
        try:
            with stoppable(self._store):
                jobs = list(self._jobs(questions, until))
            executor = self._executor.until(until)
            ask(jobs, self._store, executor, progress=self.progress, events=self)
        finally:
            self._take(questions)

    def _jobs(self, questions: Sequence[Question], until: float) -> Iterator[Job]:
        """The questions that are left to be asked, with their programs compiled; each takes an
        equal part of the time until then at most."""
        left = [each for each in questions if not self._store.has(each.key)]
        if left:
            self.progress.start(len(left), "reading scenarios")
        for number, each in enumerate(left):
            if each.file in self.unreadable:
                continue
            self.progress.at(each.file)
            seconds = max(0.0, until - time.monotonic()) / (len(left) - number)
            try:
                yield self._job(each, seconds)
            except Interrupted:
                raise
            except WeakspotError as error:
                self._without(each, error)
            self.progress.advance()

    def _job(self, question: Question, seconds: float) -> Job:
        """The question as a job. Raises what compiling its program does, within so many
        seconds."""
        scenario, model = question.scenario, question.model
        if scenario.test is not None:
            return Check(
                key=question.key,
                test=scenario.test,
                model=model,
                checker=self._checker,
                seconds=seconds,
            )
        if not seconds:
            raise LimitReached(self.used_up)
        return Explore(
            key=question.key,
            program=scenario.program(model.name, seconds, ending(seconds)),
            model=model,
            bounds=scenario.bounds,
            explorer=self._explorer,
            frontier=self._frontiers.of(scenario.name, model.name),
        )

    def failed(self, job: Job, error: WeakspotError) -> None:
        """See Events."""
        self._without(self._questions[job.key], error)

    def _without(self, question: Question, error: WeakspotError) -> None:
        """There was no time for the question, or its scenario cannot be read or compiled."""
        if not isinstance(error, LimitReached):
            self.unreadable.setdefault(question.file, error)
            return
        found = Exploration(
            program=program_name(question.file, Path(question.file).stem),
            model=question.model.name,
            result="Unknown",
            incomplete=(Reason(kind="refused", message=error.message),),
        )
        self._store.put(question.key, found, final=False)

    def _take(self, questions: Sequence[Question]) -> None:
        """The answers that are known after the questions were asked."""
        for each in questions:
            answer = self._store.get(each.key)
            if answer is None or each.file in self.unreadable:
                continue
            unchanged = each.key in self._store.stored
            if answer.exploration and not unchanged and each.key not in self._answered:
                self.notes += [
                    Note(each.file, f" under {each.model.name}: {note}")
                    for note in resumption(answer.exploration)
                ]
            self._answered[each.key] = Answered(each, answer, unchanged)
            self.seconds[each.key] += answer.seconds

    # --- questions ------------------------------------------------------------------------------

    def _read(self) -> None:
        """Read the programs, several at a time: preprocessing them is most of the time of a run in
        which nothing has changed."""

        def read(file: str) -> None:
            with contextlib.suppress(WeakspotError):  # raised again where the question is needed
                _ = self._scenario(file).question

        programs = [file for file in self._files if not file.endswith(".litmus")]
        with ThreadPoolExecutor(max_workers=cores()) as pool:
            list(pool.map(read, programs))

    def _named(self, files: Sequence[str]) -> Iterator[str]:
        """The scenarios, with those of a crate in place of its manifest."""
        for file in files:
            if Path(file).name != MANIFEST:
                yield file
                continue
            from weakspot.generators.source import crates  # which few need

            try:
                found = crates.entries(self.path(file), self.config.build, Deadline(self.ends))
            except Interrupted:
                raise
            except WeakspotError as error:
                self.unreadable[file] = error
                yield file
                continue
            for each in found:
                root = Path(os.path.relpath(each.target.root, self.config.root)).as_posix()
                self._entries[name := f"{root}::{each.test}"] = each
                yield name

    def _readable(self, file: str) -> list[Question]:
        try:
            return list(self._configured(file))
        except Interrupted:
            raise
        except LimitReached:
            why = self.used_up
            self.refused += [
                ScenarioResult(file=file, model=model.name, result="Unknown", reasons=(why,))
                for model in self.config.models
            ]
            return []
        except WeakspotError as error:
            self.unreadable[file] = error
            return []

    def _configured(self, file: str) -> Iterator[Question]:
        """The scenario under the configured models; a litmus test of another dialect under those
        that read it."""
        asked = self.config.models
        if file.endswith(".litmus"):
            test = self.tests[file] = read_test(self.path(file))
            asked = tuple(each for each in asked if not self._checker.applicable(test, each))
            asked = asked or tuple(map(models.resolve, default_models(test)))
            reasons = [self._checker.applicable(test, each) for each in asked]
        else:
            reasons = [self._explorer.applicable(each) for each in asked]
        if asked and all(reasons):
            raise BadInput(f"nothing decides {file}: {reasons[0]}", place=str(self.path(file)))
        for model, why in zip(asked, reasons, strict=True):
            if why:
                self.refused.append(
                    ScenarioResult(file=file, model=model.name, result="Unknown", reasons=(why,))
                )
            else:
                yield self._question(file, model)

    def _weaker(self, file: str) -> Iterator[Question]:
        """A program that is safe so far, under the models of machines."""
        here = [each for each in self.answered if each.file == file]
        pairs = ((each.model, each.answer.exploration) for each in here)
        explored = ((model, found) for model, found in pairs if found is not None)
        for model in plan.next_models(explored, self.config.machine_models):
            if why := self._explorer.applicable(model):
                if (note := Note(file, f": {why}")) not in self.notes:
                    self.notes.append(note)
            else:
                yield self._question(file, model)

    def _compared(self, file: str) -> Iterator[Question]:
        """What shows where a violation happens, if there is one."""
        here = [each for each in self.answered if each.file == file]
        if any(each.violated for each in here):
            for name in COMPARED:
                if name not in {each.model.name for each in here}:
                    yield self._question(file, models.resolve(name), compared=True)

    def _question(self, file: str, model: Model, *, compared: bool = False) -> Question:
        scenario = self._scenario(file)
        return Question(self._key(scenario, model), scenario, model, compared)

    def _scenario(self, file: str) -> Scenario:
        if file not in self._scenarios:
            build, entry = self.config.build, self._entries.get(file)
            self._scenarios[file] = Scenario(
                name=file,
                path=self.path(file),
                test=self.tests.get(file),
                build=Build(entry=entry).over(build) if entry else build,
                bounds=self.config.bounds,
                end=Deadline(self.ends),
            )
        return self._scenarios[file]

    def _key(self, scenario: Scenario, model: Model) -> str:
        """All that the answer depends on."""
        if model.path not in self._digests:
            self._digests[model.path] = model.digest_of_text
        digest = self._digests[model.path]
        parts = [__version__, self._explorer.version, scenario.name, model.name, digest]
        if scenario.test is None:
            limits = scenario.bounds
            numbers = (limits.loops, limits.executions, *limits.of_executions[1:])
            parts += [scenario.question.key, *map(str, numbers)]
        else:
            parts.append(cache.digest(scenario.test.text))
        return " ".join(parts)


def _files(questions: Iterable[Question | Answered]) -> int:
    """How many scenarios they are about."""
    return len({each.file for each in questions})
