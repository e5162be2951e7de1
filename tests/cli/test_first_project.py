"""docs/first-project.md, step by step as a new user does it, with the real tools."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pages

from weakspot.system.tools import Tool

PAGE = Path(__file__).resolve().parents[2] / "docs" / "first-project.md"


def test_each_step_prints_what_the_page_shows(need: Callable[[str], Tool], tmp_path: Path) -> None:
    need("cmake")
    need("ctest")
    assert len(pages.files(PAGE)) == 3
    pages.follow(PAGE, tmp_path)
