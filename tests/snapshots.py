"""Output as snapshots: what a run prints, without what differs from one run or machine to another.

A test compares `steady(output)` with its snapshot in `__snapshots__` beside it:

    def test_unknown_structure_gets_a_suggestion(run, snapshot):
        assert steady(run("gen", "store_bufering").err) == snapshot

`pytest --snapshot-update` promotes what is printed now; snapshots are never edited by hand. Facts
that programs rely on (exit codes, JSON, files) stay assertions.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from weakspot import __version__

ROOT = Path(__file__).resolve().parents[1]

#: what differs from run to run, and what stands for it
_UNSTEADY = (
    (re.compile(r"\b\d+(?:\.\d+)? (?:s|ms|ns|min)\b"), "<time>"),
    (re.compile(r"^(Time \S+) \d+\.\d+$", re.MULTILINE), r"\1 <time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[T -]\d\d:?\d\d(?::?\d\d)?(?:[+-]\d{4})?)?\b"), "<date>"),
    (re.compile(rf"\bweakspot {re.escape(__version__)}"), "weakspot <version>"),
    (re.compile(r"\b(clang|gcc|zig)-\d+(?:\.\d+)*"), r"\1-<version>"),
)

#: a number that was measured, in the forms in which reports print it
_FIGURE = re.compile(r"(?<![\w.:])[-+×]?(?:(?:\d[\d,.]*·)?10[⁰¹²³⁴⁵⁶⁷⁸⁹]+|\d[\d,.]*%?)(?![\w:=])")


def steady(text: str, *folders: Path) -> str:
    """The text with names in place of times, dates, versions and absolute paths.

    `folders` are the test's own, replaced by <folder>, <folder 2> and so on.
    """
    names = {str(each): f"<folder{f' {n}' if n > 1 else ''}>" for n, each in enumerate(folders, 1)}
    names |= {sys.prefix: "<prefix>", str(ROOT): "<weakspot>"}
    for path in sorted(names, key=len, reverse=True):
        text = text.replace(path, names[path])
    for pattern, name in _UNSTEADY:
        text = pattern.sub(name, text)
    return text


def without_figures(text: str, *folders: Path) -> str:
    """The same without measured numbers and the widths of columns that depend on them."""
    return re.sub(r"[ █▉▊▋▌▍▎▏]{2,}", "  ", _FIGURE.sub("<n>", steady(text, *folders)))
