"""A set of keys."""

from __future__ import annotations

from pathlib import Path

from weakspot.harness.clients.kinds import Kind, KindOperation
from weakspot.harness.clients.kinds.words import KEY, REMOVE

KIND = Kind(
    name="set",
    rank=3,
    header=Path(__file__).with_suffix(".h"),
    operations=(
        KindOperation("insert", "insert|add|put", KEY),
        KindOperation("remove", REMOVE, KEY),
        KindOperation("contains", "contains|find|has|lookup|member|get|exists", KEY),
    ),
)
