"""A comparison of two campaigns or logs, as a page that consists of one file."""

from __future__ import annotations

from pathlib import Path

import msgspec

from weakspot.harness.judge.rate_differences import FACTOR, SIGNIFICANCE
from weakspot.harness.report.differences import KINDS, compared_text, missing_texts
from weakspot.harness.report.site.bars import Axis, Bar, axis
from weakspot.harness.report.site.writer import Templates
from weakspot.harness.values.difference import Comparison, Difference
from weakspot.harness.values.numbers import amount, percent
from weakspot.harness.values.rates import Rate, rate
from weakspot.system.files import disk

_STATES = 12  # states that are listed of a difference


class DifferenceView(msgspec.Struct, frozen=True):
    """A difference; two bars if it is one of rates."""

    difference: Difference
    bars: tuple[Bar, ...]


class Section(msgspec.Struct, frozen=True):
    """The differences of a kind, with the axis of their bars. `notes` are those that need not mean
    that anything changed."""

    kind: str
    title: str
    changed: tuple[DifferenceView, ...]
    notes: tuple[DifferenceView, ...]
    axis: Axis


def comparison_page(found: Comparison, templates: Templates) -> str:
    """The page."""
    changed = sum(each.weight != "note" for each in found.differences)
    number = amount(changed, "difference") if changed else "no difference"
    compared = compared_text(found)
    text = f"{number} in {compared}"
    sections = [_section(found, kind, title) for kind, (title, _) in KINDS.items()]
    sections.sort(key=lambda section: not section.changed)
    return templates.single(
        "comparison.html.j2",
        {
            "root": "",
            "found": found,
            "state": "bad" if changed else "good" if compared else "open",
            "summary": text if compared else "no question is answered by both",
            "sections": [each for each in sections if each.changed or each.notes],
            "missing": list(missing_texts(found, everything=False)),
            "most_states": _STATES,
            "level": percent(SIGNIFICANCE),
            "factor": f"{FACTOR:g}",
        },
    )


def write_comparison(found: Comparison, path: Path) -> None:
    """Write the page to a file. Raises WeakspotError if that is not possible."""
    text = comparison_page(found, Templates())
    with disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _section(found: Comparison, kind: str, title: str) -> Section:
    those = [each for each in found.differences if each.kind == kind]
    rates = [_rates(each) for each in those]
    scale = axis((one for pair in rates for one in pair), to_one=False)
    views = [
        DifferenceView(each, tuple(map(scale.bar, pair)))
        for each, pair in zip(those, rates, strict=True)
    ]
    return Section(
        kind,
        title,
        tuple(view for view in views if view.difference.weight != "note"),
        tuple(view for view in views if view.difference.weight == "note"),
        scale,
    )


def _rates(each: Difference) -> tuple[Rate, ...]:
    if each.hits is None or each.runs is None:
        return ()
    return tuple(rate(hits, runs) for hits, runs in zip(each.hits, each.runs, strict=True))
