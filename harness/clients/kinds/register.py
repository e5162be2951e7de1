"""A register: a value that is read and written."""

from __future__ import annotations

from pathlib import Path

from weakspot.harness.clients.kinds import Kind, KindOperation
from weakspot.harness.clients.kinds.words import VALUE

KIND = Kind(
    name="register",
    rank=5,
    header=Path(__file__).with_suffix(".h"),
    operations=(
        KindOperation("read", "read|load|get|snapshot", finds=True),
        KindOperation("write", "write|store|set|publish|update", VALUE),
        KindOperation("exchange", "exchange|swap|xchg", VALUE, finds=True),
        KindOperation(
            "compare_and_set", "cas|compare_(?:and_)?(?:set|swap|exchange)", ("known", "value")
        ),
    ),
)
