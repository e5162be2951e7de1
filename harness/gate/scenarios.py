"""The scenarios of a project, and the store of what is known of each.

A program is compiled when the first of its questions is asked, once for all of them. An answer is
stored with what the gate's findings need of the source, so that an unchanged source is not compiled
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from weakspot.generators.litmus import Site, Test
from weakspot.generators.source import frontend
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.harness.campaign.cache import CacheStore
from weakspot.harness.corpus.material import ScenarioProgram
from weakspot.harness.gate.architectures import possible_on
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.verdict import Verdict
from weakspot.system.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from weakspot.generators.pipeline import Generated

_GENERATING = 0.3
"""The part of a question's time in which litmus tests are searched, which the gate does not check:
they tell what the program's accesses depend on."""


class Scenario(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A file of the project to ask about, or a test of a Rust crate, `FILE::TEST`. `name` is
    relative to the project's folder, `path` to where the user is; a litmus file has a `test`."""

    name: str
    path: Path
    test: Test | None = None
    build: Build = NO_OPTIONS
    bounds: Bounds = Bounds()
    end: Deadline = NEVER

    @cached_property
    def question(self) -> frontend.Question:
        """What the compiler is asked, with the content of the files. Raises what reading them
        does, and LimitReached at the `end`."""
        return frontend.question(self.path, build=self.build, end=self.end)

    def program(self, model: str, seconds: float, end: Deadline) -> ScenarioProgram:
        """The program, to be explored under a model. It is read the first time, until the `end`;
        its tests are those found in a part of so many seconds. Raises BadInput, Unsupported,
        MissingTool, ToolFailed or LimitReached."""
        return ScenarioProgram(
            structure=self.name,
            scenario=Path(self.name).stem,
            generated=self.generated(seconds * _GENERATING, end),
            models=(model,),
        )

    def generated(self, seconds: float, end: Deadline) -> Generated:
        """See `program`."""
        from weakspot.generators.pipeline import generate

        if not self.compiled:
            self.compiled.append(
                generate(
                    self.path,
                    structure=self.name,
                    scenario=Path(self.name).stem,
                    build=self.build,
                    loops=self.bounds.first_loops,
                    seconds=seconds,
                    reading=end,
                    asked=self.question,
                )
            )
        return self.compiled[0]

    @cached_property
    def compiled(self) -> list[Generated]:
        """The program, once it is compiled."""
        return []

    @property
    def is_current(self) -> bool:
        """Whether the program was compiled from the text that the question is about."""
        return all(each.program.key == self.question.key for each in self.compiled)

    def is_unchanged(self, compiled: str) -> bool:
        """Whether a program with this key was compiled from the text that the question is about,
        and the files still hold it."""
        if compiled != self.question.key or not self.path.is_file():
            return False
        return frontend.question(self.path, build=self.build).key == compiled


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a scenario under a model: its exploration, or a litmus test's verdict.
    `sites` are those of the exploration's violations, `machines` says for each of its tests which
    kinds of machine can show it. `files` are the source files that the explored program was made
    of, relative to its folder."""

    exploration: Exploration | None = None
    verdict: Verdict | None = None
    sites: tuple[Site, ...] = ()
    machines: dict[str, dict[str, bool]] = {}
    files: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """How long finding it took."""
        found = self.exploration or self.verdict
        return found.seconds if found is not None else 0.0

    @property
    def unknown(self) -> bool:
        if self.exploration is not None:
            return self.exploration.result == "Unknown"
        return self.verdict is None or self.verdict.observation == "Unknown"


class AnswerStore(CacheStore[Answer]):
    """Stores the answers of jobs as Answers. `scenario_of` says what a key is about."""

    def __init__(self, folder: Path | None, scenario_of: Callable[[str], Scenario]) -> None:
        super().__init__(folder, Answer)
        self._scenario_of = scenario_of

    def put(self, key: str, answer: object, *, final: bool = True) -> None:
        """Store an Exploration or a Verdict; one for this command only if a file was edited between
        the question and the compilation."""
        scenario = self._scenario_of(key)
        if isinstance(answer, Exploration):
            answer = _with_sources(answer, scenario.compiled)
        elif isinstance(answer, Verdict):
            answer = Answer(verdict=answer)
        super().put(key, answer, final=final and scenario.is_current)


def _with_sources(found: Exploration, compiled: Iterable[Generated]) -> Answer:
    reported = (*found.violations, *found.warnings)
    shown = {site for each in reported for site in _sites(each)}
    programs = [each.program for each in compiled]
    # a site that several calls lead to counts once
    sites = (
        msgspec.structs.replace(site, chain=())
        for program in programs
        for site in program.sites
        if str(site) in shown
    )
    return Answer(
        exploration=found,
        sites=tuple(dict.fromkeys(sites)),
        machines={test.name: possible_on(test) for test in found.tests},
        files=tuple(file for program in programs for file in program.files),
    )


def _sites(violation: Violation) -> Iterator[str]:
    yield from violation.sites
    if violation.witness is not None:
        yield from (event.site for event in violation.witness.events)
