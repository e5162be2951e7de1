"""The main job as a plan and its execution: programs × models, tests × models × checkers, tests ×
machines × runners.

A job is named by what its answer depends on: the program's or the test's content, the model's
file, the checker and its version. A job whose answer is in the campaign's folder is not done
again, so a campaign that was cut, whatever cut it, is finished by the same command. Programs are
explored first, since a violation makes a test of its own; then tests are checked; what runs on
hardware comes last and alone, since it is all about timing.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput, MissingTool, ToolFailed, WeakspotError
from weakspot.harness import machines
from weakspot.harness.campaign.store import Codes, Store, latest_unfinished, load, new_folder
from weakspot.harness.checkers import CHECKERS, Checker
from weakspot.harness.checkers.explorer import Bounds, EngineExplorer, Explorer
from weakspot.harness.codegen import compilers
from weakspot.harness.codegen.check import LANGUAGE, Inspection
from weakspot.harness.codegen.compilers import Build
from weakspot.harness.corpus import models
from weakspot.harness.corpus.material import (
    Generator,
    Material,
    Subject,
    from_source,
    gather,
    joined,
)
from weakspot.harness.corpus.models import Model
from weakspot.harness.judge.findings import judge
from weakspot.harness.machines import Lost, Machine
from weakspot.harness.machines.prices import Prices
from weakspot.harness.machines.profile import profile
from weakspot.harness.runners import RUNNERS, Runner, whole
from weakspot.harness.runners.gauge import Gauge, gauged
from weakspot.harness.values.annotations import annotate
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import (
    FORMAT,
    AnnotationCosts,
    Entry,
    MachineInfo,
    Manifest,
    ModelInfo,
    Plan,
    Record,
    digest,
    key,
)
from weakspot.harness.values.verdict import Verdict

_TOGETHER = 40  # tests whose compiling is one job

RESULTS = Path("results")
"""Where campaigns are written by default."""


class Progress(Protocol):
    """Told what is being done, so that a person can see it."""

    def start(self, total: int, what: str) -> None:
        """A phase of `total` jobs begins; 0 when it is not known how many."""

    def advance(self, count: int = 1) -> None:
        """So many jobs of the phase are done."""

    def at(self, text: str) -> None:
        """What the phase is at: a job that takes its time, or how far that is."""

    def message(self, text: str) -> None:
        """Something worth a line."""


class Quiet:
    """Progress that nobody watches."""

    def start(self, total: int, what: str) -> None: ...

    def advance(self, count: int = 1) -> None: ...

    def at(self, text: str) -> None: ...

    def message(self, text: str) -> None: ...


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """Where a plan's names lead to; tests put their own things here."""

    checker: Callable[[str], Checker]
    runner: Callable[[str], Runner]
    machine: Callable[[str], Machine]
    profile: Callable[[Machine], object]
    model: Callable[[str], Model]
    gauge: Callable[[Machine], contextlib.AbstractContextManager[Gauge]] = gauged
    generator: Generator = from_source
    explorer: Explorer = EngineExplorer()
    whole: Callable[..., None] | None = None  # whole.run; without it programs are not run
    prices: Callable[[], Prices] | None = None
    corpus: Path | None = None


class Stopped(WeakspotError):
    """The campaign was interrupted; what was done is in its folder."""

    def __init__(self, folder: Path, kept: int) -> None:
        super().__init__(
            f"stopped; {kept:,} answers are kept in {folder}",
            advice="give the same command again to go on",
        )
        self.folder = folder


def installed() -> Tools:
    """The tools there are."""
    return Tools(
        checker=CHECKERS.get,
        runner=RUNNERS.get,
        machine=machines.resolve,
        profile=profile,
        model=models.resolve,
        whole=whole.run,
        prices=Prices,
    )


