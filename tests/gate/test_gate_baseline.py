"""Accepted findings do not fail the gate; accepted findings that are gone are reported."""

from __future__ import annotations

import json

from projects import CONFIG, QUEUE, RELAXED, WEAK_SB, Project
from snapshots import steady
from syrupy.assertion import SnapshotAssertion


def test_an_accepted_finding_does_not_fail_and_is_shown(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.weaken()
    written = project.gate("--write-baseline")
    assert written.code == 0
    assert steady(written.out) == snapshot
    assert steady(project.gate().printed(0)) == snapshot


def test_findings_are_printed_where_the_baseline_cannot_be_written(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.weaken()
    # the file is first written beside its place
    (project.folder / "weakspot-baseline.json.new").mkdir()
    ended = project.gate("--write-baseline")
    assert ended.code == 2
    assert steady(ended.out) == snapshot
    assert steady(ended.err, project.folder) == snapshot


def test_it_stays_accepted_where_lines_move_and_not_where_its_line_changes(
    project: Project,
) -> None:
    project.weaken()
    project.gate("--write-baseline")
    text = (project.folder / "tests/push_pop.cpp").read_text()
    project.write("tests/push_pop.cpp", f"\n\n{text}")
    assert project.gate().code == 0
    project.write("tests/push_pop.cpp", text.replace("*value == 42", "*value != 0"))
    assert project.gate().code == 1


def test_another_finding_still_fails(project: Project) -> None:
    project.weaken()
    project.gate("--write-baseline")
    project.write("tests/SB.litmus", WEAK_SB)
    assert "1 finding, 1 accepted" in project.gate().printed(1)


def test_a_new_finding_with_the_cause_of_an_accepted_one_still_fails(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.weaken()
    project.gate("--write-baseline")
    text = (project.folder / "tests/push_pop.cpp").read_text()
    project.write("tests/again.cpp", text.replace("*value == 42", "*value != 0"))
    assert steady(project.gate().printed(1)) == snapshot


def test_a_stale_entry_is_reported_and_does_not_fail(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.weaken()
    project.gate("--write-baseline")
    project.write("include/queue.hpp", QUEUE)
    assert steady(project.gate().printed(0)) == snapshot
    assert "stale" not in project.gate("tests/SB.litmus").out, "the scenario was not run"
    assert "0 accepted findings in" in project.gate("--write-baseline").out


def test_reasons_in_the_baseline_are_preserved(project: Project) -> None:
    project.weaken()
    project.gate("--write-baseline")
    path = project.folder / "weakspot-baseline.json"
    held = json.loads(path.read_text())
    assert held["accepted"][0]["function"]
    held["accepted"][0]["reason"] = "known since the rewrite"
    path.write_text(json.dumps(held))
    project.gate("--write-baseline")
    assert json.loads(path.read_text())["accepted"][0]["reason"] == "known since the rewrite"


WRITTEN = """{
 "accepted": [
  {
   "fingerprint": "d248d20f02383596",
   "id": "WS101",
   "file": "tests/push_pop.cpp",
   "function": "main::lambda",
   "text": "assert(*value == 42);",
   "message": "assertion failed: *value == 42",
   "reason": ""
  }
 ]
}
"""
"""A baseline as 0.1.0 writes it, which projects have committed."""


def test_a_baseline_that_is_committed_is_read_by_later_versions(project: Project) -> None:
    project.weaken()
    project.write("weakspot-baseline.json", WRITTEN)
    assert project.gate().code == 0
    project.gate("--write-baseline")
    assert (project.folder / "weakspot-baseline.json").read_text() == WRITTEN


def test_a_configured_baseline_must_exist_and_be_readable(
    project: Project, snapshot: SnapshotAssertion
) -> None:
    project.write("weakspot.toml", f'{CONFIG}baseline = "accepted.json"\n')
    assert steady(project.gate().reported(2), project.folder) == snapshot
    project.write("accepted.json", '{"accepted": 1}')
    assert steady(project.gate().reported(2), project.folder) == snapshot
    (project.folder / "accepted.json").unlink()
    assert project.gate("--write-baseline").code == 0
    assert project.gate().code == 0


def test_an_accepted_finding_is_suppressed_in_sarif(project: Project) -> None:
    project.weaken()
    project.gate("--write-baseline")
    project.gate("--sarif", "out.sarif")
    (run,) = json.loads((project.folder / "out.sarif").read_text())["runs"]
    (result,) = run["results"]
    assert result["suppressions"][0]["kind"] == "external"
    place = result["locations"][0]["physicalLocation"]
    assert RELAXED in place["contextRegion"]["snippet"]["text"]
