"""What comes out: answers on standard output, all else on standard error, and an exit code that
a script can rely on."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import wait_until_busy
from samples import SB, WEAKSPOT, Run
from snapshots import steady, without_figures
from syrupy.assertion import SnapshotAssertion

from weakspot.generators.litmus import Test
from weakspot.harness.corpus.golden import promote
from weakspot.harness.corpus.structures import find
from weakspot.system.tools import Tool

#: stores alone: there are as many executions as ways to order them
ENDLESS = """\
C endless
{ }
P0 (atomic_int* x, atomic_int* y) {
STORES
}
P1 (atomic_int* x, atomic_int* y) {
STORES
}
exists (x=1)
"""


def test_an_answer_after_a_limit_was_reached_is_inconclusive(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    stores = "\n".join(
        f"  atomic_store_explicit({place}, {value}, memory_order_relaxed);"
        for value in range(1, 9)
        for place in "xy"
    )
    (folder / "endless.litmus").write_text(ENDLESS.replace("STORES", stores))
    printed = run("check", "endless.litmus", "-m", "sc", "--timeout", "300ms").printed(3)
    assert steady(printed) == snapshot


LB = """\
C LB
{ }
P0 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
  atomic_store_explicit(x, 1, memory_order_relaxed);
}
exists (0:r0=1 /\\ 1:r0=1)
"""


def columns(text: str) -> str:
    """The text where a compiler's version decides the width of columns."""
    return re.sub(" {2,}", "  ", steady(text))


