"""Memory orders and fences, ordered by what they guarantee.

Orders are spelled as the engine takes them (`_engine.Program.with_orders`). One order of an
operation is stronger than another if it guarantees all that the other does: acquire, release, and
membership in the total order of seq_cst operations.

An access may have adjacent fences: "rel fence; rlx" and "rlx; acq fence". A release fence before an
operation guarantees at least what a release operation does, and so does an acquire fence after it
(C11, 7.17.4); neither makes it seq_cst. So a memory order is below the fences that can replace it.
There is one exception, which callers confirm by exploration: a fence does not order the operation
itself, which matters if its object is freed or accessed plainly.

The Linux kernel has other fences, and fewer memory orders. Where a kind of operation is asked for,
`kernel W` is a store of the kernel's, and so on. `rmb` and `wmb` are below a full fence, which is
`sc`, and other fences beside both.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import cache
from pathlib import PurePath
from typing import Literal

from weakspot.generators.source.language import language_of

Values = tuple[str, ...]
"""Memory orders in topological order; the first is below all others."""

Assignment = tuple[str, ...]
"""One memory order per annotation, in the order of the annotations."""

Guarantee = Literal["acquire", "release", "sc"]
"""What a memory order can guarantee; "sc" is membership in the total order of seq_cst."""

_READ, _WRITE = ("rlx", "acq", "sc"), ("rlx", "rel", "sc")
_ALL = ("rlx", "acq", "rel", "acq_rel", "sc")
_BESIDE_OTHERS = (
    "before-atomic",
    "after-atomic",
    "after-spinlock",
    "after-unlock-lock",
    "after-srcu-read-unlock",
)
_GIVES = {
    "none": frozenset(),
    "rlx": frozenset(),
    "acq": frozenset("a"),
    "rel": frozenset("r"),
    "acq_rel": frozenset("ar"),
    "sc": frozenset("arsmw"),
    "rmb": frozenset("m"),
    "wmb": frozenset("w"),
    "sync-rcu": frozenset("arsmwg"),
    **{name: frozenset({name}) for name in _BESIDE_OTHERS},
}
_FENCE = " fence"
_KERNEL = "kernel "


@cache
def split(order: str) -> tuple[str, str, str]:
    """The fence before an access, its own memory order, and the fence after it; "none" without a
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
    """The inverse of `split`."""
    first, last = (f"{each}{_FENCE}" if each != "none" else "" for each in (before, after))
    return "; ".join(filter(None, (first, own, last)))


def with_own(order: str, own: str) -> str:
    """The same fences with another order of the access itself."""
    before, _, after = split(order)
    return joined(before, own, after)


def spelled(order: str, file: str = "") -> str:
    """A memory order with its adjacent fences, in the spelling of the file's language: by default,
    that of C."""
    before, own, after = split(order)
    success, _, failure = own.partition("/")
    names = language_of(PurePath(file)).orders
    order = names[success]
    if failure:
        order = f"{order} on success and {names[failure]} on failure"
    sides = ((before, "before it"), (after, "after it"))
    fences = (f"{spelled_fence(one, file)} {at}" for one, at in sides if one != "none")
    return " with ".join(filter(None, (order, " and ".join(fences))))


def short(order: str) -> str:
    """The C names of memory orders in a text without their prefix."""
    return order.replace("memory_order_", "")


def spelled_fence(order: str, file: str = "") -> str:
    """A fence, as `spelled`."""
    language = language_of(PurePath(file))
    return f"{language.fence}({language.orders[order]})"


@cache
def at_most(order: str, other: str) -> bool:
    """Whether `other` guarantees all that `order` does."""
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
    """The memory orders that C++, Rust and C, or the Linux kernel, have for a kind of operation,
    weaker ones first.

    In C11 the order of a compare-exchange on failure is not stronger than on success (7.17.7.4);
    since C++17 (P0418) and Rust 1.64 it may be.
    """
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
            return tuple("/".join(pair) for pair in itertools.product(_ALL, _READ))
        case "C CAS":
            return tuple(each for each in allowed("CAS") if at_most(*each.split("/")[::-1]))
        case "kernel R":
            return _READ[:-1]
        case "kernel W":
            return _WRITE[:-1]
        case "kernel RMW":
            return ("rlx", "acq", "rel", "sc")
        case "kernel CAS":  # one that fails is relaxed
            return ("rlx/rlx", "acq/rlx", "rel/rlx", "sc/rlx")
        case "kernel F":
            return ("none", "rmb", "wmb", "sc")
    raise ValueError(f"operations of kind {kind} have no memory order")


@cache
def weaker(kind: str, order: str) -> tuple[str, ...]:
    """This memory order and all weaker ones, from the weakest to itself."""
    below = [each for each in allowed(kind) if each != order and at_most(each, order)]
    return (*below, order)


@cache
def stronger(kind: str, order: str) -> tuple[str, ...]:
    """This memory order and all stronger ones, from itself to the strongest."""
    above = [each for each in allowed(kind) if each != order and at_most(order, each)]
    return (order, *above)


@cache
def just_below(order: str, among: tuple[str, ...]) -> tuple[str, ...]:
    """The memory orders among these that are weaker than this one, with no other in between."""
    below = [each for each in among if each != order and at_most(each, order)]
    return tuple(
        each for each in below if not any(each != one and at_most(each, one) for one in below)
    )


def strongest(kind: str, given: Iterable[str]) -> str:
    """The weakest memory order that guarantees all that the given ones do."""
    wanted = set(given)
    if len(wanted) == 1:
        return wanted.pop()
    enough = [each for each in allowed(kind) if all(at_most(one, each) for one in wanted)]
    return min(enough, key=lambda each: len(weaker(kind, each)))


