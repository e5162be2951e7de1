"""A deque."""

from __future__ import annotations

from pathlib import Path

from weakspot.harness.clients.kinds import Kind, KindOperation
from weakspot.harness.clients.kinds.words import BACK, FRONT, PUT, TAKE, VALUE

KIND = Kind(
    name="deque",
    rank=2,
    header=Path(__file__).with_suffix(".h"),
    operations=(
        KindOperation("push_front", PUT + FRONT, VALUE, must=True),
        KindOperation("push_back", f"{PUT}(?:{BACK})?", VALUE, must=True),
        KindOperation("pop_front", rf"{TAKE}{FRONT}|steal", finds=True),
        KindOperation("pop_back", rf"(?!steal){TAKE}(?:{BACK})?", finds=True),
    ),
    transfers=True,
    varies=("capacity",),
)
