"""Wrong input gives a message of one screen: what is wrong, where, and what to do. Never a
traceback, always exit code 2."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import Ended, execute
from samples import SB, WEAKSPOT, Run
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

from weakspot.system.tools import Tool


def error(ended: Ended) -> str:
    """What is printed about the error: one screen, and nothing besides it."""
    assert ended.code == 2, ended.err
    assert ended.out == ""
    assert "Traceback" not in ended.err
    assert "internal error" not in ended.err, ended.err
    assert [line for line in ended.err.splitlines() if line.startswith("error: ")] == [
        ended.err.splitlines()[0]
    ]
    assert len(ended.err.splitlines()) <= 24
    return steady(ended.err)


def test_a_file_that_is_not_there(run: Run, snapshot: SnapshotAssertion) -> None:
    ended = run("check", "nowhere/SB.litmus")
    assert error(ended) == snapshot


def test_an_unknown_structure_gets_a_suggestion(run: Run, snapshot: SnapshotAssertion) -> None:
    ended = run("gen", "store_bufering")
    assert error(ended) == snapshot


def test_an_unknown_model_gets_a_suggestion(run: Run, snapshot: SnapshotAssertion) -> None:
    for command in (["check"], ["test", "--for", "0"]):
        ended = run(*command, "SB.litmus", "--model", "rc1")
        assert error(ended) == snapshot


def test_a_cat_file_that_is_not_there(run: Run, snapshot: SnapshotAssertion) -> None:
    ended = run("check", "SB.litmus", "--model", "./mine.cat")
    assert error(ended) == snapshot


def test_a_file_of_another_kind(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "notes.txt").write_text("not a program")
    ended = run("check", "notes.txt")
    assert error(ended) == snapshot


@pytest.mark.parametrize("command", ["check", "gen", "relax"])
def test_a_header_leads_to_the_command_that_writes_a_program_for_it(
    run: Run, folder: Path, command: str
) -> None:
    (folder / "queue.hpp").write_text("void push(int);\n")
    assert "weakspot init queue.hpp writes one" in error(run(command, "queue.hpp"))


def test_an_empty_folder(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "empty").mkdir()
    ended = run("check", "empty")
    assert error(ended) == snapshot


@pytest.mark.parametrize(
    "text",
    ["", "hello\n", "C SB\n{ }\nP0 (atomic_int* x) { }\n"],
    ids=["empty", "no header", "no condition"],
)
def test_a_file_that_is_no_litmus_test(
    run: Run, folder: Path, text: str, snapshot: SnapshotAssertion
) -> None:
    (folder / "bad.litmus").write_text(text)
    ended = run("check", "bad.litmus")
    assert error(ended) == snapshot


def test_a_litmus_test_that_no_checker_can_read(
    run: Run, folder: Path, need: Callable[[str], Tool], snapshot: SnapshotAssertion
) -> None:
    need("herd7")
    (folder / "bad.litmus").write_text(SB.replace("int r0 = atomic_load", "int r0 atomic_load", 1))
    ended = run("check", "bad.litmus", "-m", "sc", "--checker", "herd7")
    assert error(ended) == snapshot


def test_bytes_that_are_no_text(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "bad.litmus").write_bytes(b"\xff\xfe\x00C SB")
    ended = run("check", "bad.litmus")
    assert error(ended) == snapshot


def test_c_that_does_not_compile(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "bad.c").write_text("int main(void) {\n  return missing;\n}\n")
    ended = run("gen", "bad.c")
    assert error(ended) == snapshot


def test_a_header_that_is_not_found(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "bad.c").write_text('#include "queue.h"\nint main(void) { return 0; }\n')
    ended = run("gen", "bad.c")
    assert error(ended) == snapshot
    assert error(run("gen", "mp.c", "-I", "nowhere")) == snapshot
    assert error(run("gen", "mp.c", "-D", "not a macro")) == snapshot


def test_an_unsupported_construct_is_named_at_its_line(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    (folder / "asm.c").write_text(
        'int main(void) {\n  __asm__ volatile("hlt" ::: "memory");\n  return 0;\n}\n'
    )
    ended = run("gen", "asm.c")
    assert error(ended) == snapshot


def test_a_compiler_that_is_missing(run: Run, snapshot: SnapshotAssertion) -> None:
    ended = run("gen", "mp.c", WEAKSPOT_CLANG="no-such-clang")
    assert error(ended) == snapshot


def test_a_checker_that_is_missing(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    """With neither a tool on PATH nor a private folder: hidden behind an empty one."""
    from weakspot.system.tools import find

    found = find("cbmc")
    if found is not None and found.origin == ".tools":
        pytest.skip("cbmc is in the clone's own folder, which cannot be hidden")
    ended = run("check", "SB.litmus", "--checker", "cbmc", PATH=str(folder))
    assert error(ended) == snapshot


def test_a_machine_that_there_is_not(run: Run, snapshot: SnapshotAssertion) -> None:
    for machine in ("qemu:pdp11", "moon"):
        ended = run("run", "SB.litmus", "--on", machine)
        assert error(ended) == snapshot


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(run: Run, folder: Path) -> None:
    (folder / "closed").mkdir(mode=0o555)
    assert "closed/campaign" in error(
        run("test", "SB.litmus", "--for", "0", "-o", "closed/campaign")
    )


@pytest.mark.parametrize(
    "command",
    [
        ["test", "SB.litmus", "--for", "0", "-o", "a-file/campaign"],
        ["gen", "SB.litmus", "-o", "a-file/tests"],
    ],
    ids=" ".join,
)
def test_a_folder_that_cannot_be_written(
    run: Run, folder: Path, command: list[str], snapshot: SnapshotAssertion
) -> None:
    (folder / "a-file").write_text("in the way")
    ended = run(*command)
    assert error(ended) == snapshot


def test_results_that_cannot_be_written(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    (folder / "results").write_text("in the way")
    assert error(run("test", "SB.litmus", "--for", "0")) == snapshot


def test_a_folder_that_is_no_campaign(run: Run, folder: Path, snapshot: SnapshotAssertion) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "notes.txt").write_text("mine")
    assert error(run("report", "other")) == snapshot
    assert error(run("test", "SB.litmus", "--for", "0", "-o", "other")) == snapshot
    assert error(run("report")) == snapshot
    assert (folder / "other" / "notes.txt").read_text() == "mine"


def test_golden_tests_of_what_is_no_structure(run: Run, snapshot: SnapshotAssertion) -> None:
    ended = run("gen", "mp.c", "--promote")
    assert error(ended) == snapshot


def test_an_internal_error_is_reported_as_one(snapshot: SnapshotAssertion) -> None:
    """A broken environment, as it were: an import that fails inside a command."""

    def failed(**variables: str) -> str:
        broken = {"PYTHONPATH": str(Path(__file__).parent / "broken"), **variables}
        return execute(WEAKSPOT, "models", env={**os.environ, **broken}).reported(2)

    assert steady(failed()) == snapshot
    assert "Traceback" in failed(WEAKSPOT_DEBUG="1")
