"""The gate's work: each scenario under each model, unless the answer is known already.

Answers are kept in the project's folder `.weakspot`, a file each as soon as it is there, under a
key of all that decides them: the source with its headers, macros, compiler, model, bounds,
engine. So Ctrl-C loses one answer at most, an unchanged scenario costs nothing, and a torn file
is an answer that is found again. What a limit of time cut is not kept: it may be found next time.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput
from weakspot.generators.litmus import Site, Test, read_test
from weakspot.generators.pipeline import Generated, generate
from weakspot.generators.source import frontend
from weakspot.harness.campaign.jobs import model_digest
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.explorer import Bounds, EngineExplorer
from weakspot.harness.corpus import models
from weakspot.harness.corpus.material import default_models
from weakspot.harness.corpus.models import Model
from weakspot.harness.gate.architectures import possible_on
from weakspot.harness.gate.config import Config
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.record import program_name
from weakspot.harness.values.verdict import Verdict
from weakspot.system import cache as kept

FOLDER = ".weakspot"
COMPARED = ("sc", "tso")
"""Under what a program that violates something is explored too, to tell where it happens: sc is
what memory orders cannot repair, tso is x86."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a scenario under a model: its exploration, or a litmus test's verdict.
    `sites` are those that the exploration speaks of, `machines` says of its tests where they can
    come about. `inputs` are the files it depends on."""

    exploration: Exploration | None = None
    verdict: Verdict | None = None
    sites: tuple[Site, ...] = ()
    machines: dict[str, dict[str, bool]] = {}
    inputs: kept.Inputs

    @property
    def seconds(self) -> float:
        """How long finding it took."""
        found = self.exploration or self.verdict
        return found.seconds if found is not None else 0.0


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario under a model; `compared` when it only tells where a violation happens."""

    file: str
    model: Model
    compared: bool = False


Ask = Callable[[Job, float], None]


class Answered(msgspec.Struct, frozen=True, kw_only=True):
    job: Job
    answer: Answer
    unchanged: bool


