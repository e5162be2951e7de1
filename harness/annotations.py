"""Annotations: the memory orders that a user has written, each at one place of the source.

One place may be several sites of a program, one for each call that leads there, and sites of
several programs that include one header: they are weakened together. Orders are written as the
engine takes them (`_engine.Program.with_orders`); of two orders of one kind one is the stronger if
it gives what the other gives: to acquire, to release, to take part in the order of seq_cst.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from weakspot.generators.program import Program

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
_WORDS = {"R": "load", "W": "store", "RMW": "update", "CAS": "compare-exchange", "F": "fence"}


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """An order at one place. `path` is the file; `file` its name as the programs tell it; `order`
    what is written there, in the first program that has it; `mixed` marks a place that holds
    several operations of one kind with different orders, as a macro can."""

    path: str
    file: str
    line: int
    column: int
    function: str
    kind: str  # R W RMW CAS F
    order: str
    mixed: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def operation(self) -> str:
        """What it annotates, in a word."""
        return _WORDS[self.kind]


Assignment = tuple[str, ...]
"""An order for each annotation, in their order."""


class Annotated(msgspec.Struct, frozen=True):
    """A program by its annotations: `sites` are those of each, by its number among all; `orders`
    what is written at each."""

    program: Program
    sites: dict[int, tuple[int, ...]]
    orders: dict[int, str]

    def under(self, assignment: Assignment, fences: Sequence[tuple[int, str, str]] = ()) -> Program:
        """The program with the assignment's orders, and with more fences: beside which site,
        before or after, of which order."""
        orders = {site: assignment[number] for number, all in self.sites.items() for site in all}
        return self.program.with_orders(orders, fences=fences)


def annotate(programs: Sequence[Program]) -> tuple[tuple[Annotation, ...], tuple[Annotated, ...]]:
    """The annotations of all the programs, in the order of files, lines and columns."""
    found: dict[tuple[str, ...], Annotation] = {}
    places = [_places(program) for program in programs]
    written = [program.orders for program in programs]
    for program, sites, orders in zip(programs, places, written, strict=True):
        for key, (number, *_) in sites.items():
            site = program.sites[number]
            found.setdefault(
                key,
                Annotation(
                    path=key[0],
                    file=site.file,
                    line=site.line,
                    column=site.column,
                    function=site.function,
                    kind=site.kind,
                    order=orders[number],
                    mixed=bool(key[-1]),
                ),
            )
    keys = sorted(found, key=lambda key: (found[key].file, found[key].line, found[key].column, key))
    at = {key: number for number, key in enumerate(keys)}
    return tuple(found[key] for key in keys), tuple(
        Annotated(
            program,
            {at[key]: tuple(numbers) for key, numbers in sites.items()},
            {at[key]: orders[numbers[0]] for key, numbers in sites.items()},
        )
        for program, sites, orders in zip(programs, places, written, strict=True)
    )


def _places(program: Program) -> dict[tuple[str, ...], list[int]]:
    """The sites that have an order, by the place where it is written."""
    sites: defaultdict[tuple[str, str, str, str], list[int]] = defaultdict(list)
    given = program.orders
    for number, (site, order) in enumerate(zip(program.sites, given, strict=True)):
        if order:
            path = program.files.get(site.file, program.source.parent / site.file)
            place = (str(path.resolve()), str(site.line), str(site.column), site.kind)
            sites[place].append(number)
    told: dict[tuple[str, ...], list[int]] = {}
    for place, numbers in sites.items():
        mixed = len({given[number] for number in numbers}) > 1
        for number in numbers:
            told.setdefault((*place, given[number] if mixed else ""), []).append(number)
    return told


# --- strength ---------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def at_most(order: str, other: str) -> bool:
    """Whether the other gives all that the order gives."""
    pairs = zip(order.split("/"), other.split("/"), strict=True)
    return all(_GIVES[one] <= _GIVES[two] for one, two in pairs)


@lru_cache
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


@lru_cache
def weaker(kind: str, order: str) -> tuple[str, ...]:
    """The orders up to this one, which comes last; the weakest comes first."""
    below = [each for each in allowed(kind) if each != order and at_most(each, order)]
    return (*below, order)


@lru_cache
def stronger(kind: str, order: str) -> tuple[str, ...]:
    """The orders from this one on, which comes first; the strongest comes last."""
    above = [each for each in allowed(kind) if each != order and at_most(order, each)]
    return (order, *above)


@lru_cache
def just_below(kind: str, order: str) -> tuple[str, ...]:
    """The weaker orders between which and this one there is none."""
    below = weaker(kind, order)[:-1]
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


def cost(kind: str, order: str) -> int:
    """How dear an order is thought to be, as long as no machine has measured it: what it gives
    counted, to take part in the order of seq_cst three times as much; a fence that is there costs
    one more, since it orders all accesses around it."""
    gives = sum(3 if each == "s" else 1 for one in order.split("/") for each in _GIVES[one])
    return gives + (kind == "F" and order != "none")
