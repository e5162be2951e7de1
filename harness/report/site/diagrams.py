"""Drawings of executions as diagrams: where boxes, edges and the names of edges are, in pixels.

A column is a thread and a row a layer, so that only the edges between columns are left to route.
Each leaves and enters a box at its side, at a height of its own, and is a curve in the space
between two columns. One that passes other columns does so on a line of its own between two rows. So
none runs through a box, and no two lie on each other. The name of an edge stands where it is
farthest from other names. Events that no edge leads to are folded in a large
execution.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from weakspot.harness.report.drawing import MEANINGS, Drawing, Edge, Node

LETTER = 7.9
"""The width of a letter."""

_MOST = 54  # letters in a box
_WIDTH, _HEIGHT, _PORT = 120.0, 34.0, 10.0  # of a box at least; between the ends of edges
_GUTTER, _LANE, _GAP, _TRACK, _HEAD, _MARGIN = 46.0, 14.0, 26.0, 12.0, 34.0, 12.0
_PARTS = (0.25, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # of a curve: where its name may stand
_NAME = 24.0, 14.0  # the room of a name

Point = tuple[float, float]
Curve = tuple[Point, Point, Point, Point]
Places = Mapping[int, tuple[int, int]]


class Box(msgspec.Struct, frozen=True):
    """A node, whose centre is (x, y)."""

    node: Node
    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def label(self) -> str:
        """The text, shortened to the width of a box."""
        text = self.node.text
        return text if len(text) <= _MOST else f"{text[: _MOST - 1]}…"

    @property
    def title(self) -> str:
        """What the label does not show."""
        return self.node.title or (self.node.text if self.label != self.node.text else "")


class Arrow(msgspec.Struct, frozen=True):
    """An edge along `path`, an SVG path, with its name at (x, y); `straight`: down a column."""

    edge: Edge
    path: str
    x: float
    y: float
    straight: bool = False


class Diagram(msgspec.Struct, frozen=True):
    """`heads` are the centres of the columns, from the left, and their names."""

    drawing: Drawing
    width: float
    height: float
    heads: tuple[tuple[float, str], ...]
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]

    @property
    def has_cycle(self) -> bool:
        """Whether some edges are on the cycle and others are not."""
        return len({arrow.edge.cycle for arrow in self.arrows}) > 1

    @property
    def meanings(self) -> dict[str, str]:
        """The kinds of edges, for the legend."""
        return {kind: MEANINGS[kind] for kind in self.drawing.kinds}


class _Route(msgspec.Struct, frozen=True):
    """How an edge runs: beside which columns it leaves and arrives (a gutter is left of the column
    of its number), and above which row it passes other columns, if it does."""

    leaves: int
    arrives: int
    row: int | None


def diagram(drawing: Drawing | None, *, unfold: bool = False) -> Diagram | None:
    """The diagram of an execution, None for one without events."""
    if drawing is None or not drawing.nodes:
        return None
    drawing = drawing if unfold else drawing.fold()
    places = drawing.places
    routes = _routes(drawing, places)
    ports = _ports(drawing, places, routes)
    passing = Counter(route.row for route in routes.values())
    beside = Counter(gutter for each in routes.values() for gutter in {each.leaves, each.arrives})

    heights = [
        max(_HEIGHT, _PORT * (1 + max(len(ports[at, column]), len(ports[at, column + 1]))))
        for at, (column, _) in sorted(places.items())
    ]
    tops, y = list[float](), _HEAD
    for row in range(1 + max(row for _, row in places.values())):
        y += _TRACK * passing[row] + (_GAP if row or passing[row] else 0)
        tops.append(y)
        y += max((heights[at] for at in places if places[at][1] == row), default=_HEIGHT)
    widths = [max(_width(drawing.nodes[at]) for at in column) for column in drawing.columns]
    gutters, x = list[tuple[float, float]](), 0.0
    for gutter, width in enumerate((*widths, 0.0)):
        is_margin = not beside[gutter] and gutter in (0, len(widths))
        right = x + (_MARGIN if is_margin else _GUTTER + _LANE * beside[gutter])
        gutters.append((x, right))
        x = right + width
    centres = [right + width / 2 for (_, right), width in zip(gutters, widths, strict=False)]
    boxes = [
        Box(node, centres[column], tops[row] + height / 2, widths[column], height)
        for at, (node, height) in enumerate(zip(drawing.nodes, heights, strict=True))
        for column, row in [places[at]]
    ]

    def end(number: int, at: int, gutter: int, gap: float = 0) -> Point:
        ends = ports[at, gutter]
        y = boxes[at].top + boxes[at].height * (1 + ends.index(number)) / (1 + len(ends))
        left, right = gutters[gutter]
        return left + gap if gutter > places[at][0] else right - gap, y

    arrows, names = list[Arrow](), list[Point]()
    lines: Counter[int] = Counter()  # that are taken above each row
    for number, edge in enumerate(drawing.edges):
        if (route := routes.get(number)) is None:
            one, other = boxes[edge.source], boxes[edge.target]
            start, tip = one.top + one.height, other.top - 2
            path = f"M {one.x:g} {start:g} V {tip:g}"
            names.append((one.x + 8, (start + tip) / 2 + 4))
        else:
            points = [end(number, edge.source, route.leaves)]
            if route.row is not None:
                line = tops[route.row] - _GAP / 2 - _TRACK * (lines[route.row] + 0.5)
                lines[route.row] += 1
                side = int(route.leaves < route.arrives)
                points.append((gutters[route.leaves][side], line))
                points.append((gutters[route.arrives][1 - side], line))
            points.append(end(number, edge.target, route.arrives, 2))
            first = _curve(points[0], points[1], gutters[route.leaves])
            curves = [first, _curve(points[-2], points[-1], gutters[route.arrives])]
            path = "M " + " L ".join(map(_written, curves if route.row is not None else [first]))
            names.append(_free(first, names))
        arrows.append(Arrow(edge, path, *names[-1], route is None))
    heads = tuple(zip(centres, drawing.heads, strict=True))
    return Diagram(drawing, x, y + _MARGIN, heads, tuple(boxes), tuple(arrows))


def _width(node: Node) -> float:
    """Of a box with the node's text, below which smaller notes stand."""
    letters = max(min(len(node.text), _MOST), 0.85 * len(", ".join(node.notes)))
    return max(_WIDTH, 18 + LETTER * letters)


