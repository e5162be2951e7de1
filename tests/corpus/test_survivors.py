"""Every change of the corpus that its scenarios do not notice is recorded with its reason.

For a memory order that is the weaker one in claims.toml, with what breaks below it; a fence, a
notification or a post that can be left out is a `[[survivor]]` there.
"""

from __future__ import annotations

import pytest

import weakspot
from weakspot.harness.corpus import models
from weakspot.harness.corpus.structures import Structure, structures
from weakspot.harness.edits.strength import at_most
from weakspot.harness.orders.mutants import Mutant
from weakspot.harness.report.mutants import change

STRUCTURES = structures()


def has_weaker_order(structure: Structure, mutant: Mutant) -> bool:
    """Whether the mutant's memory order suffices in one of the recorded assignments."""
    return any(
        each.at.rpartition(":")[0] == mutant.place
        and each.operation == mutant.operation
        and each.written == mutant.written
        and any(at_most(order, mutant.weaker) for order in each.weakest)
        for table in structure.weakest
        if table.model == models.LANGUAGE
        for each in table.orders
    )


@pytest.mark.full
@pytest.mark.parametrize("structure", STRUCTURES, ids=[each.name for each in STRUCTURES])
def test_what_no_scenario_notices_is_recorded(structure: Structure) -> None:
    (found,) = weakspot.mutate([structure.name], models=[models.LANGUAGE])
    assert not found.of("undecided")
    survivors = [each for each in found.of("survives") if not has_weaker_order(structure, each)]
    assert {(each.place, each.operation, change(each)) for each in survivors} == {
        (each.at, each.operation, each.change) for each in structure.survivors
    }
    assert all(each.why for each in structure.survivors)
