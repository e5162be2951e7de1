"""A hang is explained as a lost wake-up where its execution shows the handshake, and only there."""

from __future__ import annotations

import msgspec
import pytest

from weakspot.harness.report import witness
from weakspot.harness.report.lost_wakeups import handshake
from weakspot.harness.values.witness import Execution, Wait, WitnessEvent


def event(thread: int, label: str, kind: str, location: str) -> WitnessEvent:
    line = 10 + "abcd".index(label)
    return WitnessEvent(thread, label, kind, "rlx", location, site=f"q.c:{line}")


PRODUCER = (event(1, "a", "W", "work"), event(1, "b", "R", "sleeping"))
CONSUMER = (event(2, "c", "RMW", "sleeping"), event(2, "d", "R", "work"))
CYCLE = ((0, 1, "po"), (1, 2, "fr"), (2, 3, "po"), (3, 0, "fr"))
ASLEEP = Execution(
    events=(*PRODUCER, *CONSUMER),
    fr=((1, 2), (3, 0)),
    cycle=CYCLE,
    functions=("main", "producer", "consumer"),
    waits=(Wait(0, "another thread to end", "q.c:30"), Wait(2, "a wake-up", "q.c:14")),
)


def paragraphs(found: Execution) -> list[str]:
    return [each for each in witness.conclusion(found) if each.startswith("lost wake-up: ")]


@pytest.mark.parametrize("turn", range(4))
def test_both_sides_of_a_handshake_are_named_with_their_lines(turn: int) -> None:
    found = msgspec.structs.replace(ASLEEP, cycle=CYCLE[turn:] + CYCLE[:turn])
    (paragraph,) = paragraphs(found)
    for part in (
        "consumer announces at q.c:12 that it sleeps (c) and then looks for work at q.c:13 (d)",
        "producer publishes at q.c:10 (a) and then looks for sleepers at q.c:11 (b)",
        "d misses a, b misses c",
    ):
        assert part in paragraph


def test_another_cycle_is_no_lost_wakeup() -> None:
    message_passing = ((0, 1, "po"), (1, 2, "rf"), (2, 3, "po"), (3, 0, "fr"))
    for cycle in ((), message_passing, CYCLE[:2]):
        assert not paragraphs(msgspec.structs.replace(ASLEEP, cycle=cycle))


def test_a_handshake_between_threads_that_do_not_sleep_explains_nothing() -> None:
    assert not handshake(ASLEEP, 0)
    assert not paragraphs(msgspec.structs.replace(ASLEEP, waits=ASLEEP.waits[:1]))