class Work:
    """The work of one run; `answered` is what is there so far, `notes` what was left out, `tests`
    are the litmus files among the scenarios."""

    def __init__(self, config: Config, *, cached: bool, progress: Progress) -> None:
        self.config, self.progress = config, progress
        self.notes: list[str] = []
        self.answered: list[Answered] = []
        self.end = time.monotonic() + config.budget
        self._cache = folder(config.root) / "answers" if cached else None
        self._digests: dict[Path, str] = {}
        self._keys: dict[str, str] = {}
        self.tests: dict[str, Test] = {}
        self._explorer = EngineExplorer()
        self._checker = Engine()

    def do(self, scenarios: Sequence[str]) -> None:
        """Answer every question about the scenarios. Raises BadInput, Unsupported, MissingTool or
        ToolFailed for one that cannot be read or compiled."""
        waiting: dict[str, list[Job]] = {}
        for file in scenarios:
            waiting[file] = [job for job in self._jobs(file) if not self._known(job)]
        left = sum(map(len, waiting.values()))
        self.progress.start(left, "gate")
        for file, jobs in waiting.items():
            ask = self._asked(file)
            for job in jobs:
                ask(job, self._share(left))
                left -= 1
                self.progress.advance()
            for job in self._compared(file):
                if not self._known(job):
                    ask(job, self._share(left + 1))
        place = {file: at for at, file in enumerate(scenarios)}
        self.answered.sort(key=lambda each: place[each.job.file])

    def path(self, file: str) -> Path:
        """A file of the project as errors name it: relative to where the user is."""
        return Path(os.path.relpath(self.config.root / file))

    # --- questions ----------------------------------------------------------------------------

    def _jobs(self, file: str) -> Iterator[Job]:
        """The scenario under the configured models; a litmus test of another dialect under those
        that read it."""
        asked = self.config.models
        if file.endswith(".litmus"):
            test = self.tests[file] = read_test(self.path(file))
            asked = tuple(each for each in asked if not self._checker.applicable(test, each))
            asked = asked or tuple(map(models.resolve, default_models(test)))
            mute = [self._checker.applicable(test, each) for each in asked]
        else:
            mute = [self._explorer.applicable(each) for each in asked]
        if asked and all(mute):
            raise BadInput(f"nothing decides {file}: {mute[0]}", place=str(self.path(file)))
        for model, why in zip(asked, mute, strict=True):
            if why:
                self.notes.append(f"{file}: {why}")
            else:
                yield Job(file=file, model=model)

    def _compared(self, file: str) -> Iterator[Job]:
        """What tells where a violation happens, if there is one."""
        here = [each for each in self.answered if each.job.file == file]
        found = (each.answer.exploration for each in here)
        if any(exploration and exploration.violations for exploration in found):
            for name in COMPARED:
                if name not in {each.job.model.name for each in here}:
                    yield Job(file=file, model=models.resolve(name), compared=True)

    def _share(self, left: int) -> float:
        """How many seconds of the budget the next of so many jobs may take."""
        return max(0.0, self.end - time.monotonic()) / left

    # --- answers ------------------------------------------------------------------------------

    def _known(self, job: Job) -> bool:
        """Whether the answer is kept from an earlier run, and still holds."""
        found = kept.read(self.place_of(self.key(job)), Answer)
        if found is None or not found.inputs.unchanged(*self._searched(job.file)):
            return False
        self.answered.append(Answered(job=job, answer=found, unchanged=True))
        return True

    def place_of(self, key: str) -> Path | None:
        """Where the answer of that key is kept."""
        return self._cache / f"{kept.digest(key)}.json" if self._cache is not None else None

    def key(self, job: Job) -> str:
        """All that decides a job's answer and is known before its files are read."""
        path = self.path(job.file)
        if job.model.path not in self._digests:
            self._digests[job.model.path] = model_digest(job.model.path)
        digest = self._digests[job.model.path]
        parts = [__version__, self._explorer.version, job.file, job.model.name, digest]
        if job.file not in self.tests:
            gate = self.config.gate
            if job.file not in self._keys:
                asked = frontend.question(path, defines=gate.defines, include=self.config.include)
                self._keys[job.file] = asked.key
            parts += [self._keys[job.file], str(gate.unroll)]
        return " ".join(parts)

    def _searched(self, file: str) -> tuple[Path, Sequence[Path]]:
        """The folder that names of files are relative to, and where headers are looked for."""
        folder = self.path(file).parent
        return folder, () if file in self.tests else (folder, *self.config.include)

    def _keep(self, job: Job, answer: Answer, seconds: float) -> None:
        """Take the answer of a question that could take so long."""
        self.answered.append(Answered(job=job, answer=answer, unchanged=False))
        found = answer.exploration or answer.verdict
        assert found is not None
        known = found.result if isinstance(found, Exploration) else found.observation
        if known != "Unknown" or found.seconds < seconds:
            kept.write(self.place_of(self.key(job)), answer)

    def _asked(self, file: str) -> Ask:
        """Who is asked about one scenario, which is compiled once, when that is needed."""
        folder, searched = self._searched(file)
        if file in self.tests:
            inputs = kept.inputs((Path(file).name,), folder)
            return lambda job, seconds: self._check(job, seconds, inputs)

        @cache
        def made() -> tuple[Generated, kept.Inputs]:
            self.progress.at(file)
            generated = generate(
                self.path(file),
                structure=file,
                scenario=Path(file).stem,
                defines=self.config.gate.defines,
                include=self.config.include,
                loops=self.config.gate.unroll,
            )
            return generated, kept.inputs(tuple(generated.program.files), folder, searched)

        def ask(job: Job, seconds: float) -> None:
            if seconds:
                self._explore(job, seconds, *made())
            else:
                self._unasked(job)

        return ask

    def _check(self, job: Job, seconds: float, inputs: kept.Inputs) -> None:
        def done(verdict: Verdict) -> None:
            self._keep(job, Answer(verdict=verdict, inputs=inputs), seconds)

        test = self.tests[job.file]
        self.progress.at(f"{job.file} under {job.model.name}")
        self._checker.check([test], job.model, seconds=max(seconds, 0.001), done=done)

    def _explore(self, job: Job, seconds: float, generated: Generated, inputs: kept.Inputs) -> None:
        bounds = Bounds(
            loops=self.config.gate.unroll,
            seconds=max(seconds, 0.001),
            given=("unroll =", "", "a budget that leaves more than"),
        )
        found = self._explorer.explore(
            generated,
            job.model,
            bounds,
            structure=job.file,
            scenario=Path(job.file).stem,
            done=lambda _: None,
        )
        places = {place for each in found.violations for place in _places(each)}
        # a place that several calls lead to is one
        sites = (
            msgspec.structs.replace(site, chain=())
            for site in generated.program.sites
            if str(site) in places
        )
        self._keep(
            job,
            Answer(
                exploration=found,
                sites=tuple(dict.fromkeys(sites)),
                machines={test.name: possible_on(test) for test in found.tests},
                inputs=inputs,
            ),
            seconds,
        )

    def _unasked(self, job: Job) -> None:
        exploration = Exploration(
            program=program_name(job.file, Path(job.file).stem),
            model=job.model.name,
            result="Unknown",
            reasons=(f"the budget of {self.config.budget:g} s was used up before",),
        )
        self._keep(job, Answer(exploration=exploration, inputs=kept.Inputs((), ())), 0.0)


def folder(root: Path) -> Path:
    """The project's folder of what is kept; git is told to leave it out. None of it has to be
    there, and what cannot be written costs time only."""
    made = root / FOLDER
    with contextlib.suppress(OSError):
        made.mkdir(exist_ok=True)
        if not (made / ".gitignore").exists():
            (made / ".gitignore").write_text("*\n", encoding="utf-8")
    return made


def _places(violation: Violation) -> Iterator[str]:
    yield from violation.sites
    if violation.witness is not None:
        yield from (event.site for event in violation.witness.events)
