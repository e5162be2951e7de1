"""Questions about a source as a whole: relax, gate, campaign.

In: structures, programs, a project with its configuration. Out: the weakest memory orders, the
outcome of the gate, a campaign's record. `weakspot.api` describes what all of these functions have
in common.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.harness.campaign import campaign as campaigns
from weakspot.harness.campaign.folder import RESULTS, load
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.campaign.tools import installed
from weakspot.harness.checkers import CHECKERS
from weakspot.harness.checkers.explorer import Bounds
from weakspot.harness.corpus.material import generator
from weakspot.harness.gate import baseline
from weakspot.harness.gate import config as gate_config
from weakspot.harness.gate.outcome import GateOutcome
from weakspot.harness.gate.run import run as run_gate
from weakspot.harness.machines.prices import Prices
from weakspot.harness.orders.program_groups import program_groups
from weakspot.harness.orders.relax import explorable, searches
from weakspot.harness.orders.relaxation import Relaxed
from weakspot.harness.runners import RUNNERS
from weakspot.harness.values.record import Plan, Record
from weakspot.questions import paths as paths_of


def relax(
    what: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    models: Sequence[str] = ("rc11",),
    fences: bool = False,
    bounds: Bounds | None = None,
    build: Build = NO_OPTIONS,
) -> Iterator[Relaxed]:
    """The weakest memory orders with which programs are still safe: one result per structure, or
    version of its source, and model. With `fences`, fences beside weaker accesses too."""
    named = program_groups(paths_of(what), build=build)
    under = explorable(models)
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
    build: Build = NO_OPTIONS,
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
        what=tuple(paths_of(what)),
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
    tools = msgspec.structs.replace(installed(), generator=generator(build))
    return campaigns.run(plan, folder=folder, root=root, tools=tools, progress=progress)


def read_campaign(folder: str | os.PathLike[str]) -> Record:
    """What a campaign's folder holds."""
    return load(Path(folder))
