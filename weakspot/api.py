"""The public API: what the commands of `weakspot` do, as functions of Python.

In: `what` to ask about, as on the command line: a structure's name, "all", a C or C++ file, a
.litmus file, a folder of these; also a Test, and sequences of all of these. Out: frozen values.
`check`, `explore` and `run` return Answers, which yield each answer as soon as it is known.

Every function raises WeakspotError, whose subclasses say what kind: BadInput for names and files
that cannot be used, Unsupported for a construct that weakspot does not model, MissingTool and
ToolFailed for the programs that it starts. docs/python.md has examples.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, cast

import msgspec

from weakspot.errors import BadInput, MissingTool, ToolFailed, Unsupported, WeakspotError
from weakspot.generators.litmus import Site, Test
from weakspot.generators.source.program import Program
from weakspot.harness import machines
from weakspot.harness.campaign import campaign as campaigns
from weakspot.harness.campaign import plan as planning
from weakspot.harness.campaign.campaign import Campaign
from weakspot.harness.campaign.folder import RESULTS, load, new_manifest
from weakspot.harness.campaign.iteration import IterableStore
from weakspot.harness.campaign.progress import Progress, Quiet
from weakspot.harness.campaign.tools import choose_checkers, choose_runners, installed
from weakspot.harness.checkers import CHECKERS
from weakspot.harness.checkers.explorer import Bounds
from weakspot.harness.codegen import operations
from weakspot.harness.codegen.check import LANGUAGE
from weakspot.harness.codegen.configurations import configurations as configured
from weakspot.harness.corpus import models as corpus_models
from weakspot.harness.corpus.material import Material, gather, generator
from weakspot.harness.corpus.models import Model
from weakspot.harness.gate import baseline
from weakspot.harness.gate import config as gate_config
from weakspot.harness.gate.outcome import GateOutcome
from weakspot.harness.gate.run import run as run_gate
from weakspot.harness.machines.prices import Prices
from weakspot.harness.orders.relax import searches
from weakspot.harness.orders.relaxation import Relaxed
from weakspot.harness.orders.subjects import subjects
from weakspot.harness.runners import RUNNERS
from weakspot.harness.values.codegen import CodegenComparison, Codes
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.finding import Evidence, Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import Plan, Record
from weakspot.harness.values.verdict import Verdict

__all__ = [
    "Answers",
    "BadInput",
    "Bounds",
    "CodegenComparison",
    "Codes",
    "Evidence",
    "Exploration",
    "Finding",
    "GateOutcome",
    "Histogram",
    "MissingTool",
    "Model",
    "Program",
    "ProgramRun",
    "Record",
    "Relaxed",
    "Site",
    "Test",
    "ToolFailed",
    "Unsupported",
    "Verdict",
    "Violation",
    "WeakspotError",
    "What",
    "campaign",
    "check",
    "compare_code",
    "explore",
    "gate",
    "generate",
    "model",
    "read_campaign",
    "relax",
    "run",
]

What = str | os.PathLike[str] | Test
"""What a function is about; see this module's docstring."""

A = TypeVar("A", covariant=True)


