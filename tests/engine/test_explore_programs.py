"""Every execution of a whole program, found once; its errors."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from explored_programs import MAIN, MODELS, MP, SB, explored, kinds, program, violated

from weakspot._engine import EngineError, Program
from weakspot.generators.source.frontend import compile_source
from weakspot.harness.checkers.engine_answers import reasons_of
from weakspot.harness.values.bounds import Bounds, Part
from weakspot.harness.values.reason import sentence

LB = """
atomic_int x, y; int a, b;
void *one(void *p) { a = LOAD(x); STORE(y, 1); return 0; }
void *two(void *p) { b = LOAD(y); STORE(x, 1); return 0; }
"""
TWO_PLUS_TWO = """
atomic_int x, y;
void *one(void *p) { STORE(x, 1); STORE(y, 2); return 0; }
void *two(void *p) { STORE(y, 1); STORE(x, 2); return 0; }
"""


@pytest.mark.parametrize(
    ("text", "model", "complete"),
    [
        (SB, "sc", 3),
        (SB, "tso", 4),
        (SB, "rc11", 4),
        (MP, "sc", 3),
        (MP, "tso", 3),
        (MP, "rc11", 4),
        (LB, "sc", 3),
        (LB, "tso", 3),
        (LB, "rc11", 3),
        (TWO_PLUS_TWO, "sc", 3),
        (TWO_PLUS_TWO, "tso", 3),
        (TWO_PLUS_TWO, "rc11", 4),
    ],
)
def test_the_classics_have_as_many_executions_as_their_outcomes(
    tmp_path: Path, text: str, model: str, complete: int
) -> None:
    found = explored(program(tmp_path, text, "one", "two"), model)
    assert (found["result"], found["complete"], found["blocked"]) == ("Safe", complete, 0)


@pytest.mark.parametrize(("n", "complete"), [(2, 2), (3, 6), (4, 24), (5, 120)])
def test_incrementers_have_one_execution_for_each_order(
    tmp_path: Path, n: int, complete: int
) -> None:
    text = "atomic_int x; void *inc(void *p) { atomic_fetch_add(&x, 1); return 0; }"
    found = explored(program(tmp_path, text, *["inc"] * n, after=f"assert(x == {n});"), "rc11")
    assert (found["result"], found["represented"]) == ("Safe", complete)


@pytest.mark.parametrize(("n", "complete"), [(1, 2), (2, 18), (3, 384)])
def test_each_reader_sees_each_value_in_each_order_of_the_writers(
    tmp_path: Path, n: int, complete: int
) -> None:
    """n writers and n readers of one location: n! orders, each with (n + 1)^n sources."""
    text = """
    atomic_int x;
    void *w(void *p) { STORE(x, 1); return 0; }
    void *r(void *p) { return (void *)(long)LOAD(x); }
    """
    found = explored(program(tmp_path, text, *["w"] * n, *["r"] * n), "rc11")
    assert (found["result"], found["represented"]) == ("Safe", complete)


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("pthread_mutex_unlock(&m);", "lock", "does not hold"),
        ("pthread_cond_wait(&c, &m);", "lock", "without holding its mutex"),
        ("pthread_mutex_lock(&m); pthread_mutex_lock(&m);", "hang", "a lock"),
        ("int *q = malloc(4); free(q); free(q);", "memory", "double free"),
        ("int *q = malloc(4); *q = 1; free(q); got = *q;", "memory", "use after free"),
        ("int *q = malloc(8); got = q[1];", "uninitialised", "uninitialised memory"),
        ("int *q = malloc(8); q[2] = 1;", "memory", "of an object of 8 bytes"),
        ("int *q = 0; *q = 1;", "memory", "null"),
        ("abort();", "assertion", "abort"),
    ],
)
def test_an_error_of_one_thread_is_found(
    tmp_path: Path, body: str, kind: str, message: str
) -> None:
    text = f"""
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; pthread_cond_t c; int got;
    void *one(void *p) {{ {body} return 0; }}
    """
    violated(explored(program(tmp_path, text, "one"), "rc11"), kind, message)


SHARED_HEAP = """
_Atomic(int *) box;
void *one(void *p) {
    int *q = malloc(sizeof *q);
    FILL
    atomic_store_explicit(&box, q, memory_order_ORDER);
    AFTER
    return 0;
}
void *two(void *p) {
    int *q = atomic_load_explicit(&box, memory_order_acquire);
    if (q) { assert(*q == 7); TAKEN }
    return 0;
}
"""


@pytest.mark.parametrize(
    ("fill", "order", "after", "taken", "kind"),
    [
        ("*q = 7;", "release", "", "free(q);", ""),
        ("*q = 7;", "release", "free(q);", "", "memory"),
        ("*q = 7;", "release", "free(q);", "free(q);", "memory"),
        ("", "release", "", "", "uninitialised"),
        ("*q = 7;", "relaxed", "", "", "race"),
    ],
)
def test_an_error_of_threads_with_a_shared_object_is_found(
    tmp_path: Path, fill: str, order: str, after: str, taken: str, kind: str
) -> None:
    text = SHARED_HEAP.replace("FILL", fill).replace("ORDER", order)
    text = text.replace("AFTER", after).replace("TAKEN", taken)
    found = explored(program(tmp_path, text, "one", "two"), "rc11")
    if kind:
        assert kind in kinds(found), found
    else:
        assert (found["result"], found["complete"]) == ("Safe", 2)


def test_a_weak_compare_exchange_fails_for_no_reason(tmp_path: Path) -> None:
    text = """
    atomic_int x;
    void *one(void *p) {
        int e = 0;
        assert(atomic_compare_exchange_KIND(&x, &e, 1));
        return 0;
    }
    void *two(void *p) { return (void *)(long)LOAD(x); }
    """
    weak = program(tmp_path, text.replace("KIND", "weak"), "one", "two")
    violated(explored(weak, "sc"), "assertion")
    strong = program(tmp_path, text.replace("KIND", "strong"), "one", "two")
    assert explored(strong, "sc")["result"] == "Safe"


def test_a_failed_exchange_has_its_failure_order(tmp_path: Path) -> None:
    text = """
    atomic_int flag; int data;
    void *one(void *p) {
        data = 1; atomic_store_explicit(&flag, 1, memory_order_release); return 0;
    }
    void *two(void *p) {
        int e = 0;
        if (!atomic_compare_exchange_strong_explicit(
                &flag, &e, 2, memory_order_acq_rel, memory_order_FAILURE))
            assert(data == 1);
        return 0;
    }
    """
    acquire = program(tmp_path, text.replace("FAILURE", "acquire"), "one", "two")
    assert explored(acquire, "rc11")["result"] == "Safe"
    relaxed = program(tmp_path, text.replace("FAILURE", "relaxed"), "one", "two")
    assert "race" in kinds(explored(relaxed, "rc11"))


def test_recursion_and_function_pointers_are_followed(tmp_path: Path) -> None:
    text = """
    atomic_int x;
    static int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
    static int twice(int n) { return 2 * n; }
    int (*table[])(int) = {fibonacci, twice};
    void *one(void *p) { atomic_fetch_add(&x, table[0](7)); return 0; }
    void *two(void *p) { atomic_fetch_add(&x, table[1](4)); return 0; }
    """
    found = explored(program(tmp_path, text, "one", "two", after="assert(x == 21);"), "rc11")
    assert (found["result"], found["complete"]) == ("Safe", 2)


def test_a_loop_that_reaches_its_bound_leaves_the_answer_open(tmp_path: Path) -> None:
    text = """
    atomic_int x, y;
    void *one(void *p) { while (LOAD(x) < 100) { atomic_fetch_add(&y, 1); } return 0; }
    void *two(void *p) { if (LOAD(y) < 50) STORE(x, 1); else STORE(x, 100); return 0; }
    """
    found_program = program(tmp_path, text, "one", "two")
    found = explored(found_program, "sc", bounds=Bounds(loops=3))
    assert found["result"] == "Unknown"
    assert "iterates more than 3 times" in found["reasons"][0]["message"]
    (site,) = found["bound_sites"]
    assert found_program.sites[site]["kind"] == "loop"
    assert found["truncated"] > 0


def test_a_copied_structure_and_its_fields_are_the_same_memory(tmp_path: Path) -> None:
    text = """
    struct pair { char c; long n; };
    struct pair *shared; atomic_int ready;
    void *one(void *p) {
        struct pair mine = {1, 2};
        shared = malloc(sizeof *shared);
        *shared = mine;
        shared->n++;
        atomic_store_explicit(&ready, 1, memory_order_release);
        return 0;
    }
    void *two(void *p) {
        while (!atomic_load_explicit(&ready, memory_order_acquire)) { }
        struct pair copy = *shared;
        assert(copy.c == 1 && copy.n == 3 && shared->n == 3);
        free(shared);
        return 0;
    }
    """
    found = explored(program(tmp_path, text, "one", "two"), "rc11")
    assert (found["result"], found["complete"], found["reasons"]) == ("Safe", 1, [])


def test_a_local_that_another_thread_uses_after_its_end_is_found(tmp_path: Path) -> None:
    text = """
    _Atomic(atomic_int *) box;
    __attribute__((noinline)) static void publish(void) {
        atomic_int mine = 1;
        box = &mine;
    }
    void *one(void *p) { publish(); return 0; }
    void *two(void *p) { atomic_int *q = box; if (q) (void)atomic_load(q); return 0; }
    """
    found = explored(program(tmp_path, text, "one", "two"), "rc11")
    assert "memory" in kinds(found)


def test_a_barrier_and_call_once_order_what_they_separate(tmp_path: Path) -> None:
    text = """
    pthread_barrier_t barrier; pthread_once_t once = PTHREAD_ONCE_INIT; int count, a, b;
    static void init(void) { count++; }
    void *one(void *p) {
        pthread_once(&once, init); a = count; pthread_barrier_wait(&barrier);
        assert(b == 1); return 0;
    }
    void *two(void *p) {
        pthread_once(&once, init); b = count; pthread_barrier_wait(&barrier);
        assert(a == 1); return 0;
    }
    """
    text += (
        MAIN.replace("THREADS", "2")
        .replace("RUN", "one, two")
        .replace("pthread_t t", "pthread_barrier_init(&barrier, 0, 2); pthread_t t")
        .replace("AFTER", "assert(count == 1);")
    )
    found = explored(program(tmp_path, text), "rc11")
    assert (found["result"], found["complete"]) == ("Safe", 2)


STRANGER = """
typedef struct node { struct node *next; void *item; } node_t;
typedef struct { node_t *head, *tail; pthread_mutex_t lock; pthread_cond_t filled; } queue_t;
struct job { queue_t *queue; int from, to; long sum; };

