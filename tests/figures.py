"""The figures of agreement: how many answers of the engine were compared with herd7's, and how
many are equal, a row for each dialect and cat file. Printed at the end of a test run; with
--figures FILE written there as JSON too, one object per row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

PROPERTY = "agreement"
"""The reports of tests carry a row under this name: from xdist's workers as well."""


@dataclass(frozen=True)
class Row:
    """What was compared under one cat file, and how many answers are equal in which part."""

    dialect: str
    model: str
    material: str  # suite, sample of the suite, hand-written
    tests: int
    states: int
    observation: int
    flags: int
    different: tuple[str, ...]


Keep = Callable[[Row], None]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--figures", type=Path, metavar="FILE", help="write the figures of agreement here, as JSON"
    )


@pytest.fixture
def figures(record_property: Callable[[str, object], None]) -> Keep:
    """Keeps a row for the end of the run."""
    return lambda row: record_property(PROPERTY, asdict(row))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    rows = sorted(
        of_reports(
            report
            for reports in terminalreporter.stats.values()
            for report in reports
            if isinstance(report, pytest.TestReport) and report.when == "call"
        ),
        key=lambda row: (row.material, row.dialect, row.model),
    )
    if rows:
        terminalreporter.section("engine and herd7")
        for line in table(rows):
            terminalreporter.write_line(line)
    file: Path | None = config.getoption("--figures")
    if file is not None:
        file.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")


def of_reports(reports: Iterable[pytest.TestReport]) -> Iterator[Row]:
    for report in reports:
        for name, value in report.user_properties:
            if name == PROPERTY and isinstance(value, dict):
                yield Row(**{**value, "different": tuple(value["different"])})


def table(rows: Iterable[Row]) -> list[str]:
    """The rows and their sum as aligned text."""
    rows = list(rows)
    numbers = [
        (row.tests, row.states, row.observation, row.flags, len(row.different)) for row in rows
    ]
    sums = [sum(column) for column in zip(*numbers, strict=True)]
    head = ("material", "dialect", "model", "tests", "states", "observation", "flags", "different")
    cells = [
        head,
        *(
            (row.material, row.dialect, row.model, *map(str, figures))
            for row, figures in zip(rows, numbers, strict=True)
        ),
        ("all", "", "", *map(str, sums)),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if i < 3 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in cells
    ]
