"""docs/queries.md shows what its SQL statements return: DuckDB runs them on two campaigns, of real
tests, verdicts and explorations, on machines whose counts are scripted."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

import duckdb
import msgspec
import pytest
from fakes import FakeMachine

from weakspot.generators.litmus import Test
from weakspot.generators.pipeline import NamedProgram
from weakspot.generators.source.program import Program
from weakspot.harness.campaign.folder import load
from weakspot.harness.campaign.folder_run import run
from weakspot.harness.campaign.tools import Tools, installed
from weakspot.harness.checkers.explorer import UNOBSERVED, Course, EngineExplorer
from weakspot.harness.corpus.models import Model
from weakspot.harness.machines import Machine
from weakspot.harness.runners.steadiness import SteadinessProbe
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import ControlTest, Histogram
from weakspot.harness.values.program_run import Failure, ProgramRun
from weakspot.harness.values.record import Plan
from weakspot.system.deadline import Deadline

PAGE = Path(__file__).resolve().parents[2] / "docs" / "queries.md"
#: a statement or several, and the table below them, if there is one
BLOCK = re.compile(r"```sql\n(.*?)```\n(?:\n((?:\|[^\n]*\n)+))?", re.S)

PLAN = Plan(
    what=("hazard_pointers",),
    models=("sc", "tso", "rc20"),
    checkers=("engine",),
    machines=("board", "laptop"),
    runners=("native",),
)
CAMPAIGNS = ("2026-11-02-0900", "2026-11-20-0900")
ARCHITECTURES = {"board": "aarch64", "laptop": "x86_64"}
KERNELS = {
    ("board", CAMPAIGNS[0]): "Linux 6.1.0",
    ("board", CAMPAIGNS[1]): "Linux 6.12.0",
    ("laptop", CAMPAIGNS[0]): "Linux 6.12.0",
    ("laptop", CAMPAIGNS[1]): "Linux 6.12.0",
}
ITERATIONS = 1_000_000
#: how often a machine showed a test's outcome in each campaign; the others it never showed
SEEN = {
    ("MP+ponarel+ctrlrlxna", "board"): (412, 130),
    ("SB+fencescexchrelacq+porelacq", "board"): (2051, 2051),
    ("SB+fencescexchrelacq+porelacq", "laptop"): (3040, 3040),
}
#: what is weakened in variants of a test, and how often each machine showed the variant
VARIANTS = {
    "MP+ponaexchrel+ctrlacqna": {
        "P0 with its release exchange of y relaxed": {"board": 0, "laptop": 0},
        "P1 with its acquire load of y relaxed": {"board": 77, "laptop": 0},
    },
    "SB+fencescrelacq+poexchrelacq": {
        "all fences removed and all orders relaxed": {"board": 5120, "laptop": 4033}
    },
}


class ScriptedRunner(msgspec.Struct, frozen=True):
    """Reports the counts of a campaign."""

    campaign: str
    name: str = "native"
    rank: int = 0
    requires: tuple[str, ...] = ()
    whole_programs: bool = True

    def available(self, machine: FakeMachine) -> str:  # noqa: ARG002
        return ""

    def run(
        self,
        tests: Sequence[Test],
        machine: FakeMachine,
        *,
        seconds: float,
        done: Callable[[Histogram], None],
        end: Deadline,  # noqa: ARG002
    ) -> None:
        for test in tests:
            counts = SEEN.get((test.name, machine.name), (0, 0))
            target = counts[CAMPAIGNS.index(self.campaign)]
            done(
                Histogram(
                    test=test.name,
                    machine=machine.name,
                    runner=self.name,
                    arch=machine.arch,
                    histogram=(),
                    target=target,
                    iterations=ITERATIONS,
                    seconds=seconds,
                    parameters={"compiler": "gcc 12.2.0", "setting": "slot=250 jitter=63"},
                    control_tests=tuple(
                        ControlTest(
                            kind="weaker",
                            change=change,
                            target=shown[machine.name],
                            target_independent=shown[machine.name],
                            iterations=ITERATIONS,
                        )
                        for change, shown in VARIANTS.get(test.name, {}).items()
                    ),
                )
            )


class TimedExplorer(EngineExplorer, frozen=True):
    """Explores as the engine does; an execution takes a millisecond."""

    def explore(
        self, program: NamedProgram, model: Model, bounds: Bounds, course: Course = UNOBSERVED
    ) -> Exploration:
        found = super().explore(program, model, bounds, course)
        return msgspec.structs.replace(found, seconds=found.executions / 1000)


def run_programs(
    subjects: Sequence[tuple[str, Program]],
    machine: Machine,
    *,
    seconds: float,  # noqa: ARG001
    done: Callable[[ProgramRun], None],
    end: Deadline,  # noqa: ARG001
) -> None:
    """One program fails on one machine."""
    for name, _ in subjects:
        failed = name == "hazard_pointers/no_protect_fence" and machine.name == "board"
        crash = Failure(kind="crash", message="segmentation fault", count=3)
        done(
            ProgramRun(
                program=name,
                machine=machine.name,
                runner="native",
                arch=machine.arch,
                instances=5000,
                overlapped=1200,
                failures=(crash,) if failed else (),
            )
        )


def scripted(campaign: str) -> Tools:
    """The installed tools, with scripted machines."""

    def machine(name: str) -> FakeMachine:
        return FakeMachine(name, ARCHITECTURES[name])

    def profile(machine: Machine) -> object:
        return {
            "machine": machine.name,
            "arch": machine.arch,
            "cpu": f"of the {machine.name}",
            "kernel": KERNELS[machine.name, campaign],
            "compiler": "gcc 12.2.0",
        }

    return msgspec.structs.replace(
        installed(),
        runner=lambda _: ScriptedRunner(campaign),
        machine=machine,
        profile=profile,
        gauge=lambda _: nullcontext(SteadinessProbe()),
        explorer=TimedExplorer(),
        whole=run_programs,
        priced=None,
    )


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of two campaigns; the second one's verdicts end in an incomplete line."""
    root = tmp_path_factory.mktemp("queries") / "results"
    for campaign in CAMPAIGNS:
        run(PLAN, folder=root / campaign, tools=scripted(campaign))
    with (root / CAMPAIGNS[1] / "verdicts.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"key":"ff9388b9b6effd63:5336f236d533a3bb:engine","test":"MP+pona')
    return root


@pytest.fixture
def database(results: Path, monkeypatch: pytest.MonkeyPatch) -> duckdb.DuckDBPyConnection:
    """With the views of the page, and without extensions that are fetched from the network."""
    monkeypatch.chdir(results.parent)
    return connected()


def connected() -> duckdb.DuckDBPyConnection:
    found = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    for statements, _ in blocks():
        if statements.startswith("CREATE"):
            found.execute(statements)
    return found


def blocks() -> list[tuple[str, str]]:
    return BLOCK.findall(PAGE.read_text(encoding="utf-8"))


def section(title: str, at: int = 0) -> str:
    """A statement below a heading of the page."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {title}\n")[2]
    found: str = BLOCK.findall(text)[at][0]
    return found


def as_markdown(found: duckdb.DuckDBPyConnection) -> str:
    """The result as DuckDB's `.mode markdown` prints it, without the padding."""
    rows = [[str(column[0]) for column in found.description or ()]]
    rows += [[as_text(value) for value in row] for row in found.fetchall()]
    head, *body = (f"| {' | '.join(row)} |\n" for row in rows)
    return "".join([head, "|" + "---|" * len(rows[0]) + "\n", *body])


def as_text(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(as_text(each) for each in value)}]"
    if value is None:
        return "NULL"
    return str(value).lower() if isinstance(value, bool) else str(value)


