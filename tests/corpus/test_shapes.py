"""The shapes that each structure must give, at the lines of source they belong to."""

from __future__ import annotations

from pathlib import Path

import pytest
from scenarios import generated

from weakspot.generators.litmus import Origin, Test
from weakspot.harness.corpus import structures

Lines = tuple[tuple[str, ...], ...]


def source_lines(origin: Origin, folder: Path) -> Lines:
    """The source text at each site, thread by thread."""
    return tuple(
        tuple((folder / site.file).read_text().splitlines()[site.line - 1] for site in thread)
        for thread in origin.sites
    )


def matches(found: Lines, wanted: Lines) -> bool:
    return len(found) == len(wanted) and all(
        len(there) == len(words) and all(w in t for w, t in zip(words, there, strict=True))
        for there, words in zip(found, wanted, strict=True)
    )


def has(structure: str, scenario: str, test: str, wanted: Lines) -> Test:
    """The test of that name, with an origin at lines that hold these words."""
    folder = structures.find(structure).folder
    made = {each.name: each for each in generated(structure, scenario).tests}
    assert test in made, sorted(made)
    lines = [source_lines(origin, folder) for origin in made[test].origins]
    assert any(matches(found, wanted) for found in lines), lines
    return made[test]


def test_pop_and_steal_buffer_their_stores_of_tail_and_head() -> None:
    test = has(
        "duffy_wsq",
        "pop_vs_steal",
        "SB+poexchscscs",
        (
            ("atomic_exchange_explicit(&q->tail", "atomic_load_explicit(&q->head"),
            ("atomic_exchange_explicit(&q->head", "atomic_load_explicit(&q->tail"),
        ),
    )
    assert {"q.tail", "q.head"} == set(test.origins[0].locations.values())


def test_weakened_exchange_of_a_pop_is_store_buffering_with_a_release_store() -> None:
    has(
        "duffy_wsq",
        "pop_vs_steal_pop_store",
        "SB+porelsc+poexchscsc",
        (
            ("atomic_store_explicit(&q->tail", "atomic_load_explicit(&q->head"),
            ("atomic_exchange_explicit(&q->head", "atomic_load_explicit(&q->tail"),
        ),
    )


def test_push_and_steal_pass_the_slot_as_a_message() -> None:
    has(
        "duffy_wsq",
        "push_vs_steal",
        "MP+ponarel+ctrlscna",
        (
            ("q->slot[tail & q->mask] = value", "atomic_store_explicit(&q->tail"),
            ("atomic_load_explicit(&q->tail", "*value = q->slot[head & q->mask]"),
        ),
    )


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_mailbox_and_turn_are_message_passing_and_its_reuse_load_buffering(version: str) -> None:
    shapes = {
        test.shape
        for scenario in (f"{version}_handover", f"{version}_slot_reuse")
        for test in generated("dice_ptlqueue", scenario).tests
        if set(test.origins[0].locations.values()) == {"q.slots[0].turn", "q.slots[0].mailbox"}
    }
    assert "MP" in shapes
    assert shapes & {"S", "LB"}


def test_item_is_published_through_the_compare_exchange() -> None:
    test = has(
        "pheet_centralk",
        "publish",
        "MP+ponacasrel+ctrlacqna",
        (
            ("item.task =", "atomic_compare_exchange_strong_explicit"),
            ("atomic_load_explicit", "task"),
        ),
    )
    assert test.body is not None
    assert test.body.plain == {"x"}


def test_tail_moved_by_two_pushers_is_a_release_sequence_of_three_threads() -> None:
    (test,) = [
        test
        for test in generated("pheet_centralk", "tail_chain").tests
        if test.shape == "ISA2" and "+cas" in test.name
    ]
    assert len(test.body.threads if test.body else ()) == 3
    assert "tail" in test.origins[0].locations.values()


def test_plain_store_in_the_chain_and_store_by_the_same_thread_have_tests_of_their_own() -> None:
    broken = {test.shape for test in generated("pheet_centralk", "tail_chain_store").tests}
    assert "WRR+2W" in broken
    again = {test.name for test in generated("pheet_centralk", "tail_again").tests}
    assert any("-coirelrlx" in name for name in again)


@pytest.mark.parametrize(
    ("scenario", "name"),
    [
        ("forwarding", "SB+rfirelacq-poacqacqs"),
        ("forwarding", "SB+porelacq+rfirelacq-poacqacq"),
        ("fence", "SB+rfirelacq-fencescacqacqs"),
    ],
)
def test_forwarding_is_store_buffering_with_internal_reads(scenario: str, name: str) -> None:
    made = {test.name: test for test in generated("intra_processor_forwarding", scenario).tests}
    assert name in made
    assert {site.file for thread in made[name].origins[0].sites for site in thread} == {
        "forwarding.h"
    }


def test_corpus_gives_at_least_forty_distinct_tests() -> None:
    names = {
        test.name
        for structure in structures.structures()
        for scenario in structure.scenarios
        for test in generated(structure.name, scenario.name).tests
    }
    assert len(names) >= 40
