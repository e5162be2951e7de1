"""The ends of the lifetimes of local variables that several threads use."""

from __future__ import annotations

from pathlib import Path

import pytest
from explored_programs import explored, kinds, program

from weakspot._engine import Program
from weakspot.generators.source.frontend import compile_source

MODELS = ("sc", "tso", "rc11", "rc20")
UNORDERED = "use not ordered with the end of a local variable's lifetime"
AFTER = "use of a local variable after the end of its lifetime"

READER = """
void *read(void *p) { assert(LOAD(*(atomic_int *) p) == 3); return 0; }
"""


def verdict(found: Program, model: str = "rc20") -> tuple[str, list[str]]:
    answer = explored(found, model)
    return answer["result"], [violation["message"] for violation in answer["violations"]]


SAFE: tuple[str, list[str]] = ("Safe", [])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("calls", ["inlined", "recursive"])
def test_a_function_joins_the_threads_that_use_its_variables(
    tmp_path: Path, calls: str, model: str
) -> None:
    again = {"inlined": "", "recursive": "if (n) { start(t, n - 1); return; }"}[calls]
    text = f"""
    {READER}
    static void start(pthread_t *t, int n) {{
        atomic_int local = 3;
        {again}
        pthread_create(t, 0, read, &local);
        JOIN
    }}
    int main(void) {{ pthread_t t; start(&t, 1); LATER }}
    """
    join = "pthread_join(*t, 0);"
    right = program(tmp_path, text.replace("JOIN", join).replace("LATER", ""))
    assert verdict(right, model) == SAFE
    wrong = program(tmp_path, text.replace("JOIN", "").replace("LATER", "pthread_join(t, 0);"))
    assert verdict(wrong, model) == ("Violated", [UNORDERED])


@pytest.mark.parametrize("model", MODELS)
def test_a_variable_ends_with_its_block(tmp_path: Path, model: str) -> None:
    text = f"""
    {READER}
    atomic_int stop;
    int main(void) {{
        pthread_t t;
        for (int i = 0; i < 2; i++) {{
            {{
                atomic_int local = 3;
                pthread_create(&t, 0, read, &local);
                if (i == 1 && LOAD(stop)) return 1;
                INSIDE
            }}
            OUTSIDE
        }}
    }}
    """
    join = "pthread_join(t, 0);"
    right = program(tmp_path, text.replace("INSIDE", join).replace("OUTSIDE", ""))
    assert verdict(right, model) == SAFE
    wrong = program(tmp_path, text.replace("INSIDE", "").replace("OUTSIDE", join))
    assert verdict(wrong, model) == ("Violated", [UNORDERED])


@pytest.mark.parametrize("order", ["release", "relaxed"])
def test_the_last_use_by_another_thread_happens_before_the_end(tmp_path: Path, order: str) -> None:
    text = f"""
    atomic_int done;
    void *use(void *p) {{
        STORE(*(atomic_int *) p, 4);
        atomic_store_explicit(&done, 1, memory_order_{order});
        return 0;
    }}
    static void start(pthread_t *t) {{
        atomic_int local = 3;
        pthread_create(t, 0, use, &local);
        while (!atomic_load_explicit(&done, memory_order_acquire)) {{ }}
    }}
    int main(void) {{ pthread_t t; start(&t); pthread_join(t, 0); }}
    """
    expected = SAFE if order == "release" else ("Violated", [UNORDERED])
    assert verdict(program(tmp_path, text)) == expected
    assert verdict(program(tmp_path, text), "sc") == SAFE


def test_a_thread_uses_no_variable_of_a_function_that_has_returned(tmp_path: Path) -> None:
    text = """
    atomic_int *_Atomic published;
    static void publish(void) { atomic_int local = 3; atomic_store(&published, &local); WITHDRAW }
    void *write(void *p) { publish(); atomic_store(&done, 1); return 0; }
    void *use(void *p) {
        while (!atomic_load(&done)) { }
        atomic_int *its = atomic_load(&published);
        if (its) assert(LOAD(*its) == 3);
        return 0;
    }
    """
    text = "atomic_int done;" + text
    wrong = program(tmp_path, text.replace("WITHDRAW", ""), "write", "use")
    right = program(
        tmp_path, text.replace("WITHDRAW", "atomic_store(&published, 0);"), "write", "use"
    )
    for model in MODELS:
        assert verdict(wrong, model) == ("Violated", [AFTER])
        assert verdict(right, model) == SAFE


def test_a_variable_is_another_one_in_each_call(tmp_path: Path) -> None:
    """Also after the return of the function that called, whose own variables are its thread's."""
    text = """
    void *add(void *x) { atomic_fetch_add((atomic_int *)x, 1); return 0; }
    static void shares(void) {
        atomic_int x = 0;
        pthread_t t;
        pthread_create(&t, 0, add, &x);
        pthread_join(t, 0);
        assert(x == 1);
    }
    atomic_int *volatile seen;
    void (*volatile inner)(void) = shares;
    static void calls(void) { atomic_int own = 0; seen = &own; inner(); }
    void (*volatile outer)(void) = calls;
    void *one(void *unused) { outer(); outer(); return 0; }
    """
    assert verdict(program(tmp_path, text, "one")) == SAFE


