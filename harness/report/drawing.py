"""An execution to draw: one column of nodes per thread, named edges, and which are on the cycle.

In: a witness, or a test that was generated from a critical cycle. Out: a Drawing, which `graph`
writes in Graphviz's language and `site.diagrams` lays out as SVG.

The cycle of a test is the execution that its condition asks for: program order down each thread,
and reads-from, from-reads or coherence from one thread to the next (Alglave, Maranget, Tautschnig,
Herding cats, TOPLAS 2014).

A witness shows what its other edges do not imply: program order from each event to the next, edges
within a thread only on the cycle, and fr besides the cycle only from reads of initial values, as
that from other reads follows from rf and co.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import msgspec

from weakspot.generators.litmus import Cas, Fence, Guard, Load, Rmw, Statement, Store, Test
from weakspot.harness.report.witness import events_of_threads, heading, layers, reads_initial
from weakspot.harness.values.descriptions import describe_event
from weakspot.harness.values.witness import Execution, Witness

MEANINGS = {
    "po": "program order",
    "rf": "reads from",
    "co": "overwritten by",
    "fr": "reads before it is overwritten by",
    "race": "not ordered by happens-before",
}
"""The kinds of edges, in the order of legends."""

_FOLDED, _SMALL = 3, 14  # events that are folded at least, and executions that are not
_COMMUNICATION = {"Rfe": "rf", "Fre": "fr", "Coe": "co", "Wse": "co"}


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """An event, a wait for ever, or folded events, whose texts are in `title`. `site` is its
    `file:line`, if known; `initial`: it reads the initial value."""

    text: str
    kind: str = "access"  # fence, wait, folded
    site: str = ""
    initial: bool = False
    cycle: bool = False
    title: str = ""

    @property
    def notes(self) -> list[str]:
        """What stands below the text."""
        return [*filter(None, (self.site, "the initial value" if self.initial else ""))]


class Edge(msgspec.Struct, frozen=True):
    """An edge between two nodes, which are named by their indices."""

    kind: str
    name: str
    source: int
    target: int
    cycle: bool


class Drawing(msgspec.Struct, frozen=True):
    """`heads` are the names of the columns, from the left; `folded` counts the events that are not
    drawn one by one."""

    heads: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    folded: int = 0

    @property
    def places(self) -> dict[int, tuple[int, int]]:
        """Column and row of each node; a read stands no higher than the write that it reads."""
        reads = [(each.source, each.target) for each in self.edges if each.kind == "rf"]
        return layers(self.columns, reads)

    @property
    def kinds(self) -> list[str]:
        """The kinds of edges, for the legend."""
        return [kind for kind in MEANINGS if any(edge.kind == kind for edge in self.edges)]

    def fold(self) -> Drawing:
        """The same with events that only program order leads to as one node, if it is large."""
        if len(self.nodes) <= _SMALL:
            return self
        ends = {
            end for each in self.edges if each.kind != "po" for end in (each.source, each.target)
        }
        nodes: list[Node] = []
        columns: list[list[int]] = []
        number: dict[int, int] = {}
        folded = 0
        for column in self.columns:
            columns.append([])
            for plain, run in itertools.groupby(
                column, lambda at: at not in ends and self.nodes[at].kind != "wait"
            ):
                events = list(run)
                groups = [events] if plain and len(events) >= _FOLDED else [[at] for at in events]
                for group in groups:
                    number |= dict.fromkeys(group, len(nodes))
                    columns[-1].append(len(nodes))
                    nodes.append(_folded([self.nodes[at] for at in group]))
                    folded += len(group) if len(group) > 1 else 0
        edges = [
            msgspec.structs.replace(each, source=number[each.source], target=number[each.target])
            for each in self.edges
            if number[each.source] != number[each.target]
        ]
        return Drawing(self.heads, tuple(map(tuple, columns)), tuple(nodes), tuple(edges), folded)


def _folded(nodes: Sequence[Node]) -> Node:
    if len(nodes) == 1:
        return nodes[0]
    return Node(
        text=f"… {len(nodes)} events",
        kind="folded",
        title="\n".join(" ".join((each.text, *each.notes)) for each in nodes),
        cycle=all(each.cycle for each in nodes),
    )


def of_witness(witness: Witness) -> Drawing:
    """The drawing of a witness. Initial writes are not drawn."""
    threads = events_of_threads(witness)
    number = {at: each for each, at in enumerate(itertools.chain(*threads.values()))}
    steps = _cycle(witness, threads)
    on_cycle = {end for _, one, other in steps for end in (one, other)}
    nodes = [
        Node(
            text=f"{event.label}: {describe_event(event)}",
            kind="fence" if event.kind == "F" else "access",
            site=event.site,
            initial=reads_initial(witness, at),
            cycle=at in on_cycle,
        )
        for at in number
        for event in [witness.events[at]]
    ]
    columns = {thread: [number[at] for at in events] for thread, events in threads.items()}
    pairs = [("po", *pair) for events in threads.values() for pair in itertools.pairwise(events)]
    pairs += _communication(witness, steps)
    edges = [
        Edge(kind, kind, number[one], number[other], (kind, one, other) in steps)
        for kind, one, other in pairs
    ]
    if isinstance(witness, Execution):
        if witness.conflict is not None:
            one, other = witness.conflict
            edges.append(Edge("race", "race", number[one], number[other], False))
        for wait in witness.waits:
            column = columns.setdefault(wait.thread, [])
            if column:
                edges.append(Edge("po", "", column[-1], len(nodes), False))
            column.append(len(nodes))
            text = f"waits forever for {wait.what}"
            nodes.append(Node(text=text, kind="wait", site=wait.site))
    return Drawing(
        heads=tuple(heading(witness, thread) for thread in sorted(columns)),
        columns=tuple(tuple(columns[thread]) for thread in sorted(columns)),
        nodes=tuple(nodes),
        edges=tuple(edges),
    )


_Step = tuple[str, int, int]  # an edge: its kind, and two indices of a witness's events


def _cycle(witness: Witness, threads: dict[int, list[int]]) -> set[_Step]:
    """The cycle's edges, each po as the steps from an event to the next one."""
    steps: set[_Step] = set()
    for one, other, kind in witness.cycle:
        thread = witness.events[one].thread
        if kind == "po" and thread is not None and witness.events[other].thread == thread:
            events = threads[thread]
            passed = events[events.index(one) : events.index(other) + 1]
            steps |= {("po", *pair) for pair in itertools.pairwise(passed)}
        else:
            steps.add((kind, one, other))
    return steps


