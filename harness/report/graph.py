"""Executions as graphs in Graphviz's language: one cluster per thread, one labelled edge per pair.

In: the answers of a Record. Out: one Graph per witness, whose `dot` is the text of a .dot file. The
colours of rf, co and fr are those of herd7's pictures; the edges of the cycle are drawn in one of
their own. `cycle_edges` and `communication` say which edges diagrams of the site have, too.
"""

from __future__ import annotations

import itertools
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput, ToolFailed
from weakspot.harness.report.folding import folded
from weakspot.harness.report.witness import (
    events_of_threads,
    explanation,
    heading,
    places,
    shortened,
)
from weakspot.harness.values.descriptions import describe_event
from weakspot.harness.values.record import Record
from weakspot.harness.values.witness import Execution, Witness
from weakspot.system import tools
from weakspot.system.files import disk
from weakspot.system.process import run
from weakspot.system.tools import Program

DOT = Program(
    "dot",
    lost="pictures of executions (check --graph FILE.svg)",
    advice="install Graphviz (Debian, Ubuntu: graphviz), or write a .dot file, which needs nothing",
    version_option="-V",
)

_SECONDS = 60.0  # for one picture

_COLOURS = {"po": "black", "rf": "red", "co": "blue", "fr": "#ff8040", "race": "#c000c0"}
_CYCLE = "#008020"
MOST = 20
"""Pictures that are drawn at once; who asks for more has named a folder by mistake."""

Step = tuple[int, int, str]
"""An edge: two indices of a witness's events, and its name."""


class Graph(msgspec.Struct, frozen=True):
    """A witness to draw, and what it shows, in one line."""

    title: str
    witness: Witness

    @property
    def dot(self) -> str:
        """The graph in Graphviz's language."""
        return "\n".join(_lines(self.title, shortened(self.witness))) + "\n"


def graphs(record: Record, *, unfold: bool = False) -> list[Graph]:
    """The witnesses of violations and of the tests that are not generated from programs; one that
    several models give is there once. Library calls are one event each unless `unfold`."""
    explored = {each.program.rpartition("/")[0] for each in record.explorations}
    found: dict[tuple[str, str, bytes], tuple[Witness, list[str]]] = {}

    def add(subject: str, shows: str, witness: Witness | None, model: str) -> None:
        if witness is not None:
            witness = witness if unfold else folded(witness)[0]
            key = subject, shows, msgspec.json.encode(witness)
            found.setdefault(key, (witness, []))[1].append(model)

    for exploration in record.explorations:
        for each in exploration.violations:
            add(
                exploration.program, f"{each.kind}: {each.message}", each.witness, exploration.model
            )
    for verdict in record.verdicts:
        if not explored.intersection(record.entry[verdict.test].structures):
            shows = (explanation(verdict) or [""])[-1].rstrip(":")
            add(verdict.test, shows, verdict.witness, verdict.model)
    return [
        Graph(f"{subject} under {', '.join(models)}: {shows}", witness)
        for (subject, shows, _), (witness, models) in found.items()
    ]


def write_graphs(graphs: Sequence[Graph], path: Path) -> list[tuple[Path, str]]:
    """Write each graph to a .dot or .svg file, all of them or none: the path itself, or numbered
    ones if there are several. Returns the files and what they show. Raises BadInput for too many
    graphs, and ToolFailed."""
    if len(graphs) > MOST:
        raise BadInput(
            f"{len(graphs)} executions to draw, at most {MOST} are",
            advice="name one test or program, or choose a model with --model",
        )
    names = [path.with_stem(f"{path.stem}-{at}") for at in range(1, len(graphs) + 1)]
    if len(graphs) == 1:
        names = [path]
    with disk(path.parent), tempfile.TemporaryDirectory(dir=path.parent) as folder:
        for graph, name in zip(graphs, names, strict=True):
            _draw(graph, Path(folder) / name.name)
        for name in names:
            (Path(folder) / name.name).replace(name)
    return [(name, graph.title) for graph, name in zip(graphs, names, strict=True)]


def _draw(graph: Graph, file: Path) -> None:
    source = file.with_suffix(".dot")
    source.write_text(graph.dot, encoding="utf-8")
    if file.suffix == ".svg":
        ended = run(
            [tools.require(DOT).path, "-Tsvg", "-o", str(file), str(source)], seconds=_SECONDS
        )
        if ended.code or ended.timed_out:
            message = ended.err.strip().partition("\n")[0]
            raise ToolFailed(f"dot cannot draw {graph.title}: {message}")


def cycle_edges(witness: Witness, threads: Mapping[int, Sequence[int]]) -> set[Step]:
    """The cycle's edges, each po as the steps from an event to the next one."""
    found: set[Step] = set()
    for one, other, kind in witness.cycle:
        thread = witness.events[one].thread
        if kind == "po" and thread is not None and witness.events[other].thread == thread:
            chain = threads[thread]
            within = chain[chain.index(one) : chain.index(other) + 1]
            found |= {(above, below, "po") for above, below in itertools.pairwise(within)}
        else:
            found.add((one, other, kind))
    return found


