"""Objects whose operations are linearizable, and others: of the corpus, of each kind, with weaker
memory orders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from linearizing import LITMUS, OBJECTS, answered, found

import weakspot
from weakspot.errors import BadInput
from weakspot.generators.source.build import Build
from weakspot.harness.clients import kinds, operations, search
from weakspot.harness.clients.subject import Variation, subject_of
from weakspot.harness.values.linearizability import Size

# --- the corpus -----------------------------------------------------------------------------------

NO_CAS = ("MS_TORN=1",)
NOT_SEEN = ("TREIBER_PUSH_ORDER=memory_order_relaxed",)
NO_FENCE = ("WSQ_POP_STORE_ORDER=memory_order_release",)
MAY_FAIL = Variation(capacity=3, spurious=("pop", "steal"))
RING = Variation(capacity=2)
TORN = ("TICKET_TORN=1",)
LEFT_RELAXED = ("RW_LEAVE_ORDER=memory_order_relaxed",)
LINKED_RELAXED = ("MCS_PASS_ORDER=memory_order_relaxed",)
SEEN_RELAXED = ("ONCE_SEE_ORDER=memory_order_relaxed",)
ONE_LOOK = ("ONCE_ONE_LOOK=1",)
GIVES_UP = Variation(capacity=2, spurious=("push", "pop"))
TICKETS = Variation(capacity=2, blocking=("put", "take"))
FILLED_RELAXED = ("MPMC_FULL_ORDER=memory_order_relaxed",)
TURN_RELAXED = ("PTLQ_TURN_LOAD_ORDER=memory_order_relaxed",)
LINK_RELAXED = ("MPSC_LINK_ORDER=memory_order_relaxed",)
TWICE = "lock() unlock() | lock() unlock()"
UPDATED = "scan() | update_first(1) update_second(1)"


@pytest.mark.parametrize(
    ("name", "behaves_as", "variation", "defines", "client"),
    [
        ("ms_queue", "queue", Variation(), (), ""),
        ("ms_queue", "queue", Variation(), NO_CAS, "push(1) | push(2) pop() pop()"),
        ("treiber_stack", "stack", Variation(), (), ""),
        ("treiber_stack", "stack", Variation(), NOT_SEEN, "push(1) | pop()"),
        ("treiber_stack", "queue", Variation(), (), "push(1) push(2) pop()"),
        ("spsc_ring", "queue", RING, (), ""),
        ("spsc_ring", "queue", Variation(), (), "push(1) push(2) push(3)"),
        # a push that has not linked its node yet hides those after it
        ("mpsc_queue", "queue", Variation(), (), "push(1) | push(2) pop()"),
        ("mpsc_queue", "queue", Variation(spurious=("pop",)), (), ""),
        # a pop that meets a thief who takes his claim back finds nothing
        ("duffy_wsq", "deque", Variation(capacity=3), (), "steal() | push(1) pop()"),
        ("duffy_wsq", "deque", MAY_FAIL, (), ""),
        ("duffy_wsq", "deque", MAY_FAIL, NO_FENCE, "steal() | push(1) pop()"),
        ("mpsc_queue", "queue", Variation(spurious=("pop",)), LINK_RELAXED, "push(1) | pop()"),
        ("dice_ptlqueue", "queue", TICKETS, (), ""),
        ("dice_ptlqueue", "queue", TICKETS, TURN_RELAXED, "put(1) | take()"),
        ("spsc_cached", "queue", RING, (), ""),
        ("spsc_cached", "queue", RING, ("RING_TRUSTS_CACHE=1",), "pop()"),
        # a push that has claimed its cell and not filled it yet hides those after it
        ("vyukov_mpmc", "queue", RING, (), "push(1) | push(2) pop()"),
        ("vyukov_mpmc", "queue", GIVES_UP, (), ""),
        ("vyukov_mpmc", "queue", GIVES_UP, FILLED_RELAXED, "push(1) | pop()"),
        ("chase_lev", "deque", Variation(empty=0), (), ""),
        ("chase_lev", "deque", Variation(empty=0), ("CL_NO_RACE=1",), "steal() | push(1) pop()"),
        ("seqlock", "register", Variation(), (), ""),
        ("snapshot", "snapshot_specification.h", Variation(), (), ""),
        ("snapshot", "snapshot_specification.h", Variation(), ("SNAPSHOT_ONE_COLLECT=1",), UPDATED),
        ("futex_mutex", "lock", Variation(), (), ""),
        ("futex_mutex", "lock", Variation(), ("MUTEX_WAKES_FIRST=1",), TWICE),
        ("parking_lot", "lock", Variation(), ("LOT_EARLY_TEST=1",), TWICE),
        ("peterson", "lock", Variation(), ("PETERSON_STORE=1",), "lock() | lock()"),
        ("bakery", "lock", Variation(), ("BAKERY_NO_CHOOSING=1",), "lock() | lock()"),
        ("ticket_lock", "lock", Variation(), (), ""),
        ("ticket_lock", "lock", Variation(), TORN, "lock() | lock()"),
        ("mcs_lock", "lock", Variation(), LINKED_RELAXED, "lock() | lock() unlock()"),
        ("rw_lock", "lock", Variation(), (), ""),
        ("rw_lock", "lock", Variation(), LEFT_RELAXED, "lock() | lock_shared() unlock_shared()"),
        ("double_checked", "once", Variation(), (), ""),
        ("double_checked", "once", Variation(), SEEN_RELAXED, "call_once() | call_once()"),
        ("double_checked", "once", Variation(), ONE_LOOK, "call_once() | call_once()"),
    ],
)
def test_the_containers_of_the_corpus(
    name: str, behaves_as: str, variation: Variation, defines: tuple[str, ...], client: str
) -> None:
    calls = 4 if client.count("(") == 4 else 3
    answer = found(OBJECTS / f"{name}.c", behaves_as, variation, defines=defines, calls=calls)
    assert (answer.client, answer.result) == (client, "Violated" if client else "Held")
    if not client:
        assert answer.complete == calls
        assert answer.clients > 5


LINKED_RELAXED_IN_SET = ("LIST_LINK_ORDER=memory_order_relaxed",)
ADDED_IN_FRONT = "pop_front() | push_front(1) push_front(2) peek_last()"


@pytest.mark.parametrize(
    ("name", "behaves_as", "defines", "client"),
    [
        ("dglm_queue", "queue", (), ""),
        (
            "dglm_queue",
            "queue",
            ("DGLM_LINK_ORDER=memory_order_relaxed",),
            "enqueue(1) | dequeue()",
        ),
        ("herlihy_wing", "queue", (), ""),
        (
            "herlihy_wing",
            "queue",
            ("HW_CLAIM_ORDER=memory_order_relaxed",),
            "dequeue() | enqueue(1) enqueue(2)",
        ),
        ("harris_list", "set", (), ""),
        ("harris_list", "set", LINKED_RELAXED_IN_SET, "insert(1) | insert(1)"),
        ("multimap", "multimap_specification.h", (), ""),
        ("multimap", "multimap_specification.h", ("CHECKS_FIRST",), "add(1) | add(2) get()"),
        ("linked_deque", "linked_deque_specification.h", ("REPAIRED",), ""),
        ("linked_deque", "linked_deque_specification.h", (), ADDED_IN_FRONT),
    ],
)
def test_the_published_examples_of_other_checkers(
    name: str, behaves_as: str, defines: tuple[str, ...], client: str
) -> None:
    """Relinche's (POPL 2025) and Lincheck's (CAV 2023)."""
    blocking = ("dequeue",) if name == "herlihy_wing" else ()
    answer = found(
        OBJECTS / f"{name}.c",
        behaves_as,
        Variation(blocking=blocking),
        calls=4 if client.count("(") == 4 else 3,
        defines=defines,
        meanings={"remove_key": "remove"} if name == "harris_list" else {},
    )
    assert (answer.client, answer.result) == (client, "Violated" if client else "Held")


def test_what_precedes_is_what_happens_before() -> None:
    """Under sc the same client shows the same: the order of the calls is that of reads-from."""
    answer = found(OBJECTS / "mpsc_queue.c", "queue", model="sc")
    assert answer.client == "push(1) | push(2) pop()"


# --- every kind -----------------------------------------------------------------------------------

#: each operation of a kind, as C: what it returns and takes
OPERATIONS = {
    "queue": ("long enqueue(long value)", "long dequeue(void)"),
    "stack": ("long push(long value)", "long pop(void)"),
    "deque": (
        "long push_front(long value)",
        "long push_back(long value)",
        "long pop_front(void)",
        "long pop_back(void)",
    ),
    "set": ("long insert(long key)", "long remove(long key)", "long contains(long key)"),
    "map": (
        "long insert(long key, long value)",
        "long assign(long key, long value)",
        "long find(long key)",
        "long contains(long key)",
        "long remove(long key)",
    ),
    "register": (
        "long read(void)",
        "long write(long value)",
        "long exchange(long value)",
        "long compare_and_set(long expected, long value)",
    ),
    "counter": ("long increment(void)", "long decrement(void)", "long get(void)"),
}
HEAD = """\
#include <pthread.h>
#define WEAKSPOT_CAPACITY 0u
#define WEAKSPOT_RELAXED 0u
#define WEAKSPOT_QUASI 0u
#define WEAKSPOT_PER_PRODUCER 0
#define WEAKSPOT_EMPTY (-1L)
static unsigned own_caller;
unsigned weakspot_choose(unsigned);
"""


#: locks block, and what runs once is a function: the corpus has objects of these kinds
SIMPLE = [kind for kind in kinds.KINDS.names() if kind in OPERATIONS]


def implementation(kind: str, *, locked: bool) -> Iterator[str]:
    """The sequential implementation of a kind as an object of its own, under a lock or not."""
    text = (
        kinds.KINDS.get(kind)
        .text.replace("weakspot_", "own_")
        .replace("own_choose", "weakspot_choose")
    )
    yield HEAD + text
    yield "\n".join(
        f"#undef WEAKSPOT_{name}"
        for name in ("CAPACITY", "RELAXED", "QUASI", "PER_PRODUCER", "EMPTY")
    )
    yield "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;"
    for each in OPERATIONS[kind]:
        name = each.partition("(")[0].split()[1]
        words = each.partition("(")[2].rstrip(")").split(", ")
        given = ", ".join(word.split()[1] for word in words if word != "void")
        yield f"{each} {{"
        yield "  pthread_mutex_lock(&lock);" if locked else ""
        yield f"  long result = own_{name}({given});"
        yield "  pthread_mutex_unlock(&lock);" if locked else ""
        yield "  return result;\n}"


@pytest.mark.parametrize("kind", SIMPLE)
def test_an_object_under_a_lock_behaves_as_its_kind(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "object.c"
    path.write_text("\n".join(implementation(kind, locked=True)))
    answer = found(path, kind, calls=2 if kind in ("map", "register") else 3)
    assert (answer.result, answer.client) == ("Held", "")
    path.write_text("\n".join(implementation(kind, locked=False)))
    answer = found(path, kind, calls=2)
    assert answer.result == "Violated"
    assert "|" in answer.client


TWO_STEPS = """\
#include <stdatomic.h>
static atomic_long count;
long increment(void) {
  long now = atomic_load(&count);
  atomic_store(&count, now + 1);
  return now;
}
long get(void) { return atomic_load(&count); }
"""


def test_what_is_atomic_in_each_step_need_not_be_linearizable(tmp_path: Path) -> None:
    path = tmp_path / "counter.c"
    path.write_text(TWO_STEPS)
    answer = found(path, "counter")
    assert answer.client == "increment() | increment()"
    (violation,) = answer.violations
    assert violation.kind == "linearizability"
    assert violation.message == "increment() = 0 in no sequential order of the calls"
    assert violation.sites[0].endswith("counter.c:3")
    assert violation.witness is not None
    assert violation.witness.history is not None
    assert [each.result for each in violation.witness.history.calls] == [0, 0]


RELAXED = """\
#include <stdatomic.h>
static atomic_long first, second;
void write(long value) {
  atomic_store_explicit(&first, value, memory_order_relaxed);
  atomic_store_explicit(&second, value, memory_order_release);
}
long read(void) {
  long later = atomic_load_explicit(&second, memory_order_ACQUIRE);
  long found = atomic_load_explicit(&first, memory_order_relaxed);
  return found > later ? found : later;
}
"""


@pytest.mark.parametrize(("order", "result"), [("acquire", "Held"), ("relaxed", "Held")])
def test_a_register_of_one_writer(order: str, result: str, tmp_path: Path) -> None:
    """Without happens-before between the reads of two threads, either may be first."""
    path = tmp_path / "register.c"
    path.write_text(RELAXED.replace("ACQUIRE", order).replace("void", "WEAKSPOT_OP(writer) void"))
    path.write_text(path.read_text().replace("long read", "WEAKSPOT_OP(reader) long read"))
    assert found(path, "register").result == result


def test_a_mark_is_of_what_follows_it_at_once(tmp_path: Path) -> None:
    path = tmp_path / "marked.cpp"
    path.write_text(
        "// é\nstruct S { WEAKSPOT_OP(member) void put(int); };\nvoid one() {}\n"
        "WEAKSPOT_OP(writer)\nstatic void two(int value) {}\n"
    )
    (two,) = operations.read(path).operations
    assert (two.name, two.role, two.line) == ("two", "writer", 5)


STALE = """\
#include <stdatomic.h>
static atomic_long value, count;
void put(long given) {
  atomic_store_explicit(&value, given, memory_order_ORDER);
  atomic_fetch_add_explicit(&count, 1, memory_order_ORDER);
}
long get(void) {
  atomic_load_explicit(&count, memory_order_relaxed);
  return atomic_load_explicit(&value, memory_order_relaxed);
}
long increments(void) { return atomic_load_explicit(&count, memory_order_relaxed); }
"""
SPECIFICATION = """\
static long own_value, own_count;
void spec_put(long given) { own_value = given; ++own_count; }
long spec_get(void) { return own_value; }
long spec_increments(void) { return own_count; }
"""


def test_a_specification_of_the_users(tmp_path: Path) -> None:
    path = tmp_path / "object.c"
    (tmp_path / "spec.h").write_text(SPECIFICATION)
    path.write_text(STALE.replace("ORDER", "release"))
    answer = found(path, "spec.h")
    assert answer.client == "put(1) | get() increments()"
    assert answer.specification.endswith("spec.h")
    (violation,) = answer.violations
    assert violation.witness is not None
    assert violation.witness.history is not None
    nearest = violation.witness.history.nearest
    assert len(nearest) == 3


CPP = """\
#include <atomic>
#include <deque>
#include <mutex>
namespace {
std::mutex lock;
std::deque<int> items;
}
bool try_push(const int& value) {
  std::lock_guard<std::mutex> held(lock);
  items.push_back(value);
  return true;
}
bool try_pop(int& value) {
  std::lock_guard<std::mutex> held(lock);
  if (items.empty()) return false;
  value = items.POP();
  items.pop_POP();
  return true;
}
"""


@pytest.mark.parametrize(
    ("end", "client"), [("front", ""), ("back", "try_push(1) try_push(2) try_pop()")]
)
def test_an_object_in_cpp(end: str, client: str, tmp_path: Path) -> None:
    path = tmp_path / "locked.cpp"
    path.write_text(CPP.replace("pop_POP", f"pop_{end}").replace("POP", end))
    assert found(path, "queue").client == client


LOST = """\
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static long items[8];
static int first, last;
void put(long value) {
  pthread_mutex_lock(&lock);
  items[last++] = value;
  if (WAKES) pthread_cond_signal(&filled);
  pthread_mutex_unlock(&lock);
}
long take(void) {
  pthread_mutex_lock(&lock);
  while (first == last) pthread_cond_wait(&filled, &lock);
  long found = items[first++];
  pthread_mutex_unlock(&lock);
  return found;
}
"""


def test_a_blocking_operation_may_wait_where_its_specification_does(tmp_path: Path) -> None:
    path = tmp_path / "object.c"
    path.write_text(LOST)
    blocks = Variation(blocking=("take",))
    assert found(path, "queue", blocks, defines=("WAKES=1",)).result == "Held"
    lost = found(path, "queue", blocks, defines=("WAKES=0",))
    assert lost.client == "put(1) | take()"
    assert [each.kind for each in lost.violations] == ["hang"]


SLEEPS = """
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int held;