class Answers(Generic[A]):
    """The answers to what a function was asked.

    Iterating performs the work in a thread of its own and yields each answer as soon as it is
    known; leaving the loop ends the work after the answer in progress. `wait` performs the work in
    the calling thread. Answers that are known are yielded again by a later iteration, and work
    that was left is resumed by it. `record` and `findings` hold what is known so far.
    """

    def __init__(
        self,
        campaign: Campaign,
        store: IterableStore,
        kinds: tuple[type, ...],
        work: Callable[[], None],
    ) -> None:
        self._campaign, self._store, self._kinds, self._work = campaign, store, kinds, work

    def __iter__(self) -> Iterator[A]:
        for answer in self._store.iterate(self._work):
            if isinstance(answer, self._kinds):
                yield cast("A", answer)

    def wait(self, progress: Progress | None = None) -> Record:
        """Perform the work and return the record. Raises Stopped on Ctrl-C: `record` then has the
        answers until then."""
        self._store.resume()
        self._campaign.progress = progress or Quiet()
        self._work()
        return self.record

    @property
    def material(self) -> Material:
        """The programs and tests in question."""
        return self._campaign.material

    @property
    def record(self) -> Record:
        """All answers so far with their tests, sources and findings."""
        return self._campaign.record()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What the answers so far mean together, the gravest first."""
        return self.record.findings


def generate(
    what: What | Iterable[What],
    *,
    models: Sequence[str] = (),
    defines: Sequence[str] = (),
    include: Sequence[Path] = (),
    progress: Progress | None = None,
) -> tuple[Test, ...]:
    """The litmus tests of programs: one per critical cycle of their access patterns."""
    material = _gathered(what, models, defines, include, progress)
    return tuple(entry.test for entry in material.entries)


def check(
    what: What | Iterable[What],
    *,
    models: Sequence[str] = (),
    checker: str | None = None,
    witnesses: bool = False,
    seconds: float = 20.0,
    bounds: Bounds | None = None,
    defines: Sequence[str] = (),
    include: Sequence[Path] = (),
    progress: Progress | None = None,
) -> Answers[Exploration | Verdict]:
    """Explore programs, and decide tests, under memory models.

    Without `models` a structure has its own, and anything else has defaults. `checker` names one
    that decides tests, "all" for each that is installed; `witnesses` asks for one that shows
    executions. `seconds` limits the time for one test under one model, `bounds` the exploration of
    one program under one model. What a limit leaves open is Unknown.
    """
    asked = _asked(what, models, seconds, bounds, defines, include, progress)
    checkers = choose_checkers(checker, witnesses=witnesses)

    def work(campaign: Campaign) -> None:
        campaign.explore()
        campaign.check(checkers)

    return asked.answers((Exploration, Verdict), work)


def compare_code(
    what: What | Iterable[What],
    configurations: Sequence[str],
    *,
    code: Literal["tests", "operations", "all"] = "tests",
    models: Sequence[str] = (),
    checker: str | None = None,
    seconds: float = 20.0,
    defines: Sequence[str] = (),
    include: Sequence[Path] = (),
    progress: Progress | None = None,
) -> Answers[Codes]:
    """Compile tests, or the operations of the programs that they come from, and compare the
    outcomes that the machine code allows with those that the language allows.

    `configurations` are compilers, their options and targets, such as "gcc", "O2", "aarch64", or
    "all"; `models` are those of the language. Raises BadInput if `code` asks for operations and
    there is no program.
    """
    builds = configured(configurations)
    language = planning.models(models) or [model(LANGUAGE)]
    chosen = choose_checkers(checker)[0]
    if code != "tests":
        operations.require(builds)
    asked = _asked(what, (), seconds, None, defines, include, progress)
    programs = [
        operations.Subject(each.name, each.generated.program, each.generated.tests)
        for each in asked.campaign.material.programs
        if code != "tests"
    ]
    if code != "tests" and not programs:
        raise BadInput(
            "there is no program whose operations could be compiled",
            advice="name a structure, or a C or C++ file",
        )

    def work(campaign: Campaign) -> None:
        campaign.compare(
            [entry.name for entry in campaign.material.entries],
            language,
            chosen,
            builds,
            of_tests=code != "operations",
            programs=programs,
        )

    return asked.answers((Codes,), work)


def explore(
    what: What | Iterable[What],
    *,
    models: Sequence[str] = (),
    bounds: Bounds | None = None,
    defines: Sequence[str] = (),
    include: Sequence[Path] = (),
    progress: Progress | None = None,
) -> Answers[Exploration]:
    """Explore every execution of programs under memory models; see `check`."""
    asked = _asked(what, models, 20.0, bounds, defines, include, progress)
    return asked.answers((Exploration,), Campaign.explore)


def run(
    what: What | Iterable[What],
    *,
    on: str = "local",
    runner: str | None = None,
    seconds: float = 1.0,
    programs: bool = True,
    tests: bool = True,
    defines: Sequence[str] = (),
    include: Sequence[Path] = (),
    progress: Progress | None = None,
) -> Answers[Histogram | ProgramRun]:
    """Run programs and tests on a machine and count the outcomes.

    `on` is "local", "ssh:HOST" or "qemu:ARCH"; `runner` names one, "all" each that is installed.
    Each test and each program runs for `seconds`.
    """
    machine = machines.resolve(on)
    asked = _asked(what, (), 20.0, None, defines, include, progress, seconds_run=seconds)
    runners = choose_runners(runner, machine)

    def work(campaign: Campaign) -> None:
        campaign.run_on(machine, runners, programs=programs, tests=tests)

    return asked.answers((Histogram, ProgramRun), work)


def relax(
    what: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    models: Sequence[str] = ("rc11",),
    fences: bool = False,
    bounds: Bounds | None = None,
    defines: Sequence[str] = (),
    include: Sequence[Path] = (),
) -> Iterator[Relaxed]:
    """The weakest memory orders with which programs are still safe: one result per structure, or
    version of its source, and model. With `fences`, fences beside weaker accesses too."""
    named = subjects(_paths(what), defines=defines, include=include)
    under = planning.models(models)
    for search in searches(named, under, bounds or Bounds(), fences=fences, prices=Prices()):
        search.run()
        yield search.result()


def gate(
    paths: Sequence[str | os.PathLike[str]] = (),
    *,
    config: str | os.PathLike[str] | None = None,
    cached: bool = True,
    accept: bool = False,
    progress: Progress | None = None,
) -> GateOutcome:
    """Explore and check a project's scenarios, as the configuration says: `config`, or the nearest
    weakspot.toml or pyproject.toml upwards. `paths` choose among its scenarios. Answers that still
    hold come from the project's cache unless `cached` is false. With `accept` the findings become
    the baseline, and `accepted` counts it.
    """
    selected, scenarios = gate_config.select(
        Path(config) if config is not None else None, [Path(each) for each in paths], Path.cwd()
    )
    outcome = run_gate(selected, scenarios, cached=cached, new_baseline=accept, progress=progress)
    if not accept:
        return outcome
    accepted = baseline.accept(selected, outcome, whole=not paths)
    return msgspec.structs.replace(outcome, accepted=accepted)


def campaign(
    what: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = "all",
    *,
    models: Sequence[str] = (),
    checkers: Sequence[str] = ("all",),
    on: Sequence[str] = ("local",),
    seconds_run: float = 1.0,
    seconds: float = 20.0,
    bounds: Bounds | None = None,
    compiled: Sequence[str] = (),
    folder: Path | None = None,
    root: Path = RESULTS,
    defines: Sequence[str] = (),
    include: Sequence[Path] = (),
    progress: Progress | None = None,
) -> tuple[Path, Record]:
    """The main job: generate, explore, check, run and judge, with all answers in a folder.

    A campaign with the same arguments that was interrupted is resumed, unless `folder` names
    another. Returns the folder and its record. Raises Stopped on Ctrl-C; what was answered is in
    the folder. `seconds_run` = 0 runs nothing on hardware. `compiled` are compiler configurations
    whose code is compared with the tests.
    """
    limits = bounds or Bounds()
    plan = Plan(
        what=tuple(_paths(what)),
        models=tuple(models),
        checkers=CHECKERS.names() if "all" in checkers else tuple(checkers),
        machines=tuple(on) if seconds_run else (),
        runners=RUNNERS.names() if seconds_run else (),
        seconds_check=seconds,
        seconds_run=seconds_run,
        loops=limits.loops,
        executions=limits.executions,
        seconds_explore=limits.seconds,
        compiled=tuple(compiled),
    )
    tools = msgspec.structs.replace(installed(), generator=generator(defines, include))
    return campaigns.run(plan, folder=folder, root=root, tools=tools, progress=progress)


def read_campaign(folder: str | os.PathLike[str]) -> Record:
    """What a campaign's folder holds."""
    return load(Path(folder))


