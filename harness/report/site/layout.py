"""Layout of executions: columns of boxes, and edges that run in lanes of their own.

A column is a thread, a row a layer: both are given, so that what a library for layered graphs
would compute is known. What is left is the routing. As in channel routing (Hashimoto, Stevens, DAC
1971), an edge leaves and enters a box at its side, runs along a column in a lane of the space
beside it and crosses columns in a lane of the space between two rows. Two edges that overlap there
get two lanes, so that no two edges lie on each other and none runs through a box.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

LETTER = 7.9  # the width of a letter in a box
_BOX, _PORT, _LANE, _TRACK = 34.0, 10.0, 19.0, 12.0
_GUTTER, _GAP, _HEAD, _EDGE = 34.0, 26.0, 34.0, 12.0
_ROUND = 6.0

Point = tuple[float, float]


class Box(msgspec.Struct, frozen=True):
    """A box in a grid, with the width that its text needs."""

    column: int
    row: int
    width: float


class Edge(msgspec.Struct, frozen=True):
    """An edge between two boxes, which are named by their indices."""

    source: int
    target: int


class Placed(msgspec.Struct, frozen=True):
    """The rectangle of a box."""

    x: float  # of the centre
    y: float
    width: float
    height: float


class Route(msgspec.Struct, frozen=True):
    """An edge as an SVG path, with the place of its label; `straight` is one down a column."""

    path: str
    x: float
    y: float
    straight: bool = False


class Layout(msgspec.Struct, frozen=True):
    """Sizes in pixels; `centres` are those of the columns."""

    width: float
    height: float
    centres: tuple[float, ...]
    boxes: tuple[Placed, ...]
    routes: tuple[Route, ...]


class _Plan(msgspec.Struct):
    """How an edge runs: beside which column it leaves and arrives (a gutter is left of the column
    of its number), and above which row it crosses columns, if it does."""

    edge: Edge
    leave: int
    arrive: int
    track: int | None
    straight: bool = False  # down a column, from a box to the next one
    lanes: tuple[int, int] = (0, 0)
    track_lane: int = 0


def arrange(boxes: Sequence[Box], edges: Sequence[Edge]) -> Layout:
    """Place the boxes and route the edges."""
    columns = 1 + max((box.column for box in boxes), default=0)
    rows = 1 + max((box.row for box in boxes), default=0)
    below = _below(boxes)
    plans = []
    for edge in edges:
        plans.append(_plan(boxes, edge, below))
        if plans[-1].straight:
            del below[edge.source]  # a second edge between the two runs beside them
    ports = _ports(boxes, plans)
    gutters = _lanes(boxes, plans)
    tracks = _tracks(plans)

    widths = [max(box.width for box in boxes if box.column == at) for at in range(columns)]
    lefts, x = [], _EDGE
    for gutter in range(columns + 1):
        lefts.append(x)
        outer = gutter in (0, columns)
        wanted = _LANE * gutters.get(gutter, 0) + (_EDGE if gutters.get(gutter) else 0)
        x += wanted if outer else max(_GUTTER, wanted + _EDGE)
        if gutter < columns:
            x += widths[gutter]
    sides = [lefts[at + 1] - widths[at] for at in range(columns)]

    used: dict[tuple[int, int], int] = defaultdict(int)
    for box, side in ports:
        used[box, side] = len(ports[box, side])
    needed = [
        max(_BOX, 12 + 2 * _PORT * (max(used[at, 0], used[at, 1]) // 2)) for at in range(len(boxes))
    ]
    heights = [
        max((needed[at] for at, box in enumerate(boxes) if box.row == row), default=_BOX)
        for row in range(rows)
    ]
    tops, y = [], _HEAD
    for row in range(rows):
        y += (_GAP if row else 0) + _TRACK * tracks.get(row, 0)
        tops.append(y)
        y += heights[row]
    y += _TRACK * tracks.get(rows, 0) + (_GAP / 2 if tracks.get(rows) else 0)

    placed = [
        Placed(
            sides[box.column] + widths[box.column] / 2,
            tops[box.row] + heights[box.row] / 2,
            widths[box.column],
            needed[at],
        )
        for at, box in enumerate(boxes)
    ]
    bottoms = [tops[row] - _TRACK * tracks.get(row, 0) - _GAP / 2 for row in range(rows)]
    bottoms.append(y - _TRACK * tracks.get(rows, 0))
    routes = [
        _route(boxes, placed, ports, plan, number, lefts, bottoms)
        for number, plan in enumerate(plans)
    ]
    return Layout(
        width=x + _EDGE,
        height=y + _EDGE,
        centres=tuple(sides[at] + widths[at] / 2 for at in range(columns)),
        boxes=tuple(placed),
        routes=tuple(routes),
    )


def _below(boxes: Sequence[Box]) -> dict[int, int]:
    """The next box of the same column."""
    found = {}
    for at, box in enumerate(boxes):
        after = [
            (other.row, number)
            for number, other in enumerate(boxes)
            if other.column == box.column and other.row > box.row
        ]
        if after:
            found[at] = min(after)[1]
    return found


def _plan(boxes: Sequence[Box], edge: Edge, below: Mapping[int, int]) -> _Plan:
    source, target = boxes[edge.source], boxes[edge.target]
    if below.get(edge.source) == edge.target:
        return _Plan(edge, 0, 0, None, straight=True)
    if source.column == target.column:
        gutter = source.column if source.column == 0 else source.column + 1
        return _Plan(edge, gutter, gutter, None)
    right = source.column < target.column
    leave = source.column + 1 if right else source.column
    arrive = target.column if right else target.column + 1
    if leave == arrive:
        return _Plan(edge, leave, arrive, None)
    # above the lower one of the two rows, or below the first one if they are equal
    return _Plan(edge, leave, arrive, max(source.row, target.row, 1))


def _ports(
    boxes: Sequence[Box], plans: Sequence[_Plan]
) -> dict[tuple[int, int], list[tuple[int, bool]]]:
    """By box and side (0 is left): the ends of edges there from the top, as the edge's number and
    whether it leaves."""
    found: dict[tuple[int, int], list[tuple[int, bool]]] = defaultdict(list)
    for number, plan in enumerate(plans):
        if not plan.straight:
            source, target = plan.edge.source, plan.edge.target
            found[source, int(plan.leave > boxes[source].column)].append((number, True))
            found[target, int(plan.arrive > boxes[target].column)].append((number, False))

    def other(end: tuple[int, bool]) -> tuple[int, bool]:
        edge = plans[end[0]].edge
        return boxes[edge.target if end[1] else edge.source].row, end[1]

    for ends in found.values():
        ends.sort(key=other)
    return found


def _lanes(boxes: Sequence[Box], plans: Sequence[_Plan]) -> dict[int, int]:
    """Give each edge its lanes beside columns; returns how many lanes each gutter has."""
    segments: dict[int, list[tuple[int, int, int, int]]] = defaultdict(list)
    for number, plan in enumerate(plans):
        if plan.straight:
            continue
        source = 2 * boxes[plan.edge.source].row + 1
        target = 2 * boxes[plan.edge.target].row + 1
        if plan.track is None:
            low, high = sorted((source, target))
            segments[plan.leave].append((low, high, number, 0))
        else:
            crossing = 2 * plan.track
            for end, (gutter, row) in enumerate(((plan.leave, source), (plan.arrive, target))):
                segments[gutter].append((min(row, crossing), max(row, crossing), number, end))
    counts = {}
    for gutter, those in segments.items():
        lanes = _coloured([(low, high) for low, high, _, _ in those])
        for (_, _, number, end), lane in zip(those, lanes, strict=True):
            plan = plans[number]
            turned = max(lanes) - lane if gutter == 0 else lane
            one, other = plan.lanes
            plan.lanes = (turned, other) if end == 0 else (one, turned)
            if plan.track is None:
                plan.lanes = (turned, turned)
        counts[gutter] = 1 + max(lanes)
    return counts


def _tracks(plans: Sequence[_Plan]) -> dict[int, int]:
    """Give each edge across columns its lane between rows; returns how many each space has."""
    segments: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, plan in enumerate(plans):
        if plan.track is not None:
            low, high = sorted((plan.leave, plan.arrive))
            segments[plan.track].append((low, high, number))
    counts = {}
    for row, those in segments.items():
        lanes = _coloured([(low, high) for low, high, _ in those])
        for (_, _, number), lane in zip(those, lanes, strict=True):
            plans[number].track_lane = lane
        counts[row] = 1 + max(lanes)
    return counts


def _coloured(segments: Sequence[tuple[int, int]]) -> list[int]:
    """The least lane for each segment in which it meets no other, the short ones first."""
    lanes: list[list[tuple[int, int]]] = []
    found = [0] * len(segments)
    for at in sorted(range(len(segments)), key=lambda at: (segments[at][1] - segments[at][0], at)):
        low, high = segments[at]
        lane = next(
            (
                number
                for number, taken in enumerate(lanes)
                if all(high < start or end < low for start, end in taken)
            ),
            len(lanes),
        )
        if lane == len(lanes):
            lanes.append([])
        lanes[lane].append((low, high))
        found[at] = lane
    return found


def _route(
    boxes: Sequence[Box],
    placed: Sequence[Placed],
    ports: Mapping[tuple[int, int], list[tuple[int, bool]]],
    plan: _Plan,
    number: int,
    lefts: Sequence[float],
    spaces: Sequence[float],
) -> Route:
    source, target = plan.edge.source, plan.edge.target
    if plan.straight:
        box = placed[source]
        start = box.y + box.height / 2
        end = placed[target].y - placed[target].height / 2 - 2
        return Route(f"M {box.x:g} {start:g} V {end:g}", box.x + 8, (start + end) / 2 + 4, True)

    def port(box: int, gutter: int, leaves: bool) -> Point:
        side = int(gutter > boxes[box].column)
        ends = ports[box, side]
        at = placed[box]
        y = at.y + _PORT * (ends.index((number, leaves)) - len(ends) // 2)
        # edges of boxes that face each other never begin at one height
        return at.x + (at.width / 2 if side else -at.width / 2), y + _PORT * (0.25 - side / 2)

    def lane(gutter: int, which: int) -> float:
        return lefts[gutter] + _EDGE + _LANE * (which + 0.5) - (_EDGE if gutter == 0 else 0)

    if plan.track is None and _is_alone(boxes, ports, plan):
        here, there = placed[source], placed[target]
        side = 1 if plan.leave > boxes[source].column else -1
        start, end = here.x + side * here.width / 2, there.x - side * (there.width / 2 + 2)
        path = f"M {start:g} {here.y:g} L {end:g} {here.y:g}"
        return Route(path, start + side * 13, here.y - 6)  # not where lanes cross it

    first, last = port(source, plan.leave, True), port(target, plan.arrive, False)
    tip = last[0] + (2 if plan.arrive > boxes[target].column else -2)
    one = lane(plan.leave, plan.lanes[0])
    if plan.track is None:
        points = [first, (one, first[1]), (one, last[1]), (tip, last[1])]
        # in the middle, but between rows: an edge within a row may cross there
        rows = abs(boxes[source].row - boxes[target].row)
        part = 0.5 if rows % 2 else 0.5 - 0.5 / max(rows, 1)
        label = one, first[1] + part * (last[1] - first[1]) + 4
        if abs(first[1] - last[1]) < 16:  # too short to be labelled beside
            label = one, min(first[1], last[1]) - 5
    else:
        other = lane(plan.arrive, plan.lanes[1])
        y = spaces[plan.track] + _TRACK * (plan.track_lane + 0.5)
        points = [first, (one, first[1]), (one, y), (other, y), (other, last[1]), (tip, last[1])]
        label = one, (first[1] + y) / 2 + 4
    return Route(_rounded(points), *label)


def _is_alone(
    boxes: Sequence[Box], ports: Mapping[tuple[int, int], list[tuple[int, bool]]], plan: _Plan
) -> bool:
    """Whether an edge joins neighbours of one row that no other edge reaches from that side."""
    source, target = boxes[plan.edge.source], boxes[plan.edge.target]
    leaves = ports[plan.edge.source, int(plan.leave > source.column)]
    arrives = ports[plan.edge.target, int(plan.arrive > target.column)]
    return (
        source.row == target.row
        and source.column != target.column
        and len(leaves) == len(arrives) == 1
    )


def _rounded(points: Iterable[Point]) -> str:
    """A path along horizontal and vertical segments, with round corners."""
    corners: list[Point] = []
    for point in points:
        if not corners or abs(point[0] - corners[-1][0]) + abs(point[1] - corners[-1][1]) > 0.5:
            corners.append(point)
    path = f"M {_written(corners[0])}"
    for before, at, after in zip(corners, corners[1:], corners[2:], strict=False):
        enter = _towards(at, before)
        leave = _towards(at, after)
        path += f" L {_written(enter)} Q {_written(at)} {_written(leave)}"
    return f"{path} L {_written(corners[-1])}"


def _written(point: Point) -> str:
    return f"{point[0]:.5g} {point[1]:.5g}"


def _towards(at: Point, other: Point) -> Point:
    """The point at which a corner begins."""
    across, down = other[0] - at[0], other[1] - at[1]
    length = abs(across) + abs(down)
    part = min(_ROUND, length / 2) / length if length else 0
    return at[0] + across * part, at[1] + down * part
