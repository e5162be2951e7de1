"""A campaign does each job once, however it is interrupted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from fakes import FakeChecker, FakeExplorer, FakeRunner, make_structure, make_test, make_tools

from weakspot.errors import BadInput, ToolFailed, WeakspotError
from weakspot.generators.source.program import Program
from weakspot.harness.campaign.executor import Receiver, Stopped
from weakspot.harness.campaign.folder import FolderStore, latest_unfinished, read_manifest
from weakspot.harness.campaign.folder_run import run
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.corpus import models
from weakspot.harness.machines import Machine
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import Plan
from weakspot.system.deadline import Deadline
from weakspot.system.tools import Tool

PLAN = Plan(what=("flags",), checkers=("fake",), machines=("local",), runners=("fake-runner",))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = make_structure(tmp_path / "corpus")
    for name in ("sc", "tso"):
        (folder / f"{name}.cat").write_text(f'"{name}"\nacyclic po | rf | co | fr as {name}\n')
    return folder


def test_a_campaign_asks_every_checker_and_runs_every_test(corpus: Path, tmp_path: Path) -> None:
    checker, runner = FakeChecker(), FakeRunner()
    folder, record = run(PLAN, root=tmp_path / "results", tools=make_tools(corpus, checker, runner))
    assert sorted(checker.asked) == [("SB", "sc"), ("SB", "tso"), ("SB+b", "sc"), ("SB+b", "tso")]
    assert runner.ran == ["SB", "SB+b"]
    assert record.manifest.finished
    assert record.manifest.tools["fake"] == "1.0"
    assert record.machine["local"].profile["cpu"] == "made of paper"
    assert (folder / "tests" / "SB.litmus").read_text() == make_test("SB").text


def test_programs_run_as_a_whole_once(corpus: Path, tmp_path: Path) -> None:
    ran: list[str] = []

    def whole(
        subjects: Sequence[tuple[str, Program]],
        machine: Machine,
        *,
        seconds: float,
        done: Callable[[ProgramRun], None],
        end: Deadline,  # noqa: ARG001
    ) -> None:
        assert seconds == PLAN.seconds_run
        for name, _ in subjects:
            ran.append(name)
            if len(ran) == 1:
                raise ToolFailed("the compiler is away")
            done(ProgramRun(program=name, machine=machine.name, runner="native", instances=5))

    tools = make_tools(corpus, FakeChecker())
    tools = msgspec.structs.replace(tools, whole=whole)
    plan = msgspec.structs.replace(PLAN, runners=("native",))
    folder, record = run(plan, root=tmp_path / "results", tools=tools)
    assert not record.runs
    assert "programs on local: the compiler is away" in record.manifest.notes
    _, record = run(plan, folder=folder, tools=tools)
    (found,) = record.runs
    assert (found.program, found.instances) == ("flags/both", 5)
    run(plan, folder=folder, tools=tools)
    assert ran == ["flags/both", "flags/both"], "an answer that is there is not asked for again"


def test_the_compiled_code_of_each_test_is_checked_once(
    tmp_path: Path, need: Callable[[str], Tool]
) -> None:
    need("gcc")
    for name in ("SB", "other"):
        (tmp_path / f"{name}.litmus").write_text(make_test(name, value=int(name == "other")).text)
    plan = Plan(
        what=tuple(str(tmp_path / f"{name}.litmus") for name in ("SB", "other")),
        models=("c11",),
        checkers=("engine",),
        compiled=("gcc", "O1", "O2"),
    )
    folder, record = run(plan, folder=tmp_path / "campaign")
    assert {each.source for each in record.compiled} == {"SB", "other"}
    assert {each.result for each in record.compiled} == {"Preserved"}
    assert all(each.assembly and each.test is not None for each in record.compiled)
    compiled = (folder / "compiled.jsonl").read_bytes()
    assert run(plan, folder=folder)[1].compiled == record.compiled
    assert (folder / "compiled.jsonl").read_bytes() == compiled, "nothing is compiled again"
    first = compiled.split(b"\n")[0] + b"\n"
    (folder / "compiled.jsonl").write_bytes(first)
    assert run(plan, folder=folder)[1].compiled == record.compiled
    assert (folder / "compiled.jsonl").read_bytes() == compiled, (
        "only the truncated line is compiled again"
    )


def test_a_way_to_compile_that_nobody_knows_begins_no_campaign(tmp_path: Path) -> None:
    plan = msgspec.structs.replace(PLAN, compiled=("tcc",))
    with pytest.raises(BadInput, match="no compiler, level or target"):
        run(plan, folder=tmp_path / "campaign")
    assert not (tmp_path / "campaign").exists()


def test_ctrl_c_preserves_results_and_prints_how_to_resume(corpus: Path, tmp_path: Path) -> None:
    root = tmp_path / "results"
    with pytest.raises(Stopped, match="same command") as stopped:
        run(PLAN, root=root, tools=make_tools(corpus, FakeChecker(stop_after=3)))
    again = FakeChecker()
    folder, record = run(PLAN, root=root, tools=make_tools(corpus, again))
    assert str(folder) == stopped.value.stored_in
    assert len(again.asked) == 1
    assert len(record.verdicts) == 4


def test_a_finished_campaign_is_not_taken_up_again(corpus: Path, tmp_path: Path) -> None:
    root = tmp_path / "results"
    first, _ = run(PLAN, root=root, tools=make_tools(corpus, FakeChecker()))
    second, _ = run(PLAN, root=root, tools=make_tools(corpus, FakeChecker()))
    assert first != second


def test_a_changed_test_is_checked_again_and_an_unchanged_one_is_not(
    corpus: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "campaign"
    run(PLAN, folder=folder, tools=make_tools(corpus, FakeChecker()))
    checker = FakeChecker()
    tests = [make_test("SB", value=1), make_test("SB+b", line=99)]
    _, record = run(PLAN, folder=folder, tools=make_tools(corpus, checker, tests=tests))
    assert sorted(checker.asked) == [("SB", "sc"), ("SB", "tso")]
    assert len(record.verdicts) == 4


def test_a_changed_model_is_checked_again(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    run(PLAN, folder=folder, tools=make_tools(corpus, FakeChecker()))
    (corpus / "tso.cat").write_text('"tso"\nempty rf as nothing\n')
    checker = FakeChecker()
    run(PLAN, folder=folder, tools=make_tools(corpus, checker))
    assert sorted(checker.asked) == [("SB", "tso"), ("SB+b", "tso")]


def test_a_model_with_a_changed_include_is_another_model(tmp_path: Path) -> None:
    (tmp_path / "a.cat").write_text('include "b.cat"')
    (tmp_path / "b.cat").write_text("let x = rf")
    before = models.resolve(tmp_path / "a.cat")
    (tmp_path / "b.cat").write_text("let x = co")
    assert not before.is_current
    assert models.resolve(tmp_path / "a.cat").digest_of_text != before.digest_of_text


def test_a_newer_checker_is_asked_again(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    run(PLAN, folder=folder, tools=make_tools(corpus, FakeChecker()))
    newer = FakeChecker()
    newer.version = "2.0"
    _, record = run(PLAN, folder=folder, tools=make_tools(corpus, newer))
    assert len(newer.asked) == 4
    assert len(record.verdicts) == 4


def test_what_fails_for_every_job_is_noted_once(corpus: Path, tmp_path: Path) -> None:
    class Failing:
        """An executor whose workers can do nothing."""

        def run(self, jobs: Sequence[Job], to: Receiver) -> None:
            for job in jobs:
                to.events.failed(job, ToolFailed("it fell over"))

    tools = make_tools(corpus, FakeChecker())
    _, record = run(PLAN, root=tmp_path / "results", tools=tools, executor=Failing())
    fallen = [each for each in record.manifest.notes if "fell over" in each]
    assert sorted(fallen) == sorted(set(fallen))
    assert "fake under tso: it fell over" in fallen


def test_a_checker_that_fails_is_noted_and_asked_again(corpus: Path, tmp_path: Path) -> None:
    root = tmp_path / "results"
    checker = FakeChecker()
    checker.fails_under = "tso"
    folder, record = run(PLAN, root=root, tools=make_tools(corpus, checker))
    assert "fake under tso: it fell over" in record.manifest.notes
    assert not record.manifest.finished
    again = FakeChecker()
    assert run(PLAN, root=root, tools=make_tools(corpus, again))[0] == folder
    assert sorted(again.asked) == [("SB", "tso"), ("SB+b", "tso")]


def test_a_checker_that_is_not_installed_is_reported(corpus: Path, tmp_path: Path) -> None:
    checker = FakeChecker()
    checker.installed = False
    _, record = run(PLAN, root=tmp_path, tools=make_tools(corpus, checker))
    assert "fake is not installed: nothing was checked with it" in record.manifest.notes


def test_another_plan_does_not_go_into_the_same_folder(corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "campaign"
    run(PLAN, folder=folder, tools=make_tools(corpus, FakeChecker()))
    with pytest.raises(BadInput, match="another plan"):
        run(Plan(what=("flags",)), folder=folder, tools=make_tools(corpus, FakeChecker()))


def test_two_processes_do_not_write_one_campaign(corpus: Path, tmp_path: Path) -> None:
    root = tmp_path / "results"
    checker = FakeChecker(stop_after=1)
    with pytest.raises(Stopped):
        run(PLAN, root=root, tools=make_tools(corpus, checker))
    folder = latest_unfinished(root, PLAN)
    assert folder is not None
    with FolderStore.open(folder):
        with pytest.raises(WeakspotError, match="another weakspot is writing"):
            FolderStore.open(folder)
        assert latest_unfinished(root, PLAN) is None


def test_the_newest_interrupted_campaign_resumes(corpus: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        tools = make_tools(corpus, FakeChecker(stop_after=1))
        with pytest.raises(Stopped):
            run(PLAN, folder=tmp_path / name, tools=tools)
    older = read_manifest(tmp_path / "b")
    with FolderStore.open(tmp_path / "b") as store:
        store.describe(msgspec.structs.replace(older, started="2001-01-01T00:00:00+0000"))
    assert latest_unfinished(tmp_path, PLAN) == tmp_path / "a"


# --- programs ---------------------------------------------------------------------------------

WRONG = Exploration(
    program="flags/both",
    model="tso",
    result="Violated",
    complete=3,
    violations=(Violation(kind="assertion", message="`x` fails", sites=("both.c:2",), test="MP"),),
    tests=(make_test("MP"),),
)


def test_every_program_is_explored_once_under_each_model(corpus: Path, tmp_path: Path) -> None:
    explorer = FakeExplorer()
    folder, record = run(
        PLAN, root=tmp_path / "results", tools=make_tools(corpus, FakeChecker(), explorer=explorer)
    )
    assert explorer.asked == [("flags/both", "sc"), ("flags/both", "tso")]
    assert [(each.model, each.result) for each in record.explorations] == [
        ("sc", "Safe"),
        ("tso", "Safe"),
    ]
    again = FakeExplorer()
    run(PLAN, folder=folder, tools=make_tools(corpus, FakeChecker(), explorer=again))
    assert again.asked == []


def test_ctrl_c_keeps_the_programs_that_were_explored(corpus: Path, tmp_path: Path) -> None:
    root = tmp_path / "results"
    interrupted = FakeExplorer(stop_after=1)
    with pytest.raises(Stopped):
        run(PLAN, root=root, tools=make_tools(corpus, FakeChecker(), explorer=interrupted))
    again = FakeExplorer()
    _, record = run(PLAN, root=root, tools=make_tools(corpus, FakeChecker(), explorer=again))
    assert again.asked == [("flags/both", "tso")]
    assert len(record.explorations) == 2


def test_the_test_of_a_violation_is_stored_checked_and_run(corpus: Path, tmp_path: Path) -> None:
    explorer, checker, runner = FakeExplorer(), FakeChecker(), FakeRunner()
    explorer.answers["tso"] = WRONG
    tools = make_tools(corpus, checker, runner, explorer=explorer)
    folder, record = run(PLAN, root=tmp_path / "results", tools=tools)
    assert (folder / "tests" / "MP.litmus").is_file()
    assert ("MP", "sc") in checker.asked
    assert "MP" in runner.ran
    assert record.explorations_of["flags/both"][1].violations[0].test in record.entry
    (finding,) = (each for each in record.findings if each.id == "WS101")
    assert finding.message == "flags/both: `x` fails"


def test_a_resumed_campaign_has_the_tests_of_its_violations(corpus: Path, tmp_path: Path) -> None:
    root = tmp_path / "results"
    explorer = FakeExplorer()
    explorer.answers["tso"] = WRONG
    with pytest.raises(Stopped):
        run(PLAN, root=root, tools=make_tools(corpus, FakeChecker(stop_after=0), explorer=explorer))
    again, checker = FakeExplorer(), FakeChecker()
    _, record = run(PLAN, root=root, tools=make_tools(corpus, checker, explorer=again))
    assert again.asked == []
    assert ("MP", "tso") in checker.asked
    assert "MP" in record.entry


def test_a_model_that_no_program_is_explored_under_is_reported(
    corpus: Path, tmp_path: Path
) -> None:
    explorer = FakeExplorer()
    explorer.refused["tso"] = "tso allows cycles of po and rf"
    _, record = run(PLAN, root=tmp_path, tools=make_tools(corpus, FakeChecker(), explorer=explorer))
    assert explorer.asked == [("flags/both", "sc")]
    assert "skipped 1 exploration: tso allows cycles of po and rf" in record.manifest.notes
