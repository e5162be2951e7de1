"""What machines showed: by shape, and by the memory orders of tests that are else alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from weakspot.harness.report.site.bars import Axis, Bar, axis, target_rate
from weakspot.harness.report.site.data import SiteData
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.rates import Rate, rate
from weakspot.harness.values.record import Entry, Record, unique


class Run(msgspec.Struct, frozen=True):
    """Where tests ran and what counted them: a column of tables."""

    machine: str
    runner: str
    emulated: bool


class ShapeCell(msgspec.Struct, frozen=True, kw_only=True):
    """How many of the tests of a shape were observed in a run, and the highest of their rates.
    `contradicting` counts those that a model forbids that applies to the machine."""

    observed: int
    ran: int
    contradicting: int
    bar: Bar | None


class ShapeRow(msgspec.Struct, frozen=True):
    """A shape, the number of its tests, and a cell per run."""

    shape: str
    tests: int
    cells: tuple[ShapeCell | None, ...]


class ShapeTable(msgspec.Struct, frozen=True):
    """Which shapes each machine showed."""

    runs: tuple[Run, ...]
    rows: tuple[ShapeRow, ...]
    axis: Axis


class Variant(msgspec.Struct, frozen=True):
    """A test of a family, or a weaker variant of a test, with a bar per run; `page` is empty for
    one that has no page."""

    name: str
    page: str
    bars: tuple[Bar | None, ...]
    this: bool = False


class Family(msgspec.Struct, frozen=True):
    """Tests that differ in memory orders and fences only."""

    title: str
    runs: tuple[Run, ...]
    variants: tuple[Variant, ...]
    axis: Axis


def runs_of(histograms: Iterable[Histogram]) -> tuple[Run, ...]:
    """Every machine and runner, in order of first occurrence."""
    found = {(each.machine, each.runner): each.emulated for each in histograms}
    return tuple(Run(*key, emulated) for key, emulated in found.items())


def shape_table(site: SiteData, entries: Sequence[Entry]) -> ShapeTable | None:
    """The table of the shapes of these tests; None if none of them ran."""
    record = site.record
    given = {entry.name: record.histograms_of.get(entry.name, ()) for entry in entries}
    histograms = [each for those in given.values() for each in those if each.iterations]
    if not histograms:
        return None
    runs = runs_of(histograms)
    shapes: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        shapes[entry.test.shape or "other"].append(entry)
    scale = axis(filter(None, map(target_rate, histograms)))
    rows = [
        ShapeRow(
            shape,
            len(those),
            tuple(
                _cell(site, [each for one in those for each in given[one.name]], run, scale)
                for run in runs
            ),
        )
        for shape, those in shapes.items()
    ]
    return ShapeTable(runs, tuple(sorted(rows, key=_rank)), scale)


def _rank(row: ShapeRow) -> tuple[int, int, str]:
    return -sum(cell.observed for cell in row.cells if cell), -row.tests, row.shape


def _cell(
    site: SiteData, histograms: Iterable[Histogram], run: Run, scale: Axis
) -> ShapeCell | None:
    here = [
        each
        for each in histograms
        if (each.machine, each.runner) == (run.machine, run.runner) and each.iterations
    ]
    if not here:
        return None
    observed = [each for each in here if each.target]
    rates = [(found, each) for each in observed if (found := target_rate(each)) is not None]
    highest = max(rates, key=lambda pair: pair[0].value, default=None)
    return ShapeCell(
        observed=len(observed),
        ran=len(here),
        contradicting=sum(is_contradicting(site, each) for each in observed),
        bar=scale.bar(highest[0], is_forbidden=is_contradicting(site, highest[1]))
        if highest
        else None,
    )


def families(site: SiteData, structure: str) -> tuple[Family, ...]:
    """Tests of one shape between the same operations of a structure, if several of them ran and at
    least one was observed: what each memory order costs in visibility."""
    found: defaultdict[tuple[str, tuple[str, ...]], list[Entry]] = defaultdict(list)
    for entry in site.record.tests_of(structure):
        for operations in _operations(entry, structure):
            found[entry.test.shape, operations].append(entry)
    made = []
    for (shape, operations), those in found.items():
        histograms = [each for one in those for each in site.record.histograms_of.get(one.name, ())]
        ran = {each.test for each in histograms if each.iterations}
        if len(ran) > 1 and any(each.target for each in histograms):
            chosen = [entry for entry in those if entry.name in ran]
            title = f"{shape}: {' ∥ '.join(operations)}"
            made.append(_family(site, title, chosen, histograms))
    return tuple(made)


def _operations(entry: Entry, structure: str) -> tuple[tuple[str, ...], ...]:
    """The operations of the structure that the threads of a test come from, once each."""
    origins = (origin for origin in entry.test.origins if origin.structure == structure)
    return tuple(dict.fromkeys(tuple(sorted(origin.operations)) for origin in origins))


def _family(
    site: SiteData, title: str, entries: Sequence[Entry], histograms: Sequence[Histogram]
) -> Family:
    runs = runs_of(each for each in histograms if each.iterations)
    scale = axis(filter(None, map(target_rate, histograms)))
    variants = [
        Variant(
            entry.name,
            site.pages[entry.name],
            tuple(_bar_of(site, entry.name, run, scale) for run in runs),
        )
        for entry in entries
    ]
    variants.sort(key=lambda each: (-_highest(each), each.name))
    return Family(title, runs, tuple(variants), scale)


def _highest(variant: Variant) -> float:
    return max((each.rate.value for each in variant.bars if each), default=0.0)


def _bar_of(site: SiteData, test: str, run: Run, scale: Axis) -> Bar | None:
    for each in site.record.histograms_of.get(test, ()):
        if (each.machine, each.runner) == (run.machine, run.runner):
            found = target_rate(each)
            if found is None:
                return None
            return scale.bar(found, is_forbidden=is_contradicting(site, each))
    return None


def is_contradicting(site: SiteData, histogram: Histogram) -> bool:
    """Whether the outcome was observed although a model that applies forbids it."""
    return bool(histogram.target) and (histogram.test, histogram.machine) in site.contradicted


def weaker_variants(site: SiteData, record: Record, entry: Entry) -> Family | None:
    """The test and its weaker variants, as they ran with it; None without such variants."""
    given = [each for each in record.histograms_of.get(entry.name, ()) if each.iterations]
    ran = [each for each in given if any(c.kind == "weaker" for c in each.control_tests)]
    if not ran:
        return None
    changes = unique(
        control.change for each in ran for control in each.control_tests if control.kind == "weaker"
    )
    rates: dict[str, list[Rate | None]] = {
        change: [
            next(
                (
                    rate(control.target, control.iterations, control.target_independent)
                    for control in each.control_tests
                    if control.change == change and control.iterations
                ),
                None,
            )
            for each in ran
        ]
        for change in changes
    }
    own = [target_rate(each) for each in ran]
    scale = axis(each for those in (own, *rates.values()) for each in those if each)
    first = Variant(
        "this test",
        "",
        tuple(
            scale.bar(each, is_forbidden=is_contradicting(site, histogram)) if each else None
            for each, histogram in zip(own, ran, strict=True)
        ),
        this=True,
    )
    others = (
        Variant(change, "", tuple(scale.bar(each) if each else None for each in those))
        for change, those in rates.items()
    )
    return Family("", runs_of(ran), (first, *others), scale)
