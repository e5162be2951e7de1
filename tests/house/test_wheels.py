"""The wheels of scripts/build-wheels: what their names promise, and an installation that has
nothing but pip."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
from ended import execute
from wheels import ROOT, extension, try_in_empty_home
from workflow import Job

from weakspot import __version__, _engine

WEAKENED = "tail + 1, std::memory_order_relaxed"
BUILD = ROOT / "scripts" / "build-wheels"
MACHINES = {"x86_64": "EM_X86_64", "aarch64": "EM_AARCH64"}
LIBRARIES = ("libc.", "libm.", "libdl.", "libpthread.", "librt.", "libgcc_s.", "ld-linux")
"""Of manylinux2014, those that a Rust library may load."""


def test_unknown_machine_is_refused() -> None:
    done = execute(BUILD, "sparc").reported(2)
    assert done.startswith("usage: scripts/build-wheels")


def test_help_names_the_machines() -> None:
    done = execute(BUILD, "--help").printed(0)
    assert "x86_64 | aarch64" in done


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a wheel for each machine whose standard library Rust has. The processes of a
    run build it once."""
    machines = [each for each in MACHINES if _has_standard_library(each)]
    if not machines:
        pytest.skip("there is no Rust that starts")
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "wheels"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not list(folder.glob("*.whl")):
            execute(BUILD, "--out", folder, *machines).printed(0)
    return folder


def _has_standard_library(machine: str) -> bool:
    asked = [os.environ.get("RUSTC", "rustc"), "--print", "target-libdir"]
    done = execute(*asked, "--target", f"{machine}-unknown-linux-gnu")
    return done.code == 0 and any(Path(done.out.strip()).glob("libstd-*.rlib"))


def only(folder: Path, pattern: str) -> Path:
    found = list(folder.glob(pattern))
    if not found:
        pytest.skip(f"Rust's standard library for this machine is not installed: no {pattern}")
    (path,) = found
    return path


@pytest.mark.full
@pytest.mark.parametrize("machine", MACHINES)
def test_wheel_needs_no_more_than_its_name_says(built: Path, machine: str) -> None:
    wheel = only(built, f"*-cp311-abi3-manylinux_2_17_{machine}.whl")
    engine = extension(wheel)
    assert engine.machine == MACHINES[machine]
    assert engine.glibc <= (2, 17)
    assert all(each.startswith(LIBRARIES) for each in engine.libraries), engine.libraries
    assert wheel.stat().st_size < 6_000_000


@pytest.mark.full
@pytest.mark.parametrize("machine", MACHINES)
def test_wheels_have_the_engine_of_the_clone(built: Path, machine: str) -> None:
    """For workers of a cluster, one with each processor: they use none that has another engine."""
    with zipfile.ZipFile(only(built, f"*_{machine}.whl")) as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".so")]
        assert _engine.__version__.encode() in archive.read(name)


@pytest.mark.full
def test_sdist_holds_what_builds_it_and_nothing_else(built: Path) -> None:
    with tarfile.open(only(built, "*.tar.gz")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "engine/Cargo.lock", "engine/bindings/src/lib.rs"} <= names
    assert not any(name.startswith(("tests/", "results/", "engine/target")) for name in names)


@pytest.mark.full
def test_wheel_works_where_nothing_else_is(built: Path, tmp_path: Path) -> None:
    """A new environment, an empty home, no Rust: pip fetches the rest."""
    wheel = only(built, f"*_{os.uname().machine}.whl")
    home = tmp_path / "home"
    home.mkdir()
    venv.create(tmp_path / "venv", with_pip=True)
    settings = {key: value for key, value in os.environ.items() if key.startswith(("PIP_", "SSL_"))}
    programs = tmp_path / "venv" / "bin"
    settings |= {"HOME": str(home), "PATH": str(programs)}
    execute(programs / "pip", "install", "--quiet", f"{wheel}[zig]", env=settings).printed(0)
    try_in_empty_home(programs / "weakspot", home)


@pytest.mark.full
def test_action_installs_the_wheel_that_it_is_given(built: Path, tmp_path: Path) -> None:
    wheel = only(built, f"*_{os.uname().machine}.whl")
    job = Job(ROOT / "docs" / "sample", tmp_path, {"package": str(wheel)})
    installed = job.step("Install weakspot")
    assert installed.code == 0, installed.err
    assert job.outputs["install"]["version"] == __version__
    shutil.copytree(job.repository, tmp_path / "sample")
    job.repository = tmp_path / "sample"
    assert job.step("Check the memory orders").code == 0
    assert job.outputs["gate"]["exit-code"] == "0"


@pytest.mark.full
def test_pre_commit_installs_the_hook_of_the_sample(built: Path, tmp_path: Path) -> None:
    """As pre-commit does it, but that the hook's repository installs the wheel instead of compiling
    the engine."""
    wheel = only(built, f"*_{os.uname().machine}.whl")
    hook, sample = tmp_path / "hook", tmp_path / "sample"
    hook.mkdir()
    shutil.copy2(ROOT / ".pre-commit-hooks.yaml", hook)
    (hook / "pyproject.toml").write_text(
        f'[project]\nname = "hook"\nversion = "0"\ndependencies = ["weakspot @ {wheel.as_uri()}"]\n'
        "[tool.setuptools]\npy-modules = []\n"
    )
    shutil.copytree(ROOT / "docs" / "sample", sample)
    config = sample / ".pre-commit-config.yaml"
    named = config.read_text().replace("https://github.com/OWNER/weakspot", str(hook))
    config.write_text(named)
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        **{f"GIT_{role}_NAME": "tester" for role in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{role}_EMAIL": "tester@localhost" for role in ("AUTHOR", "COMMITTER")},
        "PRE_COMMIT_HOME": str(tmp_path / "hooks"),
        "PRE_COMMIT_COLOR": "never",
    }

    def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )

    for folder in (hook, sample):
        run(folder, "git", "init", "--quiet")
        run(folder, "git", "add", "--all")
        assert run(folder, "git", "commit", "--quiet", "-m", "Begin").returncode == 0
    run(hook, "git", "tag", f"v{__version__}")
    hooks = (sys.executable, "-m", "pre_commit", "run", "--all-files")
    passed = run(sample, *hooks)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    queue = sample / "include/spsc/queue.hpp"
    text = queue.read_text()
    queue.write_text(text.replace("tail + 1, std::memory_order_release", WEAKENED))
    failed = run(sample, *hooks)
    assert failed.returncode == 1
    assert "needs at least release under rc20" in failed.stdout
