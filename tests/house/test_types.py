"""The package and its tests are typed, strictly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
#: modules that tests break on purpose
BROKEN = ROOT / "tests" / "cli" / "broken"


def test_the_package_and_its_tests_are_typed_strictly() -> None:
    # mypy wants module names that differ, and every folder may have a conftest
    tests = [
        path
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path.name != "conftest.py" and not path.is_relative_to(BROKEN)
    ]
    folders = sorted({str(path.parent) for path in tests})
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "weakspot", *map(str, tests)],
        cwd=ROOT,
        # a test imports helpers that lie beside it
        env={**os.environ, "MYPYPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
