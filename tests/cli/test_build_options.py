"""Options for the compiler reach it from the command line, weakspot.toml and the user's build."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from samples import Run
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

SOURCE = """\
#include <assert.h>
#include "value.h"
int main(void) { assert(VALUE == 42); return 0; }
"""


@pytest.fixture
def project(folder: Path) -> Path:
    (folder / "tests").mkdir()
    (folder / "tests" / "value.c").write_text(SOURCE)
    (folder / "vendor").mkdir()
    (folder / "vendor" / "value.h").write_text("#ifndef VALUE\n#define VALUE 1\n#endif\n")
    return folder


ACCEPTED = [
    ["-isystem", "vendor", "-D", "VALUE=42"],
    ["-I", "vendor", "-U", "OTHER", "-DVALUE=42", "-Wall", "--std", "c11"],
    ["-I", "vendor", "-include", "own.h", "-std=c99"],
    ["--", "-isystem", "vendor", "-DVALUE=42", "-O2", "-fno-builtin"],
    ["--compile-commands", "out"],
]


@pytest.mark.parametrize("options", ACCEPTED, ids=" ".join)
def test_an_option_reaches_the_compiler(project: Path, run: Run, options: list[str]) -> None:
    (project / "own.h").write_text("#define VALUE 42\n")
    (project / "out").mkdir()
    entry = {
        "directory": str(project),
        "file": "tests/value.c",
        "arguments": ["gcc", "-Ivendor", "-DVALUE=42", "-DNDEBUG", "-c", "tests/value.c"],
    }
    (project / "out" / "compile_commands.json").write_text(json.dumps([entry]))
    at = options.index("--") if "--" in options else len(options)
    ended = run("check", "tests/value.c", "-m", "sc", *options[:at], *options[at:])
    assert (ended.code, "Safe" in ended.out) == (0, True), ended.err


def test_without_its_options_a_source_does_not_compile(project: Path, run: Run) -> None:
    ended = run("check", "tests/value.c")
    assert ended.code == 2
    assert ended.err.startswith("error: 'value.h' file not found\n  --> tests/value.c:2:10")
    assert project.is_dir()


@pytest.mark.parametrize(
    "command",
    ["check", "gen --list", "relax", "run --only programs --for 0.1", "gate", "test --for 0"],
)
def test_every_command_reads_weakspot_toml(project: Path, run: Run, command: str) -> None:
    (project / "weakspot.toml").write_text(
        'models = ["sc"]\n[build]\nflags = ["-isystem", "vendor"]\ndefines = ["VALUE=42"]\n'
    )
    name, *options = command.split()
    ended = run(name, "tests/value.c", *options)
    assert ended.code == 0, ended.err
    if name in ("check", "test"):
        assert "rc11" not in ended.out


def test_verbose_says_where_the_flags_come_from(
    project: Path, run: Run, snapshot: SnapshotAssertion
) -> None:
    entry = {
        "directory": str(project),
        "file": "src/other.c",
        "command": "gcc -O2 -Ivendor -DVALUE=42 -DNDEBUG -c src/other.c",
    }
    (project / "build").mkdir()
    (project / "build" / "compile_commands.json").write_text(json.dumps([entry]))
    ended = run("check", "tests/value.c", "-m", "sc", "-v", "--", "-O2")
    assert ended.code == 0, ended.err
    assert steady(ended.err, project) == snapshot


def test_a_standard_of_another_language_is_an_error(project: Path, run: Run) -> None:
    ended = run("check", "tests/value.c", "--std", "c++17")
    assert ended.code == 2
    assert ended.err.startswith("error: value.c is C, and c++17 is not a version of that")
    assert project.is_dir()
