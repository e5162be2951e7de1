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
    ["-Ivendor", "-DVALUE=42", "-O2", "-g", "-fPIC", "-pthread", "-march=native", "-mcx16"],
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
    errors = run("check", "tests/value.c").reported(2)
    assert errors.startswith("error: 'value.h' file not found\n  --> tests/value.c:2:10")
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
    # on a busy machine the threads of a run may not overlap, which is inconclusive
    assert ended.code in ((0, 3) if name == "run" else (0,)), ended.err
    if name in ("check", "test"):
        assert "rc20" not in ended.out


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
    errors = run("check", "tests/value.c", "-m", "sc", "-v", "--", "-O2").reported(0)
    assert steady(errors, project) == snapshot


def test_verbose_names_the_command_line_and_weakspot_toml(project: Path, run: Run) -> None:
    (project / "weakspot.toml").write_text('[build]\ninclude = ["vendor"]\ndefines = ["A=1"]\n')
    ended = run("check", "tests/value.c", "-m", "sc", "-v", "-I", "vendor", "-D", "VALUE=42")
    assert ended.code == 0, ended.err
    _, *origins = (line.removeprefix("tests/value.c: ") for line in ended.err.splitlines())
    assert "flags from weakspot.toml: -I vendor -DA=1" in origins
    assert "flags from the command line: -I vendor -DVALUE=42" in origins


@pytest.mark.usefixtures("project")
def test_an_invalid_flag_is_reported_as_one(run: Run) -> None:
    errors = run("check", "tests/value.c", "-I", "vendor", "--", "-D1x").reported(2)
    assert errors.startswith("error: an option for the compiler: macro name must be")


def test_a_standard_of_another_language_is_an_error(project: Path, run: Run) -> None:
    errors = run("check", "tests/value.c", "--std", "c++17").reported(2)
    assert errors.startswith("error: value.c is C, and c++17 is not a version of that")
    assert project.is_dir()


def test_a_standard_that_there_is_not_is_an_error(project: Path, run: Run) -> None:
    (project / "it.cpp").write_text("int main() {}\n")
    for name in ("c++12", "c++18", "gnu++1a"):
        assert f"'{name}'" in run("check", "it.cpp", "--std", name).err
    assert run("check", "it.cpp", "--std", "c++14").code == 0


def test_an_older_standard_has_the_features_and_names_of_its_own(project: Path, run: Run) -> None:
    (project / "it.cpp").write_text(
        """#include <atomic>
#ifdef __cpp_lib_atomic_ref
#error "this is C++20"
#endif
std::atomic<int> x;
int main() { return x.load(std::memory_order::memory_order_acquire); }
"""
    )
    assert run("check", "it.cpp", "--std", "c++17").code == 0
    assert "this is C++20" in run("check", "it.cpp").err


@pytest.mark.usefixtures("project")
def test_macros_that_are_defined_and_undefined_are_an_error(run: Run) -> None:
    ended = run("check", "tests/value.c", "-D", "VALUE=42", "-U", "VALUE")
    assert (ended.code, "-D VALUE and -U VALUE contradict each other" in ended.err) == (2, True)


def test_paths_are_relative_to_where_the_user_is(project: Path, run: Run) -> None:
    (project / "tests" / "value.c").write_text(SOURCE.replace("42", "7"))
    ended = run("check", "tests/value.c", "-m", "sc", "-I", "vendor")
    assert "--> tests/value.c:3" in ended.out
    (project / "below").mkdir()
    ended = run("check", "../tests/value.c", "-m", "sc", "-I", "../vendor", below="below")
    assert "--> ../tests/value.c:3" in ended.out
    assert "--> tests/value.c:2" in run("gen", "tests/value.c", "--list").reported(2)


@pytest.mark.parametrize("language", [["-x", "c++"], ["--std", "c++20"], ["-x", "c"], []])
def test_a_program_is_read_from_standard_input(folder: Path, run: Run, language: list[str]) -> None:
    (folder / "value.h").write_text("#define VALUE 7\n")
    cpp = "c++" in "".join(language)
    text = SOURCE + f"_Static_assert(sizeof 'a' {'==' if cpp else '>'} 1, \"the language\");\n"
    printed = run("check", "-", *language, "-m", "sc", stdin=text).printed(1)
    name = "stdin.cpp" if cpp else "stdin.c"
    assert f"--> {name}:3" in printed
    errors = run("check", "-", *language, stdin=text.replace("assert(", "asser(")).reported(2)
    assert f"--> {name}:3:18" in errors
    assert run("check", "-", stdin="").err.startswith("error: standard input is empty")


def test_a_folder_is_its_programs_and_litmus_tests(folder: Path, run: Run) -> None:
    (folder / "sub" / "build").mkdir(parents=True)
    (folder / "sub" / "helper.c").write_text("int helper(void) { return 1; }\n")
    (folder / "sub" / "mp.c").write_text((folder / "mp.c").read_text())
    (folder / "sub" / "build" / "CMakeCache.txt").write_text("")
    (folder / "sub" / "build" / "try.c").write_text("int main(void) { return 0; }\n")
    printed = run("check", ".", "-m", "sc").printed(1)
    for name in ("mp.c/mp", "sub/mp.c/mp", "wrong.c/wrong", "\nSB  "):
        assert name in printed
    for name in ("helper", "try"):
        assert name not in printed
