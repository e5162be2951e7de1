"""A folder of litmus tests: every file answers for itself, and those that cannot be read are
counted at the end with their places."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest
from samples import Run

import weakspot
from weakspot.harness.values.herdlog import printed

LITMUS = Path(__file__).resolve().parents[2] / "litmus"

TEST = """\
C SB
{{}}
P0 (atomic_int* x, atomic_int* y) {{
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}}
P1 (atomic_int* x, atomic_int* y) {{
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
}}
exists (0:r0={0} /\\ 1:r0={0})
"""


@pytest.fixture
def mixed(folder: Path) -> Path:
    """A folder with two tests of one name, a text that is no test, and a test with a mistake."""
    files = {
        "a/SB.litmus": TEST.format(0),
        "b/SB.litmus": TEST.format(1),
        "b/none.litmus": "nothing\n",
        "b/wrong.litmus": TEST.format(0).replace("C SB", "C wrong").replace("int r0", "int @r0"),
    }
    for name, text in files.items():
        path = folder / "tests" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "tests"


def test_campaigns_in_a_folder_are_not_asked_about_again(run: Run, folder: Path) -> None:
    made = folder / "results" / "first" / "tests"
    made.mkdir(parents=True)
    (made / "again.litmus").write_text(TEST.format(1))
    (made.parent / "campaign.json").write_text("{}")
    assert "results/first" not in run("check", ".").out
    assert "engine" in run("check", "results/first").out
    (made.parent / "campaign.json").unlink()
    assert "results/first" in run("check", ".").out


@pytest.mark.usefixtures("mixed")
def test_files_that_cannot_be_read_do_not_end_a_folder(run: Run) -> None:
    result = run("check", "tests", "-m", "sc", "--json")
    assert result.code == 3
    lines = [json.loads(line) for line in result.out.splitlines()]
    answers = {each["test"]: each["observation"] for each in lines}
    assert answers == {"a/SB": "Never", "b/SB": "Sometimes", "none": "Unknown", "wrong": "Unknown"}
    assert result.err.splitlines() == [
        "2 of 4 tests cannot be read:",
        "  none: not a litmus test: expected a dialect and a name (tests/b/none.litmus:1:1)",
        "  wrong: unexpected character '@' (tests/b/wrong.litmus:5:7)",
    ]


def test_strict_refuses_a_folder_with_files_that_cannot_be_read(mixed: Path, run: Run) -> None:
    assert run("check", "tests", "-m", "sc", "--strict").code == 2
    (mixed / "b/none.litmus").unlink()
    (mixed / "b/wrong.litmus").unlink()
    assert run("check", "tests", "-m", "sc", "--strict").code == 0


@pytest.mark.usefixtures("mixed")
def test_a_file_that_is_named_itself_is_bad_input(run: Run) -> None:
    result = run("check", "tests/b/wrong.litmus", "-m", "sc")
    assert result.code == 2
    assert "wrong.litmus:5:7" in result.err


@pytest.mark.parametrize("form", ["json", "herd"])
def test_the_engine_prints_what_a_verdict_is_printed_as(form: str, mixed: Path, run: Run) -> None:
    for path in sorted(LITMUS.glob("*/tests/*.litmus"))[::9]:
        (mixed / path.name).write_text(path.read_text())
    (mixed / "escaped.litmus").write_text(TEST.format(0).replace("SB", 'S"\\é'))
    result = run("check", str(mixed), "-m", "rc11", "--format", form)
    values = weakspot.check(mixed, models=["rc11"]).wait().verdicts
    assert len(values) > 30
    bare = [msgspec.structs.replace(each, witness=None, forbidden_by={}) for each in values]
    texts = [printed(each, form).text for each in bare]
    assert untimed(result.out) == untimed("".join(texts))


def test_a_folder_is_answered_on_one_processor_too(mixed: Path, run: Run) -> None:
    both = [run("check", str(mixed), "-m", "sc", "--json", *j) for j in ([], ["-j", "1"])]
    assert untimed(both[0].out) == untimed(both[1].out)
    assert run("check", str(mixed), "-j", "0").code == 2


def untimed(text: str) -> str:
    return re.sub(r'("seconds":|^Time \S+ )[\d.e-]+', r"\1", text, flags=re.M)


PROGRAM = """\
#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <threads.h>
static atomic_int x;
static char text[9];
static int writer(void *none) {
  USE
  atomic_store(&x, 1);
  return 0;
}
int main(void) {
  thrd_t t;
  thrd_create(&t, writer, 0);
  assert(atomic_load(&x) < 2);
  thrd_join(t, 0);
}
"""


@pytest.fixture
def programs(folder: Path) -> Path:
    """A folder with a program, one that is not supported, and one that does not compile."""
    uses = {"good": "", "prints": 'popen(text, "r");', "wrong": "unknown();"}
    (folder / "programs").mkdir()
    for name, use in uses.items():
        (folder / "programs" / f"{name}.c").write_text(PROGRAM.replace("USE", use))
    return folder / "programs"


@pytest.mark.usefixtures("programs")
def test_programs_that_cannot_be_read_do_not_end_a_folder(run: Run) -> None:
    result = run("check", "programs", "-m", "sc", "--json")
    assert [json.loads(line)["program"] for line in result.out.splitlines()] == ["good.c/good"]
    assert result.code == 3
    assert "prints.c cannot be read: the function popen" in result.err
    assert "(programs/prints.c:8:3)" in result.err
    assert "wrong.c cannot be read: " in result.err
    assert "prints.c cannot be read: " in run("check", "programs", "-m", "sc").out
    assert run("check", "programs", "-m", "sc", "--strict").code == 2


def test_a_folder_without_a_program_that_can_be_read_is_an_error(run: Run, programs: Path) -> None:
    (programs / "good.c").unlink()
    (programs / "wrong.c").unlink()
    result = run("check", "programs", "-m", "sc")
    assert result.code == 2
    assert result.err.startswith("error: the function popen is called but not defined")


def test_a_program_that_is_named_must_be_readable(run: Run, programs: Path) -> None:
    result = run("check", str(programs / "good.c"), str(programs / "prints.c"), "-m", "sc")
    assert (result.code, result.out) == (2, "")


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize("command", ["relax", "mutate", "gen --list", "cost --for 1s"])
def test_other_commands_name_the_programs_of_a_folder_that_they_cannot_read(
    run: Run, command: str
) -> None:
    name, *options = command.split()
    result = run(name, "programs", *options)
    assert "(programs/wrong.c:8:3)" in result.err
    assert "prints.c cannot be read: the function popen" in result.err
    assert result.code == (1 if name in ("relax", "mutate") else 3)
    assert name == "gen" or "good.c" in result.out


@pytest.mark.usefixtures("programs")
def test_a_folder_that_cannot_be_read_as_a_whole_is_not_all_right(run: Run, folder: Path) -> None:
    program = folder / "programs" / "good.c"
    program.write_text(
        program.read_text()
        .replace("atomic_store(&x, 1)", "atomic_store_explicit(&x, 1, memory_order_relaxed)")
        .replace("atomic_load(&x)", "atomic_load_explicit(&x, memory_order_relaxed)")
    )
    for command in ("relax", "mutate"):
        assert run(command, "programs/good.c").code == 0
        assert run(command, "programs").code == 3
        assert run(command, "programs", "--strict").code == 2
        assert run(command, "programs/wrong.c").code == 2
