"""The gate's questions: a scenario under a model. Its answer is an Answer, which also holds what
the gate's findings need of the source, so that an unchanged source is not compiled again.

A program is compiled when the first of its questions is asked, once for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from weakspot import __version__
from weakspot.errors import Interrupted, LimitReached, WeakspotError
from weakspot.generators.litmus import Site, Test
from weakspot.generators.source import frontend
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.harness.campaign.frontiers import Frontier
from weakspot.harness.campaign.jobs import Job, Sink
from weakspot.harness.campaign.pace import ExplorationPace
from weakspot.harness.checkers import Checker
from weakspot.harness.checkers.explorer import Explorer, Keep
from weakspot.harness.corpus.models import Model
from weakspot.harness.gate.architectures import possible_on
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.record import key, program_name
from weakspot.harness.values.verdict import Verdict
from weakspot.system.deadline import NEVER, Deadline, ending

if TYPE_CHECKING:
    from weakspot.generators.pipeline import Generated

_SHORTEST = 0.001  # seconds of a question

_GENERATING = 0.3
"""The part of a question's time in which litmus tests are searched, which the gate does not check:
they tell what the program's accesses depend on."""


def used_up(budget: float) -> str:
    """Why a question was not asked."""
    return f"the budget of {budget:g} s was used up before"


