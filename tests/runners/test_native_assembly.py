"""Tests in assembly run natively: each thread's instructions, unchanged, on this machine."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

import pytest
from asking import verdicts

from weakspot.errors import Unsupported
from weakspot.generators.emit.assembly import assembly
from weakspot.generators.litmus import Test, read_test
from weakspot.harness import machines
from weakspot.harness.machines import Machine
from weakspot.harness.runners import litmus7
from weakspot.harness.runners.native import Native
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.state import within
from weakspot.system.tools import Tool

pytestmark = pytest.mark.usefixtures("cache")
Need = Callable[[str], Tool]
x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="needs x86-64")


def x86_test(name: str, code: str, condition: str, initial: str = "") -> Test:
    return written("X86_64", name, code, condition, initial)


def written(arch: str, name: str, code: str, condition: str, initial: str) -> Test:
    columns = [[line.strip() for line in thread.split(";")] for thread in code.split("||")]
    rows = [" | ".join(row) + " ;" for row in zip(*columns, strict=True)]
    head = " | ".join(f"P{number}" for number in range(len(columns))) + " ;"
    text = "\n".join(
        [f"{arch} {name}", f"{{ {initial} }}", head, *rows, f"exists ({condition})", ""]
    )
    return Test(name=name, arch=arch, text=text)


SB = "movl $1,(x); {} ; movl (y),%eax || movl $1,(y); {} ; movl (x),%eax"
BOTH = r"0:rax=0 /\ 1:rax=0"
SHAPES = [
    x86_test("SB", SB.format("", ""), BOTH),
    x86_test("SB+mfences", SB.format("mfence", "mfence"), BOTH),
    x86_test(
        "SB+xchgs",
        "movl $1,%ebx; lock xchgl %ebx,(x); movl (y),%eax || "
        "movl $1,%ebx; xchgl %ebx,[y]; movl (x),%eax",
        BOTH,
    ),
    x86_test(
        "MP", "movl $1,(x); movl $1,(y) || movl (y),%eax; movl (x),%ebx", r"1:rax=1 /\ 1:rbx=0"
    ),
    x86_test(
        "LB", "movl (x),%eax; movl $1,(y) || movl (y),%eax; movl $1,(x)", r"0:rax=1 /\ 1:rax=1"
    ),
    x86_test("2+2W", "movl $1,(x); movl $2,(y) || movl $1,(y); movl $2,(x)", r"[x]=1 /\ [y]=1"),
    x86_test("R", "movl $1,(x); movl $1,(y) || movl $2,(y); movl (x),%eax", r"[y]=2 /\ 1:rax=0"),
    x86_test(
        "SB-wide",
        "movq $1,(%rcx); movq (y),%rax || movq $1,(y); movq (x),%rax",
        BOTH,
        "uint64_t x; uint64_t y; 0:rcx=x;",
    ),
    x86_test(
        "branches",
        "movl $1,(x); ; ; ; || movl (x),%eax; cmpl $1,%eax; jne L0; movl $7,%ebx; L0: movl $3,%ecx",
        r"1:rbx=7 /\ 1:rcx=3",
    ),
]


def ran(tests: list[Test], machine: Machine, seconds: float = 1.0) -> dict[str, Histogram]:
    found: list[Histogram] = []
    Native().run(tests, machine, seconds=seconds, done=found.append)
    return {each.test: each for each in found}


def assert_within(
    tests: list[Test], machine: Machine, model: str, seconds: float
) -> dict[str, Histogram]:
    """They all ran, and what they showed is allowed."""
    allowed, found = verdicts(tests, model), ran(tests, machine, seconds)
    for name, histogram in found.items():
        assert histogram.iterations > 0, histogram
        for each in histogram.histogram:
            assert within(each.state, allowed[name].states), (name, each)
    return found


@x86
def test_a_run_shows_only_what_the_model_of_x86_allows_and_sees_store_buffering() -> None:
    found = assert_within(SHAPES, machines.resolve("local"), "x86", 0.5)
    assert found["SB"].target > 0
    assert found["SB-wide"].target > 0


C_SB = """C {name}
{{ x={value}; y={value}; }}
P0 (atomic_int* x, atomic_int* y) {{
  atomic_store_explicit(x,1,memory_order_relaxed);
  int r0 = atomic_load_explicit(y,memory_order_relaxed);
}}
P1 (atomic_int* x, atomic_int* y) {{
  atomic_store_explicit(y,1,memory_order_relaxed);
  int r0 = atomic_load_explicit(x,memory_order_relaxed);
}}
exists (0:r0=1 /\\ 1:r0=1)
"""


@pytest.mark.parametrize("arch", ["C", pytest.param("X86_64", marks=x86)])
def test_tests_that_differ_in_initial_values_only_run_apart(arch: str, tmp_path: Path) -> None:
    tests = []
    for value in (0, 5):
        name = f"from{value}"
        if arch == "C":
            path = tmp_path / f"{name}.litmus"
            path.write_text(C_SB.format(name=name, value=value))
            tests.append(read_test(path))
        else:
            initial = f"x={value}; y={value};"
            tests.append(x86_test(name, SB.format("", ""), r"0:rax=1 /\ 1:rax=1", initial))
    assert_within(tests, machines.resolve("local"), "x86" if arch == "X86_64" else "rc20", 0.5)


@x86
def test_a_run_shows_what_litmus7_often_shows(need: Need) -> None:
    need("litmus7")
    tests = [each for each in SHAPES if each.name not in ("SB-wide", "branches")]
    theirs: list[Histogram] = []
    litmus7.RUNNER.run(tests, machines.resolve("local"), seconds=1.0, done=theirs.append)
    allowed = verdicts(tests, "x86")
    ours = ran(tests, machines.resolve("local"), 0.5)
    for each in theirs:
        states = [count.state for count in ours[each.test].histogram]
        for seen in each.histogram:
            assert within(seen.state, allowed[each.test].states), each.test
            if each.test != "R" and seen.count > each.iterations // 10:  # a common outcome
                assert within(seen.state, states), (each.test, seen)


ARM = [
    written(
        "AArch64",
        "SB+dmbs",
        "MOV W0,#1; STR W0,[X1]; DMB SY; LDR W2,[X3] || "
        "MOV W0,#1; STR W0,[X1]; DMB SY; LDR W2,[X3]",
        r"0:X2=0 /\ 1:X2=0",
        "0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x;",
    ),
    written(
        "AArch64",
        "MP+rel+addr",
        "MOV W0,#1; STR W0,[X1]; STLR W0,[X3]; || LDR W0,[X1]; EOR W2,W0,W0; LDR W4,[X3,W2,SXTW];",
        r"1:X0=1 /\ 1:X4=0",
        "0:X1=x; 0:X3=y; 1:X1=y; 1:X3=x;",
    ),
    written(
        "AArch64",
        "SWP+CBZ",
        "MOV W0,#1; SWPAL W0,W2,[X1]; ; || MOV W0,#2; SWPAL W0,W2,[X1]; CBZ W2,L0; L0: MOV W5,#1",
        r"0:X2=0 /\ 1:X2=0",
        "0:X1=x; 1:X1=x;",
    ),
]


def test_tests_of_aarch64_run_under_emulation(need: Need) -> None:
    need("qemu-aarch64")
    need("aarch64-linux-gnu-gcc")
    assert_within(ARM, machines.resolve("qemu:aarch64"), "aarch64", 0.5)


def test_the_instructions_of_a_test_stand_in_the_program_as_they_are() -> None:
    lines = assembly(ARM[1]).threads[1].lines
    assert [each for each in lines if "\\n" in each] == [
        '  "LDR W0,[X1]\\n"',
        '  "EOR W2,W0,W0\\n"',
        '  "LDR W4,[X3,W2,SXTW]\\n"',
    ]


@pytest.mark.parametrize(
    ("arch", "code", "initial", "why"),
    [
        ("X86_64", "L0: movl (x),%eax; jne L0", "", "a loop"),
        ("X86_64", "movl (x),%eax; jne L1", "", "no such label"),
        ("X86_64", "movl (x),%eax; cpuid", "", "instruction is not known: `cpuid`"),
        ("X86_64", "movl (x),%eax; cmpxchgl (x),%ebx", "", "instruction is not known"),
        ("X86_64", "movl (x),%eax; movq (y),%rax", "", "y has another width"),
        ("X86_64", "movl (x),%eax; movl (%rbx),%eax", "", "gives no address"),
        ("X86_64", "movl (%rbx),%eax; movl $1,%ebx", "0:rbx=x;", "an address and a value"),
        ("X86_64", "movl $1,%eax; movl (x),%esp", "", "operand is not known"),
        ("X86_64", "movl $1,%eax; movl $1,(x)", "x=-1;", "initial state"),
        ("AArch64", "LDR W0,[X1]; LDR W2,[X1,W0,SXTW]", "0:X1=x;", "not certainly 0"),
        ("AArch64", "LDR W0,[X1]; LDR X2,[X1]", "0:X1=x;", "instruction is not known"),
        ("AArch64", "LDR W0,[X1]; LDR W18,[X1]", "0:X1=x;", "register is not known"),
    ],
)
def test_what_is_not_understood_is_refused_with_its_place(
    arch: str, code: str, initial: str, why: str
) -> None:
    reg = "rax" if arch == "X86_64" else "X0"
    with pytest.raises(Unsupported) as refused:
        assembly(written(arch, "T", code, f"0:{reg}=1", initial))
    assert why in str(refused.value)
    assert "litmus7" in str(refused.value)


@x86
def test_a_test_of_another_architecture_is_not_run() -> None:
    reason = ran(ARM[:1], machines.resolve("local"))["SB+dmbs"].reason
    assert "AArch64 assembly" in reason
    assert "run it on a machine of its architecture" in reason
