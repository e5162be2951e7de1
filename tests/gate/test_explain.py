"""`weakspot explain` prints the finding, its execution and the page of its id."""

from __future__ import annotations

import json

from projects import QUEUE, Project
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.judge.kinds import KINDS


def test_an_id_is_explained_by_its_page(project: Project) -> None:
    for name, kind in KINDS.items():
        ended = project.weakspot("explain", name.lower())
        assert (ended.code, ended.err) == (0, "")
        assert ended.out == kind.text


def test_a_finding_of_the_last_gate_is_explained_by_fingerprint_scenario_or_test(
    project: Project,
) -> None:
    project.weaken()
    found = json.loads(project.gate("--json").out)
    for name in (found["fingerprint"][:8], "tests/push_pop.cpp", found["test"]):
        printed = project.weakspot("explain", name).printed(0)
        assert "needs at least release under rc20" in printed
        assert "─rf→" in printed
        assert "# WS101 assertion violated" in printed


def test_a_finding_is_explained_until_its_own_scenario_is_repaired(project: Project) -> None:
    project.weaken()
    project.gate()
    assert project.gate("tests/SB.litmus").code == 0
    assert project.weakspot("explain", "tests/push_pop.cpp").code == 0
    project.write("include/queue.hpp", QUEUE)
    project.gate()
    assert project.weakspot("explain", "tests/push_pop.cpp").code == 2


def test_a_finding_of_a_campaign_is_explained(project: Project) -> None:
    project.weaken()
    arguments = ("tests/push_pop.cpp", "-I", "include", "-m", "rc11", "--for", "0")
    assert project.weakspot("test", *arguments).code == 1
    for name in ("push_pop.cpp/push_pop", "MP+porlxrlx+poacqrlx"):
        printed = project.weakspot("explain", name).printed(0)
        assert "WS101" in printed
        assert "─rf→" in printed


def test_an_unknown_name_is_bad_input(project: Project, snapshot: SnapshotAssertion) -> None:
    for name in ("WS999", "nothing"):
        assert steady(project.weakspot("explain", name).reported(2)) == snapshot
