"""Questions about programs and tests: generate, check, compare_code, explore, run.

In: what to ask about, models, checkers, machines, limits. Out: Answers, which yield each answer as
soon as it is known. `weakspot.api` describes what all of these functions have in common.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from weakspot.answers import Answers, FolderAnswers, GeneratedTests
from weakspot.errors import BadInput
from weakspot.generators.litmus import Test
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.harness.campaign import plan as planning
from weakspot.harness.campaign.campaign import Campaign
from weakspot.harness.campaign.check_jobs import CodeComparison
from weakspot.harness.campaign.executor import Executor
from weakspot.harness.campaign.folder import new_manifest
from weakspot.harness.campaign.iteration import IterableStore
from weakspot.harness.campaign.progress import Progress, Quiet
from weakspot.harness.campaign.tools import choose_checkers, choose_runners, installed
from weakspot.harness.checkers import FileChecker
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.corpus import golden
from weakspot.harness.corpus import models as corpus_models
from weakspot.harness.corpus.material import Material, gather, generator, mapped_to
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.bounds import ALL, Bounds, Part
from weakspot.harness.values.codegen import Codes
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import GoldenDifference, Plan
from weakspot.harness.values.verdict import Verdict

if TYPE_CHECKING:
    from weakspot.harness.machines import Named

What = str | os.PathLike[str] | Test
"""What a function is about; see weakspot.api."""

Sources = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
"""Names and paths of sources; see weakspot.api."""


def generate(
    what: What | Iterable[What],
    *,
    models: Sequence[str] = (),
    isa: Sequence[str] = (),
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
) -> GeneratedTests:
    """The litmus tests of programs: one per critical cycle of their access patterns. With `isa`,
    the assembly that they compile to by the standard mappings, for each of these instruction sets,
    or "all"."""
    material = _gathered(what, models, build, progress)
    if isa:
        return GeneratedTests(*mapped_to(material, isa))
    return GeneratedTests(material)


def golden_tests(
    what: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = "all",
    *,
    promote: bool = False,
) -> dict[str, GoldenDifference]:
    """How the tests that structures give differ from their golden files, by structure. `promote`
    replaces the golden files. Raises BadInput for what is not a structure of the corpus."""
    return golden.drifts(paths(what), promoted=promote)


def check(
    what: What | Iterable[What],
    *,
    models: Sequence[str] = (),
    checker: str | None = None,
    machine_models: Sequence[str] | None = None,
    tests: bool = False,
    witnesses: bool = False,
    seconds: float = 20.0,
    bounds: Bounds | None = None,
    part: Part = ALL,
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Answers[Exploration | Verdict]:
    """Explore programs, and decide tests, under memory models.

    Without `models` a structure has its own, and anything else has defaults: what is safe under
    those of the language is then explored under `machine_models` too, which may also be given with
    `models`. `checker` names one
    that decides tests, "all" for each that is installed; `witnesses` asks for one that shows
    executions. The litmus tests of the user's own programs are decided where they show a
    violation, and all of them if `tests`, a checker or witnesses are asked for. `seconds` limits
    the time for one test under one model, `bounds` the exploration of one program under one model.
    What a limit leaves open is Unknown. `part` explores a part of the executions only. `executor`
    performs the work, by default on this computer; see docs/cluster.md.
    """
    everything = tests or witnesses or checker is not None
    asked = _asked(
        what,
        models,
        seconds,
        bounds,
        build,
        progress,
        machine_models=machine_models,
        part=part,
        own_tests=everything or not _are_explorable(models, machine_models),
        executor=executor,
    )
    checkers = choose_checkers(checker, witnesses=witnesses)

    def work(campaign: Campaign) -> None:
        campaign.explore()
        campaign.check(checkers, everything=everything)

    return asked.answers((Exploration, Verdict), work)


def check_folders(
    what: What | Iterable[What],
    *,
    models: Sequence[str] = (),
    checker: str | None = None,
    seconds: float = 20.0,
) -> FolderAnswers | None:
    """Decide the litmus tests of folders, as `check` does, in memory that hardly depends on how
    many there are. None for anything but folders of litmus tests, for tests of one name in them
    that cannot be distinguished, and for a checker that does not read files itself."""
    from weakspot.harness.corpus.litmus_files import folder_tests

    (chosen, *others) = choose_checkers(checker)
    if others or not isinstance(chosen, FileChecker):
        return None
    named = [model.name for model in planning.models(models)]
    words = [each if isinstance(each, Test) else os.fspath(each) for each in _listed(what)]
    tests = folder_tests(words, named)
    if tests is None:
        return None
    plan = Plan(what=tuple(map(_name, words)), seconds_check=seconds)
    return FolderAnswers(plan, tests, chosen, models)


def compare_code(
    what: What | Iterable[What],
    configurations: Sequence[str],
    *,
    code: Literal["tests", "operations", "all"] = "tests",
    models: Sequence[str] = (),
    checker: str | None = None,
    seconds: float = 20.0,
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
) -> Answers[Codes]:
    """Compile tests, or the operations of the programs that they come from, and compare the
    outcomes that the machine code allows with those that the language allows.

    `configurations` are compilers, their options and targets, such as "gcc", "O2", "aarch64", or
    "all"; `models` are those of the language. Raises BadInput if `code` asks for operations and
    there is no program.
    """
    from weakspot.harness.codegen import operations
    from weakspot.harness.codegen.check import LANGUAGE
    from weakspot.harness.codegen.configurations import configurations as configured

    builds = configured(configurations)
    language = planning.models(models) or [model(LANGUAGE)]
    chosen = choose_checkers(checker)[0]
    if code != "tests":
        operations.require(builds)
    asked = _asked(what, (), seconds, None, build, progress)
    programs = [
        operations.ProgramWithTests(each.name, each.generated.program, each.generated.tests)
        for each in asked.campaign.material.programs
        if code != "tests"
    ]
    if code != "tests" and not programs:
        raise BadInput(
            "there is no program whose operations could be compiled",
            advice="name a structure, or a C or C++ file",
        )
    comparison = CodeComparison(
        language=tuple(language),
        checker=chosen,
        builds=tuple(builds),
        seconds=seconds,
        of_tests=code != "operations",
        programs=tuple(programs),
    )

    def work(campaign: Campaign) -> None:
        campaign.compare(comparison)

    return asked.answers((Codes,), work)


def explore(
    what: What | Iterable[What],
    *,
    models: Sequence[str] = (),
    machine_models: Sequence[str] | None = None,
    bounds: Bounds | None = None,
    part: Part = ALL,
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Answers[Exploration]:
    """Explore every execution of programs under memory models; see `check`."""
    asked = _asked(
        what,
        models,
        20.0,
        bounds,
        build,
        progress,
        machine_models=machine_models,
        part=part,
        own_tests=False,
        executor=executor,
    )
    return asked.answers((Exploration,), Campaign.explore)


def run(
    what: What | Iterable[What],
    *,
    on: str = "local",
    named: Named | None = None,
    runner: str | None = None,
    seconds: float = 1.0,
    limited: bool = False,
    programs: bool = True,
    tests: bool = True,
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
) -> Answers[Histogram | ProgramRun]:
    """Run programs and tests on a machine and count the outcomes.

    `on` is "local", "ssh:HOST" or "qemu:ARCH", or one of the machines in `named`; `runner` names
    one, "all" each that is installed.
    Each test and each program runs for `seconds`. If `limited`, generating a program's tests takes
    no longer either, and each test and program at most a second more, compiling included: then they
    run for a shorter time, and what did not run has a reason.
    """
    from weakspot.harness import machines

    machine = machines.resolve(on, named or {})
    asked = _asked(what, (), 20.0, None, build, progress, seconds_run=seconds, limited=limited)
    runners = choose_runners(runner, machine)

    def work(campaign: Campaign) -> None:
        planned = campaign.runs(machine, runners, programs=programs, tests=tests, limited=limited)
        campaign.run_on(machine, planned)

    return asked.answers((Histogram, ProgramRun), work)


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
    build: Build,
    progress: Progress | None,
    *,
    seconds_run: float = 1.0,
    machine_models: Sequence[str] | None = None,
    limited: bool = False,
    part: Part = ALL,
    own_tests: bool = True,
    executor: Executor | None = None,
) -> _Asked:
    """`limited`: the tests of each program are generated in `seconds_run`. Without `own_tests`, the
    user's programs get none but those of their violations."""
    limits = bounds or Bounds()
    plan = Plan(
        what=tuple(map(_name, _listed(what))),
        machine_models=corpus_models.of_machines(models, machine_models),
        seconds_check=seconds,
        seconds_run=seconds_run,
    ).within(limits)
    generating = seconds_run if limited else limits.seconds
    material = _gathered(what, models, build, progress, generating, own_tests=own_tests)
    store = IterableStore(new_manifest(plan))
    tools = installed()
    if part != ALL:
        tools = msgspec.structs.replace(tools, explorer=EngineExplorer(part=part))
    if material.programs and not part.estimate:
        from weakspot.harness.orders import repair_jobs

        tools = msgspec.structs.replace(tools, repairs=repair_jobs.jobs)
    found = Campaign(plan, store, tools, executor=executor, printed=True)
    found.take(material, planning.models(models or material.models))
    return _Asked(found, store)