void lock(void) {
  while (atomic_exchange_explicit(&held, 1, memory_order_acquire))
    syscall(SYS_futex, &held, FUTEX_WAIT_PRIVATE, 1, 0, 0, 0);
}

void unlock(void) {
  if (FREES) atomic_store_explicit(&held, 0, memory_order_release);
  if (WAKES) syscall(SYS_futex, &held, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}
"""


@pytest.mark.parametrize(
    ("frees", "wakes", "client"), [(1, 1, ""), (1, 0, TWICE), (0, 1, "lock() unlock() lock()")]
)
def test_a_lock_that_is_not_given_back_to_who_waits_hangs(
    frees: int, wakes: int, client: str, tmp_path: Path
) -> None:
    path = tmp_path / "object.c"
    path.write_text(SLEEPS)
    calls = 4 if client == TWICE else 3
    answer = found(path, "lock", defines=(f"FREES={frees}", f"WAKES={wakes}"), calls=calls)
    assert answer.client == client
    assert [each.kind for each in answer.violations[:1]] == (["hang"] if client else [])


# --- as a scenario --------------------------------------------------------------------------------


def test_the_clients_are_a_scenario_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("spsc_ring/spsc.h",):
        (tmp_path / Path(name).name).write_text((LITMUS / name).read_text())
    (tmp_path / "ring.c").write_text((OBJECTS / "spsc_ring.c").read_text())
    (tmp_path / "tests").mkdir()
    subject = subject_of(operations.read(Path("ring.c")), kinds.KINDS.get("queue"), RING, {})
    listed = search.written(subject, Size(3, 2), Path("tests/clients.c"))
    assert str(tmp_path) not in Path("tests/clients.c").read_text()
    answers = {
        each.model: each for each in weakspot.explore("tests/clients.c", models=["rc20", "imm"])
    }
    assert answers["rc20"].result == "Safe"
    assert answers["rc20"].complete > listed
    assert "linearizability is not decided under imm" in answers["imm"].notes[0]
    assert not answers["rc20"].notes
    (mutated,) = weakspot.mutate("tests/clients.c", models=["rc20"])
    # with three calls no slot is used again
    assert {each.place for each in mutated.of("noticed")} == {"spsc.h:46", "spsc.h:54"}
    (wrong,) = weakspot.explore(
        "tests/clients.c", models=["rc20"], build=Build(defines=("SPSC_SIZE=1",))
    )
    (violation,) = wrong.violations
    assert violation.kind == "linearizability"
    assert violation.witness is not None
    assert violation.witness.history is not None
    assert [each.call for each in violation.witness.history.calls] == ["push(1) =", "push(2) ="]


# --- what cannot be used --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "behaves_as", "message", "advice"),
    [
        ("int main(void) { return 0; }", "queue", "it defines main", "the operations only"),
        ("static int put(int v) { return v; }", "queue", "no operations", "define a function"),
        (
            "int shrink(int v) { return v; }",
            "queue",
            "shrink is no operation of a queue",
            "dequeue",
        ),
        ("int put(int a, int b, int c) { return a; }", "queue", "3 arguments, not 1", "around it"),
        ("int put(int v) { return v; }", "quue", "unknown kind of object 'quue'", "queue"),
        ("int put(int v) { return v; }", "none.h", "cannot read", ""),
    ],
)
def test_what_cannot_be_used_is_an_error_with_advice(
    text: str, behaves_as: str, message: str, advice: str, tmp_path: Path
) -> None:
    path = tmp_path / "object.c"
    path.write_text(text)
    with pytest.raises(BadInput) as error:
        found(path, behaves_as)
    assert message in error.value.message
    assert advice in (error.value.advice or "")


def test_a_model_without_happens_before_is_refused() -> None:
    with pytest.raises(BadInput, match="which call happens before which"):
        found(OBJECTS / "spsc_ring.c", "queue", RING, model="imm")


def test_a_specification_is_performed_in_sequence_whatever_the_model_orders(tmp_path: Path) -> None:
    """Under a model that orders nothing between threads, as under others, a queue does not return
    what was not put into it."""
    model = tmp_path / "coherent.cat"
    model.write_text(
        'include "cos.cat"\nacyclic po-loc | rf | co | fr as coherence\n'
        "acyclic po | rf as causality\n"
    )
    path = tmp_path / "slot.c"
    path.write_text(
        """
        #include <stdatomic.h>
        static atomic_int item, full;
        void enqueue(int value) {
          atomic_store_explicit(&item, value, memory_order_relaxed);
          atomic_store_explicit(&full, 1, memory_order_relaxed);
        }
        int dequeue(void) {
          if (!atomic_load_explicit(&full, memory_order_relaxed)) return -1;
          return atomic_load_explicit(&item, memory_order_relaxed);
        }
        """
    )
    assert found(path, "queue", calls=2, model=str(model)).result == "Violated"
    assert found(path, "queue", calls=2, model="sc").result == "Held"


@pytest.mark.parametrize(
    ("defines", "result", "kinds_found"),
    [((), "Violated", ["linearizability"]), (("ATOMIC",), "Safe", [])],
)
def test_calls_precede_others_by_rounds_of_loops_that_fail(
    defines: tuple[str, ...], result: str, kinds_found: list[str]
) -> None:
    path = Path(__file__).with_name("two_failed_rounds.c")
    (explored,) = weakspot.explore([path], models=["rc20"], build=Build(defines=defines))
    assert explored.result == result
    assert [each.kind for each in explored.violations] == kinds_found


def test_the_time_limit_says_what_is_complete() -> None:
    path = OBJECTS / "ms_queue.c"
    size = Size(8, 3)
    kind = kinds.KINDS.get("queue")
    subject = subject_of(operations.read(path), kind, Variation(), {})
    with search.compiled(subject, size, Build(include=(LITMUS / "ms_queue",))) as made:
        answer = answered(subject, made, "rc20", size, 2.0)
    assert answer.result == "Unknown"
    assert 1 <= answer.complete < 8
    assert "time limit of 2 s" in answer.reasons[-1]
    assert answer.seconds < 5
