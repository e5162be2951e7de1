"""How fast an exploration is, and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable

from weakspot.harness.values.estimate import Estimate, describe_estimate
from weakspot.harness.values.numbers import rounded
from weakspot.system.durations import duration_text


class ExplorationPace:
    """The pace of one exploration, from when it is made: what an Explorer calls with its progress.
    `show` gets it as a text, after `what`; `seconds` is the time limit. `count` is the number of
    executions so far."""

    def __init__(self, what: str, seconds: float, show: Callable[[str], object]) -> None:
        self.count = 0
        self._before: int | None = None  # what an earlier command explored
        self._what, self._show = what, show
        self._seconds, self._begun = seconds, time.monotonic()

    def __call__(self, count: int, estimate: tuple[float, float] | None) -> None:
        self.count = count
        self._before = count if self._before is None else min(self._before, count)
        self._show(f"{self._what}: {self.text(estimate)}")

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._begun

    def text(self, estimate: tuple[float, float] | None) -> str:
        """`1,204,123 executions, 6·10⁴ per second, about 3·10⁶ executions (standard error 4 %),
        30 s left`. `estimate`: the number of executions and its standard error."""
        parts = [f"{self.count:,} executions"]
        now = self.count - (self._before or 0)
        rate = now / self.elapsed if self.elapsed > 1 else 0.0
        if rate:
            parts.append(f"{rounded(round(rate))} per second")
        if estimate is not None and estimate[0]:
            executions, error = estimate
            about = Estimate(executions=executions, error=error, descents=0)
            parts.append(describe_estimate(about))
            if rate:
                parts.append(self._left((executions - self.count) / rate))
        return ", ".join(parts)

    def _left(self, seconds: float) -> str:
        limit = self._seconds - self.elapsed
        if seconds < 0:
            return "more than estimated"
        if self._seconds and seconds > limit:
            needed = duration_text(seconds)
            return f"{needed} left, {duration_text(max(limit, 0.0))} until the time limit"
        return f"{duration_text(seconds)} left"