def test_statements_return_the_tables_that_the_page_shows(
    database: duckdb.DuckDBPyConnection,
) -> None:
    shown = [block for block in blocks() if not block[0].startswith("CREATE")]
    assert len(shown) > 10
    returned = [(query, as_markdown(database.execute(query))) for query, _ in shown]
    assert returned == shown


@pytest.fixture
def resumed(results: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The first of the campaigns alone, where more can be appended to it."""
    campaign = tmp_path / "results" / CAMPAIGNS[0]
    shutil.copytree(results / CAMPAIGNS[0], campaign)
    monkeypatch.chdir(tmp_path)
    return campaign


def append_changed(file: Path, about: dict[str, str], **changed: object) -> None:
    """Append the answer about that once more, with other content."""
    answers = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    (answer,) = [each for each in answers if about.items() <= each.items()]
    with file.open("a", encoding="utf-8") as opened:
        opened.write(json.dumps({**answer, **changed}) + "\n")


SB = {"test": "SB+fencescrelacq+poexchrelacq", "model": "tso", "checker": "engine"}


def test_checkers_that_disagree_are_listed(resumed: Path) -> None:
    append_changed(resumed / "verdicts.jsonl", SB, checker="herd7", observation="Sometimes")
    found = connected().execute(section("Where do checkers disagree?")).fetchall()
    assert found == [(CAMPAIGNS[0], *SB.values(), "Never", "herd7", "Sometimes")]


def test_unknown_and_undetected_races_are_no_disagreement(resumed: Path) -> None:
    verdicts = resumed / "verdicts.jsonl"
    append_changed(verdicts, SB, checker="herd7", observation="Unknown", states=[])
    append_changed(verdicts, SB, checker="cbmc", observation="Undefined", states=[])
    assert not connected().execute(section("Where do checkers disagree?")).fetchall()


def test_an_exploration_that_reached_a_limit_is_listed(resumed: Path) -> None:
    about = {"program": "hazard_pointers/two_readers", "model": "tso"}
    changed = {"result": "Unknown", "complete": 5, "reasons": ["time limit"]}
    append_changed(resumed / "explorations.jsonl", about, **changed)
    ((program, model, executions, reasons),) = (
        connected().execute(section("Which explorations are slowest?", 1)).fetchall()
    )
    assert (program, model, reasons) == (*about.values(), ["time limit"])
    assert executions < 69


def test_the_last_answer_about_the_present_test_counts(resumed: Path) -> None:
    verdicts = resumed / "verdicts.jsonl"
    append_changed(verdicts, SB, observation="Always")
    changed = verdicts.read_text(encoding="utf-8").splitlines()[-1]
    stale = {**json.loads(changed), "key": "0123456789abcdef:0:engine", "observation": "Sometimes"}
    with verdicts.open("a", encoding="utf-8") as file:
        file.write(json.dumps(stale) + "\n")
    asked = f"SELECT observation FROM verdicts WHERE test = '{SB['test']}' AND model = 'tso'"
    assert connected().execute(asked).fetchall() == [("Always",)]
    (counted,) = load(resumed).verdicts_of[SB["test"], "tso"]
    assert counted.observation == "Always"


def test_views_count_the_answers_that_weakspot_counts(resumed: Path) -> None:
    record = load(resumed)
    for name in ("verdicts", "explorations", "histograms", "runs", "findings"):
        (counted,) = connected().execute(f"SELECT count(*) FROM {name}").fetchall()
        assert counted == (len(getattr(record, name)),), name
