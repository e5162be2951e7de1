"""The repairs that make a program safe again are found, and confirmed on all programs."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from weakspot.generators.source.build import Build
from weakspot.generators.source.program import Program, read_program
from weakspot.harness.campaign.executor import LocalExecutor, ask
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.corpus import models, structures
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.repair_jobs import RepairProgram
from weakspot.harness.orders.repairs import Repair, Repairing
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.repair import SuggestedRepair

RC11 = models.resolve("rc11")
RC20 = models.resolve("rc20")


def scenarios(structure: str, *names: str) -> list[tuple[str, Program]]:
    found = structures.find(structure)
    return [
        (each.name, read_program(found.path(each), build=Build(defines=each.defines)))
        for each in found.scenarios
        if each.name in names
    ]


def proposed(structure: str, violated: str, *others: str) -> tuple[Repair, ...]:
    programs = scenarios(structure, violated, *others)
    return Repairing(programs, violated, Explorations(RC11, Bounds())).orders()


def test_one_annotation_that_is_enough_is_named_with_the_scenarios_it_is_enough_for() -> None:
    (repair,) = proposed(
        "dice_ptlqueue", "v2_handover_put_relaxed", "v2_handover", "v2_two_producers"
    )
    (change,) = repair.changes
    assert (change.before, change.after) == ("rlx", "rel")
    assert (
        str(repair)
        == f"memory_order_release at {change.annotation} suffices (checked in all 3 scenarios)"
    )


def test_two_annotations_that_are_only_enough_together_are_named_together() -> None:
    (repair,) = proposed("store_buffering", "rel_acq")
    assert {change.after for change in repair.changes} == {"sc"}
    assert {change.annotation.kind for change in repair.changes} == {"W", "R"}
    assert "suffice together" in str(repair)


def test_a_repair_is_no_stronger_than_needed() -> None:
    (repair,) = proposed("pheet_centralk", "publish_put_relaxed")
    assert [change.after for change in repair.changes] == ["rel/rlx"]


@pytest.mark.parametrize("violated", ["v2_one_slot", "v2_try_take_slow_producer"])
def test_a_violation_that_no_memory_order_prevents_has_no_repair(violated: str) -> None:
    assert proposed("dice_ptlqueue", violated) == ()


def test_a_limit_that_leaves_it_open_gives_no_repair() -> None:
    programs = scenarios("dice_ptlqueue", "v2_handover_put_relaxed")
    tight = Bounds(executions=1)
    search = Repairing(programs, "v2_handover_put_relaxed", Explorations(RC11, tight))
    assert search.orders() == ()
    assert search.fences(()) == ()


def suggested(folder: Path, **texts: str) -> list[str]:
    """The repairs of the program `main.c` among these files, with fences."""
    for name, text in texts.items():
        path = folder / name.replace("_", ".")
        path.write_text("#include <stdatomic.h>\n" + textwrap.dedent(text))
    programs = [("main", read_program(folder / "main.c"))]
    search = Repairing(programs, "main", Explorations(RC20, Bounds()))
    return [", ".join(map(str, each.changes)) for each in search.fences(search.orders())]


def test_a_program_in_which_the_search_finds_nothing_has_no_repair(tmp_path: Path) -> None:
    assert suggested(tmp_path, main_c="static atomic_int x; int main(void) { return x; }") == []


DEKKER = """
    static atomic_int x, y;
    static int enter_x(void) {
      atomic_store_explicit(&x, 1, memory_order_relaxed);
      return !atomic_load_explicit(&y, memory_order_relaxed);
    }
    static int enter_y(void) {
      atomic_store_explicit(&y, 1, memory_order_relaxed);
      return !atomic_load_explicit(&x, memory_order_relaxed);
    }
"""
ENTER = """
    #include <assert.h>
    #include <pthread.h>
    #include "dekker.h"
    static atomic_int inside;
    static void visit(void) {
      assert(!atomic_fetch_add_explicit(&inside, 1, memory_order_relaxed));
    }
    static void *one(void *unused) { if (enter_x()) visit(); return unused; }
    int main(void) {
      pthread_t t;
      pthread_create(&t, 0, one, 0);
      if (enter_y()) visit();
      pthread_join(t, 0);
    }
"""


def test_store_buffering_is_repaired_by_a_fence_on_each_side(tmp_path: Path) -> None:
    first, second = suggested(tmp_path, dekker_h=DEKKER, main_c=ENTER)
    fence = "atomic_thread_fence(memory_order_seq_cst)"
    assert first == f"{fence} before dekker.h:6, {fence} before dekker.h:10"
    assert second == ", ".join(f"memory_order_seq_cst at dekker.h:{n}" for n in (5, 6, 9, 10))


SEQLOCK = """
    static atomic_uint seq;
    static atomic_int a, b;
    static void put(int value) {
      atomic_store_explicit(&seq, 1, memory_order_relaxed);
      atomic_thread_fence(memory_order_release);
      atomic_store_explicit(&a, value, memory_order_relaxed);
      atomic_store_explicit(&b, value, memory_order_relaxed);
      atomic_store_explicit(&seq, 2, memory_order_release);
    }
    static int get(int *one, int *other) {
      unsigned begun = atomic_load_explicit(&seq, memory_order_acquire);
      *one = atomic_load_explicit(&a, memory_order_relaxed);
      *other = atomic_load_explicit(&b, memory_order_relaxed);
      return begun % 2 == 0 && atomic_load_explicit(&seq, memory_order_relaxed) == begun;
    }
