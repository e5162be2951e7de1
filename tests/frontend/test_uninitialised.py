"""Variables that are used before they are initialised are found, wherever their values go; copying
them as part of a structure is no use."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_answers import kinds

import weakspot
from weakspot import _engine

MODELS = Path(__file__).parents[2] / "models"

PROGRAM_C = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
struct pair {{ int first, second; }};
struct flags {{ unsigned low : 3, high : 5; }};
static atomic_int x;
static struct pair shared;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct pair halves(void) {{ struct pair p; p.first = 1; return p; }}
static int second(struct pair p) {{ return p.second; }}
static int first(struct pair p) {{ return p.first; }}
static void *one(void *p) {{ {one} }}
static void *two(void *p) {{ {two} }}
int main(void) {{
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}}
"""

PROGRAM_CXX = """\
#include <atomic>
#include <cassert>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
struct pair {{ int first, second; }};
static std::atomic<int> x{{0}};
static void put(int value) {{ x.store(value); }}
static void take(pair p) {{ x.store(p.first); }}
int main() {{
  {body}
}}
"""

USED = {
    "stored in an atomic": "int v; atomic_store(&x, v); return p;",
    "compared": "int v; if (v == 3) atomic_store(&x, 1); return p;",
    "a condition": "_Bool v; if (v) atomic_store(&x, 1); return p;",
    "added to": "int v; v += 1; atomic_store(&x, v); return p;",
    "an index": "int v, a[2] = {1, 2}; atomic_store(&x, a[v]); return p;",
    "followed": "int *v; atomic_store(&x, *v); return p;",
    "switched on": "int v; switch (v) { case 1: atomic_store(&x, 1); } return p;",
    "initialised on another path": "int v; if (atomic_load(&x)) v = 1; "
    "atomic_store(&x, v); return p;",
    "a member of a parameter": "atomic_store(&x, second(halves())); return p;",
    "a member behind a lock": "pthread_mutex_lock(&mutex); shared = halves(); "
    "if (shared.second) atomic_store(&x, 1); pthread_mutex_unlock(&mutex); return p;",
    "an argument": "pthread_mutex_t *m; pthread_mutex_lock(m); return p;",
    "given to an update": "int v; atomic_fetch_add(&x, v); return p;",
    "expected": "int v; atomic_compare_exchange_strong(&x, &v, 1); return p;",
}

COPIED = {
    "a member of a structure": "struct pair v = halves(); atomic_store(&x, v.first); return p;",
    "a member of a parameter": "atomic_store(&x, first(halves())); return p;",
    "behind a lock": "pthread_mutex_lock(&mutex); shared = halves(); "
    "if (shared.first) atomic_store(&x, 1); pthread_mutex_unlock(&mutex); return p;",
    "bit-fields": "struct flags f; f.low = 2; f.high = 9; "
    "if (f.low == 2) atomic_store(&x, f.high); return p;",
    "one bit-field": "struct flags f; f.high = 9; atomic_store(&x, f.high); return p;",
    "initialised on each path": "int v; if (atomic_load(&x)) v = 1; else v = 2; "
    "atomic_store(&x, v); return p;",
    "used where it is initialised": "int v, y = atomic_load(&x); if (y) v = 1; "
    "if (y) atomic_store(&x, v); return p;",
    "no result": "atomic_store(&x, 1);",
    "allocated": "struct pair *v = malloc(sizeof *v); *v = halves(); atomic_store(&x, v->first); "
    "free(v); return p;",
}

CAPTURED = {
    "in a function by value": "int v; std::function<void()> f = [v] { x.store(v); }; "
    "std::thread a(f);",
    "in an argument": "pair v; std::thread a(take, v);",
    "by value": "int v; std::thread a([v] { x.store(v); });",
    "by reference": "int v; std::thread a([&v] { x.store(v); });",
    "in an array by value": "int v[2]; std::thread a([v] { x.store(v[1]); });",
    "in an array by reference": "int v[2]; std::thread a([&v] { x.store(v[1]); });",
    "in a structure by value": "pair v; v.first = 1; std::thread a([v] { x.store(v.second); });",
    "in a structure by reference": "pair v; std::thread a([&v] { x.store(v.second); });",
    "in a function by reference": "int v; std::function<void()> f = [&v] { x.store(v); }; "
    "std::thread a(f);",
    "as an argument": "int v; std::thread a(put, v);",
    "as an argument by reference": "int v; std::thread a([](int &w) { x.store(w); }, std::ref(v));",
    "by the second thread": "int v; std::thread b([] { x.store(1); }); "
    "std::thread a([v] { x.store(v); }); b.join();",
}