def test_compiled_code_is_compared_with_its_source(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    """rc11 forbids load buffering, which Armv8 does and no compiler prevents; c11 allows it."""
    (folder / "LB.litmus").write_text(LB)
    ended = run("check", "LB.litmus", "--compiled", "zig,O2,aarch64,x86")
    assert ended.code == 0
    assert ended.err == ""
    assert columns(ended.out) == snapshot
    wrong = run("check", "LB.litmus", "--compiled", "zig,O2,aarch64", "-m", "rc11", "-o", "found")
    assert wrong.code == 1
    finding, _, code = columns(wrong.out).partition("the code as a test")
    assert finding == snapshot
    assert code, "the compiler's choice of instructions follows"
    names = {path.name for path in (folder / "found").iterdir()}
    assert "LB.litmus" in names
    assert len(names) == 2
    beside = run("check", "LB.litmus", "--compiled", "zig,O2,aarch64", "-m", "rc11", "--json")
    assert beside.code == 1
    assert columns(beside.err).partition("the code as a test")[0] == snapshot
    (answer,) = map(json.loads, beside.out.splitlines())
    assert answer["result"] == "Weaker"
    assert answer["beyond"] == [{"0:r0": "1", "1:r0": "1"}]
    assert "LDR W" in answer["test"]["text"]
    assert "ldr w" in answer["assembly"]


def test_a_test_that_no_compiler_can_be_asked_about_is_inconclusive(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    (folder / "assembly.litmus").write_text("X86_64 a\n{ }\n P0 ;\n mfence ;\nexists (x=1)\n")
    printed = run("check", "assembly.litmus", "--compiled", "zig,O2,x86").printed(3)
    assert columns(printed) == snapshot
    errors = run("check", "SB.litmus", "--compiled", "icc").reported(2)
    assert re.sub("compilers are .*?;", "compilers are …;", columns(errors)) == snapshot


def test_the_code_of_operations_stands_beside_that_of_tests(
    run: Run, need: Callable[[str], Tool], snapshot: SnapshotAssertion
) -> None:
    for tool in ("gcc", "qemu-x86_64"):
        need(tool)
    program = str(find("store_buffering").folder / "both_look.c")
    both = run("check", program, "--compiled", "gcc,O2,x86", "--code", "all")
    assert both.code == 0
    assert both.err == ""
    assert columns(both.out) == snapshot
    alone = run("check", program, "--compiled", "gcc,O2,x86", "--code", "operations", "--json")
    (answer,) = map(json.loads, alone.out.splitlines())
    assert (answer["code"], answer["program"], answer["result"]) == (
        *("operations", "both_look.c/both_look"),
        "Preserved",
    )


def test_operations_are_those_of_programs_that_are_compiled(
    run: Run, need: Callable[[str], Tool], snapshot: SnapshotAssertion
) -> None:
    need("qemu-x86_64")
    ended = run("check", "SB.litmus", "--compiled", "zig,O2,x86", "--code", "operations")
    assert ended.code == 2
    assert steady(ended.err) == snapshot


def test_an_assertion_that_fails_is_a_finding(run: Run, snapshot: SnapshotAssertion) -> None:
    assert steady(run("check", "wrong.c", "--model", "sc").printed(1)) == snapshot
    beside = run("check", "wrong.c", "--model", "sc", "--json")
    assert beside.code == 1
    assert steady(beside.err) == snapshot
    assert all(json.loads(line) for line in beside.out.splitlines())


def test_a_finding_wins_over_what_is_inconclusive(run: Run, folder: Path) -> None:
    (folder / "arm.litmus").write_text(
        "AArch64 arm\n{ 0:X1=x; }\n P0 ;\n MOV W0,#1 ;\n STR W0,[X1] ;\nexists (x=1)\n"
    )
    assert run("check", "arm.litmus", "-m", "rc11").code == 3
    assert run("check", "arm.litmus", "wrong.c", "-m", "rc11").code == 1


def test_verdicts_are_one_object_a_line(run: Run) -> None:
    ended = run("check", "SB.litmus", "-m", "sc,tso", "--json")
    values = [json.loads(line) for line in ended.out.splitlines()]
    assert [(value["test"], value["model"], value["observation"]) for value in values] == [
        ("SB", "sc", "Never"),
        ("SB", "tso", "Sometimes"),
    ]
    for key in ("checker", "condition_holds", "states", "flags", "seconds", "sites"):
        assert all(key in value for value in values)


def test_a_herd_log_reads_as_herd7_writes_it(run: Run, snapshot: SnapshotAssertion) -> None:
    ended = run("check", "SB.litmus", "-m", "tso", "--format", "herd")
    assert steady(ended.out) == snapshot
    several = run("check", "SB.litmus", "-m", "sc,tso", "--format", "herd")
    assert several.code == 2
    assert steady(several.err) == snapshot


def test_tests_of_a_program_are_written_with_their_index(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    ended = run("gen", "mp.c", "-D", "EXPECTED=42", "-o", "tests")
    assert ended.code == 0
    names = (folder / "tests" / "@all").read_text().split()
    assert names
    assert all((folder / "tests" / name).is_file() for name in names)
    assert any(name.startswith("MP") for name in names)
    printed = run("gen", "mp.c")
    assert printed.out == snapshot
    listed = run("gen", "mp.c", "--list")
    assert listed.out == snapshot
    assert len(listed.out.splitlines()) == len(names)


def test_a_macro_reaches_the_program(run: Run, folder: Path) -> None:
    program = (folder / "mp.c").read_text().replace("== 42", "== EXPECTED")
    (folder / "given.c").write_text(program)
    assert run("gen", "given.c").code == 2
    assert run("check", "given.c", "-m", "sc", "-D", "EXPECTED=7").code == 1
    assert run("check", "given.c", "-m", "sc", "-D", "EXPECTED=42").code == 0
    (folder / "include").mkdir()
    (folder / "include" / "expected.h").write_text("#define EXPECTED 42\n")
    (folder / "given.c").write_text('#include "expected.h"\n' + program)
    assert run("check", "given.c", "-m", "sc", "-I", "include").code == 0


def test_promoting_replaces_every_golden_test(tmp_path: Path) -> None:
    def made(name: str) -> Test:
        return Test(name=name, arch="C", text=SB.replace("C SB", f"C {name}"))

    promote(tmp_path / "tests", [made("SB"), made("MP")])
    promote(tmp_path / "tests", [made("SB"), made("LB")])
    names = sorted(path.name for path in (tmp_path / "tests").iterdir())
    assert names == ["LB.litmus", "SB.litmus"]
    assert (tmp_path / "tests" / "LB.litmus").read_text().startswith("C LB\n")


def test_a_campaign_ends_with_its_report(run: Run, folder: Path) -> None:
    printed = run("test", "SB.litmus", "mp.c", "--for", "0", "-m", "sc,tso").printed(0)
    page = Path(printed.rpartition("report: ")[2].strip())
    assert (folder / page).is_file()
    (campaign,) = (folder / "results").iterdir()
    assert (campaign / "verdicts.jsonl").is_file()
    again = run("report")
    assert again.code == 0
    assert Path(again.out.strip()) == Path("results") / campaign.name / "index.html"
    assert run("test", "wrong.c", "--for", "0", "-m", "sc", "-o", "one").code == 1
    assert run("report", "one", "-o", "site").code == 0
    assert (folder / "site" / "index.html").is_file()


def test_results_are_written_to_the_folder_given(run: Run, folder: Path) -> None:
    assert run("test", "SB.litmus", "--for", "0", WEAKSPOT_RESULTS="there").code == 0
    assert len(list((folder / "there").iterdir())) == 1
    assert not (folder / "results").exists()


@pytest.mark.parametrize("command", ["test", "plan"])
def test_corpus_is_tested_only_where_it_is_asked_for(run: Run, folder: Path, command: str) -> None:
    assert "missing argument 'WHAT…'" in run(command, "--for", "0").reported(2)
    assert not (folder / "results").exists()


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_notes_of_a_campaign_are_printed_once(run: Run, form: tuple[str, ...]) -> None:
    ended = run("test", "store_buffering", "--for", "0", "-m", "c11", "-c", "engine", *form)
    assert (ended.out + ended.err).count("programs are not explored under c11") == 1


def test_fresh_begins_anew_and_never_in_a_campaign(run: Run, snapshot: SnapshotAssertion) -> None:
    arguments = ("test", "SB.litmus", "--for", "0", "-m", "sc", "-o", "one")
    assert run(*arguments).code == 0
    assert run(*arguments).code == 0
    assert steady(run(*arguments, "--fresh").reported(2)) == snapshot


def test_findings_as_json(run: Run) -> None:
    ended = run("test", "wrong.c", "--for", "0", "-m", "sc", "--json")
    found = [json.loads(line) for line in ended.out.splitlines()]
    assert [each["id"] for each in found if each["severity"] == "error"] == ["WS101"]


# --- pipes and signals ------------------------------------------------------------------------


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [WEAKSPOT, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("arguments", [["models", "rc11"], ["gen", "mp.c"]], ids=" ".join)
def test_a_reader_that_has_enough_is_no_error(folder: Path, arguments: list[str]) -> None:
    child = started(folder, *arguments)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    assert child.stderr.read() == ""
    child.stderr.close()
    assert child.wait(timeout=60) in (0, 128 + signal.SIGPIPE)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_is_reported() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [WEAKSPOT, "models"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[:2] == ["error: the disk is full", "  --> standard output"]


def test_no_colours_and_no_bars_into_a_pipe(run: Run) -> None:
    for variables in ({}, {"NO_COLOR": None, "TERM": "xterm-256color"}):
        ended = run("check", "SB.litmus", "-m", "sc,tso", **variables)
        assert "\x1b" not in ended.out + ended.err


def test_an_interrupted_check_prints_what_it_has(folder: Path, snapshot: SnapshotAssertion) -> None:
    stores = "\n".join(
        f"  atomic_store_explicit({place}, {value}, memory_order_relaxed);"
        for value in range(1, 12)
        for place in "xy"
    )
    (folder / "zz.litmus").write_text(ENDLESS.replace("STORES", stores))
    child = started(folder, "check", "SB.litmus", "zz.litmus", "-m", "sc", "--json")
    wait_until_busy(child)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130
    assert steady(err) == snapshot
    assert [json.loads(line)["test"] for line in out.splitlines()] == ["SB"]


def test_an_interrupted_campaign_resumes_with_the_same_command(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    for program in folder.glob("*.c"):
        program.unlink()
    for number in range(20):
        (folder / f"SB{number}.litmus").write_text(SB.replace("C SB", f"C SB{number}"))
    arguments = ("test", ".", "--timeout", "9s", "-m", "sc,tso,rc11,c11", "--for", "0")
    child = started(folder, *arguments)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and child.poll() is None:
        written = list(folder.glob("results/*/verdicts.jsonl"))
        if written and written[0].stat().st_size:
            break
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=60)
    if child.returncode == 0:
        pytest.skip("it was done before it could be interrupted")
    assert child.returncode == 130
    assert "Traceback" not in err
    (campaign,) = (folder / "results").iterdir()
    stored = err.rpartition("interrupted")[2].replace(campaign.name, "<campaign>")
    stored = stored.replace("1 answer is", "1 answers are")  # as soon as one was stored, or later
    assert without_figures(stored) == snapshot
    before = len((campaign / "verdicts.jsonl").read_text().splitlines())
    again = run(*arguments)
    assert again.code == 0
    resumed = again.err.splitlines()[0].replace(campaign.name, "<campaign>")
    assert without_figures(resumed) == snapshot
    assert list((folder / "results").iterdir()) == [campaign]
    after = (campaign / "verdicts.jsonl").read_text().splitlines()
    assert len(after) > before
    assert len({json.loads(line)["key"] for line in after}) == len(after)


def test_gen_compiles_tests_for_an_instruction_set(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    assert run("gen", "SB.litmus", "--isa", "x86,riscv", "-o", "assembly").reported(0) == ""
    texts = {path.name: path.read_text() for path in (folder / "assembly").glob("*.litmus")}
    assert sorted(texts) == ["SB.riscv.litmus", "SB.x86.litmus"]
    assert texts == snapshot
    checked = run("check", "assembly/SB.x86.litmus", "--json")
    assert json.loads(checked.out)["observation"] == "Sometimes"


def test_gen_reports_tests_without_a_mapping(
    run: Run, folder: Path, snapshot: SnapshotAssertion
) -> None:
    (folder / "lock.litmus").write_text(
        "C lock\n{}\nP0 (atomic_int* x, spinlock_t* l) {\n  lock(l);\n  int r0 = atomic_load(x);\n"
        "  unlock(l);\n}\nexists (0:r0=0)\n"
    )
    ended = run("gen", "lock.litmus", "SB.litmus", "--isa", "x86")
    assert ended.code == 3, "lock.litmus has no assembly"
    assert steady(ended.err) == snapshot
    assert steady(ended.out) == snapshot
    assert run("gen", "SB.litmus", "--isa", "sparc").code == 2
    assert run("gen", "SB.litmus", "--isa", "x86", "--check").code == 2


def test_a_program_is_run_as_a_whole_beside_its_tests(
    run: Run, need: Callable[[str], Tool], folder: Path, snapshot: SnapshotAssertion
) -> None:
    need("gcc")
    (folder / "always.c").write_text(
        "#include <assert.h>\nstatic int n;\nint main(void) { n++; assert(n == 2); }\n"
    )
    printed = run("run", "always.c", "--for", "1s", "--only", "programs").printed(1)
    assert without_figures(printed) == snapshot
    beside = run("run", "mp.c", "--for", "1s", "--json")
    assert beside.code == 0
    first, *rest = [json.loads(line) for line in beside.out.splitlines()]
    assert (first["program"], first["machine"], first["failures"]) == ("mp.c/mp", "local", [])
    assert first["instances"] > 0
    assert rest, "tests, after the programs"
    assert all("histogram" in each for each in rest)
    alone = run("run", "mp.c", "--for", "50ms", "--only", "tests", "--json")
    assert all("histogram" in json.loads(line) for line in alone.out.splitlines())


@pytest.mark.parametrize("command", ["run", "run --only programs"])
def test_what_was_not_measured_is_inconclusive(
    run: Run, need: Callable[[str], Tool], folder: Path, command: str
) -> None:
    need("gcc")
    early = "volatile int n; __attribute__((constructor(101))) static void early(void) { n = 1; }\n"
    (folder / "early.c").write_text(early + (folder / "mp.c").read_text())
    printed = run(*command.split(), "early.c", "--for", "50ms").printed(3)
    assert "constructors with a priority" in printed


@pytest.mark.alone
def test_the_cost_of_memory_orders_is_printed_with_its_noise(
    run: Run, need: Callable[[str], Tool], folder: Path, snapshot: SnapshotAssertion
) -> None:
    need("gcc")
    cache = str(folder / "cache")
    ended = run("cost", "mp.c", "--for", "3s", "--json", XDG_CACHE_HOME=cache)
    assert (ended.code, ended.err) == (0, "")
    (found,) = [json.loads(line) for line in ended.out.splitlines()]
    assert (found["subject"], found["machine"]) == ("mp.c", "local")
    assert found["turns"] >= 6
    assert {order["order"] for order in found["sites"][0]["orders"]} >= {"rlx", "sc"}
    run("test", "mp.c", "-c", "engine", "--for", "0", "-o", "campaign", XDG_CACHE_HOME=cache)
    (structure,) = json.loads((folder / "campaign" / "structures.json").read_text())
    assert {each["at"] for each in structure["prices"]} >= {"mp.c:8", "mp.c:9"}, "remembered"
    table = run("cost", "mp.c", "--for", "50ms", XDG_CACHE_HOME=cache)
    assert without_figures(table.out.splitlines()[-1]) == snapshot
    refused = run("cost", "SB.litmus")
    assert refused.code == 2
    assert steady(refused.err) == snapshot
