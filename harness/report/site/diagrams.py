"""Diagrams of critical cycles and witnesses: one column per thread, one arrow per edge.

The cycle is the execution that the test's condition asks for: program order down each thread, and
reads-from, from-reads or coherence from one thread to the next (Alglave, Maranget, Tautschnig,
Herding cats, TOPLAS 2014). The colours are those of herd7's diagrams.

A witness shows what its other edges do not imply: program order from each event to the next, edges
within a thread only on the cycle, and fr besides the cycle only from reads of initial values, as
that from other reads follows from rf and co. In a large witness, events that no edge leads to are
folded.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from weakspot.generators.litmus import Cas, Fence, Guard, Load, Rmw, Statement, Store, Test
from weakspot.harness.report.graph import Step, communication, cycle_edges
from weakspot.harness.report.site.layout import LETTER, Box, Edge, arrange
from weakspot.harness.report.witness import events_of_threads, heading, layers
from weakspot.harness.values.witness import Execution, Witness, WitnessEvent

_WIDTH, _MOST = 120.0, 44  # of a box in pixels; of its text in letters
_FOLDED, _SMALL = 3, 14  # events that are folded at least, and witnesses that are not
_COMMUNICATION = {"Rfe": "rf", "Fre": "fr", "Coe": "co", "Wse": "co"}


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A box: an access, a fence or folded events, which have no frame. `site` is its `file:line`,
    if known; `title` is the whole text where `label` is shortened."""

    label: str
    order: str = ""
    kind: str = "access"  # fence, folded
    site: str = ""
    title: str = ""
    cycle: bool = False
    x: float = 0
    y: float = 0
    width: float = 0
    height: float = 0

    @property
    def fence(self) -> bool:
        return self.kind == "fence"

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def top(self) -> float:
        return self.y - self.height / 2


class Arrow(msgspec.Struct, frozen=True):
    """An edge along `path`, an SVG path, with its name at (x, y), between two nodes."""

    kind: str  # po, rf, fr, co: its colour
    name: str
    path: str
    x: float
    y: float
    source: int
    target: int
    cycle: bool
    straight: bool


class Diagram(msgspec.Struct, frozen=True):
    """Sizes in pixels; `heads` are the centres of the columns, from the left, and their names.
    `folded` counts the events that are not drawn one by one."""

    width: float
    height: float
    heads: tuple[tuple[float, str], ...]
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    folded: int = 0

    @property
    def has_cycle(self) -> bool:
        """Whether some edges are on the cycle and others are not."""
        return len({arrow.cycle for arrow in self.arrows}) > 1

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of edges, for the legend."""
        found = {arrow.kind for arrow in self.arrows}
        return tuple(kind for kind in ("po", "rf", "co", "fr") if kind in found)


class _Drawn(msgspec.Struct, frozen=True):
    """An edge between nodes of a thread and row, before the layout."""

    kind: str
    name: str
    source: int
    target: int
    cycle: bool


def cycle_diagram(test: Test) -> Diagram | None:
    """The diagram of a test's cycle, None for a test that was not generated from one."""
    if test.body is None:
        return None
    words, kinds = _edges(test.cycle)
    threads = [
        [statement for statement in thread if not isinstance(statement, Guard)]
        for thread in test.body.threads
    ]
    if len(kinds) != len(threads) or not all(threads):
        return None
    nodes: list[Node] = []
    columns: list[list[int]] = []
    edges: list[_Drawn] = []
    for number, thread in enumerate(threads):
        columns.append([])
        for statement in thread:
            label, order = _label(statement)
            kind = "fence" if isinstance(statement, Fence) else "access"
            columns[-1].append(len(nodes))
            nodes.append(Node(label=label, order=order, kind=kind, cycle=True))
        names = _inner(words[number], sum(not nodes[at].fence for at in columns[-1]))
        done = 0
        for above, below in itertools.pairwise(columns[-1]):
            fenced = nodes[above].fence or nodes[below].fence
            name = "po" if fenced else names[done]
            done += not nodes[below].fence
            kind = {"rfi": "rf", "coi": "co"}.get(name, "po")
            edges.append(_Drawn(kind, name, above, below, True))
    for number, kind in enumerate(kinds):
        source = [at for at in columns[number] if not nodes[at].fence][-1]
        after = columns[(number + 1) % len(columns)]
        target = next(at for at in after if not nodes[at].fence)
        edges.append(_Drawn(kind, kind, source, target, True))
    place = {at: (x, y) for x, column in enumerate(columns) for y, at in enumerate(column)}
    return _diagram(nodes, place, edges, [f"P{at}" for at in range(len(columns))])


def witness_diagram(witness: Witness) -> Diagram | None:
    """The diagram of a witness, None without events; reads of initial values are in the text."""
    threads = events_of_threads(witness)
    if not threads:
        return None
    on_cycle = cycle_edges(witness, threads)
    edges = communication(witness, on_cycle)
    important = {end for kind, *ends, _ in edges for end in ends}
    important |= {end for one, other, _ in on_cycle for end in (one, other)}
    if isinstance(witness, Execution):
        important |= set(witness.conflict or ())
    chains, nodes, number_of = _nodes(witness, threads, important, on_cycle)
    drawn = [
        _Drawn("po", "po", above, below, (above, below) in _po_pairs(on_cycle, number_of))
        for chain in chains
        for above, below in itertools.pairwise(chain)
    ]
    drawn += [
        _Drawn(kind, kind, number_of[one], number_of[other], cycle)
        for kind, one, other, cycle in edges
    ]
    place = layers(chains, [(each.source, each.target) for each in drawn if each.kind == "rf"])
    heads = [heading(witness, thread) for thread in sorted(threads)]
    folded = sum(map(len, threads.values())) - sum(node.kind != "folded" for node in nodes)
    return _diagram(nodes, place, drawn, heads, folded)


