"""A forecast counts the questions that a campaign asks, without asking any of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from fakes import (
    FakeChecker,
    FakeExplorer,
    FakeRunner,
    make_structure,
    make_test,
    make_tools,
    paper,
)
from records import verdict

from weakspot.errors import BadInput
from weakspot.harness.campaign.check_jobs import COMPARING, Check, CodeComparison, Compare
from weakspot.harness.campaign.folder import new_manifest, read_manifest
from weakspot.harness.campaign.folder_run import run
from weakspot.harness.campaign.forecast import Forecast, Repetition, WorkerShare, forecast
from weakspot.harness.campaign.history import Expected, History
from weakspot.harness.campaign.machine_jobs import RunProgram
from weakspot.harness.campaign.progress import Left, Quiet
from weakspot.harness.campaign.tools import Tools
from weakspot.harness.corpus.models import Model
from weakspot.harness.machines import Machine
from weakspot.harness.values.codegen import CodegenComparison, Codes
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import Plan, Timing

PLAN = Plan(
    what=("flags",),
    checkers=("fake",),
    machines=("local",),
    runners=("fake-runner",),
    seconds_run=3.0,
)


class Asked:
    """Tools that count what they are asked."""

    def __init__(self, corpus: Path) -> None:
        self.checker, self.runner = FakeChecker(), FakeRunner()
        self.explorer = FakeExplorer()
        tests = make_test("SB"), make_test("SB+b"), make_test("other", value=1)
        self.tools: Tools = make_tools(
            corpus, self.checker, self.runner, tests, explorer=self.explorer
        )

    @property
    def nothing(self) -> bool:
        return not (self.checker.asked or self.runner.ran or self.explorer.asked)


@pytest.fixture
def asked(tmp_path: Path) -> Asked:
    folder = make_structure(tmp_path / "corpus")
    for name in ("sc", "tso"):
        (folder / f"{name}.cat").write_text(f'"{name}"\nacyclic po | rf | co | fr as {name}\n')
    return Asked(folder)


def predicted(
    asked: Asked,
    root: Path,
    plan: Plan = PLAN,
    seconds: float = 0.0,
    workers: Mapping[str, int] | None = None,
) -> Forecast:
    return forecast(plan, asked.tools, root, seconds=seconds, workers=workers)


def questions(found: Forecast) -> dict[str, tuple[int, int]]:
    return {each.name: (each.jobs, each.stored) for each in found.phases}


def test_it_counts_what_the_campaign_then_asks(asked: Asked, tmp_path: Path) -> None:
    found = predicted(asked, tmp_path / "results")
    assert asked.nothing
    assert questions(found) == {
        "generating": (3, 0),
        "exploring": (2, 0),
        "checking with fake": (6, 0),
        "running on local with fake-runner": (3, 0),
    }
    assert found.unknown == 8, "no campaign has run, and no time is given for estimates"
    assert found.seconds >= 3 * PLAN.seconds_run
    run(PLAN, root=tmp_path / "results", tools=asked.tools)
    asks = len(asked.explorer.asked), len(asked.checker.asked), len(asked.runner.ran)
    assert asks == (2, 6, 3)


def test_a_sample_is_checked_in_the_time_for_estimates(asked: Asked, tmp_path: Path) -> None:
    found = predicted(asked, tmp_path / "results", seconds=60.0)
    checks = next(each for each in found.phases if each.name.startswith("checking"))
    assert checks.sources == {"sampled": 6}
    assert not asked.runner.ran


def test_earlier_campaigns_tell_what_is_known_and_what_adds_nothing(
    asked: Asked, tmp_path: Path
) -> None:
    root = tmp_path / "results"
    folder, _ = run(PLAN, root=root, tools=asked.tools)
    timings = read_manifest(folder).timings
    assert {name: each.jobs for name, each in timings.items()} == {
        "generating": 1,
        "exploring": 2,
        "checking": 6,
        "running on local with fake-runner": 3,
    }
    found = predicted(asked, root)
    assert found.unknown == 0
    assert found.answered == {
        "exploring": 2,
        "checking with fake": 6,
        "running on local with fake-runner": 3,
    }
    assert Repetition(("SB", "SB+b")) in found.repetitions
    longer = msgspec.structs.replace(PLAN, seconds_run=4.0)
    assert predicted(asked, root, longer).answered["running on local with fake-runner"] == 0


def test_what_a_campaign_to_resume_has_answered_is_not_asked(asked: Asked, tmp_path: Path) -> None:
    root = tmp_path / "results"
    asked.checker.stop_after = 2
    with pytest.raises(Exception, match="interrupted"):
        run(PLAN, root=root, tools=asked.tools)
    assert questions(predicted(asked, root))["checking with fake"] == (6, 2)


def test_a_budget_is_divided_and_is_a_limit(asked: Asked, tmp_path: Path) -> None:
    plan = msgspec.structs.replace(PLAN, budget=1.0)
    found = predicted(asked, tmp_path / "results", plan)
    (division,) = found.divisions
    (share,) = division.shares
    assert (share.seconds, share.chosen, share.count, sum(share.ranks)) == (1.0, 2, 3, 2)
    runs = next(each for each in found.phases if each.name.startswith("running"))
    assert (runs.jobs, runs.seconds) == (2, 1.0)


def test_workers_share_what_no_machine_has_to_itself(asked: Asked, tmp_path: Path) -> None:
    root = tmp_path / "results"
    asked.checker.takes = 8.0
    run(PLAN, root=root, tools=asked.tools)
    found = predicted(asked, root, workers={"tcp://a": 1, "tcp://b": 3})
    assert found.workers == (WorkerShare("tcp://a", 1, 2), WorkerShare("tcp://b", 3, 6))
    seconds = {each.name: each.seconds for each in found.phases}
    assert seconds["checking with fake"] == 6 * 8.0 / 4
    assert seconds["running on local with fake-runner"] >= 3 * PLAN.seconds_run
    nobody = predicted(asked, root, workers={})
    assert {each.name: each.seconds for each in nobody.phases}["checking with fake"] == 6 * 8.0
    assert any("no worker has joined" in each for each in nobody.notes)


def test_a_comparison_takes_as_long_as_for_each_configuration_before() -> None:
    history = History()
    how = CodeComparison(
        language=(),
        checker=FakeChecker(),
        builds=("gcc", "clang"),  # type: ignore[arg-type]
        seconds=1.0,
    )
    job = Compare(key="k", test=make_test("SB"), comparison=how)
    assert history.expected(job) is None
    code = CodegenComparison(
        source="SB",
        model="c11",
        target="x86",
        builds=("gcc", "clang"),
        machine="x86tso",
        result="Preserved",
    )
    other = msgspec.structs.replace(code, builds=("gcc -O2",))
    described = msgspec.structs.replace(new_manifest(PLAN), timings={COMPARING: Timing(1, 6.0)})
    history.add(described, [("k", Codes("SB", (code, other)))])
    assert history.expected(job) == Expected("usual", 4.0)


class Watched(Quiet):
    """Whether the time of every job is known when a phase begins."""

    def __init__(self) -> None:
        self.known: dict[str, bool] = {}

    def start(self, total: int, what: str, left: Left | None = None) -> None:  # noqa: ARG002
        if left is not None:
            found = left()
            self.known[what] = found is not None and found.complete


def test_a_campaign_expects_what_others_beside_it_took(
    asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # the checker takes no time, whatever it says
    monkeypatch.setattr(History, "factor", lambda *_: 1.0)
    root = tmp_path / "results"
    asked.checker.takes = 8.0
    folder, _ = run(PLAN, root=root, tools=asked.tools)
    damaged = root / "damaged"
    damaged.mkdir()
    (damaged / "campaign.json").write_bytes((folder / "campaign.json").read_bytes())
    (damaged / "verdicts.jsonl").write_text('{"key": 1}\n{"key": 2}\n')
    with pytest.raises(BadInput):
        History.below(root)
    watched = Watched()
    run(PLAN, root=root, folder=root / "again", tools=asked.tools, progress=watched)
    assert watched.known["checking"]
    assert watched.known["running on local with fake-runner"]


def test_a_program_that_hung_takes_as_long_again() -> None:
    job = RunProgram(
        key="hangs",
        on=Machine("local", "x86_64"),
        name="hangs",
        program=paper(),
        seconds=PLAN.seconds_run,
        runner=lambda *_, **__: None,
    )
    history = History()
    assert history.expected(job) == Expected("given", 4.0)
    described = msgspec.structs.replace(
        new_manifest(PLAN), timings={"running programs on local": Timing(2, 14.0)}
    )
    runs = [
        ProgramRun(program=name, machine="local", runner="", seconds=seconds)
        for name, seconds in (("hangs", 10.0), ("other", 3.0))
    ]
    history.add(described, [(each.program, each) for each in runs])
    assert history.expected(job) == Expected("repeated", 10.5)
    assert history.elapsed(msgspec.structs.replace(job, key="new")) == 3.5


def test_times_are_the_median_of_campaigns_and_phases_scale_them() -> None:
    history = History()
    asked = verdict("Never", "sc", checker="fake")
    described = new_manifest(PLAN)
    for seconds, took in ((2.0, 1.0), (4.0, 2.0), (100.0, 50.0)):
        timings = {"checking": Timing(1, took)}
        answer = msgspec.structs.replace(asked, seconds=seconds)
        history.add(msgspec.structs.replace(described, timings=timings), [("k", answer)])
    job = Check(
        key="k",
        test=make_test("SB"),
        model=Model(name="sc", file="", title="", role="reference"),
        checker=FakeChecker(),
        seconds=1.0,
    )
    assert history.expected(job) == Expected("repeated", 4.0)
    other = msgspec.structs.replace(job, key="another text")
    assert history.expected(other) == Expected("similar", 4.0)
    assert history.factor("checking") == 0.5
    assert history.factor("exploring") is None
