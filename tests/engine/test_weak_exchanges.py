"""A weak compare-exchange may fail each time; a loop that tries it again ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from explored_programs import explored, kinds, program, violated

from weakspot._engine import EngineError, Program
from weakspot.generators.source.frontend import compile_source

WEAK = "atomic_compare_exchange_weak"
FAILS_EVERY_TIME = {
    "a loop of two": """
    atomic_int x;
    int take(void) {
        for (int i = 0; i < 2; i++) { int e = 0; if (CAS(&x, &e, 1)) return 1; }
        return 0;
    }
    void *one(void *p) { assert(take()); return 0; }
    void *two(void *p) { return (void *)(long)LOAD(x); }
    """,
    "one site, two objects": """
    atomic_int x, y;
    __attribute__((noinline)) int take(atomic_int *at) { int e = 0; return CAS(at, &e, 1); }
    void *one(void *p) { int a = take(&x), b = take(&y); assert(a || b); return 0; }
    void *two(void *p) { return (void *)(long)(LOAD(x) + LOAD(y)); }
    """,
    "of one thread": """
    atomic_int x;
    void *one(void *p) { int e = 0; assert(CAS(&x, &e, 1)); return 0; }
    void *two(void *p) { return 0; }
    """,
    "in a local": """
    void *one(void *p) { atomic_int x = 0; int e = 0; assert(CAS(&x, &e, 1)); return 0; }
    void *two(void *p) { return 0; }
    """,
    "counted": """
    atomic_int x;
    void *one(void *p) {
        int e = 0, failures = 0;
        while (!CAS(&x, &e, 1)) failures++;
        assert(failures < 2);
        return 0;
    }
    void *two(void *p) { return 0; }
    """,
}


@pytest.mark.parametrize("case", FAILS_EVERY_TIME)
def test_a_weak_compare_exchange_may_fail_each_time(tmp_path: Path, case: str) -> None:
    text = FAILS_EVERY_TIME[case]
    weak = program(tmp_path, text.replace("CAS", WEAK), "one", "two")
    violated(explored(weak, "sc"), "assertion")
    strong = program(tmp_path, text.replace("CAS", WEAK.replace("weak", "strong")), "one", "two")
    assert explored(strong, "sc")["result"] == "Safe"


@pytest.mark.parametrize("body", ["", "attempts++;"])
@pytest.mark.parametrize("shared", [True, False])
def test_retrying_a_weak_compare_exchange_ends(tmp_path: Path, body: str, shared: bool) -> None:
    other = "one" if shared else "two"
    text = f"""
    atomic_int x;
    void *one(void *p) {{
        int e = LOAD(x), attempts = 0;
        while (!atomic_compare_exchange_weak(&x, &e, e + 1)) {{ {body} }}
        return 0;
    }}
    void *two(void *p) {{ return 0; }}
    """
    found = explored(program(tmp_path, text, "one", other), "rc20")
    assert (found["result"], found["truncated"]) == ("Safe", 0)


def test_a_wait_after_a_failure_for_no_reason_hangs(tmp_path: Path) -> None:
    text = """
    atomic_int x;
    void *one(void *p) {
        int e = 0;
        if (!atomic_compare_exchange_weak(&x, &e, 1)) for (;;) sched_yield();
        return 0;
    }
    void *two(void *p) { return 0; }
    """
    hung = explored(program(tmp_path, "#include <sched.h>\n" + text, "one", "two"), "sc")
    violated(hung, "hang")
    chosen = text.replace("!atomic_compare_exchange_weak(&x, &e, 1)", "weakspot_choose(2) == 0")
    head = "#include <sched.h>\nint weakspot_choose(int);\n"
    violated(explored(program(tmp_path, head + chosen, "one", "two"), "sc"), "hang")


STACK = """
struct node { TYPE next; int value; };
struct node first = {0, 1}, second = {0, 2};
_Atomic(struct node *) top;
void push(struct node *node) {
    struct node *head = atomic_load_explicit(&top, memory_order_relaxed);
    do SET(node->next, head);
    while (!atomic_compare_exchange_weak_explicit(&top, &head, node, memory_order_release,
                                                  memory_order_relaxed));
}
struct node *pop(void) {
    struct node *head = atomic_load_explicit(&top, memory_order_acquire);
    while (head && !atomic_compare_exchange_weak_explicit(&top, &head, GET(head->next),
                                                          memory_order_acquire,
                                                          memory_order_acquire));
    return head;
}
void *one(void *p) { push(&first); return 0; }
void *two(void *p) { push(&second); return 0; }
void *three(void *p) { struct node *node = pop(); assert(!node || node->value); return 0; }
void *four(void *p) { struct node *node = pop(); if (node) push(node); return 0; }
"""


def stack(next_: str) -> str:
    atomic = next_ == "atomic"
    set_, get = "atomic_store_explicit(&n, v, memory_order_relaxed)", "atomic_load(&n)"
    return (
        f"#define SET(n, v) {set_ if atomic else 'n = v'}\n"
        f"#define GET(n) {get if atomic else 'n'}\n"
        f"#define TYPE {'_Atomic(struct node *)' if atomic else 'struct node *'}\n" + STACK
    )


@pytest.mark.parametrize("model", ["sc", "tso", "rc20", "imm"])
@pytest.mark.parametrize("next_", ["plain", "atomic"])
def test_a_push_that_links_its_node_again_ends(tmp_path: Path, next_: str, model: str) -> None:
    found = explored(program(tmp_path, stack(next_), "one", "two", "three"), model)
    assert (found["result"], found["truncated"]) == ("Safe", 0)


@pytest.mark.parametrize(
    ("model", "result"), [("sc", "Safe"), ("tso", "Safe"), ("rc20", "Safe"), ("imm", "Unknown")]
)
def test_a_push_of_a_node_that_was_in_the_stack_ends(
    tmp_path: Path, model: str, result: str
) -> None:
    """Other threads write the link too, but not between two attempts."""
    found = explored(program(tmp_path, stack("atomic"), "one", "four"), model)
    assert (found["result"], found["truncated"] > 0) == (result, result == "Unknown")


@pytest.mark.parametrize("model", ["rc20", "imm"])
def test_a_value_that_is_written_again_may_hide_what_another_thread_writes_after_the_loop(
    tmp_path: Path, model: str
) -> None:
    text = """
    atomic_int box, taken, wrote;
    void *one(void *p) {
        int free = 0;
        STORE(box, 1);
        atomic_thread_fence(memory_order_release);
        while (!atomic_compare_exchange_weak_explicit(&taken, &free, 1, memory_order_relaxed,
                                                      memory_order_relaxed))
            STORE(box, 1);
        return 0;
    }
    void *two(void *p) {
        if (atomic_load_explicit(&taken, memory_order_acquire)) { STORE(box, 2); wrote = 1; }
        return 0;
    }
    """
    after = "assert(!wrote || box == 2);"
    violated(explored(program(tmp_path, text, "one", "two", after=after), model), "assertion")
    strong = program(tmp_path, text.replace("weak", "strong"), "one", "two", after=after)
    assert explored(strong, model)["result"] == "Safe"


@pytest.mark.parametrize("again", ["release", "relaxed"])
def test_a_value_that_is_written_again_with_another_order_is_seen(
    tmp_path: Path, again: str
) -> None:
    text = f"""
    int data; atomic_int box, taken;
    void *one(void *p) {{
        int free = 0;
        data = 1;
        atomic_store_explicit(&box, 1, memory_order_release);
        while (!atomic_compare_exchange_weak_explicit(&taken, &free, 1, memory_order_relaxed,
                                                      memory_order_relaxed))
            atomic_store_explicit(&box, 1, memory_order_{again});
        return 0;
    }}
    void *two(void *p) {{
        if (atomic_load_explicit(&box, memory_order_acquire)) return (void *)(long)data;
        return 0;
    }}
    """
    found = explored(program(tmp_path, text, "one", "two"), "rc20")
    assert (kinds(found), found["truncated"]) == (set() if again == "release" else {"race"}, 0)


def test_a_second_write_of_a_published_value_races(tmp_path: Path) -> None:
    text = """
    int data; atomic_int flag, taken;
    void *one(void *p) {
        int free = 0;
        do { data = 1; flag = 1; } while (!atomic_compare_exchange_weak(&taken, &free, 1));
        return 0;
    }
    void *two(void *p) { if (flag) assert(data); return 0; }
    """
    assert kinds(explored(program(tmp_path, text, "one", "two"), "rc20")) == {"race"}
    strong = text.replace("weak", "strong")
    assert explored(program(tmp_path, strong, "one", "two"), "rc20")["result"] == "Safe"


def test_a_value_that_another_thread_takes_between_two_attempts_is_seen(tmp_path: Path) -> None:
    text = """
    atomic_int box, taken, seen;
    void *one(void *p) {
        int free = 0;
        do STORE(box, 1); while (!atomic_compare_exchange_weak(&taken, &free, 1));
        return 0;
    }
    void *two(void *p) { seen = atomic_exchange(&box, 0); return 0; }
    """
    weak = program(tmp_path, text, "one", "two", after="assert(!seen || !box);")
    violated(explored(weak, "sc"), "assertion")
    strong = program(
        tmp_path, text.replace("weak", "strong"), "one", "two", after="assert(!seen || !box);"
    )
    assert explored(strong, "sc")["result"] == "Safe"


def test_a_value_that_another_thread_takes_twice_between_attempts_is_seen(tmp_path: Path) -> None:
    text = """
    atomic_int box, taken, seen;
    void *one(void *p) {
        int free = 0;
        do STORE(box, 1); while (!atomic_compare_exchange_weak(&taken, &free, 1));
        return 0;
    }
    void *two(void *p) {
        seen = atomic_exchange(&box, 0);
        seen += atomic_exchange(&box, 0);
        return 0;
    }
    """
    found = explored(program(tmp_path, text, "one", "two", after="assert(seen < 2 || !box);"), "sc")
    violated(found, "assertion")


ALONE = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
struct node { struct node *next; } nodes[3];
_Atomic(struct node *) top;
atomic_int x;
void push(struct node *node) {
    struct node *head = top;
    do node->next = head; while (!atomic_compare_exchange_weak(&top, &head, node));
}
void *thread(void *p) { push(&nodes[2]); return 0; }
"""
START = "pthread_t t; pthread_create(&t, 0, thread, 0); pthread_join(t, 0); return 0;"


