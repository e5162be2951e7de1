"""The findings of the last runs, stored per scenario for `weakspot explain`.

One file per scenario, so that runs of parts of a project, also at the same time, leave what is
stored for other scenarios as it is.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from weakspot.harness.gate.outcome import GateOutcome, ReportedFinding
from weakspot.harness.gate.store import FOLDER, project_folder
from weakspot.harness.values.record import unique
from weakspot.system import cache
from weakspot.system.project_file import find

_FINDINGS = "findings"


class _Scenario(msgspec.Struct, frozen=True):
    findings: tuple[ReportedFinding, ...]


def store_findings(root: Path, outcome: GateOutcome) -> None:
    """Replace what is stored for the scenarios of this run."""
    place = project_folder(root) / _FINDINGS
    for file in unique(each.file for each in outcome.scenarios):
        path = place / f"{cache.digest(file)}.json"
        found = _Scenario(tuple(each for each in outcome.findings if each.scenario == file))
        if cache.read(path, _Scenario) != found:
            cache.write(path, found)


def stored_findings(start: Path) -> GateOutcome:
    """What is stored in the project that `start` is in, as if one run had reported it."""
    file = find(start)
    root = file.parent if file is not None else start
    paths = sorted((root / FOLDER / _FINDINGS).glob("*.json"))
    stored = [cache.read(path, _Scenario) for path in paths]
    findings = tuple(each for one in stored if one is not None for each in one.findings)
    return GateOutcome(below=".", scenarios=(), findings=findings)
