"""litmus7 as a runner: it sees what the machine shows, within its time, and says what it did."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from litmus_texts import FENCE, adders, sb

from weakspot.errors import BadInput, MissingTool
from weakspot.generators.binary.isa import ISAS
from weakspot.generators.litmus import Test
from weakspot.harness import machines
from weakspot.harness.machines import Machine, local
from weakspot.harness.machines.qemu import architectures
from weakspot.harness.runners.litmus7 import Litmus7, _Rounds
from weakspot.harness.values.herdlog import format_histogram, parse_histograms
from weakspot.harness.values.histogram import Histogram
from weakspot.system import process, tools
from weakspot.system.compilers import gcc
from weakspot.system.deadline import NEVER
from weakspot.system.processors import cores
from weakspot.system.tools import Tool

Need = Callable[[str], Tool]


def ran(tests: list[Test], machine: Machine, seconds: float = 1.0) -> dict[str, Histogram]:
    histograms: list[Histogram] = []
    Litmus7().run(tests, machine, seconds=seconds, done=histograms.append)
    assert sorted(h.test for h in histograms) == sorted(t.name for t in tests), "each test once"
    return {histogram.test: histogram for histogram in histograms}


@pytest.fixture
def here(need: Need) -> Machine:
    for tool in ("litmus7", "gcc", "make"):
        need(tool)
    machine = local.machine()
    assert Litmus7().available(machine) == ""
    return machine


@pytest.mark.alone
def test_store_buffering_is_seen_here_and_with_fences_is_not(here: Machine) -> None:
    """Each processor has a store buffer; two are needed to see it."""
    if cores() < 2:
        pytest.skip("one processor shows no store buffering")
    tests = [sb("SB"), sb("SB+mfences", FENCE), sb("SB+scs", order="seq_cst")]
    for seconds in (0.5, 2.0, 8.0):  # chance decides when it is seen
        histograms = ran(tests, here, seconds=seconds)
        seen = histograms["SB"]
        if seen.target:
            break
    assert seen.target > 0
    assert seen.iterations == sum(count.count for count in seen.histogram)
    assert (
        sum(c.count for c in seen.histogram if c.state == {"0:r0": "0", "1:r0": "0"}) == seen.target
    )
    assert not seen.emulated
    assert (seen.machine, seen.runner, seen.arch) == ("local", "litmus7", here.arch)
    for name in ("SB+mfences", "SB+scs"):
        assert histograms[name].iterations > 0
        assert histograms[name].target == 0


def test_the_parameters_of_a_run_are_recorded(here: Machine) -> None:
    histogram = ran([sb()], here, seconds=0.3)["SB"]
    parameters = histogram.parameters
    assert "-mem indirect" in parameters["options"]
    assert int(parameters["rounds"]) >= 1
    assert int(parameters["runs"]) >= int(parameters["rounds"])
    assert parameters["litmus7"]
    assert parameters["compiler"].startswith("gcc ")
    assert re.fullmatch("[0-9a-f]{32}", histogram.hash)
    assert histogram.condition == r"exists (0:r0=0 /\ 1:r0=0)"
    assert 0 < histogram.seconds < 5
    (read,) = parse_histograms(format_histogram(histogram), machine="local")
    assert read.histogram == histogram.histogram
    assert read.target == histogram.target


def test_a_test_that_does_not_compile_costs_only_itself(here: Machine) -> None:
    wrong = sb("no-function", "int r9 = no_such_function(x); r9 = *r9;")
    text = sb("no-syntax").text.replace("P0 (atomic_int* x", "P0 (mutex* x")
    unread = Test(name="no-syntax", arch="C", text=text)
    truncated = Test(name="nothing", arch="C", text="C\n")
    histograms = ran([sb("a"), wrong, unread, truncated, sb("b")], here, seconds=0.2)
    for name in ("a", "b"):
        assert histograms[name].iterations > 0
        assert histograms[name].reason == ""
    assert "gcc does not compile it" in histograms["no-function"].reason
    assert "litmus7 cannot read it: line 3" in histograms["no-syntax"].reason
    assert histograms["nothing"].reason
    for name in ("no-function", "no-syntax", "nothing"):
        assert histograms[name].iterations == 0


def test_two_tests_of_one_name_both_run(here: Machine) -> None:
    histograms: list[Histogram] = []
    Litmus7().run([sb(), sb("SB", FENCE)], here, seconds=0.2, done=histograms.append)
    assert [h.test for h in histograms] == ["SB", "SB"]
    assert all(h.iterations for h in histograms)


def test_a_test_that_never_ends_is_killed(here: Machine) -> None:
    waiting = sb("waits", "int r1 = 0; while (r1 != 7) r1 = *x;".replace("*x", "atomic_load(x)"))
    begin = time.monotonic()
    histograms = ran([waiting, sb()], here, seconds=0.3)
    assert time.monotonic() - begin < 20
    assert "does not end within its time" in histograms["waits"].reason
    assert histograms["SB"].iterations > 0


def test_more_threads_than_processors_run_too(here: Machine) -> None:
    histogram = ran([adders(cores() + 2)], here, seconds=0.5)["many"]
    assert histogram.iterations > 0
    assert "-barrier pthread" in histogram.parameters["options"]


def test_tests_of_another_architecture_are_not_run(here: Machine) -> None:
    foreign = Test(name="MP", arch="MIPS", text="MIPS MP\n{}\n P0 ;\n nop ;\nexists (x=0)\n")
    histogram = ran([foreign], here)["MP"]
    assert "MIPS tests do not run there" in histogram.reason


@pytest.mark.skipif(local.machine().arch != "x86_64", reason="the test is of x86-64")
def test_assembly_tests_of_this_machine_run(here: Machine) -> None:
    text = r"""X86_64 SB
{}
 P0            | P1            ;
 movl $1,(x)   | movl $1,(y)   ;
 movl (y),%eax | movl (x),%eax ;
