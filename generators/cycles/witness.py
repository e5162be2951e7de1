"""From an execution with a violation to the Test for its cycle.

An execution is weak where program order and communication (rf, co, fr) form a cycle; a violation in
a weak execution needs such a cycle, and the smallest critical one gives the Test, as critical
cycles of the access pattern give Tests (Shasha and Snir, TOPLAS 1988; Alglave, Maranget,
Tautschnig, Herding cats, TOPLAS 2014, section 9.1). A data race need not close a cycle by itself:
then the two racing accesses count as an edge, in whichever direction closes a cycle, if the second
would not be executed without what its thread reads before.

Of several reads that lead to a plain access, the Test keeps the one on which the access depends:
with another the Test would race whatever is read, and no memory order could make a difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from weakspot.generators.cycles.critical import Cycle, communication, critical
from weakspot.generators.cycles.patterns import Habits, Segment, segments
from weakspot.generators.cycles.tests import build
from weakspot.generators.litmus import Site, Test

if TYPE_CHECKING:
    from weakspot._engine import EventDict, EventOfExecution, ExecutionDict

_ACCESSES = ("R", "W", "RMW", "F", "LOCK", "UNLOCK")
_THREADS = 4  # as many as IRIW has
_LONGEST = 300
"""A thread of an execution with more accesses has too many segments: each two are compared with all
between them."""


def cycle_test(
    execution: ExecutionDict,
    sites: Sequence[Site],
    habits: Habits,
    *,
    structure: str,
    scenario: str,
    of_kernel: bool = False,
) -> Test | None:
    """The Test for the execution's smallest critical cycle: fewest threads, then fewest accesses,
    then fewest plain accesses that do not depend on the read before, then those that are closest
    together, then the first name. None if it has no such cycle: then the execution is an
    interleaving, and no memory order is at fault. None too if a thread has too many accesses."""
    counts = Counter(each["thread"] for each in execution["events"] if each["kind"] in _ACCESSES)
    if max(counts.values(), default=0) > _LONGEST:
        return None
    found = [
        (
            len(parts),
            sum(len(each.segment.accesses) for each in parts),
            sum(map(_races, parts)),
            _span(parts),
            parts,
        )
        for parts in _cycles(_Graph(execution, sites, habits, of_kernel=of_kernel))
    ]
    least = min((each[:-1] for each in found), default=None)
    tests = [
        build(Cycle(tuple(each.segment for each in parts)), structure=structure, scenario=scenario)
        for *size, parts in found
        if tuple(size) == least
    ]
    return min(tests, key=lambda test: test.name, default=None)


def _span(parts: Sequence[_Part]) -> int:
    """How many events stand between the ends of the segments."""
    return sum(each.last - each.first for each in parts)


class _Part(msgspec.Struct, frozen=True):
    """A segment as the execution has it: the numbers of its first and its last event."""

    segment: Segment
    first: int
    last: int


class _Graph:
    """An execution: the parts of each thread, and which events communicate."""

    def __init__(
        self, execution: ExecutionDict, sites: Sequence[Site], habits: Habits, *, of_kernel: bool
    ) -> None:
        self._events = execution["events"]
        self._conflict = set(execution["conflict"] or ())
        self._from = {read: write for write, read in execution["rf"]}
        self._next = dict(execution["co"])
        threads: defaultdict[int, list[int]] = defaultdict(list)
        for number, event in enumerate(self._events):
            if event["thread"] is not None and event["kind"] in _ACCESSES:
                threads[event["thread"]].append(number)
        self.parts = [
            [
                _Part(segment, numbers[first], numbers[last])
                for segment, first, last in segments(
                    _traced([self._events[number] for number in numbers], sites, habits),
                    sites,
                    of_kernel=of_kernel,
                )
            ]
            for _, numbers in sorted(threads.items())
        ]

    def racy(self, source: _Part, target: _Part) -> bool:
        return {source.last, target.first} == self._conflict

    @property
    def race(self) -> bool:
        return bool(self._conflict)

    def communicates(self, source: _Part, target: _Part) -> str | None:
        """rf, fr or co where the last event of one so leads to the first of the other."""
        asked = communication(source.segment.last, target.segment.first)
        if asked is None or self.racy(source, target):
            return asked
        one, other = source.last, target.first
        match asked:
            case "rf":
                holds = self._from.get(other) == one
            case "co":
                holds = self._before(one, other)
            case _:
                holds = one in self._from and self._before(self._from[one], other)
        return asked if holds else None

    def _before(self, write: int, later: int) -> bool:
        """Whether `later` comes after `write` in the coherence order."""
        while write in self._next:
            write = self._next[write]
            if write == later:
                return True
        return False


def _depends(part: _Part) -> bool:
    """Whether the last access of a part is executed because of what the one before it reads. In a
    race where it is not, the two accesses race whatever is read, and no memory order is at fault.
    """
    edges, accesses = part.segment.edges, part.segment.accesses
    return bool(edges) and (edges[-1].dependent or accesses[-2].mutex == "lock")


def _races(part: _Part) -> bool:
    """Whether a part reads, then accesses plainly what it would whatever it reads."""
    segment = part.segment
    plain = segment.last.order == "na" and len(segment.accesses) > 1
    return plain and segment.first.reads and not _depends(part)


def _cycles(graph: _Graph) -> Iterator[tuple[_Part, ...]]:
    """The critical cycles of the execution; for a race, those that contain it."""
    starting: list[defaultdict[str, list[_Part]]] = []
    for parts in graph.parts:
        here: defaultdict[str, list[_Part]] = defaultdict(list)
        for part in parts:
            here[part.segment.first.loc].append(part)
        starting.append(here)

    def extend(path: list[tuple[int, _Part]], coms: list[str]) -> Iterator[tuple[_Part, ...]]:
        (start, first), (_, last) = path[0], path[-1]
        if len(path) > 1 and (closing := graph.communicates(last, first)):
            found = [part.segment for _, part in path]
            turns = [(path[at - 1][1], part) for at, (_, part) in enumerate(path)]
            over = not graph.race or any(
                graph.racy(one, other) and _depends(one) for one, other in turns
            )
            if over and critical(found, [*coms, closing]):
                yield tuple(part for _, part in path)
        if len(path) == _THREADS:
            return
        used = {thread for thread, _ in path}
        for thread, here in enumerate(starting):
            # each cycle once: it begins at the lowest of its threads with two accesses
            for part in here.get(last.segment.last.loc, ()) if thread not in used else ():
                if thread < start and len(part.segment.accesses) > 1:
                    continue
                if com := graph.communicates(last, part):
                    yield from extend([*path, (thread, part)], [*coms, com])

    for thread, parts in enumerate(graph.parts):
        for part in parts:
            if len(part.segment.accesses) > 1:
                yield from extend([(thread, part)], [])


def _traced(
    events: Sequence[EventOfExecution], sites: Sequence[Site], habits: Habits
) -> list[EventDict]:
    """One thread's events as a trace has them. Properties that an execution lacks are taken from
    the program's other runs; a read-modify-write that none of them reached is treated as an
    exchange of the same values, which has the same events."""
    made: list[dict[str, object]] = []
    for event in events:
        site = event["site"]
        assert site is not None, "an event of a thread"
        op = ""
        if event["kind"] == "RMW":
            op = habits.updates.get(site) or ("cas" if sites[site].kind == "CAS" else "xchg")
        made.append(
            {
                "site": site,
                "kind": event["kind"],
                "order": event["order"],
                "loc": event["location"],
                "read": event["read"] or None,
                "written": event["written"] or None,
                "op": op,
                "operation": habits.operations.get(site, sites[site].function),
                "ctrl": [
                    index
                    for index, earlier in enumerate(made)
                    if (earlier["site"], site) in habits.dependent
                ],
                "addr": [
                    index
                    for index, earlier in enumerate(made)
                    if (earlier["site"], site) in habits.addressed
                ],
                "data": [],
            }
        )
    return cast("list[EventDict]", made)