class Unreadable(msgspec.Struct, frozen=True):
    """Why a scenario cannot be read or compiled: an error of its user, as a value."""

    message: str
    place: str = ""
    advice: str = ""

    @staticmethod
    def of(error: WeakspotError) -> Unreadable:
        return Unreadable(error.message, error.place or "", error.advice or "")


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a scenario under a model: its exploration, a litmus test's verdict, or why
    it is `unreadable`. `sites` are those of the exploration's violations, `machines` says for each
    of its tests which kinds of machine can show it. `files` are the source files that the
    explored program was made of, relative to its folder."""

    exploration: Exploration | None = None
    verdict: Verdict | None = None
    unreadable: Unreadable | None = None
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


class Scenario(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A file of the project to ask about. `name` is relative to the project's folder, `path` to
    where the user is; a litmus file has a `test`."""

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

    def generated(self, seconds: float = 0.0, end: Deadline = NEVER) -> Generated:
        """The program, read the first time, until the `end`, with the tests found in so many
        seconds; 0: all. Raises BadInput, Unsupported, MissingTool, ToolFailed or LimitReached."""
        from weakspot.generators.pipeline import generate

        if not self._generated:
            self._generated.append(
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
        return self._generated[0]

    @cached_property
    def _generated(self) -> list[Generated]:
        return []

    @property
    def is_current(self) -> bool:
        """Whether the program was compiled from the text that the question is about."""
        return not self._generated or self._generated[0].program.key == self.question.key

    def is_unchanged(self, compiled: str) -> bool:
        """Whether a program with this key was compiled from the text that the question is about,
        and the files still hold it."""
        if compiled != self.question.key or not self.path.is_file():
            return False
        return frontend.question(self.path, build=self.build).key == compiled


class ReadScenario(Scenario, frozen=True, kw_only=True, dict=True):
    """A scenario that was read, for a worker that does not have its files."""

    program: Generated | None
    is_current: bool

    def generated(self, seconds: float = 0.0, end: Deadline = NEVER) -> Generated:  # noqa: ARG002
        assert self.program is not None
        return self.program


class ScenarioJob(Job, frozen=True, kw_only=True):
    """A scenario under a model, `seconds` at most. `compared` marks a question whose answer only
    shows under which models a violation happens. `budget` is the whole command's, for messages."""

    scenario: Scenario
    model: Model
    compared: bool = False
    seconds: float = 0.0
    budget: float = 0.0

    @property
    def asked_models(self) -> Iterable[Model]:
        return (self.model,)

    @property
    def phase(self) -> str:
        return "locating violations" if self.compared else "checking scenarios"

    @property
    def file(self) -> str:
        return self.scenario.name

    @property
    def is_long(self) -> bool:
        return True

    def within(self, seconds: float) -> Self:
        return msgspec.structs.replace(self, seconds=seconds)

    def on_one_core(self) -> Self:
        scenario, end, seconds = self.scenario, ending(self.seconds), self.seconds
        program = None
        try:
            if scenario.test is None and seconds:
                program = scenario.generated(seconds * _GENERATING, end)
                seconds = end.left
        except LimitReached:
            seconds = 0.0
        read = ReadScenario(
            name=scenario.name,
            path=scenario.path,
            test=scenario.test,
            bounds=scenario.bounds,
            program=program,
            is_current=scenario.is_current,
        )
        return msgspec.structs.replace(self, scenario=read, seconds=seconds)

    def answer(self, sink: Sink, answer: Answer, end: Deadline) -> None:
        """Hand over the answer. It is not final if the time limit truncated it, if a file was
        edited between the question and the compilation, or if it is an error, which may come from
        outside the files."""
        truncated = answer.unknown and end.passed
        final = not truncated and answer.unreadable is None and self.scenario.is_current
        sink.answered(self, answer, final=final)


class CheckScenario(ScenarioJob, frozen=True, kw_only=True):
    """What does the model say of the litmus file?"""

    checker: Checker

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        for job in jobs:
            sink.at(f"{job.file} under {job.model.name}")
            assert job.scenario.test is not None
            end = ending(job.seconds)
            verdicts: list[Verdict] = []
            job.checker.check(
                [job.scenario.test],
                job.model,
                seconds=max(job.seconds, _SHORTEST),
                done=verdicts.append,
            )
            (verdict,) = verdicts
            job.answer(sink, Answer(verdict=verdict), end)


class ExploreScenario(ScenarioJob, frozen=True, kw_only=True):
    """What does the program violate under the model?"""

    explorer: Explorer
    frontier: Frontier = Frontier()

    def on_one_core(self) -> Self:
        explorer = self.explorer.on_one_core or self.explorer
        return msgspec.structs.replace(super().on_one_core(), explorer=explorer)

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        for job in jobs:
            end = ending(job.seconds)
            if job.seconds:
                sink.at(f"{job.file} under {job.model.name}")
                try:
                    answer = job._explored(sink, end)
                except LimitReached as error:
                    answer = job._not_explored(error.message)
                except Interrupted:
                    raise
                except WeakspotError as error:
                    answer = Answer(unreadable=Unreadable.of(error))
                job.answer(sink, answer, end)
            else:
                job.answer(sink, job._not_explored(used_up(job.budget)), end)

    def _explored(self, sink: Sink, end: Deadline) -> Answer:
        generated = self.scenario.generated(self.seconds * _GENERATING, end)
        bounds = self.scenario.bounds
        seconds = max(end.left, _SHORTEST)

        def explore(earlier: bytes | None, keep: Keep | None) -> Exploration:
            return self.explorer.explore(
                generated.named(self.file, Path(self.file).stem),
                self.model,
                msgspec.structs.replace(bounds, seconds=seconds),
                done=ExplorationPace(f"{self.file} under {self.model.name}", seconds, sink.at),
                earlier=earlier,
                keep=keep,
            )

        tree = self._tree(generated)
        found = self.frontier.explored(tree, explore, lambda: self.is_current)
        reported = (*found.violations, *found.warnings)
        shown = {site for each in reported for site in _sites(each)}
        # a site that several calls lead to counts once
        sites = (
            msgspec.structs.replace(site, chain=())
            for site in generated.program.sites
            if str(site) in shown
        )
        return Answer(
            exploration=found,
            sites=tuple(dict.fromkeys(sites)),
            machines={test.name: possible_on(test) for test in found.tests},
            files=tuple(generated.program.files),
        )

    def _tree(self, generated: Generated) -> str:
        """All that the executions depend on."""
        model = self.model.digest_of_text
        limits = map(str, self.scenario.bounds.of_executions)
        tool = (__version__, self.explorer.version)
        return key(*tool, generated.program.digest, self.model.name, model, *limits)

    def _not_explored(self, why: str) -> Answer:
        exploration = Exploration(
            program=program_name(self.file, Path(self.file).stem),
            model=self.model.name,
            result="Unknown",
            reasons=(why,),
        )
        return Answer(exploration=exploration)


def _sites(violation: Violation) -> Iterator[str]:
    yield from violation.sites
    if violation.witness is not None:
        yield from (event.site for event in violation.witness.events)
