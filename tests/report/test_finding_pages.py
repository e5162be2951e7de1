"""Every id has a page, every page an id."""

from __future__ import annotations

from pathlib import Path

import pytest

from weakspot.errors import BadInput
from weakspot.harness.judge.kinds import KINDS, kind

PAGES = Path(__file__).resolve().parents[2] / "docs" / "findings"


@pytest.mark.parametrize("name", KINDS)
def test_an_id_has_a_page_that_says_what_why_and_what_to_do(name: str) -> None:
    text = KINDS[name].text
    assert text == (PAGES.parents[1] / KINDS[name].page).read_text(encoding="utf-8")
    assert text.startswith(f"# {name} {KINDS[name].title}\n")
    for part in ("## What it is", "## Why it matters", "## Example", "## What to do"):
        assert part in text


def test_a_page_is_about_an_id() -> None:
    assert {path.stem for path in PAGES.glob("WS*.md")} <= set(KINDS)


def test_an_id_is_found_in_any_case_and_a_wrong_one_is_corrected() -> None:
    assert kind("ws201") is KINDS["WS201"]
    with pytest.raises(BadInput, match="unknown finding WS20"):
        kind("WS20")
