"""What weakspot answers to an Expectation, and how the two compare."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

import msgspec

import weakspot
from peers.expectations import Expectation
from weakspot import Bounds, Build, Verdict, WeakspotError
from weakspot.generators.litmus import found_test
from weakspot.harness.values.exploration import Exploration
from weakspot.system import herdtools

KINDS = ("equal", "explained", "different", "unread", "unknown")
"""How an answer compares: explained is a difference that the file beside this module explains."""


@dataclass(frozen=True)
class Comparison:
    """An Expectation, weakspot's answer in the same words, and how they compare: one of KINDS.
    `why` says why a test is not read, what ended an exploration, or what explains a difference."""

    expected: Expectation
    answer: str
    kind: str
    why: str = ""


class Explanation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why weakspot gives `answer` to tests: those whose names match one of the patterns. `under` is
    a cat file of herd7's library, under which weakspot answers as the peer does."""

    tests: tuple[str, ...]
    answer: str
    because: str
    model: str = ""
    under: str = ""

    def applies(self, found: Expectation, answer: str) -> bool:
        """Whether it explains this answer."""
        return (
            self.answer == answer
            and self.model in ("", found.model)
            and any(fnmatchcase(found.name, pattern) for pattern in self.tests)
        )


class Explanations:
    """The Explanations of a file with tables [[different]], and those that were used."""

    def __init__(self, file: Path) -> None:
        self.all: list[Explanation] = []
        if file.is_file():
            tables = tomllib.loads(file.read_text(encoding="utf-8"))["different"]
            self.all = msgspec.convert(tables, list[Explanation])
        self.used: set[Explanation] = set()

    def of(self, expected: Expectation, answer: str, seconds: float) -> str:
        """The explanation, empty if there is none."""
        for each in self.all:
            if each.applies(expected, answer) and self._holds(each, expected, seconds):
                self.used.add(each)
                return each.because
        return ""

    def _holds(self, explanation: Explanation, expected: Expectation, seconds: float) -> bool:
        if not explanation.under:
            return True
        library = herdtools.libdir()
        if library is None:
            return False
        ((_, answer, _),) = _verdicts(str(library / explanation.under), [expected], seconds)
        return answer == expected.answer

    @property
    def unused(self) -> list[str]:
        """Explanations of nothing that differs."""
        return [each.because for each in self.all if each not in self.used]


@dataclass
class Table:
    """The comparisons, counted by suite and model."""

    counts: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)

    def add(self, found: Comparison) -> None:
        """Count a comparison."""
        row = (found.expected.suite, found.expected.model)
        self.counts.setdefault(row, Counter())[found.kind] += 1

    def __str__(self) -> str:
        """Rows of Markdown."""
        lines = [f"| suite | model | tests | {' | '.join(KINDS)} |"]
        lines += [f"|---|---|{'---:|' * (len(KINDS) + 1)}"]
        for (suite, model), counts in self.counts.items():
            cells = [suite, model, str(counts.total()), *(str(counts[each]) for each in KINDS)]
            lines.append(f"| {' | '.join(cells)} |")
        return "\n".join(lines)


def compare(
    expected: Iterable[Expectation], explanations: Explanations, seconds: float, jobs: int
) -> Iterator[Comparison]:
    """The comparisons, each as soon as it is known. `seconds` limits each answer."""
    tests: list[Expectation] = []
    programs: list[Expectation] = []
    for each in expected:
        (tests if each.file.suffix == ".litmus" else programs).append(each)
    for one, answer, why in _answers(tests, programs, seconds, jobs):
        if one.answer in answer.split(" or "):
            yield Comparison(one, answer, "equal")
        elif because := explanations.of(one, answer, seconds):
            yield Comparison(one, answer, "explained", because)
        else:
            kind = answer if answer in ("unread", "unknown") else "different"
            yield Comparison(one, answer, kind, why)


Answer = tuple[Expectation, str, str]
"""An expectation, the answer, and why it is none."""


def _answers(
    tests: Sequence[Expectation], programs: Sequence[Expectation], seconds: float, jobs: int
) -> Iterator[Answer]:
    for model, group in groupby(
        sorted(tests, key=lambda each: each.model), lambda each: each.model
    ):
        yield from _verdicts(model, list(group), seconds)
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(_explored, programs, [seconds] * len(programs), chunksize=8)


def _verdicts(model: str, expected: Sequence[Expectation], seconds: float) -> Iterator[Answer]:
    by_name = {}
    tests = []
    for each in expected:
        test = found_test(each.file, each.file.parent)
        if test.unread:
            yield each, "unread", test.unread
            continue
        by_name[each.name] = each
        tests.append(msgspec.structs.replace(test, name=each.name))
    for verdict in weakspot.check(tests, models=[model], checker="engine", seconds=seconds):
        assert isinstance(verdict, Verdict)
        one = by_name[verdict.test]
        if verdict.unread:
            yield one, "unread", verdict.unread
        elif verdict.observation == "Undefined":
            yield one, "undefined", ", ".join(verdict.flags)
        elif verdict.condition_holds is None:
            yield one, "unknown", verdict.reason
        else:
            yield one, "Ok" if verdict.condition_holds else "No", ""


def _explored(expected: Expectation, seconds: float) -> Answer:
    bounds = Bounds(seconds=seconds, loops=expected.loops or 0)
    try:
        (found,) = weakspot.explore(
            str(expected.file),
            models=[expected.model],
            bounds=bounds,
            build=Build(flags=expected.flags),
        )
    except WeakspotError as error:
        return expected, "unread", str(error).splitlines()[0]
    if expected.answer.isdecimal():
        return _counted(expected, found)
    if found.violations:
        return expected, "violated", ""
    if found.result == "Unknown":
        return expected, "unknown", "; ".join(found.reasons)
    return expected, "safe", ""


def _counted(expected: Expectation, found: Exploration) -> Answer:
    """The number of executions: of those that were visited, or also of those that symmetry leaves
    out, which a peer counts without its own reduction."""
    if found.violations:
        return expected, "violated", "; ".join(each.message for each in found.violations)
    limits = [each for each in found.reasons if "a loop iterates more than" not in each]
    if found.result == "Unknown" and limits:
        return expected, "unknown", "; ".join(found.reasons)
    visited, represented = str(found.complete), str(found.represented or found.complete)
    both = visited if visited == represented else f"{visited} or {represented}"
    return expected, both, ""
