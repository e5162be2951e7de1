"""A stack."""

from __future__ import annotations

from pathlib import Path

from weakspot.harness.clients.kinds import Kind, KindOperation
from weakspot.harness.clients.kinds.words import PUT, TAKE, VALUE

KIND = Kind(
    name="stack",
    rank=1,
    header=Path(__file__).with_suffix(".h"),
    operations=(
        KindOperation("push", PUT, VALUE, must=True),
        KindOperation("pop", TAKE, finds=True),
    ),
    transfers=True,
    varies=("capacity", "relaxed"),
)
