"""Answers from a file: the log of herd7 or litmus7, or what `--json` printed.

Out: a Record with these answers and nothing else.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.campaign.folder import load
from weakspot.harness.values import herdlog
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import FORMAT, Manifest, Plan, Record
from weakspot.harness.values.verdict import Verdict
from weakspot.system.files import unreadable

_TYPES: dict[str, type[Any]] = {
    "verdicts": Verdict,
    "explorations": Exploration,
    "histograms": Histogram,
    "runs": ProgramRun,
    "findings": Finding,
}
_REQUIRED = {
    name: {each.name for each in msgspec.structs.fields(type_) if each.required}
    for name, type_ in _TYPES.items()
}


def read(path: Path) -> Record:
    """The answers of a campaign's folder or of a file. Raises BadInput, with the place, for a file
    that holds no answers or whose lines are damaged."""
    if path.is_dir():
        return load(path)
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise unreadable(path, error) from error
    except UnicodeDecodeError as error:
        raise _no_answers(path) from error
    answers = _json_lines(path, text) if text.lstrip().startswith("{") else _herd(path, text)
    manifest = Manifest(format=FORMAT, weakspot="", plan=Plan(what=(str(path),)), started="")
    return Record(manifest=manifest, **answers)


def _herd(path: Path, text: str) -> dict[str, Any]:
    log = herdlog.parse(text)
    if not log.begun:
        raise _no_answers(path)
    notes = []
    if missing := log.begun - len(log.verdicts) - len(log.histograms):
        notes.append(f"{path}: {missing} of {log.begun} tests in this log have no complete answer")
    return {"verdicts": log.verdicts, "histograms": log.histograms, "notes": tuple(notes)}


def _json_lines(path: Path, text: str) -> dict[str, Any]:
    found: dict[str, list[Any]] = {name: [] for name in _TYPES}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        place = f"{path}:{number}"
        try:
            value = msgspec.json.decode(line)
            keys = set(value) if isinstance(value, dict) else set()
            name = next((name for name, needed in _REQUIRED.items() if needed <= keys), None)
            if name is None:
                raise BadInput(
                    "not an answer",
                    place=place,
                    advice="expected what `check`, `run` or `test` print with --json",
                )
            found[name].append(msgspec.convert(value, _TYPES[name]))
        except (msgspec.DecodeError, msgspec.ValidationError) as error:
            raise BadInput(
                f"damaged: {error}", place=place, advice="remove the line, or run the command again"
            ) from error
    return {name: tuple(values) for name, values in found.items()}


def _no_answers(path: Path) -> BadInput:
    return BadInput(
        "no answers in this file",
        place=str(path),
        advice="expected a campaign's folder, a log of herd7 or litmus7, or what --json printed",
    )
