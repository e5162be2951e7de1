"""Diagrams of critical cycles and witnesses: one column per thread, one arrow per edge.

The cycle is the execution that the test's condition asks for: program order down each thread, and
reads-from, from-reads or coherence from one thread to the next (Alglave, Maranget, Tautschnig,
Herding cats, TOPLAS 2014). The colours are those of herd7's diagrams.
"""

from __future__ import annotations

import itertools

import msgspec

from weakspot.generators.litmus import Cas, Fence, Guard, Load, Rmw, Statement, Store, Test
from weakspot.harness.report.witness import heading, places
from weakspot.harness.values.witness import Witness, WitnessEvent

_GUTTER, _ROW, _WIDTH, _HEIGHT, _MARGIN = 88, 78, 148, 36, 44
_LETTER = 7.9  # the width of a letter in the label of a box
_COMMUNICATION = {"Rfe": "rf", "Fre": "fr", "Coe": "co", "Wse": "co"}


class Node(msgspec.Struct, frozen=True):
    """A box: an access, or a fence, which has no frame. `site` is its `file:line`, if known."""

    x: float
    y: float
    label: str
    order: str
    fence: bool
    site: str = ""
    width: float = _WIDTH

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def top(self) -> float:
        return self.y - _HEIGHT / 2


class Arrow(msgspec.Struct, frozen=True):
    """An edge along `path`, an SVG path, with its name at (x, y)."""

    kind: str  # po, rf, fr, co: its colour
    name: str
    path: str
    x: float
    y: float


class Diagram(msgspec.Struct, frozen=True):
    """Sizes in pixels; `heads` are the centres of the columns, from the left, and their names."""

    width: float
    height: float
    heads: tuple[tuple[float, str], ...]
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]

    box_height = _HEIGHT


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
    columns: list[list[Node]] = []
    arrows: list[Arrow] = []
    for number, thread in enumerate(threads):
        x = _MARGIN + (_GUTTER + _WIDTH) * number + _WIDTH / 2
        nodes = [
            Node(x, 64 + _ROW * row, *_label(statement), fence=isinstance(statement, Fence))
            for row, statement in enumerate(thread)
        ]
        columns.append(nodes)
        names = _inner(words[number], sum(not node.fence for node in nodes))
        done = 0
        for above, below in itertools.pairwise(nodes):
            start, end = above.y + _HEIGHT / 2, below.y - _HEIGHT / 2 - 4
            name = "po" if above.fence or below.fence else names[done]
            done += not below.fence
            kind = {"rfi": "rf", "coi": "co"}.get(name, "po")
            path = f"M {x} {start} L {x} {end}"
            arrows.append(Arrow(kind, name, path, x + 10, (start + end) / 2 + 4))
    height = 64 + _ROW * (max(map(len, columns)) - 1) + _HEIGHT / 2 + 34
    for number, kind in enumerate(kinds):
        source = [node for node in columns[number] if not node.fence][-1]
        after = columns[(number + 1) % len(columns)]
        target = next(node for node in after if not node.fence)
        far = len(columns) > 2 and number == len(columns) - 1
        arrow = _around(kind, source, target, height) if far else _across(kind, source, target)
        arrows.append(arrow)
    return Diagram(
        width=_MARGIN * 2 + (_GUTTER + _WIDTH) * len(columns) - _GUTTER,
        height=height,
        heads=tuple((nodes[0].x, f"P{thread}") for thread, nodes in enumerate(columns)),
        nodes=tuple(node for nodes in columns for node in nodes),
        arrows=tuple(arrows),
    )


def witness_diagram(witness: Witness) -> Diagram | None:
    """The diagram of a witness, None without events; reads of initial values are in the text."""
    place = places(witness)
    if not place:
        return None
    labels = {
        number: (f"{event.label}: {_access(event)}", event)
        for number, event in enumerate(witness.events)
        if number in place
    }
    longest = max(len(label) + 1 + len(event.order) for label, event in labels.values())
    width = max(_WIDTH, 16 + _LETTER * longest)
    nodes = {
        number: Node(
            _MARGIN + (_GUTTER + width) * place[number][0] + width / 2,
            64 + _ROW * place[number][1],
            label,
            event.order,
            fence=event.kind == "F",
            site=event.site,
            width=width,
        )
        for number, (label, event) in labels.items()
    }
    arrows = []
    for one, other in itertools.pairwise(place):
        if place[one][0] == place[other][0]:
            above, below = nodes[one], nodes[other]
            start, end = above.y + _HEIGHT / 2, below.y - _HEIGHT / 2 - 4
            path = f"M {above.x} {start} L {above.x} {end}"
            arrows.append(Arrow("po", "po", path, above.x + 10, (start + end) / 2 + 4))
    for kind, edges in (("rf", witness.rf), ("co", witness.co), ("fr", witness.fr)):
        for one, other in edges:
            if one in nodes and other in nodes:
                within = place[one][0] == place[other][0]
                draw_edge = _beside if within else _across
                arrows.append(draw_edge(kind, nodes[one], nodes[other]))
    columns = {
        column: (nodes[number].x, heading(witness, witness.events[number].thread or 0))
        for number, (column, _) in place.items()
    }
    return Diagram(
        width=_MARGIN * 2 + (_GUTTER + width) * len(columns) - _GUTTER,
        height=64 + _ROW * max(row for _, row in place.values()) + _HEIGHT / 2 + 34,
        heads=tuple(head for _, head in sorted(columns.items())),
        nodes=tuple(nodes.values()),
        arrows=tuple(arrows),
    )


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


def _across(kind: str, source: Node, target: Node) -> Arrow:
    """To an adjacent column; the name is near the source, away from the crossing."""
    side = 1 if target.x > source.x else -1
    x1, x2 = source.x + side * source.width / 2, target.x - side * (target.width / 2 + 5)
    y1, y2 = source.y, target.y
    bend = side * abs(x2 - x1) * 0.3
    path = f"M {x1} {y1} C {x1 + bend} {y1}, {x2 - bend} {y2}, {x2} {y2}"
    part = 0.2
    return Arrow(kind, kind, path, x1 + (x2 - x1) * part, y1 + (y2 - y1) * part * 0.5 - 6)


def _beside(kind: str, source: Node, target: Node) -> Arrow:
    """To another node of the same column, around the nodes between."""
    x = source.left
    bow = 14 + 0.12 * abs(target.y - source.y)
    path = f"M {x} {source.y} C {x - bow} {source.y}, {x - bow - 4} {target.y}, {x - 5} {target.y}"
    return Arrow(kind, kind, path, x - bow + 2, (source.y + target.y) / 2)


def _around(kind: str, source: Node, target: Node, height: float) -> Arrow:
    """Below all columns and up the left margin, to the first thread."""
    bottom, left, round_ = height - 14, 14, 12
    end = target.left - 5
    path = (
        f"M {source.x} {source.y + _HEIGHT / 2} V {bottom - round_} "
        f"q 0 {round_} {-round_} {round_} H {left + round_} q {-round_} 0 {-round_} {-round_} "
        f"V {target.y + round_} q 0 {-round_} {round_} {-round_} H {end}"
    )
    return Arrow(kind, kind, path, (source.x + left) / 2, bottom - 6)


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