def run(
    plan: Plan,
    *,
    folder: Path | None = None,
    root: Path = RESULTS,
    tools: Tools | None = None,
    progress: Progress | None = None,
) -> tuple[Path, Record]:
    """Do what the plan says, or what is left of it; the folder, and all that is in it.

    Without `folder` the newest campaign below `root` with this plan that was cut goes on, else a
    new one begins. Raises Stopped on Ctrl-C, BadInput for a plan that makes no sense, and what
    the generators raise for a source that does not compile. A tool that is missing or fails is
    noted in the campaign, and the rest goes on.
    """
    tools = tools or installed()
    progress = progress or Quiet()
    under = _models(plan.models, tools)
    ways = compilers.builds(plan.compiled) if plan.compiled else []
    places, unreached = _machines(plan.machines, tools)
    folder = folder or latest_unfinished(root, plan) or new_folder(root)
    with _open(folder, plan, progress) as store:
        work = _Work(plan, store, tools, progress)
        for error in unreached:
            work.miss(error.message)
        try:
            work.gather(under)
            work.explore()
            work.check()
            work.inspect(ways)
            work.run(places)
            work.finish()
        except KeyboardInterrupt:
            work.describe()
            raise Stopped(folder, len(store.done)) from None
    return folder, load(folder)


def model_digest(path: Path) -> str:
    """A name for a cat file together with the files beside it that it includes."""
    texts: dict[Path, str] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        if file in texts or not file.is_file():
            continue
        texts[file] = file.read_text(encoding="utf-8", errors="replace")
        included = re.findall(r'\binclude\s+"([^"]+)"', texts[file])
        waiting.extend(file.parent / name for name in included)
    return digest(*(text for _, text in sorted(texts.items())))


def _models(names: Sequence[str], tools: Tools) -> dict[str, Model]:
    """The models by the name that verdicts carry; two files of one name are an error."""
    found: dict[str, Model] = {}
    for name in names:
        model = tools.model(name)
        if found.setdefault(model.name, model) != model:
            raise BadInput(
                f"two models are called {model.name}",
                place=str(model.path),
                advice="rename one of the files",
            )
    return found


def _machines(names: Sequence[str], tools: Tools) -> tuple[list[Machine], list[Lost]]:
    """The machines, and why others cannot be reached: these wait until the campaign goes on."""
    found, lost = [], []
    for name in names:
        try:
            found.append(tools.machine(name))
        except Lost as error:
            lost.append(error)
    return found, lost


def _open(folder: Path, plan: Plan, progress: Progress) -> Store:
    if not (folder / "campaign.json").is_file():
        manifest = Manifest(format=FORMAT, weakspot=__version__, plan=plan, started=_now())
        return Store.create(folder, manifest)
    store = Store.open(folder)
    if store.manifest.plan != plan:
        store.close()
        raise BadInput(
            "this campaign has another plan",
            place=str(folder),
            advice="name another folder, or give the command that the campaign began with",
        )
    if store.done:
        progress.message(f"going on with {folder}: {len(store.done):,} answers are there")
    for note in store.notes:
        progress.message(note)
    return store


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def explored(
    explorer: Explorer, subject: Subject, model: Model, bounds: Bounds, progress: Progress
) -> Exploration:
    """Explore one program under one model, and say how far that is."""
    what = f"{subject.name} under {model.name}"
    progress.at(what)
    return explorer.explore(
        subject.generated,
        model,
        bounds,
        structure=subject.structure,
        scenario=subject.scenario,
        done=lambda count: progress.at(f"{what}: {count:,} executions"),
    )


def _priced(material: Material, prices: Prices) -> Material:
    """The material with what is remembered of what its orders cost."""

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


class _Check(msgspec.Struct, frozen=True):
    """The tests that one checker is to be asked about under one model, by the jobs' keys."""

    checker: Checker
    model: Model
    jobs: dict[str, Entry]


