"""The scenarios that paths select, each with the configuration that is nearest to it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from weakspot.errors import BadInput
from weakspot.generators.source.language import manifest_of
from weakspot.harness.gate.config import SUFFIXES, Config, is_scenario, read, without_file
from weakspot.system import project_file

Selected = tuple[Config, tuple[str, ...]]
"""A project's configuration and the scenarios to check."""


def select(file: Path | None, paths: Sequence[Path], here: Path) -> tuple[Selected, ...]:
    """The configuration in `file`, or the nearest one of each path upwards, and the scenarios that
    the paths select. A path without one, and no path, has the nearest one from the folder `here`
    upwards. Raises BadInput if there are no scenarios."""
    file = file and here / file
    around = file or project_file.find(here)
    grouped: dict[Path | None, list[Path]] = {} if paths else {around: []}
    for path in paths:
        there = Path(os.path.normpath(here / path))
        nearest = file or project_file.find(there if there.is_dir() else there.parent)
        grouped.setdefault(nearest or around, []).append(path)
    return tuple(_selected(nearest, there, here) for nearest, there in grouped.items())


def _selected(file: Path | None, paths: Sequence[Path], here: Path) -> Selected:
    if file is None and not paths:
        raise BadInput(
            "no configuration file found and no PATH given",
            advice="weakspot init HEADER writes weakspot.toml and a first scenario; or give the "
            "paths of programs",
        )
    config = read(file) if file is not None else without_file(here)
    scenarios = chosen(config, paths)
    if not scenarios:
        raise BadInput(
            "no scenarios are configured",
            place=str(config.file),
            advice='add [gate] scenarios = ["tests/weakspot/*.cpp"]',
        )
    return config, scenarios


def chosen(config: Config, paths: Sequence[Path]) -> tuple[str, ...]:
    """The scenarios that `paths` select, relative to the configuration's folder.

    A file selects itself. A folder selects the configured scenarios below it, or, if there are
    none, the crate that it is of, or the litmus tests below it. Raises BadInput for a path that
    selects nothing.
    """
    if not paths:
        return config.scenarios
    found: dict[str, None] = {}
    for path in paths:
        name = Path(os.path.relpath(path.absolute(), config.root)).as_posix()
        if path.is_dir():
            below = [
                each for each in config.scenarios if name == "." or each.startswith(f"{name}/")
            ]
            if not below and (manifest := manifest_of(path)):
                below = [Path(os.path.relpath(manifest.absolute(), config.root)).as_posix()]
            if not below:
                below = [
                    Path(os.path.relpath(file.absolute(), config.root)).as_posix()
                    for file in sorted(path.rglob("*.litmus"))
                ]
            if not below:
                raise BadInput(
                    "no scenario in this folder",
                    place=str(path),
                    advice="name a folder with scenarios that weakspot.toml lists, with .litmus "
                    "files, or with a Cargo.toml",
                )
            found.update(dict.fromkeys(below))
        elif not path.is_file():
            raise BadInput(f"no such file: {path}", advice="check the path and the spelling")
        elif not is_scenario(path):
            raise BadInput(
                f"not a scenario: {path.name}",
                place=str(path),
                advice=f"expected a file name that ends in {', '.join(SUFFIXES)}",
            )
        else:
            found[name] = None
    return tuple(found)
