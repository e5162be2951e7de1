"""The engine as a checker: it answers as herd7 does, says why, and keeps to its limits. What it
promises as every checker does is in test_deciders.py."""

from __future__ import annotations

import _thread
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import asking
import pytest
from asking import answers
from ended import execute
from processes import wait_until_busy
from texts import MP, RACE, SB, asked, made

from weakspot import _engine
from weakspot.generators.litmus import Test, read_test
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.herd7 import Herd7
from weakspot.harness.corpus import models
from weakspot.harness.report import witness
from weakspot.harness.report.drawing import of_witness
from weakspot.harness.report.site.diagrams import diagram
from weakspot.harness.values.herdlog import format_verdict
from weakspot.harness.values.verdict import Verdict
from weakspot.system import tools
from weakspot.system.tools import Tool

LITMUS = Path(__file__).resolve().parents[2] / "litmus"
GOLDEN = sorted(LITMUS.glob("*/tests/*.litmus"))


def stores(threads: int, each: int, *, loads: bool = True) -> str:
    """Threads that store to one location; there are as many executions as ways to order them.
    Without loads they store to two in turn, so that no order can be counted without the other."""
    lines = ["C W", "{}"]
    for thread in range(threads):
        lines.append(f"P{thread} (atomic_int* x, atomic_int* y) {{")
        for store in range(each):
            value = thread * each + store + 1
            place = "x" if loads or store % 2 == 0 else "y"
            lines.append(f"  atomic_store_explicit({place}, {value}, memory_order_relaxed);")
        if loads:
            lines.append("  int r0 = atomic_load_explicit(x, memory_order_relaxed);")
        lines.append("}")
    return "\n".join([*lines, "exists (0:r0=1)" if loads else "exists (x=1)", ""])


def checked(
    tests: Sequence[Test], model: str, seconds: float = 10.0, engine: Engine | None = None
) -> list[Verdict]:
    return asked(engine or Engine(), tests, model, seconds)


def test_a_data_race_makes_a_test_undefined_and_is_shown() -> None:
    (verdict,) = checked([made(RACE)], "rc11")
    assert verdict.observation == "Undefined"
    assert verdict.condition_holds is None
    assert verdict.flags == ("*undef*",)
    assert verdict.witness is not None
    assert verdict.witness.axiom == ""


# --- why --------------------------------------------------------------------------------------


def test_a_witness_is_the_execution_with_the_outcome() -> None:
    (verdict,) = checked([made(SB)], "rc11")
    found = verdict.witness
    assert found is not None
    assert found.state == {"0:r0": "0", "1:r0": "0"}
    assert [kind for *_, kind in found.cycle] == ["po", "fr", "po", "fr"]
    assert verdict.forbidden_by == {}
    assert "\n".join(witness.columns(found)) == (
        "P0                        P1\n"
        "a  store x = 1 (rlx)      c  store y = 1 (rlx)\n"
        "b  load y = 0 (rlx)       d  load x = 0 (rlx)\n"
        "d reads the initial value of x\n"
        "b reads the initial value of y\n"
        "cycle: a ─po→ b ─fr→ c ─po→ d ─fr→ a\n"
        "final state: 0:r0=0 1:r0=0"
    )


def test_the_events_of_a_generated_test_name_their_sites() -> None:
    origin = "Origin1=flags/both: first flags.c:7,flags.c:8 || second flags.c:14,flags.c:15\n"
    (verdict,) = checked([made(SB.replace("{}", origin + "{}"))], "rc11")
    found = verdict.witness
    assert found is not None
    assert [event.site for event in found.events if event.thread is not None] == [
        *("flags.c:7", "flags.c:8", "flags.c:14", "flags.c:15")
    ]
    assert "a  flags.c:7 store x = 1 (rlx)      c  flags.c:14 store y = 1 (rlx)" in (
        witness.columns(found)
    )
    assert [node.site for node in of_witness(found).nodes][:2] == ["flags.c:7", "flags.c:8"]
    # a thread that did not do all that it has sites for is not named by guess
    (verdict,) = checked(
        [made(SB.replace("{}", origin.replace("c:7,", "c:6,flags.c:7,") + "{}"))], "rc11"
    )
    assert verdict.witness is not None
    sites = {event.thread: event.site for event in verdict.witness.events}
    assert (sites[0], sites[1]) == ("", "flags.c:15")