exists (0:rax=0 /\ 1:rax=0)
"""
    histogram = ran([Test(name="SB", arch="X86_64", text=text)], here)["SB"]
    assert histogram.reason == ""
    assert histogram.iterations > 0


@pytest.mark.parametrize("arch", architectures())
def test_emulated_machines_run_tests_and_say_what_they_are(arch: str, need: Need) -> None:
    for tool in ("litmus7", "make", gcc.cross(ISAS.get(arch).triple).name, f"qemu-{arch}"):
        need(tool)
    machine = machines.resolve(f"qemu:{arch}")
    assert Litmus7().available(machine) == ""
    histograms = ran([sb(), sb("SB+fences", FENCE)], machine, seconds=1.0)
    assert all(h.emulated and h.machine == f"qemu:{arch}" for h in histograms.values())
    assert histograms["SB"].iterations > 0
    assert histograms["SB+fences"].target == 0


def test_a_missing_tool_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "find", lambda _: None)
    machine = machines.resolve("qemu:aarch64")
    missing = Litmus7().available(machine)
    for tool in ("litmus7", "aarch64-linux-gnu-gcc", "qemu-aarch64"):
        assert tool in missing
    with pytest.raises(MissingTool) as caught:
        Litmus7().run([sb()], machine, seconds=1, done=lambda _: None)
    assert caught.value.advice


@pytest.mark.parametrize(
    "name",
    ["elsewhere", "local:1", "qemu:vax", "qemu:", "ssh:", "ssh:-oProxyCommand=x", "ssh:a b", ""],
)
def test_a_machine_that_is_not_known_is_refused(name: str) -> None:
    with pytest.raises(BadInput) as caught:
        machines.resolve(name)
    assert "qemu:aarch64" in (caught.value.advice or "")
    assert "ssh:HOST" in (caught.value.advice or "")


class Crowded:
    """A session in which a round costs nothing at first, and a time slice per iteration later."""

    def __init__(self, quick: int, slice_: float) -> None:
        self.quick, self.slice, self.rounds = quick, slice_, 0

    def run(self, program: Path, arguments: Sequence[str], *, seconds: float) -> process.Ended:
        del program
        self.rounds += 1
        iterations = int(arguments[2]) * int(arguments[4])
        costs = 0.001 if self.rounds <= self.quick else self.slice * iterations
        time.sleep(min(costs, seconds))
        out = (
            f"Test SB Allowed\nHistogram (1 states)\n{iterations}:>0:rax=1; 1:rax=0;\nNo\n"
            f"Witnesses\nPositive: 0, Negative: {iterations}\n"
            "Condition exists (0:rax=0 /\\ 1:rax=0)\nObservation SB Never 0 1\n"
        )
        late = costs > seconds
        return process.Ended(0, "" if late else out, "", min(costs, seconds), late)


@pytest.mark.parametrize("quick", [0, 1, 3])
def test_a_machine_that_becomes_slow_is_measured_for_the_whole_time(need: Need, quick: int) -> None:
    need("litmus7")
    session = Crowded(quick, 0.01)
    rounds = _Rounds(sb("SB"), Path("unused"), local.machine(), session, ())  # type: ignore[arg-type]
    begun = time.monotonic()
    rounds.measure(3.0, NEVER)
    assert 2.9 < time.monotonic() - begun < 3.5
    assert rounds.spent > 1.5, "most of the time is spent in rounds that count"
