"""The tables of tests: rows that a page contains, and the same rows as data that table.js filters.

The data of ten thousand tests has to stay below 2 MB: names of structures, origins, scenarios and
rows of answers are written once and referred to by number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from weakspot.harness.report.site.data import SiteData
from weakspot.harness.report.site.observations import Run, runs_of
from weakspot.harness.values.agreement import agreed_observation, conclusive, contradicts
from weakspot.harness.values.descriptions import describe_origin
from weakspot.harness.values.numbers import rounded
from weakspot.harness.values.record import Entry, Record
from weakspot.harness.values.verdict import Verdict

PAGE = 100
"""How many rows are shown at once."""

ANSWERS = {
    "N": "Never",
    "S": "Sometimes",
    "A": "Always",
    "U": "Undefined",
    "?": "Unknown",
    "!": "disagree",
    "-": "",
}
"""The answers of models, by the letter that stands for them in the data."""

_LETTERS = {answer: letter for letter, answer in ANSWERS.items()}
_K = TypeVar("_K", bound=Hashable)


class Seen(msgspec.Struct, frozen=True):
    """A run of a test: which one, how often the outcome was observed, in how many iterations."""

    run: int
    target: int
    iterations: int


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A test in the table. `letters` has one answer per model. `marks` are f (observed and
    forbidden), c (claimed), d (checkers disagree)."""

    name: str
    page: str
    shape: str
    structures: tuple[str, ...]
    where: str
    scenarios: str
    letters: str
    seen: tuple[Seen, ...]
    marks: str

    @property
    def answers(self) -> list[str]:
        return [ANSWERS[letter] for letter in self.letters]


class TestTable(msgspec.Struct, frozen=True, kw_only=True):
    """Tests that are listed together."""

    __test__ = False

    models: tuple[str, ...]
    runs: tuple[Run, ...]
    rows: tuple[Row, ...]
    data: str  # the name of the file with the data
    lists: tuple[str, ...] = ()  # the pages with the rows after the first PAGE

    @property
    def shapes(self) -> list[tuple[str, int]]:
        """The shapes and how many tests have each, the most frequent first."""
        return _counted(row.shape for row in self.rows)

    @property
    def structures(self) -> list[tuple[str, int]]:
        return _counted(each for row in self.rows for each in row.structures)

    @property
    def choices(self) -> list[tuple[str, str, str, list[tuple[str, str]]]]:
        """What rows are selected by: a name, its title, the text for all rows, and the values, each
        with its text."""
        letters = {letter for row in self.rows for letter in row.letters}
        marks = {mark for row in self.rows for mark in row.marks}
        answers = [answer for letter, answer in ANSWERS.items() if letter in letters and answer]
        machines = dict.fromkeys(run.machine for run in self.runs)
        runners = dict.fromkeys(run.runner for run in self.runs)
        seen = [("yes", "observed"), ("no", "not observed"), ("not-run", "not run")]
        if "f" in marks:
            seen.insert(1, ("forbidden", "observed and forbidden"))
        known = [("c", "claimed tests"), ("d", "checkers disagree")]
        found = [
            ("structure", "structure", "every structure", _options(self.structures)),
            ("shape", "shape", "every shape", _options(self.shapes)),
            ("answer", "verdict", "every verdict", _same(answers)),
            ("model", "under", "any model", _same(self.models)),
            ("machine", "machine", "every machine", _same(machines)),
            ("runner", "runner", "every runner", _same(runners)),
            ("seen", "observed", "any", seen if self.runs else []),
            ("mark", "only", "all", [each for each in known if each[0] in marks]),
        ]
        # a mark distinguishes the rows that have it from the others, another value does not
        return [each for each in found if len(each[3]) > (each[0] != "mark")]

    def label(self, run: int) -> str:
        """The run as the table names it: as shortly as it is unambiguous."""
        return run_label(self.runs[run], self.runs)

    def observed(self, row: Row) -> list[str]:
        """`local 4,021 of 1.2·10⁷`, one text per run that showed the outcome."""
        several = len(self.runs) > 1
        return [
            f"{f'{self.label(each.run)} ' if several else ''}{each.target:,} of "
            f"{rounded(each.iterations)}"
            for each in row.seen
            if each.target
        ]

    def missing(self, row: Row) -> list[str]:
        """The other runs: where the outcome was not observed, and where the test did not run."""
        texts = []
        for what, ran in (("not observed", True), ("not run", False)):
            those = [each for each in row.seen if not each.target and bool(each.iterations) is ran]
            total = sum(each.iterations for each in those)
            of = f" in {rounded(total)}" if total else ""
            names = [self.label(each.run) for each in those]
            shown = f"{len(those)} runs" if len(those) > 2 else ", ".join(names)
            if those:
                every = len(those) == len(row.seen)
                texts.append(f"{what}{of}" if every else f"{what}{of}: {shown}")
        return texts

    def encoded(self) -> dict[str, Any]:
        """The data of table.js."""
        structures = [name for name, _ in self.structures]
        shapes = [shape for shape, _ in self.shapes]
        wheres, scenarios, answers = _Numbers[str](), _Numbers[str](), _Numbers[str]()
        number = {name: at for at, name in enumerate(structures)}
        tests = [
            [
                row.name,
                0 if row.page == f"{row.name}.html" else row.page,
                shapes.index(row.shape),
                [number[name] for name in row.structures],
                wheres[row.where],
                scenarios[row.scenarios],
                answers[row.letters],
                [part for each in row.seen for part in (each.run, each.target, each.iterations)],
                row.marks,
            ]
            for row in self.rows
        ]
        return {
            "page": PAGE,
            "models": self.models,
            "runs": [[run.machine, run.runner] for run in self.runs],
            "labels": [self.label(at) for at in range(len(self.runs))],
            "structures": structures,
            "shapes": shapes,
            "wheres": wheres.names,
            "scenarios": scenarios.names,
            "answers": answers.names,
            "tests": tests,
        }


