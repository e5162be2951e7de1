"""Each atomic operation of C++ with each memory order is its twin in C11."""

from __future__ import annotations

from pathlib import Path

import pytest
from cxx_programs import events, traced, written

from weakspot import _engine
from weakspot.generators.source.frontend import compile_source

pytestmark = pytest.mark.usefixtures("cache_of_its_own")


# --- each operation with each order is its C11 twin ---------------------------------------------

LOADS = ("relaxed", "consume", "acquire", "seq_cst")
STORES = ("relaxed", "release", "seq_cst")
ALL = ("relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst")
EXCHANGES = [
    ("relaxed", "relaxed"),
    ("acquire", "relaxed"),
    ("acquire", "acquire"),
    ("release", "relaxed"),
    ("acq_rel", "relaxed"),
    ("acq_rel", "acquire"),
    ("seq_cst", "relaxed"),
    ("seq_cst", "acquire"),
    ("seq_cst", "seq_cst"),
]


def twins() -> list[tuple[str, str]]:
    """An operation in C++ and the same in C, on `x`, with `e` for an expected value."""
    found = [
        ("y = x", "y = x"),
        ("x = 1", "x = 1"),
        ("y = x.load()", "y = atomic_load(&x)"),
        ("x.store(1)", "atomic_store(&x, 1)"),
        ("y = x.exchange(1)", "y = atomic_exchange(&x, 1)"),
        ("++x", "++x"),
        ("x--", "x--"),
        ("x += 2", "x += 2"),
        ("x -= 2", "x -= 2"),
        ("x &= 2", "x &= 2"),
        ("x |= 2", "x |= 2"),
        ("x ^= 2", "x ^= 2"),
        ("x.compare_exchange_strong(e, 1)", "atomic_compare_exchange_strong(&x, &e, 1)"),
        ("x.compare_exchange_weak(e, 1)", "atomic_compare_exchange_weak(&x, &e, 1)"),
        ("y = std::atomic_load(&x)", "y = atomic_load(&x)"),
        ("std::atomic_store(&x, 1)", "atomic_store(&x, 1)"),
        ("std::atomic_fetch_add(&x, 1)", "atomic_fetch_add(&x, 1)"),
    ]
    free = "std::atomic_{0}_explicit(&x, {1})"
    for o in LOADS:
        c = f"y = atomic_load_explicit(&x, memory_order_{o})"
        found.append((f"y = x.load(std::memory_order_{o})", c))
        found.append((f"y = x.load(std::memory_order::{o})", c))
        found.append(("y = " + free.format("load", f"std::memory_order_{o}"), c))
    for o in STORES:
        c = f"atomic_store_explicit(&x, 1, memory_order_{o})"
        found.append((f"x.store(1, std::memory_order_{o})", c))
        found.append((free.format("store", f"1, std::memory_order_{o}"), c))
    for o in ALL:
        for name in ("exchange", "fetch_add", "fetch_sub", "fetch_and", "fetch_or", "fetch_xor"):
            c = f"y = atomic_{name}_explicit(&x, 1, memory_order_{o})"
            found.append((f"y = x.{name}(1, std::memory_order_{o})", c))
        found.append(
            (
                "y = " + free.format("fetch_add", f"1, std::memory_order_{o}"),
                f"y = atomic_fetch_add_explicit(&x, 1, memory_order_{o})",
            )
        )
        found.append(
            (
                f"std::atomic_thread_fence(std::memory_order_{o})",
                f"atomic_thread_fence(memory_order_{o})",
            )
        )
    for success, failure in EXCHANGES:
        for strength in ("strong", "weak"):
            orders = f"std::memory_order_{success}, std::memory_order_{failure}"
            found.append(
                (
                    f"x.compare_exchange_{strength}(e, 1, {orders})",
                    f"atomic_compare_exchange_{strength}_explicit(&x, &e, 1, "
                    f"memory_order_{success}, memory_order_{failure})",
                )
            )
    # one order for both: the failure's is what a load can have of it
    one = {"release": "relaxed", "acq_rel": "acquire"}
    found += [
        (
            f"x.compare_exchange_strong(e, 1, std::memory_order_{o})",
            f"atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_{o}, "
            f"memory_order_{one.get(o, o)})",
        )
        for o in ALL
    ]
    return found


