"""Durations as people write them."""

from __future__ import annotations

import re

_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds_of(given: str) -> float | None:
    """500ms, 10s, 2m, 1h, or seconds without a unit, as seconds; None for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(ms|s|m|min|h|)", given.strip())
    return float(match[1]) * _SECONDS[match[2]] if match else None
