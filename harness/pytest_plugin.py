"""pytest collects the gate's scenarios: one item a scenario, and a failure shows the execution.

Without a configuration that names scenarios, and without --weakspot, which collects every .litmus
file, nothing happens, and nothing of weakspot is imported.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from weakspot.harness.gate.config import Config


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("weakspot").addoption(
        "--weakspot",
        action="store_true",
        help="collect .litmus files too that no configuration names",
    )


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".py":
        return None
    config = _config(file_path.parent)
    everything = parent.config.getoption("--weakspot") and file_path.suffix == ".litmus"
    if config is None and not everything:
        return None
    if config is None:
        from weakspot.harness.gate.config import without_file

        config = without_file(parent.config.rootpath)
    name = Path(os.path.relpath(file_path, config.root)).as_posix()
    if name not in config.scenarios and not everything:
        return None
    return ScenarioFile.from_parent(parent, path=file_path, config_of_gate=config, scenario=name)


@lru_cache
def _config(folder: Path) -> Config | None:
    """The configuration that the folder's files are under, where it names scenarios."""
    from weakspot.system import project_file

    file = project_file.find(folder)
    found = _read(file) if file is not None else None
    return found if found is not None and found.scenarios else None


@lru_cache
def _read(file: Path) -> Config:
    from weakspot.errors import WeakspotError
    from weakspot.harness.gate import config

    try:
        return config.read(file)
    except WeakspotError as error:
        raise pytest.UsageError(str(error)) from error


class ScenarioFile(pytest.File):
    """A file of one scenario."""

    def __init__(self, *, config_of_gate: Config, scenario: str, **rest: Any) -> None:
        super().__init__(**rest)
        self.gate, self.scenario = config_of_gate, scenario

    def collect(self) -> Iterable[pytest.Item]:
        yield ScenarioItem.from_parent(self, name="gate")


class ScenarioItem(pytest.Item):
    """A scenario, under all its models."""

    def runtest(self) -> None:
        from weakspot.harness.gate.run import run

        assert isinstance(self.parent, ScenarioFile)
        outcome = run(self.parent.gate, [self.parent.scenario])
        if outcome.exit_code:
            from weakspot.harness.report.gate import plain

            shown = [
                plain(each, outcome.alike(each)) for each in outcome.failing if not each.is_repeat
            ]
            undecided = [f"undecided: {text}" for text in outcome.undecided]
            pytest.fail("\n\n".join([*shown, *undecided]), pytrace=False)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        from weakspot.errors import WeakspotError

        if isinstance(excinfo.value, WeakspotError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        assert isinstance(self.parent, ScenarioFile)
        return self.path, 0, f"weakspot gate {self.parent.scenario}"
