"""Several projects in one repository: each path has the configuration that is nearest to it."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest
from projects import CONFIG, LINE, PUSH_POP, QUEUE, RELAXED, RELEASE, Project

WEAK = QUEUE.replace(RELEASE, RELAXED)


@pytest.fixture
def monorepo(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """Two libraries below the folder where the user is; the one called a is weakened."""
    folder = project.folder.parent
    (folder / ".git").mkdir()
    for name, queue in (("a", WEAK), ("b", QUEUE)):
        for file, text in (
            ("include/queue.hpp", queue),
            ("tests/push_pop.cpp", PUSH_POP),
            ("weakspot.toml", CONFIG.replace(', "tests/*.litmus"', "")),
        ):
            project.write(f"../libs/{name}/{file}", text)
    monkeypatch.chdir(folder)
    return Project(folder, project.weakspot)


def test_a_path_has_its_nearest_configuration_and_names_from_here(monorepo: Project) -> None:
    printed = monorepo.gate("libs/a").printed(1)
    assert f"  --> libs/a/include/queue.hpp:{LINE}:11" in printed
    assert f"memory_order_release at libs/a/include/queue.hpp:{LINE} suffices" in printed
    assert monorepo.gate("libs/b/tests/push_pop.cpp").code == 0


def test_projects_are_checked_in_one_run_and_merged_in_every_output(monorepo: Project) -> None:
    outputs = ("--sarif", "out.sarif", "--junit", "out.xml", "--markdown", "out.md", "--github")
    printed = monorepo.gate("libs/a", "libs/b", *outputs).printed(1)
    assert "1 finding, 1 scenario safe" in printed
    assert f"::error file=libs/a/include/queue.hpp,line={LINE}," in printed
    (run,) = json.loads((monorepo.folder / "out.sarif").read_text())["runs"]
    (result,) = run["results"]
    physical = result["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "libs/a/include/queue.hpp"
    (change,) = result["fixes"][0]["artifactChanges"]
    assert change["artifactLocation"]["uri"] == "libs/a/include/queue.hpp"
    cases = ElementTree.parse(monorepo.folder / "out.xml").getroot().iter("testcase")
    found = {case.get("file") for case in cases}
    assert found == {"libs/a/tests/push_pop.cpp", "libs/b/tests/push_pop.cpp"}
    summary = (monorepo.folder / "out.md").read_text()
    assert f"`libs/a/include/queue.hpp:{LINE}:11`" in summary
    assert "| `libs/b/tests/push_pop.cpp` | rc20 | Safe |" in summary


def test_a_place_in_the_repository_does_not_depend_on_the_current_folder(
    monorepo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(monorepo.folder / "libs/b")
    ended = monorepo.gate("../a", ".", "--github")
    assert f"  --> ../a/include/queue.hpp:{LINE}:11" in ended.out
    assert f"::error file=libs/a/include/queue.hpp,line={LINE}," in ended.out


def test_answers_fingerprints_and_baselines_are_those_of_each_project_alone(
    monorepo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = monorepo.gate("libs/a", "libs/b", "--write-baseline")
    assert written.code == 0, written.err
    assert not (monorepo.folder / "weakspot-baseline.json").exists()
    together = monorepo.gate("libs/a", "libs/b")
    assert (together.code, "2 unchanged" in together.out) == (0, True)
    monkeypatch.chdir(monorepo.folder / "libs/a")
    alone = monorepo.gate()
    assert (alone.code, "1 accepted, 1 unchanged" in alone.out) == (0, True), alone.out
    assert "(tests/push_pop.cpp:" in alone.out


def test_a_finding_of_a_project_below_is_explained_from_here(monorepo: Project) -> None:
    found = json.loads(monorepo.gate("libs/a", "--json").out)
    assert found["scenario"] == "libs/a/tests/push_pop.cpp"
    ended = monorepo.weakspot("explain", found["fingerprint"][:8])
    assert (ended.code, ended.err) == (0, "")
    assert f"libs/a/include/queue.hpp:{LINE}" in ended.out


def test_an_error_in_one_configuration_ends_the_run_before_any_exploration(
    monorepo: Project,
) -> None:
    monorepo.write("libs/b/weakspot.toml", "[gates]\n")
    ended = monorepo.gate("libs/a", "libs/b")
    assert (ended.code, ended.out) == (2, "")
    assert "libs/b/weakspot.toml" in ended.err