def _nodes(
    witness: Witness,
    threads: Mapping[int, Sequence[int]],
    important: set[int],
    on_cycle: Iterable[Step],
) -> tuple[list[list[int]], list[Node], dict[int, int]]:
    """The nodes of each thread, and the node of each event."""
    total = sum(map(len, threads.values()))
    cycle = {end for one, other, _ in on_cycle for end in (one, other)}
    # an event that a po step of the cycle passes is on it, but may be folded
    ends = {end for one, other, kind in witness.cycle for end in (one, other)}
    nodes: list[Node] = []
    chains: list[list[int]] = []
    number_of: dict[int, int] = {}
    kept = important - (cycle - ends)
    for thread in sorted(threads):
        chains.append([])
        for plain, group in itertools.groupby(threads[thread], lambda at: at not in kept):
            those = list(group)
            if plain and total > _SMALL and len(those) >= _FOLDED:
                for at in those:
                    number_of[at] = len(nodes)
                chains[-1].append(len(nodes))
                text = "\n".join(_text(witness.events[at]) for at in those)
                passed = all(at in cycle for at in those)
                label = f"… {len(those)} events"
                nodes.append(Node(label=label, kind="folded", title=text, cycle=passed))
                continue
            for at in those:
                event = witness.events[at]
                number_of[at] = len(nodes)
                chains[-1].append(len(nodes))
                whole = f"{event.label}: {_access(event)}"
                nodes.append(
                    Node(
                        label=_shortened(whole),
                        order=event.order,
                        kind="fence" if event.kind == "F" else "access",
                        site=event.site,
                        title=_text(event) if len(whole) > _MOST else "",
                        cycle=at in cycle,
                    )
                )
    return chains, nodes, number_of


def _po_pairs(on_cycle: Iterable[Step], number_of: Mapping[int, int]) -> set[tuple[int, int]]:
    return {
        (number_of[one], number_of[other])
        for one, other, kind in on_cycle
        if kind == "po" and one in number_of and other in number_of
    }


def _diagram(
    nodes: Sequence[Node],
    place: Mapping[int, tuple[int, int]],
    edges: Sequence[_Drawn],
    heads: Sequence[str],
    folded: int = 0,
) -> Diagram:
    boxes = [
        Box(*place[at], width=max(_WIDTH, 18 + LETTER * _letters(node)))
        for at, node in enumerate(nodes)
    ]
    made = arrange(boxes, [Edge(edge.source, edge.target) for edge in edges])
    return Diagram(
        width=made.width,
        height=made.height,
        heads=tuple(zip(made.centres, heads, strict=True)),
        nodes=tuple(
            msgspec.structs.replace(node, x=box.x, y=box.y, width=box.width, height=box.height)
            for node, box in zip(nodes, made.boxes, strict=True)
        ),
        arrows=tuple(
            Arrow(
                edge.kind,
                edge.name,
                route.path,
                route.x,
                route.y,
                edge.source,
                edge.target,
                edge.cycle,
                route.straight,
            )
            for edge, route in zip(edges, made.routes, strict=True)
        ),
        folded=folded,
    )


def _letters(node: Node) -> float:
    """How many letters wide a node's text is; the site is smaller."""
    return max(len(node.label) + 1 + len(node.order), 0.85 * len(node.site))


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"


def _text(event: WitnessEvent) -> str:
    parts = (f"{event.label}: {_access(event)}", event.order, event.site)
    return " ".join(filter(None, parts))


def _access(event: WitnessEvent) -> str:
    match event.kind:
        case "R":
            return f"R {event.location} = {event.read}"
        case "W":
            return f"W {event.location} = {event.written}"
        case "RMW":
            return f"RMW {event.location} = {event.read}→{event.written}"
        case "F":
            return "fence"
        case kind:
            return f"{kind.lower()} {event.location}".rstrip()


def _edges(cycle: str) -> tuple[list[list[str]], list[str]]:
    """The edges within each thread, and the kinds of the edges to the next thread."""
    words: list[list[str]] = [[]]
    kinds = []
    for word in cycle.split():
        if word[:3] in _COMMUNICATION:
            kinds.append(_COMMUNICATION[word[:3]])
            words.append([])
        else:
            words[-1].append(word)
    return words, kinds


def _inner(words: list[str], accesses: int) -> list[str]:
    """The names of the edges between a thread's accesses; a read-modify-write in
    the cycle is one access here and an edge in the cycle's notation."""
    if len(words) != accesses - 1:
        return ["po"] * (accesses - 1)
    known = {"Rfi": "rfi", "Coi": "coi", "Wsi": "coi", "DpC": "ctrl", "DpD": "data", "DpA": "addr"}
    return [known.get(word[:3], "po") for word in words]


def _label(statement: Statement) -> tuple[str, str]:
    match statement:
        case Load(reg, loc, order):
            return f"{reg} = {loc}", order
        case Store(loc, value, order):
            return f"{loc} = {value}", order
        case Rmw(reg, loc, op, operand, order):
            return f"{reg} = {op.removeprefix('fetch.')}({loc}, {operand})", order
        case Cas(reg, loc, expected, desired, success, _, _):
            return f"{reg} = cas({loc}, {expected}→{desired})", success
        case Fence(order):
            return "fence", order
        case Guard():
            return "", ""
