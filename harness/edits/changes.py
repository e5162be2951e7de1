"""Changes of source files: edits, the files with them, and what is left to the user."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.edits.annotations import Annotation
from weakspot.harness.edits.syntax import Syntax
from weakspot.harness.values.repair import SourceEdit
from weakspot.system.files import disk, replace


class ByHand(msgspec.Struct, frozen=True):
    """An annotation that is not rewritten: the memory order it should have, why it is not
    rewritten, and the one that is left in the source."""

    annotation: Annotation
    order: str
    why: str
    left: str


class Rewritten(msgspec.Struct, frozen=True):
    """The bytes of each file before and after, and what is left to do by hand."""

    before: dict[str, bytes]
    after: dict[str, bytes]
    by_hand: tuple[ByHand, ...]

    def diff(self) -> Iterator[str]:
        """The lines of a patch, with the files named from the current folder where they are in
        it."""
        for path, old in self.before.items():
            name = os.path.relpath(path) if Path(path).is_relative_to(Path.cwd()) else path
            name = name.lstrip("/")
            one, other = (
                text.decode(errors="replace").splitlines(keepends=True)
                for text in (old, self.after[path])
            )
            for line in difflib.unified_diff(one, other, f"a/{name}", f"b/{name}"):
                bare = line.removesuffix("\n")
                yield bare if bare != line else f"{bare}\n\\ No newline at end of file"

    def edits(self, root: Path) -> Iterator[SourceEdit]:
        """The lines that are changed, in files that are named relative to the folder."""
        for path, before in self.before.items():
            old, new = (
                text.decode("utf-8", "replace").splitlines(keepends=True)
                for text in (before, self.after[path])
            )
            file = Path(os.path.relpath(path, root.resolve())).as_posix()
            matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
            for tag, start, end, begin, stop in matcher.get_opcodes():
                if tag != "equal":
                    yield SourceEdit(file, start + 1, end + 1, "".join(new[begin:stop]))

    def write(self) -> None:
        """Write all files, each whole; if one cannot be written, all are left as they were."""
        done: list[str] = []
        try:
            for path, content in self.after.items():
                with disk(Path(path)):
                    if Path(path).read_bytes() != self.before[path]:
                        raise BadInput(
                            "the file has changed since it was read",
                            place=path,
                            advice="run relax again",
                        )
                    done.append(path)
                    replace(Path(path), content)
        except BaseException:
            for path in done:
                replace(Path(path), self.before[path])
            raise


class Edit(msgspec.Struct, frozen=True):
    """`text` in place of what stands between two places of a file."""

    path: str
    start: int
    end: int
    text: str

    def collides(self, other: Edit) -> bool:
        """Whether two edits replace the same text by different ones."""
        overlap = self.start < other.end and other.start < self.end
        return self.path == other.path and overlap and self != other


def applied(
    sources: Mapping[str, Syntax], edits: Sequence[Edit]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The bytes of each file before and after."""
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    for path in dict.fromkeys(edit.path for edit in edits):
        text = before[path] = sources[path].source
        own = dict.fromkeys(e for e in edits if e.path == path)
        # of edits at one place, the first comes last in the text
        for edit in sorted(own, key=lambda e: -e.start):
            text = text[: edit.start] + edit.text.encode("latin-1") + text[edit.end :]
        after[path] = text
    return before, after
