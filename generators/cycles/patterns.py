"""Access patterns: what each thread does to shared locations, taken from executed traces.

In: the runs that the engine traced. Out, for each thread, the segments that a critical cycle can
be made of: one access, or two on different locations in program order, with the fences between
them, and with the thread's own read of its write (rfi) or overwrite of its write (coi) where one
stands between. Shasha and Snir, Efficient and correct execution of parallel programs that share
memory, TOPLAS 1988, section 3; Alglave, Maranget, Tautschnig, Herding cats, TOPLAS 2014,
section 9.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from weakspot.generators.cycles import kernel
from weakspot.generators.litmus import Order, Site
from weakspot.system.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from weakspot._engine import EventDict, RunDict, TraceDict


class Access(msgspec.Struct, frozen=True):
    """One access of a thread. `kind` is R, W or RMW; `op` is diy7's word for the RMW (exch,
    fetch.add, cas, …); `failure` the order of a compare-exchange that fails. `held` are the
    mutexes held; `mutex` is "lock" or "unlock" for the operations on a mutex themselves. `section`
    is the number of the critical section of RCU that it is in, 0 without."""

    site: Site
    loc: str
    kind: str
    order: Order
    operation: str
    op: str = ""
    failure: Order = "rlx"
    held: frozenset[str] = frozenset()
    mutex: str = ""
    section: int = 0

    @property
    def reads(self) -> bool:
        return self.kind != "W"

    @property
    def writes(self) -> bool:
        return self.kind != "R"


class Edge(msgspec.Struct, frozen=True):
    """Two accesses of one thread, next to each other in a segment.

    `kind` is po, rfi or coi. `fence` is the strongest memory order that the thread fences between
    them amount to ("" for none), of the Linux kernel's the fences, `fences` their sites.
    `dependent` says that the later access is not reached, or goes elsewhere, unless the earlier
    reads what it read (ctrl or addr). `addressed`, of the Linux kernel's: the later, a load, uses
    an address that the earlier, a load, has read."""

    kind: str
    fence: str = ""
    fences: tuple[Site, ...] = ()
    dependent: bool = False
    addressed: bool = False


class Segment(msgspec.Struct, frozen=True):
    """A thread's part of a cycle: its accesses, and the edges between them."""

    accesses: tuple[Access, ...]
    edges: tuple[Edge, ...] = ()

    @property
    def first(self) -> Access:
        return self.accesses[0]

    @property
    def last(self) -> Access:
        return self.accesses[-1]


class Reach(msgspec.Struct, frozen=True):
    """The threads that may run when a segment's first and last access do; thread creation and
    join order all others before or after them."""

    first: frozenset[int] = frozenset()
    last: frozenset[int] = frozenset()


class Pattern(msgspec.Struct, frozen=True):
    """`segments[t]` are those of thread t, each once, with the threads they can meet."""

    segments: tuple[dict[Segment, Reach], ...]


_RMW_OPS = {
    "xchg": "exch",
    "add": "fetch.add",
    "sub": "fetch.sub",
    "or": "fetch.or",
    "and": "fetch.and",
    "xor": "fetch.xor",
    "cas": "cas",
    "cas_weak": "cas",
}
_OTHER_OP = "fetch.add"
"""In place of an operation that C11 lacks (max, nand, those of floating-point types): its write
depends on what it reads too."""


def pattern(
    trace: TraceDict, sites: Sequence[Site], *, of_kernel: bool = False, end: Deadline = NEVER
) -> Pattern:
    """The access pattern of all runs; of the first ones, at least one, if the time is up.
    `of_kernel`: of a program with the Linux kernel's primitives."""
    count = max((len(run["threads"]) for run in trace["runs"]), default=0)
    found: list[dict[Segment, Reach]] = [{} for _ in range(count)]
    for number, run in enumerate(trace["runs"]):
        if number and end.passed:
            break
        order = _Creation(run)
        for thread, events in enumerate(run["threads"]):
            meets = [order.concurrent(thread, index) for index in range(len(events))]
            for segment, first, last in segments(events, sites, of_kernel=of_kernel):
                if meets[first] and meets[last]:
                    known = found[thread].get(segment, Reach())
                    reach = Reach(known.first | meets[first], known.last | meets[last])
                    found[thread][segment] = reach
    return Pattern(tuple(found))


