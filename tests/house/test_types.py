"""The package is typed, strictly. mypy does not know how pyproject.toml maps folders to packages,
so it is shown a tree of links that looks as the installed package does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("generators", "harness", "litmus", "models")


def as_installed(folder: Path) -> Path:
    """`folder` with a package `weakspot` in it, made of links."""
    package = folder / "weakspot"
    package.mkdir()
    for path in (ROOT / "weakspot").iterdir():
        if path.is_dir() or path.suffix in (".py", ".pyi", ".typed"):
            (package / path.name).symlink_to(path)
    for room in ROOMS:
        (package / room).symlink_to(ROOT / room, target_is_directory=True)
    return folder


def test_the_package_is_typed_strictly(tmp_path: Path) -> None:
    tree = as_installed(tmp_path)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--python-version", "3.11"),
            *("--cache-dir", str(ROOT / ".mypy_cache" / "package"), "-p", "weakspot"),
        ],
        cwd=tree,
        env={**os.environ, "MYPYPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