"""
READ = """
    #include <assert.h>
    #include <pthread.h>
    #include "seqlock.h"
    static void *writer(void *unused) { put(1); return unused; }
    int main(void) {
      pthread_t t;
      int one = 0, other = 0;
      pthread_create(&t, 0, writer, 0);
      if (get(&one, &other)) assert(one == other);
      pthread_join(t, 0);
    }
"""


def test_the_reader_of_a_seqlock_needs_one_acquire_fence(tmp_path: Path) -> None:
    assert suggested(tmp_path, seqlock_h=SEQLOCK, main_c=READ) == [
        "atomic_thread_fence(memory_order_acquire) after seqlock.h:15",
        "memory_order_acquire at seqlock.h:14, memory_order_acquire at seqlock.h:15",
    ]


COUNTED = """
    #include <pthread.h>
    #include <stdlib.h>
    struct box { int value; atomic_int users; };
    static void drop(struct box *box) {
      if (atomic_fetch_sub_explicit(&box->users, 1, memory_order_relaxed) == 1)
        free(box);
    }
    static void *use(void *box) { ((struct box *)box)->value++; drop(box); return 0; }
    static void *pass(void *box) { drop(box); return 0; }
    int main(void) {
      pthread_t one, two;
      struct box *box = malloc(sizeof *box);
      box->value = 1;
      atomic_init(&box->users, 2);
      pthread_create(&one, 0, use, box);
      pthread_create(&two, 0, pass, box);
      pthread_join(one, 0);
      pthread_join(two, 0);
    }
"""


def test_a_reference_count_is_released_and_acquired_by_a_fence(tmp_path: Path) -> None:
    order, fence = suggested(tmp_path, main_c=COUNTED)
    assert order == "memory_order_acq_rel at main.c:7"
    acquire = "atomic_thread_fence(memory_order_acquire) after it"
    assert fence == f"memory_order_release with {acquire} at main.c:7"


def test_the_library_is_changed_rather_than_the_program_that_uses_it(tmp_path: Path) -> None:
    """Either load of the flag, that of the library or that of the program, could acquire."""
    library = """
        static atomic_int data, ready;
        static void send(void) {
          atomic_store_explicit(&data, 1, memory_order_relaxed);
          atomic_store_explicit(&ready, 1, memory_order_release);
        }
        static int is_ready(void) {
          return atomic_load_explicit(&ready, memory_order_relaxed);
        }
    """
    main = """
        #include <assert.h>
        #include <pthread.h>
        #include "a.h"
        static void *one(void *unused) { send(); return unused; }
        int main(void) {
          pthread_t t;
          pthread_create(&t, 0, one, 0);
          if (atomic_load_explicit(&ready, memory_order_relaxed) && is_ready())
            assert(atomic_load_explicit(&data, memory_order_relaxed));
          pthread_join(t, 0);
        }
    """
    first, second = suggested(tmp_path, a_h=library, main_c=main)
    assert (first, second) == ("memory_order_acquire at a.h:9", "memory_order_acquire at main.c:10")


def test_an_operation_is_changed_rather_than_a_wrapper(tmp_path: Path) -> None:
    text = """
        #include <assert.h>
        #include <pthread.h>
        #include "a.h"
        static void *one(void *unused) { send(); return unused; }
        int main(void) {
          pthread_t t;
          pthread_create(&t, 0, one, 0);
          assert(receive() != 0);
          pthread_join(t, 0);
        }
    """
    library = """
        static atomic_int data, ready, other;
        static int get(atomic_int *at) { return atomic_load_explicit(at, memory_order_relaxed); }
        static void send(void) {
          atomic_store_explicit(&data, 1, memory_order_relaxed);
          atomic_store_explicit(&ready, 1, memory_order_release);
        }
        static int receive(void) {
          if (!get(&ready)) return -1;
          if (!atomic_load_explicit(&ready, memory_order_relaxed)) return -1;
          return get(&data);
        }
    """
    first, second = suggested(tmp_path, a_h=library, main_c=text)
    assert (first, second) == ("memory_order_acquire at a.h:11", "memory_order_acquire at a.h:4")


PTHREAD = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_uint head, tail;
static int slot;
static void push(int value) {
  unsigned t = atomic_load_explicit(&tail, memory_order_relaxed);
  if (t != atomic_load_explicit(&head, memory_order_acquire)) return;
  slot = value;
  atomic_store_explicit(&tail, t + 1, memory_order_relaxed);
}
static void pop(void) {
  unsigned h = atomic_load_explicit(&head, memory_order_relaxed);
  if (h == atomic_load_explicit(&tail, memory_order_acquire)) return;
  assert(slot == 42);
  atomic_store_explicit(&head, h + 1, memory_order_relaxed);
}
static void *producer(void *none) { push(42); return none; }
static void *consumer(void *none) { pop(); return none; }
int main(void) {
  pthread_t one, other;
  pthread_create(&one, 0, producer, 0);
  pthread_create(&other, 0, consumer, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
}
"""
THRD = (
    PTHREAD.replace("#include <pthread.h>", "#include <threads.h>")
    .replace("static void *producer(void *none) { push(42); return none; }", "")
    .replace("static void *consumer(void *none) { pop(); return none; }", "")
    .replace(
        "int main",
        "static int producer(void *none) { push(42); return 0; }\n"
        "static int consumer(void *none) { pop(); return 0; }\nint main",
    )
    .replace("pthread_t", "thrd_t")
    .replace("pthread_join", "thrd_join")
    .replace("pthread_create(&one, 0, ", "thrd_create(&one, ")
    .replace("pthread_create(&other, 0, ", "thrd_create(&other, ")
)
CLOSURES = PTHREAD.replace("#include <pthread.h>", "#include <thread>").partition("int main")[0] + (
    "int main() {\n  int value = 42;\n  std::thread one([&] { push(value); });\n"
    "  std::thread other(pop);\n  one.join();\n  other.join();\n}\n"
)
CLOSURES = CLOSURES.replace("<stdatomic.h>", "<atomic>\nusing namespace std;")