class Habits(msgspec.Struct, frozen=True):
    """Properties of a program's events in every run, by the number of their sites: the operation of
    a read-modify-write; the operation that an event belongs to; which accesses depend on an earlier
    read (control and address dependencies); and on which for their address."""

    updates: dict[int, str] = {}
    operations: dict[int, str] = {}
    dependent: frozenset[tuple[int, int]] = frozenset()
    addressed: frozenset[tuple[int, int]] = frozenset()


def habits(trace: TraceDict) -> Habits:
    updates: dict[int, str] = {}
    operations: dict[int, str] = {}
    dependent: set[tuple[int, int]] = set()
    addressed: set[tuple[int, int]] = set()
    for run in trace["runs"]:
        for events in run["threads"]:
            for event in events:
                operations[event["site"]] = event["operation"]
                if event["op"]:
                    updates[event["site"]] = event["op"]
                for earlier in (*event["ctrl"], *event["addr"]):
                    dependent.add((events[earlier]["site"], event["site"]))
                for earlier in event["addr"]:
                    addressed.add((events[earlier]["site"], event["site"]))
    return Habits(updates, operations, frozenset(dependent), frozenset(addressed))


class _Step(msgspec.Struct, frozen=True):
    """An access with its event, or a fence (no access)."""

    index: int
    event: EventDict
    site: Site
    access: Access | None


def _steps(events: Sequence[EventDict], sites: Sequence[Site], *, of_kernel: bool) -> list[_Step]:
    held: frozenset[str] = frozenset()
    steps: list[_Step] = []
    sections = kernel.sections(events) if of_kernel else None
    for index, event in enumerate(events):
        kind = event["kind"]
        site = sites[event["site"]] if event["site"] >= 0 else None
        if site is None or kind in ("CREATE", "JOIN", "SF"):
            continue
        if of_kernel and kernel.is_left_out(event):
            continue
        if kind == "F":
            steps.append(_Step(index, event, site, None))
            continue
        if kind == "UNLOCK":
            held -= {event["loc"]}
        section = None if sections is None else sections[index]
        steps.append(_Step(index, event, site, _access(event, site, held, section)))
        if kind == "LOCK":
            held |= {event["loc"]}
    return steps


def _access(
    event: EventDict, site: Site, held: frozenset[str], section: int | None
) -> Access | None:
    """`section` is given for programs of the Linux kernel alone."""
    of_kernel = section is not None
    kind = {"CASF": "R", "LOCK": "RMW", "UNLOCK": "W"}.get(event["kind"], event["kind"])
    op = ""
    if kind == "RMW":
        op = "exch" if event["kind"] == "LOCK" else _RMW_OPS.get(event["op"], _OTHER_OP)
        op = kernel.update(op) if of_kernel else op
    return Access(
        site=site,
        loc=event["loc"],
        kind=kind,
        order=kernel.order(event["order"]) if of_kernel else _order(event["order"]),
        operation=event["operation"],
        op=op,
        held=held,
        mutex={"LOCK": "lock", "UNLOCK": "unlock"}.get(event["kind"], ""),
        section=section or 0,
    )


def _order(text: str) -> Order:
    match text:
        case "na" | "rlx" | "acq" | "rel" | "acq_rel" | "sc":
            return text
        case _:
            raise ValueError(f"unknown memory order {text!r} from the engine")


def segments(
    events: Sequence[EventDict], sites: Sequence[Site], *, of_kernel: bool = False
) -> Iterator[tuple[Segment, int, int]]:
    """Every segment of one thread's events, with the indices of its first and last access. No
    segment crosses an asymmetric fence, which litmus tests do not have."""
    steps = _steps(events, sites, of_kernel=of_kernel)
    edge = partial(_edge_of_kernel, sites) if of_kernel else _edge
    asymmetric = (not of_kernel and _is_asymmetric(step) for step in steps)
    fences = [*itertools.accumulate(asymmetric, initial=0)]
    accesses = [(at, step) for at, step in enumerate(steps) if step.access is not None]
    for number, (at, first) in enumerate(accesses):
        assert first.access is not None
        yield Segment((first.access,)), first.index, first.index
        for until, last in accesses[number + 1 :]:
            assert last.access is not None
            if fences[until] > fences[at]:
                break
            if last.access.loc == first.access.loc:
                continue
            direct = Segment((first.access, last.access), (edge(steps, at, until, "po"),))
            yield direct, first.index, last.index
            middle = _own_read(steps, at, until)
            if middle is not None:
                chain = (steps[index].access for index in (at, middle, until))
                accesses_of = tuple(access for access in chain if access is not None)
                between = (edge(steps, at, middle, "rfi"), edge(steps, middle, until, "po"))
                yield Segment(accesses_of, between), first.index, last.index
            overwrite = _own_overwrite(steps, until)
            if overwrite is not None and fences[overwrite] == fences[until]:
                over = steps[overwrite].access
                assert over is not None
                coi = edge(steps, until, overwrite, "coi")
                yield (
                    Segment((*direct.accesses, over), (*direct.edges, coi)),
                    first.index,
                    steps[overwrite].index,
                )


