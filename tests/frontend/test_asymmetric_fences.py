"""Asymmetric fences order what P1202R5 and membarrier(2) say, under models that define them."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_answers import explored, kinds

from weakspot.errors import Unsupported
from weakspot.harness.checkers.engine_answers import reasons_of
from weakspot.harness.corpus import models
from weakspot.harness.values.reason import sentence

DECLARED = """
void asymmetric_thread_fence_light(memory_order);
void asymmetric_thread_fence_heavy(memory_order);
#define LIGHT asymmetric_thread_fence_light(memory_order_seq_cst)
#define HEAVY asymmetric_thread_fence_heavy(memory_order_seq_cst)
"""
HEAD = """
#include <assert.h>
#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
#define FULL atomic_thread_fence(memory_order_seq_cst)
#define COMPILER __asm__ volatile("" ::: "memory")
#define MEMBARRIER(command) syscall(SYS_membarrier, MEMBARRIER_CMD_##command, 0, 0)
"""
TAIL = """
static atomic_int x, y;
static int data, first, second;
static void *one(void *unused) { ONE return 0; }
static void *two(void *unused) { TWO return 0; }
int main(void) {
  pthread_t one_, two_;
  MAIN
  pthread_create(&one_, 0, one, 0);
  pthread_create(&two_, 0, two, 0);
  pthread_join(one_, 0);
  pthread_join(two_, 0);
  AFTER
}
"""
CXX = """
#include <cassert>
#include <experimental/asymmetric_fence>
#include <thread>
std::atomic<int> x, y;
int first, second;
int main() {
  std::thread one([] {
    x.store(1, std::memory_order_relaxed);
    std::experimental::asymmetric_thread_fence_light(std::memory_order_seq_cst);
    first = y.load(std::memory_order_relaxed);
  });
  std::thread two([] {
    y.store(1, std::memory_order_relaxed);
    std::experimental::asymmetric_thread_fence_heavy(ORDER);
    second = x.load(std::memory_order_relaxed);
  });
  one.join();
  two.join();
  assert(first || second);
}
"""


def undefined(path: Path, text: str, model: str) -> bool:
    """Whether the answer is open since the model does not define asymmetric fences."""
    found = explored(path, text, model)
    assert all(f"{SETS} at {path.name}:" in each for each in map(sentence, reasons_of(found))), (
        found["reasons"]
    )
    return found["result"] == "Unknown"


SETS = "asymmetric fence (sc, tso and rc20 do, by the sets LIGHT and HEAVY)"


def c(one: str, two: str, main: str = "", after: str = "") -> str:
    given = (("ONE", one), ("TWO", two), ("MAIN", main), ("AFTER", after))
    defined = "".join(f"#define {name} {text}\n" for name, text in given)
    return HEAD + DECLARED + defined + TAIL


def buffering(one: str, two: str, main: str = "") -> str:
    """Store buffering with these fences."""
    load, store = "atomic_load_explicit", "atomic_store_explicit"
    relaxed = "memory_order_relaxed"
    return c(
        f"{store}(&x, 1, {relaxed}); {one}; first = {load}(&y, {relaxed});",
        f"{store}(&y, 1, {relaxed}); {two}; second = {load}(&x, {relaxed});",
        main,
        "assert(first || second);",
    )


def passing(one: str, two: str) -> str:
    """Message passing with these fences."""
    relaxed = "memory_order_relaxed"
    return c(
        f"data = 1; {one}; atomic_store_explicit(&x, 1, {relaxed});",
        f"if (atomic_load_explicit(&x, {relaxed})) {{ {two}; assert(data == 1); }}",
    )


@pytest.mark.parametrize("model", ["rc20", "rc11", "tso"])
@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("LIGHT", "HEAVY", "Safe"),
        ("HEAVY", "HEAVY", "Safe"),
        ("HEAVY", "FULL", "Safe"),
        ("LIGHT", "LIGHT", "assertion"),
        ("LIGHT", "FULL", "assertion"),
        ("", "HEAVY", "assertion"),
        ("LIGHT", "", "assertion"),
        ("COMPILER", "HEAVY", "assertion"),
    ],
)
def test_a_heavy_fence_orders_with_a_light_one(
    tmp_path: Path, model: str, one: str, two: str, expected: str
) -> None:
    assert kinds(tmp_path / "sb.c", buffering(one, two), model) == expected


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("LIGHT", "HEAVY", "Safe"),
        ("HEAVY", "LIGHT", "Safe"),
        ("LIGHT", "LIGHT", "assertion, race"),
        ("HEAVY", "", "assertion, race"),
    ],
)
def test_a_heavy_fence_synchronises_with_a_light_one(
    tmp_path: Path, one: str, two: str, expected: str
) -> None:
    assert kinds(tmp_path / "mp.c", passing(one, two), "rc20") == expected


@pytest.mark.parametrize(
    ("heavy", "main", "expected"),
    [
        ("MEMBARRIER(GLOBAL)", "", "Safe"),
        ("MEMBARRIER(PRIVATE_EXPEDITED)", "", "assertion"),
        ("MEMBARRIER(PRIVATE_EXPEDITED)", "MEMBARRIER(REGISTER_PRIVATE_EXPEDITED);", "Safe"),
        ("MEMBARRIER(PRIVATE_EXPEDITED)", "MEMBARRIER(REGISTER_GLOBAL_EXPEDITED);", "assertion"),
        ("MEMBARRIER(GLOBAL_EXPEDITED)", "MEMBARRIER(REGISTER_GLOBAL_EXPEDITED);", "Safe"),
        ("MEMBARRIER(GLOBAL_EXPEDITED)", "", "assertion"),
        (
            "assert(MEMBARRIER(PRIVATE_EXPEDITED) == -1 && errno == EPERM); HEAVY",
            "assert(!MEMBARRIER(REGISTER_GLOBAL_EXPEDITED));",
            "Safe",
        ),
        (
            "if (MEMBARRIER(QUERY) & MEMBARRIER_CMD_PRIVATE_EXPEDITED) HEAVY",
            "assert(syscall(SYS_membarrier, 8, 1, 0) == -1 && errno == EINVAL);",
            "Safe",
        ),
    ],
)
def test_membarrier_is_a_heavy_fence_once_it_is_registered_for(
    tmp_path: Path, heavy: str, main: str, expected: str
) -> None:
    for model in ("rc20", "tso"):
        assert kinds(tmp_path / "sb.c", buffering("LIGHT", heavy, main), model) == expected


def test_a_command_of_membarrier_that_is_not_known_is_refused_at_its_line(tmp_path: Path) -> None:
    text = buffering("LIGHT", "MEMBARRIER(PRIVATE_EXPEDITED_RSEQ)")
    with pytest.raises(Unsupported, match="this command of membarrier") as error:
        kinds(tmp_path / "sb.c", text, "rc20")
    line = text[: text.index("static void *two")].count("\n") + 1
    assert (error.value.place or "").startswith(f"{tmp_path}/sb.c:{line}:")


def test_the_functions_of_the_c_library_and_of_cxx(tmp_path: Path) -> None:
    wrapper = "#include <sys/membarrier.h>\n" + buffering(
        "LIGHT",
        "membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0)",
        "membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);",
    ).replace("#include <linux/membarrier.h>\n", "")  # the two headers exclude each other
    assert kinds(tmp_path / "wrapper.c", wrapper, "rc20") == "Safe"
    for order, expected in (("seq_cst", "Safe"), ("relaxed", "assertion")):
        text = CXX.replace("ORDER", f"std::memory_order_{order}")
        assert kinds(tmp_path / f"{order}.cpp", text, "rc20") == expected
    with pytest.raises(Unsupported, match="another memory order than seq_cst"):
        kinds(tmp_path / "acquire.cpp", CXX.replace("ORDER", "std::memory_order_acquire"), "rc20")


@pytest.mark.parametrize("model", ["imm", "pso", "aarch64"])
def test_under_a_model_that_does_not_define_them_the_answer_is_open(
    tmp_path: Path, model: str
) -> None:
    assert undefined(tmp_path / "sb.c", buffering("LIGHT", "HEAVY"), model)


def test_a_cat_file_of_the_users_own_may_define_them(tmp_path: Path) -> None:
    path = tmp_path / "mine.cat"
    text = models.resolve("rc20").path.read_text(encoding="utf-8")
    path.write_text(text.replace("try LIGHT with emptyset", "LIGHT"))
    assert kinds(tmp_path / "sb.c", buffering("LIGHT", "HEAVY"), str(path)) == "Safe"
    assert kinds(tmp_path / "sb.c", buffering("LIGHT", "LIGHT"), str(path)) == "assertion"
    path.write_text(text.replace("try LIGHT with emptyset", "emptyset"))
    assert undefined(tmp_path / "sb.c", buffering("LIGHT", "HEAVY"), str(path))