NOT_READ = {
    "in a structure": "pair v; v.first = 1; std::thread a([v] { x.store(v.first); });",
    "in an argument": "pair v; v.first = 1; std::thread a(take, v);",
    "an empty optional": "std::optional<int> v; std::thread a([v] { x.store(v.has_value()); });",
    "by the second thread": "pair v; v.first = 1; std::thread b([] { x.store(1); }); "
    "std::thread a([v] { x.store(v.first); }); b.join();",
}


def c(use: str, place: int) -> str:
    bodies = [use, "atomic_load(&x); return p;"]
    return PROGRAM_C.format(one=bodies[place], two=bodies[1 - place])


def cxx(thread: str) -> str:
    watcher = "std::thread watcher([] { x.load(); });"
    return PROGRAM_CXX.format(body=f"{watcher} {thread} a.join(); watcher.join();")


@pytest.mark.parametrize("use", USED)
def test_a_variable_is_used_that_was_not_initialised(tmp_path: Path, use: str) -> None:
    assert kinds(tmp_path / "it.c", c(USED[use], 0)) == "uninitialised"


@pytest.mark.parametrize("use", COPIED)
def test_a_variable_is_only_copied(tmp_path: Path, use: str) -> None:
    assert kinds(tmp_path / "it.c", c(COPIED[use], 1)) == "Safe"


@pytest.mark.parametrize("how", CAPTURED)
def test_a_captured_variable_was_not_initialised(tmp_path: Path, how: str) -> None:
    assert kinds(tmp_path / "it.cpp", cxx(CAPTURED[how])) == "uninitialised"


@pytest.mark.parametrize("how", NOT_READ)
def test_a_captured_member_is_not_read(tmp_path: Path, how: str) -> None:
    assert kinds(tmp_path / "it.cpp", cxx(NOT_READ[how])) == "Safe"


PARTS_C = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
struct padded { int number; char letter; };
struct pair { int first, second; };
struct message { int tag; union { long number; double real; } value; };
static _Atomic struct padded padded;
static _Atomic struct pair whole;
static struct pair *_Atomic published;
static void *child(void *p);
int main(void) {
  pthread_t a;
  pthread_create(&a, 0, child, 0);
  MAIN
  pthread_join(a, 0);
  return 0;
}
"""

HALF = "struct pair *p = malloc(sizeof *p); p->first = 1; atomic_store(&published, p); return q;"
RECEIVED = "struct pair *p = atomic_load(&published); if (!p) return q; "

# what a thread does, what main does, whether an indeterminate value is used
PARTS = {
    "padding through an atomic": (
        "struct padded p; p.number = 1; p.letter = 2; atomic_store(&padded, p); return q;",
        "struct padded p = atomic_load(&padded); assert(p.number == 0 || p.letter == 2);",
        False,
    ),
    "padding in a compare-exchange": (
        "struct padded p = atomic_load(&padded), n; do { n.number = p.number + 1; "
        "n.letter = p.letter; } while (!atomic_compare_exchange_weak(&padded, &p, n)); return q;",
        "struct padded p = atomic_load(&padded); assert(p.number < 2);",
        False,
    ),
    "a member through an atomic": (
        "struct pair p; p.first = 1; atomic_store(&whole, p); return q;",
        "struct pair p = atomic_load(&whole); assert(p.first == 0 || p.second == 0);",
        True,
    ),
    "not the member through an atomic": (
        "struct pair p; p.first = 1; atomic_store(&whole, p); return q;",
        "struct pair p = atomic_load(&whole); assert(p.first < 2);",
        False,
    ),
    "all of what is stored in an atomic": (
        "struct pair p; atomic_store(&whole, p); return q;",
        "struct pair p = atomic_load(&whole); assert(p.first == 0);",
        True,
    ),
    "padding of a parameter": (
        "struct padded *p = malloc(sizeof *p); p->number = 1; p->letter = 2; "
        "assert(sum(*p) == 3); free(p); return q;",
        "",
        False,
    ),
    "a tagged union without a value": (
        "struct message *m = malloc(sizeof *m); m->tag = 0; assert(value(*m) == 7); "
        "struct message *n = malloc(sizeof *n); *n = *m; assert(n->tag == 0); "
        "free(m); free(n); return q;",
        "",
        False,
    ),
    "the value of a tagged union": (
        "struct message *m = malloc(sizeof *m); m->tag = 1; assert(value(*m) == 7); free(m); "
        "return q;",
        "",
        True,
    ),
    "copied from another thread": (
        HALF,
        RECEIVED.replace("return q", "return 0") + "struct pair *v = "
        "malloc(sizeof *v); memcpy(v, p, sizeof *v); assert(v->first == 1); free(v);",
        False,
    ),
    "copied from another thread and used": (
        HALF,
        RECEIVED.replace("return q", "return 0") + "struct pair *v = malloc(sizeof *v); "
        "memcpy(v, p, sizeof *v); assert(v->second == 0); free(v);",
        True,
    ),
    "copied twice and used": (
        HALF,
        RECEIVED.replace("return q", "return 0") + "struct pair v = *p, w = v; "
        "assert(both(w) == 1);",
        True,
    ),
    "chosen": (
        "int v; int w = atomic_load(&published) ? v : 1; assert(w == 1); return q;",
        "static struct pair one; atomic_store(&published, &one);",
        True,
    ),
    "not chosen": (
        "int v; int w = atomic_load(&published) == (void *)8 ? v : 1; assert(w == 1); return q;",
        "static struct pair one; atomic_store(&published, &one);",
        False,
    ),
    "reallocated": (
        "struct pair *p = malloc(sizeof *p); p->first = 1; p = realloc(p, 2 * sizeof *p); "
        "assert(p->second == 0); free(p); return q;",
        "",
        True,
    ),
}


@pytest.mark.parametrize("how", PARTS)
def test_a_structure_is_initialised_in_part(tmp_path: Path, how: str) -> None:
    thread, main, found = PARTS[how]
    functions = """