static queue_t *queue_new(void) {
    queue_t *q = calloc(1, sizeof *q);
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->filled, NULL);
    return q;
}
static void queue_put(queue_t *q, void *item) {
    node_t *n = malloc(sizeof *n);
    n->next = NULL;
    n->item = item;
    pthread_mutex_lock(&q->lock);
    if (q->tail) q->tail->next = n; else q->head = n;
    q->tail = n;
    pthread_cond_signal(&q->filled);
    pthread_mutex_unlock(&q->lock);
}
static void *queue_get(queue_t *q) {
    pthread_mutex_lock(&q->lock);
    while (!q->head) pthread_cond_wait(&q->filled, &q->lock);
    node_t *n = q->head;
    q->head = n->next;
    if (!q->head) q->tail = NULL;
    pthread_mutex_unlock(&q->lock);
    void *item = n->item;
    free(n);
    return item;
}
static void *producer(void *arg) {
    struct job *job = arg;
    for (int i = job->from; i < job->to; i++) {
        int *item = malloc(sizeof *item);
        *item = i;
        queue_put(job->queue, item);
    }
    return NULL;
}
static void *consumer(void *arg) {
    struct job *job = arg;
    for (int i = job->from; i < job->to; i++) {
        int *item = queue_get(job->queue);
        job->sum += *item;
        free(item);
    }
    return job;
}
int main(void) {
    queue_t *q = queue_new();
    struct job put = {q, 1, 3, 0}, get = {q, 1, 3, 0};
    pthread_t p, c;
    if (pthread_create(&p, NULL, producer, &put) || pthread_create(&c, NULL, consumer, &get))
        abort();
    pthread_join(p, NULL);
    void *result;
    pthread_join(c, &result);
    assert(((struct job *)result)->sum == 3);
    free(q);
    return 0;
}
"""


def test_a_linked_queue_as_a_stranger_writes_it_goes_through(tmp_path: Path) -> None:
    found = program(tmp_path, STRANGER)
    for model in ("sc", "tso", "rc11"):
        exploration = explored(found, model)
        assert (exploration["result"], exploration["reasons"]) == ("Safe", []), model
    unlocked = STRANGER.replace(
        "    pthread_mutex_unlock(&q->lock);\n    void *item", "    void *item"
    )
    violated(explored(program(tmp_path, unlocked), "sc"), "hang", "a lock")


def test_two_jobs_find_what_one_does(tmp_path: Path) -> None:
    found = program(tmp_path, SB, "one", "two", after="assert(a || b);")
    one, two = explored(found, "rc11", jobs=1), explored(found, "rc11", jobs=2)
    for name in ("result", "complete", "blocked", "faulty"):
        assert one[name] == two[name]
    assert one["result"] == "Violated"


def test_the_first_violation_is_enough_when_asked(tmp_path: Path) -> None:
    text = "atomic_int x; void *inc(void *p) { assert(atomic_fetch_add(&x, 1)); return 0; }"
    found = explored(program(tmp_path, text, *["inc"] * 4), "sc", stop_at_first=True, jobs=1)
    assert (found["result"], found["faulty"]) == ("Violated", 1)


def test_a_limit_is_named(tmp_path: Path) -> None:
    text = "atomic_int x; void *inc(void *p) { atomic_fetch_add(&x, 1); return 0; }"
    found = explored(
        program(tmp_path, text, *["inc"] * 4),
        "sc",
        bounds=Bounds(executions=5),
        part=Part(without=("symmetry",)),
        jobs=1,
    )
    assert (found["result"], found["limit"]) == ("Unknown", "executions")
    assert [*map(sentence, reasons_of(found))] == ["limit of 5 executions"]


def test_an_exception_of_done_ends_the_work(tmp_path: Path) -> None:
    text = "atomic_int x; void *inc(void *p) { atomic_fetch_add(&x, 1); return 0; }"
    found = program(tmp_path, text, *["inc"] * 9)

    class Enough(Exception):
        pass

    def done(_: int, __: tuple[float, float] | None) -> None:
        assert threading.current_thread() is threading.main_thread()
        raise Enough

    with pytest.raises(Enough):
        found.explore(
            str(MODELS / "sc.cat"),
            folders=[str(MODELS)],
            acyclic="program order",
            part=Part(without=("symmetry",)),
            done=done,
        )


def test_a_program_that_cannot_be_explored_is_located(tmp_path: Path) -> None:
    text = """
    union { atomic_int whole; atomic_char part; } u;
    void *one(void *p) { atomic_store(&u.whole, 1); return 0; }
    void *two(void *p) { atomic_store(&u.part, 1); return 0; }
    """
    with pytest.raises(EngineError) as caught:
        explored(program(tmp_path, text, "one", "two"), "sc", part=Part(mixed_sizes=False))
    problem = caught.value.problem
    assert (problem["kind"], problem["file"]) == ("unsupported", "program.c")
    assert "other sizes" in problem["message"]
    assert problem["construct"] == ""
    assert problem["line"] > 0


def test_what_an_error_is_about_is_known_without_its_message(tmp_path: Path) -> None:
    text = """
    void *one(void *p) { __asm__("nonsense"); return 0; }
    void *two(void *p) { return 0; }
    """
    with pytest.raises(EngineError, match="the inline assembly") as caught:
        explored(program(tmp_path, text, "one", "two"), "sc")
    assert caught.value.problem["construct"] == "inline assembly"
    with pytest.raises(EngineError) as caught:
        Program("define i32 @other() {\n  ret i32 0\n}\n")
    assert caught.value.problem["construct"] == "no main"
    found = program(tmp_path, SB, "one", "two")
    with pytest.raises(EngineError, match=r"po \| rf"):
        found.explore(str(MODELS / "c11.cat"), folders=[str(MODELS)])


SCENARIOS = sorted((Path(__file__).parents[2] / "litmus").glob("*/*.c"))
#: programs in which a thread sleeps until it is woken
SLEEP = {"release_two.c", "second_try.c"}
ENDS: dict[str, set[str]] = {
    "complete": set(),
    "assertion": {"assertion"},
    "deadlock": {"hang"},
    "memory": {"memory", "lock", "uninitialised"},
}


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_under_sc_a_scenario_ends_as_its_interleavings_do(path: Path) -> None:
    scenario = Program(compile_source(path).text)
    trace = scenario.trace()
    found = explored(scenario, "sc")
    assert found["result"] != "Unknown" or not trace["exhaustive"], found["reasons"]
    ends = {run["outcome"] for run in trace["runs"]} - {"bound"}
    seen = {kind for end in ends for kind in ENDS[end]}
    if path.name in SLEEP:  # in an interleaving they read until the value changes
        seen.add("hang")
    if trace["exhaustive"]:
        assert kinds(found) <= seen
    for end in ends - {"complete"}:
        assert ENDS[end] & kinds(found), (end, found["violations"])
    assert ("complete" in ends) == (found["complete"] > 0)


def test_a_model_is_read_again_where_an_included_file_has_changed(tmp_path: Path) -> None:
    """What was asked of a model is remembered, but not for other axioms."""
    axioms = tmp_path / "axioms.cat"
    model = tmp_path / "mine.cat"
    model.write_text('include "cos.cat"\nlet com = rf | co | fr\ninclude "axioms.cat"\n')
    sb = program(tmp_path, SB, "one", "two")
    strong = "acyclic po | com as sc\n"
    weak = "acyclic po & loc | com as coherence\nacyclic po | rf as porf\n"
    for text, complete in ((strong, 3), (strong, 3), (weak, 4), (strong, 3)):
        axioms.write_text(text)
        found = sb.explore(str(model), folders=[str(MODELS)])
        assert (found["result"], found["complete"]) == ("Safe", complete)
