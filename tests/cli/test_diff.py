"""`weakspot diff`: campaigns and logs, compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from ended import execute
from samples import SB, Run
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.corpus import models
from weakspot.system.tools import Tool


def test_two_campaigns(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    options = ("--for", "0", "--checker", "engine")
    assert run("test", "mp.c", *options, "-o", "old").code == 1
    mended = (
        (folder / "mp.c").read_text().replace("&ready, 1, memory_order_relaxed", "&ready, 1, 3")
    )
    (folder / "mp.c").write_text(mended)
    assert run("test", "mp.c", *options, "-o", "new").code == 0
    found = run("diff", "old", "new")
    assert found.code == 1
    assert found.out == snapshot
    page = run("diff", "old", "new", "-o", "pages/changes.html")
    assert (page.code, page.out) == (found.code, found.out)
    assert "+ new" not in (folder / "pages/changes.html").read_text()
    assert "− gone" in (folder / "pages/changes.html").read_text()
    listed = run("report", ".")
    assert (listed.code, listed.out) == (0, "index.html\n")
    assert "new/report/changes.html" in (folder / "index.html").read_text()
    assert run("report", ".", "-o", "elsewhere").code == 2
    assert run("report", "pages").code == 2
    same = run("diff", "new", "new")
    assert same.code == 0
    assert same.out.splitlines()[-1].startswith("no difference in 4 explorations")
    differences = [
        json.loads(line) for line in run("diff", "old", "new", "--json").out.splitlines()
    ]
    assert {each["kind"] for each in differences} == {"finding", "exploration", "text"}


def test_a_log_of_herd7_and_one_of_the_engine(
    run: Run, folder: Path, need: Callable[[str], Tool]
) -> None:
    herd7 = [need("herd7").path, "-model", str(models.resolve("sc").path), "SB.litmus"]
    log = execute(*herd7, cwd=folder).printed(0)
    (folder / "herd.log").write_text(log)
    for model in ("sc", "tso"):
        log = run("check", "SB.litmus", "-m", model, "--format", "herd").out
        (folder / f"{model}.log").write_text(log)
    same = run("diff", "herd.log", "sc.log")
    assert (same.code, same.out.splitlines()[-1]) == (0, "no difference in 1 verdict")
    other = run("diff", "herd.log", "tso.log")
    assert other.code == 1
    assert "      only in B: 0:r0=0 1:r0=0" in other.out.splitlines()


def test_a_model_and_a_machine(run: Run, folder: Path) -> None:
    (folder / "sc.log").write_text(run("check", "SB.litmus", "-m", "sc", "--format", "herd").out)
    (folder / "seen.log").write_text(
        "Test SB Allowed\nHistogram (2 states)\n5     *>0:r0=0; 1:r0=0;\n9     :>0:r0=1; 1:r0=0;\n"
        "Ok\n\nWitnesses\nPositive: 5, Negative: 9\nObservation SB Sometimes 5 9\nTime SB 0.1\n\n"
    )
    found = run("diff", "sc.log", "seen.log")
    assert found.code == 1
    assert found.out.splitlines()[3:] == [
        "outcomes",
        "  SB    allowed → observed",
        "      only in B: 0:r0=0 1:r0=0",
        "",
        "1 difference in 1 test",
    ]


def test_two_models(run: Run, folder: Path) -> None:
    for model in ("tso", "sc"):
        answers = run("check", "SB.litmus", "-m", model, "--json").out
        (folder / f"{model}.jsonl").write_text(answers)
    found = run("diff", "tso.jsonl", "sc.jsonl")
    assert found.code == 1
    assert "  SB  tso engine → sc engine  Sometimes → Never" in found.out


def test_nothing_in_common_is_inconclusive(run: Run, folder: Path) -> None:
    (folder / "LB.litmus").write_text(SB.replace("C SB", "C LB"))
    for name in ("SB", "LB"):
        log = run("check", f"{name}.litmus", "-m", "sc", "--format", "herd").out
        (folder / f"{name}.log").write_text(log)
    found = run("diff", "SB.log", "LB.log")
    assert (found.code, found.out.splitlines()[-1]) == (3, "no question is answered by both")


def test_files_without_answers(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "torn.jsonl").write_text('{"test":"SB","model"')
    (folder / "other.jsonl").write_text('{"a":1}\n')
    (folder / "binary").write_bytes(b"\xff\xfe\x00")
    (folder / "empty").mkdir()
    found = []
    for name in ("mp.c", "torn.jsonl", "other.jsonl", "binary", "empty", "nowhere"):
        ended = run("diff", name, "mp.c")
        assert (ended.code, ended.out) == (2, "")
        found.append(ended.err)
    assert "\n".join(found) == snapshot


def test_tests_without_a_complete_answer_are_mentioned(run: Run, folder: Path) -> None:
    log = run("check", "SB.litmus", "-m", "sc", "--format", "herd").out
    (folder / "a.log").write_text(log)
    (folder / "b.log").write_text(f"{log}Test LB Allowed\nStates 3\n0:r0=0;\n")
    found = run("diff", "a.log", "b.log")
    assert found.code == 0
    assert "note: b.log: 1 of 2 tests in this log have no complete answer" in found.out
