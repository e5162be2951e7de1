"""Which room may import which. An import runs downward, or stays on its floor without a circle.

The table is the plan of the house; a new module is put on its floor here before anything else.
"""

from __future__ import annotations

import ast
import graphlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

#: from the top; a name that ends with a dot is a folder and all that is in it
FLOORS = tuple(
    (title, tuple("" if name == "weakspot" else name for name in names.split()))
    for title, names in (
        ("what a person starts", "harness.cli. harness.pytest_plugin"),
        (
            "what commands share",
            "harness.edge harness.once harness.golden harness.listing harness.gate. "
            "harness.weakest",
        ),
        (
            "whole jobs",
            "harness.campaign harness.report. harness.relax harness.cost harness.relaxed "
            "harness.subjects",
        ),
        ("what a campaign is about", "harness.material"),
        (
            "those who decide, run, judge and keep",
            "harness.checkers. harness.runners. harness.judge harness.recorded harness.store "
            "harness.doctor harness.trials harness.repairs harness.rewrite harness.statements "
            "harness.compilers harness.compiled harness.operations harness.contests",
        ),
        (
            "words, logs, machines",
            "harness.findings harness.words harness.agreement harness.herdlog harness.herdhash "
            "harness.machines. harness.journal harness.record harness.condition "
            "harness.annotations harness.prices harness.strength harness.minimal "
            "harness.gate.outcome",
        ),
        ("the corpus and the models", "harness.structures harness.models"),
        (
            "programs that are started",
            "harness.process harness.tools harness.toml harness.stub",
        ),
        ("source to tests", "generators."),
        ("values", "generators.litmus harness.verdict"),
        ("the ground", "weakspot errors _engine litmus models pages harness generators"),
    )
)
ROOMS = {"": "engine/python", "generators.": "generators", "harness.": "harness"}


def modules() -> dict[str, Path]:
    """Every module of the package by its name below `weakspot`; a package by its own name and a
    dot."""
    found = {}
    for prefix, folder in ROOMS.items():
        base = ROOT / folder
        for path in sorted(base.rglob("*.py")):
            parts = [*prefix.split(".")[:1], *path.relative_to(base).with_suffix("").parts]
            name = ".".join(part for part in parts if part)
            found[name.removesuffix("__init__").rstrip(".")] = path
    return found


def floor_of(module: str) -> int | None:
    """The floor of a module, counted from the top: by its own name, else by its folder's."""
    for exact in (True, False):
        for number, (_, names) in enumerate(FLOORS):
            for name in names:
                whole = name.rstrip(".")
                if module == whole if exact else name.endswith(".") and module.startswith(name):
                    return number
    return None


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of weakspot that a file imports when it runs; hints for types do not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hints = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in hints:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: name the package in full"
            base = node.module or ""
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                is_module = inner.removeprefix("weakspot.") in known or alias.name == "_engine"
                found.add(inner if is_module else base)
    ours = {name for name in found if name == "weakspot" or name.startswith("weakspot.")}
    return {name.removeprefix("weakspot").lstrip(".") for name in ours}


def test_every_module_has_its_floor() -> None:
    homeless = [name for name in modules() if floor_of(name) is None]
    assert not homeless, f"put these on a floor in {Path(__file__).name}: {homeless}"


def test_an_import_runs_downward() -> None:
    known = modules()
    upward = []
    for name, path in known.items():
        for other in sorted(imports(path, known)):
            here, there = floor_of(name), floor_of(other)
            assert here is not None, name
            assert there is not None, f"{name} imports {other}, which has no floor"
            if there < here:
                upward.append(f"{name} ({FLOORS[here][0]}) imports {other} ({FLOORS[there][0]})")
    assert not upward, "\n".join(upward)


def test_imports_make_no_circle() -> None:
    known = modules()
    graph = {
        # a package may name its own parts, which know the package
        name: {other for other in imports(path, known) if not f"{other}.".startswith(f"{name}.")}
        for name, path in known.items()
    }
    try:
        tuple(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        raise AssertionError(f"a circle: {' -> '.join(error.args[1])}") from error
