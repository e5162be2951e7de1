"""A name is that of one test, whichever structures and executions give it: answers are filed under
it."""

from __future__ import annotations

import pytest

import weakspot
from weakspot.generators.litmus import Test
from weakspot.harness.corpus import models
from weakspot.harness.corpus.resolution import content
from weakspot.harness.corpus.structures import structures
from weakspot.harness.values.bounds import Bounds

OF_PROGRAMS = [name for name, model in models.load().items() if "C" in model.of_programs.dialects]


def names_of_several(found: list[Test]) -> set[str]:
    texts: dict[str, str] = {}
    return {
        test.name for test in found if texts.setdefault(test.name, content(test)) != content(test)
    }


def found_in(names: list[str], model: str, seconds: float) -> list[Test]:
    """Those that are generated, and those of violations."""
    explored = weakspot.explore(names, models=[model], bounds=Bounds(seconds=seconds))
    return [*weakspot.generate(names), *(test for each in explored for test in each.tests)]


def test_violations_that_depend_on_a_read_have_names_of_their_own() -> None:
    found = found_in(["bakery", "rcu"], "imm", 20.0)
    assert {"MP+ponarlx+fencescrlxna", "MP+ponarel+ctrlfencescrlxna"} <= {
        each.name for each in found
    }
    assert not names_of_several(found)


@pytest.mark.full
@pytest.mark.parametrize("model", OF_PROGRAMS)
def test_different_tests_of_the_corpus_have_different_names(model: str) -> None:
    found = found_in([each.name for each in structures()], model, 2.0)
    assert len({test.name for test in found}) > 200
    assert not names_of_several(found)