def _gathered(
    what: What | Iterable[What],
    models: Sequence[str],
    build: Build,
    progress: Progress | None = None,
    seconds: float = 0.0,
    *,
    own_tests: bool = True,
) -> Material:
    """The programs and tests in question; those of each program that are found in `seconds`, unless
    they are 0."""
    progress = progress or Quiet()
    progress.start(0, "generating")
    return gather(
        [each if isinstance(each, Test) else os.fspath(each) for each in _listed(what)],
        under=[each.name for each in planning.models(models)],
        generator=generator(build, seconds, own_tests=own_tests),
        build=build,
        report=lambda _: progress.advance(),
    )


def _are_explorable(models: Sequence[str], machine_models: Sequence[str] | None) -> bool:
    """Whether programs can be explored under all of these models."""
    named = (*models, *corpus_models.of_machines(models, machine_models))
    return not any(map(EngineExplorer().applicable, planning.models(named)))


def _listed(what: What | Iterable[What]) -> list[What]:
    return [what] if isinstance(what, str | os.PathLike | Test) else list(what)


def _name(each: What) -> str:
    return each.name if isinstance(each, Test) else os.fspath(each)


def paths(what: What | Iterable[What]) -> list[str]:
    """The names and paths of sources. Raises BadInput for a Test, which has none."""
    for each in (listed := _listed(what)):
        if isinstance(each, Test):
            raise BadInput(f"{each.name} is a litmus test; name a program instead")
    return list(map(_name, listed))