def model(name: str | os.PathLike[str]) -> Model:
    """The memory model of that name, or in that cat file."""
    return corpus_models.resolve(os.fspath(name))


# --- questions ----------------------------------------------------------------------------------


class _Asked(msgspec.Struct):
    """A campaign and the store of its answers."""

    campaign: Campaign
    store: IterableStore

    def answers(self, kinds: tuple[type, ...], work: Callable[[Campaign], None]) -> Answers[Any]:
        return Answers(self.campaign, self.store, kinds, lambda: work(self.campaign))


def _asked(
    what: What | Iterable[What],
    models: Sequence[str],
    seconds: float,
    bounds: Bounds | None,
    defines: Sequence[str],
    include: Sequence[Path],
    progress: Progress | None,
    *,
    seconds_run: float = 1.0,
) -> _Asked:
    limits = bounds or Bounds()
    plan = Plan(
        what=tuple(map(_name, _listed(what))),
        seconds_check=seconds,
        seconds_run=seconds_run,
        loops=limits.loops,
        executions=limits.executions,
        seconds_explore=limits.seconds,
    )
    material = _gathered(what, models, defines, include, progress)
    store = IterableStore(new_manifest(plan))
    found = Campaign(plan, store, installed(), printed=True)
    found.take(material, planning.models(models or material.models))
    return _Asked(found, store)


def _gathered(
    what: What | Iterable[What],
    models: Sequence[str],
    defines: Sequence[str],
    include: Sequence[Path],
    progress: Progress | None,
) -> Material:
    progress = progress or Quiet()
    progress.start(0, "generating")
    return gather(
        [each if isinstance(each, Test) else os.fspath(each) for each in _listed(what)],
        under=[each.name for each in planning.models(models)],
        generator=generator(defines, include),
        report=lambda _: progress.advance(),
    )


def _listed(what: What | Iterable[What]) -> list[What]:
    return [what] if isinstance(what, str | os.PathLike | Test) else list(what)


def _name(each: What) -> str:
    return each.name if isinstance(each, Test) else os.fspath(each)


def _paths(what: What | Iterable[What]) -> list[str]:
    """The names and paths of sources. Raises BadInput for a Test, which has none."""
    for each in (listed := _listed(what)):
        if isinstance(each, Test):
            raise BadInput(f"{each.name} is a litmus test; name a program instead")
    return list(map(_name, listed))