static int sum(struct padded p) { return p.number + p.letter; }
static int both(struct pair p) { return p.first + p.second; }
static long value(struct message m) { return m.tag ? m.value.number : 7; }
static void *child(void *q) { %s }
"""
    text = PARTS_C.replace("MAIN", main) + functions % thread
    text = text.replace("int main", "static int both(struct pair p);\nint main")
    assert kinds(tmp_path / "it.c", text) == ("uninitialised" if found else "Safe")


def test_the_use_of_a_copied_member_is_where_it_is_reported(tmp_path: Path) -> None:
    thread, main, _ = PARTS["a member through an atomic"]
    text = PARTS_C.replace("MAIN", main.replace("; ", ";\n  ")) + (
        f"static void *child(void *q) {{ {thread} }}\n"
    )
    path = tmp_path / "it.c"
    path.write_text(text)
    (exploration,) = weakspot.check(str(path), models=("rc20",)).wait().explorations
    (violation,) = exploration.violations
    used = next(n for n, line in enumerate(text.splitlines(), 1) if "p.second" in line)
    assert f"it.c:{used}:" in violation.message


def test_a_copied_variant_has_no_value(tmp_path: Path) -> None:
    text = """
    #include <cassert>
    #include <variant>
    using Message = std::variant<int, std::monostate>;
    int main() {
        Message none{std::monostate{}};
        Message *first = new Message(none);
        Message copy = *first;
        assert(copy.index() == 1);
        delete first;
    }
    """
    assert kinds(tmp_path / "it.cpp", text) == "Safe"


SELECTED = """\
define i32 @main() {{
  %compared = icmp eq i32 undef, 0
  %both = select i1 {condition}, i1 %compared, i1 false
  br i1 %both, label %yes, label %no
yes:
  ret i32 1
no:
  ret i32 0
}}
"""


@pytest.mark.parametrize(("condition", "result"), [("false", "Safe"), ("true", "Violated")])
def test_a_comparison_is_used_where_it_is_selected(condition: str, result: str) -> None:
    """As optimized code does: it compares what it may not need."""
    program = _engine.Program(SELECTED.format(condition=condition))
    found = program.explore(str(MODELS / "sc.cat"), folders=[str(MODELS)], acyclic="program order")
    kinds = [each["kind"] for each in found["violations"]]
    assert (found["result"], kinds) == (result, ["uninitialised"] * (result == "Violated"))
