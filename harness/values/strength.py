"""What a memory order gives, and which of two gives more.

Orders are written as the engine takes them (`_engine.Program.with_orders`). Of two orders of one
kind of operation one is the stronger if it gives what the other gives: to acquire, to release, to
take part in the order of seq_cst.

An access may have fences beside it: "rel fence; rlx" and "rlx; acq fence". A release fence before
an operation gives what releasing it gives, and more, and so does an acquire fence after it
(7.17.4); to take part in the order of seq_cst neither gives. So an order is below the fences that
can take its place. That is so but for one thing, which whoever relies on it explores: the
operation itself is ordered by its own order alone, and where its object is freed, or used plainly,
a fence does not do.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cache

from weakspot.generators.litmus import C_ORDER

Assignment = tuple[str, ...]
"""An order for each annotation, in their order."""

_READ, _WRITE = ("rlx", "acq", "sc"), ("rlx", "rel", "sc")
_ALL = ("rlx", "acq", "rel", "acq_rel", "sc")
_GIVES = {
    "none": frozenset(),
    "rlx": frozenset(),
    "acq": frozenset("a"),
    "rel": frozenset("r"),
    "acq_rel": frozenset("ar"),
    "sc": frozenset("ars"),
}
_FENCE = " fence"
_BEFORE, _AFTER = ("none", "rel", "sc"), ("none", "acq")


@cache
def split(order: str) -> tuple[str, str, str]:
    """The fence before an access, its own order, the fence after it; "none" where there is no
    fence."""
    before, own, after = "none", order, "none"
    if _FENCE in own:
        first, _, rest = own.partition("; ")
        if first.endswith(_FENCE):
            before, own = first.removesuffix(_FENCE), rest
        if own.endswith(_FENCE):
            own, _, last = own.partition("; ")
            after = last.removesuffix(_FENCE)
    return before, own, after


def joined(before: str, own: str, after: str) -> str:
    """What `split` takes apart."""
    first, last = (f"{each}{_FENCE}" if each != "none" else "" for each in (before, after))
    return "; ".join(filter(None, (first, own, last)))


def with_own(order: str, own: str) -> str:
    """Another own order between the same fences."""
    before, _, after = split(order)
    return joined(before, own, after)


def spelled(order: str) -> str:
    """An order as C spells it, with the fences beside it."""
    before, own, after = split(order)
    success, _, failure = own.partition("/")
    said = C_ORDER[success]
    if failure:
        said = f"{said} on success and {C_ORDER[failure]} on failure"
    sides = ((before, "before it"), (after, "after it"))
    fences = (f"atomic_thread_fence({C_ORDER[one]}) {at}" for one, at in sides if one != "none")
    return " with ".join(filter(None, (said, " and ".join(fences))))


@cache
def at_most(order: str, other: str) -> bool:
    """Whether the other gives all that the order gives."""
    if order == other:
        return True
    before, own, after = split(order)
    first, stronger_own, last = split(other)
    if not (_GIVES[before] <= _GIVES[first] and _GIVES[after] <= _GIVES[last]):
        return False
    instead = (_GIVES[first] & frozenset("r")) | (_GIVES[last] & frozenset("a"))
    pairs = zip(own.split("/"), stronger_own.split("/"), strict=True)
    return all(_GIVES[one] <= _GIVES[two] | instead for one, two in pairs)


@cache
def allowed(kind: str) -> tuple[str, ...]:
    """The orders that C11 allows for a kind of operation, a weaker before a stronger one. On
    failure a compare-exchange has none that is stronger than on success (7.17.7.4)."""
    match kind:
        case "R":
            return _READ
        case "W":
            return _WRITE
        case "RMW":
            return _ALL
        case "F":
            return ("none", *_ALL[1:])
        case "CAS":
            pairs = itertools.product(_ALL, _READ)
            return tuple(f"{one}/{two}" for one, two in pairs if at_most(two, one))
    raise ValueError(f"operations of kind {kind} have no order")


@cache
def weaker(kind: str, order: str) -> tuple[str, ...]:
    """The orders up to this one, which comes last; the weakest comes first."""
    below = [each for each in allowed(kind) if each != order and at_most(each, order)]
    return (*below, order)


@cache
def stronger(kind: str, order: str) -> tuple[str, ...]:
    """The orders from this one on, which comes first; the strongest comes last."""
    above = [each for each in allowed(kind) if each != order and at_most(order, each)]
    return (order, *above)


@cache
def just_below(order: str, among: tuple[str, ...]) -> tuple[str, ...]:
    """The weaker ones of these orders between which and this one there is none."""
    below = [each for each in among if each != order and at_most(each, order)]
    return tuple(
        each for each in below if not any(each != one and at_most(each, one) for one in below)
    )


def strongest(kind: str, given: Iterable[str]) -> str:
    """The weakest order that gives all that the given ones give."""
    wanted = set(given)
    if len(wanted) == 1:
        return wanted.pop()
    enough = [each for each in allowed(kind) if all(at_most(one, each) for one in wanted)]
    return min(enough, key=lambda each: len(weaker(kind, each)))


@cache
def fenced(kind: str, order: str, *, full: bool) -> tuple[str, ...]:
    """The orders up to this one; of an access each without and with the fences that C11 gives the
    sense of what the order gives: a release fence before what writes, an acquire fence after what
    reads, and, where `full`, a seq_cst fence before either. A weaker one comes before a stronger
    one, and of those that give the same there is one alone."""
    if kind == "F":
        return weaker(kind, order)
    gives = _GIVES[order.partition("/")[0]]
    releases, acquires = "r" in gives and kind != "R", "a" in gives and kind != "W"
    wanted = {"none": True, "rel": releases, "acq": acquires, "sc": full and "s" in gives}
    before = [each for each in _BEFORE if wanted[each]]
    after = [each for each in _AFTER if wanted[each]]
    found: list[str] = []
    for one, own, other in itertools.product(before, weaker(kind, order), after):
        made = joined(one, own, other)
        if not any(at_most(made, each) and at_most(each, made) for each in found):
            found.append(made)
    # what is below comes first
    return tuple(sorted(found, key=lambda each: sum(at_most(one, each) for one in found)))


@cache
def instead(kind: str, order: str) -> tuple[str, ...]:
    """The fences that can take the place of an order, each with an own order that is weaker: they
    give what it gives, and so they are above it. None of an order that is seq_cst, which they are
    no substitute for."""
    return tuple(
        each
        for each in fenced(kind, order, full=False)
        if each != order and "sc" not in order and at_most(order, each)
    )


@cache
def just_less(kind: str, order: str) -> tuple[str, ...]:
    """The order with one thing about it weaker: its own order, or a fence beside it."""
    before, own, after = split(order)
    befores = _BEFORE if kind != "R" else ("none", "sc")
    return (
        *(joined(before, each, after) for each in just_below(own, weaker(kind, own))),
        *(joined(each, own, after) for each in just_below(before, befores)),
        *(joined(before, own, each) for each in just_below(after, _AFTER)),
    )


def cost(kind: str, order: str) -> int:
    """How dear an order is thought to be, as long as no machine has measured it: what it gives
    counted, to take part in the order of seq_cst three times as much; a fence that is there costs
    one more, since it orders all accesses around it."""
    before, own, after = split(order)
    return _cost(own, kind == "F") + _cost(before, True) + _cost(after, True)


def _cost(order: str, fence: bool) -> int:
    gives = sum(3 if each == "s" else 1 for one in order.split("/") for each in _GIVES[one])
    return gives + (fence and order != "none")
