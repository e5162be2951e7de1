"""docs/ci.md shows the sample repository, and each tool there does what the page says."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pages
import pytest

from weakspot.system.tools import Tool

DOCS = Path(__file__).resolve().parents[2] / "docs"
SAMPLE = DOCS / "sample"
PAGE = DOCS / "ci.md"


def test_page_shows_every_file_of_the_sample() -> None:
    held = {
        str(path.relative_to(SAMPLE)): path.read_text(encoding="utf-8")
        for path in SAMPLE.rglob("*")
        if path.is_file()
    }
    del held[".gitignore"]
    assert pages.files(PAGE) == held


@pytest.mark.usefixtures("cache")
def test_tools_print_what_the_page_shows(need: Callable[[str], Tool], tmp_path: Path) -> None:
    need("cmake")
    need("ctest")
    need("g++")
    folder = tmp_path / "sample"
    shutil.copytree(SAMPLE, folder)
    pages.follow(PAGE, folder)
