"""Stores hold the answers of jobs by their keys.

In: answers, each under the key of its job. Out: which jobs need not be asked, and a Record of all
that is stored. This module has the protocol, the store in memory, and how answers become a Record;
`folder` stores a campaign in a folder; gate.store, what a project knows of its scenarios.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import msgspec

from weakspot.harness.campaign.frontiers import Frontiers
from weakspot.harness.corpus.material import Material
from weakspot.harness.values.codegen import Codes
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import Manifest, Record
from weakspot.harness.values.repair import SuggestedRepair
from weakspot.harness.values.verdict import Verdict


class Store(Protocol):
    """Holds answers."""

    @property
    def place(self) -> str:
        """Where answers outlive the process, for messages; "" if they do not."""

    @property
    def count(self) -> int:
        """How many answers there are."""

    def has(self, key: str) -> bool:
        """Whether the job of that key need not be asked again."""

    def put(self, key: str, answer: object, *, final: bool = True) -> None:
        """Store an answer. One that is not `final` holds for this command only: its job will be
        asked again. Raises WeakspotError when the disk does not take it."""


class RecordStore(Store, Protocol):
    """Holds all that a Record is made of."""

    @property
    def manifest(self) -> Manifest: ...

    @property
    def frontiers(self) -> Frontiers:
        """Where explorations that end early are stored."""

    def describe(self, manifest: Manifest) -> None:
        """Replace the manifest."""

    def subjects(self, material: Material | Record) -> None:
        """Replace what the answers are about: structures, tests and sources."""

    def findings(self, findings: Sequence[Finding]) -> None:
        """Replace the findings."""

    def record(self) -> Record:
        """All that is stored."""


class MemoryStore:
    """Answers for as long as the process lives; a RecordStore once it is given a manifest."""

    place = ""
    frontiers = Frontiers()

    def __init__(self, manifest: Manifest | None = None) -> None:
        self._record = None if manifest is None else Record(manifest=manifest)
        self._answers: dict[str, object] = {}
        self._again: set[str] = set()

    @property
    def _about(self) -> Record:
        """A record of all but the answers."""
        assert self._record is not None, "a store of answers alone"
        return self._record

    @property
    def manifest(self) -> Manifest:
        return self._about.manifest

    @property
    def count(self) -> int:
        return len(self._answers)

    def has(self, key: str) -> bool:
        return key in self._answers and key not in self._again

    def get(self, key: str) -> object:
        """The answer of that key; None without one."""
        return self._answers.get(key)

    def put(self, key: str, answer: object, *, final: bool = True) -> None:
        self._answers[key] = answer
        (self._again.discard if final else self._again.add)(key)

    def describe(self, manifest: Manifest) -> None:
        self._record = msgspec.structs.replace(self._about, manifest=manifest)

    def subjects(self, material: Material | Record) -> None:
        self._record = msgspec.structs.replace(
            self._about,
            structures=material.structures,
            entries=material.entries,
            sources=material.sources,
        )

    def findings(self, findings: Sequence[Finding]) -> None:
        self._record = msgspec.structs.replace(self._about, findings=tuple(findings))

    def record(self) -> Record:
        """All that is stored, in the order of the tests and models."""
        test = {entry.name: at for at, entry in enumerate(self._about.entries)}
        model = {each.name: at for at, each in enumerate(self.manifest.models)}

        def place(answer: object) -> tuple[int, int]:
            match answer:
                case Verdict():
                    return test.get(answer.test, -1), model.get(answer.model, -1)
                case Histogram():
                    return test.get(answer.test, -1), 0
                case Codes():
                    return test.get(answer.source, -1), 0
            return 0, 0

        ordered = sorted(self._answers.items(), key=lambda each: place(each[1]))
        return with_answers(self._about, ordered)


def with_answers(record: Record, answers: Iterable[tuple[str, object]]) -> Record:
    """The record with these answers, which come with their keys. The last of several answers to one
    question counts; answers about a test, a program or a model that has changed since do not."""
    tests = {entry.name: entry.digest for entry in record.entries}
    models = {model.name: model.digest for model in record.manifest.models}
    programs = record.manifest.programs
    verdicts: dict[tuple[str, str, str], Verdict] = {}
    explorations: dict[tuple[str, str], Exploration] = {}
    histograms: dict[tuple[str, str, str], Histogram] = {}
    runs: dict[tuple[str, str, str], ProgramRun] = {}
    compiled: dict[str, Codes] = {}
    repairs: dict[str, SuggestedRepair] = {}
    for key, answer in answers:
        about, _, rest = key.partition(":")
        under = rest.partition(":")[0]
        match answer:
            case Verdict(test=test, model=model, checker=checker):
                if (about, under) == (tests.get(test), models.get(model)):
                    verdicts[test, model, checker] = answer
            case Exploration(program=program, model=model):
                if (about, under) == (programs.get(program), models.get(model)):
                    explorations[program, model] = answer
            case Histogram(test=test, machine=machine, runner=runner):
                if about == tests.get(test):
                    histograms[test, machine, runner] = answer
            case ProgramRun(program=program, machine=machine, runner=runner):
                if about == programs.get(program):
                    runs[program, machine, runner] = answer
            case SuggestedRepair(program=program, model=model):
                if (about, under) == (programs.get(program), models.get(model)):
                    repairs[program] = answer
            case Codes(source=test):
                if about == tests.get(test):
                    compiled[test] = answer
    return msgspec.structs.replace(
        record,
        verdicts=tuple(verdicts.values()),
        explorations=tuple(explorations.values()),
        histograms=tuple(histograms.values()),
        runs=tuple(runs.values()),
        compiled=tuple(code for codes in compiled.values() for code in codes.codes),
        repairs=tuple(repairs.values()),
    )
