"""docs/linux-kernel.md, step by step as its reader does it. Without the kernel's model, which
`scripts/install-tools --kernel-model` fetches, it is skipped."""

from __future__ import annotations

import shutil
from pathlib import Path

import pages
import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "linux-kernel.md"


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
@pytest.mark.usefixtures("cache", "kernel_model")
def test_each_step_prints_what_the_page_shows(tmp_path: Path) -> None:
    assert len(pages.files(PAGE)) == 3
    pages.follow(PAGE, tmp_path)
