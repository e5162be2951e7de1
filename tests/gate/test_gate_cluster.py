"""The gate on a cluster: the same findings, from workers that have no file of the project."""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import msgspec
import pytest
from clusters import in_process
from projects import PUSH_POP, SB, WEAK_SB, Project

from weakspot import api
from weakspot.errors import MissingTool
from weakspot.harness.campaign import parcels
from weakspot.harness.campaign.check_jobs import Check
from weakspot.harness.campaign.executor import Receiver
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.progress import Quiet
from weakspot.harness.gate.campaign import GateCampaign
from weakspot.harness.gate.outcome import GateOutcome
from weakspot.harness.gate.scenarios import Scenario
from weakspot.harness.gate.selection import select
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.verdict import Verdict


def found(outcome: GateOutcome) -> list[object]:
    """What a run of the gate found, without the time that it took."""
    results = [msgspec.structs.replace(each, seconds=0.0) for each in outcome.scenarios]
    return [*results, *((each.fingerprint, each.finding.message) for each in outcome.findings)]


def test_the_findings_are_those_of_this_computer(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.weaken()
    project.write("tests/sb.litmus", SB)
    project.write("tests/weak.litmus", WEAK_SB)
    project.write("tests/broken.cpp", "int main( {")
    monkeypatch.chdir(project.folder)
    executor, workers = in_process(monkeypatch)
    there = api.gate(cached=False, executor=executor)
    assert found(there) == found(api.gate(cached=False))
    assert {each.finding.id for each in there.findings} == {"WS001", "WS002", "WS101"}
    assert workers.most > 1


def test_each_scenario_that_a_missing_tool_leaves_out_is_reported(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object) -> None:
        raise MissingTool("clang is not installed")

    project.write("tests/again.cpp", PUSH_POP)
    monkeypatch.chdir(project.folder)
    monkeypatch.setattr(Scenario, "generated", missing)
    executor, _ = in_process(monkeypatch)
    there = api.gate(cached=False, executor=executor)
    assert there.unreadable == {"tests/again.cpp", "tests/push_pop.cpp"}
    assert found(there) == found(api.gate(cached=False))


def test_a_worker_needs_no_file_of_the_project(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.write("tests/sb.litmus", SB)
    monkeypatch.chdir(project.folder)
    ((selected, files),) = select(None, [], project.folder)
    sent: list[bytes] = []

    class Packing:
        """An executor that sends everything, and waits for nothing."""

        def run(self, jobs: Sequence[Job], to: Receiver) -> None:
            for ready in to.timed(jobs, 1):
                assert isinstance(ready, Explore | Check)
                sent.append(parcels.pack([ready.on_one_core()]))

    campaign = GateCampaign(selected, cached=False, progress=Quiet(), executor=Packing())
    campaign.ask_about(files)
    shutil.rmtree(project.folder / "tests")
    shutil.rmtree(project.folder / "include")
    answers = [answer for parcel in sent for _, answer, _ in parcels.perform(parcel).answers]
    assert len(answers) == len(files) >= 2
    assert {
        each.result if isinstance(each, Exploration) else each.observation
        for each in answers
        if isinstance(each, Exploration | Verdict)
    } == {"Safe", "Never"}
