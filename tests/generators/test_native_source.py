"""The C that runs a test on hardware: the operations as written, values stamped where they can be,
and a program for every architecture."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from ended import execute
from shapes import STRONG

from weakspot.errors import Unsupported
from weakspot.generators.emit.native import Followed, native_source, perpetual
from weakspot.generators.emit.threads import statements
from weakspot.generators.litmus import Test
from weakspot.harness.corpus import structures
from weakspot.system.tools import Tool

TARGETS = ("x86_64", "aarch64", "powerpc64le", "riscv64")


def written(threads: str, condition: str = "exists (0:r0=0)", init: str = "") -> Test:
    return Test(name="t", arch="C", text=f"C t\n{{{init}}}\n{threads}\n{condition}\n")


def thread(source: str, number: int = 0, name: str = "P") -> list[str]:
    """The lines of a thread in the program, but what keeps its registers."""
    body = source.partition(f" void {name}{number}(")[2].partition("\n}\n")[0]
    lines = [line.strip() for line in body.splitlines()[1:]]
    return [line for line in lines if not line.startswith(("(void)", "out["))]


MIXED = written(
    """P0 (atomic_int* x, atomic_int* y, int* z, int* e) {
  int r2 = -1;
  *z = 3;
  atomic_store_explicit(x,1,memory_order_release);
  int r0 = atomic_exchange_explicit(x,2,memory_order_acq_rel);
  int r1 = atomic_fetch_add_explicit(y,1,memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  if (r0 == 1) {
    r2 = atomic_compare_exchange_strong_explicit(x,e,4,memory_order_acquire,memory_order_relaxed);
  }
}""",
    r"exists (0:r0=1 /\ 0:r1=7 /\ 0:r2=1 /\ [x]=4 /\ [z]=3)",
    " [y]=7; [e]=2; ",
)


def test_operations_are_as_written_with_their_values_stamped() -> None:
    assert thread(native_source(MIXED)) == [
        "int r2 = UNREACHED;",
        "*z = base + 3;",
        "atomic_store_explicit(x,base + 1,memory_order_release);",
        "int r0 = atomic_exchange_explicit(x,base + 2,memory_order_acq_rel);",
        "int r1 = atomic_fetch_add_explicit(y,1,memory_order_relaxed);",  # a sum: set back
        "atomic_thread_fence(memory_order_seq_cst);",
        "if (meant(r0, base, 0) == 1) {",
        "int e6 = base + 2;",
        "r2 = atomic_compare_exchange_strong_explicit(x,&e6,base + 4,memory_order_acquire,"
        "memory_order_relaxed);",
        "}",
    ]


@pytest.mark.parametrize(
    ("operation", "init", "stamped"),
    [
        ("int r0 = atomic_load(x);", "", True),
        ("int r0 = atomic_exchange(x,7);", "", True),
        ("int r0 = atomic_fetch_or(x,1);", "", False),
        ("int r0 = atomic_compare_exchange_strong(x,e,1);", "", False),  # with the initial value
        ("int r0 = atomic_compare_exchange_strong(x,e,1);", " [e]=3; ", True),
        ("int r0 = atomic_load(x); atomic_store(x,-2);", "", False),
        ("int r0 = atomic_load(x); atomic_store(x,100000);", "", False),
    ],
)
def test_memory_is_reset_if_a_result_depends_on_it(
    operation: str, init: str, stamped: bool
) -> None:
    source = native_source(written(f"P0 (atomic_int* x, int* e) {{ {operation} }}", init=init))
    back = source.partition("static inline void set_back")[2].partition("\n}\n")[0]
    assert ("atomic_store_explicit" not in back) is stamped


SB = """P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x,4,memory_order_release);
  int r0 = atomic_load_explicit(y,memory_order_acquire);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y,5,memory_order_release);
  int r0 = atomic_load_explicit(x,memory_order_acquire);
}"""
RELAXED = "store_explicit(y,5,memory_order_relaxed"
BOTH = r"exists (0:r0=0 /\ 1:r0=0)"


def test_perpetually_each_store_writes_the_number_of_its_round() -> None:
    test = written(SB, BOTH)
    assert perpetual(statements(test)) == (
        Followed(thread=0, index=0, writer=1, value=5, init=0, wanted=False),
        Followed(thread=1, index=0, writer=0, value=4, init=0, wanted=False),
    )
    source = native_source(test)
    assert thread(source, name="S") == [
        "atomic_store_explicit(x,base,memory_order_release);",
        "int r0 = atomic_load_explicit(y,memory_order_acquire);",
    ]


def test_variants_are_one_program_that_contains_shared_code_once() -> None:
    test = written(SB, BOTH)
    relaxed = written(SB.replace("store_explicit(y,5,memory_order_release", RELAXED), BOTH)
    source = native_source(test, relaxed)
    assert thread(source) == thread(native_source(test))
    assert thread(source, 1, "P1_") == thread(native_source(relaxed), 1)
    assert source.count(" void P0") == 1
    table = source.partition("variants[][THREADS]")[2].partition("};")[0]
    assert re.findall(r"run_\w+", table) == ["run_0", "run_1", "run_0", "run_1_1"]


def test_perpetually_a_sum_grows_by_one_a_round() -> None:
    """Whatever is added in the test; an exchange writes the number as a store does. Of three
    threads and more too."""
    test = written(
        """P0 (atomic_int* x) { int r0 = atomic_fetch_add_explicit(x,5,memory_order_acq_rel); }
