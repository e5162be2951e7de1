"""A wheel, installed into an environment of its own, is all of weakspot and needs no clone."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from tracked import tracked
from wheels import ROOT, extension, try_in_empty_home

DATA = {
    "weakspot/generators/emit/templates": (ROOT / "generators" / "emit" / "templates", ("*.j2",)),
    "weakspot/generators/source/headers": (ROOT / "generators" / "source" / "headers", ("*",)),
    "weakspot/generators/source/library": (ROOT / "generators" / "source" / "library", ("*",)),
    "weakspot/generators/source/loom": (ROOT / "generators" / "source" / "loom", ("*",)),
    "weakspot/cmake": (ROOT / "weakspot" / "cmake", ("*.cmake",)),
    "weakspot/litmus": (ROOT / "litmus", ("*.c", "*.h", "*.toml", "*.litmus")),
    "weakspot/pages": (ROOT / "docs" / "findings", ("*.md",)),
    "weakspot/models": (ROOT / "models", ("*.cat", "*.toml")),
    "weakspot/harness/runners": (ROOT / "harness" / "runners", ("*.c",)),
    "weakspot/harness/report/site": (
        ROOT / "harness" / "report" / "site",
        ("*.j2", "*.css", "*.js"),
    ),
}


NOT_ISOLATED = "--no-build-isolation"


def run(*command: str | Path, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of the files that belong to the project, built where nothing else lies about. Only
    the engine is compiled where it is: what scripts/test has compiled is not compiled again."""
    if shutil.which("cargo") is None or subprocess.run(["rustc", "--version"]).returncode != 0:
        pytest.skip("there is no Rust that starts (scripts/test finds it)")
    folder = tmp_path_factory.mktemp("wheel")
    copy = folder / "source"
    for name in tracked():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name, follow_symlinks=False)
    project = (copy / "pyproject.toml").read_text(encoding="utf-8")
    assert 'path = "engine/' in project
    project = project.replace('path = "engine/', f'path = "{ROOT}/engine/')
    (copy / "pyproject.toml").write_text(project, encoding="utf-8")
    # what scripts/test sets up can build without network; other environments fetch the builders
    isolated = [] if importlib.util.find_spec("setuptools_rust") is None else [NOT_ISOLATED]
    run(
        *(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", *isolated),
        *("--wheel-dir", folder, copy),
        cwd=folder,
    )
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def weakspot(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program of an environment with the wheel in it. What weakspot depends on comes from
    the environment of the tests; weakspot itself does not."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, symlinks=True)
    paths = {"base": str(folder), "platbase": str(folder)}
    packages = Path(sysconfig.get_path("purelib", vars=paths))
    others = sysconfig.get_path("purelib")
    (packages / "dependencies.pth").write_text(f"{others}\n")  # its own .pth files do not count
    run(
        *(sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install"),
        *("--quiet", "--no-deps", "--no-index", "--ignore-installed", wheel),
        cwd=folder,
    )
    return folder / "bin" / "weakspot"


def test_a_wheel_serves_every_python_from_the_oldest_on(wheel: Path) -> None:
    assert "-cp311-abi3-" in wheel.name


def test_a_wheels_engine_needs_the_stable_part_of_python_only(wheel: Path) -> None:
    """What abi3audit checks of released wheels, as far as names show it: nothing private."""
    engine = extension(wheel)
    allowed = {
        "_Py_Dealloc",
        "_Py_IncRef",
        "_Py_DecRef",
        "_Py_NoneStruct",
        "_Py_TrueStruct",
        "_Py_FalseStruct",
    }
    assert {each for each in engine.python if each.startswith("_Py")} <= allowed
    assert engine.python


def test_a_wheel_holds_the_corpus_the_models_and_the_templates(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    for prefix, (folder, patterns) in DATA.items():
        wanted = {
            f"{prefix}/{path.relative_to(folder)}"
            for pattern in patterns
            for path in folder.rglob(pattern)
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert wanted <= held, sorted(wanted - held)


def test_a_wheel_holds_every_module(wheel: Path) -> None:
    held = set(zipfile.ZipFile(wheel).namelist())
    for room in ("generators", "harness", "litmus", "models"):
        for path in (ROOT / room).rglob("*.py"):
            assert f"weakspot/{path.relative_to(ROOT)}" in held
    assert {"weakspot/py.typed", "weakspot/_engine.pyi", "weakspot/errors.py"} <= held
    assert any(name.startswith("weakspot/_engine") and name.endswith(".so") for name in held)


def test_an_installed_weakspot_works_from_any_folder(weakspot: Path, tmp_path: Path) -> None:
    where = run(
        *(weakspot.with_name("python"), "-c", "import weakspot; print(weakspot.__file__)"),
        cwd=tmp_path,
    )
    assert Path(where.stdout.strip()).is_relative_to(weakspot.parents[1])
    assert run(weakspot, "--version", cwd=tmp_path).stdout.startswith("weakspot ")
    assert "rc11" in run(weakspot, "models", cwd=tmp_path).stdout
    path = Path(run(weakspot, "models", "rc11", "--path", cwd=tmp_path).stdout.strip())
    assert path.is_file()
    assert path.is_relative_to(weakspot.parents[1])
    listed = run(weakspot, "structures", cwd=tmp_path).stdout
    assert "store_buffering" in listed
    assert not list(tmp_path.iterdir())


def test_an_installed_weakspot_needs_no_home_and_no_other_programs(
    weakspot: Path, tmp_path: Path
) -> None:
    try_in_empty_home(weakspot, tmp_path)
