"""A store that hands on the answers about the files of folders, part by part, and holds none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.values.record import Manifest
from weakspot.harness.values.verdict import PrintedVerdict


class PartStore(MemoryStore):
    """Hands each answer, the verdicts on a part of the files, to `take`."""

    def __init__(self, manifest: Manifest) -> None:
        super().__init__(manifest)
        self.take: Callable[[Sequence[PrintedVerdict]], None] = lambda _: None

    def put(self, key: str, answer: object, *, final: bool = True) -> None:  # noqa: ARG002
        self.take(cast("tuple[PrintedVerdict, ...]", answer))