def communication(witness: Witness, on_cycle: Iterable[Step]) -> list[tuple[str, int, int, bool]]:
    """The edges of rf, co and fr that are drawn, with whether they are on the cycle."""
    events = witness.events
    cycle = {(kind, one, other) for one, other, kind in on_cycle if kind != "po"}
    initial = {read for write, read in witness.rf if events[write].thread is None}
    found: dict[tuple[str, int, int], bool] = {}
    for kind, pairs in (("rf", witness.rf), ("co", witness.co), ("fr", witness.fr)):
        for one, other in pairs:
            first, second = events[one].thread, events[other].thread
            if first is None or second is None:
                continue
            key = kind, one, other
            if key in cycle or (first != second and (kind != "fr" or one in initial)):
                found[key] = key in cycle
    for key in cycle:
        if None not in (events[key[1]].thread, events[key[2]].thread):
            found.setdefault(key, True)
    return [(*key, cycle) for key, cycle in found.items()]


def _lines(title: str, witness: Witness) -> Iterator[str]:
    threads = events_of_threads(witness)
    on_cycle = cycle_edges(witness, threads)
    edges = communication(witness, on_cycle)
    yield "digraph witness {"
    yield f"  label={_quoted(title)}; labelloc=t; fontname=monospace;"
    yield "  newrank=true; nodesep=0.6; ranksep=0.35;"
    yield "  node [shape=box, fontname=monospace]; edge [fontname=monospace];"
    yield from _columns(witness, threads, on_cycle)
    rows = {number: row for number, (_, row) in places(witness).items()}
    for numbers in threads.values():
        for above, below in itertools.pairwise(numbers):
            length = rows[below] - rows[above]
            yield _edge("po", above, below, (above, below, "po") in on_cycle, length)
    for kind, one, other, cycle in edges:
        yield _edge(kind, one, other, cycle)
    if isinstance(witness, Execution):
        if witness.conflict is not None:
            yield _edge("race", *witness.conflict, False)
        for wait in witness.waits:
            text = f"waits at {wait.site} for {wait.what}, which never happens"
            yield f"  w{wait.thread} [label={_quoted(text)}, shape=plaintext];"
            if wait.thread in threads:
                yield f"  e{threads[wait.thread][-1]} -> w{wait.thread} [style=dashed];"
    drawn = {kind for kind, *_ in edges}
    if any(len(numbers) > 1 for numbers in threads.values()):
        drawn.add("po")
    if drawn:
        yield _legend(drawn, bool(on_cycle))
        yield f"  e{max(rows, key=rows.__getitem__)} -> legend [style=invis];"
    yield "}"


def _columns(
    witness: Witness, threads: Mapping[int, Sequence[int]], on_cycle: Iterable[Step]
) -> Iterator[str]:
    """The events, one column per thread from left to right: a read stands no higher than the write
    that it reads."""
    ends = {end for one, other, _ in on_cycle for end in (one, other)}
    rows = {number: row for number, (_, row) in places(witness).items()}
    initial = {read for write, read in witness.rf if witness.events[write].thread is None}
    for thread, numbers in threads.items():
        yield f"  subgraph cluster_{thread} {{"
        yield f"    label={_quoted(heading(witness, thread))};"
        yield f"    t{thread} [shape=point, style=invis];"
        for number in numbers:
            event = witness.events[number]
            lines = [f"{event.label}: {describe_event(event)}", event.site]
            lines.append("the initial value" if number in initial & _overtaken(witness) else "")
            colour = f", color={_quoted(_CYCLE)}, penwidth=2" if number in ends else ""
            text = "\n".join(filter(None, lines))
            yield f"    e{number} [label={_quoted(text)}, group=g{thread}{colour}];"
        yield f"    t{thread} -> e{numbers[0]} [style=invis, minlen={1 + rows[numbers[0]]}];"
        yield "  }"
    heads = [f"t{thread}" for thread in threads]
    if len(heads) > 1:
        yield f"  {{ rank=same; {' -> '.join(heads)} [style=invis]; }}"


_MEANINGS = {
    "po": "program order",
    "rf": "reads from",
    "co": "overwritten by",
    "fr": "reads before it is overwritten by",
}


def _legend(drawn: Collection[str], cycle: bool) -> str:
    """What the colours stand for, one per line."""
    lines = [
        f'<FONT COLOR="{_COLOURS[kind]}">{kind}</FONT> {meaning}'
        for kind, meaning in _MEANINGS.items()
        if kind in drawn
    ]
    if cycle:
        lines.append(f'<FONT COLOR="{_CYCLE}"><B>thick</B></FONT> the cycle')
    text = "".join(f'{line}<BR ALIGN="LEFT"/>' for line in lines)
    return f"  legend [shape=plaintext, label=<{text}>];"


def _overtaken(witness: Witness) -> set[int]:
    return {read for read, _ in witness.fr}


def _edge(kind: str, one: int, other: int, cycle: bool, length: int = 1) -> str:
    colour = _CYCLE if cycle else _COLOURS.get(kind, "black")
    more = ", penwidth=2" if cycle else ""
    if kind == "race":
        more = ", dir=none, style=dashed, constraint=false"
    elif kind != "po":
        more += ", constraint=false"
    elif length > 1:
        more += f", minlen={length}"
    quoted = _quoted(colour)
    return (
        f"  e{one} -> e{other} [label={_quoted(kind)}, color={quoted}, fontcolor={quoted}{more}];"
    )


def _quoted(text: str) -> str:
    """A string of Graphviz, whose text is exactly this one: a backslash begins an escape there."""
    plain = re.sub(r"[\x00-\x09\x0b-\x1f]", " ", text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
