"""The reductions that can be switched off, by name."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

import pytest

from weakspot import _engine
from weakspot.errors import BadInput
from weakspot.harness.values.bounds import REDUCTIONS, Part

PAGE = Path(__file__).parents[2] / "docs" / "reductions.md"


def test_the_engine_python_and_the_documentation_name_the_same_reductions() -> None:
    engine = _engine.reductions()
    assert tuple(name for name, _ in engine) == REDUCTIONS
    rows = re.findall(r"^\| `(.*)` \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == engine


def test_a_name_of_no_reduction_is_refused() -> None:
    with pytest.raises(BadInput, match="no reduction 'wait'"):
        Part(without=(cast(Any, "wait"),))
