"""Durations as people write them."""

from __future__ import annotations

import re

_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


_UNITS = (("s", 60.0), ("min", 60.0), ("h", 48.0), ("days", 730.0), ("years", 1e6))
"""Each unit, and from how many of it on the next one is used."""

_NEXT = {"h": 24.0, "days": 365.0}


def duration_text(seconds: float) -> str:
    """`0.4 s`, `12 s`, `2 min`, `30 h`, `3 days`, `40 years`."""
    for unit, most in _UNITS:
        if seconds < 0.99 * most:
            return f"{seconds:.1g} {unit}" if seconds < 1 else f"{seconds:,.0f} {unit}"
        seconds /= _NEXT.get(unit, most)
    return "more than a million years"


def seconds_of(given: str) -> float | None:
    """500ms, 10s, 2m, 1h, or seconds without a unit, as seconds; None for anything else."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?|\.\d+)\s*(ms|s|m|min|h|)", given.strip())
    return float(match[1]) * _SECONDS[match[2]] if match else None