class _Work:
    """A campaign in the making: what is to be done, and what could not be."""

    def __init__(self, plan: Plan, store: Store, tools: Tools, progress: Progress) -> None:
        self.plan, self.store, self.tools, self.progress = plan, store, tools, progress
        self.material = Material(structures=(), entries=(), programs=(), sources=())
        self.models: dict[str, Model] = {}
        self.digests: dict[str, str] = {}
        self.versions: dict[str, str] = {}
        self.machines: dict[str, MachineInfo] = {}
        self.notes: list[str] = []
        self.failed = False

    def gather(self, named: dict[str, Model]) -> None:
        """Generate the tests, and write down what the campaign is about."""
        self.progress.start(0, "generating")
        self.material = gather(
            self.plan.what,
            under=tuple(named),
            generator=self.tools.generator,
            report=lambda _: self.progress.advance(),
            root=self.tools.corpus,
        )
        if self.tools.prices is not None:
            self.material = _priced(self.material, self.tools.prices())
        under = named or _models(self.material.models, self.tools)
        self.digests = {name: model_digest(model.path) for name, model in under.items()}
        self.models = under
        self.versions.update(compiler=", ".join(self.material.compilers))
        self._subjects()

    def explore(self) -> None:
        """Explore every program that is not yet; what violates something becomes a test too."""
        explorer = self.tools.explorer
        mute: Counter[str] = Counter()
        jobs: dict[str, tuple[Subject, Model]] = {}
        for subject in self.material.programs:
            for name in subject.models:
                if reason := explorer.applicable(self.models[name]):
                    mute[reason] += 1
                    continue
                digest = subject.generated.program.digest
                job = key(digest, self.digests[name], explorer.version, subject.name)
                if job not in self.store.done:
                    jobs[job] = subject, self.models[name]
        for reason, count in mute.items():
            self.note(f"not explored, {count} times: {reason}")
        self.progress.start(len(jobs), "exploring")
        bounds = Bounds(self.plan.loops, self.plan.executions, self.plan.seconds_explore)
        for job, (subject, model) in jobs.items():
            self.store.exploration(job, explored(explorer, subject, model, bounds, self.progress))
            self.progress.advance()
        self.material = joined(self.material, load(self.store.folder).explorations)
        self._subjects()

    def _subjects(self) -> None:
        self.store.subjects(self.material.structures, self.material.entries, self.material.sources)
        self.describe()

    def check(self) -> None:
        """Ask every checker what is not yet answered."""
        questions = list(self._checks())
        self.describe()
        self.progress.start(sum(len(each.jobs) for each in questions), "checking")
        for question in questions:
            keys = {entry.name: name for name, entry in question.jobs.items()}

            def done(verdict: Verdict, keys: dict[str, str] = keys) -> None:
                self.store.verdict(keys[verdict.test], verdict)
                self.progress.advance()

            tests = [entry.test for entry in question.jobs.values()]
            with self._tolerant(f"{question.checker.name} under {question.model.name}"):
                question.checker.check(
                    tests, question.model, seconds=self.plan.seconds_check, done=done
                )

    def _checks(self) -> Iterator[_Check]:
        mute: dict[tuple[str, str], str] = {}  # what nobody can be asked, and why
        asked: set[tuple[str, str]] = set()
        for name in self.plan.checkers:
            checker = self.tools.checker(name)
            tool = checker.available()
            if tool is None:
                self.note(f"{name} is not installed: nothing was checked with it")
                continue
            self.versions[name] = tool.version or "unknown"
            for model in self.models.values():
                jobs: dict[str, Entry] = {}
                for entry in self.material.entries:
                    if model.name not in entry.models:
                        continue
                    if reason := checker.applicable(entry.test, model):
                        mute.setdefault((entry.name, model.name), reason)
                        continue
                    asked.add((entry.name, model.name))
                    job = key(entry.digest, self.digests[model.name], name, self.versions[name])
                    if job not in self.store.done:
                        jobs[job] = entry
                if jobs:
                    yield _Check(checker, model, jobs)
        reasons = Counter(reason for pair, reason in mute.items() if pair not in asked)
        for reason, count in reasons.items():
            self.note(f"not checked, {count} times: {reason}")

    def inspect(self, ways: Sequence[Build]) -> None:
        """Compare what compilers make of the tests with the tests."""
        if not ways:
            return
        language, checker = self.tools.model(LANGUAGE), self.tools.checker(CHECKERS.default.name)
        how = digest(*(f"{each.place.name} {each.name}" for each in ways))
        left: dict[str, Entry] = {}
        for entry in self.material.entries:
            job = key(entry.digest, model_digest(language.path), "compiled", how)
            if entry.test.arch == "C" and job not in self.store.done:
                left[job] = entry
        self.progress.start(len(left), "compiling")
        waiting = list(left.items())
        for at in range(0, len(waiting), _TOGETHER):
            jobs = waiting[at : at + _TOGETHER]
            inspection = Inspection([entry.test for _, entry in jobs], [language], checker)
            with self._tolerant("what compilers made of tests"):
                inspection.compile(ways, lambda: None)
                inspection.check(self.plan.seconds_check, lambda: None)
                answers = inspection.answers()
                for job, entry in jobs:
                    codes = tuple(each for each in answers if each.source == entry.name)
                    self.store.compiled(job, Codes(entry.name, codes))
            self.progress.advance(len(jobs))

    def run(self, machines: Sequence[Machine]) -> None:
        """Run every program as a whole and every test on every machine, one at a time."""
        for machine in machines:
            with self._tolerant(f"the profile of {machine.name}"):
                known = msgspec.to_builtins(self.tools.profile(machine), enc_hook=str)
                self._met(machine, known)
        self.describe()
        for machine in machines:
            with self.tools.gauge(machine) as gauge:
                try:
                    for name in self.plan.runners:
                        runner = self.tools.runner(name)
                        if why := runner.available(machine):
                            self.note(f"{name} on {machine.name}: {why}")
                            continue
                        if runner.whole_programs and self.tools.whole is not None:
                            self._run_programs(self.tools.whole, machine, gauge)
                        self._run(runner, machine, gauge)
                finally:
                    self._met(machine, msgspec.to_builtins(gauge.found))

    def _met(self, machine: Machine, known: dict[str, object]) -> None:
        """Add what is known of the machine."""
        before = self.machines.get(machine.name)
        profile = {**(before.profile if before else {}), **known}
        note = MachineInfo(machine.name, machine.arch, machine.emulated, profile)
        self.machines[machine.name] = note

    def _run_programs(self, run: Callable[..., None], machine: Machine, gauge: Gauge) -> None:
        how = (machine.name, machine.arch, "whole", f"{self.plan.seconds_run:g}")
        keys = {
            each.name: key(each.generated.program.digest, *how, each.name)
            for each in self.material.programs
        }
        left = [each for each in self.material.programs if keys[each.name] not in self.store.done]
        self.progress.start(len(left), f"running programs on {machine.name}")

        def done(found: ProgramRun) -> None:
            self.store.run(keys[found.program], found)
            gauge.probe()
            self.progress.advance()

        with self._tolerant(f"programs on {machine.name}"):
            subjects = [(each.name, each.generated.program) for each in left]
            run(subjects, machine, seconds=self.plan.seconds_run, done=done)

    def _run(self, runner: Runner, machine: Machine, gauge: Gauge) -> None:
        """A machine that dies takes the test with it that it was running; the others run if it is
        back at once, else when the campaign goes on."""
        keys = {
            entry.name: key(
                entry.digest, machine.name, machine.arch, runner.name, f"{self.plan.seconds_run:g}"
            )
            for entry in self.material.entries
        }
        left = {
            each.name: each.test
            for each in self.material.entries
            if keys[each.name] not in self.store.done
        }
        self.progress.start(len(left), f"running on {machine.name} with {runner.name}")

        def done(histogram: Histogram) -> None:
            job = keys[histogram.test]
            # under a name of its own, so that the job is not done
            self.store.histogram(f"{job}:lost" if histogram.lost else job, histogram)
            del left[histogram.test]
            gauge.probe()
            self.progress.advance()

        waiting = len(left) + 1
        while left and len(left) < waiting:
            waiting = len(left)
            with self._tolerant(f"{runner.name} on {machine.name}"):
                tests = list(left.values())
                runner.run(tests, machine, seconds=self.plan.seconds_run, done=done)

    def finish(self) -> None:
        """Judge, and close the campaign unless something is left that may work next time."""
        self.describe("" if self.failed else _now())
        self.store.findings(judge(load(self.store.folder)))

    def describe(self, finished: str = "") -> None:
        old = self.store.manifest
        known = {machine.name: machine for machine in old.machines} | self.machines
        self.store.describe(
            msgspec.structs.replace(
                old,
                weakspot=__version__,
                finished=finished,
                tools={**old.tools, **self.versions},
                models=tuple(
                    ModelInfo(
                        model.name, model.title, model.role, model.machines, self.digests[name]
                    )
                    for name, model in self.models.items()
                ),
                machines=tuple(known.values()),
                programs={
                    each.name: each.generated.program.digest for each in self.material.programs
                },
                notes=tuple(self.notes),
            )
        )

    def miss(self, why: str) -> None:
        """Something is left to do when the campaign goes on."""
        self.failed = True
        self.note(why)

    def note(self, text: str) -> None:
        self.notes.append(text)
        self.progress.message(text)

    @contextlib.contextmanager
    def _tolerant(self, what: str) -> Iterator[None]:
        """A tool that fails is noted, and asked again next time; bad input and a full disk end
        the campaign."""
        try:
            yield
        except (MissingTool, ToolFailed) as error:
            self.miss(f"{what}: {error.message}")