def test_the_thread_itself_uses_no_variable_that_has_ended(tmp_path: Path) -> None:
    text = """
    static int *leak(void) { int local = 3; int *volatile p = &local; return p; }
    void *one(void *p) { return (void *) (long) *leak(); }
    """
    assert verdict(program(tmp_path, text, "one")) == ("Violated", [AFTER])


def test_variables_that_one_thread_uses_have_no_events(tmp_path: Path) -> None:
    text = """
    atomic_int x;
    static int *same(int *p) { return p; }
    static int both(int k) { int local = k; int *volatile p = same(&local); return *p; }
    void *one(void *p) {
        for (int i = 0; i < 3; i++) { int j = both(i); STORE(x, *same(&j)); }
        return 0;
    }
    """
    found = explored(program(tmp_path, text, "one", "one", after="assert(LOAD(x) == 2);"), "rc20")
    assert (found["result"], found["complete"]) == ("Safe", 20)  # C(6, 3) orders of the stores


def test_the_variables_of_main_live_until_the_process_ends(tmp_path: Path) -> None:
    text = f"""
    {READER}
    int main(void) {{ atomic_int local = 3; pthread_t t; pthread_create(&t, 0, read, &local); }}
    """
    found = explored(program(tmp_path, text), "rc20")
    assert (found["result"], [each["kind"] for each in found["warnings"]]) == ("Safe", ["unjoined"])


def test_nodes_of_a_queue_lock_live_on_the_stack(tmp_path: Path) -> None:
    text = """
    struct node { struct node *_Atomic next; atomic_int locked; };
    struct node *_Atomic tail;
    int x;
    static void lock(struct node *n) {
        atomic_store_explicit(&n->next, NULL, memory_order_relaxed);
        atomic_store_explicit(&n->locked, 1, memory_order_relaxed);
        struct node *p = atomic_exchange_explicit(&tail, n, memory_order_acq_rel);
        if (!p) return;
        atomic_store_explicit(&p->next, n, memory_order_release);
        while (atomic_load_explicit(&n->locked, memory_order_acquire)) { }
    }
    static void unlock(struct node *n) {
        struct node *e = n, *next;
        if (atomic_compare_exchange_strong(&tail, &e, NULL)) return;
        while (!(next = atomic_load_explicit(&n->next, ORDER))) { }
        atomic_store_explicit(&next->locked, 0, memory_order_release);
    }
    static void critical(void) { struct node n; lock(&n); x++; unlock(&n); }
    void *two(void *p) { for (int i = 0; i < 2; i++) critical(); return 0; }
    void *one(void *p) { critical(); return 0; }
    """
    right = text.replace("ORDER", "memory_order_acquire")
    assert verdict(program(tmp_path, right, "two", "one", after="assert(x == 3);")) == SAFE
    wrong = text.replace("ORDER", "memory_order_relaxed")
    found = explored(program(tmp_path, wrong, "two", "one"), "rc20")
    assert "memory" in kinds(found)  # the successor still writes to the node


CXX = """
#include <atomic>
#include <thread>
#include <cassert>
struct Joiner { std::thread &t; ~Joiner() { t.join(); } };
"""


def cxx(folder: Path, text: str) -> Program:
    path = folder / "program.cpp"
    path.write_text(CXX + text)
    return Program(compile_source(path).text)


def test_destructors_run_before_the_variables_of_their_block_end(tmp_path: Path) -> None:
    text = """
    int main() {
        for (int round = 0; round < 2; round++) {
            std::atomic<int> x{0};
            std::thread t([&] { x++; });
            Joiner join{t};
            if (round == 1) break;
        }
        {
            int plain = 0;
            std::jthread t([&] { plain++; });
        }
        if (int both[2] = {0, 0}; both[0] == 0) {
            std::thread t([&] { both[1] = 1; });
            t.join();
            assert(both[1] == 1);
        }
    }
    """
    assert verdict(cxx(tmp_path, text)) == SAFE


@pytest.mark.parametrize(("capture", "expected"), [("n", SAFE), ("&n", ("Violated", [UNORDERED]))])
def test_a_thread_that_outlives_its_function_has_copies(
    tmp_path: Path, capture: str, expected: tuple[str, list[str]]
) -> None:
    text = f"""
    static std::thread start() {{
        int n = 3;
        return std::thread([{capture}]() mutable {{ n = 4; }});
    }}
    int main() {{ start().join(); }}
    """
    assert verdict(cxx(tmp_path, text)) == expected


def test_an_object_that_a_block_returns_lives_on(tmp_path: Path) -> None:
    text = """
    struct Box { std::atomic<int> n; Box(int k) : n(k) {} Box(const Box &o) : n(o.n.load()) {} };
    static Box make(int k) {
        if (k) { Box box(k); box.n++; return box; }
        { Box other(7); other.n++; return other; }
    }
    int main() {
        Box box = make(2);
        std::thread t([&] { box.n++; });
        t.join();
        assert(box.n == 4);
    }
    """
    assert verdict(cxx(tmp_path, text)) == SAFE
