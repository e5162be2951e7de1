"""An invalid configuration is an error with file, line and key."""

from __future__ import annotations

import json

import pytest
from projects import SB, Project
from snapshots import steady
from syrupy.assertion import SnapshotAssertion


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('[gate]\n\nscenariox = ["a"]\n', 3),
        ('[gat]\nscenarios = ["a"]\n', 1),
        ("[gate]\nunroll = 'four'\n", 2),
        ("[gate]\nunroll = 0\n", 2),
        ("models = 'rc11'\n", 1),
        ('\nmodels = [\n  "rc12",\n]\n', 2),
        ('[build]\ninclude = ["nowhere"]\n', 2),
        ('[build]\ndefines = ["1X"]\n', 2),
        ("[build]\nstd = 17\n", 2),
        ('[build]\ncompile_commands = "nowhere"\n', 2),
        ('[gate]\nfail_on = ["WS1O1"]\n', 2),
        ('[gate]\nbudget = "soon"\n', 2),
        ("[explore]\nbound = -1\n", 2),
        ("[explore]\nbound = 4294967295\n", 2),
        ("[explore]\nloops = 0\n", 2),
        ('[explore]\nsample = "10s"\n', 2),
        ("[explore]\nbound = 2\nsample = true\n", 3),
        ('[explore]\nseconds = "soon"\n', 2),
        ("[explore]\nseconds = 0\n", 2),
        ("[explore]\nbounds = 2\n", 2),
        ('[gate]\nscenarios = ["none/*.c"]\n', 2),
        ('[run]\nmachines = ["lokal"]\n', 2),
        ("[run]\nseconds = true\n", 2),
        ('[machines]\npi = "sssh:pi"\n', 2),
        ('[machines]\nlocal = "ssh:pi"\n', 2),
        ('[machines]\n"a pi" = "ssh:pi"\n', 2),
        ("[machines]\npi = 3\n", 2),
        ('[machines]\npi = { adress = "ssh:pi" }\n', 2),
        ('[machines.pi]\naddress = "ssh:pi"\ncores = 0\n', 3),
        ('[gate]\nscenarios = [""]\n', 2),
        ('[gate]\npages = "docs/findings"\n', 2),
        ('[gate]\npages = "http://[host"\n', 2),
        ("[gate]\nbudget = 0\n", 2),
        ("\n[[gate]]\n", 2),
        ("[gate]\nscenarios = [\n", 2),
    ],
)
def test_an_invalid_key_is_reported_with_its_line(
    project: Project, text: str, line: int, snapshot: SnapshotAssertion
) -> None:
    path = project.write("weakspot.toml", text)
    errors = project.gate().reported(2)
    assert f"--> {path.name}:{line}" in errors
    assert text.splitlines()[line - 1].strip() in errors
    assert steady(errors, project.folder) == snapshot


def test_in_pyproject_the_line_is_that_of_the_table(project: Project) -> None:
    (project.folder / "weakspot.toml").unlink()
    path = project.write(
        "pyproject.toml", '[project]\nname = "x"\n\n[tool.weakspot.gate]\nmodel = ["rc11"]\n'
    )
    assert f"unknown key model\n  --> {path.name}:5" in project.gate().reported(2)


def test_without_a_configuration_the_error_explains_how_to_write_one(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    (project.folder / "weakspot.toml").unlink()
    assert steady(project.gate().reported(2), project.folder) == snapshot


def test_run_takes_machines_and_seconds_from_it(project: Project) -> None:
    project.write("weakspot.toml", '[run]\nmachines = ["qemu:none"]\nseconds = 0.1\n')
    errors = project.weakspot("run", "tests/SB.litmus").reported(2)
    assert "machines: " in errors
    assert "weakspot.toml:2" in errors
    project.write("weakspot.toml", "[run]\nseconds = 0.1\n")
    project.write("tests/SB.litmus", SB.replace("~exists", "exists"))
    printed = project.weakspot("run", "tests/SB.litmus", "--json").printed(0)
    assert json.loads(printed)["seconds"] < 1.0
    project.write("weakspot.toml", '[run]\nmachines = ["ssh:no.such.host.invalid"]\n')
    assert (
        project.weakspot("run", "tests/SB.litmus").reported(2).startswith("error: ssh")
    )  # cannot be reached, or there is no ssh
    ended = project.weakspot("run", "tests/SB.litmus", "--on", "local", "--for", "1")
    assert ended.code == 0, "a host that nothing runs on is not contacted"


@pytest.mark.parametrize(
    "options",
    [
        ("-D", "GIVEN=1", "-I", "more"),
        ("-DGIVEN=1", "-isystem", "more"),
        ("-include", "more/own.hpp", "-D", "GIVEN"),
        ("--", "-DGIVEN", "-Imore"),
    ],
)
def test_options_for_the_compiler_are_those_of_check(
    project: Project, options: tuple[str, ...]
) -> None:
    project.write("more/own.hpp", "#pragma once\n#ifndef GIVEN\n#error no macro\n#endif\n")
    include = "" if "-include" in options else "#include <own.hpp>\n"
    test = project.write("tests/own.cpp", f"{include}int main() {{}}\n")
    name = str(test.relative_to(project.folder))
    assert project.gate(name).code == (0 if not include else 2)
    assert project.gate(name, *options).code == 0
    assert project.weakspot("check", name, *options).code == 0
    assert project.gate(name, "-D", "GIVEN", "-U", "GIVEN").code == 2


def test_options_of_the_command_line_go_over_those_of_the_configuration(project: Project) -> None:
    path = project.folder / "weakspot.toml"
    path.write_text(f'build.defines = ["GIVEN=1"]\n{path.read_text()}')
    project.write("tests/own.cpp", "#if GIVEN != 2\n#error first\n#endif\nint main() {}\n")
    assert project.gate("tests/own.cpp").code == 2
    assert project.gate("tests/own.cpp", "-DGIVEN=2").code == 0
    assert project.gate("tests/own.cpp").code == 2, "the answer is that for other options"


def test_a_model_that_is_named_twice_is_checked_once(project: Project) -> None:
    project.write(
        "weakspot.toml", 'models = ["rc11", "rc11"]\n[gate]\nscenarios = ["tests/*.litmus"]\n'
    )
    assert project.gate().out.startswith("1 test as expected")


def test_a_binary_configuration_is_an_error(project: Project) -> None:
    (project.folder / "weakspot.toml").write_bytes(b"\xff\xfe")
    ended = project.gate()
    assert (ended.code, "weakspot.toml is not a text file" in ended.err) == (2, True)
