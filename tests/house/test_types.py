"""The package, its tests and the scripts are typed, strictly."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from ended import execute

ROOT = Path(__file__).resolve().parents[2]
#: modules that tests break on purpose
BROKEN = ROOT / "tests" / "cli" / "broken"
PYTHON = b"#!/usr/bin/env python3"


def test_the_package_its_tests_and_the_scripts_are_typed_strictly() -> None:
    # mypy wants module names that differ, and every folder may have a conftest
    tests = [
        path
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if path.name != "conftest.py" and not path.is_relative_to(BROKEN)
    ]
    scripts = [
        path
        for path in sorted((ROOT / "scripts").rglob("*"))
        if path.suffix == ".py" or (path.is_file() and path.read_bytes().startswith(PYTHON))
    ]
    assert any(not path.suffix for path in scripts)
    folders = sorted({str(path.parent) for path in (*tests, *scripts)})
    execute(
        *(sys.executable, "-m", "mypy", "--strict", "--scripts-are-modules", "weakspot"),
        *map(str, (*tests, *scripts)),
        cwd=ROOT,
        # a test imports helpers that lie beside it
        env={**os.environ, "MYPYPATH": os.pathsep.join(folders)},
    ).printed(0)
