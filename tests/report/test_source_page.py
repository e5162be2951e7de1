"""The source of a structure: what stored answers say about each atomic operation."""

from __future__ import annotations

import msgspec
from examples import small

from weakspot.generators.litmus import Site
from weakspot.harness.report.site.data import site_data
from weakspot.harness.report.site.pages.source import TITLES, MarkedLine, source_view
from weakspot.harness.values.claims import Weakest, WeakestOrder
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.record import AnnotationCosts, Record
from weakspot.harness.values.repair import Need, SuggestedRepair


def lines(record: Record) -> dict[int, MarkedLine]:
    """The lines of queue.h by number."""
    (file,) = source_view(site_data(record), record.structures[0]).files
    return {line.number: line for line in file.lines}


def weakest(line: int, written: str, *found: str, why: str = "") -> Record:
    order = WeakestOrder(
        at=f"queue.h:{line}:3",
        operation="store",
        function="push",
        written=written,
        weakest=found,
        why=(why,) * len(found),
    )
    (structure,) = small().structures
    table = Weakest(model="rc11", scenarios=("pop_vs_steal",), orders=(order,))
    structure = msgspec.structs.replace(structure, weakest=(table,))
    return msgspec.structs.replace(small(), structures=(structure,))


def test_a_repair_marks_what_is_too_weak_with_its_scenario() -> None:
    repair = SuggestedRepair(
        program="work_queue/two_thieves",
        model="rc11",
        changes=(Need("queue.h:11", "at least release under rc11"),),
    )
    found = lines(msgspec.structs.replace(small(), repairs=(repair,)))
    assert found[11].kind == "weak"
    assert found[11].marks[0].text == "needs at least release under rc11, in scenario two_thieves"


def test_a_repair_of_another_structure_marks_nothing() -> None:
    repair = SuggestedRepair(
        program="other/two_thieves", model="rc11", changes=(Need("queue.h:11", "at least release"),)
    )
    assert lines(msgspec.structs.replace(small(), repairs=(repair,)))[11].kind == "open"


def test_a_weakest_order_that_is_written_is_needed_and_says_why() -> None:
    line = lines(weakest(11, "rel", "rel", why="rlx: race in push_vs_steal, MP+rlx+acq"))[11]
    assert line.kind == "needed"
    (mark,) = line.marks
    assert mark.text == (
        "store in push: rel is needed under rc11 (rlx: race in push_vs_steal, MP+rlx+acq)"
    )


def test_an_order_that_nothing_is_weaker_than_is_not_marked_as_needed() -> None:
    line = lines(weakest(11, "rlx", "rlx"))[11]
    assert line.kind == "weakest"
    assert line.marks[0].text == "store in push: rlx suffices under rc11, the weakest of all"


def test_a_relaxed_access_is_not_marked_as_needed_for_what_another_order_there_prevents() -> None:
    order = WeakestOrder(
        at="queue.h:11:3",
        operation="store",
        function="push",
        written="rlx",
        weakest=("rlx", "rel"),
        why=("", "rlx: race in push_vs_steal"),
    )
    (structure,) = small().structures
    table = Weakest(model="rc11", scenarios=("pop_vs_steal",), orders=(order,))
    structure = msgspec.structs.replace(structure, weakest=(table,))
    line = lines(msgspec.structs.replace(small(), structures=(structure,)))[11]
    assert line.kind == "weakest"


def test_no_sign_is_a_bare_question_mark() -> None:
    assert "?" not in {sign for sign, _ in TITLES.values()}


def test_a_weaker_order_that_suffices_is_named() -> None:
    line = lines(weakest(11, "sc", "rel", "acq", why="rlx: race"))[11]
    assert line.kind == "strong"
    assert "sc, rel or acq suffices under rc11; weaker: rlx: race" in line.marks[0].text


def test_a_finding_of_an_order_that_is_too_strong_marks_its_line() -> None:
    finding = Finding(
        id="WS301",
        severity="note",
        message="sc, rel suffices",
        subject="work_queue",
        sites=("queue.h:11",),
    )
    assert lines(msgspec.structs.replace(small(), findings=(finding,)))[11].kind == "strong"


def test_operations_without_an_answer_are_marked_and_other_lines_are_not() -> None:
    found = lines(small())
    assert [number for number, line in found.items() if line.kind == "open"] == [
        *(9, 10, 11, 15, 17, 18, 22, 23, 24, 25)
    ]
    assert found[4].text == "  atomic_int head, tail;"
    assert not found[4].marks


def test_locks_and_plain_accesses_need_no_answer() -> None:
    (first, *_) = small().entries
    (origin,) = first.test.origins
    sites = (
        (Site("queue.h", 5, 3, "pop", "lock", "acq"), Site("queue.h", 6, 3, "pop", "W", "na")),
        (Site("queue.h", 7, 3, "pop", "R", "rlx"),),
    )
    test = msgspec.structs.replace(
        first.test, origins=(msgspec.structs.replace(origin, sites=sites),)
    )
    entries = (msgspec.structs.replace(first, test=test),)
    found = lines(msgspec.structs.replace(small(), entries=entries))
    assert [found[number].tests for number in (5, 6, 7)] == [1, 1, 1]
    assert [found[number].kind for number in (5, 6, 7)] == ["", "", "open"]


def test_the_cost_of_each_order_is_beside_the_operation() -> None:
    price = AnnotationCosts(
        at="queue.h:16:5", operation="store", function="pop", written="rel", ns={"rlx": 0, "rel": 2}
    )
    (structure,) = small().structures
    structure = msgspec.structs.replace(structure, prices=(price,))
    line = lines(msgspec.structs.replace(small(), structures=(structure,)))[16]
    assert line.costs == ("store in pop costs rlx 0, rel +2.0 ns; rel is written",)
    assert line.tests == 7
    assert line.is_contradicting