def _is_asymmetric(step: _Step) -> bool:
    """Whether it is a fence that C has not: light, heavy."""
    orders = ("acq", "rel", "acq_rel", "sc")
    return step.access is None and step.event["order"] not in orders


def _own_read(steps: Sequence[_Step], at: int, until: int) -> int | None:
    """The thread's last read of its own write at `at` before a read at `until`, as if from the
    store buffer."""
    write, read = steps[at].access, steps[until].access
    assert write is not None
    assert read is not None
    if not write.writes or read.writes or write.mutex:
        return None
    found: int | None = None
    for index in range(at + 1, until):
        access = steps[index].access
        if access is None or access.loc != write.loc:
            continue
        if access.writes or steps[index].event["read"] != steps[at].event["written"]:
            break
        found = index
    return found


def _own_overwrite(steps: Sequence[_Step], at: int) -> int | None:
    """The thread's next store to the location that the write at `at` releases: it continues the
    release sequence in C11 (5.1.2.4p10), not in C++20."""
    write = steps[at].access
    assert write is not None
    if not write.writes or write.mutex or write.order not in ("rel", "acq_rel", "sc"):
        return None
    for index in range(at + 1, len(steps)):
        access = steps[index].access
        if access is not None and access.loc == write.loc and access.writes:
            # a release needs no sequence, and every read-modify-write continues one
            return index if access.kind == "W" and access.order in ("rlx", "na") else None
    return None


def _edge(steps: Sequence[_Step], at: int, until: int, kind: str) -> Edge:
    fences = [step for step in steps[at + 1 : until] if step.access is None]
    orders = {step.event["order"] for step in fences}
    fence = ""
    if "sc" in orders:
        fence = "sc"
    elif "acq_rel" in orders or {"acq", "rel"} <= orders:
        fence = "acq_rel"
    elif orders:
        fence = orders.pop()
    event = steps[until].event
    dependent = steps[at].index in (*event["ctrl"], *event["addr"])
    return Edge(kind, fence, tuple(dict.fromkeys(step.site for step in fences)), dependent)


def _edge_of_kernel(
    sites: Sequence[Site], steps: Sequence[_Step], at: int, until: int, kind: str
) -> Edge:
    event = steps[until].event
    found = kernel.fences([step.event for step in steps[at + 1 : until]])
    return Edge(
        kind,
        " ".join(name for name, _ in found),
        tuple(sites[site] for _, site in found),
        kernel.depends(event, steps[at].index),
        kernel.is_addressed(event, steps[at].event, steps[at].index),
    )


class _Creation:
    """Which events are ordered by thread creation and join."""

    def __init__(self, run: RunDict) -> None:
        self._threads = len(run["threads"])
        self._created: dict[int, tuple[int, int]] = {}
        self._joined: dict[int, tuple[int, int]] = {}
        for thread, events in enumerate(run["threads"]):
            for index, event in enumerate(events):
                other = event["other"]
                if other is None:
                    continue
                if event["kind"] == "CREATE":
                    self._created[other] = (thread, index)
                elif event["kind"] == "JOIN":
                    self._joined[other] = (thread, index)

    def concurrent(self, thread: int, index: int) -> frozenset[int]:
        """The threads of which some part may run beside event `index` of `thread`."""
        return frozenset(
            other
            for other in range(self._threads)
            if other != thread
            and not self._starts_after(other, thread, index)
            and not self._ends_before(other, thread, index)
        )

    def _starts_after(self, thread: int, creator: int, index: int) -> bool:
        """Whether `thread` starts only after event `index` of `creator`."""
        seen: set[int] = set()
        while thread in self._created and thread not in seen:
            seen.add(thread)
            parent, at = self._created[thread]
            if parent == creator:
                return at > index
            if creator in self._joined and self._joined[creator][0] == parent:
                return self._joined[creator][1] < at
            thread = parent
        return False

    def _ends_before(self, thread: int, joiner: int, index: int) -> bool:
        """Whether `thread` has ended before event `index` of `joiner`."""
        if thread not in self._joined:
            return False
        parent, at = self._joined[thread]
        if parent == joiner:
            return at < index
        return self._starts_after(joiner, parent, at)
