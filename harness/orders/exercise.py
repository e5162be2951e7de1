"""Which guarantees of memory orders programs exercise, from sequentially consistent runs.

In: the runs of programs (`Program.trace`), and their annotations. Out: for each annotation, those
of acquire, release and seq_cst that a program gives something to do:

acquire  a read may return a store of a thread that runs at the same time; for a fence, an earlier
         read of its thread may;
release  such a read may return the store, or an update that follows it; for a fence, a later store;
seq_cst  a thread that runs at the same time accesses the location too, and one of the two accesses
         is a store; for a fence, this holds both before and after it.

It has nothing to do if it would order data that no two threads access in this way: what precedes
the store and follows the read are statements that conflict, but not here. The capacity check of a
ring is such a read until a slot is used again. Where no data of that kind exist, an access is
exercised in vain; a fence is not, since it stands for accesses of any location.

A read may return a store unless it precedes the store in program order, creation and joining of
threads, and reads of values that a single store of the run writes. Mutexes are not followed: what
they protect counts as running at the same time. So a guarantee may be called exercised that is not;
one that is called not exercised has nothing to do in the runs.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from weakspot.harness.edits.annotations import Annotated
from weakspot.harness.edits.strength import Guarantee

if TYPE_CHECKING:
    from weakspot._engine import EventDict, RunDict

_READS = ("R", "RMW", "CASF")
_WRITES = ("W", "RMW")
_EventId = tuple[int, int]
"""The thread and the index in it."""
_SourcePlace = tuple[str, int, int]
"""Where an access stands in the source, in whichever call of its function."""
_Clock = list[int]
"""How many events of each thread precede an event, or are it."""


class Exercise:
    """What programs exercise: `guarantees` by the number of an annotation, and whether its
    compare-exchange fails there. `others` are the annotations in other threads that store what it
    may read, or read what it may store."""

    def __init__(self) -> None:
        self.guarantees: defaultdict[tuple[int, bool], set[Guarantee]] = defaultdict(set)
        self.others: defaultdict[int, set[int]] = defaultdict(set)

    def add(self, runs: Iterable[RunDict], annotated: Annotated) -> None:
        """Add the runs of a program."""
        numbers = {site: number for number, sites in annotated.sites.items() for site in sites}
        places = [(each.file, each.line, each.column) for each in annotated.program.sites]
        for run in runs:
            _Run(run["threads"], places).add(self, numbers)


class _Run:
    """The events of a run per thread, and what precedes each."""

    def __init__(
        self, threads: Sequence[Sequence[EventDict]], places: Sequence[_SourcePlace]
    ) -> None:
        self._threads, self._places = threads, places
        self._at: defaultdict[int, list[_EventId]] = defaultdict(list)  # by address
        for thread, events in enumerate(threads):
            for index, event in enumerate(events):
                if event["kind"] in (*_READS, *_WRITES):
                    self._at[event["address"]].append((thread, index))
        created = list(self._created())
        self._in_turn = self._clocks(created)
        self._caused = self._clocks([*created, *self._read_from()])
        self._conflicts = [
            (one, other)
            for one, other in self._pairs()
            if self._conflict(one, other) and not self._are_in_turn(one, other)
        ]
        self._statements: defaultdict[_SourcePlace, set[_SourcePlace]] = defaultdict(set)
        """The places whose accesses conflict with those of a place, where one is not atomic."""
        for one, other in self._conflicts:
            if not self._are_atomic(one, other):
                self._statements[self._place(one)].add(self._place(other))

    def add(self, found: Exercise, numbers: Mapping[int, int]) -> None:
        for at, guarantee in self._used():
            event = self._event(at)
            if (number := numbers.get(event["site"])) is not None:
                found.guarantees[number, event["kind"] == "CASF"].add(guarantee)
        for one, other in self._pairs():
            mine, theirs = (numbers.get(self._event(each)["site"]) for each in (one, other))
            returns = self._may_return(one, other) or self._may_return(other, one)
            if returns and mine is not None and theirs is not None and mine != theirs:
                found.others[mine].add(theirs)

    def _used(self) -> Iterator[tuple[_EventId, Guarantee]]:
        """The guarantees that events exercise."""
        used: dict[Guarantee, set[_EventId]] = {"acquire": set(), "release": set(), "sc": set()}
        of_data: dict[Guarantee, set[_EventId]] = {"acquire": set(), "release": set()}
        for store, other in self._pairs():
            if self._event(store)["kind"] not in _WRITES or self._are_in_turn(store, other):
                continue
            used["sc"] |= {store, other}
            if self._event(other)["kind"] in _READS and not _precedes(self._caused, other, store):
                for head in (store, *self._heads(store)):
                    if orders := self._orders(head, other):
                        of_data["acquire"].add(other)
                        of_data["release"].add(head)
                    if orders or not self._could_order(head, other):
                        used["acquire"].add(other)
                        used["release"].add(head)
        for guarantee, ids in used.items():
            yield from ((each, guarantee) for each in ids)
        of_data["sc"] = used["sc"]
        for thread, events in enumerate(self._threads):
            for index in (n for n, event in enumerate(events) if event["kind"] == "F"):
                own = [(g, n) for g, at in of_data.items() for t, n in at if t == thread]
                before, after = {g for g, n in own if n < index}, {g for g, n in own if n > index}
                whole = (before & {"acquire"}) | (after & {"release"}) | (before & after & {"sc"})
                yield from (((thread, index), each) for each in whole)

    def _orders(self, store: _EventId, read: _EventId) -> bool:
        """Whether something that precedes a store conflicts with something that follows a read.
        Coherence orders atomic accesses of the location itself."""
        address = self._event(store)["address"]
        return any(
            _precedes(self._caused, one, store)
            and _precedes(self._caused, read, other)
            and one != store
            and other != read
            and (self._event(one)["address"] != address or not self._are_atomic(one, other))
            for one, other in self._conflicts
        )

    def _may_return(self, read: _EventId, store: _EventId) -> bool:
        """Whether these kinds of access can be a read and the store that it returns."""
        return self._event(read)["kind"] in _READS and self._event(store)["kind"] in _WRITES

    def _could_order(self, store: _EventId, read: _EventId) -> bool:
        """Whether a statement that precedes a store conflicts, anywhere in the run, with one that
        follows a read."""
        ids = [each for at in self._at.values() for each in at]
        before, after = (
            {self._place(each) for each in those}
            for those in (
                (each for each in ids if _precedes(self._caused, each, store)),
                (each for each in ids if _precedes(self._caused, read, each)),
            )
        )
        return any(self._statements[each] & after for each in before & self._statements.keys())

    def _conflict(self, one: _EventId, other: _EventId) -> bool:
        """Whether it matters that an access precedes another one of the same location. That of two
        atomic ones a load does not return a later store holds without."""
        kinds = [self._event(each)["kind"] for each in (one, other)]
        if kinds[0] in _WRITES:
            return True
        return kinds[1] in _WRITES and not self._are_atomic(one, other)

    def _are_atomic(self, *ids: _EventId) -> bool:
        return all(self._event(each)["order"] != "na" for each in ids)

    def _heads(self, store: _EventId) -> Iterator[_EventId]:
        """The stores whose release sequence an update may continue."""
        if self._event(store)["kind"] == "RMW":
            for other in self._at[self._event(store)["address"]]:
                if self._event(other)["kind"] in _WRITES:
                    yield other

    def _pairs(self) -> Iterator[tuple[_EventId, _EventId]]:
        """Accesses of one location in different threads."""
        for ids in self._at.values():
            for one, other in itertools.permutations(ids, 2):
                if one[0] != other[0]:
                    yield one, other

    def _are_in_turn(self, one: _EventId, other: _EventId) -> bool:
        """Whether creation and joining of threads order two events."""
        return _precedes(self._in_turn, one, other) or _precedes(self._in_turn, other, one)

    def _created(self) -> Iterator[tuple[_EventId, _EventId]]:
        """Creation before a thread's first event, and its last event before the joining."""
        for thread, events in enumerate(self._threads):
            for index, event in enumerate(events):
                other = event["other"]
                if other is None or not self._threads[other]:
                    continue
                if event["kind"] == "CREATE":
                    yield (thread, index), (other, 0)
                else:
                    yield (other, len(self._threads[other]) - 1), (thread, index)

    def _read_from(self) -> Iterator[tuple[_EventId, _EventId]]:
        """The stores of values that nothing else in the run writes, before their reads. Zero may be
        an initial value."""
        for ids in self._at.values():
            stores = [each for each in ids if self._event(each)["kind"] in _WRITES]
            times = Counter(self._event(each)["written"] for each in stores)
            by_value = {self._event(each)["written"]: each for each in stores}
            for each in ids:
                value = self._event(each)["read"]
                if value and times[value] == 1 and by_value[value] != each:
                    yield by_value[value], each

    def _clocks(self, edges: Iterable[tuple[_EventId, _EventId]]) -> list[list[_Clock]]:
        """For each event, what precedes it in program order and along these edges."""
        into: defaultdict[_EventId, list[_EventId]] = defaultdict(list)
        for one, other in edges:
            into[other].append(one)
        count = len(self._threads)
        clocks = [[[0] * count for _ in events] for events in self._threads]
        changed = True
        while changed:
            changed = False
            for thread, events in enumerate(clocks):
                clock = [0] * count
                for index, known in enumerate(events):
                    clock[thread] = index + 1
                    for at in into.get((thread, index), ()):
                        clock = list(map(max, clock, clocks[at[0]][at[1]]))
                    if clock != known:
                        changed = True
                        events[index] = [*clock]
        return clocks

    def _place(self, at: _EventId) -> _SourcePlace:
        return self._places[self._event(at)["site"]]

    def _event(self, at: _EventId) -> EventDict:
        return self._threads[at[0]][at[1]]


def _precedes(clocks: list[list[_Clock]], one: _EventId, other: _EventId) -> bool:
    return clocks[other[0]][other[1]][one[0]] > one[1]
