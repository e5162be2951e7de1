"""Every critical cycle of a size: the tests among which two models are compared.

In: a number of accesses. Out: the cycles with so many, over relaxed, acquire, release and seq_cst
loads, stores and fences, those with the fewest and weakest memory orders first. A thread of a cycle
is a single store, a read-modify-write that continues a release sequence, two accesses with or
without a fence between, or such a pair with the thread's own read of its first write (rfi) or
overwrite of its last (coi). diy7 enumerates cycles in the same way (Alglave, Maranget, Sarkar,
Sewell: "Fences in Weak Memory Models", CAV 2010, section 4.3).

Cycles of one location (coherence), with dependencies, and with plain accesses are not among them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from weakspot.generators.cycles.critical import Cycle, communication, critical
from weakspot.generators.cycles.patterns import Access, Edge, Segment
from weakspot.generators.cycles.tests import build
from weakspot.generators.litmus import Order, Site, Test

#: the memory orders of each kind of access with their strength
_ORDERS: dict[str, tuple[tuple[Order, int], ...]] = {
    "R": (("rlx", 0), ("acq", 1), ("sc", 2)),
    "W": (("rlx", 0), ("rel", 1), ("sc", 2)),
    "RMW": (("rlx", 0), ("acq", 1), ("rel", 1), ("acq_rel", 2), ("sc", 3)),
}
_FENCES = (("", 0), ("acq", 1), ("rel", 1), ("acq_rel", 2), ("sc", 3))
MOST_THREADS = 4
SMALLEST = 4
"""Accesses of the smallest critical cycle: two threads with two each."""
LARGEST = 3 * MOST_THREADS


class _Form(msgspec.Struct, frozen=True):
    """The accesses of a thread: their kinds, and the edges between them."""

    kinds: tuple[str, ...]
    edges: tuple[str, ...]


class _Skeleton(msgspec.Struct, frozen=True):
    """A critical cycle without memory orders, and the choices for each access and each fence."""

    segments: tuple[Segment, ...]
    choices: tuple[tuple[tuple[str, int], ...], ...]


def enumerate_tests(accesses: int) -> Iterator[Test]:
    """The test for each critical cycle with so many accesses, each once."""
    found: set[str] = set()
    for cycle in _cycles(accesses):
        test = build(cycle, structure="", scenario="")
        if test.name not in found:
            found.add(test.name)
            yield msgspec.structs.replace(test, origins=())


def _cycles(accesses: int) -> Iterator[Cycle]:
    skeletons = tuple(_skeletons(accesses))
    strongest = max((_strength(each.choices) for each in skeletons), default=-1)
    for strength in range(strongest + 1):
        for skeleton in skeletons:
            for words in _chosen(skeleton.choices, strength):
                yield _annotated(skeleton, words)


def _strength(choices: Sequence[Sequence[tuple[str, int]]]) -> int:
    """The sum of the strongest choices."""
    return sum(max(strength for _, strength in each) for each in choices)


def _chosen(
    choices: Sequence[Sequence[tuple[str, int]]], strength: int
) -> Iterator[tuple[str, ...]]:
    """A word of each choice, with this strength in all."""
    if not choices:
        if strength == 0:
            yield ()
        return
    rest = _strength(choices[1:])
    for word, each in choices[0]:
        if 0 <= strength - each <= rest:
            for others in _chosen(choices[1:], strength - each):
                yield (word, *others)


def _annotated(skeleton: _Skeleton, words: Sequence[str]) -> Cycle:
    taken = iter(words)
    segments = []
    for segment in skeleton.segments:
        accesses = tuple(_access(each.kind, each.loc, next(taken)) for each in segment.accesses)
        edges = tuple(
            Edge("po", fence, (_site("F"),))
            if each.kind == "po" and (fence := next(taken))
            else each
            for each in segment.edges
        )
        segments.append(Segment(accesses, edges))
    return Cycle(tuple(segments))


def _skeletons(accesses: int) -> Iterator[_Skeleton]:
    for forms in _forms_of(accesses, MOST_THREADS):
        if len(forms) < 2 or len(forms[0].kinds) == 1:
            continue  # a cycle begins with a thread of several accesses
        segments = tuple(_placed(forms))
        coms = [
            communication(segment.last, segments[(at + 1) % len(segments)].first)
            for at, segment in enumerate(segments)
        ]
        named = [com for com in coms if com]
        if len(named) == len(coms) and critical(segments, named):
            choices = itertools.chain.from_iterable(
                [
                    *(_ORDERS[each.kind] for each in segment.accesses),
                    *(_FENCES for edge in segment.edges if edge.kind == "po"),
                ]
                for segment in segments
            )
            yield _Skeleton(segments, tuple(choices))


def _forms_of(accesses: int, threads: int) -> Iterator[tuple[_Form, ...]]:
    """The forms of at most so many threads with so many accesses in all."""
    if accesses == 0:
        yield ()
    elif threads > 0:
        for form in _forms():
            if len(form.kinds) <= accesses:
                for rest in _forms_of(accesses - len(form.kinds), threads - 1):
                    yield (form, *rest)


@cache
def _forms() -> tuple[_Form, ...]:
    return (
        _Form(("W",), ()),
        _Form(("RMW",), ()),
        *(_Form((first, last), ("po",)) for first in "RW" for last in "RW"),
        _Form(("W", "R", "R"), ("rfi", "po")),
        *(_Form((first, "W", "W"), ("po", "coi")) for first in "RW"),
    )


def _placed(forms: Sequence[_Form]) -> Iterator[Segment]:
    """The threads with their locations: a communication leads from one thread to the next through
    a location, which a thread of one access passes on."""
    location = 0
    several = sum(len(form.kinds) > 1 for form in forms)
    for form in forms:
        edges = tuple(Edge(kind) for kind in form.edges)
        places = [location] * len(form.kinds)
        if "po" in form.edges:
            leaves = form.edges.index("po") + 1
            location = (location + 1) % several
            places[leaves:] = [location] * (len(places) - leaves)
        accesses = zip(form.kinds, places, strict=True)
        yield Segment(tuple(_access(kind, str(place), "rlx") for kind, place in accesses), edges)


def _access(kind: str, location: str, order: str) -> Access:
    (chosen,) = (word for word, _ in _ORDERS[kind] if word == order)
    op = "exch" if kind == "RMW" else ""
    return Access(site=_site(kind), loc=location, kind=kind, order=chosen, operation="", op=op)


@cache
def _site(kind: str) -> Site:
    """These accesses are nowhere in a program."""
    return Site(file="", line=0, column=0, function="", kind=kind, order="")
