"""The weakest memory orders that the corpus records are those that relax finds, in seconds."""

from __future__ import annotations

import time
from functools import cache
from pathlib import Path

import pytest

from weakspot.errors import BadInput
from weakspot.harness.corpus import models
from weakspot.harness.corpus.program_groups import program_groups
from weakspot.harness.corpus.structures import CLAIMS, Structure, read_structure, structures
from weakspot.harness.edits.strength import at_most
from weakspot.harness.orders import promotion
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.relax import Relaxing
from weakspot.harness.orders.relaxation import Relaxed
from weakspot.harness.orders.scenes import Version, versions
from weakspot.harness.values.bounds import Bounds

STRUCTURES = structures()
LONG = ("cna_lock", "qspinlock")  # they take longer than ten seconds
RECORDED = [
    pytest.param(
        structure,
        model,
        id=f"{structure.name}-{model}",
        marks=[pytest.mark.full] if structure.name in LONG else [],
    )
    for structure in STRUCTURES
    for model in dict.fromkeys((models.LANGUAGE, *(each.model for each in structure.weakest)))
]
UNDER_MACHINES = [each for each in STRUCTURES if any(claim.machines for claim in each.claims)]
by_name = pytest.mark.parametrize("structure", STRUCTURES, ids=[each.name for each in STRUCTURES])


@cache
def relaxed(structure: str, under: str) -> tuple[list[Relaxed], float]:
    """What relax finds of each version, and the seconds of processor time that it takes."""
    (group,) = program_groups([structure])
    model, results = models.resolve(under), []
    begun = time.process_time()
    explorations = Explorations(model, Bounds())
    for version in versions(group, explorations):
        work = Relaxing(version, explorations)
        work.run()
        results.append(work.result())
    return results, time.process_time() - begun


@pytest.mark.parametrize(("structure", "model"), RECORDED)
def test_weakest_orders_are_as_recorded(structure: Structure, model: str) -> None:
    results, _ = relaxed(structure.name, model)
    assert all(found.decided for found in results), [found.notes for found in results]
    assert promotion.drift(structure, [promotion.recorded(found) for found in results]) == []


@pytest.mark.full
@pytest.mark.parametrize("structure", UNDER_MACHINES, ids=[each.name for each in UNDER_MACHINES])
def test_weakest_orders_suffice_under_imm_too(structure: Structure) -> None:
    """Where each program must be safe under imm as well, other orders are found for one structure:
    two of its programs exhibit load buffering as they are written, and are left out."""
    (group,) = program_groups([structure.name])
    bounds, also = Bounds(seconds=300.0), [models.resolve("imm")]
    explorations = Explorations(models.resolve(models.LANGUAGE), bounds, also=also)
    results = []
    for version in versions(group, explorations):
        work = Relaxing(version, explorations)
        work.run()
        results.append(work.result())
    assert all(found.decided for found in results), [found.notes for found in results]
    lines = promotion.drift(structure, [promotion.recorded(found) for found in results])
    if structure.name != "dekker_locks":
        assert lines == []
        return
    added = [line for line in lines if line.startswith("+")]
    assert added == ['+scenarios = ["seq_cst_atomics", "one_lock", "values"]']
    gone = ("scenarios = ", '  { at = "dekker.h:65:', '  { at = "dekker.h:72:', '  { at = "rmw.c:')
    assert all(line[1:].startswith(gone) for line in lines), lines


@pytest.mark.parametrize("name", [each.name for each in STRUCTURES if each.name not in LONG])
def test_a_structure_is_relaxed_within_ten_seconds(name: str) -> None:
    _, seconds = relaxed(name, models.LANGUAGE)
    assert seconds < 10


@pytest.mark.full
@pytest.mark.parametrize("name", LONG)
def test_a_long_queue_lock_is_relaxed_within_a_minute(name: str) -> None:
    _, seconds = relaxed(name, models.LANGUAGE)
    assert seconds < 60


def test_two_producers_and_two_consumers_are_relaxed_within_a_second() -> None:
    (whole,) = program_groups(["dice_ptlqueue"])
    chosen = tuple(each for each in whole.programs if each[0] == "v2_two_by_two")
    begun = time.process_time()
    version = Version("two by two", chosen, {})
    work = Relaxing(version, Explorations(models.resolve(models.LANGUAGE), Bounds()))
    work.run()
    assert time.process_time() - begun < 1
    assert work.result().weakest


@by_name
def test_no_recorded_order_is_explained_without_a_weaker_one(structure: Structure) -> None:
    for each in (each for table in structure.weakest for each in table.orders):
        for order, why in zip(each.weakest, each.why, strict=True):
            lowest = order in ("none", "rlx", "rlx/rlx")
            assert bool(why) is not lowest, each
            for reason in filter(None, why.removeprefix("not exercised").split("; ")):
                assert at_most(reason.partition(":")[0], order), each


def test_promoting_writes_the_end_of_the_file_alone(tmp_path: Path) -> None:
    structure = next(each for each in STRUCTURES if each.name == "store_buffering")
    folder = tmp_path / structure.name
    folder.mkdir()
    for path in structure.folder.glob("*.[ct]*"):
        (folder / path.name).write_bytes(path.read_bytes())
    text = (folder / CLAIMS).read_text()
    (folder / CLAIMS).write_text(text.partition(promotion.HEAD)[0])
    bare = read_structure(folder)
    assert bare.weakest == ()
    tables = [promotion.recorded(found) for found in relaxed(structure.name, models.LANGUAGE)[0]]
    assert promotion.drift(bare, tables)
    promotion.promote(bare, tables)
    assert (folder / CLAIMS).read_text() == text
    promotion.promote(read_structure(folder), tables)
    assert (folder / CLAIMS).read_text() == text


def test_a_recorded_scenario_that_is_gone_is_an_error_at_its_line(tmp_path: Path) -> None:
    structure = next(each for each in STRUCTURES if each.name == "store_buffering")
    for path in structure.folder.glob("*.c"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    text = (structure.folder / CLAIMS).read_text()
    (tmp_path / CLAIMS).write_text(text.replace('scenarios = ["seq_cst"', 'scenarios = ["gone"'))
    with pytest.raises(BadInput, match="unknown scenario 'gone'") as refused:
        read_structure(tmp_path)
    assert "claims.toml:" in str(refused.value)
