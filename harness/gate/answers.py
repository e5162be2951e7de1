"""The answers that a run of the gate rests on: each scenario under each configured model, and where
a scenario violates something, under the models that show where that happens.

Answers are stored in the project's `.weakspot`, under a key of all that is known before the files
are read; see campaign.cache.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import MappingProxyType

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput, Interrupted, WeakspotError
from weakspot.generators.litmus import Test, read_test
from weakspot.harness.campaign import plan
from weakspot.harness.campaign.cache import CacheStore, project_folder
from weakspot.harness.campaign.executor import LocalExecutor, TimedExecutor, ask
from weakspot.harness.campaign.frontiers import Frontiers
from weakspot.harness.campaign.jobs import model_digest
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
)
from weakspot.harness.gate.outcome import ScenarioResult
from weakspot.harness.values.bounds import DEFAULT, Bounds
from weakspot.harness.values.descriptions import resumption
from weakspot.system import cache

COMPARED = ("sc", "tso")
"""A program that violates something is explored under these too, to show where it happens: sc is
what memory orders cannot repair, tso is x86."""


KEYS = MappingProxyType(
    {
        "loops": "unroll =",
        "executions": "executions =",
        "seconds": "a budget that leaves more than",
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


class Answers:
    """The answers about scenarios, within the configured budget. `answered` are those so far, in
    the order of the scenarios; `refused` are questions that cannot be asked: a program under a
    model under which none can be explored; `unreadable` are the scenarios that cannot be read or
    compiled, about which nothing more is asked. `notes` are about the repairs; `tests` are the
    litmus files among the scenarios; `ends` is when the budget is used up."""

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
        """Answer every question about the scenarios. Raises Stopped on Ctrl-C."""
        jobs = [job for file in files for job in self._readable_jobs(file)]
        self._ask(jobs)
        self._ask([job for file in files for job in self._weaker(file)])
        self._ask([job for file in files for job in self._compared(file)])
        place = {file: at for at, file in enumerate(files)}
        self.answered.sort(key=lambda each: place[each.job.file])

    def path(self, file: str) -> Path:
        """A file of the project as errors name it: relative to where the user is."""
        return Path(os.path.relpath(self.config.root / file))

    def _ask(self, jobs: Sequence[ScenarioJob]) -> None:
        try:
            ask(jobs, self._store, self._executor.until(self.ends), progress=self.progress)
        finally:
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
            self.notes += [
                f"{each.job.file} under {each.job.model.name}: {note}"
                for each in answered
                if each.answer.exploration is not None and not each.unchanged
                for note in resumption(each.answer.exploration)
            ]

    # --- questions ------------------------------------------------------------------------------

    def _readable_jobs(self, file: str) -> list[ScenarioJob]:
        try:
            return list(self._jobs(file))
        except Interrupted:
            raise
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
        if not plan.is_safe((model, found) for model, found in pairs if found is not None):
            return
        for model in self.config.machine_models:
            if model.name in {each.job.model.name for each in here}:
                continue
            if why := self._explorer.applicable(model):
                self.notes.append(f"{file}: {why}")
            else:
                yield self._job(file, model)

    def _compared(self, file: str) -> Iterator[ScenarioJob]:
        """What shows where a violation happens, if there is one."""
        here = [each for each in self.answered if each.job.file == file]
        found = (each.answer.exploration for each in here)
        if any(exploration and exploration.violations for exploration in found):
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
            )
        return self._scenarios[file]

    def _key(self, scenario: Scenario, model: Model) -> str:
        """All that the answer depends on."""
        if model.path not in self._digests:
            self._digests[model.path] = model_digest(model.path, model.of_programs.path)
        digest = self._digests[model.path]
        parts = [__version__, self._explorer.version, scenario.name, model.name, digest]
        if scenario.test is None:
            parts += [scenario.question.key, *_limits(scenario.bounds)]
        else:
            parts.append(cache.digest(scenario.test.text))
        return " ".join(parts)


def bounds(config: Config) -> Bounds:
    """The limits of an exploration that a project's configuration sets."""
    gate = config.gate
    return Bounds(
        loops=gate.unroll or config.explore.loops or DEFAULT.loops,
        executions=gate.executions,
        events=gate.events,
        instructions=gate.instructions,
        calls=gate.calls,
        given=KEYS,
    )


def _limits(bounds: Bounds) -> tuple[str, ...]:
    limits = (bounds.executions, bounds.events, bounds.instructions, bounds.calls)
    return (str(bounds.loops), *map(str, limits))
