"""A configuration that does not fit is an error that names file, key and line."""

from __future__ import annotations

import json

import pytest
from projects import Project


@pytest.mark.parametrize(
    ("text", "line", "message", "advice"),
    [
        ('[gate]\n\nscenariox = ["a"]\n', 3, "unknown key scenariox", "did you mean scenarios?"),
        ('[gat]\nscenarios = ["a"]\n', 1, "unknown key gat", "did you mean gate?"),
        ("[gate]\nunroll = 'four'\n", 2, "unroll: expected `int`, got `str`", ""),
        ("[gate]\nunroll = 0\n", 2, "unroll: expected `int` >= 1", ""),
        ("[gate]\nmodels = 'rc11'\n", 2, "models: expected `array`, got `str`", ""),
        ('[gate]\n\nmodels = [\n  "rc12",\n]\n', 3, "models: unknown model", "did you mean rc11?"),
        ('[gate]\ninclude = ["nowhere"]\n', 2, "include: there is no folder nowhere", ""),
        ('[gate]\ndefines = ["1X"]\n', 2, "defines: not a macro definition: '1X'", "NAME=VALUE"),
        ('[gate]\nfail_on = ["WS1O1"]\n', 2, "fail_on: 'WS1O1' is neither", "did you mean WS101"),
        ('[gate]\nbudget = "soon"\n', 2, "budget: 'soon' is not a duration", '"10s"'),
        ('[gate]\nscenarios = ["none/*.c"]\n', 2, "'none/*.c' matches no file", ".litmus"),
        (
            '[run]\nmachines = ["lokal"]\n',
            2,
            "machines: unknown machine 'lokal'",
            "machines are local, qemu",
        ),
        ("[run]\nseconds = true\n", 2, "seconds: expected", ""),
        ('[gate]\nscenarios = [""]\n', 2, "'' matches no file", ""),
        ("[gate]\nmodels = []\n", 2, "models: there is none", ""),
        ("[gate]\nbudget = 0\n", 2, "budget: 0 is not a duration", ""),
        ("\n[[gate]]\n", 2, "gate: expected `object`, got `array`", ""),
        ("[gate]\nscenarios = [\n", 2, "not TOML", ""),
    ],
)
def test_a_wrong_key_is_named_with_its_line(
    project: Project, text: str, line: int, message: str, advice: str
) -> None:
    path = project.write("weakspot.toml", text)
    ended = project.gate()
    assert ended.code == 2, ended.out
    assert message in ended.err
    assert f"--> {path}:{line}" in ended.err
    assert text.splitlines()[line - 1].strip() in ended.err
    assert advice in ended.err


def test_in_pyproject_the_line_is_that_of_the_table(project: Project) -> None:
    (project.folder / "weakspot.toml").unlink()
    path = project.write(
        "pyproject.toml", '[project]\nname = "x"\n\n[tool.weakspot.gate]\nmodel = ["rc11"]\n'
    )
    ended = project.gate()
    assert ended.code == 2
    assert f"unknown key model\n  --> {path}:5" in ended.err


def test_without_a_configuration_it_says_how_to_write_one(project: Project) -> None:
    (project.folder / "weakspot.toml").unlink()
    ended = project.gate()
    assert ended.code == 2
    assert "write weakspot.toml with [gate]" in ended.err


def test_run_takes_machines_and_seconds_from_it(project: Project) -> None:
    project.write("weakspot.toml", '[run]\nmachines = ["qemu:none"]\nseconds = 0.1\n')
    ended = project.weakspot("run", "tests/SB.litmus")
    assert ended.code == 2
    assert "machines: " in ended.err
    assert "weakspot.toml:2" in ended.err
    project.write("weakspot.toml", "[run]\nseconds = 0.1\n")
    ended = project.weakspot("run", "tests/SB.litmus", "--json")
    assert ended.code == 0, ended.err
    assert json.loads(ended.out)["seconds"] < 1.0
    project.write("weakspot.toml", '[run]\nmachines = ["ssh:no.such.host.invalid"]\n')
    ended = project.weakspot("run", "tests/SB.litmus")
    assert ended.code == 2
    assert ended.err.startswith("error: ssh")  # cannot be reached, or there is no ssh
    ended = project.weakspot("run", "tests/SB.litmus", "--on", "local", "--for", "0.1")
    assert ended.code == 0, "nobody asks a host that nothing runs on"


def test_a_model_that_is_named_twice_is_asked_once(project: Project) -> None:
    project.write(
        "weakspot.toml", '[gate]\nscenarios = ["tests/*.litmus"]\nmodels = ["rc11", "rc11"]\n'
    )
    assert project.gate().out.startswith("1 test as expected")


def test_a_file_that_is_no_text_is_said_to_be_none(project: Project) -> None:
    (project.folder / "weakspot.toml").write_bytes(b"\xff\xfe")
    ended = project.gate()
    assert (ended.code, "weakspot.toml is not a text file" in ended.err) == (2, True)