P1 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(x,memory_order_relaxed);
  int r1 = atomic_exchange_explicit(y,3,memory_order_acq_rel);
}
P2 (atomic_int* y) { int r0 = atomic_load_explicit(y,memory_order_relaxed); }""",
        r"exists (0:r0=2 /\ 1:r0=7 /\ 1:r1=0 /\ 2:r0=3)",
        " [x]=2; ",
    )
    assert perpetual(statements(test)) == (
        Followed(thread=0, index=0, writer=0, value=7, init=2, wanted=False),
        Followed(thread=1, index=0, writer=0, value=7, init=2, wanted=True),
        Followed(thread=1, index=1, writer=1, value=3, init=0, wanted=False),
        Followed(thread=2, index=0, writer=1, value=3, init=0, wanted=True),
    )
    source = native_source(test)
    add = "int r0 = atomic_fetch_add_explicit(x,1,memory_order_acq_rel);"
    exchange = "int r1 = atomic_exchange_explicit(y,base,memory_order_acq_rel);"
    assert add in thread(source, 0, "S")
    assert exchange in thread(source, 1, "S")


@pytest.mark.parametrize(
    "test",
    [
        written(SB, r"exists (0:r0=0 /\ [x]=4)"),  # final memory
        written(SB, r"exists (0:r0=3 /\ 1:r0=0)"),  # a value that nobody stores
        written(
            SB.replace(
                "int r0 = atomic_load_explicit(y",
                "atomic_store(x,2); int r0 = atomic_load_explicit(y",
            ),
            BOTH,
        ),  # two writers
        written(SB.replace("atomic_store_explicit(x,4", "atomic_fetch_or_explicit(x,4"), BOTH),
        written(SB + "\nP2 (atomic_int* x) { atomic_exchange(x,1); }", BOTH),  # the same
        written(SB, "exists (true)"),
        written(SB.partition("\n}")[0] + "\n}", "exists (0:r0=0)"),  # alone
        MIXED,
    ],
)
def test_a_test_that_cannot_run_perpetually_does_not(test: Test) -> None:
    assert perpetual(statements(test)) is None
    assert "this test cannot run perpetually" in native_source(test)


@pytest.mark.parametrize(
    "test",
    [
        written("P0 (atomic_int* x) { int r0 = atomic_load(x); while (r0) { } }"),
        written("P0 (atomic_int* x) { int r0 = atomic_load(x); }", "exists (1:r0=0)"),
        Test(name="t", arch="PPC", text="PPC t\n{}\nP0 ;\nexists (x=0)\n"),
    ],
)
def test_a_test_that_is_not_read_is_refused(test: Test) -> None:
    with pytest.raises(Unsupported):
        native_source(test)


def test_every_golden_test_has_a_program() -> None:
    for structure in structures.structures():
        for test in structure.golden():
            source = native_source(test)
            for number in range(len(statements(test).threads)):
                assert thread(source, number), test.name


PROGRAMS = pytest.mark.parametrize(
    "test",
    [MIXED, *(t for t in STRONG if t.name in ("WRC", "SB+fetch.adds"))],
    ids=lambda test: test.name,
)


def taken(compiler: Sequence[str | Path], test: Test, folder: Path) -> None:
    """The compiler has nothing to warn of."""
    (folder / "t.c").write_text(native_source(test))
    execute(
        *compiler, "-O2", "-Wall", "-Wextra", "-Werror", "-c", "t.c", "-o", "t.o", cwd=folder
    ).printed(0)


@PROGRAMS
@pytest.mark.parametrize("target", TARGETS)
def test_compilers_of_other_architectures_take_it(target: str, test: Test, tmp_path: Path) -> None:
    pytest.importorskip("ziglang")
    zig = (sys.executable, "-m", "ziglang", "cc", "-target", f"{target}-linux-musl")
    taken(zig, test, tmp_path)


@PROGRAMS
def test_gcc_has_nothing_to_warn_of(
    need: Callable[[str], Tool], test: Test, tmp_path: Path
) -> None:
    taken([need("gcc").path], test, tmp_path)
