"""A campaign's folder: what was found, written so that nothing done is lost.

    campaign.json        the plan, versions of the tools, profiles of the machines
    structures.json      the structures and what claims.toml said of them
    sources.jsonl        the source files that sites point into, as they were
    tests/               the litmus tests, and tests.jsonl: their shapes, cycles and origins
    verdicts.jsonl       one answer a line; explorations, histograms and runs.jsonl likewise
    findings.jsonl       what was made of them

The four files of answers only grow, a line a job, so a process that is killed at any point
leaves at most one torn line, the last; the next one cuts it away and redoes that job. The others
are small, and are replaced whole. One process at a time writes a campaign.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from weakspot.errors import BadInput, WeakspotError
from weakspot.harness.values.codegen import CodegenComparison
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import (
    FORMAT,
    Entry,
    Manifest,
    Plan,
    Record,
    SourceFile,
    StructureInfo,
)
from weakspot.harness.values.verdict import Verdict
from weakspot.system.files import (
    Journal,
    disk,
    lines,
    pretty,
    replace,
    rows,
    unreadable,
)

MANIFEST = "campaign.json"
T = TypeVar("T", bound=msgspec.Struct)


class Codes(msgspec.Struct, frozen=True):
    """What compilers made of a test, in all ways that a campaign asks for."""

    source: str
    codes: tuple[CodegenComparison, ...]


class Store:
    """A campaign's folder, open for writing; a context manager.

    `done` holds the keys of the jobs whose answers are in the folder, `notes` says what had to
    be repaired. Every method raises WeakspotError when the disk does not take what it writes.
    """

    def __init__(self, folder: Path, manifest: Manifest, lock: int) -> None:
        self.folder = folder
        self.manifest = manifest
        self.notes: list[str] = []
        self._lock = lock
        self._verdicts = Journal(folder / "verdicts.jsonl", Verdict)
        self._explorations = Journal(folder / "explorations.jsonl", Exploration)
        self._histograms = Journal(folder / "histograms.jsonl", Histogram)
        self._runs = Journal(folder / "runs.jsonl", ProgramRun)
        self._compiled = Journal(folder / "compiled.jsonl", Codes)
        try:
            for journal in self._journals:
                if note := journal.open():
                    self.notes.append(note)
        except WeakspotError:
            self.close()
            raise
        self.done: set[str] = set().union(*(journal.keys for journal in self._journals))

    @classmethod
    def create(cls, folder: Path, manifest: Manifest) -> Self:
        """Begin a campaign in a folder that is new or empty."""
        with disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
            begun = {".lock", f"{MANIFEST}.new"}  # of a campaign that was cut at once
            if {path.name for path in folder.iterdir()} - begun:
                raise BadInput(
                    "the folder is not empty and is not a campaign",
                    place=str(folder),
                    advice="name a new folder",
                )
        lock = _acquire(folder)
        replace(folder / MANIFEST, pretty(manifest))
        return cls(folder, manifest, lock)

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Go on with a campaign."""
        manifest = read_manifest(folder)
        return cls(folder, manifest, _acquire(folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Bring everything to the disk, and let others write."""
        try:
            for journal in self._journals:
                journal.close()
        finally:
            os.close(self._lock)

    @property
    def _journals(
        self,
    ) -> tuple[
        Journal[Verdict],
        Journal[Exploration],
        Journal[Histogram],
        Journal[ProgramRun],
        Journal[Codes],
    ]:
        return (
            self._verdicts,
            self._explorations,
            self._histograms,
            self._runs,
            self._compiled,
        )

    def verdict(self, key: str, verdict: Verdict) -> None:
        self._verdicts.add(key, verdict)
        self.done.add(key)

    def exploration(self, key: str, exploration: Exploration) -> None:
        self._explorations.add(key, exploration)
        self.done.add(key)

    def histogram(self, key: str, histogram: Histogram) -> None:
        self._histograms.add(key, histogram)
        self.done.add(key)

    def run(self, key: str, run: ProgramRun) -> None:
        self._runs.add(key, run)
        self.done.add(key)

    def compiled(self, key: str, codes: Codes) -> None:
        self._compiled.add(key, codes)
        self.done.add(key)

    def describe(self, manifest: Manifest) -> None:
        """Replace campaign.json."""
        self.manifest = manifest
        replace(self.folder / MANIFEST, pretty(manifest))

    def subjects(
        self,
        structures: Sequence[StructureInfo],
        entries: Sequence[Entry],
        sources: Sequence[SourceFile],
    ) -> None:
        """Write what the campaign is about, in place of what was there."""
        replace(self.folder / "structures.json", pretty(structures))
        replace(self.folder / "sources.jsonl", lines(sources))
        tests = self.folder / "tests"
        with disk(tests):
            tests.mkdir(exist_ok=True)
            stale = {path.name for path in tests.glob("*.litmus")}
            for entry in entries:
                path = tests / entry.file
                if entry.file not in stale or path.read_text(encoding="utf-8") != entry.test.text:
                    path.write_text(entry.test.text, encoding="utf-8")
                stale.discard(entry.file)
            for name in stale:
                (tests / name).unlink()
        replace(tests / "tests.jsonl", lines(entries))

    def findings(self, findings: Sequence[Finding]) -> None:
        replace(self.folder / "findings.jsonl", lines(findings))


def load(folder: Path) -> Record:
    """Read a campaign, also one that is still being written.

    Where a job was done more than once the last answer counts; answers about a test or a model
    that has changed since do not. Raises BadInput, naming file and line, for what is not a
    campaign's.
    """
    manifest = read_manifest(folder)
    notes: list[str] = []

    def answers(name: str, type_: type[T]) -> list[tuple[str, T]]:
        journal = Journal(folder / name, type_)
        found, _, note = journal.read()
        if note:
            notes.append(note)
        return found

    entries = rows(folder / "tests" / "tests.jsonl", Entry)
    tests = {entry.name: entry.digest for entry in entries}
    models = {model.name: model.digest for model in manifest.models}
    verdicts = {
        (each.test, each.model, each.checker): each
        for key, each in answers("verdicts.jsonl", Verdict)
        if key.split(":")[:2] == [tests.get(each.test), models.get(each.model)]
    }
    histograms = {
        (each.test, each.machine, each.runner): each
        for key, each in answers("histograms.jsonl", Histogram)
        if key.split(":")[0] == tests.get(each.test)
    }
    runs = {
        (each.program, each.machine, each.runner): each
        for key, each in answers("runs.jsonl", ProgramRun)
        if key.split(":")[0] == manifest.programs.get(each.program)
    }
    explorations = {
        (each.program, each.model): each
        for key, each in answers("explorations.jsonl", Exploration)
        if key.split(":")[:2] == [manifest.programs.get(each.program), models.get(each.model)]
    }
    compiled = {
        each.source: each.codes
        for key, each in answers("compiled.jsonl", Codes)
        if key.split(":")[0] == tests.get(each.source)
    }
    return Record(
        manifest=manifest,
        structures=_structures(folder),
        entries=entries,
        sources=rows(folder / "sources.jsonl", SourceFile),
        verdicts=tuple(verdicts.values()),
        explorations=tuple(explorations.values()),
        histograms=tuple(histograms.values()),
        runs=tuple(runs.values()),
        compiled=tuple(code for codes in compiled.values() for code in codes),
        findings=rows(folder / "findings.jsonl", Finding),
        notes=tuple(notes),
    )


def read_manifest(folder: Path) -> Manifest:
    """campaign.json of a folder; BadInput when the folder holds no campaign we can read."""
    path = folder / MANIFEST
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(
            "not a campaign's folder",
            place=str(folder),
            advice=f"expected {MANIFEST} in it ({error.strerror})",
        ) from error
    try:
        version = msgspec.json.decode(content, type=_Version).format
        if version != FORMAT:
            raise BadInput(
                f"a campaign of format {version}; this weakspot reads format {FORMAT}",
                place=str(path),
                advice="use the weakspot that wrote it, or run the campaign anew",
            )
        return msgspec.json.decode(content, type=Manifest)
    except msgspec.DecodeError as error:
        raise BadInput(f"not a campaign's description: {error}", place=str(path)) from error


def latest_unfinished(root: Path, plan: Plan) -> Path | None:
    """The newest campaign below `root` with this plan that was cut and that nobody is writing."""
    found = []
    for path in root.glob(f"*/{MANIFEST}"):
        with contextlib.suppress(BadInput):
            manifest = read_manifest(path.parent)
            if not manifest.finished and manifest.plan == plan:
                found.append((manifest.started, path.parent))
    for _, folder in sorted(found, reverse=True):
        with contextlib.suppress(WeakspotError):
            os.close(_acquire(folder))
            return folder
    return None


def new_folder(root: Path, moment: time.struct_time | None = None) -> Path:
    """A folder for a campaign that starts now: root/2026-11-21-1402, with -2 when that exists."""
    stamp = time.strftime("%Y-%m-%d-%H%M", moment or time.localtime())
    folder, number = root / stamp, 1
    while folder.exists():
        number += 1
        folder = root / f"{stamp}-{number}"
    return folder


class _Version(msgspec.Struct):
    format: int


def _structures(folder: Path) -> tuple[StructureInfo, ...]:
    path = folder / "structures.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[StructureInfo, ...])
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise unreadable(path, error) from error
    except msgspec.DecodeError as error:
        raise BadInput(f"damaged: {error}", place=str(path)) from error


def _acquire(folder: Path) -> int:
    """Lock the campaign; the lock goes with the process, however that ends."""
    with disk(folder):
        lock = os.open(folder / ".lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise WeakspotError(
            "another weakspot is writing to this campaign",
            place=str(folder),
            advice="wait until it has ended, or name another folder",
        ) from error
    except OSError:
        pass  # a file system without locks: nothing to be done, and rarely two at once
    return lock
