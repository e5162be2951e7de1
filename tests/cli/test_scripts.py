"""scripts/run and scripts/test on machines that lack something: each says what, and how to get it.

A machine is a folder of programs that PATH leads to; nothing is installed and nothing built.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ended import execute

ROOT = Path(__file__).resolve().parents[2]
BASH = shutil.which("bash")
#: what every machine has
COREUTILS = (
    *("bash", "cat", "cut", "dirname", "find", "flock", "grep", "head", "id", "ls", "mkdir"),
    *("mktemp", "printf", "readlink", "rm", "sed", "sha256sum", "sleep", "sort", "tail", "tr"),
    "xargs",
)

pytestmark = pytest.mark.skipif(BASH is None, reason="needs bash")


class Machine:
    """A copy of the scripts in a clone of their own, and a PATH that leads to little."""

    def __init__(self, folder: Path) -> None:
        self.clone, self.programs, self.home = folder / "a clone", folder / "bin", folder / "home"
        for made in (self.clone, self.programs, self.home):
            made.mkdir()
        shutil.copytree(ROOT / "scripts", self.clone / "scripts")
        shutil.copy(ROOT / "pyproject.toml", self.clone)
        (self.clone / "engine").mkdir()
        shutil.copy(ROOT / "engine" / "Cargo.toml", self.clone / "engine")
        for name in COREUTILS:
            if path := shutil.which(name):
                (self.programs / name).symlink_to(path)

    def has(self, name: str, script: str) -> None:
        path = self.programs / name
        path.write_text(f"#!{BASH}\n{script}\n")
        path.chmod(0o755)

    def has_python(self) -> None:
        self.has("python3", f'exec "{sys.executable}" "$@"')

    def has_rust(self, version: str = "1.90.0") -> None:
        self.has("rustc", f'echo "rustc {version} (0123456 2026-01-01)"')
        self.has("cargo", f'echo "cargo {version}"')

    def output(self, script: str = "run", *arguments: str) -> tuple[int, str]:
        done = subprocess.run(
            [self.clone / "scripts" / script, *arguments],
            env={"PATH": str(self.programs), "HOME": str(self.home), "TMPDIR": str(self.home)},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def error(self, *arguments: str) -> str:
        """What is printed with exit code 2."""
        code, printed = self.output(*arguments)
        assert code == 2
        return printed


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("script", ["run", "test"])
def test_help_needs_nothing(machine: Machine, script: str) -> None:
    code, printed = machine.output(script, "--help")
    assert code == 0
    assert f"usage: scripts/{script}" in printed
    assert not (machine.clone / ".venv").exists()


def test_without_python(machine: Machine) -> None:
    printed = machine.error()
    assert "error: weakspot needs Python 3.11 or newer" in printed
    assert "python3-venv" in printed


def test_with_a_python_that_is_too_old(machine: Machine) -> None:
    machine.has("python3", "echo 3.9")
    printed = machine.error()
    assert "python3 is 3.9" in printed


def test_without_rust(machine: Machine) -> None:
    machine.has_python()
    printed = machine.error()
    assert "cargo is not on PATH" in printed
    assert "rustup.rs" in printed


def test_with_a_rust_that_does_not_start(machine: Machine) -> None:
    """rustup's programs, in a HOME without toolchains."""
    machine.has_python()
    for name in ("cargo", "rustc"):
        machine.has(name, "echo 'error: no default toolchain' >&2; exit 1")
    printed = machine.error()
    assert "no default toolchain" in printed
    assert "RUSTUP_HOME" in printed


def test_with_a_rust_that_is_too_old(machine: Machine) -> None:
    machine.has_python()
    machine.has_rust("1.50.0")
    printed = machine.error()
    assert "rustc is 1.50.0" in printed


def test_without_a_linker(machine: Machine) -> None:
    machine.has_python()
    machine.has_rust()
    printed = machine.error()
    assert "apt-get install gcc" in printed


def test_with_a_python_that_cannot_make_environments(machine: Machine) -> None:
    machine.has_rust()
    machine.has("gcc", "")
    machine.has(
        "python3", f'case "$*" in *ensurepip*) exit 1 ;; esac\nexec "{sys.executable}" "$@"'
    )
    printed = machine.error()
    assert "ensurepip is missing" in printed
    assert "python3-venv" in printed


def test_a_file_in_the_place_of_a_folder_is_not_removed(machine: Machine) -> None:
    machine.has_python()
    machine.has_rust()
    machine.has("gcc", "")
    (machine.clone / ".venv").mkdir()
    (machine.clone / ".venv" / "notes.txt").write_text("mine")
    printed = machine.error()
    assert "is not a Python environment" in printed
    assert (machine.clone / ".venv" / "notes.txt").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_in_a_clone_that_belongs_to_somebody_else(machine: Machine) -> None:
    machine.has_python()
    machine.has_rust()
    machine.has("gcc", "")
    machine.clone.chmod(0o555)
    printed = machine.error()
    assert "cannot write to" in printed


def test_a_step_that_fails_shows_its_last_lines(machine: Machine) -> None:
    machine.has_rust()
    machine.has("gcc", "")
    machine.has(
        "python3",
        'case "$*" in *"-m venv"*) echo "No space left on device"; exit 1 ;; esac\n'
        f'exec "{sys.executable}" "$@"',
    )
    printed = machine.error()
    assert "No space left on device" in printed
    assert "error: the disk is full" in printed


@pytest.mark.parametrize(
    ("ends", "code"), [("true", 0), ("exit 3", 3), ("kill -9 $PPID", 1)], ids=["0", "3", "killed"]
)
def test_exit_code_of_what_runs_meanwhile(machine: Machine, ends: str, code: int) -> None:
    """In a shell that is not its parent: bash forgets a child whose number another one gets."""
    machine.has(
        "try",
        f'. "{machine.clone}/scripts/lib.sh"\n'
        f"in_background \"$log.try\" bash -c 'sleep 0.2; {ends}; exit'\n"
        'exit "$(code_of "$log.try" $!)"',
    )
    done = execute(machine.programs / "try", env={"PATH": str(machine.programs)}, timeout=60)
    assert (done.code, done.out) == (code, ""), done.err


def test_nothing_is_left_in_the_folder_for_temporary_files(machine: Machine) -> None:
    machine.output()
    assert not list(machine.home.iterdir())


def test_wheels_need_the_standard_library_of_their_machine(machine: Machine) -> None:
    machine.has_python()
    machine.has_rust()
    machine.has("cc", "exit 0")
    said = machine.error("build-wheels", "--out", "dist", "aarch64")
    assert "Rust's standard library for aarch64 is not installed" in said
    assert "rustup target add aarch64-unknown-linux-gnu" in said
