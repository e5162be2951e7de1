"""The Test for a critical cycle: minimal threads, and a condition that asks for the cycle.

A Test has the accesses of the cycle and the fences between them; everything else that the threads
do is left out. So a Test may allow what the program forbids, never the reverse.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from weakspot.generators.cycles import kernel, shapes
from weakspot.generators.cycles.critical import Cycle
from weakspot.generators.cycles.patterns import Access, Edge, Segment
from weakspot.generators.cycles.values import distinct_values
from weakspot.generators.emit.text import litmus_text
from weakspot.generators.litmus import (
    KERNEL_ORDER,
    Atom,
    Body,
    Cas,
    Fence,
    Guard,
    Load,
    Order,
    Origin,
    Rmw,
    Site,
    Statement,
    Store,
    Test,
)

#: the names that locations take, in the order of the cycle
LOCATIONS = "xyzabcdf"


class Named(msgspec.Struct, frozen=True):
    """A cycle that begins with the thread that diy7 puts first, the name of its Test, and where in
    the program it is."""

    name: str
    cycle: Cycle
    parts: tuple[shapes.Part, ...]
    origin: Origin


def build(cycle: Cycle, *, structure: str, scenario: str) -> Test:
    """The Test that asks for exactly this cycle."""
    return _test(_named(cycle, structure, scenario))


def build_all(cycles: Iterable[Cycle], *, structure: str, scenario: str) -> Iterator[Test]:
    """One Test per name, with the origins of all cycles of that name: there are thousands of cycles
    in programs that give dozens of tests."""
    first: dict[str, Named] = {}
    origins: dict[str, dict[object, Origin]] = defaultdict(dict)
    for cycle in cycles:
        named = _named(cycle, structure, scenario)
        first.setdefault(named.name, named)
        found, key = origins[named.name], (named.origin.operations, named.origin.sites)
        found.pop(key, None)  # of several at the same sites the last one counts
        found[key] = named.origin
    for name, named in first.items():
        yield msgspec.structs.replace(_test(named), origins=tuple(origins[name].values()))


def _named(cycle: Cycle, structure: str, scenario: str) -> Named:
    parts = tuple(_parts(cycle))
    start, name = _placed(parts)
    cycle = Cycle((*cycle.segments[start:], *cycle.segments[:start]))
    origin = Origin(
        structure=structure,
        scenario=scenario,
        operations=tuple(
            "; ".join(dict.fromkeys(access.operation for access in segment.accesses))
            for segment in cycle.segments
        ),
        sites=tuple(map(_sites, cycle.segments)),
        locations={short: loc for loc, short in _location_names(cycle).items()},
    )
    return Named(name, cycle, (*parts[start:], *parts[:start]), origin)


@lru_cache(maxsize=10_000)
def _placed(parts: tuple[shapes.Part, ...]) -> tuple[int, str]:
    """The index of the thread that diy7 puts first, and the name of the cycle."""
    start = shapes.rotation(parts)
    return start, shapes.name([*parts[start:], *parts[:start]])


def _test(named: Named) -> Test:
    values = _Values(named.cycle)
    threads = tuple(
        values.thread(number, segment) for number, segment in enumerate(named.cycle.segments)
    )
    body = Body(
        threads=threads,
        atoms=tuple(values.atoms()),
        locations=tuple(values.names.values()),
        init={values.names[loc]: value for loc, value in values.init.items() if value},
        plain=frozenset(values.names[loc] for loc in values.plain),
        kernel=any(_is_of_kernel(each) for one in named.cycle.segments for each in one.accesses),
        sections=frozenset(
            number for number, each in enumerate(named.cycle.segments) if _in_section(each)
        ),
        pointers=values.pointers,
    )
    edges = _diy_cycle(named.cycle, named.parts)
    return Test(
        name=named.name,
        arch="C",
        text=litmus_text(named.name, edges, body),
        shape=shapes.family(named.parts),
        cycle=edges,
        body=body,
        origins=(named.origin,),
    )


def _sites(segment: Segment) -> tuple[Site, ...]:
    """The site of each access and fence of a thread."""
    sites = [segment.first.site]
    for edge, access in zip(segment.edges, segment.accesses[1:], strict=True):
        sites += edge.fences[: len(edge.fence.split())]
        sites.append(access.site)
    return tuple(sites)


def _location_names(cycle: Cycle) -> dict[str, str]:
    """The Test's names of the program's locations, in the order of the cycle."""
    locations = dict.fromkeys(
        access.loc for segment in cycle.segments for access in segment.accesses
    )
    return {location: LOCATIONS[number] for number, location in enumerate(locations)}


# --- names -----------------------------------------------------------------------------------


def _annotation(access: Access) -> str:
    order = {"acq_rel": "ar", kernel.NORETURN: "once"}.get(access.order, access.order)
    return _op(access) + order if access.kind == "RMW" else order


def _guarded(edge: Edge, source: Access, target: Access, incoming: str) -> bool:
    """Whether the target must not run unless the source reads the cycle's value: a plain access
    would race otherwise, and the program does not execute it either; a critical section that comes
    first, whose lock reads no unlock of the cycle, is not the one that the test is about."""
    if edge.kind == "po" and _is_of_kernel(source) and edge.dependent and target.writes:
        return True  # there, it orders the two
    reached = edge.dependent or source.mutex == "lock"
    return reached and target.order == "na" and source.reads and incoming == "rf"


def _is_of_kernel(access: Access) -> bool:
    return access.order in (*KERNEL_ORDER.values(), kernel.NORETURN)


def _is_addressed(cycle: Cycle, number: int) -> bool:
    """Whether a thread's second access uses the address that its first reads: from a store with
    which the thread before it ends, and which is the cycle's only other access there."""
    segment, before = cycle.segments[number], cycle.segments[number - 1]
    if len(segment.edges) != 1 or not segment.edges[0].addressed or not before.edges:
        return False
    pointer, target = segment.first.loc, segment.last.loc
    those = [each for one in cycle.segments for each in one.accesses]
    return (
        before.last.kind == "W"
        and cycle.communications[number - 1] == "rf"
        and [each.loc for each in those].count(pointer) == 2
        and all(each.kind != "RMW" for each in those if each.loc == target)
    )


