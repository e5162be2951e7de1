"""The benchmark of the runners: it compares what it says it compares."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import execute

from weakspot.system.processors import cores
from weakspot.system.tools import Tool

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "bench" / "runner"
SETTINGS = tuple(
    f"{barrier}, {memory}"
    for barrier in ("timebase", "user", "userfence")
    for memory in ("direct", "indirect")
)
"""Those of litmus7, where each thread has a processor."""


def ran(*options: str) -> dict[str, object]:
    done = execute(sys.executable, SCRIPT, "--seconds", "0.2", *options).printed(0)
    found: dict[str, object] = json.loads(done)
    return found


@pytest.mark.skipif(platform.machine() != "x86_64" or cores() < 2, reason="x86 shows it, on two")
def test_the_runners_alternate_and_store_buffering_is_seen(need: Callable[[str], Tool]) -> None:
    for tool in ("litmus7", "gcc", "make"):
        need(tool)
    for _ in range(5):  # on a busy machine the threads may not meet for a while
        rows = ran("--only", "SB", "--rounds", "2")["rows"]
        assert isinstance(rows, list)
        (row,) = rows
        if row["independent"]:
            break
    assert row["test"] == "SB"
    assert 0 < row["independent"] <= row["native"]
    assert {name: len(rates) for name, rates in row["rounds"].items()} == dict.fromkeys(
        ("native", *SETTINGS, "independent"), 2
    )
    assert row["best"] in SETTINGS


def test_fenced_variants_show_interleavings_only_under_every_setting(
    need: Callable[[str], Tool],
) -> None:
    need("gcc")
    fenced = ran("--fenced", "1e5", "--seconds", "0.25")["fenced"]
    assert isinstance(fenced, dict)
    assert fenced["iterations"] == sum(fenced["by_setting"].values()) >= 1e5
    assert fenced["wrong"] == {}
    assert {"SB", "IRIW"} < {name.partition("+")[0] for name in fenced["tests"]}
    modes = [{word.partition("=")[0] for word in name.split()} for name in fenced["by_setting"]]
    assert {"perpetual", "slot", "default"} < set.union(*modes)
    assert all(fenced["by_setting"].values())