def _routes(drawing: Drawing, places: Places) -> dict[int, _Route]:
    """The routes of edges, by their numbers: not of those that lead straight down a column."""
    down = {pair for column in drawing.columns for pair in itertools.pairwise(column)}
    routes = {}
    for number, edge in enumerate(drawing.edges):
        if (edge.source, edge.target) in down:
            down.remove((edge.source, edge.target))  # another edge between the two is a curve
            continue
        (column, row), (other, other_row) = places[edge.source], places[edge.target]
        leaves, arrives = (column + 1, other) if column < other else (column, other + 1)
        if column == other:
            leaves = arrives = column + min(column, 1)
        above = None if leaves == arrives else max(row, other_row)
        routes[number] = _Route(leaves, arrives, above)
    return routes


def _ports(
    drawing: Drawing, places: Places, routes: Mapping[int, _Route]
) -> Mapping[tuple[int, int], list[int]]:
    """By node and gutter: the edges that end there, from the top."""
    ends: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for number, route in routes.items():
        edge = drawing.edges[number]
        ends[edge.source, route.leaves].append((places[edge.target][1], number))
        ends[edge.target, route.arrives].append((places[edge.source][1], number))
    found: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    return found | {at: [number for _, number in sorted(those)] for at, those in ends.items()}


def _curve(start: Point, end: Point, gutter: Point) -> Curve:
    """A cubic curve that begins and ends horizontally."""
    middle = sum(gutter) / 2
    return start, (middle, start[1]), (middle, end[1]), end


def _written(curve: Curve) -> str:
    start, *others = (f"{x:.5g} {y:.5g}" for x, y in curve)
    return f"{start} C {' '.join(others)}"


def _free(curve: Curve, names: Sequence[Point]) -> Point:
    """Where the name of a curve stands: the first place that has room, else the one with most."""

    def at(part: float) -> Point:
        parts = ((1 - part) ** 3, 3 * (1 - part) ** 2 * part, 3 * (1 - part) * part**2, part**3)
        x, y = (sum(map(operator.mul, parts, values)) for values in zip(*curve, strict=True))
        return x, y + 4

    def room(point: Point) -> float:
        apart = (max(abs(x - point[0]) / _NAME[0], abs(y - point[1]) / _NAME[1]) for x, y in names)
        return min(1.0, *apart, 1.0)

    return max(map(at, _PARTS), key=room)