def _in_section(segment: Segment) -> bool:
    """Whether a thread is in a critical section of RCU as a whole."""
    return segment.first.section == segment.last.section != 0


def _parts(cycle: Cycle) -> list[shapes.Part]:
    coms = cycle.communications
    parts = []
    for index, segment in enumerate(cycle.segments):
        incoming, outgoing = coms[index - 1], coms[index]
        first = "R" if incoming == "rf" else "W"
        last = "R" if outgoing == "fr" else "W"
        if len(segment.accesses) == 1:
            access = segment.first
            if (first, last) == ("R", "W"):
                parts.append(shapes.Part("RW", (_rmw_step(access),)))
            else:
                parts.append(shapes.Part("W", (), single=_annotation(access)))
            continue
        steps = []
        for at, edge in enumerate(segment.edges):
            source, target = segment.accesses[at], segment.accesses[at + 1]
            fence = "ar" if edge.fence == "acq_rel" else re.sub(r"\W", "", edge.fence)
            word = f"fence{fence}" if edge.fence else ""
            guarded = at == 0 and _guarded(edge, source, target, incoming)
            if _is_addressed(cycle, index):
                word = f"addr{word}"
            elif edge.kind == "po" and guarded:
                word = f"ctrl{word}"  # as diy7 writes ctrlisb and ctrlisync
            if edge.kind == "po" and _in_section(segment):
                word = f"rcu{word}"
            ends = at == len(segment.edges) - 1
            left = first if at == 0 else ("R" if target.kind == "R" and at else source.kind[0])
            right = last if ends else ("R" if target.kind == "R" else "W")
            steps.append(
                shapes.Step(
                    # a fence between a store and the thread's next access to it is part of the name
                    word if word and edge.kind == "po" else edge.kind + word,
                    _annotation(source),
                    _annotation(target),
                    left + right,
                )
            )
        parts.append(shapes.Part(first + last, tuple(steps)))
    return parts


_HALVES = {word: word for word in ("acq", "rel", "sc", "acquire", "release", "mb")}


def _op(access: Access) -> str:
    """diy7's word for an update; `add` for one of the Linux kernel's that returns nothing."""
    return access.op.removeprefix("fetch.") if access.order == kernel.NORETURN else access.op


def _rmw_step(access: Access) -> shapes.Step:
    """A read-modify-write that the cycle enters by its read and leaves by its write."""
    word = "rmw" if access.op == "exch" else _op(access)
    weakest = "once" if _is_of_kernel(access) else "rlx"
    read = {"acq_rel": "acq", **_HALVES, "release": "once", "rel": "rlx"}.get(access.order, weakest)
    write = {"acq_rel": "rel", **_HALVES, "acquire": "once", "acq": "rlx"}.get(
        access.order, weakest
    )
    return shapes.Step(word, read, write, "RW")


def _diy_cycle(cycle: Cycle, parts: Sequence[shapes.Part]) -> str:
    """The edges as diy7 writes them, e.g. `PodWWRlxRel RfeRelAcq PodRRAcqRlx FreRlxRlx`."""
    coms = cycle.communications
    words = []
    for index, part in enumerate(parts):
        for step in part.steps:
            ends = step.source.capitalize() + step.target.capitalize()
            words.append(_diy_edge(step) + ends)
        source = part.steps[-1].target if part.steps else part.single
        after = parts[(index + 1) % len(parts)]
        target = after.steps[0].source if after.steps else after.single
        edge = {"rf": "Rfe", "fr": "Fre", "co": "Coe"}[coms[index]]
        words.append(edge + source.capitalize() + target.capitalize())
    return " ".join(words)


