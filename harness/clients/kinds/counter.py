"""A counter."""

from __future__ import annotations

from pathlib import Path

from weakspot.harness.clients.kinds import Kind, KindOperation

KIND = Kind(
    name="counter",
    rank=6,
    header=Path(__file__).with_suffix(".h"),
    operations=(
        KindOperation("increment", "increment|inc|add|up|arrive|acquire|fetch_add", finds=True),
        KindOperation("decrement", "decrement|dec|sub|down|release|fetch_sub", finds=True),
        KindOperation("get", "get|read|load|count|value", finds=True),
    ),
)