class _Numbers(dict[_K, int]):
    """A number for each distinct key, in order of first use."""

    def __missing__(self, key: _K) -> int:
        self[key] = len(self)
        return self[key]

    @property
    def names(self) -> list[_K]:
        return list(self)


def run_label(run: Run, among: Sequence[Run]) -> str:
    """The machine; with the runner if there are several runners."""
    several = len({each.runner for each in among}) > 1
    return f"{run.machine} {run.runner}" if several else run.machine


def _options(counted: Sequence[tuple[str, int]]) -> list[tuple[str, str]]:
    return [(name, f"{name} ({count:,})") for name, count in counted if name]


def _same(names: Iterable[str]) -> list[tuple[str, str]]:
    return [(name, name) for name in names]


def _counted(names: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(names).items(), key=lambda pair: (-pair[1], pair[0]))


def table_of(
    site: SiteData, entries: Sequence[Entry], models: Sequence[str], data: str, structure: str = ""
) -> TestTable:
    """The table of these tests; its data is written to the file `data`.

    Tests that contradict a model come first, then claimed and observed ones.
    """
    record = site.record
    histograms = [each for entry in entries for each in record.histograms_of.get(entry.name, ())]
    runs = runs_of(histograms)
    numbers = {(run.machine, run.runner): at for at, run in enumerate(runs)}
    ordered = sorted(entries, key=lambda entry: _order(site, entry))
    return TestTable(
        models=tuple(models),
        runs=runs,
        rows=tuple(_row(site, entry, models, numbers, structure) for entry in ordered),
        data=data,
        lists=tuple(
            f"{data.removesuffix('.js')}-{page}.html"
            for page in range(2, 2 + (len(entries) - 1) // PAGE)
        ),
    )


def _row(
    site: SiteData,
    entry: Entry,
    models: Sequence[str],
    numbers: dict[tuple[str, str], int],
    structure: str,
) -> Row:
    letters = "".join(_letter(site.record, entry, model) for model in models)
    marks = (
        ("f", entry.name in site.contradicting),
        ("c", entry.name in site.claimed),
        ("d", "!" in letters),
    )
    scenarios = dict.fromkeys(origin.scenario for origin in entry.test.origins)
    return Row(
        name=entry.name,
        page=site.pages[entry.name],
        shape=entry.test.shape,
        structures=entry.structures,
        where=describe_origin(entry, structure),
        scenarios=" ".join(scenarios),
        letters=letters,
        seen=tuple(
            Seen(numbers[each.machine, each.runner], each.target, each.iterations)
            for each in site.record.histograms_of.get(entry.name, ())
        ),
        marks="".join(mark for mark, holds in marks if holds),
    )


def _order(site: SiteData, entry: Entry) -> tuple[bool, bool, bool, str]:
    seen = any(each.target for each in site.record.histograms_of.get(entry.name, ()))
    return (
        entry.name not in site.contradicting,
        entry.name not in site.claimed,
        not seen,
        entry.name,
    )


def _letter(record: Record, entry: Entry, model: str) -> str:
    verdicts = record.verdicts_of.get((entry.name, model))
    if not verdicts:
        return "-"
    if clash(verdicts):
        return "!"
    return _LETTERS[agreed_observation(record, entry.name, model) or "Unknown"]


def clash(verdicts: Sequence[Verdict]) -> bool:
    """Whether any two of the verdicts contradict each other."""
    decided = conclusive(verdicts)
    return any(contradicts(decided[0], other) for other in decided[1:]) if decided else False
