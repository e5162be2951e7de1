"""What the last runs told of each scenario, for `weakspot explain`: a file a scenario, so that
runs of parts of a project, side by side too, leave what is known of the others."""

from __future__ import annotations

from pathlib import Path

import msgspec

from weakspot.harness.gate.outcome import Outcome, Told
from weakspot.harness.gate.where import find
from weakspot.harness.gate.work import FOLDER, folder
from weakspot.harness.values.record import unique
from weakspot.system import cache

_TOLD = "told"


class _Scenario(msgspec.Struct, frozen=True):
    told: tuple[Told, ...]


def remember(root: Path, outcome: Outcome) -> None:
    place = folder(root) / _TOLD
    for file in unique(each.file for each in outcome.scenarios):
        path = place / f"{cache.digest(file)}.json"
        told = _Scenario(tuple(each for each in outcome.told if each.scenario == file))
        if cache.read(path, _Scenario) != told:
            cache.write(path, told)


def remembered(start: Path) -> Outcome:
    """What is remembered in the project of that folder, as if one run had told it."""
    file = find(start)
    root = file.parent if file is not None else start
    found = [cache.read(path, _Scenario) for path in sorted((root / FOLDER / _TOLD).glob("*.json"))]
    told = tuple(each for scenario in found if scenario is not None for each in scenario.told)
    return Outcome(below=".", scenarios=(), told=told)