def _communication(witness: Witness, steps: set[_Step]) -> list[_Step]:
    """The edges of rf, co and fr that are drawn, and others of the cycle than po."""
    thread = [event.thread for event in witness.events]
    initial = {read for write, read in witness.rf if thread[write] is None}
    found = dict.fromkeys(
        (kind, one, other)
        for kind, pairs in (("rf", witness.rf), ("co", witness.co), ("fr", witness.fr))
        for one, other in pairs
        if (kind, one, other) in steps
        or (thread[one] != thread[other] and (kind != "fr" or one in initial))
    )
    found |= dict.fromkeys(step for step in sorted(steps) if step[0] != "po")
    return [each for each in found if None not in (thread[each[1]], thread[each[2]])]


def of_cycle(test: Test) -> Drawing | None:
    """The drawing of a test's cycle, None for a test that was not generated from one."""
    if test.body is None:
        return None
    words, kinds = _split(test.cycle)
    threads = [
        [statement for statement in thread if not isinstance(statement, Guard)]
        for thread in test.body.threads
    ]
    if len(kinds) != len(threads) or not all(threads):
        return None
    nodes: list[Node] = []
    columns: list[list[int]] = []
    accesses: list[list[int]] = []
    edges: list[Edge] = []
    for thread, inner in zip(threads, words, strict=False):
        columns.append([*range(len(nodes), len(nodes) + len(thread))])
        nodes += [
            Node(
                text=_text(statement),
                kind="fence" if isinstance(statement, Fence) else "access",
                cycle=True,
            )
            for statement in thread
        ]
        accesses.append([at for at in columns[-1] if nodes[at].kind != "fence"])
        # a read-modify-write in the cycle is one access here and an edge in the cycle's notation
        known = inner if len(inner) == len(accesses[-1]) - 1 else []
        names = {
            pair: _NAMES.get(word[:3], "po")
            for pair, word in zip(itertools.pairwise(accesses[-1]), known, strict=False)
        }
        for above, below in itertools.pairwise(columns[-1]):
            name = names.get((above, below), "po")
            edges.append(Edge(_KINDS.get(name, "po"), name, above, below, True))
    for number, kind in enumerate(kinds):
        target = accesses[(number + 1) % len(accesses)][0]
        edges.append(Edge(kind, kind, accesses[number][-1], target, True))
    heads = tuple(f"P{at}" for at in range(len(columns)))
    return Drawing(heads, tuple(map(tuple, columns)), tuple(nodes), tuple(edges))


_NAMES = {"Rfi": "rfi", "Coi": "coi", "Wsi": "coi", "DpC": "ctrl", "DpD": "data", "DpA": "addr"}
_KINDS = {"rfi": "rf", "coi": "co"}


def _split(cycle: str) -> tuple[list[list[str]], list[str]]:
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


def _text(statement: Statement) -> str:
    match statement:
        case Load(reg, loc, order):
            return f"{reg} = {loc} ({order})"
        case Store(loc, value, order):
            return f"{loc} = {value} ({order})"
        case Rmw(reg, loc, op, operand, order):
            return f"{reg} = {op.removeprefix('fetch.')}({loc}, {operand}) ({order})"
        case Cas(reg, loc, expected, desired, success, _, _):
            return f"{reg} = cas({loc}, {expected}→{desired}) ({success})"
        case Fence(order):
            return f"fence ({order})"
        case Guard():
            return ""