@pytest.fixture(scope="module")
def twin_sites(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[list[str], list[str]]]:
    """The sites of each operation in C++ and of its twin in C: every one on a line of its own."""
    folder = tmp_path_factory.mktemp("twins")
    sites = []
    for language, head, name in (
        (0, "#include <atomic>\nstd::atomic<int> x;", "twins.cpp"),
        (1, "#include <stdatomic.h>\natomic_int x;", "twins.c"),
    ):
        body = "\n".join(f"{{ int e = 0, y; {pair[language]}; }}" for pair in twins())
        path = written(folder, f"{head}\nint main(void) {{\n{body}\n}}\n", name)
        program = _engine.Program(compile_source(path).text)
        lines: dict[int, list[str]] = {}
        for s in program.sites:
            if s["kind"] in ("R", "W", "RMW", "CAS", "F") and s["order"] != "na":
                lines.setdefault(s["line"] - 4, []).append(f"{s['kind']} {s['order']}")
        sites.append(lines)
    cxx, c = sites
    return {pair[0]: (cxx.get(k, []), c.get(k, [])) for k, pair in enumerate(twins())}


@pytest.mark.parametrize("operation", [pair[0] for pair in twins()])
def test_an_operation_has_the_sites_of_its_twin_in_c(
    twin_sites: dict[str, tuple[list[str], list[str]]], operation: str
) -> None:
    cxx, c = twin_sites[operation]
    assert cxx == c
    assert len(cxx) == 1 or "fence" in operation


def test_atomic_ref_and_atomic_flag_have_their_orders(tmp_path: Path) -> None:
    text = """#include <atomic>
#include <thread>
alignas(std::atomic_ref<int>::required_alignment) int plain;
std::atomic_flag flag = ATOMIC_FLAG_INIT;
std::atomic<bool> ready;
int main() {
  auto work = [] {
    std::atomic_ref<int>(plain).fetch_add(1, std::memory_order_release);
    std::atomic_ref(plain).load(std::memory_order_acquire);
    flag.test_and_set(std::memory_order_acquire);
    flag.clear(std::memory_order_release);
    flag.test(std::memory_order_relaxed);
    ready = true;
  };
  std::thread a(work), b(work);
  a.join();
  b.join();
}
"""
    assert events(*traced(written(tmp_path, text))) == {
        ("RMW", "rel", "plain", 8),
        ("R", "acq", "plain", 9),
        ("RMW", "acq", "flag", 10),
        ("W", "rel", "flag", 11),
        ("R", "rlx", "flag", 12),
        ("W", "sc", "ready", 13),
    }


def test_a_wait_reads_until_the_value_is_another_one(tmp_path: Path) -> None:
    text = """#include <atomic>
#include <cassert>
#include <thread>
std::atomic<int> x;
std::atomic_flag f;
int data;
int main() {
  std::jthread waits([] {
    x.wait(0, std::memory_order_acquire);
    f.wait(false, std::memory_order_acquire);
    assert(data == 1);
  });
  data = 1;
  x.store(5, std::memory_order_release);
  x.notify_one();
  f.test_and_set(std::memory_order_release);
  f.notify_all();
}
"""
    program, trace = traced(written(tmp_path, text))
    assert {run["outcome"] for run in trace["runs"]} == {"complete"}
    assert trace["exhaustive"]
    assert not trace["bound_sites"]
    assert events(program, trace) == {
        ("R", "acq", "x", 9),
        ("R", "acq", "f", 10),
        ("R", "na", "data", 11),
    }
    (tmp_path / "late.cpp").write_text(text.replace("x.store(5", "x.store(0"))
    _, never = traced(tmp_path / "late.cpp")
    assert {run["outcome"] for run in never["runs"]} == {"deadlock"}
