"""Exploring, checking and running without a campaign's folder: what `check` and `run` print and
forget.

The answers are collected in a Record in memory, the same value that a campaign's folder holds,
so that the same judge judges them and the same reports show them.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput, MissingTool
from weakspot.generators.pipeline import Generated, generate
from weakspot.harness.campaign.campaign import Progress, explored
from weakspot.harness.campaign.store import MANIFEST, new_folder, read_manifest
from weakspot.harness.checkers import CHECKERS, Checker, unknown
from weakspot.harness.checkers.explorer import Bounds, Explorer
from weakspot.harness.codegen.check import Inspection
from weakspot.harness.codegen.compilers import Build
from weakspot.harness.corpus.material import Generator, Material, from_source, joined
from weakspot.harness.corpus.models import Model, resolve
from weakspot.harness.corpus.structures import Structure
from weakspot.harness.judge.findings import judge
from weakspot.harness.machines import Machine
from weakspot.harness.runners import RUNNERS, Runner, whole
from weakspot.harness.runners.gauge import Gauge, gauged
from weakspot.harness.values.claims import Scenario
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import (
    FORMAT,
    Entry,
    MachineInfo,
    Manifest,
    ModelInfo,
    Plan,
    Record,
    unique,
)
from weakspot.harness.values.verdict import Verdict
from weakspot.system import tools


def generator(defines: Sequence[str], include: Sequence[Path]) -> Generator:
    """The generator that gives a user's own C files these macros and include folders; the
    corpus is compiled as it says itself."""
    if not defines and not include:
        return from_source

    def made(structure: Structure, scenario: Scenario) -> Generated:
        if structure.recorded:
            return from_source(structure, scenario)
        return generate(
            structure.path(scenario),
            structure=structure.name,
            scenario=scenario.name,
            defines=(*scenario.defines, *defines),
            include=include,
        )

    return made


def checkers(asked: str | None, *, witnesses: bool = False) -> list[Checker]:
    """The checkers to ask: the one named, all that are installed, or the first that is.

    Raises MissingTool when none is, and BadInput when witnesses are wanted of one that gives
    none.
    """
    wanted = tuple(CHECKERS) if asked in (None, "all") else (CHECKERS.get(str(asked)),)
    found = [checker for checker in wanted if checker.available()]
    if not found:
        names = [checker.name for checker in wanted]
        raise MissingTool(
            f"no checker is installed: {', '.join(names)}"
            if len(names) > 1
            else f"{names[0]} is not installed",
            advice=tools.advice(wanted[0].requires[0]),
        )
    chosen = found if asked == "all" else found[:1]
    explaining = [checker.name for checker in CHECKERS if checker.explains]
    if witnesses and not any(checker.explains for checker in chosen):
        raise BadInput(
            f"{chosen[0].name} gives no witnesses", advice=f"ask {' or '.join(explaining)}"
        )
    return [
        msgspec.structs.replace(checker, witnesses=witnesses)  # type: ignore[type-var]
        if checker.explains
        else checker
        for checker in chosen
    ]


def runners(asked: str | None, machine: Machine) -> list[Runner]:
    """The runner of that name (None: the default), or all that can run on the machine; MissingTool
    for none."""
    one = RUNNERS.get(asked) if asked and asked != "all" else RUNNERS.default
    named = list(RUNNERS) if asked == "all" else [one]
    missing = {runner.name: why for runner in named if (why := runner.available(machine))}
    if len(missing) == len(named):
        why = "; ".join(f"{name} cannot run on {machine.name}: {w}" for name, w in missing.items())
        raise MissingTool(
            why, advice="weakspot doctor shows what is installed and how to get the rest"
        )
    return [runner for runner in named if runner.name not in missing]


def models(names: Sequence[str]) -> list[Model]:
    """The models of those names; two files of one name are an error."""
    found: dict[str, Model] = {}
    for name in names:
        model = resolve(name)
        if found.setdefault(model.name, model) != model:
            raise BadInput(
                f"two models are called {model.name}",
                place=str(model.path),
                advice="rename one of the files",
            )
    return list(found.values())


def models_of(material: Material) -> list[Model]:
    """The models that the programs and the tests bring with them."""
    return [resolve(name) for name in material.models]


def new_campaign(output: Path | None, *, fresh: bool, root: Path) -> Path | None:
    """The folder to write to; None leaves it to the campaign, which goes on where one was cut.

    Raises BadInput for a fresh start in a folder that holds a campaign.
    """
    if not fresh:
        return output
    if output is None:
        return new_folder(root)
    if (output / MANIFEST).exists():
        raise BadInput(
            "there is a campaign in this folder",
            place=str(output),
            advice="name another folder, or leave --fresh out to go on with it",
        )
    return output


def newest_campaign(root: Path) -> Path | None:
    """The campaign below `root` that began last, if there is one."""
    found = []
    for path in root.glob(f"*/{MANIFEST}"):
        with contextlib.suppress(BadInput):
            found.append((read_manifest(path.parent).started, path.parent))
    return max(found)[1] if found else None


class Answers:
    """What is known so far; `record` may be asked for at any time, also after Ctrl-C."""

    def __init__(self, what: Sequence[str], material: Material) -> None:
        self.what, self.material = tuple(what), material
        self.checked = False
        self.notes: list[str] = []
        self.explorations: list[Exploration] = []
        self.models: dict[str, Model] = {}
        self.machines: list[MachineInfo] = []
        self.verdicts: dict[tuple[str, str, str], Verdict] = {}
        self.histograms: dict[tuple[str, str, str], Histogram] = {}
        self.runs: list[ProgramRun] = []
        self.inspection: Inspection | None = None

    def explore(
        self,
        models: Iterable[Model],
        explorer: Explorer,
        bounds: Bounds,
        progress: Progress,
    ) -> None:
        """Explore each program under its models; what violates something becomes a test too."""
        self.checked = True
        self.models |= {model.name: model for model in models}
        asked = {model.name: explorer.applicable(model) for model in self.models.values()}
        jobs = [
            (subject, self.models[name])
            for subject in self.material.programs
            for name in subject.models
            if not asked[name]
        ]
        if self.material.programs:
            reasons = unique(filter(None, asked.values()))
            self.notes += [f"not explored: {reason}" for reason in reasons]
        progress.start(len(jobs), "exploring")
        for subject, model in jobs:
            self.explorations.append(explored(explorer, subject, model, bounds, progress))
            progress.advance()
        self.material = joined(self.material, self.explorations)

    def check(
        self,
        models: Iterable[Model],
        checkers: Sequence[Checker],
        seconds: float,
        progress: Progress,
    ) -> None:
        """Ask each checker about each test under its models. A test that no checker can be asked
        about is Unknown, with the reason."""
        self.checked = True
        self.models |= {model.name: model for model in models}
        jobs: list[tuple[Checker, Model, list[Entry]]] = []
        for model in self.models.values():
            wanted = [each for each in self.material.entries if model.name in each.models]
            reasons = {
                (entry.name, checker.name): checker.applicable(entry.test, model)
                for entry in wanted
                for checker in checkers
            }
            for checker in checkers:
                asked = [each for each in wanted if not reasons[each.name, checker.name]]
                if asked:
                    jobs.append((checker, model, asked))
            for entry in wanted:
                why = [reasons[entry.name, checker.name] for checker in checkers]
                if all(why):
                    self._add(unknown(entry.test, model, checkers[0].name, why[0]))
        progress.start(sum(len(asked) for _, _, asked in jobs), "checking")

        def done(verdict: Verdict) -> None:
            self._add(verdict)
            progress.advance()

        for checker, model, asked in jobs:
            checker.check([each.test for each in asked], model, seconds=seconds, done=done)

    def run(
        self, machine: Machine, runners: Sequence[Runner], seconds: float, progress: Progress
    ) -> None:
        """Run every test on the machine, `seconds` each and one at a time. Raises Lost."""
        tests = [entry.test for entry in self.material.entries]
        progress.start(len(tests) * len(runners), f"running on {machine.name}")

        def done(histogram: Histogram) -> None:
            self.histograms[histogram.test, histogram.machine, histogram.runner] = histogram
            gauge.probe()
            progress.advance()

        with self._gauged(machine) as gauge:
            for runner in runners:
                runner.run(tests, machine, seconds=seconds, done=done)

    def run_programs(self, machine: Machine, seconds: float, progress: Progress) -> None:
        """Run every program as a whole on the machine, `seconds` each. Raises Lost."""
        subjects = [(each.name, each.generated.program) for each in self.material.programs]
        progress.start(len(subjects), f"running programs on {machine.name}")

        def done(run: ProgramRun) -> None:
            self.runs.append(run)
            gauge.probe()
            progress.advance()

        with self._gauged(machine) as gauge:
            whole.run(subjects, machine, seconds=seconds, done=done)

    @contextlib.contextmanager
    def _gauged(self, machine: Machine) -> Iterator[Gauge]:
        with gauged(machine) as gauge:
            try:
                yield gauge
            finally:
                known = msgspec.to_builtins(gauge.found)
                self.machines = [MachineInfo(machine.name, machine.arch, machine.emulated, known)]

    def inspect(
        self,
        inspection: Inspection,
        builds: Sequence[Build],
        seconds: float,
        progress: Progress,
    ) -> None:
        """Compile the tests in each way and compare the code with them, `seconds` for each
        question."""
        self.inspection = inspection
        progress.start(inspection.rounds * len(builds), "compiling")
        inspection.compile(builds, progress.advance)
        progress.start(sum(len(tests) for _, tests in inspection.jobs), "comparing")
        inspection.check(seconds, progress.advance)

    def record(self) -> Record:
        """Everything so far, judged, in the order of the tests."""
        place = {entry.name: at for at, entry in enumerate(self.material.entries)}
        under = {name: at for at, name in enumerate(self.models)}
        record = Record(
            manifest=Manifest(
                format=FORMAT,
                weakspot=__version__,
                plan=Plan(what=self.what),
                started=time.strftime("%Y-%m-%dT%H:%M:%S%z"),
                models=tuple(
                    ModelInfo(model.name, model.title, model.role, model.machines)
                    for model in self.models.values()
                ),
                machines=tuple(self.machines),
                notes=tuple(self.notes),
            ),
            structures=self.material.structures,
            entries=self.material.entries,
            sources=self.material.sources,
            explorations=tuple(self.explorations),
            verdicts=tuple(
                sorted(
                    self.verdicts.values(), key=lambda each: (place[each.test], under[each.model])
                )
            ),
            compiled=self.inspection.answers() if self.inspection is not None else (),
            histograms=tuple(sorted(self.histograms.values(), key=lambda each: place[each.test])),
            runs=tuple(self.runs),
        )
        # where nothing was checked, what is recorded has nothing to be compared with
        return msgspec.structs.replace(record, findings=judge(record, with_claims=self.checked))

    def _add(self, verdict: Verdict) -> None:
        self.verdicts[verdict.test, verdict.model, verdict.checker] = verdict