_LETTERS: dict[Guarantee, str] = {"acquire": "am", "release": "rw", "sc": "s"}


def guarantees(kind: str, order: str) -> frozenset[Guarantee]:
    """What the memory order of an operation guarantees, without adjacent fences and, of a
    compare-exchange, on one side. Of fences of the Linux kernel, what it is needed for."""
    if order in _BESIDE_OTHERS:
        return frozenset(_LETTERS)
    nothing: dict[str, frozenset[Guarantee]] = {
        "R": frozenset({"release"}),
        "W": frozenset({"acquire"}),
    }
    own = _GIVES[order]
    given = frozenset(each for each, letters in _LETTERS.items() if own & {*letters})
    return given - nothing.get(kind.removeprefix(_KERNEL), frozenset())


def least(kind: str, orders: Iterable[str], guaranteed: Iterable[Iterable[Guarantee]]) -> str:
    """The weakest of these memory orders, of which the last is the strongest, that guarantees this,
    for a compare-exchange on success and on failure."""
    wanted = [frozenset(side) for side in guaranteed]
    sides = (kind, "R")
    enough = [
        order
        for order in orders
        if all(
            side <= guarantees(of, own)
            for side, of, own in zip(wanted, sides, order.split("/"), strict=False)
        )
    ]
    return min(enough, key=lambda each: len(weaker(kind, each)))


@cache
def fenced(kind: str, order: str, *, full: bool) -> tuple[str, ...]:
    """This memory order and all weaker ones, for accesses without and with fences; weaker ones
    first.

    A release fence may stand before a write, an acquire fence after a read, and with `full` a
    seq_cst fence before either, as far as the memory order guarantees the same. Of equivalent ones
    only one is listed.
    """
    if is_fence(kind):
        return weaker(kind, order)
    gives = _GIVES[order.partition("/")[0]]
    releases, acquires = "r" in gives, "a" in gives
    wanted = {"none": True, "rel": releases, "acq": acquires, "sc": full and "s" in gives}
    wanted |= {"wmb": releases, "rmb": acquires}
    before = [each for each in _befores(kind) if wanted[each]]
    after = [each for each in _afters(kind) if wanted[each]]
    found: list[str] = []
    for one, own, other in itertools.product(before, weaker(kind, order), after):
        made = joined(one, own, other)
        if not any(at_most(made, each) and at_most(each, made) for each in found):
            found.append(made)
    # weaker ones first
    return tuple(sorted(found, key=lambda each: sum(at_most(one, each) for one in found)))


@cache
def beside(kind: str, order: str) -> tuple[str, ...]:
    """This memory order without and with fences beside the access, weaker ones first; for an update
    also a release with an acquire fence. An existing fence may become stronger."""
    if is_fence(kind):
        return stronger(kind, order)
    befores, afters = _befores(kind), _afters(kind)
    owns = [order]
    if kind == "RMW" and order in ("rlx", "acq"):
        # a release comes first, since a fence does not order the update itself before a free
        owns = [strongest(kind, (order, "rel")), order]
    made = [joined(*each) for each in itertools.product(befores, owns, afters)]
    found: list[str] = []
    for each in made:
        if not any(at_most(each, one) and at_most(one, each) for one in found):
            found.append(each)
    return tuple(sorted(found, key=lambda each: sum(at_most(one, each) for one in found)))


@cache
def instead(kind: str, order: str) -> tuple[str, ...]:
    """The fences that can replace a memory order, each with a weaker one of the access itself.

    They guarantee what the memory order does, so they are above it. There is none for seq_cst.
    """
    return tuple(
        each
        for each in fenced(kind, order, full=False)
        if each != order and "sc" not in order and at_most(order, each)
    )


@cache
def just_less(kind: str, order: str) -> tuple[str, ...]:
    """The order with one component weakened: the order of the access, or an adjacent fence."""
    before, own, after = split(order)
    return (
        *(joined(before, each, after) for each in just_below(own, weaker(kind, own))),
        *(joined(each, own, after) for each in just_below(before, _befores(kind))),
        *(joined(before, own, each) for each in just_below(after, _afters(kind))),
    )


def is_fence(kind: str) -> bool:
    return kind.removeprefix(_KERNEL) == "F"


def _befores(kind: str) -> tuple[str, ...]:
    """The fences that may stand before an access."""
    match kind:
        case "R":
            return ("none", "sc")
        case "kernel R":
            return ("none", "rmb", "sc")
        case _:
            return ("none", "wmb" if kind.startswith(_KERNEL) else "rel", "sc")


def _afters(kind: str) -> tuple[str, ...]:
    """The fences that may stand after an access."""
    if kind.endswith("W") and not kind.endswith("RMW"):
        return ("none",)
    return ("none", "rmb" if kind.startswith(_KERNEL) else "acq")


def cost(kind: str, order: str) -> int:
    """An estimate of the cost of a memory order, used until a machine has measured it.

    It counts what the memory order guarantees, seq_cst three times. A fence costs one more, since
    it orders all accesses around it.
    """
    before, own, after = split(order)
    return _cost(own, is_fence(kind)) + _cost(before, True) + _cost(after, True)


_COSTS = {"a": 1, "r": 1, "s": 3, "m": 0, "w": 0, "g": 100}


def _cost(order: str, fence: bool) -> int:
    gives = sum(_COSTS.get(each, 3) for one in order.split("/") for each in _GIVES[one])
    return gives + (fence and order != "none")


def below(one: Assignment, other: Assignment) -> bool:
    """Whether each memory order of the first assignment is at most that of the second."""
    return all(map(at_most, one, other))
