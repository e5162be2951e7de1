"""Whatever is wrong with what it is given, weakspot says so in one screen: where, and what to do.
Never a traceback, always exit code 2."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from samples import SB, Ended


def is_one_screen(ended: Ended) -> None:
    assert ended.code == 2, ended.err
    assert "Traceback" not in ended.err
    assert "weakspot itself failed" not in ended.err, ended.err
    errors = [line for line in ended.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, ended.err
    assert len(ended.err.splitlines()) <= 24
    assert ended.out == ""


def test_a_file_that_is_not_there(run) -> None:
    ended = run("check", "nowhere/SB.litmus")
    is_one_screen(ended)
    assert "nowhere/SB.litmus" in ended.err


def test_an_unknown_structure_gets_a_suggestion(run) -> None:
    ended = run("gen", "store_bufering")
    is_one_screen(ended)
    assert "did you mean store_buffering?" in ended.err


def test_an_unknown_model_gets_a_suggestion(run) -> None:
    for command in (["check"], ["test", "--for", "0"]):
        ended = run(*command, "SB.litmus", "--model", "rc1")
        is_one_screen(ended)
        assert "did you mean rc11?" in ended.err


def test_a_cat_file_that_is_not_there(run) -> None:
    ended = run("check", "SB.litmus", "--model", "./mine.cat")
    is_one_screen(ended)
    assert "mine.cat" in ended.err


def test_a_file_of_another_kind(run, folder: Path) -> None:
    (folder / "notes.txt").write_text("not a program")
    ended = run("check", "notes.txt")
    is_one_screen(ended)
    assert "notes.txt" in ended.err


def test_an_empty_folder(run, folder: Path) -> None:
    (folder / "empty").mkdir()
    ended = run("check", "empty")
    is_one_screen(ended)
    assert "no litmus tests" in ended.err


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", ":1"),
        ("hello\n", ":1"),
        ("C SB\n{ }\nP0 (atomic_int* x) { }\n", ":3"),
    ],
    ids=["empty", "no header", "no condition"],
)
def test_what_is_no_litmus_test(run, folder: Path, text: str, place: str) -> None:
    (folder / "bad.litmus").write_text(text)
    ended = run("check", "bad.litmus")
    is_one_screen(ended)
    assert f"--> bad.litmus{place}" in ended.err
    assert "help: " in ended.err


def test_a_litmus_test_that_no_checker_can_read(run, folder: Path, need) -> None:
    need("herd7")
    (folder / "bad.litmus").write_text(SB.replace("int r0 = atomic_load", "int r0 atomic_load", 1))
    ended = run("check", "bad.litmus", "-m", "sc", "--checker", "herd7")
    is_one_screen(ended)
    assert "--> bad.litmus:5" in ended.err
    assert "int r0 atomic_load_explicit" in ended.err


def test_bytes_that_are_no_text(run, folder: Path) -> None:
    (folder / "bad.litmus").write_bytes(b"\xff\xfe\x00C SB")
    ended = run("check", "bad.litmus")
    is_one_screen(ended)
    assert "--> bad.litmus" in ended.err


def test_c_that_does_not_compile(run, folder: Path) -> None:
    (folder / "bad.c").write_text("int main(void) {\n  return missing;\n}\n")
    ended = run("gen", "bad.c")
    is_one_screen(ended)
    assert "--> bad.c:2:10" in ended.err
    assert "return missing;" in ended.err


def test_a_header_that_is_not_found(run, folder: Path) -> None:
    (folder / "bad.c").write_text('#include "queue.h"\nint main(void) { return 0; }\n')
    ended = run("gen", "bad.c")
    is_one_screen(ended)
    assert "queue.h" in ended.err
    assert "include folder" in ended.err
    is_one_screen(run("gen", "mp.c", "-I", "nowhere"))
    is_one_screen(run("gen", "mp.c", "-D", "not a macro"))


def test_what_is_not_supported_is_named_at_its_line(run, folder: Path) -> None:
    (folder / "asm.c").write_text(
        'int main(void) {\n  __asm__ volatile("mfence" ::: "memory");\n  return 0;\n}\n'
    )
    ended = run("gen", "asm.c")
    is_one_screen(ended)
    assert "asm.c:2:" in ended.err
    assert "help: " in ended.err
    (folder / "handler.cpp").write_text(
        "int main() {\n  try {\n    throw 1;\n  } catch (int) {\n  }\n}\n"
    )
    ended = run("gen", "handler.cpp")
    is_one_screen(ended)
    assert "handler.cpp:4:" in ended.err
    assert "} catch (int) {" in ended.err


def test_a_compiler_that_is_missing(run) -> None:
    ended = run("gen", "mp.c", WEAKSPOT_CLANG="no-such-clang")
    is_one_screen(ended)
    assert "no-such-clang" in ended.err
    assert "help: " in ended.err


def test_a_checker_that_is_missing(run, folder: Path) -> None:
    """With neither a tool on PATH nor a private folder: hidden behind an empty one."""
    from weakspot.system.tools import find

    found = find("cbmc")
    if found is not None and found.origin == ".tools":
        pytest.skip("cbmc is in the clone's own folder, which cannot be hidden")
    ended = run("check", "SB.litmus", "--checker", "cbmc", PATH=str(folder))
    is_one_screen(ended)
    assert "cbmc" in ended.err
    assert "install" in ended.err


def test_a_machine_that_there_is_not(run) -> None:
    for machine in ("qemu:pdp11", "moon"):
        ended = run("run", "SB.litmus", "--on", machine)
        is_one_screen(ended)
        assert machine.rpartition(":")[2] in ended.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(run, folder: Path) -> None:
    (folder / "closed").mkdir(mode=0o555)
    is_one_screen(run("test", "SB.litmus", "--for", "0", "-o", "closed/campaign"))


@pytest.mark.parametrize(
    "command",
    [
        ["test", "SB.litmus", "--for", "0", "-o", "a-file/campaign"],
        ["gen", "SB.litmus", "-o", "a-file/tests"],
    ],
    ids=" ".join,
)
def test_a_folder_that_cannot_be_written(run, folder: Path, command: list[str]) -> None:
    (folder / "a-file").write_text("in the way")
    ended = run(*command)
    is_one_screen(ended)
    assert "a-file" in ended.err


def test_results_that_cannot_be_written(run, folder: Path) -> None:
    (folder / "results").write_text("in the way")
    is_one_screen(run("test", "SB.litmus", "--for", "0"))


def test_a_folder_that_is_no_campaign(run, folder: Path) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "notes.txt").write_text("mine")
    is_one_screen(run("report", "other"))
    is_one_screen(run("test", "SB.litmus", "--for", "0", "-o", "other"))
    is_one_screen(run("report"))
    assert (folder / "other" / "notes.txt").read_text() == "mine"


def test_golden_tests_of_what_is_no_structure(run) -> None:
    ended = run("gen", "mp.c", "--promote")
    is_one_screen(ended)
    assert "structure" in ended.err


def test_a_fault_of_our_own_is_said_to_be_one(run) -> None:
    """A broken environment, as it were: an import that fails inside a command."""
    ended = run("models", PYTHONPATH=str(Path(__file__).parent / "broken"))
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert "WEAKSPOT_DEBUG=1" in ended.err
    told = run("models", PYTHONPATH=str(Path(__file__).parent / "broken"), WEAKSPOT_DEBUG="1")
    assert "Traceback" in told.err
