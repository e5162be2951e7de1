"""An execution that goes wrong becomes the test of its cycle: the one that the program's access
pattern would give, and no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from weakspot.generators.cycles.patterns import Habits
from weakspot.generators.cycles.witness import cycle_test
from weakspot.generators.litmus import Site, Test

Edge = tuple[int, int]


def execution(
    threads: Sequence[Sequence[str]],
    *,
    rf: Sequence[Edge] = (),
    co: Sequence[Edge] = (),
    conflict: Edge | None = None,
) -> tuple[Any, list[Site]]:
    """Threads of `W x 1 rlx`, `R y 0 acq`, `RMW x 0>1 sc`, `F sc`, numbered in order behind the
    initial values of x, y and z, which are 0, 1 and 2."""
    events: list[dict[str, Any]] = [
        _event(None, "W", "na", location, "", "0", None) for location in "xyz"
    ]
    sites: list[Site] = []
    for thread, texts in enumerate(threads, 1):
        for text in texts:
            kind, *words = text.split()
            location, value, order = words if kind != "F" else ("", "", words[0])
            read, _, written = value.partition(">") if kind == "RMW" else ("", "", "")
            if kind == "R":
                read = value
            elif kind == "W":
                written = value
            events.append(_event(thread, kind, order, location, read, written, len(sites)))
            sites.append(Site(f"t{thread}.c", len(sites) + 1, 1, "f", kind, order))
    made = {
        "functions": ["main", "f", "g", "h"],
        "events": events,
        "rf": list(rf),
        "co": list(co),
        "fr": [],
        "cycle": [],
        "conflict": conflict,
        "waits": [],
    }
    return made, sites


def _event(thread: int | None, kind: str, order: str, *rest: Any) -> dict[str, Any]:
    location, read, written, site = rest
    return {
        "thread": thread,
        "label": "",
        "kind": kind,
        "order": order,
        "location": location,
        "read": read,
        "written": written,
        "site": site,
    }


def made(given: tuple[Any, list[Site]], habits: Habits | None = None) -> Test | None:
    found, sites = given
    return cycle_test(found, sites, habits or Habits(), structure="s", scenario="t")


STORE_BUFFERING = [["W x 1 rel", "R y 0 acq"], ["W y 1 rel", "R x 0 acq"]]


def test_store_buffering_is_the_test_that_the_pattern_gives() -> None:
    test = made(execution(STORE_BUFFERING, rf=[(1, 4), (0, 6)], co=[(0, 3), (1, 5)]))
    assert test is not None
    assert test.name == "SB+porelacqs"
    assert "exists (0:r0=0 /\\ 1:r0=0)" in test.text
    (origin,) = test.origins
    assert (origin.structure, origin.scenario, origin.operations) == ("s", "t", ("f", "f"))
    assert [str(site) for thread in origin.sites for site in thread] == [
        "t1.c:1",
        "t1.c:2",
        "t2.c:3",
        "t2.c:4",
    ]


def test_threads_that_take_turns_make_no_test() -> None:
    turns = [["W x 1 rel", "R y 0 acq"], ["W y 1 rel", "R x 1 acq"]]
    assert made(execution(turns, rf=[(1, 4), (3, 6)], co=[(0, 3), (1, 5)])) is None


def test_events_beside_the_cycle_are_left_out() -> None:
    more = [
        ["W z 1 rlx", "W x 1 rel", "F sc", "R y 0 acq", "W z 2 rlx"],
        ["W y 1 rel", "F sc", "R x 0 acq", "R z 1 rlx"],
    ]
    found = made(
        execution(more, rf=[(1, 6), (0, 10), (3, 11)], co=[(0, 4), (1, 8), (2, 3), (3, 7)])
    )
    assert found is not None
    assert found.name == "SB+fencescrelacqs"


@pytest.mark.parametrize(("reads", "found"), [(100, True), (400, False)])
def test_a_thread_with_too_many_accesses_makes_no_test(reads: int, found: bool) -> None:
    threads = [*STORE_BUFFERING, ["R z 0 rlx"] * reads]
    rf = [(1, 4), (0, 6), *((2, 7 + read) for read in range(reads))]
    assert (made(execution(threads, rf=rf, co=[(0, 3), (1, 5)])) is not None) is found


def test_a_read_from_reads_through_several_writes() -> None:
    """fr leads to every later write of the location, not to the next alone."""
    twice = [["W x 1 rlx", "W x 2 rel", "R y 0 acq"], ["W y 1 rel", "R x 0 acq"]]
    found = made(execution(twice, rf=[(1, 5), (0, 7)], co=[(0, 3), (3, 4), (1, 6)]))
    assert found is not None
    assert found.name == "SB+porelacqs"


@pytest.mark.parametrize(
    ("operations", "name"), [({}, "SB+poexchscscs"), ({0: "add", 2: "add"}, "SB+pofetch.addscscs")]
)
def test_a_read_modify_write_is_what_the_program_makes_of_it(
    operations: dict[int, str], name: str
) -> None:
    given = execution(
        [["RMW x 0>1 sc", "R y 0 sc"], ["RMW y 0>1 sc", "R x 0 sc"]],
        rf=[(0, 3), (1, 4), (1, 5), (0, 6)],
        co=[(0, 3), (1, 5)],
    )
    found = made(given, Habits(updates=operations))
    assert found is not None
    assert found.name == name


RACE = [["W x 1 na", "W y 1 rlx"], ["R y 1 acq", "R x 1 na"]]


def test_a_race_is_an_edge_of_the_cycle_whatever_is_read() -> None:
    given = execution(RACE, rf=[(4, 5), (3, 6)], co=[(0, 3), (1, 4)], conflict=(3, 6))
    found = made(given, Habits(dependent=frozenset({(2, 3)})))
    assert found is not None
    assert found.name == "MP+ponarlx+ctrlacqna"


def test_a_race_of_accesses_that_are_made_whatever_is_read_makes_no_test() -> None:
    assert made(execution(RACE, rf=[(4, 5), (3, 6)], co=[(0, 3), (1, 4)], conflict=(3, 6))) is None


def test_a_race_of_threads_that_never_communicate_makes_no_test() -> None:
    given = execution([["W x 1 na"], ["R x 0 na"]], rf=[(0, 4)], co=[(0, 3)], conflict=(3, 4))
    assert made(given) is None


def test_the_cycle_of_fewest_threads_is_chosen() -> None:
    both = [["W x 1 rlx", "R y 0 rlx"], ["W y 1 rlx", "R x 0 rlx"], ["R x 1 rlx", "R y 0 rlx"]]
    found = made(execution(both, rf=[(1, 4), (0, 6), (3, 7), (1, 8)], co=[(0, 3), (1, 5)]))
    assert found is not None
    assert found.name == "SB+porlxrlxs"
