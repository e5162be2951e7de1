"""How to get the answers of a page again: the command, and the files that the answers stand in."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePath

import msgspec

from weakspot.harness.values.claims import Scenario
from weakspot.harness.values.record import Entry, Plan, Record, StructureInfo, program_name


class Reproduction(msgspec.Struct, frozen=True, kw_only=True):
    """A `command`, `where` it runs, and the files of the campaign with the same answers."""

    command: str
    where: str
    files: tuple[str, ...]


_STARTED = "in the folder where the campaign was started, with its compiler options"


def of_test(record: Record, entry: Entry, folder: Path) -> Reproduction:
    file = f"tests/{entry.file}"
    return Reproduction(
        command=_check(record.manifest.plan, [file], entry.models),
        where="in the folder of the campaign",
        files=_existing(folder, file, "verdicts.jsonl", "histograms.jsonl", "compiled.jsonl"),
    )


def of_program(
    record: Record, structure: StructureInfo, scenario: Scenario, folder: Path
) -> Reproduction:
    explored = record.explorations_of[program_name(structure.name, scenario.name)]
    return Reproduction(
        command=_check(
            record.manifest.plan, _what(record, structure), [each.model for each in explored]
        ),
        where="" if structure.recorded else _STARTED,
        files=_existing(folder, "explorations.jsonl", "runs.jsonl", "repairs.jsonl"),
    )


def of_structure(record: Record, structure: StructureInfo, folder: Path) -> Reproduction:
    return Reproduction(
        command=_check(record.manifest.plan, _what(record, structure), structure.models),
        where="" if structure.recorded else _STARTED,
        files=_existing(folder, "structures.json", "findings.jsonl", "explorations.jsonl"),
    )


def _check(plan: Plan, what: Iterable[str], models: Iterable[str]) -> str:
    """A user's model is named by its file, as the plan does."""
    given = {PurePath(each).stem: each for each in (*plan.models, *plan.machine_models)}
    names = ",".join(dict.fromkeys(given.get(each, each) for each in models))
    return shlex.join(["weakspot", "check", *what, *(("-m", names) if names else ())])


def _what(record: Record, structure: StructureInfo) -> Sequence[str]:
    """The structure, or the files of a user's program, as the plan names them; of a program from a
    folder all that the plan names."""
    names = {structure.name}
    for scenario in structure.scenarios if not structure.recorded else ():
        names.update(PurePath(each).name for each in (scenario.file, *scenario.sources))
    what = record.manifest.plan.what
    named = [each for each in what if PurePath(each).name in names]
    return named or ([structure.name] if structure.recorded else what)


def _existing(folder: Path, *files: str) -> tuple[str, ...]:
    """Those that the site stands beside: a report written elsewhere has no data beside it."""
    return tuple(each for each in files if (folder / each).is_file())
