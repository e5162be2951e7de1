"""A campaign's folder: what was found, written so that no answer is lost.

    campaign.json        the plan, versions of the tools, profiles of the machines
    structures.json      the structures with their claims, as claims.toml had them
    sources.jsonl        the source files that sites point into, as they were
    tests/               the litmus tests, and tests.jsonl: their shapes, cycles and origins
    verdicts.jsonl       one answer per line; explorations, histograms, runs, compiled likewise
    findings.jsonl       the findings
    frontiers/           what is needed to resume explorations that ended early

The files of answers only grow, one line per job. A process that is killed leaves at most one
truncated line, the last; the next process removes it and runs that job again. The other files are
small, and are replaced whole. One process at a time writes a campaign.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput, WeakspotError
from weakspot.harness.campaign.frontiers import Frontiers
from weakspot.harness.campaign.store import with_answers
from weakspot.harness.corpus.material import Material
from weakspot.harness.values.codegen import Codes
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import (
    FORMAT,
    MANIFEST,
    Entry,
    Manifest,
    Plan,
    Record,
    SourceFile,
    StructureInfo,
)
from weakspot.harness.values.repair import SuggestedRepair
from weakspot.harness.values.verdict import Shared, Verdict
from weakspot.system.files import Journal, disk, lines, pretty, replace, rows, value

RESULTS = Path("results")
"""Where campaigns are written by default."""

FRONTIERS = "frontiers"
_FILES: dict[type[msgspec.Struct], str] = {
    Verdict: "verdicts.jsonl",
    Exploration: "explorations.jsonl",
    Histogram: "histograms.jsonl",
    ProgramRun: "runs.jsonl",
    Codes: "compiled.jsonl",
    SuggestedRepair: "repairs.jsonl",
}


class FolderStore:
    """A campaign's folder, open for writing; a context manager and a RecordStore.

    `notes` say what had to be repaired. Every method raises WeakspotError when the disk does not
    take what it writes.
    """

    def __init__(self, folder: Path, manifest: Manifest, lock: int) -> None:
        self.folder = folder
        self.manifest = manifest
        self.notes: list[str] = []
        self._lock = lock
        self._journals: dict[type[msgspec.Struct], Journal[Any]] = {
            type_: Journal(folder / name, type_) for type_, name in _FILES.items()
        }
        try:
            for journal in self._journals.values():
                if note := journal.open():
                    self.notes.append(note)
        except WeakspotError:
            self.close()
            raise
        self._done: set[str] = set().union(*(each.keys for each in self._journals.values()))

    @classmethod
    def create(cls, folder: Path, manifest: Manifest) -> Self:
        """Start a campaign in a folder that is new or empty."""
        with disk(folder):
            folder.mkdir(parents=True, exist_ok=True)
            begun = {".lock", f"{MANIFEST}.new"}  # of a campaign that was interrupted at once
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
        """Resume a campaign."""
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
            for journal in self._journals.values():
                journal.close()
        finally:
            os.close(self._lock)

    @property
    def place(self) -> str:
        return str(self.folder)

    @cached_property
    def frontiers(self) -> Frontiers:
        """Those of this campaign; another beside it may have explored a program further."""
        others = (
            path.parent / FRONTIERS
            for path in self.folder.absolute().parent.glob(f"*/{MANIFEST}")
            if path.parent != self.folder.absolute() and (path.parent / FRONTIERS).is_dir()
        )
        newest_first = sorted(others, key=lambda path: path.stat().st_mtime, reverse=True)
        return Frontiers(self.folder / FRONTIERS, tuple(newest_first))

    @property
    def count(self) -> int:
        return len(self._done)

    def has(self, key: str) -> bool:
        return key in self._done

    def put(self, key: str, answer: object, *, final: bool = True) -> None:
        """Append an answer. The histogram of a test whose machine was lost gets a key of its own,
        so that the job is not done; no other answer that is not final is written."""
        if not final:
            if not isinstance(answer, Histogram) or not answer.lost:
                return
            key = f"{key}:lost"
        assert isinstance(answer, msgspec.Struct)
        self._journals[type(answer)].add(key, answer)
        self._done.add(key)

    def describe(self, manifest: Manifest) -> None:
        """Replace campaign.json."""
        self.manifest = manifest
        replace(self.folder / MANIFEST, pretty(manifest))

    def subjects(self, material: Material | Record) -> None:
        replace(self.folder / "structures.json", pretty(material.structures))
        replace(self.folder / "sources.jsonl", lines(material.sources))
        tests = self.folder / "tests"
        with disk(tests):
            tests.mkdir(exist_ok=True)
            stale = {path.name for path in tests.glob("*.litmus")}
            for entry in material.entries:
                path = tests / entry.file
                if entry.file not in stale or path.read_text(encoding="utf-8") != entry.test.text:
                    path.write_text(entry.test.text, encoding="utf-8")
                stale.discard(entry.file)
            for name in stale:
                (tests / name).unlink()
        replace(tests / "tests.jsonl", lines(material.entries))

    def findings(self, findings: Sequence[Finding]) -> None:
        replace(self.folder / "findings.jsonl", lines(findings))

    def record(self) -> Record:
        return load(self.folder)


def answers_in(folder: Path, notes: list[str] | None = None) -> Iterator[tuple[str, object]]:
    """The stored answers with their keys, kind by kind, each in the order in which it was found.
    `notes` get what was wrong. Raises BadInput for a damaged line."""
    shared: dict[object, Callable[[Any], Any]] = {Verdict: Shared()}
    for type_, name in _FILES.items():
        journal: Journal[Any] = Journal(folder / name, type_)
        found, _, note = journal.read(shared.get(type_, lambda answer: answer))
        yield from found
        if note and notes is not None:
            notes.append(note)


def load(folder: Path) -> Record:
    """Read a campaign, also one that is being written; store.with_answers says which answers count.

    Raises BadInput, naming file and line, for a file that is not a campaign's.
    """
    manifest = read_manifest(folder)
    notes: list[str] = []
    answers = list(answers_in(folder, notes))
    about = Record(
        manifest=manifest,
        structures=value(folder / "structures.json", tuple[StructureInfo, ...], "damaged") or (),
        entries=rows(folder / "tests" / "tests.jsonl", Entry),
        sources=rows(folder / "sources.jsonl", SourceFile),
        findings=rows(folder / "findings.jsonl", Finding),
        notes=tuple(notes),
    )
    return with_answers(about, answers)


def resume_or_create(folder: Path, plan: Plan) -> FolderStore:
    """The campaign in the folder, or a new one. Raises BadInput if the folder holds a campaign of
    another plan, or something else."""
    if not (folder / MANIFEST).is_file():
        return FolderStore.create(folder, new_manifest(plan))
    store = FolderStore.open(folder)
    if store.manifest.plan != plan:
        store.close()
        raise BadInput(
            "the campaign in this folder has another plan",
            place=str(folder),
            advice="name another folder, or run the command that started the campaign",
        )
    return store


def new_manifest(plan: Plan) -> Manifest:
    """The manifest of a campaign that starts now."""
    return Manifest(format=FORMAT, weakspot=__version__, plan=plan, started=now())


def now() -> str:
    """The time as manifests have it."""
    return time.strftime("%Y-%m-%dT%H:%M:%S%z")


def read_manifest(folder: Path) -> Manifest:
    """campaign.json of a folder; BadInput when the folder holds no campaign we can read."""
    path = folder / MANIFEST
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadInput(
            "not a campaign's folder",
            place=str(folder),
            advice=f"expected a folder that `weakspot test` wrote, with {MANIFEST} in it",
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
    """The newest unfinished campaign below `root` that has this plan and that no process writes."""
    for manifest, folder in reversed(_campaigns(root)):
        if manifest.finished or manifest.plan != plan:
            continue
        with contextlib.suppress(WeakspotError):
            os.close(_acquire(folder))
            return folder
    return None


def new_folder(root: Path) -> Path:
    """A folder for a campaign that starts now: root/2026-11-21-1402, with -2 when that exists."""
    stamp = time.strftime("%Y-%m-%d-%H%M")
    folder, number = root / stamp, 1
    while folder.exists():
        number += 1
        folder = root / f"{stamp}-{number}"
    return folder


def chosen_folder(output: Path | None, *, fresh: bool, root: Path) -> Path | None:
    """The folder to write to; None if that is for `latest_unfinished` to decide.

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
            advice="name another folder, or leave --fresh out to resume it",
        )
    return output


def campaigns(root: Path) -> list[Path]:
    """The campaigns below `root`, in the order in which they were started."""
    return [folder for _, folder in _campaigns(root)]


def _campaigns(root: Path) -> list[tuple[Manifest, Path]]:
    """The campaigns below `root` with their manifests, in the order in which they were started;
    those of one second in the order in which they were written last."""
    found = []
    for path in root.glob(f"*/{MANIFEST}"):
        with contextlib.suppress(BadInput):
            found.append((read_manifest(path.parent), path.stat().st_mtime_ns, path.parent))
    found.sort(key=lambda each: (each[0].started, *each[1:]))
    return [(manifest, folder) for manifest, _, folder in found]


def newest(root: Path) -> Path | None:
    """The campaign below `root` that was started last, if there is one."""
    return next(reversed(campaigns(root)), None)


class _Version(msgspec.Struct):
    format: int


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
        pass  # the file system has no locks
    return lock
