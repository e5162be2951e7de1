"""The engine's version names its sources: stored answers are of the engine that gave them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from weakspot import __version__, _engine

ENGINE = Path(__file__).resolve().parents[2] / "engine"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A Cargo workspace with one crate of two source files, and the engine's build script."""
    rustc = shutil.which("rustc")
    if rustc is None:
        pytest.skip("rustc is not on PATH")
    script = ENGINE / "bindings" / "build.rs"
    subprocess.run(
        [rustc, "--edition", "2021", "-o", str(tmp_path / "build"), str(script)], check=True
    )
    (tmp_path / "bindings").mkdir()
    (tmp_path / "cat" / "src").mkdir(parents=True)
    (tmp_path / "cat" / "src" / "lib.rs").write_text("mod plan;\n")
    (tmp_path / "cat" / "src" / "prelude.cat").write_text("let a = po\n")
    (tmp_path / "cat" / "Cargo.toml").write_text("[package]\n")
    (tmp_path / "Cargo.toml").write_text("[workspace]\n")
    (tmp_path / "Cargo.lock").write_text("version = 4\n")
    return tmp_path


def digest(workspace: Path) -> str:
    done = subprocess.run(
        [str(workspace / "build")], cwd=workspace / "bindings", check=True, capture_output=True
    )
    (found,) = re.findall(r"ENGINE_SOURCES=([0-9a-f]{16})$", done.stdout.decode(), re.MULTILINE)
    return str(found)


@pytest.mark.parametrize(
    "changed", ["cat/src/lib.rs", "cat/src/prelude.cat", "cat/Cargo.toml", "Cargo.lock"]
)
def test_any_change_of_the_sources_is_another_engine(workspace: Path, changed: str) -> None:
    before = digest(workspace)
    assert digest(workspace) == before
    text = (workspace / changed).read_text()
    (workspace / changed).write_text(text + "\n")
    assert digest(workspace) != before
    (workspace / changed).write_text(text)
    assert digest(workspace) == before
    (workspace / "cat" / "src" / "new.rs").write_text("")
    assert digest(workspace) != before


def test_the_version_is_weakspots_and_the_sources() -> None:
    assert re.fullmatch(re.escape(__version__) + r"\+[0-9a-f]{16}", _engine.__version__)
