"""How evenly a machine ran is measured while tests run on it, and nothing depends on it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from weakspot.harness.machines import Lost, Machine, local
from weakspot.harness.runners.steadiness import Steadiness, SteadinessProbe, steadiness_probe
from weakspot.system.process import Ended


class Says(msgspec.Struct):
    """A session whose program prints these texts, one per run."""

    texts: list[str]

    def run(self, program: Path, arguments: Sequence[str] = (), *, seconds: float) -> Ended:  # noqa: ARG002
        text = self.texts.pop(0)
        if text == "gone":
            raise Lost("gone")
        return Ended(0, text, "", 0.1, False)

    def shell(self, script: str, *, seconds: float = 20.0) -> Ended:
        raise NotImplementedError


def measured(*texts: str) -> Steadiness:
    gauge = SteadinessProbe(Path("probe"), Says(list(texts)), every=0)
    for _ in texts:
        gauge.probe()
    return gauge.found


def test_throttling_and_steal_are_measured_here(here: Machine) -> None:
    with steadiness_probe(here) as gauge:
        for _ in range(4):
            gauge.probe()
        assert gauge.found.probes == 2, "not often in a second"
        time.sleep(1.1)
        gauge.probe()
    found = gauge.found
    assert found.probes == 3
    assert found.throttling is not None
    assert 0 <= found.throttling < 1
    if Path("/proc/stat").exists():
        assert found.steal is None or 0 <= found.steal <= 1


def test_a_slower_clock_and_stolen_time_show() -> None:
    """Half the speed; of 1000 ticks, guests' left out, a tenth stolen."""
    first, last = (
        "work 100\nstat  0 0 0 0 0 0 0 0 0 0\n",
        "work 200\nstat  500 0 0 400 0 0 0 100 9 9\n",
    )
    assert measured(first, last) == Steadiness(2, 0.5, 0.1)


@pytest.mark.parametrize("text", ["gone", "", "work\n", "work 5\nstat \n", "Illegal instruction"])
def test_a_figure_that_cannot_be_measured_is_missing_and_costs_nothing(text: str) -> None:
    assert measured(text, "work 100\n") == Steadiness()
    assert measured("work 100\n", text, "work 300\n") == Steadiness(1)


def test_without_a_compiler_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weakspot.harness.machines.compilers.find", lambda *_: None)
    with steadiness_probe(local.machine()) as gauge:
        gauge.probe()
    assert gauge.found == Steadiness()
