"""What is needed to resume explorations that a limit or Ctrl-C has ended.

In: the bytes that the engine leaves of an exploration. Out: the same bytes, when a later command
asks the same question: of the same program and model, with an engine of the same sources, and with
the same limits but for those of executions and time. There is one file per program and model. What
is stored for another question is ignored and replaced. A file of another engine, and one that is
not whole, costs what it would have saved, and a note. A process that is killed leaves the file as
it was.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path

import msgspec

from weakspot import _engine
from weakspot.harness.checkers.explorer import Keep
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.reason import Reason
from weakspot.system import cache

MOST = 16 * 2**20
"""How many bytes of one exploration are stored: mostly the executions that show its violations."""

SUFFIX = ".frontier"
DAMAGED = "what was stored to resume the exploration is damaged; it started anew"
OTHER_ENGINE = (
    "what was stored to resume the exploration is of another build of weakspot; it started anew"
)
RESUMES = Reason(kind="resumes")

_DIGEST = hashlib.sha256().digest_size


class Frontier(msgspec.Struct, frozen=True):
    """Where what one exploration leaves open is stored, nowhere without a `path`. `others` are
    files that hold it if that does not."""

    path: Path | None = None
    others: tuple[Path, ...] = ()

    def explored(
        self,
        question: str,
        explore: Callable[[bytes | None, Keep | None], Exploration],
        is_current: Callable[[], bool],
    ) -> Exploration:
        """What `explore` finds, which gets what an earlier command left open of this question, and
        what to call with that which it leaves open itself. That is stored only if it `is_current`
        afterwards: of this question, and not of files that were edited meanwhile."""
        if self.path is None:
            return explore(None, None)
        earlier, notes = self.read(question)
        left: list[bytes] = []
        try:
            found = explore(earlier, left.append)
        except KeyboardInterrupt:
            if left and is_current():
                self.write(question, left[-1])
            raise
        if not is_current():
            return found
        return self.ended(question, found, left[-1] if left else None, notes)

    def ended(
        self, question: str, found: Exploration, left: bytes | None, notes: list[str]
    ) -> Exploration:
        """What an exploration has found that has left this open, which is stored: with whether and
        why not it resumes, and with the notes on what was stored before."""
        if self.path is None:
            return found
        incomplete = found.incomplete
        if left is None or not incomplete:  # all is known
            with contextlib.suppress(OSError):
                self.path.unlink(missing_ok=True)
        elif why := self.write(question, left):
            notes = [*notes, why]
        else:
            incomplete = (*incomplete, RESUMES)
        return msgspec.structs.replace(found, notes=(*found.notes, *notes), incomplete=incomplete)

    def stored(self) -> tuple[bytes, ...]:
        """The contents of the files, those that there are."""
        found = []
        for path in (self.path, *self.others):
            if path is not None:
                with contextlib.suppress(OSError):
                    found.append(path.read_bytes())
        return tuple(found)

    def read(self, question: str) -> tuple[bytes | None, list[str]]:
        """What is stored for the question, and what is wrong with the files."""
        notes: list[str] = []
        for path in (self.path, *self.others):
            if path is None:
                continue
            try:
                content = path.read_bytes()
            except OSError:
                continue
            digest, about, engine, left = _parts(content)
            if hashlib.sha256(about + engine + left).digest() != digest:
                notes = [DAMAGED]
            elif engine != _sum(_engine.__version__):
                notes = notes or [OTHER_ENGINE]
            elif about == _sum(question):
                return left, []
        return None, notes

    def write(self, question: str, left: bytes) -> str:
        """Store what was left open; why it is not stored, "" if it is."""
        assert self.path is not None
        content = _sum(question) + _sum(_engine.__version__) + left
        if len(left) > MOST:
            size, most = (f"{number / 2**20:.0f} MiB" for number in (len(left), MOST))
            return f"the exploration cannot be resumed: that takes {size}, and {most} are stored"
        if not cache.write_bytes(self.path, hashlib.sha256(content).digest() + content):
            return f"the exploration cannot be resumed: {self.path} cannot be written"
        return ""


def _parts(content: bytes) -> tuple[bytes, bytes, bytes, bytes]:
    digest, about, engine = (content[at * _DIGEST :][:_DIGEST] for at in range(3))
    return digest, about, engine, content[3 * _DIGEST :]


def _sum(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


class Frontiers(msgspec.Struct, frozen=True):
    """The frontiers in a folder, and those of the same explorations in other folders, the newest
    first. Without a folder nothing is stored."""

    folder: Path | None = None
    others: tuple[Path, ...] = ()

    def of(self, program: str, model: str) -> Frontier:
        if self.folder is None:
            return Frontier()
        name = f"{cache.digest(program, model)[:32]}{SUFFIX}"
        return Frontier(self.folder / name, tuple(folder / name for folder in self.others))
