"""What the tests of agreement share: herd7, and the suites that diy7 makes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from suites import suite

from weakspot.system.tools import Tool

Need = Callable[[str], Tool]
Suite = Callable[[str, int | None], list[Path]]


@pytest.fixture(scope="session")
def herd7(need: Need) -> Tool:
    return need("herd7")


@pytest.fixture(scope="session")
def tests_of(need: Need, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """A dialect's suite, or so many of it; generated once."""
    need("diy7")
    made: dict[str, list[Path]] = {}

    def tests(dialect: str, limit: int | None) -> list[Path]:
        if dialect not in made:
            made[dialect] = suite(dialect, tmp_path_factory.mktemp(dialect))
        whole = made[dialect]
        return whole if limit is None else whole[:: -(-len(whole) // limit)]

    return tests
