"""Questions about a source as a whole: relax, mutate, cost, gate.

In: structures, programs, a project with its configuration. Out: the weakest memory orders and their
costs, the outcome of the gate. `weakspot.api` describes what all of these
functions have in common.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec

from weakspot.errors import Interrupted
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.program import Program
from weakspot.harness import machines
from weakspot.harness.campaign.executor import Executor, LocalExecutor, ask
from weakspot.harness.campaign.jobs import SearchJob
from weakspot.harness.campaign.progress import Progress, Quiet
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.corpus.material import Report
from weakspot.harness.corpus.models import LANGUAGE, Model, of_machines
from weakspot.harness.corpus.program_groups import ProgramGroup, program_groups
from weakspot.harness.edits.changes import ByHand, Rewritten
from weakspot.harness.edits.verification import Read
from weakspot.harness.gate import baseline
from weakspot.harness.gate.outcome import GateOutcome
from weakspot.harness.gate.projects import run_projects
from weakspot.harness.gate.selection import select
from weakspot.harness.machines.prices import Prices
from weakspot.harness.orders import application, promotion, searches
from weakspot.harness.orders.explorations import Explorations, explorable
from weakspot.harness.orders.mutants import ClientOf, Mutated
from weakspot.harness.orders.promotion import OrdersDifference
from weakspot.harness.orders.relaxation import Relaxed
from weakspot.harness.orders.searches import Search
from weakspot.harness.scaffold.project import Written, start
from weakspot.harness.values.bounds import Bounds
from weakspot.questions import Sources
from weakspot.questions import paths as paths_of
from weakspot.system.deadline import NEVER, ending

if TYPE_CHECKING:
    from weakspot.harness.clients.mutants import Clients
    from weakspot.harness.costs.result import Costs

_SHORTEST = 0.1
"""Seconds of a measurement if reading the source took all of the time."""

A = TypeVar("A")


class Results(Iterator[A]):
    """Results that are found one after the other, each when it is asked for; an `executor` that is
    given finds all of them when the first is. After Ctrl-C, what was found until then of the result
    in progress comes before Stopped is raised. `unread` says why programs of a folder could not be
    read, by name; `recorded` are the structures of the corpus among what is asked about, which hold
    mistakes on purpose."""

    def __init__(
        self,
        jobs: Iterable[SearchJob],
        groups: Sequence[ProgramGroup],
        progress: Progress | None,
        executor: Executor | None = None,
    ) -> None:
        together: Iterable[Sequence[SearchJob]] = [[*jobs]] if executor else ([job] for job in jobs)
        self._jobs, self._executor = iter(together), executor or LocalExecutor(gauge=None)
        self._progress, self._found = progress, list[A]()
        self._interrupted: Interrupted | None = None
        self.unread = {name: why for group in groups for name, why in group.unread.items()}
        self.recorded = frozenset(group.name for group in groups if group.structure)

    def __next__(self) -> A:
        while not self._found:
            if self._interrupted is not None:
                raise self._interrupted
            jobs, store = next(self._jobs), MemoryStore()
            try:
                ask(jobs, store, self._executor, progress=self._progress)
            except Interrupted as error:
                self._interrupted = error
            for job in jobs:
                self._found += cast("tuple[A, ...]", store.get(job.key) or ())
        return self._found.pop(0)


class Relaxations(Results[Relaxed]):
    """The results of `relax`, which can be written into the sources."""

    def __init__(
        self,
        read: Callable[[Report, tuple[str, ...]], tuple[ProgramGroup, ...]],
        search: Search,
        *,
        executor: Executor | None = None,
        progress: Progress | None = None,
    ) -> None:
        report = _reading(progress)
        self._read, self._groups, self._search = read, read(report, ()), search
        jobs = searches.jobs(self._groups, msgspec.structs.replace(search, prices=Prices()))
        super().__init__(jobs, self._groups, progress, executor)

    def refuse_corpus(self) -> None:
        """Raises BadInput if a source belongs to the corpus, so that `apply` would refuse it."""
        application.refuse_corpus(self._groups)

    def apply(self, relaxed: Relaxed, *, take: int | None = None) -> Rewritten:
        """Write the memory orders of a result into its sources: those of its assignment number
        `take`, counted from one, or the best ones if those written suffice.

        The programs are compiled and explored with the change first. Raises BadInput for sources
        of the corpus, and if a limit was reached.
        """
        self.refuse_corpus()
        change = self.proposal(relaxed, take=take)
        change.write()
        return change

    def proposal(self, relaxed: Relaxed, *, take: int | None = None) -> Rewritten:
        """The change that `apply` makes, compiled and explored, but not written."""
        (model,) = (each for each in self._search.models if each.name == relaxed.model)
        explorations = Explorations(model, self._search.bounds, also=self._search.machines)
        return application.proposal(relaxed, take, explorations, self._reading(relaxed))

    def by_hand(self, relaxed: Relaxed) -> tuple[ByHand, ...]:
        """What `apply` leaves to be changed by hand."""
        change, _ = application.rewritten(relaxed, None, self._reading(relaxed))
        return change.by_hand

    def _reading(self, relaxed: Relaxed) -> Read:
        def read(option: str) -> tuple[tuple[str, Program], ...]:
            groups = self._read(_nothing, (option,))
            (group,) = (each for each in groups if each.name == relaxed.subject)
            return group.programs

        return read


def _nothing(_: str) -> None:
    """Reports nothing."""


def relax(
    what: Sources,
    *,
    models: Sequence[str] = (LANGUAGE,),
    machine_models: Sequence[str] | None = None,
    fences: bool = False,
    seconds: float | None = None,
    bounds: Bounds | None = None,
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Relaxations:
    """The weakest memory orders with which programs are still safe: one result per structure, or
    version of its source, and model. With `fences`, fences beside weaker accesses too. The user's
    own programs must be safe under `machine_models` too, by default those of `check` if `models`
    are not given. All searches together end after `seconds` with what is known by then; `bounds`
    hold for each exploration. `executor` performs them, several at once; by default this computer
    does, one after the other.

    Raises BadInput for a model that programs are not explored under, and for litmus tests.
    """
    search = search_of(models, machine_models, bounds, seconds, fences=fences)

    def read(report: Report, flags: tuple[str, ...]) -> tuple[ProgramGroup, ...]:
        return program_groups(
            paths_of(what),
            build=build,
            flags=flags,
            report=report,
            end=search.end,
            seconds=search.bounds.seconds,
        )

    return Relaxations(read, search, executor=executor, progress=progress)


def search_of(
    models: Sequence[str],
    machine_models: Sequence[str] | None,
    bounds: Bounds | None,
    seconds: float | None,
    *,
    fences: bool,
) -> Search:
    """What `relax` searches for, until all searches together have taken `seconds`."""
    under, machines = _explorable(models, machine_models)
    return Search(
        models=tuple(under),
        machines=tuple(machines),
        bounds=bounds or Bounds(),
        fences=fences,
        end=NEVER if seconds is None else ending(seconds),
    )


def _explorable(
    models: Sequence[str], machine_models: Sequence[str] | None
) -> tuple[list[Model], list[Model]]:
    """The models of these names, and those that what is safe must be safe under too. Raises
    BadInput for one that programs are not explored under."""
    machines = of_machines(() if models == (LANGUAGE,) else models, machine_models)
    return explorable(models), explorable(machines)


def mutate(
    what: Sources,
    *,
    models: Sequence[str] = (LANGUAGE,),
    machine_models: Sequence[str] | None = None,
    clients: Clients | None = None,
    bounds: Bounds | None = None,
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Results[Mutated]:
    """Which changes of programs their scenarios notice: one memory order a step weaker, one fence,
    notification or post of a semaphore left out. One result per structure, or for the user's own
    programs together, and model; `machine_models` are as for `relax`. Of `clients`
    (`object_clients`), the smallest that notices it is found for each change that no scenario
    notices. `executor` explores the mutants, several at once; by default this computer does, one
    after the other.

    Raises BadInput for a model that programs are not explored under, for litmus tests, and where
    the object of the clients is wrong without a change.
    """
    report = _reading(progress)

    def client_of(model: Model) -> ClientOf:
        return lambda change: clients.of(change, model) if clients else ""

    under, machines = _explorable(models, machine_models)
    limits = bounds or Bounds()
    groups = program_groups(paths_of(what), build=build, report=report, seconds=limits.seconds)
    jobs = (
        searches.MutateGroup(
            key=f"{group.name} {each.name}",
            group=group,
            explorations=Explorations(each, limits, executor, also=machines),
            client_of=client_of(each),
        )
        for group in groups
        for each in under
    )
    return Results(jobs, groups, progress)


def compare_orders(
    what: Sources = "all",
    *,
    models: Sequence[str] = (LANGUAGE,),
    bounds: Bounds | None = None,
    promote: bool = False,
    progress: Progress | None = None,
) -> Iterator[OrdersDifference]:
    """How the weakest memory orders of structures differ from those in their claims.toml, which
    `promote` replaces. Raises BadInput for sources that do not belong to the corpus."""
    report = _reading(progress)
    under = explorable(models)
    groups = program_groups(paths_of(what), report=report)
    promotion.refuse_own_sources(groups)
    return promotion.differences(groups, under, bounds or Bounds(), promoted=promote, report=report)


def cost(
    what: Sources,
    *,
    on: str = "local",
    named: machines.Named | None = None,
    seconds: float = 10.0,
    limited: bool = False,
    fences: bool = False,
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
) -> Results[Costs]:
    """What each memory order costs on a machine: one result per structure, in nanoseconds per
    execution of an operation, with confidence intervals. `on` and `named` are as for `run`.

    Each is measured for `seconds`. If `limited`, each takes a second more at most, compiling
    included; an order that was not measured in this time has a reason. The costs are stored on this
    computer, and `relax` prefers memory orders that are cheap on it until the source file changes.
    Raises MissingTool without a C compiler.
    """
    from weakspot.harness.costs.jobs import MeasureCosts
    from weakspot.harness.runners import RunLimits

    report = _reading(progress)
    machine = machines.resolve(on, named or {})
    end = ending(seconds) if limited else NEVER
    groups = program_groups(paths_of(what), build=build, report=report, end=end)
    alone = limited and len(groups) == 1
    limits = RunLimits(max(end.left, _SHORTEST) if alone else seconds, limited)
    jobs = (
        MeasureCosts.of(group.name, group.programs, machine, limits, fences=fences)
        for group in groups
    )
    return Results(jobs, groups, progress)


def _reading(progress: Progress | None) -> Report:
    """Report that sources are read, and return where to report what follows."""
    progress = progress or Quiet()
    progress.start(0, "reading")
    return progress.at


def gate(
    paths: Sequence[str | os.PathLike[str]] = (),
    *,
    config: str | os.PathLike[str] | None = None,
    build: Build = NO_OPTIONS,
    cached: bool = True,
    new_baseline: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> GateOutcome:
    """Explore and check a project's scenarios, as the configuration says: `config`, or the nearest
    weakspot.toml or pyproject.toml upwards. `paths` choose among its scenarios; each path has the
    configuration that is nearest to it, and the outcomes of several projects are merged. The
    options of `build` take precedence over those of the configuration. Answers that still hold come
    from the project's cache unless `cached` is false. With `new_baseline` the baseline that the
    configuration names need not exist yet; `write_baseline` writes it. `executor` explores and
    checks the scenarios, by default on this computer.
    """
    here = Path.cwd()
    selected = [
        (msgspec.structs.replace(each, build=build.over(each.build)), scenarios)
        if build != NO_OPTIONS
        else (each, scenarios)
        for each, scenarios in select(
            Path(config) if config is not None else None, [Path(each) for each in paths], here
        )
    ]
    return run_projects(
        selected,
        here,
        cached=cached,
        new_baseline=new_baseline,
        progress=progress,
        executor=executor,
    )


def init(
    header: str | os.PathLike[str] | None = None,
    *,
    folder: str | os.PathLike[str] = ".",
    build: Build = NO_OPTIONS,
    force: bool = False,
) -> Written:
    """Write weakspot.toml and a first scenario for a header into a project's folder, and explore
    the scenario. A weakspot.toml that is there is left as it is, and a scenario that is there is
    BadInput, unless `force`."""
    return start(
        Path(header) if header is not None else None, Path(folder), build=build, force=force
    )


def write_baseline(outcome: GateOutcome) -> int:
    """Accept the findings of a run of the gate in the project's baseline: they no longer fail.
    Returns how many findings the baseline then accepts.

    Accepted findings that the run did not find are dropped if it decided the whole project.
    """
    return baseline.accept(outcome)
