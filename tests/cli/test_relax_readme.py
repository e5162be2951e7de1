"""What a reader of the README does with its queue: gate, relax, gate again."""

from __future__ import annotations

import re
from pathlib import Path

from samples import Run

README = Path(__file__).parents[2] / "README.md"


def queue() -> str:
    found = re.search(r"```c\n(.*?)```", README.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_readmes_queue_is_repaired_passes_and_is_then_left_alone(
    run: Run, folder: Path
) -> None:
    source = folder / "queue.c"
    source.write_text(queue())
    repaired = queue().replace(
        "(&tail, t + 1, memory_order_relaxed)", "(&tail, t + 1, memory_order_release)"
    )
    assert run("gate", "queue.c").code == 1
    diff = run("relax", "queue.c", "--diff")
    assert diff.code == 1
    changed = [line for line in diff.out.splitlines() if re.match(r"[-+] ", line)]
    assert [line.strip() for line in changed] == [
        "-  atomic_store_explicit(&tail, t + 1, memory_order_relaxed);",
        "+  atomic_store_explicit(&tail, t + 1, memory_order_release);",
    ]
    assert source.read_text() == queue()
    assert run("relax", "queue.c", "--apply").code == 1
    assert source.read_text() == repaired
    assert run("gate", "queue.c").code == 0
    again = run("relax", "queue.c")
    assert again.code == 0
    assert "WS301" not in again.out
    assert run("relax", "queue.c", "--diff").out.strip() == ""
    assert run("relax", "queue.c", "--apply").code == 0
    assert source.read_text() == repaired


def test_a_memory_order_that_no_program_exercises_is_listed_apart_with_what_would_exercise_it(
    run: Run, folder: Path
) -> None:
    """The queue is never full, so nothing needs the order of the check whether it is."""
    release = queue().replace(
        "&tail, t + 1, memory_order_relaxed", "&tail, t + 1, memory_order_release"
    )
    (folder / "queue.c").write_text(release)
    out = run("relax", "queue.c").out
    assert "not exercised, so no weaker memory order is proposed:" in out
    assert "queue.c:10 load acq: needs a scenario in which it reads what queue.c:20 stores" in out
    assert "queue.c:20 store rel: needs a scenario in which queue.c:10 reads what it stores" in out


def test_a_memory_order_that_a_program_exercises_in_vain_is_a_finding(
    run: Run, folder: Path
) -> None:
    """A counter that another thread reads needs no acquire and no release."""
    (folder / "counter.c").write_text(
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int n;\n"
        "static void *count(void *mine) {\n"
        "  atomic_store_explicit(&n, 1, memory_order_release);\n  return mine;\n}\n"
        "int main(void) {\n  pthread_t t;\n  pthread_create(&t, 0, count, 0);\n"
        "  int seen = atomic_load_explicit(&n, memory_order_acquire);\n"
        "  pthread_join(t, 0);\n  return seen;\n}\n"
    )
    printed = run("relax", "counter.c").printed(1)
    assert printed.count("WS301") == 2
    assert "not exercised" not in printed


FENCES = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
enum order { acquire, release };
static inline void fence(enum order order) {
  switch (order) {
    case acquire: atomic_thread_fence(memory_order_acquire); break;
    case release: atomic_thread_fence(memory_order_release); break;
  }
}
static atomic_int tail;
static int slot;
static void *put(void *unused) {
  slot = 1;
  fence(release);
  atomic_store_explicit(&tail, 1, memory_order_relaxed);
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, put, 0);
  int seen = atomic_load_explicit(&tail, memory_order_relaxed);
  fence(acquire);
  READ
  pthread_join(t, 0);
}
"""


def test_a_fence_that_orders_no_data_here_is_not_exercised(run: Run, folder: Path) -> None:
    (folder / "fences.c").write_text(FENCES.replace("READ", "(void)seen;"))
    printed = run("relax", "fences.c").printed(0)
    assert "fences.c:7 fence acq: needs a scenario in which other threads use" in printed
    assert "fences.c:8 fence rel: needs a scenario in which other threads use" in printed
    assert "WS301" not in printed
    assert run("relax", "fences.c", "--diff").out == ""


def test_a_fence_that_orders_data_is_needed_or_a_finding(run: Run, folder: Path) -> None:
    text = FENCES.replace("READ", "if (seen) assert(slot == 1);")
    (folder / "fences.c").write_text(text)
    assert "not exercised" not in run("relax", "fences.c").printed(0)
    other = text.replace("&tail, 1, memory_order_relaxed", "&tail, 1, memory_order_release")
    (folder / "fences.c").write_text(other)
    assert "WS301 fence in fence is rel: safe without it" in run("relax", "fences.c").out
