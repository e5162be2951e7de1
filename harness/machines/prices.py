"""The costs of memory orders that `weakspot cost` measured on this machine, stored until the source
file changes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from weakspot.harness.edits.annotations import Annotation
from weakspot.harness.machines import local
from weakspot.harness.machines.profile import Profile, profile
from weakspot.system import cache


class _Stored(msgspec.Struct):
    """Nanoseconds by memory order, by the digest of an annotation's place and its file."""

    costs: dict[str, dict[str, float]] = {}


class Prices:
    """The stored costs for a machine, by default the one that weakspot runs on: nanoseconds that an
    operation takes with a memory order beyond those with the weakest one at its place."""

    def __init__(self, known: Profile | None = None) -> None:
        known = known or profile(local.machine())
        kind = cache.digest(*(str(each) for each in (known.machine, known.cpu, known.hypervisor)))
        folder = cache.folder_of("costs")
        self._path = folder and folder / f"{kind[:16]}.json"
        self._costs = (cache.read(self._path, _Stored) or _Stored()).costs
        self._asked: dict[Annotation, dict[str, float]] = {}
        self._texts: dict[str, str] = {}

    def read(self, paths: Iterable[Path]) -> None:
        """Read files now, for where they are not."""
        self._texts |= {str(path): _text(str(path)) for path in paths}

    def of(self, annotation: Annotation) -> dict[str, float]:
        """By memory order; empty where nothing was measured, or the file has changed since."""
        if annotation not in self._asked:
            key = _key(annotation, self._texts.get(annotation.path))
            self._asked[annotation] = self._costs.get(key, {})
        return self._asked[annotation]

    def remember(self, found: Iterable[tuple[Annotation, dict[str, float]]]) -> None:
        """Store costs beside those that are stored already."""
        self._costs |= {_key(annotation): costs for annotation, costs in found if costs}
        cache.write(self._path, _Stored(self._costs))


def _text(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _key(each: Annotation, text: str | None = None) -> str:
    place = (
        each.path,
        _text(each.path) if text is None else text,
        str(each.line),
        str(each.column),
        each.kind,
    )
    return cache.digest("an operation", *place)[:32]
