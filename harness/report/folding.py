"""Witnesses without the inside of library calls and without rounds alike: the events of one call
become one event, and so do rounds of a loop that repeat what the round before them does.

The cycle and reads-from lead to and from the folded event of a call. Edges within a call are left
out, and so is what concerns only the library's own locations: initial values, and coherence beside
the cycle. A lock or a fence of a system header is an event by itself: it stands at the project's
own line; nor is a call folded in which something happens spuriously. What another thread reads from
rounds that are folded stays an edge; what they read themselves is left out, since the round before
them says the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence

import msgspec

from weakspot.harness.values.witness import SPURIOUS, Execution, Witness, WitnessEvent

_LONGEST = 8  # events of a round
_FEWEST = 3  # rounds


def folded(
    witness: Witness, keep: Callable[[int], bool] = lambda _: False
) -> tuple[Witness, list[int]]:
    """The witness with each library call as one event, and the rounds after the first of several
    alike as one; for each of its events, the index of the first event that it stands for. An event
    to `keep` is in none of these."""
    if not isinstance(witness, Execution):
        return witness, [*range(len(witness.events))]
    called, first = _with_calls(witness, keep)
    shown, then = _with_rounds(called, lambda number: keep(first[number]))
    return shown, [first[number] for number in then]


def _with_calls(witness: Execution, keep: Callable[[int], bool]) -> tuple[Execution, list[int]]:
    events: list[WitnessEvent] = []
    first: list[int] = []
    now: dict[int, int] = {}
    numbered = enumerate(witness.events)
    for (thread, call, caller), group in itertools.groupby(
        numbered, lambda each: (each[1].thread, each[1].call, each[1].caller)
    ):
        numbers = [number for number, _ in group]
        is_line = len(numbers) == 1 and witness.events[numbers[0]].site == caller
        spurious = any(witness.events[number].kind in SPURIOUS for number in numbers)
        fold = bool(call) and not (is_line or spurious or any(map(keep, numbers)))
        for number in numbers:
            event = witness.events[number]
            if not fold or number == numbers[0]:
                first.append(number)
                events.append(
                    WitnessEvent(
                        thread, event.label, "CALL", "", call, str(len(numbers)), site=caller
                    )
                    if fold
                    else event
                )
            now[number] = len(events) - 1

    steps = [(now[one], now[other], kind) for one, other, kind in witness.cycle]

    def pairs(kind: str, of: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        moved = dict.fromkeys((now[one], now[other]) for one, other in of if now[one] != now[other])
        return tuple(
            (one, other)
            for one, other in moved
            if (one, other, kind) in steps
            or "CALL" not in (events[one].kind, events[other].kind)
            or (kind == "rf" and events[one].thread is not None)
        )

    conflict = witness.conflict
    return msgspec.structs.replace(
        witness,
        events=tuple(events),
        rf=pairs("rf", witness.rf),
        co=pairs("co", witness.co),
        fr=pairs("fr", witness.fr),
        cycle=tuple(step for step in steps if step[0] != step[1]),
        conflict=None if conflict is None else (now[conflict[0]], now[conflict[1]]),
    ), first


def _with_rounds(witness: Execution, keep: Callable[[int], bool]) -> tuple[Execution, list[int]]:
    events = witness.events
    single = {number for number in range(len(events)) if keep(number)}
    single.update(number for one, other, _ in witness.cycle for number in (one, other))
    single.update(witness.conflict or ())
    rounds = {start: (end, count) for start, end, count in _rounds(events, single)}
    shown: list[WitnessEvent] = []
    first: list[int] = []
    now: dict[int, int] = {}
    inside: dict[int, int] = {}
    number = 0
    while number < len(events):
        first.append(number)
        if number in rounds:
            end, count = rounds[number]
            label = f"{events[number].label}–{events[end - 1].label}"
            inside |= dict.fromkeys(range(number, end), len(shown))
            shown.append(WitnessEvent(events[number].thread, label, "ROUNDS", read=str(count)))
            number = end
        else:
            now[number] = len(shown)
            shown.append(events[number])
            number += 1

    def pairs(of: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        return tuple((now[one], now[other]) for one, other in of if one in now and other in now)

    any_of, conflict = now | inside, witness.conflict
    return msgspec.structs.replace(
        witness,
        events=tuple(shown),
        rf=tuple((any_of[one], now[other]) for one, other in witness.rf if other in now),
        co=pairs(witness.co),
        fr=pairs(witness.fr),
        cycle=tuple((now[one], now[other], kind) for one, other, kind in witness.cycle),
        conflict=None if conflict is None else (now[conflict[0]], now[conflict[1]]),
    ), first


def _rounds(events: Sequence[WitnessEvent], single: set[int]) -> Iterator[tuple[int, int, int]]:
    """Where rounds stand that repeat the one before them, where they end, and how many they are."""
    alike = [msgspec.structs.replace(each, label="") for each in events]
    start = 0
    while start < len(events):
        if events[start].thread is None:
            start += 1
            continue
        size, end = max(
            ((size, _repeated(alike, start, size, single)) for size in range(1, _LONGEST + 1)),
            key=lambda each: (each[1], -each[0]),
        )
        count = (end - start) // size
        if count >= _FEWEST:
            yield start + size, end, count - 1
        start = max(end if count >= _FEWEST else 0, start + 1)


def _repeated(alike: Sequence[WitnessEvent], start: int, size: int, single: set[int]) -> int:
    """The end of the rounds of that size that begin at `start`."""
    end = start + size
    while end + size <= len(alike) and all(
        alike[number] == alike[number - size] and number not in single
        for number in range(end, end + size)
    ):
        end += size
    return min(end, len(alike))
