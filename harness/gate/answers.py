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
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput, Interrupted, LimitReached, WeakspotError
from weakspot.generators.litmus import Test, read_test
from weakspot.harness.campaign import plan
from weakspot.harness.campaign.cache import CacheStore, project_folder
from weakspot.harness.campaign.executor import LocalExecutor, TimedExecutor, ask
from weakspot.harness.campaign.frontiers import Frontiers
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.corpus import models
from weakspot.harness.corpus.material import default_models
from weakspot.harness.corpus.models import Model
from weakspot.harness.gate.config import Config
from weakspot.harness.gate.jobs import (
    Answer,
    CheckScenario,
    ExploreScenario,
    Scenario,
    ScenarioJob,
    Unreadable,
    used_up,
)
from weakspot.harness.gate.outcome import ScenarioResult
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.descriptions import resumption
from weakspot.system import cache
from weakspot.system.deadline import Deadline
from weakspot.system.processors import cores

COMPARED = ("sc", "tso")
"""A program that violates something is explored under these too, to show where it happens: sc is
what memory orders cannot repair, tso is x86."""

_SHORTEST_ROUND = 0.1
"""Seconds for which it is worth asking again."""


KEYS = MappingProxyType(
    {
        "loops": "unroll =",
        "executions": "executions =",
        "events": "events =",
        "instructions": "instructions =",
        "calls": "calls =",
    }
)
"""The key in the table [gate] that sets each of the limits."""


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    """A question with its answer; `unchanged` if an earlier run has left it."""

    job: ScenarioJob
    answer: Answer
    unchanged: bool

    @property
    def violated(self) -> bool:
        found = self.answer.exploration
        return found is not None and bool(found.violations)


