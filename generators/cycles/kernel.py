"""What the events of the Linux kernel's programs are in litmus tests of the kernel's.

In: events as the engine traces them. Out: memory orders and fences as the model names them. A test
lacks what has no part in its cycle, and so may allow what the program forbids, never the reverse:

- Spin locks are exchanges with acquire, and stores with release; the stronger order of a spin lock
  (smp_mb__after_spinlock) is left out.
- `barrier` and SRCU are left out. A thread is in a critical section of RCU if all its accesses are
  in the same one.
- An address dependency of a load is one where the pointer is read from a store of the cycle that
  has no other access there, and left out otherwise. One of a store, and a data dependency, are
  control dependencies, which order a store as much.
- An update is an addition if it is neither an exchange nor a subtraction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from weakspot.generators.litmus import KERNEL_ORDER, Order

if TYPE_CHECKING:
    from weakspot._engine import EventDict

_FENCES: dict[str, Order] = {
    "sync-rcu": "sync-rcu",
    "sc": "mb",
    "rmb": "rmb",
    "wmb": "wmb",
    "before-atomic": "before-atomic",
    "after-atomic": "after-atomic",
}
"""By the names that traces have; each of the first two is as strong as those below it."""
_STRONG: tuple[Order, ...] = ("sync-rcu", "mb")
_UPDATES = {"exch": "exch", "cas": "cas", "fetch.sub": "fetch.sub"}
NORETURN = "noreturn"
"""The memory order of an update that returns nothing."""


def is_left_out(event: EventDict) -> bool:
    """Whether tests lack what it is: a part of SRCU, which newer models have as an access."""
    return event["order"] in ("srcu-lock", "srcu-unlock")


def order(text: str) -> Order:
    """The memory order of an access."""
    match text:
        case "na" | "noreturn":
            return text
        case "islocked":
            return "once"
        case _:
            return KERNEL_ORDER[text]


def update(op: str) -> str:
    """The update that stands for one, in diy7's words."""
    return _UPDATES.get(op, "fetch.add")


def fences(events: Sequence[EventDict]) -> tuple[tuple[Order, int], ...]:
    """The fences among events that a test needs, each once, with the site of each."""
    found: dict[Order, int] = {}
    for event in events:
        if event["kind"] == "F" and (name := _FENCES.get(event["order"])) is not None:
            found.setdefault(name, event["site"])
    for strong in _STRONG:
        if strong in found:
            return ((strong, found[strong]),)
    return tuple(found.items())


def sections(events: Sequence[EventDict]) -> list[int]:
    """The critical section of RCU that each event is in, counted from 1; 0 outside of them."""
    found, depth, number = [], 0, 0
    for event in events:
        if event["order"] == "rcu-lock":
            depth += 1
            number += depth == 1
        found.append(number if depth else 0)
        if event["order"] == "rcu-unlock":
            depth = max(depth - 1, 0)
    return found


def depends(event: EventDict, earlier: int) -> bool:
    """Whether an access depends on an earlier one in a way that a control dependency expresses."""
    reads = [*event["ctrl"], *event["addr"], *event["data"]]
    return earlier in (reads if event["kind"] in ("W", "RMW") else event["ctrl"])


def is_addressed(event: EventDict, earlier: EventDict, index: int) -> bool:
    """Whether a load uses an address that an earlier load, with this index, has read."""
    return event["kind"] == earlier["kind"] == "R" and index in event["addr"]
