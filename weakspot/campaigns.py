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
from weakspot.harness.campaign import campaign as carried_out
from weakspot.harness.campaign import logs
from weakspot.harness.campaign.executor import Executor
from weakspot.harness.campaign.folder import RESULTS, load
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.campaign.tools import Tools, choose_checkers, installed
from weakspot.harness.checkers import CHECKERS
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.corpus.material import generator
from weakspot.harness.corpus.models import of_machines
from weakspot.harness.judge import differences
from weakspot.harness.orders import program_repairs
from weakspot.harness.runners import RUNNERS
from weakspot.harness.values.bounds import ALL, Bounds, Part
from weakspot.harness.values.difference import Comparison
from weakspot.harness.values.record import Plan, Record
from weakspot.questions import Sources
from weakspot.questions import paths as paths_of

if TYPE_CHECKING:
    from weakspot.harness.campaign.forecast import Forecast


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
    plan = _plan(
        what,
        models=models,
        machine_models=machine_models,
        checkers=checkers,
        on=on,
        runner=runner,
        seconds_run=seconds_run,
        budget=budget,
        seconds=seconds,
        bounds=bounds,
        compiled=compiled,
    )
    tools = _tools(plan, named, part, build)
    return carried_out.run(
        plan,
        folder=folder,
        root=root,
        fresh=fresh,
        tools=tools,
        progress=progress,
        executor=executor,
    )


def forecast(
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
    root: Path = RESULTS,
    build: Build = NO_OPTIONS,
    seconds_estimate: float = 10.0,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Forecast:
    """What `campaign` with the same arguments will cost: how many questions, how long they take,
    and which tests add nothing. Generates the tests, and contacts the machines, but answers none of
    the questions; `seconds_estimate` is for estimates of what the campaigns below `root` have not
    answered. With the `executor` of a cluster, its workers' shares too."""
    from weakspot.harness.campaign.cluster import ClusterExecutor
    from weakspot.harness.campaign.forecast import forecast

    plan = _plan(
        what,
        models=models,
        machine_models=machine_models,
        checkers=checkers,
        on=on,
        runner=runner,
        seconds_run=seconds_run,
        budget=budget,
        seconds=seconds,
        bounds=bounds,
        compiled=compiled,
    )
    return forecast(
        plan,
        _tools(plan, named, part, build),
        root,
        seconds=seconds_estimate,
        progress=progress,
        workers=executor.workers() if isinstance(executor, ClusterExecutor) else None,
    )


def _plan(
    what: Sources,
    *,
    models: Sequence[str],
    machine_models: Sequence[str] | None,
    checkers: Sequence[str],
    on: Sequence[str],
    runner: str | None,
    seconds_run: float,
    budget: float,
    seconds: float,
    bounds: Bounds | None,
    compiled: Sequence[str] = (),
) -> Plan:
    """The plan of a campaign; see `campaign`."""
    for name in checkers:
        choose_checkers(name)
    return Plan(
        what=tuple(paths_of(what)),
        models=tuple(models),
        machine_models=of_machines(models, machine_models),
        checkers=CHECKERS.names() if "all" in checkers else tuple(checkers),
        machines=tuple(on) if seconds_run else (),
        runners=_runners(runner) if seconds_run else (),
        seconds_check=seconds,
        seconds_run=seconds_run,
        budget=budget,
        compiled=tuple(compiled),
    ).within(bounds or Bounds())


def _tools(plan: Plan, named: machines.Named | None, part: Part, build: Build) -> Tools:
    return msgspec.structs.replace(
        installed(named or {}),
        explorer=EngineExplorer(part=part),
        generator=generator(build, plan.bounds.seconds),
        repairs=program_repairs.jobs,
    )


def _runners(name: str | None) -> tuple[str, ...]:
    return RUNNERS.names() if name in (None, "all") else (RUNNERS.get(name).name,)


def diff(before: str | os.PathLike[str], after: str | os.PathLike[str]) -> Comparison:
    """What differs between two campaigns or logs: findings, answers, observations, and what may
    explain them. Each is a campaign's folder, a log of herd7 or litmus7, or what `--json` printed.

    Raises BadInput for a file without answers."""
    one, other = Path(before), Path(after)
    return differences.compare(logs.read(one), logs.read(other), (str(one), str(other)))


def read_campaign(folder: str | os.PathLike[str]) -> Record:
    """What a campaign's folder holds."""
    return load(Path(folder))
