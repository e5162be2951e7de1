"""A function that runs once."""

from __future__ import annotations

from pathlib import Path

from weakspot.harness.clients.kinds import Kind, KindOperation

KIND = Kind(
    name="once",
    rank=8,
    header=Path(__file__).with_suffix(".h"),
    operations=(KindOperation("call_once", "(?:call_|run_)?once|run|call|invoke", runs=True),),
)
