"""Campaigns: the main job, what it will cost, and what differs between two of them.

In: what to ask about, and limits. Out: a campaign's folder with its record, a forecast, a
comparison. `weakspot.api` describes what all of these functions have in common.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.harness import machines
from weakspot.harness.campaign import folder_run, logs
from weakspot.harness.campaign.executor import Executor
from weakspot.harness.campaign.folder import RESULTS, load
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.campaign.tools import Tools, choose_checkers, installed
from weakspot.harness.checkers import CHECKERS
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.corpus.material import generator
from weakspot.harness.corpus.models import of_machines
from weakspot.harness.judge import differences
from weakspot.harness.orders import repair_jobs
from weakspot.harness.runners import RUNNERS
from weakspot.harness.values.bounds import ALL, Bounds, Part
from weakspot.harness.values.difference import Comparison
from weakspot.harness.values.record import Plan, Record
from weakspot.questions import Sources
from weakspot.questions import paths as paths_of

if TYPE_CHECKING:
    from weakspot.harness.campaign.forecast import Forecast


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a campaign is to answer, in the names that the user gives; see `campaign`."""

    what: Sources = "all"
    models: Sequence[str] = ()
    machine_models: Sequence[str] | None = None
    checkers: Sequence[str] = ("all",)
    on: Sequence[str] = ("local",)
    named: machines.Named | None = None
    runner: str | None = None
    seconds_run: float = 1.0
    budget: float = 0.0
    seconds: float = 20.0
    bounds: Bounds | None = None
    part: Part = ALL
    compiled: Sequence[str] = ()
    build: Build = NO_OPTIONS

    def plan(self) -> Plan:
        """The plan. Raises BadInput for a checker or a runner that is unknown, and MissingTool for
        one that is not installed."""
        for name in self.checkers:
            choose_checkers(name)
        return Plan(
            what=tuple(paths_of(self.what)),
            models=tuple(self.models),
            machine_models=of_machines(self.models, self.machine_models),
            checkers=CHECKERS.names() if "all" in self.checkers else tuple(self.checkers),
            machines=tuple(self.on) if self.seconds_run else (),
            runners=_runners(self.runner) if self.seconds_run else (),
            seconds_check=self.seconds,
            seconds_run=self.seconds_run,
            budget=self.budget,
            compiled=tuple(self.compiled),
        ).within(self.bounds or Bounds())

    def tools(self) -> Tools:
        """What the names of the plan stand for."""
        return msgspec.structs.replace(
            installed(self.named or {}),
            explorer=EngineExplorer(part=self.part),
            generator=generator(self.build, (self.bounds or Bounds()).seconds),
            build=self.build,
            repairs=repair_jobs.jobs,
        )


def campaign(
    what: Sources = "all",
    *,
    models: Sequence[str] = (),
    machine_models: Sequence[str] | None = None,
    checkers: Sequence[str] = ("all",),
    on: Sequence[str] = ("local",),
    named: machines.Named | None = None,
    runner: str | None = None,
    seconds_run: float = 1.0,
    budget: float = 0.0,
    seconds: float = 20.0,
    bounds: Bounds | None = None,
    part: Part = ALL,
    compiled: Sequence[str] = (),
    folder: Path | None = None,
    root: Path = RESULTS,
    fresh: bool = False,
    build: Build = NO_OPTIONS,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> tuple[Path, Record]:
    """The main job: generate, explore, check, run and judge, with all answers in a folder.

    A campaign with the same arguments that was interrupted is resumed, unless `folder` names
    another. An exploration that a limit or Ctrl-C has ended is resumed by a later campaign beside
    it too, which may have other limits of time and executions, unless that is `fresh`.

    Returns the folder and its record. Raises Stopped on Ctrl-C; what was answered is in the folder.
    `checkers` are names, or "all" for each that is installed; MissingTool is raised for one that is
    not. `part` explores a part of the executions only. `seconds_run` = 0 runs nothing on hardware;
    with a `budget` in seconds, each machine is used no longer than that, for what says most first.
    `runner` names one, None or "all" each that is installed.
    `compiled` are compiler configurations whose code is compared with the tests. `executor`
    performs the work, by default on this computer; see docs/cluster.md.
    """
    request = Request(
        what=what,
        models=models,
        machine_models=machine_models,
        checkers=checkers,
        on=on,
        named=named,
        runner=runner,
        seconds_run=seconds_run,
        budget=budget,
        seconds=seconds,
        bounds=bounds,
        part=part,
        compiled=compiled,
        build=build,
    )
    return folder_run.run(
        request.plan(),
        folder=folder,
        root=root,
        fresh=fresh,
        tools=request.tools(),
        progress=progress,
        executor=executor,
    )


def forecast(
    request: Request,
    *,
    root: Path = RESULTS,
    seconds_estimate: float = 10.0,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Forecast:
    """What a campaign of the request will cost: how many questions, how long they take, and which
    tests add nothing. Generates the tests, and contacts the machines, but answers none of the
    questions; `seconds_estimate` is for estimates of what the campaigns below `root` have not
    answered. With the `executor` of a cluster, its workers' shares too."""
    from weakspot.harness.campaign.cluster import ClusterExecutor
    from weakspot.harness.campaign.forecast import forecast

    return forecast(
        request.plan(),
        request.tools(),
        root,
        seconds=seconds_estimate,
        progress=progress,
        workers=executor.workers() if isinstance(executor, ClusterExecutor) else None,
    )


def _runners(name: str | None) -> tuple[str, ...]:
    if name is None or name == "all":
        return RUNNERS.names()
    return tuple(RUNNERS.get(each).name for each in name.split(","))


def diff(before: str | os.PathLike[str], after: str | os.PathLike[str]) -> Comparison:
    """What differs between two campaigns or logs: findings, answers, observations, and what may
    explain them. Each is a campaign's folder, a log of herd7 or litmus7, or what `--json` printed.

    Raises BadInput for a file without answers."""
    one, other = Path(before), Path(after)
    return differences.compare(logs.read(one), logs.read(other), (str(one), str(other)))


def read_campaign(folder: str | os.PathLike[str]) -> Record:
    """What a campaign's folder holds."""
    return load(Path(folder))
