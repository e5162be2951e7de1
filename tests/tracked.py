"""The files of the project: those git knows, and new ones that it does not ignore."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def tracked() -> list[str]:
    """Their names from the root. Skips the test where git does not list them."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode != 0:
        pytest.skip("not a clone: git does not list its files")
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
