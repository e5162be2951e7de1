"""What a compiler made of a program's own operations, where they stand in the program, is read from
what they execute and compared with the tests that they give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from test_compiled import bytes_of, words

from weakspot.errors import MissingTool
from weakspot.harness.campaign import plan
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.codegen import operations
from weakspot.harness.codegen.check import CodegenCheck
from weakspot.harness.codegen.configurations import configurations, platforms
from weakspot.harness.corpus.material import gather
from weakspot.harness.values.codegen import CodegenComparison
from weakspot.system import tools
from weakspot.system.tools import Tool

#: two threads run one operation each, given as their bodies
PROGRAM = """#include <pthread.h>
#include <stdatomic.h>
static atomic_int x, y;
static int seen[2];
{operations}
static void *one(void *unused) {{ seen[0] = first(); return unused; }}
static void *other(void *unused) {{ seen[1] = second(); return unused; }}
int main(void)
{{
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, other, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return seen[0] + seen[1];
}}
"""
MESSAGE = """
static int first(void)
{
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_store_explicit(&y, 1, memory_order_release);
  return 0;
}
static int second(void)
{
  int ready = atomic_load_explicit(&y, memory_order_acquire);
  return ready + atomic_load_explicit(&x, memory_order_relaxed);
}
"""
FENCED = """
static int look(atomic_int *mine, atomic_int *other)
{
  atomic_store_explicit(mine, 1, memory_order_relaxed);
  atomic_thread_fence(memory_order_seq_cst);
  return atomic_load_explicit(other, memory_order_relaxed);
}
static int first(void) { return look(&x, &y); }
static int second(void) { return look(&y, &x); }
"""
CLAIMED = """
static int claim(atomic_int *mine, atomic_int *other)
{
  int old = atomic_fetch_add_explicit(mine, 1, memory_order_seq_cst);
  return old + atomic_load_explicit(other, memory_order_seq_cst);
}
static int first(void) { return claim(&x, &y); }
static int second(void) { return claim(&y, &x); }
"""
COPIED = """
static int first(void)
{
  int read = atomic_load_explicit(&x, memory_order_relaxed);
  atomic_store_explicit(&y, %s, memory_order_relaxed);
  return read;
}
static int second(void)
{
  int read = atomic_load_explicit(&y, memory_order_relaxed);
  atomic_store_explicit(&x, %s, memory_order_relaxed);
  return read;
}
"""

Needed = Callable[[str], Tool]
everywhere = pytest.mark.parametrize("place", ["x86", "aarch64", "power", "riscv"])


def inspected(
    tmp_path: Path,
    text: str,
    place: str,
    need: Needed,
    *,
    levels: Sequence[str] = ("O0", "O2"),
    model: str = "c11",
    edit: Callable[[bytes], bytes] = operations.unchanged,
) -> tuple[CodegenComparison, ...]:
    """The operations by gcc."""
    need(f"{platforms()[place].triple}-gcc")
    need(f"qemu-{platforms()[place].arch}")
    source = tmp_path / "operations.c"
    source.write_text(PROGRAM.format(operations=text))
    material = gather([str(source)])
    subjects = [
        operations.ProgramWithTests(each.name, each.generated.program, each.generated.tests)
        for each in material.programs
    ]
    inspection = CodegenCheck(
        [entry.test for entry in material.entries],
        plan.models([model]),
        Engine(witnesses=False),
        tests_too=False,
        programs=subjects,
        edit=edit,
    )
    inspection.compile(configurations(["gcc", *levels, place]), lambda: None)
    inspection.check(10, lambda: None)
    return inspection.answers()


#: faults as a compiler could have made them: place, operations, what is changed in the program
FAULTS = {
    "x86: a fence that is not locked": (*("x86", FENCED), bytes_of("f048830c2400", "9048830c2400")),
    "x86: an xadd that is not locked": ("x86", CLAIMED, bytes_of("f00fc1", "900fc1")),
    "aarch64: stlr as str": (
        *("aarch64", MESSAGE),
        words(0x889FFC00, 0xFFFFFC00, lambda word: 0xB9000000 | (word & 0x3FF)),
    ),
    "aarch64: no dmb": ("aarch64", FENCED, words(0xD5033BBF, 0xFFFFFFFF, lambda _: 0xD503201F)),
    "power: no lwsync": ("power", MESSAGE, words(0x7C2004AC, 0xFFFFFFFF, lambda _: 0x60000000)),
    "power: no sync": ("power", FENCED, words(0x7C0004AC, 0xFFFFFFFF, lambda _: 0x60000000)),
    "power: no isync": ("power", MESSAGE, words(0x4C00012C, 0xFFFFFFFF, lambda _: 0x60000000)),
    "riscv: no fence": ("riscv", MESSAGE, words(0x0000000F, 0xF00FFFFF, lambda _: 0x00000013)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_wrong_compilation_of_an_operation_is_caught(
    fault: str, tmp_path: Path, need: Needed
) -> None:
    place, text, edit = FAULTS[fault]
    right = inspected(tmp_path, text, place, need)
    assert {each.result for each in right} == {"Preserved"}
    assert {name for each in right for name in each.builds} == {
        build.name for build in configurations(["gcc", "O0", "O2", place])
    }
    wrong = inspected(tmp_path, text, place, need, edit=edit)
    assert {each.result for each in wrong} == {"Weaker"}
    for each in wrong:
        assert each.code == "operations"
        assert each.program == "operations.c/operations"
        assert each.beyond
        assert "; operations.c:" in each.assembly
        assert each.test is not None


def test_an_access_that_the_compiler_has_moved_is_found_where_it_is(
    tmp_path: Path, need: Needed
) -> None:
    """The fault is planted by the preprocessor: for Armv8 the line of the second read comes before
    that of the first."""
    reads = (
        "#line 101\n  int ready = atomic_load_explicit(&y, memory_order_acquire);\n",
        "#line 102\n  int data = atomic_load_explicit(&x, memory_order_relaxed);\n",
    )
    right, wrong = "".join(reads), "".join(reversed(reads))
    start = MESSAGE[: MESSAGE.index("  int ready")]
    text = f"{start}#ifdef __aarch64__\n{wrong}#else\n{right}#endif\n  return ready + data;\n}}\n"
    for place, result in (("x86", "Preserved"), ("aarch64", "Weaker")):
        answers = inspected(tmp_path, text, place, need)
        assert {each.result for each in answers} == {result}


@pytest.mark.parametrize("place", ["aarch64", "power", "riscv"])
def test_dependencies_are_those_of_the_code(place: str, tmp_path: Path, need: Needed) -> None:
    """rc11 forbids load buffering; no compiler holds it back, but for a value that is passed on."""
    passed = inspected(tmp_path, COPIED % ("read", "read"), place, need, model="rc11")
    assert {each.result for each in passed} == {"Preserved"}
    constant = inspected(tmp_path, COPIED % ("1", "1"), place, need, model="rc11")
    assert {each.result for each in constant} == {"Weaker"}


@everywhere
def test_an_operation_is_read_where_it_stands_with_all_that_is_around_it(
    place: str, tmp_path: Path, need: Needed
) -> None:
    """Behind a pointer, in a loop that fails at first, under a lock."""
    text = """