def fixed(source: Path) -> str:
    program = read_program(source)
    job = RepairProgram(
        key="",
        violated="it",
        group={"it": program},
        costs={"it": 0.01},
        model=RC20,
        bounds=Bounds(),
        seconds=60.0,
    )
    store = MemoryStore()
    ask([job], store, LocalExecutor(gauge=None))
    found = store.get(job.key)
    assert isinstance(found, SuggestedRepair)
    return found.fix.partition("; or ")[0]


@pytest.mark.parametrize(
    ("suffix", "text"), [(".c", PTHREAD), (".c", THRD), (".cpp", CLOSURES)], ids=["c", "c11", "c++"]
)
def test_a_repair_suffices_for_a_second_round_of_the_threads(
    tmp_path: Path, suffix: str, text: str
) -> None:
    """What the consumer read must be read before the producer, which comes again, writes there."""
    source = tmp_path / f"it{suffix}"
    source.write_text(text)
    lines = text.splitlines()
    tail, head = (
        next(n for n, line in enumerate(lines, 1) if f"store_explicit(&{name}" in line)
        for name in ("tail", "head")
    )
    assert fixed(source) == (
        f"memory_order_release at it{suffix}:{tail} and memory_order_release at it{suffix}:{head} "
        "suffice together (checked in 1 scenario, even if each thread runs twice)"
    )


def test_a_program_that_a_second_round_breaks_anyway_is_repaired_for_one(tmp_path: Path) -> None:
    source = tmp_path / "it.c"
    source.write_text(PTHREAD.replace("slot = value", "assert(slot == 0), slot = value"))
    assert fixed(source).endswith(" suffices (checked in 1 scenario)")


@pytest.mark.parametrize("braces", [False, True])
def test_a_fence_beside_a_body_without_braces_is_named_with_them(
    tmp_path: Path, braces: bool
) -> None:
    body = "seen = atomic_load_explicit(&y, memory_order_acquire);"
    path = tmp_path / "buffering.c"
    path.write_text(
        textwrap.dedent(
            """\
            #include <assert.h>
            #include <pthread.h>
            #include <stdatomic.h>
            static atomic_int x, y;
            static int seen = 1, go = 1;
            static void *left(void *unused) {
              atomic_store_explicit(&x, 1, memory_order_release);
              if (go)
                BODY
              return unused;
            }
            int main(void) {
              pthread_t t;
              pthread_create(&t, 0, left, 0);
              atomic_store_explicit(&y, 1, memory_order_seq_cst);
              int other = atomic_load_explicit(&x, memory_order_seq_cst);
              pthread_join(t, 0);
              assert(seen || other);
            }
            """
        ).replace("BODY", f"{{ {body} }}" if braces else body)
    )
    search = Repairing([("b", read_program(path))], "b", Explorations(RC20, Bounds()))
    found = [str(each) for each in search.fences(search.orders())]
    (fence,) = (each for each in found if "atomic_thread_fence" in each)
    assert ("before buffering.c:9, in braces with it, " in fence) is not braces
