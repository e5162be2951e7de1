"""How evenly a machine runs while tests run on it: counts differ on a processor that is throttled,
or that a hypervisor gives to others.

A small program runs between tests, at most once per second: it times a fixed piece of work and
reads stolen time from /proc/stat. What cannot be measured is None; the tests continue without it.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from weakspot.errors import WeakspotError
from weakspot.harness.machines import Machine, Session, opened
from weakspot.harness.runners.programs import Failed, SourceText, compiled, workshop

_PRINTED = re.compile(r"work (?P<work>\d+)\n(?:stat +(?P<stat>\d+(?: \d+)*)\n?)?")
_EVERY = 1.0  # seconds: an emulator takes as long to start it as a short test
_STEAL, _GUEST = 7, 8  # columns of /proc/stat; guests' time is in that of users already


class Steadiness(msgspec.Struct, frozen=True):
    """What was measured, `probes` times: by how much slower the slowest probe was than the fastest
    (0.1: at nine tenths of the speed), and which share of all processors' time was stolen between
    the first and the last."""

    probes: int = 0
    throttling: float | None = None
    steal: float | None = None


class SteadinessProbe:
    """Takes the measurements: the first two at once, then at most one per `every` seconds. After
    one that fails it takes no more."""

    def __init__(
        self, program: Path | None = None, session: Session | None = None, every: float = _EVERY
    ) -> None:
        self._program, self._session, self._every = program, session, every
        self._last = 0.0
        self._work: list[int] = []
        self._stat: list[list[int]] = []

    def probe(self) -> None:
        if self._program is None or self._session is None:
            return
        if len(self._work) > 1 and time.monotonic() - self._last < self._every:
            return
        self._last = time.monotonic()
        printed = None
        with contextlib.suppress(WeakspotError):
            printed = _PRINTED.fullmatch(self._session.run(self._program, seconds=10.0).out)
        if printed is None:
            self._session = None
            return
        self._work.append(int(printed["work"]))
        if printed["stat"]:
            self._stat.append([int(ticks) for ticks in printed["stat"].split()])

    @property
    def found(self) -> Steadiness:
        slowed = 1 - min(self._work) / max(self._work) if len(self._work) > 1 else None
        return Steadiness(len(self._work), slowed, self._stolen())

    def _stolen(self) -> float | None:
        if len(self._stat) < 2 or len(self._stat[0]) <= _STEAL:
            return None
        spent = [last - first for first, last in zip(self._stat[0], self._stat[-1], strict=True)]
        total = sum(spent[:_GUEST])
        return spent[_STEAL] / total if total > 0 else None


@contextlib.contextmanager
def steadiness_probe(machine: Machine, every: float = _EVERY) -> Iterator[SteadinessProbe]:
    """A probe for what runs on the machine inside the block; see SteadinessProbe."""
    with contextlib.ExitStack() as stack:
        gauge = SteadinessProbe()
        with contextlib.suppress(WeakspotError, Failed):
            folder = stack.enter_context(workshop())
            source = Path(__file__).with_name("probe.c").read_text(encoding="utf-8")
            program = compiled([SourceText(source)], (), machine, folder).path
            gauge = SteadinessProbe(program, stack.enter_context(opened(machine)), every)
        gauge.probe()
        yield gauge
