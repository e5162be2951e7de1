"""C++ programs as text: compiled, traced, and what their threads do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from weakspot import _engine
from weakspot.generators.source.frontend import compile_source


def written(folder: Path, text: str, name: str = "program.cpp") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def traced(path: Path) -> tuple[_engine.Program, Any]:
    program = _engine.Program(compile_source(path).text)
    return program, program.trace()


def events(program: _engine.Program, trace: Any, name: str = "program.cpp") -> set[Any]:
    """What every thread but main does to shared locations, with the lines that say so."""
    return {
        (e["kind"], e["order"], e["loc"], program.sites[e["site"]]["line"])
        for run in trace["runs"]
        for thread in run["threads"][1:]
        for e in thread
        if program.sites[e["site"]]["file"] == name
    }