static struct { pthread_mutex_t lock; atomic_int value[3]; } held;
static atomic_long taken;
static int raise(atomic_long *at, long by)
{
  long old = atomic_load_explicit(at, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(at, &old, old + by, memory_order_acq_rel,
                                                memory_order_relaxed))
    ;
  return old;
}
static int first(void)
{
  int found;
  pthread_mutex_lock(&held.lock);
  atomic_store_explicit(&held.value[2], 1, memory_order_relaxed);
  pthread_mutex_unlock(&held.lock);
  found = raise(&taken, 1);
  return found + atomic_load_explicit(&held.value[1], memory_order_acquire);
}
static int second(void)
{
  int found;
  atomic_store_explicit(&held.value[1], 1, memory_order_relaxed);
  found = raise(&taken, 2);
  pthread_mutex_lock(&held.lock);
  found += atomic_load_explicit(&held.value[2], memory_order_relaxed);
  pthread_mutex_unlock(&held.lock);
  return found;
}
"""
    answers = inspected(tmp_path, text, place, need)
    assert len({each.source for each in answers}) > 3
    for each in answers:
        # gcc 12 forgets the release of a compare-exchange on RISC-V
        known = place == "riscv" and "cas" in each.source
        assert each.result == "Preserved" or (known and each.result == "Weaker"), each


def test_code_that_was_not_executed_is_unknown_and_its_line_reported(
    tmp_path: Path, need: Needed
) -> None:
    """Where it takes a thread interrupted twice."""
    text = """
static int first(void)
{
  int a = atomic_load_explicit(&x, memory_order_relaxed);
  int b = atomic_load_explicit(&x, memory_order_relaxed);
  int c = atomic_load_explicit(&x, memory_order_relaxed);
  if (a != b && b != c)
    atomic_store_explicit(&y, 1, memory_order_release);
  return 0;
}
static int second(void)
{
  int read = atomic_load_explicit(&y, memory_order_acquire);
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  atomic_store_explicit(&x, 2, memory_order_relaxed);
  return read;
}
"""
    answers = inspected(tmp_path, text, "x86", need)
    assert answers
    line = 1 + PROGRAM.format(operations=text).split("\n").index(
        "    atomic_store_explicit(&y, 1, memory_order_release);"
    )
    for each in answers:
        assert each.result == "Unknown"
        assert f"operations.c:{line} was not executed" in each.reason


def test_a_missing_emulator_is_an_error_with_installation_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    configs = configurations(["zig", "O2", "x86"])
    monkeypatch.setattr(tools, "find", lambda _: None)
    with pytest.raises(MissingTool, match="qemu-x86_64 is not installed") as error:
        operations.require(configs)
    assert "qemu-user" in (error.value.advice or "")
