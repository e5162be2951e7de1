"""docs/crates.md, step by step as its reader does it, with the real tools."""

from __future__ import annotations

import shutil
from pathlib import Path

import pages
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "crates.md"


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not installed")
@pytest.mark.usefixtures("cache")
def test_each_step_prints_what_the_page_shows(tmp_path: Path) -> None:
    assert len(pages.files(PAGE)) == 3
    pages.follow(PAGE, tmp_path)
