"""The benchmarks start: what they import is there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCHES = Path(__file__).resolve().parents[2] / "scripts" / "bench"


@pytest.mark.parametrize(
    "name", sorted(path.name for path in BENCHES.iterdir() if path.is_file() and not path.suffix)
)
def test_a_benchmark_explains_itself(name: str) -> None:
    done = subprocess.run(
        [sys.executable, BENCHES / name, "--help"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "usage" in done.stdout