def alone(folder: Path, text: str) -> Program:
    (folder / "p.c").write_text(ALONE + text)
    return Program(compile_source(folder / "p.c").text)


@pytest.mark.parametrize("constructor", ["__attribute__((constructor)) ", ""])
def test_what_is_retried_before_threads_are_started_adds_nothing(
    tmp_path: Path, constructor: str
) -> None:
    first = f"{constructor}void fill(void) {{ push(&nodes[0]); push(&nodes[1]); }}"
    call = "" if constructor else "fill();"
    after = "assert(top == &nodes[2] && top->next == &nodes[1] && nodes[1].next == nodes);"
    start = START.replace("return 0", f"{after} return 0")
    found = explored(alone(tmp_path, f"{first} int main(void) {{ {call} {start} }}"), "rc20")
    assert (found["result"], found["complete"], found["truncated"]) == ("Safe", 1, 0)


@pytest.mark.parametrize("start", [START, "return 0;"])
def test_an_exchange_of_main_may_fail_before_threads_are_started(
    tmp_path: Path, start: str
) -> None:
    text = "int main(void) { int e = 0; assert(CAS(&x, &e, 1)); " + start + " }"
    weak = alone(tmp_path, text.replace("CAS", WEAK))
    violated(explored(weak, "sc"), "assertion")
    strong = alone(tmp_path, text.replace("CAS", WEAK.replace("weak", "strong")))
    assert explored(strong, "sc")["result"] == "Safe"


def test_a_constructor_that_depends_on_a_failure_is_refused(tmp_path: Path) -> None:
    constructor = f"int e; __attribute__((constructor)) void f(void) {{ {WEAK}(&x, &e, 1); }}"
    with pytest.raises(EngineError, match="constructor that does something else if a weak"):
        explored(alone(tmp_path, constructor + "int main(void) { " + START + " }"), "sc")
