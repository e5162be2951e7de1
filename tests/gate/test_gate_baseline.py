"""A finding that a project accepts does not fail it; one that is gone is told."""

from __future__ import annotations

import json

from projects import CONFIG, QUEUE, RELAXED, WEAK_SB, Project


def test_an_accepted_finding_does_not_fail_and_is_shown(project: Project) -> None:
    project.weaken()
    written = project.gate("--write-baseline")
    assert written.code == 0
    assert "1 accepted finding in weakspot-baseline.json" in written.out
    ended = project.gate()
    assert ended.code == 0
    assert "accepted: WS101 assertion failed: *value == 42 (tests/push_pop.cpp:11:" in ended.out
    assert "1 accepted" in ended.out.splitlines()[-1]


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
    ended = project.gate()
    assert ended.code == 1
    assert "1 finding, 1 accepted" in ended.out


def test_what_has_the_cause_of_an_accepted_finding_still_fails_and_is_shown(
    project: Project,
) -> None:
    project.weaken()
    project.gate("--write-baseline")
    text = (project.folder / "tests/push_pop.cpp").read_text()
    project.write("tests/again.cpp", text.replace("*value == 42", "*value != 0"))
    ended = project.gate()
    assert ended.code == 1
    assert "accepted: WS101 assertion failed: *value == 42" in ended.out
    assert "tests/again.cpp  rc11\nWS101 assertion failed: *value != 0" in ended.out
    assert "it shows at tests/again.cpp:11:" in ended.out


def test_a_stale_entry_is_told_and_does_not_fail(project: Project) -> None:
    project.weaken()
    project.gate("--write-baseline")
    project.write("include/queue.hpp", QUEUE)
    ended = project.gate()
    assert ended.code == 0
    assert "stale: WS101 in tests/push_pop.cpp is accepted in weakspot-baseline.json" in ended.out
    assert "stale" not in project.gate("tests/SB.litmus").out, "it was not looked at"
    assert "0 accepted findings in" in project.gate("--write-baseline").out


def test_reasons_that_people_give_are_kept(project: Project) -> None:
    project.weaken()
    project.gate("--write-baseline")
    path = project.folder / "weakspot-baseline.json"
    held = json.loads(path.read_text())
    assert held["accepted"][0]["function"]
    held["accepted"][0]["reason"] = "known since the rewrite"
    path.write_text(json.dumps(held))
    project.gate("--write-baseline")
    assert json.loads(path.read_text())["accepted"][0]["reason"] == "known since the rewrite"


def test_a_baseline_that_is_named_must_be_there_and_whole(project: Project) -> None:
    project.write("weakspot.toml", f'{CONFIG}baseline = "accepted.json"\n')
    ended = project.gate()
    assert ended.code == 2
    assert "there is no such baseline" in ended.err
    project.write("accepted.json", '{"accepted": 1}')
    ended = project.gate()
    assert ended.code == 2
    assert "not a baseline" in ended.err
    (project.folder / "accepted.json").unlink()
    assert project.gate("--write-baseline").code == 0
    assert project.gate().code == 0


def test_what_is_accepted_is_suppressed_in_sarif(project: Project) -> None:
    project.weaken()
    project.gate("--write-baseline")
    project.gate("--sarif", "out.sarif")
    (run,) = json.loads((project.folder / "out.sarif").read_text())["runs"]
    (result,) = run["results"]
    assert result["suppressions"][0]["kind"] == "external"
    place = result["locations"][0]["physicalLocation"]
    assert RELAXED in place["contextRegion"]["snippet"]["text"]
