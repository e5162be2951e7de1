"""The benchmarks start: what they import is there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ended import execute

BENCHES = Path(__file__).resolve().parents[2] / "scripts" / "bench"


@pytest.mark.parametrize(
    "name", sorted(path.name for path in BENCHES.iterdir() if path.is_file() and not path.suffix)
)
def test_a_benchmark_explains_itself(name: str) -> None:
    done = execute(sys.executable, BENCHES / name, "--help").printed(0)
    assert "usage" in done
