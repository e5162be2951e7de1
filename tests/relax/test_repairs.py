"""What is enough to make a program safe again is found, and confirmed on all programs."""

from __future__ import annotations

import pytest

from weakspot.generators.source.build import Build
from weakspot.generators.source.program import Program, read_program
from weakspot.harness.corpus import models, structures
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.repairs import Repair, repairs
from weakspot.harness.values.bounds import Bounds

RC11 = models.resolve("rc11")


def scenarios(structure: str, *names: str) -> list[tuple[str, Program]]:
    found = structures.find(structure)
    return [
        (each.name, read_program(found.path(each), build=Build(defines=each.defines)))
        for each in found.scenarios
        if each.name in names
    ]


def proposed(structure: str, violated: str, *others: str) -> tuple[Repair, ...]:
    return repairs(scenarios(structure, violated, *others), violated, Explorations(RC11, Bounds()))


def test_one_annotation_that_is_enough_is_named_with_the_scenarios_it_is_enough_for() -> None:
    (repair,) = proposed(
        "dice_ptlqueue", "v2_handover_put_relaxed", "v2_handover", "v2_two_producers"
    )
    (change,) = repair.changes
    assert (change.before, change.after) == ("rlx", "rel")
    assert (
        str(repair) == f"memory_order_release at {change.annotation} is enough for all 3 scenarios"
    )


def test_two_annotations_that_are_only_enough_together_are_named_together() -> None:
    (repair,) = proposed("store_buffering", "rel_acq")
    assert {change.after for change in repair.changes} == {"sc"}
    assert {change.annotation.kind for change in repair.changes} == {"W", "R"}
    assert "are enough together" in str(repair)


def test_a_repair_is_no_stronger_than_needed() -> None:
    (repair,) = proposed("pheet_centralk", "publish_put_relaxed")
    assert [change.after for change in repair.changes] == ["rel/rlx"]


@pytest.mark.parametrize("violated", ["v2_one_slot", "v2_try_take_slow_producer"])
def test_a_violation_that_no_memory_order_prevents_has_no_repair(violated: str) -> None:
    assert proposed("dice_ptlqueue", violated) == ()


def test_a_limit_that_leaves_it_open_gives_no_repair() -> None:
    programs = scenarios("dice_ptlqueue", "v2_handover_put_relaxed")
    tight = Bounds(executions=1)
    assert repairs(programs, "v2_handover_put_relaxed", Explorations(RC11, tight)) == ()
