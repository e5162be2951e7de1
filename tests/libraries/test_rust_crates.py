"""Lock-free crates, as cargo fetches them, are built, explored and judged; a weakened memory order
in a copy of one is found, and so is what an advisory is about. Without the network those that were
not fetched earlier are skipped."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
from ended import execute

import weakspot

HERE = Path(__file__).parent
SECONDS = 20.0


class Driver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of tests, of which each starts two threads, and its crate with the version and
    features. `results` are those of its tests; `mutation` is a file of the crate, the number of a
    line, a text in it and the one that replaces it, after which the test `noticed_by` is Violated
    and shows the operation, which is at `operation`, FILE:LINE, if not at that line."""

    file: str
    crate: str
    version: str
    results: dict[str, str]
    features: tuple[str, ...] = ()
    mutation: tuple[str, int, str, str] | None = None
    operation: str = ""
    noticed_by: str = ""


class Advisory(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An advisory of RustSec: a file of one test, which is Violated at a version of the crate and
    shows the operation at `at`, FILE:LINE, and is Safe at the version `fixed`."""

    id: str
    file: str
    crate: str
    version: str
    fixed: str
    at: str
    features: tuple[str, ...] = ()


class Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    driver: list[Driver]
    advisory: list[Advisory]


TABLE = msgspec.toml.decode((HERE / "rust_crates.toml").read_bytes(), type=Table)


def prepared(driver: Driver | Advisory, folder: Path, patch: str = "") -> Path:
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
        f'[dependencies.{driver.crate}]\nversion = "={driver.version}"\n'
        f"features = {list(driver.features)}\n{patch}"
    )
    # a version that was yanked is fetched only if the lock names it
    (crate / "Cargo.lock").write_text(
        f'version = 3\n[[package]]\nname = "{driver.crate}"\nversion = "{driver.version}"\n'
        'source = "registry+https://github.com/rust-lang/crates.io-index"\n'
    )
    try:
        command = ["cargo", "fetch"]
        ended = execute(*command, cwd=crate, timeout=60)
        why = "" if ended.code == 0 else ended.err
    except subprocess.TimeoutExpired:
        why = "the network is slow"
    if why:
        pytest.skip(f"{driver.crate} is not fetched: {why.splitlines()[0]}")
    return crate


def copied(driver: Driver | Advisory, folder: Path) -> tuple[Path, Path]:
    """A crate with the driver that depends on a copy of its crate, whose operations have places of
    their own then, and the copy."""
    crate = prepared(driver, folder / "first")
    shown = subprocess.run(
        ["cargo", "metadata", "--format-version=1", "--offline"],
        cwd=crate,
        capture_output=True,
        check=True,
    )
    package = rf"[^\"]*/{driver.crate}-{re.escape(driver.version)}"
    found = re.search(rf'"manifest_path":"({package})/Cargo.toml"', shown.stdout.decode())
    assert found, "cargo has fetched it"
    copy = folder / "copy"
    shutil.copytree(found[1], copy)
    patch = f'[patch.crates-io]\n{driver.crate} = {{ path = "{copy}" }}\n'
    return prepared(driver, folder / "second", patch), copy


def explored(crate: Path, *tests: str) -> dict[str, weakspot.Exploration]:
    found = weakspot.explore(
        crate,
        models=["rc20"],
        machine_models=(),
        bounds=weakspot.Bounds(seconds=SECONDS),
        build=weakspot.Build(tests=tests, flags=("--cap-lints=warn",)),
    )
    return {each.program.rpartition("::")[2]: each for each in found}


def places(exploration: weakspot.Exploration) -> set[str]:
    """The sites of the violations and of the events of their witnesses."""
    found = {site for each in exploration.violations for site in each.sites}
    witnesses = [each.witness for each in exploration.violations if each.witness is not None]
    return found | {event.site for each in witnesses for event in each.events}


def named(driver: Driver | Advisory) -> str:
    return Path(driver.file).stem


@pytest.mark.full
@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("driver", TABLE.driver, ids=named)
def test_a_driver_is_explored(driver: Driver, tmp_path: Path) -> None:
    found = explored(prepared(driver, tmp_path))
    assert {name: each.result for name, each in found.items()} == driver.results


@pytest.mark.full
@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("driver", [each for each in TABLE.driver if each.mutation], ids=named)
def test_a_weakened_order_in_a_crate_is_found(driver: Driver, tmp_path: Path) -> None:
    assert driver.mutation is not None
    file, line, old, new = driver.mutation
    weak, copy = copied(driver, tmp_path)
    lines = (copy / file).read_text().splitlines(keepends=True)
    assert old in lines[line - 1], lines[line - 1]
    lines[line - 1] = lines[line - 1].replace(old, new)
    (copy / file).write_text("".join(lines))
    (exploration,) = explored(weak, driver.noticed_by or named(driver)).values()
    assert exploration.result == "Violated", exploration.reasons
    shown_at = places(exploration)
    at = driver.operation or f"{file}:{line}"
    assert any(each.endswith(at) for each in shown_at), sorted(shown_at)


@pytest.mark.full
@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("advisory", TABLE.advisory, ids=lambda each: each.id)
def test_what_an_advisory_is_about_is_found(advisory: Advisory, tmp_path: Path) -> None:
    crate, _ = copied(advisory, tmp_path / "old")
    (old,) = explored(crate, named(advisory)).values()
    assert old.result == "Violated", old.reasons
    assert any(each.endswith(advisory.at) for each in places(old)), sorted(places(old))
    advisory = msgspec.structs.replace(advisory, version=advisory.fixed)
    (new,) = explored(prepared(advisory, tmp_path / "new"), named(advisory)).values()
    assert new.result == "Safe", new.reasons
