"""Names of critical cycles, as diy7 gives them.

A name is the family of the cycle, then for each thread the edges inside it with the memory orders
of their ends, then the orders of threads of one access: MP+porlxrel+poacqrlx, SB+fencescrlxrlxs,
WRC+poacqrel+poacqrlx+Rlx. Edges that diy7 has no word for (a read-modify-write that ends an edge)
are named in its manner: SB+poexchscscs.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

#: families by the directions of their threads in diy7's order; others are named by these alone
FAMILIES = {
    "WW+RR": "MP",
    "RW+RW": "LB",
    "WW+RW": "S",
    "WR+WR": "SB",
    "WW+WR": "R",
    "WW+WW": "2+2W",
    "WW+RR+WR": "W+RWC",
    "W+RR+WR": "RWC",
    "WW+RW+RR": "ISA2",
    "WW+WW+RR": "Z6.3",
    "W+RR+WW": "WRR+2W",
    "W+RW+RR": "WRC",
    "RW+RW+RW": "3.LB",
    "WW+RW+RW": "Z6.2",
    "W+RW+RW": "WWC",
    "WW+RW+WR": "Z6.0",
    "W+RW+WR": "WRW+WR",
    "WW+WW+RW": "Z6.1",
    "W+RW+WW": "WRW+2W",
    "WR+WR+WR": "3.SB",
    "WW+WR+WR": "Z6.4",
    "WW+WW+WR": "Z6.5",
    "WW+WW+WW": "3.2W",
    "W+RR+W+RR": "IRIW",
    "W+RR+W+RW": "IRRWIW",
    "W+RW+W+RW": "IRWIW",
    "WR+WR+WR+WR": "4.SB",
    "RW+RW+RW+RW": "4.LB",
    "WW+WW+WW+WW": "4.2W",
}

_DIRECTIONS = ("W", "WW", "RR", "RW", "WR")
_EDGES = ("fence", "ctrl", "po", "coi", "rfi", "rmw", "rcu", "addr")
_ORDERS = ("acq", "rel", "ar", "sc", "rlx", "na", "acquire", "release", "mb", "once")


class Step(msgspec.Struct, frozen=True):
    """An edge inside a thread: its word (po, fencesc, ctrl, rfi, rfifencesc, coi, rmw, fetch.add,
    cas …), the annotations of its ends, the direction of its target, the locations' difference."""

    word: str
    source: str
    target: str
    directions: str  # e.g. "WR"


class Part(msgspec.Struct, frozen=True):
    """A thread of a cycle: the directions of its ends, the edges between, and the annotation of
    its only access when there is no edge."""

    direction: str
    steps: tuple[Step, ...]
    single: str = ""

    @property
    def label(self) -> str:
        texts = []
        for number, step in enumerate(self.steps):
            # the direction is part of the name where neither the family nor the words imply it
            after = self.steps[number + 1] if number + 1 < len(self.steps) else None
            implied = after is None or {step.word[:3], after.word[:3]} & {"rfi", "coi"}
            letter = "" if implied else step.directions[1]
            texts.append(f"{step.word}{letter}{step.source}{step.target}")
        return "-".join(texts)


def rotation(parts: Sequence[Part]) -> int:
    """The index of the thread that diy7 puts first."""

    def key(start: int) -> list[tuple[int, list[tuple[int, int, int]], str]]:
        turned = [*parts[start:], *parts[:start]]
        return [
            (
                _rank(part.direction, _DIRECTIONS),
                [
                    (
                        _rank(step.word, _EDGES),
                        _rank(step.source, _ORDERS),
                        _rank(step.target, _ORDERS),
                    )
                    for step in part.steps
                ]
                or [(0, _rank(part.single, _ORDERS), 0)],
                part.label,
            )
            for part in turned
        ]

    directions = [part.direction for part in parts]
    starts = range(len(parts))
    best = min(
        [_rank(d, _DIRECTIONS) for d in [*directions[start:], *directions[:start]]]
        for start in starts
    )
    candidates = [
        start
        for start in starts
        if [_rank(d, _DIRECTIONS) for d in [*directions[start:], *directions[:start]]] == best
    ]
    return min(candidates, key=key)


def family(parts: Sequence[Part]) -> str:
    """The family of a cycle whose threads stand in diy7's order."""
    directions = "+".join(part.direction for part in parts)
    return FAMILIES.get(directions, directions)


def name(parts: Sequence[Part]) -> str:
    """The name of a cycle whose threads stand in diy7's order."""
    labels = [part.label for part in parts if part.steps]
    if len(labels) > 1 and len(set(labels)) == 1:
        labels = [labels[0] + "s"]
    singles = "".join(part.single.capitalize() for part in parts if not part.steps)
    return "+".join([family(parts), *labels, *([singles] if singles else [])])


def _rank(word: str, ranking: Sequence[str]) -> int:
    for rank, known in enumerate(ranking):
        if word == known or (ranking is _EDGES and word.startswith(known)):
            return rank
    return len(ranking)