class Answers:
    """The answers about scenarios, within the configured budget. `answered` are those so far, in
    the order of the scenarios; `refused` are questions that cannot be asked: a program under a
    model under which none can be explored; `unreadable` are the scenarios that cannot be read or
    compiled, about which nothing more is asked. `notes` are about the repairs; `tests` are the
    litmus files among the scenarios; `ends` is when the budget is used up; `seconds` is
    the time that each question took, by key."""

    def __init__(
        self,
        config: Config,
        *,
        cached: bool,
        progress: Progress,
        executor: TimedExecutor | None = None,
    ) -> None:
        self.config, self.progress = config, progress
        self._executor = executor or LocalExecutor()
        self.notes: list[str] = []
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.answered: list[Answered] = []
        self.refused: list[ScenarioResult] = []
        self.unreadable: dict[str, Unreadable] = {}
        self.tests: dict[str, Test] = {}
        self.ends = time.monotonic() + config.budget
        known = project_folder(config.root) if cached else None
        self.folder = known and known / "answers"
        self._frontiers = Frontiers(known and known / "frontiers")
        self._store = CacheStore(self.folder, Answer)
        self._scenarios: dict[str, Scenario] = {}
        self._digests: dict[Path, str] = {}
        self._explorer = EngineExplorer(part=config.explore.part)
        self._checker = Engine()

    def ask(self, files: Sequence[str]) -> None:
        """Answer every question about the scenarios. Raises Stopped on Ctrl-C.

        Each gets a share of the budget. What the others leave of it goes to those that it did not
        suffice for, which resume, until all is answered or no time is left.
        """
        self._read(files)
        jobs = [job for file in files for job in self._readable_jobs(file)]
        further = max(len(self.config.machine_models), len(COMPARED))
        later = further * len({job.file for job in jobs})
        while jobs:
            self._ask(jobs, later=later)
            weaker = [job for file in files for job in self._weaker(file)]
            self._ask(weaker, later=len(COMPARED) * len({job.file for job in weaker}))
            compared = [job for file in files for job in self._compared(file)]
            self._ask(compared, later=len({job.file for job in compared}))
            left = self.ends - time.monotonic() > _SHORTEST_ROUND
            jobs = self._unfinished() if left else []
            later = len({each.job.file for each in self.answered if each.violated})  # repairs
            later += further * (len({job.file for job in jobs}) - 1)  # one alone gets all
            for job in jobs:
                self._store.forget(job.key)
        place = {file: at for at, file in enumerate(files)}
        self.answered.sort(key=lambda each: place[each.job.file])

    def path(self, file: str) -> Path:
        """A file of the project as errors name it: relative to where the user is."""
        return Path(os.path.relpath(self.config.root / file))

    def _unfinished(self) -> list[ScenarioJob]:
        """The questions that their share of the budget did not suffice for."""
        return [
            each.job
            for each in self.answered
            if not each.job.compared
            and each.answer.unknown
            and each.job.key in self._store.open
            and each.job.scenario.is_current
        ]

    def _ask(self, jobs: Sequence[ScenarioJob], *, later: int) -> None:
        """Ask the questions, and leave time for so many that may follow."""
        if not jobs:
            return
        begun = time.monotonic()
        until = begun + max(0.0, self.ends - begun) * len(jobs) / (len(jobs) + later)
        try:
            ask(jobs, self._store, self._executor.until(until), progress=self.progress)
        finally:
            known = {each.job.key for each in self.answered}
            again = {job.key for job in jobs} & known
            self.answered = [each for each in self.answered if each.job.key not in again]
            answered = [
                Answered(
                    job=job,
                    answer=self._store.get(job.key),
                    unchanged=job.key in self._store.stored,
                )
                for job in jobs
                if self._store.has(job.key)
            ]
            for each in answered:
                if each.answer.unreadable is not None:
                    self.unreadable.setdefault(each.job.file, each.answer.unreadable)
            answered = [each for each in answered if each.job.file not in self.unreadable]
            self.answered += answered
            for each in answered:
                self.seconds[each.job.key] += each.answer.seconds
            self.notes += [
                f"{each.job.file} under {each.job.model.name}: {note}"
                for each in answered
                if each.answer.exploration is not None
                and not each.unchanged
                and each.job.key not in again
                for note in resumption(each.answer.exploration)
            ]

    # --- questions ------------------------------------------------------------------------------

    def _read(self, files: Sequence[str]) -> None:
        """Read the programs, several at a time: preprocessing them is most of the time of a run in
        which nothing has changed."""

        def read(file: str) -> None:
            with contextlib.suppress(WeakspotError):  # raised again where the question is needed
                _ = self._scenario(file).question

        programs = [file for file in files if not file.endswith(".litmus")]
        with ThreadPoolExecutor(max_workers=cores()) as pool:
            list(pool.map(read, programs))

    def _readable_jobs(self, file: str) -> list[ScenarioJob]:
        try:
            return list(self._jobs(file))
        except Interrupted:
            raise
        except LimitReached:
            why = used_up(self.config.budget)
            self.refused += [
                ScenarioResult(file=file, model=model.name, result="Unknown", reasons=(why,))
                for model in self.config.models
            ]
            return []
        except WeakspotError as error:
            self.unreadable[file] = Unreadable.of(error)
            return []

    def _jobs(self, file: str) -> Iterator[ScenarioJob]:
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
                yield self._job(file, model)

    def _weaker(self, file: str) -> Iterator[ScenarioJob]:
        """A program that is safe so far, under the models of machines."""
        here = [each for each in self.answered if each.job.file == file]
        pairs = ((each.job.model, each.answer.exploration) for each in here)
        explored = ((model, found) for model, found in pairs if found is not None)
        for model in plan.next_models(explored, self.config.machine_models):
            if why := self._explorer.applicable(model):
                self.notes.append(f"{file}: {why}")
            else:
                yield self._job(file, model)

    def _compared(self, file: str) -> Iterator[ScenarioJob]:
        """What shows where a violation happens, if there is one."""
        here = [each for each in self.answered if each.job.file == file]
        if any(each.violated for each in here):
            for name in COMPARED:
                if name not in {each.job.model.name for each in here}:
                    yield self._job(file, models.resolve(name), compared=True)

    def _job(self, file: str, model: Model, *, compared: bool = False) -> ScenarioJob:
        scenario = self._scenario(file)
        key = self._key(scenario, model)
        if scenario.test is not None:
            return CheckScenario(key=key, scenario=scenario, model=model, checker=self._checker)
        return ExploreScenario(
            key=key,
            scenario=scenario,
            model=model,
            compared=compared,
            budget=self.config.budget,
            explorer=self._explorer,
            frontier=self._frontiers.of(scenario.name, model.name),
        )

    def _scenario(self, file: str) -> Scenario:
        if file not in self._scenarios:
            self._scenarios[file] = Scenario(
                name=file,
                path=self.path(file),
                test=self.tests.get(file),
                build=self.config.build,
                bounds=bounds(self.config),
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


def bounds(config: Config) -> Bounds:
    """The limits of an exploration that a project's configuration sets."""
    gate = config.gate
    return Bounds(
        loops=gate.unroll or config.explore.loops or 0,
        executions=gate.executions,
        events=gate.events,
        instructions=gate.instructions,
        calls=gate.calls,
        given=KEYS,
    )