def _diy_edge(step: shapes.Step) -> str:
    match step.word:
        case word if word.startswith("rcu"):
            step = msgspec.structs.replace(step, word=word.removeprefix("rcu") or "po")
            return f"Rcu{_diy_edge(step)}"
        case "po":
            return f"Pod{step.directions}"
        case word if word.startswith("addr"):
            return f"DpAddr{_diy_fence(word.removeprefix('addr'))}d{step.directions[1]}"
        case word if word.startswith("ctrl"):
            return f"DpCtrl{_diy_fence(word.removeprefix('ctrl'))}d{step.directions[1]}"
        case word if word.startswith(("rfi", "coi")):
            return word.capitalize()
        case "rmw":
            return "Exch"
        case word if word.startswith("fence"):
            return f"{_diy_fence(word)}d{step.directions}"
        case word:
            return ".".join(piece.capitalize() for piece in word.split("."))


def _diy_fence(word: str) -> str:
    return f"Fence{word.removeprefix('fence').capitalize()}" if word else ""


# --- values ----------------------------------------------------------------------------------

_At = tuple[int, int]  # segment, access


class _Values:
    """Small distinct values for the writes of a cycle, in the coherence order it asks for, and
    what each read must then read."""

    def __init__(self, cycle: Cycle) -> None:
        self.cycle = cycle
        self.names = _location_names(cycle)
        self.init: dict[str, int] = {}
        self.plain: set[str] = set()
        self.pointers: dict[str, str] = {}
        self._before: dict[_At, int] = {}  # the value that an access finds
        self._after: dict[_At, int] = {}  # the value that a write leaves
        self._operand: dict[_At, int] = {}
        self._registers: list[Atom] = []
        self._finals: list[Atom] = []
        for segment in cycle.segments:
            for access in segment.accesses:
                if access.order == "na":
                    self.plain.add(access.loc)
        for start, segment in enumerate(cycle.segments):
            if len(segment.accesses) > 1:
                self._location(self._path(start))

    def _path(self, start: int) -> list[_At]:
        """The accesses to one location from the end of a segment on, in the cycle's order."""
        segments = self.cycle.segments
        last = len(segments[start].accesses) - 1
        overwritten = segments[start].edges[-1].kind == "coi"
        path = [(start, last - 1), (start, last)] if overwritten else [(start, last)]
        while True:
            start = (start + 1) % len(segments)
            path.append((start, 0))
            if len(segments[start].accesses) > 1:
                if segments[start].edges[0].kind == "rfi":
                    path.append((start, 1))
                return path

    def _access(self, at: _At) -> Access:
        return self.cycle.segments[at[0]].accesses[at[1]]

    def _location(self, path: Sequence[_At]) -> None:
        loc = self._access(path[0]).loc
        writes = [at for at in path if self._access(at).writes]
        initial, written = distinct_values([self._access(at).op for at in writes])
        self.init[loc] = value = initial
        self._operand |= {at: operand for at, (operand, _) in zip(writes, written, strict=True)}
        self._after |= {at: left for at, (_, left) in zip(writes, written, strict=True)}
        coms = self.cycle.communications
        for at in path:
            self._before[at] = value
            value = self._after.get(at, value)
        unread = any(self._access(at).order == kernel.NORETURN for at in writes)
        if unread or any(at[1] == 0 and coms[at[0] - 1] == "co" for at in writes):
            self._finals.append(Atom(None, self.names[loc], value))

    def atoms(self) -> list[Atom]:
        return [*self._registers, *self._finals]

    def thread(self, number: int, segment: Segment) -> tuple[Statement, ...]:
        """The statements of one thread."""
        incoming = self.cycle.communications[number - 1]
        statements: list[Statement] = []
        registers = 0
        for index, access in enumerate(segment.accesses):
            if index:
                edge = segment.edges[index - 1]
                statements += [Fence(_fence_order(each)) for each in edge.fence.split()]
                source = segment.accesses[index - 1]
                if _is_addressed(self.cycle, number):
                    self.pointers[self.names[source.loc]] = self.names[access.loc]
                elif index == 1 and _guarded(edge, source, access, incoming):
                    statements.append(self._guard(number, source))
            register = ""
            if access.reads and access.order != kernel.NORETURN:
                register, registers = f"r{registers}", registers + 1
            statement = self._statement((number, index), access, register)
            statements.append(statement)
            if isinstance(statement, Cas) and not _is_of_kernel(access):
                self._registers.append(Atom(number, register, 1))
            elif register:
                self._registers.append(Atom(number, register, self._before[number, index]))
        return tuple(statements)

    def _guard(self, number: int, source: Access) -> Guard:
        success = source.op == "cas" and not _is_of_kernel(source)
        return Guard("r0", 1 if success else self._before[number, 0])

    def _statement(self, at: _At, access: Access, register: str) -> Statement:
        loc = self.names[access.loc]
        if access.kind == "R":
            return Load(register, loc, access.order)
        if access.kind == "W":
            return Store(loc, self._after[at], access.order)
        if access.op == "cas":
            return Cas(
                register, loc, self._before[at], self._after[at], access.order, access.failure
            )
        return Rmw(register, loc, access.op, self._operand[at], access.order)


def _fence_order(fence: str) -> Order:
    match fence:
        case "sc" | "acq" | "rel" | "acq_rel":
            return fence
        case "mb" | "rmb" | "wmb" | "before-atomic" | "after-atomic" | "sync-rcu":
            return fence
        case _:
            raise ValueError(f"not the order of a fence: {fence!r}")
