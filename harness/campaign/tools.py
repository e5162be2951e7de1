"""What the names in a plan and on the command line stand for: checkers, runners, machines, models.

In: names. Out: a Tools, which a Campaign asks; or the checkers and runners of one command.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from weakspot.errors import BadInput, MissingTool
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.harness import machines
from weakspot.harness.campaign.executor import steadiness
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.machine_jobs import ProgramRunner
from weakspot.harness.campaign.plan import UnderModels
from weakspot.harness.checkers import CHECKERS, Checker
from weakspot.harness.checkers.explorer import EngineExplorer, Explorer
from weakspot.harness.corpus import models
from weakspot.harness.corpus.material import Generator, Material, from_source
from weakspot.harness.corpus.models import Model
from weakspot.harness.machines import NO_NAMES, Machine, Named
from weakspot.harness.runners import RUNNERS, Runner
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.record import AnnotationCosts
from weakspot.system import tools

if TYPE_CHECKING:
    from weakspot.harness.runners.steadiness import SteadinessProbe


RepairQuestions = Callable[[Material, Iterable[Exploration], UnderModels, Bounds], list[Job]]
"""The questions about repairs of programs that were explored within these bounds."""


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """What the names in a plan stand for; tests replace these by their own."""

    checker: Callable[[str], Checker]
    runner: Callable[[str], Runner]
    machine: Callable[[str], Machine]
    profile: Callable[[Machine], object]
    model: Callable[[str], Model]
    gauge: Callable[[Machine], contextlib.AbstractContextManager[SteadinessProbe]] = steadiness
    generator: Generator = from_source
    build: Build = NO_OPTIONS  # of the generator
    explorer: Explorer = EngineExplorer()
    whole: ProgramRunner | None = None  # whole_programs.run; without it programs are not run
    priced: Callable[[Material], Material] | None = None  # with the costs of memory orders
    repairs: RepairQuestions | None = None  # repair_jobs.jobs; without it none are searched for
    corpus: Path | None = None


def installed(named: Named = NO_NAMES) -> Tools:
    """The real tools; what only hardware needs is imported when it is asked for. `named` are the
    machines that the user gave names."""
    return Tools(
        checker=CHECKERS.get,
        runner=RUNNERS.get,
        machine=partial(machines.resolve, named=named),
        profile=_profile,
        model=models.resolve,
        whole=_run_whole_programs,
        priced=_priced,
    )


def _profile(machine: Machine) -> object:
    from weakspot.harness.machines.profile import profile

    return profile(machine)


def _run_whole_programs(*arguments: Any, **keywords: Any) -> None:
    from weakspot.harness.runners import whole_programs

    whole_programs.run(*arguments, **keywords)


def _priced(material: Material) -> Material:
    """The material with what is stored of the costs of its memory orders."""
    from weakspot.harness.edits.annotations import annotate
    from weakspot.harness.machines.prices import Prices

    prices = Prices()

    def of(structure: str) -> tuple[AnnotationCosts, ...]:
        programs = [each for each in material.programs if each.structure == structure]
        annotations, _ = annotate([each.generated.program for each in programs])
        return tuple(
            AnnotationCosts(
                at=str(each),
                operation=each.operation,
                function=each.function,
                written=each.order,
                ns=ns,
            )
            for each in annotations
            if (ns := prices.of(each))
        )

    structures = (
        msgspec.structs.replace(each, prices=of(each.name)) for each in material.structures
    )
    return msgspec.structs.replace(material, structures=tuple(structures))


def choose_checkers(asked: str | None, *, witnesses: bool = False) -> list[Checker]:
    """The checkers to ask: those named (`a,b`), all that are installed, or the first that is.

    Raises MissingTool when one that is named or all others are missing, and BadInput when
    witnesses are wanted of one that gives none.
    """
    by_name = asked not in (None, "all")
    names_asked = str(asked).split(",") if by_name else []
    # the registry is iterated only as far as needed: it is slow to read to its end
    named = [CHECKERS.get(each) for each in names_asked] if by_name else CHECKERS
    installed = (checker for checker in named if checker.available())
    chosen = list(itertools.islice(installed, 1 if asked is None else None))
    if not chosen or len(chosen) < len(names_asked):
        wanted = [checker for checker in named if checker not in chosen][: 1 if by_name else None]
        names = [checker.name for checker in wanted]
        raise MissingTool(
            f"no checker is installed: {', '.join(names)}"
            if len(names) > 1
            else f"{names[0]} is not installed",
            advice=tools.advice(wanted[0].requires[0]),
        )
    if witnesses and not any(checker.explains for checker in chosen):
        explaining = [checker.name for checker in CHECKERS if checker.explains]
        raise BadInput(
            f"{chosen[0].name} gives no witnesses", advice=f"ask {' or '.join(explaining)}"
        )
    return [
        msgspec.structs.replace(checker, witnesses=witnesses)  # type: ignore[type-var]
        if checker.explains
        else checker
        for checker in chosen
    ]


def choose_runners(asked: str | None, machine: Machine) -> list[Runner]:
    """The runners of those names (`a,b`; None: the default), or all that can run on the machine;
    MissingTool for none, or without one that is named."""
    if asked == "all":
        named = list(RUNNERS)
    else:
        named = [RUNNERS.get(each) for each in (asked or RUNNERS.default.name).split(",")]
    missing = {runner.name: why for runner in named if (why := runner.available(machine))}
    if len(missing) == len(named) or (missing and asked != "all"):
        why = "; ".join(f"{name} cannot run on {machine.name}: {w}" for name, w in missing.items())
        raise MissingTool(
            why, advice="weakspot doctor shows what is installed and how to get the rest"
        )
    return [runner for runner in named if runner.name not in missing]