def test_a_forbidden_outcome_names_the_axiom_that_kills_it() -> None:
    (verdict,) = checked([made(MP)], "rc11")
    assert verdict.observation == "Never"
    assert verdict.forbidden_by == {"coherence": 1}
    assert witness.explanation(verdict)[0] == "forbidden by axiom `coherence` (1 candidate)"
    assert verdict.witness is not None
    assert verdict.witness.axiom == "coherence"
    shown = witness.columns(verdict.witness)
    assert "b  store y = 1 (rel) ─rf→ c  load y = 1 (acq)" in shown
    assert "cycle: a ─po→ b ─rf→ c ─po→ d ─fr→ a" in shown


def test_a_witness_of_a_forall_shows_a_state_that_violates_it() -> None:
    text = SB[: SB.index("exists")] + r"forall (0:r0=1 \/ 1:r0=1)" + "\n"
    (verdict,) = checked([made(text)], "rc11")
    assert verdict.witness is not None
    assert verdict.witness.state == {"0:r0": "0", "1:r0": "0"}
    (verdict,) = checked([made(text)], "sc")
    assert verdict.observation == "Always"
    assert verdict.forbidden_by == {"sc": 1}


def test_an_outcome_whose_values_cannot_come_about_has_no_candidate() -> None:
    (verdict,) = checked([made(SB.replace("1:r0=0", "1:r0=7"))], "sc")
    assert verdict.witness is None
    assert witness.explanation(verdict) == [
        "no candidate execution has the outcome: no write supplies its values"
    ]


def test_every_witness_has_a_diagram() -> None:
    tests = [read_test(path) for path in GOLDEN]
    verdicts = checked(tests, "rc11")
    shown = [verdict.witness for verdict in verdicts if verdict.witness is not None]
    assert len(shown) > len(tests) / 2
    for each in shown:
        drawn = diagram(of_witness(each))
        assert drawn is not None
        assert all(0 < box.x < drawn.width for box in drawn.boxes)
        assert all(0 < box.y < drawn.height for box in drawn.boxes)
        assert witness.columns(each)


def test_the_candidates_that_an_axiom_kills_are_those_with_the_outcome() -> None:
    """Each golden test that a model forbids has its reason."""
    tests = [read_test(path) for path in GOLDEN]
    for verdict in checked(tests, "sc"):
        assert verdict.observation != "Never" or verdict.forbidden_by, verdict.test


# --- limits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("loads", [True, False], ids=["reads-from", "coherence"])
def test_a_test_that_takes_too_long_is_unknown_with_the_reason(loads: bool) -> None:
    begin = time.monotonic()
    slow, quick = checked([made(stores(5, 4, loads=loads)), made(SB)], "sc", seconds=0.5)
    if slow.test == "SB":
        slow, quick = quick, slow
    assert time.monotonic() - begin < 20
    assert quick.observation == "Never"
    assert slow.observation == "Unknown"
    assert slow.condition_holds is None
    assert slow.states == ()
    assert slow.reason == "time limit of 0.5 s"


def test_a_test_with_too_many_candidates_is_unknown_with_the_reason() -> None:
    (verdict,) = checked([made(stores(3, 2))], "sc", engine=Engine(candidates=10))
    assert verdict.observation == "Unknown"
    assert verdict.reason == "limit of 10 candidate executions"


def test_a_test_that_takes_too_much_memory_is_unknown_with_the_reason() -> None:
    """What grows here is the list of states: each of 16 loads sees one of two values."""
    places = [f"x{i}" for i in range(16)]
    parameters = ", ".join(f"atomic_int* {x}" for x in places)
    stores = [f"  atomic_store_explicit({x}, 1, memory_order_relaxed);" for x in places]
    loads = [
        f"  int r{i} = atomic_load_explicit({x}, memory_order_relaxed);"
        for i, x in enumerate(places)
    ]
    shown = " ".join(f"1:r{i};" for i in range(16))
    text = "\n".join(
        [
            *("C wide", "{}", f"P0 ({parameters}) {{", *stores, "}"),
            *(f"P1 ({parameters}) {{", *loads, "}"),
            *(f"locations [{shown}]", "exists (1:r0=0)", ""),
        ]
    )
    engine = Engine(memory=1 << 20, witnesses=False)
    large, small = sorted(checked([made(text), made(SB)], "rc11", engine=engine), key=_name)[::-1]
    assert small.observation == "Sometimes"
    assert (large.observation, large.states) == ("Unknown", ())
    assert large.reason == "memory limit of 1 MiB"


