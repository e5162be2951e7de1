"""Packages form layers: an import runs downward, and no two modules import each other in a cycle.

LAYERS lists the packages of DESIGN's layout from the top; a new package gets its line there.
"""

from __future__ import annotations

import ast
import graphlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: packages and modules below `weakspot`, from the top; a module belongs to its longest prefix
LAYERS = (
    "harness.pytest_plugin",
    "harness.cli",
    "api",
    "campaigns",
    "objects",
    "projects",
    "model_comparison",
    "questions",
    "answers",
    "harness.report",
    "harness.clients",
    "harness.scaffold",
    "harness.gate",
    "harness.orders",
    "harness.costs",
    "harness.campaign",
    "harness.judge",
    "harness.codegen",
    "harness.runners",
    "harness.checkers",
    "harness.machines",
    "harness.edits",
    "harness.corpus",
    "harness.values",
    "generators.binary",
    "generators",
    "generators.pipeline",
    "generators.cycles",
    "generators.emit",
    "generators.source",
    "generators.litmus",
    "system",
    "_engine",
    "",
    "errors",
)
#: data and package markers that hold no code
DATA = {"litmus", "models", "pages", "harness"}
FOLDERS = {"": "weakspot", "generators": "generators", "harness": "harness"}


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Every module by its dotted name below `weakspot`; a package by its own name."""
    found = {}
    for package, folder in FOLDERS.items():
        for path in sorted((root / folder).rglob("*.py")):
            inner = path.relative_to(root / folder).with_suffix("").parts
            parts = [part for part in (package, *inner) if part and part != "__init__"]
            found[".".join(parts)] = path
    return found


def layer_of(module: str) -> int:
    """The number of the module's layer, counted from the top; AssertionError if it has none."""
    fitting = [
        name for name in LAYERS if module == name or (name and module.startswith(f"{name}."))
    ]
    assert fitting, f"{module} has no layer: add its package to {Path(__file__).name}"
    return LAYERS.index(max(fitting, key=len))


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """The modules of weakspot that a file imports when it runs; type hints do not count."""
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


def upward(known: dict[str, Path]) -> list[str]:
    """Imports that lead to a higher layer."""
    return [
        f"{name} imports {other}, which is in a higher layer"
        for name, path in known.items()
        for other in sorted(imports(path, known) - DATA)
        if name not in DATA and layer_of(other) < layer_of(name)
    ]


def cycle(known: dict[str, Path]) -> list[str]:
    """A cycle of imports; empty if there is none. A package may name its own parts."""
    graph = {
        name: {other for other in imports(path, known) if not f"{other}.".startswith(f"{name}.")}
        for name, path in known.items()
    }
    try:
        tuple(graphlib.TopologicalSorter(graph).static_order())
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_an_import_runs_downward() -> None:
    assert upward(modules()) == []


def test_imports_make_no_cycle() -> None:
    assert cycle(modules()) == []


def test_no_module_of_the_product_is_called_like_a_test() -> None:
    names = (path.stem for path in modules().values())
    assert [name for name in names if name.startswith("test_") or name.endswith("_test")] == []


def test_the_documentation_says_which_promises_each_folder_of_tests_holds() -> None:
    text = (ROOT / "docs" / "development.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", text.partition("## Tests")[2], re.M)
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert set(listed[: len(folders)]) == folders


@pytest.fixture
def planted(tmp_path: Path) -> Path:
    """A tree with two modules of one package that import each other, one of which looks up."""
    package = tmp_path / "harness" / "values"
    package.mkdir(parents=True)
    (package / "a.py").write_text("from weakspot.harness.values import b\n")
    (package / "b.py").write_text(
        "from weakspot.harness.values import a\nfrom weakspot.harness.cli import c\n"
    )
    (tmp_path / "harness" / "cli").mkdir()
    (tmp_path / "harness" / "cli" / "c.py").write_text("")
    return tmp_path


def test_a_planted_cycle_is_found(planted: Path) -> None:
    assert set(cycle(modules(planted))) == {"harness.values.a", "harness.values.b"}


def test_a_planted_upward_import_is_found(planted: Path) -> None:
    (found,) = upward(modules(planted))
    assert found.startswith("harness.values.b imports harness.cli.c")
