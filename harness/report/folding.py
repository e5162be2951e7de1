"""Witnesses without the inside of library calls: the events of one call become one event.

The cycle and reads-from lead to and from the folded event. Edges within a call are left out, and so
is what concerns only the library's own locations: initial values, and coherence beside the cycle. A
lock or a fence of a system header is an event by itself: it stands at the project's own line.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import msgspec

from weakspot.harness.values.witness import Execution, Witness, WitnessEvent


def folded(
    witness: Witness, keep: Callable[[int], bool] = lambda _: False
) -> tuple[Witness, list[int]]:
    """The witness with each library call as one event, and for each of its events the index of the
    first event that it stands for. A call with an event to `keep` is not folded."""
    if not isinstance(witness, Execution):
        return witness, [*range(len(witness.events))]
    events: list[WitnessEvent] = []
    first: list[int] = []
    now: dict[int, int] = {}
    numbered = enumerate(witness.events)
    for (thread, call, caller), group in itertools.groupby(
        numbered, lambda each: (each[1].thread, each[1].call, each[1].caller)
    ):
        numbers = [number for number, _ in group]
        is_line = len(numbers) == 1 and witness.events[numbers[0]].site == caller
        fold = bool(call) and not is_line and not any(map(keep, numbers))
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