def _name(verdict: Verdict) -> str:
    return verdict.test


def test_a_test_of_too_many_events_is_unknown_with_the_reason() -> None:
    text = "C arrays\n{ int a[4096]; }\nP0 (int* a) {\n  *a = 1;\n}\nexists (a[0]=1)\n"
    (verdict,) = checked([made(text)], "sc")
    assert verdict.observation == "Unknown"
    assert verdict.reason == "too many events in an execution"


def test_ctrl_c_ends_the_work_at_once() -> None:
    tests = [made(stores(5, 4)) for _ in range(8)]
    timer = threading.Timer(0.7, _thread.interrupt_main)
    begin = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        checked(tests, "sc", seconds=60.0)
    assert time.monotonic() - begin < 5


def test_ctrl_c_ends_the_process_too(tmp_path: Path) -> None:
    (tmp_path / "W.litmus").write_text(stores(5, 4))
    command = [sys.executable, "-c", "from weakspot.harness.cli import main; main()"]
    child = subprocess.Popen(
        [*command, "check", "W.litmus", "-m", "sc", "--checker", "engine", "--timeout", "60s"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until_busy(child)
    assert child.poll() is None
    begin = time.monotonic()
    os.kill(child.pid, signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert time.monotonic() - begin < 5
    assert child.returncode == 130
    assert "interrupted" in err


def test_answers_come_as_they_are_ready_in_the_callers_thread() -> None:
    seen: list[tuple[int, str]] = []
    callers = set()

    def done(number: int, answer: _engine.Answer) -> None:
        seen.append((number, answer.as_dict()["name"]))
        callers.add(threading.get_ident())

    tests = [("slow.litmus", stores(5, 4)), *(("SB.litmus", SB) for _ in range(20))]
    _engine.check(
        tests,
        str(models.resolve("sc").path),
        seconds=1.0,
        candidates=10**9,
        memory=1 << 30,
        done=done,
        jobs=2,
    )
    assert sorted(seen) == [(0, "W"), *((number, "SB") for number in range(1, 21))]
    assert callers == {threading.get_ident()}
    assert seen[-1] == (0, "W")  # nobody waits for the slow one


def test_files_are_answered_as_their_texts_are(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.litmus" for name in ("SB", "MP")]
    for path, text in zip(paths, (SB, MP), strict=True):
        path.write_text(text)
    model = models.resolve("rc11").path
    files, texts = (
        answers(given, model) for given in (list(map(str, paths)), [("SB", SB), ("MP", MP)])
    )
    for answer in (*files, *texts):
        answer["seconds"] = 0.0
    assert files == texts
    missing = tmp_path / "none.litmus"
    answered, unread = answers([str(paths[0]), str(missing)], model)
    assert answered["malformed"] is None
    assert unread["observation"] == "Unknown"
    assert unread["malformed"]
    assert "cannot read" in unread["malformed"]["message"]
    assert unread["malformed"]["file"] == str(missing)


def test_an_exception_of_the_callback_ends_the_batch() -> None:
    def done(*_: object) -> None:
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        _engine.check(
            [("SB.litmus", SB)] * 50,
            str(models.resolve("sc").path),
            seconds=1.0,
            candidates=1000,
            memory=1 << 30,
            done=done,
        )


# --- what is wrong ----------------------------------------------------------------------------


def test_a_test_that_the_engine_cannot_read_is_reported_with_its_position() -> None:
    (answer,) = answers([("mine.litmus", "C broken\n{")], models.resolve("sc").path)
    assert answer["malformed"]
    problem = answer["malformed"]
    assert (problem["about"], problem["kind"]) == ("test", "invalid")
    assert (problem["file"], problem["line"], problem["column"]) == ("mine.litmus", 2, 1)
    assert problem["message"]


def test_a_users_model_may_include_the_cat_files_we_bring(tmp_path: Path) -> None:
    path = tmp_path / "mine.cat"
    path.write_text('"mine"\ninclude "cos.cat"\nacyclic po | rf | co | fr as mine\n')
    (verdict,) = checked([made(SB)], str(path))
    assert verdict.forbidden_by == {"mine": 1}


def test_the_engine_is_a_tool_with_a_version() -> None:
    tool = Engine().available()
    assert tool is not None
    assert tool.version == _engine.__version__


# --- agreement with herd7 ---------------------------------------------------------------------


CORPUS_MODELS = ["sc", "tso", "pso", "rc11", "rc20", "c11", "c20", "clr2", "openmp3"]


@pytest.mark.parametrize("model", CORPUS_MODELS)
def test_every_golden_test_is_answered_as_herd7_answers_it(
    model: str, need: Callable[[str], Tool], request: pytest.FixtureRequest
) -> None:
    """Under each model of the corpus, and so is every test written by hand. In the short tier, each
    golden test is asked under three of the models."""
    need("herd7")
    full = request.config.getoption("--full")
    golden = GOLDEN if full else GOLDEN[CORPUS_MODELS.index(model) % 3 :: 3]
    paths = (*golden, *sorted(LITMUS.glob("*/hand/*.litmus")))
    tests = {test.name: test for test in map(read_test, paths)}
    theirs = asking.verdicts(list(tests.values()), model, checker=Herd7())
    ours = asking.verdicts(list(tests.values()), model, checker=Engine())
    for name, verdict in ours.items():
        other = theirs[name]
        assert _same(verdict) == _same(other), name


def _same(verdict: Verdict) -> object:
    states = sorted(tuple(sorted(state.items())) for state in verdict.states)
    return states, verdict.observation, verdict.condition_holds, verdict.flags, verdict.witnesses


def test_a_log_is_the_one_herd7_prints(tmp_path: Path, need: Callable[[str], Tool]) -> None:
    herd7, mcompare7 = need("herd7"), need("mcompare7")
    # tests of two structures may have the same name
    by_name = {test.name: test for test in map(read_test, GOLDEN[:60])}
    tests = [by_name[name] for name in sorted(by_name)]
    for test in tests:
        (tmp_path / f"{test.name}.litmus").write_text(test.text)
    paths = [f"{test.name}.litmus" for test in tests]
    command = [herd7.path, "-model", str(models.resolve("rc11").path), *paths]
    theirs = execute(*command, cwd=tmp_path).printed(0)
    verdicts = {verdict.test: verdict for verdict in checked(tests, "rc11")}
    ours = "".join(format_verdict(verdicts[test.name]) for test in tests)
    assert _timeless(ours) == _timeless(theirs)
    (tmp_path / "ours.log").write_text(ours)
    (tmp_path / "theirs.log").write_text(theirs)
    compared = execute(mcompare7.path, "ours.log", "theirs.log", cwd=tmp_path).printed(0)
    rows = [line for line in compared.splitlines() if line.startswith(tuple(verdicts))]
    assert len(rows) == len(tests)
    assert all(line.rstrip().endswith("==") for line in rows)


def _timeless(log: str) -> list[str]:
    """What no two runs have in common left out."""
    return [line for line in log.splitlines() if not line.startswith("Time ")]


def test_without_other_tools_the_engine_does_the_whole_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from weakspot.harness.campaign import folder_run
    from weakspot.harness.values.record import Plan

    monkeypatch.setattr(tools, "_find", lambda *_: None)
    plan = Plan(what=("store_buffering",), checkers=("engine", "herd7", "cbmc"))
    _, record = folder_run.run(plan, root=tmp_path)
    assert {verdict.checker for verdict in record.verdicts} == {"engine"}
    assert all(verdict.observation != "Unknown" for verdict in record.verdicts)
    notes = "\n".join(record.manifest.notes)
    assert "herd7 is not installed" in notes
    assert "cbmc is not installed" in notes
    assert not [f for f in record.findings if f.severity == "error" and not f.recorded]


@pytest.mark.parametrize(("lock", "observation"), [("lock ", "Never"), ("", "Sometimes")])
def test_xadd_gives_the_old_value_and_adds_at_once_when_locked(lock: str, observation: str) -> None:
    xadd = f"{lock}xaddl %ebx,(x)"
    test = made(
        "X86_64 xadds\n{ 0:rbx=1; 1:rbx=2; }\n P0 | P1 ;\n"
        f" {xadd} | {xadd} ;\nexists (0:rbx=0 /\\ 1:rbx=0)\n"
    )
    (verdict,) = asked(Engine(), [test], "x86")
    assert verdict.observation == observation
    assert {"0:rbx": "0", "1:rbx": "1"} in verdict.states
    assert {"0:rbx": "2", "1:rbx": "0"} in verdict.states
