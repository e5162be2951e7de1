"""The source of a structure, with what is known about every atomic operation.

Everything comes from answers that the campaign stores: repairs name memory orders that are too
weak, claims.toml records the weakest ones that suffice and why no weaker one does, and prices what
each costs. A line with an atomic operation that no answer is about is marked as such.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

import msgspec

from weakspot.harness.report.site.data import SiteData
from weakspot.harness.report.site.pages import Page
from weakspot.harness.report.site.writer import SiteWriter
from weakspot.harness.values.claims import WeakestOrder
from weakspot.harness.values.record import AnnotationCosts, StructureInfo

Kind = Literal["weak", "needed", "strong", "weakest", "open"]

TITLES: dict[Kind, tuple[str, str]] = {
    "weak": ("▲", "too weak"),
    "needed": ("●", "needed"),
    "strong": ("▽", "stronger than needed"),
    "weakest": ("○", "sufficient, and no order is weaker"),
    "open": ("◌", "no answer"),
}
"""The sign of each kind and its name, for the legend."""

_ATOMIC = re.compile(
    r"\b(atomic_(?!int\b|bool\b|uint|ptr|size_t|flag\b)\w+|__atomic_\w+)\s*\(|memory_order_\w+"
)


class Mark(msgspec.Struct, frozen=True):
    """What is known about an operation on a line."""

    kind: Kind
    text: str


class MarkedLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of source, with its marks, its costs and the number of tests that have a site on it;
    `is_contradicting` is set if one of them was observed although a model forbids it."""

    number: int
    text: str
    marks: tuple[Mark, ...] = ()
    costs: tuple[str, ...] = ()
    tests: int = 0
    is_contradicting: bool = False

    @property
    def kind(self) -> Kind | Literal[""]:
        """The most important of the marks."""
        kinds = {mark.kind for mark in self.marks}
        return next((kind for kind in TITLES if kind in kinds), "")


class MarkedFile(msgspec.Struct, frozen=True):
    """A source file; `anchor` begins the names of its lines."""

    file: str
    anchor: str
    lines: tuple[MarkedLine, ...]


class SourceView(msgspec.Struct, frozen=True):
    """The files of a structure, and the lines that have a mark of each kind: as `queue.h:16`, with
    the name of their place on the page."""

    files: tuple[MarkedFile, ...]
    marked: dict[Kind, list[tuple[str, str]]]

    @property
    def has_plain(self) -> bool:
        """Whether a line without a mark has a site of a test."""
        return any(line.tests and not line.marks for line in self._lines())

    @property
    def has_contradicting(self) -> bool:
        """Whether a line's test was observed although a model forbids it."""
        return any(line.is_contradicting for line in self._lines())

    def _lines(self) -> Iterator[MarkedLine]:
        return (line for file in self.files for line in file.lines)


def write(writer: SiteWriter) -> None:
    """Write the page of each structure that has sources."""
    for structure in writer.site.record.structures:
        view = source_view(writer.site, structure)
        page = writer.site.structures[structure.name]
        if view.files:
            writer.write(
                f"report/sources/{page}",
                "source.html.j2",
                structure=structure,
                page=page,
                view=view,
                titles=TITLES,
            )


def source_view(site: SiteData, structure: StructureInfo) -> SourceView:
    record = site.record
    tests: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
    atomic: set[tuple[str, int]] = set()  # lines with a site that has a memory order
    for entry in record.tests_of(structure.name):
        for origin in entry.test.origins:
            if origin.structure == structure.name:
                for each in (each for sites in origin.sites for each in sites):
                    tests[each.file, each.line].add(entry.name)
                    if each.order not in ("", "na") and each.kind not in ("lock", "unlock"):
                        atomic.add((each.file, each.line))
    marks = _marks(site, structure)
    costs: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for price in structure.prices:
        costs[_line(price.at)].append(_cost(price))
    files = tuple(
        MarkedFile(
            source.file,
            site.anchors[structure.name, source.file],
            tuple(
                MarkedLine(
                    number=number,
                    text=text,
                    marks=_of_line(marks.get(at := (source.file, number), []), text, at in atomic),
                    costs=tuple(costs.get(at, ())),
                    tests=len(tests.get(at, ())),
                    is_contradicting=bool(site.contradicting & tests.get(at, set())),
                )
                for number, text in enumerate(source.text.splitlines(), 1)
            ),
        )
        for source in record.sources
        if source.structure == structure.name
    )
    files = tuple(sorted(files, key=lambda file: -sum(bool(line.marks) for line in file.lines)))
    marked: dict[Kind, list[tuple[str, str]]] = {kind: [] for kind in TITLES}
    for file in files:
        for line in file.lines:
            if line.kind:
                place = f"{file.file}:{line.number}", f"{file.anchor}{line.number}"
                marked[line.kind].append(place)
    return SourceView(files, {kind: places for kind, places in marked.items() if places})


def _marks(site: SiteData, structure: StructureInfo) -> dict[tuple[str, int], list[Mark]]:
    found: defaultdict[tuple[str, int], list[Mark]] = defaultdict(list)
    for repair in site.record.repairs:
        if repair.program.partition("/")[0] == structure.name:
            for need in repair.changes:
                text = f"needs {need.order}, in scenario {repair.program.partition('/')[2]}"
                found[_line(need.at)].append(Mark("weak", text))
    for finding in site.record.findings:
        if finding.id == "WS301":
            for each in finding.sites:
                found[_line(each)].append(Mark("strong", finding.message))
    for table in structure.weakest:
        for order in table.orders:
            found[_line(order.at)].append(_weakest(order, table.model))
    return found


def _weakest(each: WeakestOrder, model: str) -> Mark:
    what = f"{each.operation} in {each.function}"
    own = [why for order, why in zip(each.weakest, each.why, strict=True) if order == each.written]
    reasons = "; ".join(dict.fromkeys(filter(None, own or each.why)))
    if own:
        if not reasons:
            return Mark(
                "weakest", f"{what}: {each.written} suffices under {model}, the weakest of all"
            )
        return Mark("needed", f"{what}: {each.written} is needed under {model} ({reasons})")
    because = f"; weaker: {reasons}" if reasons else ""
    weakest = " or ".join(dict.fromkeys(each.weakest))
    return Mark("strong", f"{what}: {each.written}, {weakest} suffices under {model}{because}")


def _of_line(marks: list[Mark], text: str, has_test: bool) -> tuple[Mark, ...]:
    if marks:
        return tuple(dict.fromkeys(marks))
    if has_test:
        return (Mark("open", "whether a weaker memory order suffices is not recorded"),)
    if _ATOMIC.search(text) and not text.lstrip().startswith(("#", "//", "*", "/*")):
        return (Mark("open", "no test or recorded answer is about this operation"),)
    return ()


def _cost(price: AnnotationCosts) -> str:
    orders = ", ".join(
        f"{order} {f'+{ns:.1f} ns' if ns else '0'}" for order, ns in price.ns.items()
    )
    return f"{price.operation} in {price.function} costs {orders}; {price.written} is written"


def _line(at: str) -> tuple[str, int]:
    """`queue.h:15:3` or `queue.h:15` as file and line."""
    parts = at.split(":")
    while len(parts) > 2 and parts[-2].isdigit():
        parts.pop()
    return ":".join(parts[:-1]), int(parts[-1]) if parts[-1].isdigit() else 0


PAGE = Page("source", 2, "sources", write)
