"""The benchmarks that docs/benchmarks.md names start and measure something small."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from ended import execute

BENCH = Path(__file__).resolve().parents[2] / "scripts" / "bench"


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param("relax --only store_buffering", id="relax"),
        pytest.param("explore --memory writers 7 --models sc", id="memory of exploring"),
        pytest.param("explore --only writers --sizes 4 --models sc --rounds 1", id="exploring"),
    ],
)
def test_benchmark_measures_what_the_page_says(command: str) -> None:
    name, *rest = command.split()
    done = execute(sys.executable, BENCH / name, *rest).printed(0)
    assert json.loads(done)["rows"]


def test_benchmark_of_a_cluster_says_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "dask.py").write_text("raise ImportError")
    done = execute(
        sys.executable, "-P", BENCH / "fleet", env={"PYTHONPATH": str(tmp_path)}
    ).reported(1)
    assert done == (
        "scripts/bench/fleet needs Dask: pip install '.[cluster]' in the clone's .venv\n"
    )
