"""Why a thread sleeps forever, if its execution shows store buffering between it and a thread that
would have woken it: one announces that it sleeps and then looks for work, the other publishes work
and then looks for sleepers, and each look misses the other's store.

Nothing is said of an execution without that cycle: the order of program steps and from-reads are
both in the witness.
"""

from __future__ import annotations

from weakspot.harness.values.witness import Execution, WitnessEvent

_HANDSHAKE = ("po", "fr", "po", "fr")


def handshake(witness: Execution, sleeper: int) -> tuple[tuple[WitnessEvent, WitnessEvent], ...]:
    """The store and the look of the thread that sleeps, and then those of the other thread; empty
    if the cycle of the execution is not such a handshake with the thread that sleeps in it."""
    cycle = witness.cycle
    kinds = tuple(kind for _, _, kind in cycle)
    if kinds not in (_HANDSHAKE, _HANDSHAKE[1:] + _HANDSHAKE[:1]):
        return ()
    sides = [
        (witness.events[source], witness.events[target])
        for source, target, kind in cycle
        if kind == "po"
    ]
    own = [side for side in sides if side[0].thread == sleeper]
    others = [side for side in sides if side[0].thread != sleeper]
    return (*own, *others) if len(own) == len(others) == 1 else ()


def explained(witness: Execution) -> list[str]:
    """A paragraph for each thread that sleeps because of such a handshake. The lines that a repair
    changes are named by the finding, whose repair was tried."""
    paragraphs = []
    for wait in witness.waits:
        sides = handshake(witness, wait.thread)
        if not sides:
            continue
        (announce, look), (publish, search) = sides
        name, other = witness.functions[wait.thread], witness.functions[publish.thread or 0]
        paragraphs.append(
            f"lost wake-up: {name} announces at {announce.site} that it sleeps ({announce.label}) "
            f"and then looks for work at {look.site} ({look.label}); {other} publishes at "
            f"{publish.site} ({publish.label}) and then looks for sleepers at {search.site} "
            f"({search.label}). Neither store has reached the other thread when that looks (store "
            f"buffering): {look.label} misses {publish.label}, {search.label} misses "
            f"{announce.label}, {name} sleeps, and {other} wakes nobody. Release and acquire do "
            "not order a store before a later load. A seq_cst fence between the two on both sides "
            "does, or seq_cst on all four accesses"
        )
    return paragraphs
