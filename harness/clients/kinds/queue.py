"""A first-in first-out queue."""

from __future__ import annotations

from pathlib import Path

from weakspot.harness.clients.kinds import Kind, KindOperation
from weakspot.harness.clients.kinds.words import PUT, TAKE, VALUE

KIND = Kind(
    name="queue",
    rank=0,
    header=Path(__file__).with_suffix(".h"),
    operations=(
        KindOperation("enqueue", PUT, VALUE, must=True),
        KindOperation("dequeue", TAKE, finds=True),
    ),
    transfers=True,
    varies=("capacity", "relaxed", "quasi", "per_producer"),
)
