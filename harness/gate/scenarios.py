"""The scenarios of a project: programs, litmus tests, and the tests of Rust crates.

In: the names of files. Out: a Scenario for each, and why others cannot be read. A program is
compiled when the first of its questions is asked, once for all of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from weakspot.errors import Interrupted, LimitReached, WeakspotError
from weakspot.generators.litmus import Test, read_test
from weakspot.generators.source import frontend
from weakspot.generators.source.build import Build
from weakspot.generators.source.language import MANIFEST
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.frontiers import Frontier
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.checkers.explorer import Explorer
from weakspot.harness.corpus.material import ScenarioProgram
from weakspot.harness.corpus.models import Model
from weakspot.harness.gate.config import Config
from weakspot.harness.gate.outcome import source_of
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.record import program_name
from weakspot.system import cache
from weakspot.system.deadline import Deadline, ending
from weakspot.system.processors import cores

if TYPE_CHECKING:
    from weakspot.generators.pipeline import Generated

_GENERATING = 0.3
"""The part of a question's time in which litmus tests are searched, which the gate does not check:
they tell what the program's accesses depend on."""


class Scenario:
    """A file of the project to ask about, or a test of a Rust crate, `FILE::TEST`. `name` is
    relative to the project's folder, `path` to where the user is. `compiled` is the program once it
    was compiled."""

    def __init__(self, name: str, path: Path, build: Build, bounds: Bounds, end: Deadline) -> None:
        self.name, self.path = name, path
        self.build, self.bounds, self.end = build, bounds, end
        self.compiled: Generated | None = None
        self._error: WeakspotError | None = None

    @cached_property
    def test(self) -> Test | None:
        """The test of a litmus file. Raises BadInput."""
        return read_test(self.path) if self.path.suffix == ".litmus" else None

    @property
    def program_name(self) -> str:
        """The name of its program in an Exploration."""
        return program_name(self.name, self._stem)

    @property
    def _stem(self) -> str:
        return Path(self.name).stem

    @cached_property
    def question(self) -> frontend.Question:
        """What the compiler is asked, with the content of the files. Raises what reading them
        does, and LimitReached at the `end`."""
        return frontend.question(self.path, build=self.build, end=self.end)

    @cached_property
    def identity(self) -> str:
        """All that an answer about it depends on, besides the model and the tools. Raises as
        `question`."""
        if self.test is not None:
            return cache.digest(self.test.text)
        limits = self.bounds
        numbers = (limits.loops, limits.executions, *limits.of_executions[1:])
        return " ".join((self.question.key, *map(str, numbers)))

    def program(self, model: str, seconds: float, reading: Deadline) -> ScenarioProgram:
        """The program, to be explored under a model for so many seconds. It is read the first time,
        until then. Raises BadInput, Unsupported, MissingTool, ToolFailed or LimitReached."""
        if self._error is not None:
            raise self._error
        if self.compiled is None:
            try:
                self.compiled = self.generated(seconds, reading)
            except WeakspotError as error:
                if not isinstance(error, Interrupted | LimitReached):
                    self._error = error
                raise
        return ScenarioProgram(
            structure=self.name, scenario=self._stem, generated=self.compiled, models=(model,)
        )

    def generated(self, seconds: float, reading: Deadline) -> Generated:
        """See `program`."""
        from weakspot.generators.pipeline import generate

        return generate(
            self.path,
            structure=self.name,
            scenario=self._stem,
            build=self.build,
            loops=self.bounds.first_loops,
            seconds=seconds * _GENERATING,
            reading=reading,
            asked=self.question,
        )

    @property
    def is_current(self) -> bool:
        """Whether the program was compiled from the text that the question is about."""
        if self.compiled is None:
            return True
        program = self.compiled.program
        return program.key == self.question.key and (
            program.links is None or program.links.key != ""
        )

    def is_unchanged(self, compiled: str) -> bool:
        """Whether a program with this key was compiled from the text that the question is about,
        and the files still hold it."""
        if compiled != self.question.key or not self.path.is_file():
            return False
        return frontend.question(self.path, build=self.build).key == compiled


class ExploreScenario(Job, frozen=True, kw_only=True):
    """An exploration of a scenario that is compiled when there is time for it; then it is an
    Explore. Compiling may take longer than the share of a question, up to `reading` seconds: what
    it has done until then would be lost. `too_late` says why it is not asked if there is no time;
    `report` gets what is read."""

    scenario: Scenario
    model: Model
    explorer: Explorer
    frontier: Frontier
    reading: float
    too_late: str
    report: Callable[[str], object]

    phase = "exploring"
    is_long = True

    @property
    def asked_models(self) -> Iterable[Model]:
        return (self.model,)

    def within(self, seconds: float) -> Job:
        if not seconds:
            raise LimitReached(self.too_late)
        end = ending(seconds)
        self.report(f"reading {self.scenario.name}")
        reading = ending(self.scenario.end.at_most(max(seconds, self.reading)))
        return Explore(
            key=self.key,
            program=self.scenario.program(self.model.name, seconds, reading),
            model=self.model,
            bounds=self.scenario.bounds,
            explorer=self.explorer,
            frontier=self.frontier,
        ).within(end.left)


def read(
    config: Config, files: Sequence[str], end: Deadline
) -> tuple[list[Scenario], dict[str, WeakspotError]]:
    """The scenarios, with those of a crate in place of its manifest, and why others cannot be read.

    Several are read at a time: preprocessing them is most of the time of a run in which nothing has
    changed.
    """
    found: list[Scenario] = []
    wrong: dict[str, WeakspotError] = {}
    for file in files:
        try:
            found += _named(config, file, end)
        except Interrupted:
            raise
        except WeakspotError as error:
            wrong[file] = error
    with ThreadPoolExecutor(max_workers=cores()) as pool:
        errors = dict(zip(found, pool.map(_error, found), strict=True))
    wrong |= {each.name: error for each, error in errors.items() if error is not None}
    return [each for each, error in errors.items() if error is None], wrong


def _named(config: Config, file: str, end: Deadline) -> Iterator[Scenario]:
    """The scenarios of a file."""

    def named(name: str, build: Build) -> Scenario:
        # as errors name it: relative to where the user is
        path = Path(os.path.relpath(config.root / source_of(name)))
        return Scenario(name, path, build, config.bounds, end)

    scenario = named(file, config.build)
    if scenario.path.name != MANIFEST:
        yield scenario
        return
    from weakspot.generators.source import crates  # which few need

    for each in crates.entries(scenario.path, config.build, end):
        root = Path(os.path.relpath(each.target.root, config.root)).as_posix()
        yield named(f"{root}::{each.test}", Build(entry=each).over(config.build))


def _error(scenario: Scenario) -> WeakspotError | None:
    """Why a scenario cannot be read, if it cannot."""
    try:
        _ = scenario.identity
    except WeakspotError as error:
        return error
    return None
