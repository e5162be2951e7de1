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
def crate(tmp_path: Path) -> Path:
    """A crate of one source file, with the engine's build script compiled."""
    rustc = shutil.which("rustc")
    if rustc is None:
        pytest.skip("rustc is not on PATH")
    subprocess.run(
        [rustc, "--edition", "2021", "-o", str(tmp_path / "build"), str(ENGINE / "build.rs")],
        check=True,
    )
    (tmp_path / "src" / "cat").mkdir(parents=True)
    (tmp_path / "src" / "lib.rs").write_text("mod cat;\n")
    (tmp_path / "src" / "cat" / "prelude.cat").write_text("let a = po\n")
    (tmp_path / "Cargo.toml").write_text("[package]\n")
    (tmp_path / "Cargo.lock").write_text("version = 4\n")
    return tmp_path


def digest(crate: Path) -> str:
    told = subprocess.run([str(crate / "build")], cwd=crate, check=True, capture_output=True)
    (found,) = re.findall(r"ENGINE_SOURCES=([0-9a-f]{16})$", told.stdout.decode(), re.MULTILINE)
    return str(found)


@pytest.mark.parametrize("changed", ["src/lib.rs", "src/cat/prelude.cat", "Cargo.lock"])
def test_any_change_of_the_sources_is_another_engine(crate: Path, changed: str) -> None:
    before = digest(crate)
    assert digest(crate) == before
    text = (crate / changed).read_text()
    (crate / changed).write_text(text + "\n")
    assert digest(crate) != before
    (crate / changed).write_text(text)
    assert digest(crate) == before
    (crate / "src" / "new.rs").write_text("")
    assert digest(crate) != before


def test_the_version_is_weakspots_and_the_sources() -> None:
    assert re.fullmatch(re.escape(__version__) + r"\+[0-9a-f]{16}", _engine.__version__)
