"""Parcels: jobs as bytes that a process on another computer performs, and the answers as bytes.

In: jobs. Out: everything that performing them reads, so that a worker needs weakspot alone, with
an engine of the same sources, whose answers and whose bytes are those of the engine here: cat
files of the user with what they include, and what an exploration has left open, by content. A
deadline becomes the seconds that are left, since clocks of computers differ. What an exploration
leaves open comes back with the answers.
"""

from __future__ import annotations

import io
import os
import pickle
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from weakspot import _engine
from weakspot.errors import ToolFailed, WeakspotError
from weakspot.harness.campaign.frontiers import Frontier
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.corpus import models
from weakspot.harness.corpus.models import Model
from weakspot.system import cache
from weakspot.system.deadline import NEVER, Deadline, ending


class OtherBuild(ToolFailed):
    """A worker has another engine than the process whose jobs it gets."""


class WorkerFault(ToolFailed):
    """What a worker's computer could not do, such as writing to its disk."""


class Withdrawn(KeyboardInterrupt):
    """Nobody waits for the answers any more."""


class Performed(msgspec.Struct, frozen=True):
    """What became of a parcel: keys, answers, whether each is final; what explorations leave open,
    None for nothing, by the paths of their frontiers; the error that left jobs unanswered; and the
    address of the worker, empty without one."""

    answers: tuple[tuple[str, object, bool], ...]
    left_open: dict[str, bytes | None]
    error: WeakspotError | None = None
    worker: str = ""

    def store_frontiers(self) -> None:
        """Write what the explorations leave open to where this process stores it."""
        for name, left in self.left_open.items():
            if left is None:
                Path(name).unlink(missing_ok=True)
            else:
                cache.write_bytes(Path(name), left)


def pack(jobs: Sequence[Job]) -> bytes:
    """The jobs, which `perform` performs."""
    content = io.BytesIO()
    _Packer(content, protocol=5).dump(tuple(jobs))
    # what another engine has written may not be readable
    return pickle.dumps((_engine.__version__, content.getvalue()))


def perform(parcel: bytes, withdrawn: Callable[[], bool] = lambda: False) -> Performed:
    """Perform the jobs of a parcel. `withdrawn` says whether nobody waits for them any more: a long
    exploration then ends. Raises Withdrawn."""
    try:
        return _performed(parcel, withdrawn)
    except OSError as error:
        fault = WorkerFault(f"a worker failed: {error.strerror or error}")
        return Performed((), {}, fault)


def _performed(parcel: bytes, withdrawn: Callable[[], bool]) -> Performed:
    version, content = pickle.loads(parcel)
    if version != _engine.__version__:
        error = OtherBuild(
            f"the worker's engine is {_engine.__version__}, and that of this command is {version}",
            advice="install the same wheel of weakspot on every computer, or build it from the "
            "same sources, and run the same command again; all answers until now are stored",
        )
        return Performed((), {}, error)
    with tempfile.TemporaryDirectory(prefix="weakspot-") as folder:
        unpacker = _Unpacker(io.BytesIO(content), Path(folder))
        jobs = unpacker.load()
        sink = _Collected(withdrawn)
        try:
            type(jobs[0]).perform(jobs, sink)
        except WeakspotError as error:  # what was left open before remains
            return Performed(tuple(sink.answers), {}, error)
        return Performed(tuple(sink.answers), unpacker.left_open())


class _Collected:
    """The Sink of a parcel."""

    def __init__(self, withdrawn: Callable[[], bool]) -> None:
        self.answers: list[tuple[str, object, bool]] = []
        self._withdrawn = withdrawn

    def answered(self, job: Job, answer: object, *, final: bool = True) -> None:
        self.answers.append((job.key, answer, final))
        self.at("")

    def at(self, text: str) -> None:  # noqa: ARG002
        if self._withdrawn():
            raise Withdrawn


class _Packer(pickle.Pickler):
    """Replaces values that only mean something in this process or on this disk."""

    def persistent_id(self, value: Any) -> Any:
        match value:
            case MappingProxyType():
                return "mapping", dict(value)
            case Deadline() if value != NEVER:
                return "deadline", value.left
            case Model() if Path(value.file).is_absolute():
                texts = {str(path): text for path, text in models.texts(value.path).items()}
                return "model", msgspec.structs.asdict(value), texts
            case Frontier() if value.path is not None:
                return "frontier", str(value.path), value.stored()
        return None


class _Unpacker(pickle.Unpickler):
    """Makes them again; files are written below the folder."""

    def __init__(self, content: io.BytesIO, folder: Path) -> None:
        super().__init__(content)
        self._folder = folder
        self._frontiers: dict[str, Path] = {}

    def persistent_load(self, pid: Any) -> Any:
        match pid:
            case "mapping", items:
                return MappingProxyType(items)
            case "deadline", seconds:
                return ending(seconds)
            case "model", fields, texts:
                model = Model(**fields)
                if model.path.is_file() and model.is_current:
                    return model
                there = self._write(model.path, texts, model.digest)
                return msgspec.structs.replace(model, file=str(there))
            case "frontier", name, contents:
                return self._frontier(name, contents)
        raise pickle.UnpicklingError(f"unknown {pid[0]}")

    def _write(self, model: Path, texts: dict[str, str], digest: str) -> Path:
        """Write a model's files beside one another as they were; where the model is then."""
        root = os.path.commonpath([Path(each).parent for each in texts])
        folder = self._folder / digest
        for name, text in texts.items():
            file = folder / Path(name).relative_to(root)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return folder / model.relative_to(root)

    def _frontier(self, name: str, contents: Sequence[bytes]) -> Frontier:
        here = self._folder / str(len(self._frontiers))
        paths = [here.with_suffix(f".{at}") for at, _ in enumerate(contents)]
        for path, content in zip(paths, contents, strict=True):
            path.write_bytes(content)
        self._frontiers[name] = here
        return Frontier(here, tuple(paths))

    def left_open(self) -> dict[str, bytes | None]:
        """What the explorations leave open, by the paths that the frontiers came from."""
        return {
            name: path.read_bytes() if path.is_file() else None
            for name, path in self._frontiers.items()
        }
