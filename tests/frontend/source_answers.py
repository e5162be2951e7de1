"""What exploring a source finds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from weakspot.generators.source.program import read_program
from weakspot.harness.checkers.explorer import asked
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict


def explored(path: Path, text: str | None = None, model: str = "rc20") -> ExplorationDict:
    """The engine's answer about a file, which a text replaces first."""
    if text is not None:
        path.write_text(text)
    return asked(read_program(path), models.resolve(model), Bounds())


def kinds(path: Path, text: str | None = None, model: str = "rc20") -> str:
    """The kinds of violations, or Safe; exploring reaches no limit."""
    found = explored(path, text, model)
    assert not found["reasons"], found["reasons"]
    return ", ".join(sorted({each["kind"] for each in found["violations"]})) or "Safe"
