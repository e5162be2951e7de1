"""Lock-free crates, as cargo fetches them, are built, explored and judged; a weakened memory order
in a copy of one is found. Without the network those that were not fetched earlier are skipped."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

import weakspot

HERE = Path(__file__).parent
SECONDS = 20.0


class Driver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of tests, of which each starts two threads, and its crate with the version. `results`
    are those of its tests; `mutation` is a file of the crate, the number of a line, a text in it
    and the one that replaces it, after which the test `noticed_by` is Violated."""

    file: str
    crate: str
    version: str
    results: dict[str, str]
    mutation: tuple[str, int, str, str] | None = None
    noticed_by: str = ""


def drivers() -> list[Driver]:
    text = (HERE / "rust_crates.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=dict[str, list[Driver]])["driver"]


def prepared(driver: Driver, folder: Path, patch: str = "") -> Path:
    """A crate with the driver and its dependency, which is fetched; skips where it cannot be."""
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    crate = folder / "driver"
    (crate / "tests").mkdir(parents=True)
    (crate / "src").mkdir()
    (crate / "src" / "lib.rs").write_text("")
    (crate / "tests" / driver.file).write_text((HERE / "crates" / driver.file).read_text())
    (crate / "Cargo.toml").write_text(
        '[package]\nname = "driver"\nversion = "0.1.0"\nedition = "2021"\n[lib]\ntest = false\n'
        f'[dependencies]\n{driver.crate} = "={driver.version}"\n{patch}'
    )
    try:
        command = ["cargo", "fetch"]
        ended = subprocess.run(command, cwd=crate, capture_output=True, text=True, timeout=60)
        why = "" if ended.returncode == 0 else ended.stderr
    except subprocess.TimeoutExpired:
        why = "the network is slow"
    if why:
        pytest.skip(f"{driver.crate} is not fetched: {why.splitlines()[0]}")
    return crate


def explored(crate: Path, *tests: str) -> dict[str, weakspot.Exploration]:
    found = weakspot.explore(
        crate,
        models=["rc20"],
        machine_models=(),
        bounds=weakspot.Bounds(seconds=SECONDS),
        build=weakspot.Build(tests=tests),
    )
    return {each.program.rpartition("::")[2]: each for each in found}


def named(driver: Driver) -> str:
    return Path(driver.file).stem


@pytest.mark.full
@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("driver", drivers(), ids=named)
def test_a_driver_is_explored(driver: Driver, tmp_path: Path) -> None:
    found = explored(prepared(driver, tmp_path))
    assert {name: each.result for name, each in found.items()} == driver.results


@pytest.mark.full
@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("driver", [each for each in drivers() if each.mutation], ids=named)
def test_a_weakened_order_in_a_crate_is_found(driver: Driver, tmp_path: Path) -> None:
    assert driver.mutation is not None
    file, line, old, new = driver.mutation
    crate = prepared(driver, tmp_path / "first")
    shown = subprocess.run(
        ["cargo", "metadata", "--format-version=1", "--offline"],
        cwd=crate,
        capture_output=True,
        check=True,
    )
    package = rf"[^\"]*/{driver.crate}-{re.escape(driver.version)}"
    found = re.search(rf'"manifest_path":"({package})/Cargo.toml"', shown.stdout.decode())
    assert found, "cargo has fetched it"
    copy = tmp_path / "copy"
    shutil.copytree(found[1], copy)
    lines = (copy / file).read_text().splitlines(keepends=True)
    assert old in lines[line - 1], lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    (copy / file).write_text("".join(lines))
    patch = f'[patch.crates-io]\n{driver.crate} = {{ path = "{copy}" }}\n'
    weak = prepared(driver, tmp_path / "second", patch)
    (exploration,) = explored(weak, driver.noticed_by or named(driver)).values()
    assert exploration.result == "Violated", exploration.reasons
