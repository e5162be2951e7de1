"""Executions as files: pictures as those of the site, or graphs in Graphviz's language.

In: the answers of a Record. Out: one Graph per witness. In a .dot file there is one cluster per
thread and one labelled edge per pair; the colours of rf, co and fr are those of herd7's pictures,
and the edges of the cycle are drawn in one of their own.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.report.drawing import MEANINGS, Drawing, Edge, of_witness
from weakspot.harness.report.folding import folded
from weakspot.harness.report.witness import explanation, shortened
from weakspot.harness.values.record import Record
from weakspot.harness.values.witness import Witness
from weakspot.system.files import disk

_COLOURS = {"po": "black", "rf": "red", "co": "blue", "fr": "#ff8040", "race": "#c000c0"}
_CYCLE = "#008020"
MOST = 20
"""Pictures that are drawn at once; who asks for more has named a folder by mistake."""


class Graph(msgspec.Struct, frozen=True):
    """A witness to draw, and what it shows, in one line."""

    title: str
    witness: Witness

    @property
    def _drawing(self) -> Drawing:
        return of_witness(shortened(self.witness))

    @property
    def dot(self) -> str:
        """The graph in Graphviz's language."""
        return "\n".join(_lines(self.title, self._drawing)) + "\n"

    @property
    def svg(self) -> str:
        """The picture."""
        from weakspot.harness.report.site.diagrams import diagram
        from weakspot.harness.report.site.writer import Templates

        found = diagram(self._drawing, unfold=True)
        assert found is not None, "an execution without events"
        return Templates().picture(self.title, found)


def graphs(record: Record, *, unfold: bool = False) -> list[Graph]:
    """The witnesses of violations and of the tests that are not generated from programs; one that
    several models give is there once. Library calls are one event each unless `unfold`."""
    explored = {each.program.rpartition("/")[0] for each in record.explorations}
    found: dict[tuple[str, str, bytes], tuple[Witness, list[str]]] = {}

    def add(subject: str, shows: str, witness: Witness | None, model: str) -> None:
        if witness is not None and of_witness(witness).nodes:
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
    graphs."""
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
            text = graph.svg if name.suffix == ".svg" else graph.dot
            (Path(folder) / name.name).write_text(text, encoding="utf-8")
        for name in names:
            (Path(folder) / name.name).replace(name)
    return [(name, graph.title) for graph, name in zip(graphs, names, strict=True)]


def _lines(title: str, drawing: Drawing) -> Iterator[str]:
    rows = {at: row for at, (_, row) in drawing.places.items()}
    yield "digraph witness {"
    yield f"  label={_quoted(title)}; labelloc=t; fontname=monospace;"
    yield "  newrank=true; nodesep=0.6; ranksep=0.35;"
    yield "  node [shape=box, fontname=monospace]; edge [fontname=monospace];"
    for thread, (head, column) in enumerate(zip(drawing.heads, drawing.columns, strict=True)):
        yield f"  subgraph cluster_{thread} {{"
        yield f"    label={_quoted(head)};"
        yield f"    t{thread} [shape=point, style=invis];"
        for at in column:
            node = drawing.nodes[at]
            style = f", color={_quoted(_CYCLE)}, penwidth=2" if node.cycle else ""
            if node.kind == "wait":
                style = ", shape=plaintext"
            text = "\n".join((node.text, *node.notes))
            yield f"    e{at} [label={_quoted(text)}, group=g{thread}{style}];"
        yield f"    t{thread} -> e{column[0]} [style=invis, minlen={1 + rows[column[0]]}];"
        yield "  }"
    heads = [f"t{thread}" for thread in range(len(drawing.heads))]
    if len(heads) > 1:
        yield f"  {{ rank=same; {' -> '.join(heads)} [style=invis]; }}"
    for edge in drawing.edges:
        yield _edge(edge, rows[edge.target] - rows[edge.source])
    if drawing.edges:
        yield _legend(drawing)
        yield f"  e{max(rows, key=rows.__getitem__)} -> legend [style=invis];"
    yield "}"


def _legend(drawing: Drawing) -> str:
    """What the colours stand for, one per line."""
    lines = [
        f'<FONT COLOR="{_COLOURS[kind]}">{kind}</FONT> {MEANINGS[kind]}' for kind in drawing.kinds
    ]
    if any(edge.cycle for edge in drawing.edges):
        lines.append(f'<FONT COLOR="{_CYCLE}"><B>thick</B></FONT> the cycle')
    text = "".join(f'{line}<BR ALIGN="LEFT"/>' for line in lines)
    return f"  legend [shape=plaintext, label=<{text}>];"


def _edge(edge: Edge, length: int) -> str:
    colour = _quoted(_CYCLE if edge.cycle else _COLOURS[edge.kind])
    style = ", penwidth=2" if edge.cycle else ""
    if edge.kind == "race":
        style = ", dir=none, style=dashed, constraint=false"
    elif edge.kind != "po":
        style += ", constraint=false"
    elif length > 1:
        style += f", minlen={length}"
    ends = f"e{edge.source} -> e{edge.target}"
    return f"  {ends} [label={_quoted(edge.name)}, color={colour}, fontcolor={colour}{style}];"


def _quoted(text: str) -> str:
    """A string of Graphviz, whose text is exactly this one: a backslash begins an escape there."""
    plain = re.sub(r"[\x00-\x09\x0b-\x1f]", " ", text)
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
