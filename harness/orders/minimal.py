"""All minimal sufficient assignments of an upward closed property, with few queries.

An assignment gives each variable one of its values, which are partially ordered; an assignment that
suffices still does when a value grows. Each query concerns a minimal assignment among those not yet
known to fail. The answer is either that it suffices, and then it is a minimal sufficient one, or a
failing assignment above it, the larger the better, since everything below that fails too. Berge's
multiplication, one variable raised at a time, keeps the set of remaining minimal assignments up to
date. In terms of sets this is the dualisation of Gunopulos, Khardon, Mannila, Saluja, Toivonen and
Sharma ("Discovering all most specific sentences", TODS 2003) and the enumeration of MARCO
(Liffiton, Previti, Malik, Marques-Silva, Constraints 2016) without a solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from weakspot.harness.values.strength import Assignment, at_most

Values = tuple[str, ...]
"""The values of a variable in topological order; the first is below all others."""


def minimal(
    variables: Sequence[Values],
    fails: Callable[[Assignment], Assignment | None],
    rank: Callable[[Assignment], object],
) -> Iterator[Assignment]:
    """The minimal sufficient assignments in order of `rank`, which must be monotone. `fails`
    returns None for an assignment that suffices, else a failing assignment at least as large."""
    left: list[Assignment] = [tuple(values[0] for values in variables)]
    sufficient: list[Assignment] = []
    while left:
        # ties are broken by the assignment, so that the order is always the same
        left.sort(key=lambda each: (rank(each), each), reverse=True)
        tried = left.pop()
        failing = fails(tried)
        if failing is None:
            sufficient.append(tried)
            yield tried
            continue
        assert below(tried, failing), "the failing assignment is not above the one asked about"
        left.append(tried)
        stay = [each for each in left if not below(each, failing)]
        raised = {
            more
            for each in left
            if below(each, failing)
            for more in _beyond(variables, each, failing)
            if not any(below(one, more) for one in (*stay, *sufficient))
        }
        left = stay + [
            each for each in raised if not any(one != each and below(one, each) for one in raised)
        ]


def below(one: Assignment, other: Assignment) -> bool:
    """Whether each value of the first is at most that of the second."""
    return all(map(at_most, one, other))


def _beyond(
    variables: Sequence[Values], each: Assignment, failing: Assignment
) -> Iterator[Assignment]:
    """The least assignments above one that are not below a failing one: one value is raised."""
    for at, (values, value, bound) in enumerate(zip(variables, each, failing, strict=True)):
        out = [more for more in values if at_most(value, more) and not at_most(more, bound)]
        for more in out:
            if not any(one != more and at_most(one, more) for one in out):
                yield (*each[:at], more, *each[at + 1 :])
