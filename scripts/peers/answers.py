"""What weakspot answers to an Expectation, and how the two compare."""

from __future__ import annotations

import dataclasses
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
from weakspot import Bounds, Build, Part, Verdict, WeakspotError
from weakspot.generators.litmus import found_test
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
    a cat file beside the explanations, or of herd7's library, under which weakspot answers as the
    peer does."""

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
        self.folder = file.parent
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
        folders = filter(None, (self.folder, herdtools.libdir()))
        files = (folder / explanation.under for folder in folders)
        model = next((str(file) for file in files if file.is_file()), None)
        if model is None:
            return False
        under = dataclasses.replace(expected, model=model)
        if expected.is_test:
            ((_, answer, _),) = _verdicts(model, [under], seconds)
        else:
            _, answer, _ = _explored(under, seconds)
        return expected.answer in answer.split(" or ")

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
        (tests if each.is_test else programs).append(each)
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
    """What weakspot answers for a program. Of a number of executions that is not the expected one,
    also the number without its reduction by symmetry, which peers apply only where asked."""
    answer, why = _explores(expected, seconds, Part())
    if answer.isdecimal() and answer != expected.answer:
        every, why = _explores(expected, seconds, Part(without=("symmetry", "elements")))
        if not every.isdecimal():
            return expected, every, why
        if every != answer:
            answer = f"{answer} or {every}"
    return expected, answer, why


def _explores(expected: Expectation, seconds: float, part: Part) -> tuple[str, str]:
    """The answer and why it is none, or what is violated."""
    try:
        (found,) = weakspot.explore(
            str(expected.file),
            models=[expected.model],
            bounds=Bounds(seconds=seconds, loops=expected.loops or 0),
            part=part,
            build=Build(flags=expected.flags),
        )
    except WeakspotError as error:
        return "unread", str(error).splitlines()[0]
    reported = [each for each in found.violations if each.kind not in expected.unreported]
    if reported:
        return "violated", "; ".join(each.message for each in reported)
    ended = found.evidence is not None and found.evidence.exhausted
    bounds = {"loops"} if expected.loops else set()
    if expected.answer.isdecimal() and ended and bounds.issuperset(found.limits):
        # a peer counts an execution that reaches its bound on loops as one that ends
        return str(found.complete + found.truncated), ""
    known = found.result != "Unknown" or not (found.limits or found.executions)
    if ended and known and not expected.answer.isdecimal():
        return "safe", ""
    return "unknown", "; ".join(found.reasons)
