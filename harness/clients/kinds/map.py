"""A map from keys to values."""

from __future__ import annotations

from pathlib import Path

from weakspot.harness.clients.kinds import Kind, KindOperation
from weakspot.harness.clients.kinds.words import KEY, REMOVE

KIND = Kind(
    name="map",
    rank=4,
    header=Path(__file__).with_suffix(".h"),
    operations=(
        KindOperation("insert", "insert|add|emplace|put_if_absent", ("key", "value")),
        KindOperation("assign", "assign|put|set|insert_or_assign|store", ("key", "value")),
        KindOperation("find", "find|get|lookup|load", KEY, finds=True),
        KindOperation("contains", "contains|has|exists", KEY),
        KindOperation("remove", REMOVE, KEY),
    ),
)
