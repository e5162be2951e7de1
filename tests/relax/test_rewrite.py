"""What relax writes into source files is what was meant, and nothing else."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from weakspot.errors import BadInput
from weakspot.generators.source.program import read_program
from weakspot.harness.edits.annotations import Annotation, annotate
from weakspot.harness.edits.changes import Rewritten
from weakspot.harness.edits.rewrite import marked, rewrite
from weakspot.harness.edits.strength import split, weaker

C = """\
#include <pthread.h>
#include <stdatomic.h>
#define ORDER memory_order_release
#define STORE(x, v) atomic_store_explicit(&(x), v, memory_order_release)
#define PUT(x, v, order) atomic_store_explicit(&(x), v, order)
#define BOTH(x, y, order) PUT(x, 1, order); PUT(y, 1, memory_order_relaxed)
#define X x
static void two(atomic_int *p, memory_order a, memory_order b) {
  atomic_store_explicit(p, 1, a);
  atomic_store_explicit(p, 2, b);
}
static atomic_int x, y, *p = &x, cells[2];
static int g;
static _Atomic(int *) q = &g;
static struct { atomic_int m; } s;
static atomic_flag f;
static void *run(void *unused) {
  /* caf\u00e9 */ BODY
  return unused;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, run, 0);
  pthread_join(t, 0);
  return 0;
}
"""
CPP = """\
#include <atomic>
#include <pthread.h>
static std::atomic<int> x, y, *p = &x, cells[2];
static int g;
static std::atomic<int *> q{&g};
static struct S { std::atomic<int> m; } s;
static std::atomic_flag f;
static int take() { return g++; }
static void body() {
  BODY
}
static void *run(void *unused) {
  body();
  return unused;
}
int main() {
  pthread_t t;
  pthread_create(&t, nullptr, run, nullptr);
  pthread_join(t, nullptr);
}
"""


Orders = Callable[[Annotation], str]
"""Which order an annotation is to have."""


def weakened(folder: Path, name: str, body: str) -> tuple[str, Rewritten, tuple[Annotation, ...]]:
    """The line with the weakest orders there are, the change, and the annotations before it."""
    return given(folder, name, body, lambda each: weaker(each.kind, each.order)[0])


def given(
    folder: Path, name: str, body: str, orders: Orders
) -> tuple[str, Rewritten, tuple[Annotation, ...]]:
    """As `weakened`, with these orders."""
    path = folder / name
    text = (CPP if name.endswith(".cpp") else C).replace("BODY", body)
    path.write_text(text, encoding="utf-8")
    annotations, _ = annotate([read_program(path)])
    change = rewrite(annotations, tuple(map(orders, annotations)))
    new = change.after.get(str(path), text.encode()).decode()
    first, _, last = text.partition(body)
    return new.removeprefix(first).removesuffix(last), change, annotations


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.c", "atomic_store(&x, 2);", "atomic_store_explicit(&x, 2, memory_order_relaxed);"),
        (
            "a.c",
            "atomic_store_explicit(&x, ',' + 1 /* , */, memory_order_release);",
            "atomic_store_explicit(&x, ',' + 1 /* , */, memory_order_relaxed);",
        ),
        (
            "a.c",
            "int e = 0; atomic_compare_exchange_strong(&x, &e, 1);",
            "int e = 0; atomic_compare_exchange_strong_explicit(&x, &e, 1, memory_order_relaxed, "
            "memory_order_relaxed);",
        ),
        (
            "a.c",
            "atomic_flag_test_and_set(&f);",
            "atomic_flag_test_and_set_explicit(&f, memory_order_relaxed);",
        ),
        ("a.cpp", "x.store(1);", "x.store(1, std::memory_order_relaxed);"),
        (
            "a.cpp",
            "x.store(1, std::memory_order::release);",
            "x.store(1, std::memory_order::relaxed);",
        ),
        ("a.cpp", "y = 2;", "y.store(2, std::memory_order_relaxed);"),
        ("a.cpp", "x++;", "x.fetch_add(1, std::memory_order_relaxed);"),
        ("a.cpp", "x -= 3;", "x.fetch_sub(3, std::memory_order_relaxed);"),
        ("a.cpp", "(void)x.load();", "(void)x.load(std::memory_order_relaxed);"),
        ("a.cpp", "f.test_and_set();", "f.test_and_set(std::memory_order_relaxed);"),
        (
            "a.cpp",
            "int e = 0; x.compare_exchange_weak(e, 1, std::memory_order_acq_rel);",
            "int e = 0; x.compare_exchange_weak(e, 1, std::memory_order_relaxed);",
        ),
        (
            "a.cpp",
            "std::atomic_store(&x, 1);",
            "std::atomic_store_explicit(&x, 1, std::memory_order_relaxed);",
        ),
        ("a.c", "PUT(x, 1, memory_order_release);", "PUT(x, 1, memory_order_relaxed);"),
    ],
)
def test_an_order_is_written_where_it_belongs(
    tmp_path: Path, name: str, before: str, after: str
) -> None:
    line, change, annotations = weakened(tmp_path, name, before)
    assert line == after
    change.write()
    again, _ = annotate([read_program(tmp_path / name)])
    assert [each.kind for each in again] == [each.kind for each in annotations]
    left = {each.annotation.kind for each in change.by_hand}
    for each in again:
        assert (each.order == weaker(each.kind, each.order)[0]) is (each.kind not in left)


OPERATORS = [
    (
        "if (x == 1) y = 2;",
        "if (atomic_load_explicit(&x, O) == 1) atomic_store_explicit(&y, 2, O);",
        "if (x.load(O) == 1) y.store(2, O);",
    ),
    ("while (!s.m) ;", "while (!atomic_load_explicit(&s.m, O)) ;", "while (!s.m.load(O)) ;"),
    (
        "g = *p + cells[g];",
        "g = atomic_load_explicit(p, O) + atomic_load_explicit(&cells[g], O);",
        "g = (*p).load(O) + cells[g].load(O);",
    ),
    ("g = *q;", "g = *atomic_load_explicit(&q, O);", "g = *q.load(O);"),
    ("g = x++;", "g = atomic_fetch_add_explicit(&x, 1, O);", "g = x.fetch_add(1, O);"),
    ("++*p;", "atomic_fetch_add_explicit(p, 1, O);", "(*p).fetch_add(1, O);"),
    (
        "x = y++;",
        "atomic_store_explicit(&x, atomic_fetch_add_explicit(&y, 1, O), O);",
        "x.store(y.fetch_add(1, O), O);",
    ),
    (
        "s.m -= y;",
        "atomic_fetch_sub_explicit(&s.m, atomic_load_explicit(&y, O), O);",
        "s.m.fetch_sub(y.load(O), O);",
    ),
    (
        "for (; g < 1; x--) g++;",
        "for (; g < 1; atomic_fetch_sub_explicit(&x, 1, O)) g++;",
        "for (; g < 1; x.fetch_sub(1, O)) g++;",
    ),
]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        (name, before, after.replace("O)", f"{scope}memory_order_relaxed)"))
        for before, c, cpp in OPERATORS
        for name, after, scope in (("a.c", c, ""), ("a.cpp", cpp, "std::"))
    ],
)
def test_an_operator_becomes_a_call(tmp_path: Path, name: str, before: str, after: str) -> None:
    line, change, annotations = weakened(tmp_path, name, before)
    assert line == after
    assert change.by_hand == ()
    change.write()
    again, _ = annotate([read_program(tmp_path / name)])
    assert [(each.kind, each.order) for each in again] == [(e.kind, "rlx") for e in annotations]


@pytest.mark.parametrize(
    ("name", "body", "why"),
    [
        ("a.c", "STORE(x, 1);", "it is inside STORE, which line 4 defines"),
        ("a.c", "BOTH(x, y, memory_order_release);", "operations with different memory orders"),
        ("a.c", "g = X;", "it is inside X"),
        (
            "a.c",
            "two(&x, memory_order_release, memory_order_release);",
            "it is an argument of two that is one of several",
        ),
        ("a.c", "g = ++x;", "the value of ++ is used"),
        ("a.c", "q++;", "it has no memory order"),
        ("a.c", "x *= 2;", "it has no memory order and is no call"),
        ("a.cpp", "int e = x = 1; (void)e;", "the value of = is used"),
        ("a.cpp", "cells[g] = take();", "it is part of an expression that changes something else"),
        ("a.cpp", "cells[g++] = 1;", "part of an expression that changes something else"),
        (
            "a.c",
            "if (1)\n    atomic_thread_fence(memory_order_seq_cst);\n  else {}",
            "the fence does not stand on a line of its own",
        ),
        (
            "a.c",
            "while (!g++)\n    atomic_thread_fence(memory_order_seq_cst);",
            "the fence does not stand on a line of its own",
        ),
    ],
)
def test_a_change_that_cannot_be_written_safely_is_left_to_the_user(
    tmp_path: Path, name: str, body: str, why: str
) -> None:
    line, change, _ = weakened(tmp_path, name, body)
    assert line == body
    assert any(why in each.why for each in change.by_hand)


def test_a_fence_that_may_go_goes_with_its_line(tmp_path: Path) -> None:
    _, change, _ = weakened(tmp_path, "a.c", "x;\n  atomic_thread_fence(memory_order_seq_cst);\n")
    text = change.after[str(tmp_path / "a.c")].decode()
    assert "atomic_thread_fence" not in text
    assert "memory_order_release" in text


def test_a_macro_is_changed_where_it_is_defined_if_all_its_users_agree(tmp_path: Path) -> None:
    body = "atomic_store_explicit(&x, 1, ORDER); atomic_store_explicit(&y, 1, ORDER);"
    _, change, annotations = weakened(tmp_path, "a.c", body)
    text = change.after[str(tmp_path / "a.c")].decode()
    assert "#define ORDER memory_order_relaxed\n" in text
    assert body in text
    one_of_them = ("rlx", *(each.order for each in annotations[1:]))
    refused = rewrite(annotations, one_of_them)
    assert refused.after == {}
    assert "other accesses take their memory order from ORDER" in refused.by_hand[0].why


def test_a_patch_equals_the_change(tmp_path: Path) -> None:
    _, change, _ = weakened(tmp_path, "a.c", "atomic_store(&x, 2);")
    path = tmp_path / "a.c"
    patch = "".join(f"{line}\n" for line in change.diff())
    done = subprocess.run(
        ["patch", "-s", "-p0", str(path)], input=patch, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert path.read_bytes() == change.after[str(path)]


def test_if_one_file_cannot_be_written_all_are_left_as_they_were(tmp_path: Path) -> None:
    one, other = tmp_path / "a.c", tmp_path / "b.c"
    one.write_bytes(b"one")
    other.write_bytes(b"changed since")
    before = {str(one): b"one", str(other): b"other"}
    after = {str(one): b"new one", str(other): b"new other"}
    with pytest.raises(BadInput, match="has changed since"):
        Rewritten(before, after, ()).write()
    assert (one.read_bytes(), other.read_bytes()) == (b"one", b"changed since")


def test_a_file_that_is_written_keeps_its_mode(tmp_path: Path) -> None:
    _, change, _ = weakened(tmp_path, "a.c", "atomic_store(&x, 2);")
    path = tmp_path / "a.c"
    path.chmod(0o640)
    change.write()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["a.c"]


def test_a_file_that_has_changed_since_is_not_written(tmp_path: Path) -> None:
    _, change, _ = weakened(tmp_path, "a.c", "atomic_store(&x, 2);")
    path = tmp_path / "a.c"
    path.write_text("int main(void) { return 0; }\n")
    with pytest.raises(BadInput, match="has changed since"):
        change.write()
    assert path.read_text() == "int main(void) { return 0; }\n"


FENCED = [
    (
        "a.c",
        "rel fence; rlx",
        "g = 1;\n  atomic_store_explicit(&x, 2, memory_order_release);",
        "g = 1;\n  atomic_thread_fence(memory_order_release);\n"
        "  atomic_store_explicit(&x, 2, memory_order_relaxed);",
    ),
    (
        "a.c",
        "rlx; acq fence",
        "while (atomic_load_explicit(&x, memory_order_acquire) != 1) /* ; */\n    ;",
        "while (atomic_load_explicit(&x, memory_order_relaxed) != 1) /* ; */\n    ;\n"
        "  atomic_thread_fence(memory_order_acquire);",
    ),
    (
        "a.cpp",
        "rlx; acq fence",
        "if (!x.load(std::memory_order_acquire)) { return; }",
        "if (!x.load(std::memory_order_relaxed)) { return; }\n"
        "  std::atomic_thread_fence(std::memory_order_acquire);",
    ),
    (
        "a.cpp",
        "rlx; acq fence",
        "if (x.load(std::memory_order_acquire)) {\n    g = 1;\n  }",
        "if (x.load(std::memory_order_relaxed)) {\n"
        "    std::atomic_thread_fence(std::memory_order_acquire);\n    g = 1;\n  }",
    ),
    (
        "a.cpp",
        "sc fence; rlx; acq fence",
        "{ auto was = x.exchange(1, std::memory_order_seq_cst); (void)was; }",
        "{ std::atomic_thread_fence(std::memory_order_seq_cst); "
        "auto was = x.exchange(1, std::memory_order_relaxed); "
        "std::atomic_thread_fence(std::memory_order_acquire); (void)was; }",
    ),
    (
        "a.c",
        "rel fence; rlx",
        "switch (0) {\n  case 0:\n    atomic_store_explicit(&x, 2, memory_order_release);\n  }",
        "switch (0) {\n  case 0:\n    atomic_thread_fence(memory_order_release);\n"
        "    atomic_store_explicit(&x, 2, memory_order_relaxed);\n  }",
    ),
    (
        "a.c",
        "rlx; acq fence",
        "if (g)\n    (void)atomic_exchange_explicit(&x, 2, memory_order_acquire);\n"
        "  else\n    g = 1;",
        "if (g)\n    (void)atomic_exchange_explicit(&x, 2, memory_order_relaxed);\n"
        "  else\n    g = 1;\n  atomic_thread_fence(memory_order_acquire);",
    ),
    (
        "a.c",
        "sc fence; rlx",
        "for (int i = 0; i < 2; i++)\n    atomic_store_explicit(&x, i, memory_order_release);",
        "for (int i = 0; i < 2; i++) {\n    atomic_thread_fence(memory_order_seq_cst);\n"
        "    atomic_store_explicit(&x, i, memory_order_relaxed);\n  }",
    ),
    (
        "a.cpp",
        "sc fence; rlx; acq fence",
        "if (g)\n    g = 1;\n  else\n    g = x.exchange(1, std::memory_order_seq_cst);",
        "if (g)\n    g = 1;\n  else {\n    std::atomic_thread_fence(std::memory_order_seq_cst);\n"
        "    g = x.exchange(1, std::memory_order_relaxed);\n"
        "    std::atomic_thread_fence(std::memory_order_acquire);\n  }",
    ),
    (
        "a.c",
        "rlx; acq fence",
        "if (atomic_load_explicit(&x, memory_order_acquire)) g = 1;",
        "if (atomic_load_explicit(&x, memory_order_relaxed)) { "
        "atomic_thread_fence(memory_order_acquire); g = 1; }",
    ),
]


@pytest.mark.parametrize(("name", "order", "before", "after"), FENCED)
def test_a_fence_is_put_beside_the_statement(
    tmp_path: Path, name: str, order: str, before: str, after: str
) -> None:
    new, change, annotations = given(tmp_path, name, before, lambda _: order)
    assert change.by_hand == ()
    assert new == after
    path = tmp_path / name
    path.write_bytes(change.after[str(path)])
    again, _ = annotate([read_program(path)])
    fences = [fence for fence in (split(order)[0], split(order)[2]) if fence != "none"]
    assert [each.order for each in again if each.kind == "F"] == fences
    assert len(again) == len(annotations) + len(fences)


@pytest.mark.parametrize(
    ("order", "body", "why"),
    [
        (
            "rlx; acq fence",
            "return atomic_load(&x) ? 0 : unused;",
            "control leaves at its statement",
        ),
        (
            "rlx; acq fence",
            "if (atomic_load(&x)) { g = 1; } else { g = 2; }",
            "decides between two branches",
        ),
        (
            "rel fence; rlx",
            "for (int i = 0; i < 2; atomic_store(&x, i++)) ;",
            "part of a longer statement",
        ),
    ],
)
def test_a_fence_without_a_clear_place_is_left_to_the_user(
    tmp_path: Path, order: str, body: str, why: str
) -> None:
    _, change, _ = given(tmp_path, "a.c", body, lambda _: order)
    (left,) = change.by_hand
    assert why in left.why
    assert left.left == left.annotation.order
    assert change.after == {}


def test_an_order_behind_a_macro_is_replaced_where_it_is_used_if_so_wanted(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    uses = [f"atomic_store_explicit(&{place}, 1, ORDER);" for place in "xy"]
    path.write_text(C.replace("BODY", " ".join(uses)))
    annotations, _ = annotate([read_program(path)])
    first = annotations[0]
    assert rewrite([first], ("sc",)).after[str(path)].count(b"ORDER memory_order_seq_cst") == 1
    change = rewrite([first], ("sc",), through_macros=True)
    assert not change.by_hand
    new = change.after[str(path)].decode()
    assert "atomic_store_explicit(&x, 1, memory_order_seq_cst); " + uses[1] in new
    assert "#define ORDER memory_order_release" in new


# --- marks --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "body", "lines"),
    [
        ("it.c", "atomic_store_explicit(&x, 1, ORDER);", ["(&x, 1, (M0, memory_order_release));"]),
        ("it.cpp", "x = 1;", ["x.store(1, (M0, std::memory_order_seq_cst));"]),
        (
            "it.c",
            "int r = 0; atomic_compare_exchange_strong(&x, &r, 1);",
            ["_explicit(&x, &r, 1, (M0, memory_order_seq_cst), memory_order_seq_cst);"],
        ),
        ("it.cpp", "x.store(1);", ["x.store(1, (M0, std::memory_order_seq_cst));"]),
        (
            "it.cpp",
            "std::atomic_thread_fence(std::memory_order_acquire); y.load();",
            ["(M0, std::memory_order_acquire)", "(M1, std::memory_order_seq_cst)"],
        ),
        ("it.c", "STORE(x, 1);", ["*/ STORE(x, 1);"]),
    ],
)
def test_a_mark_is_evaluated_with_the_order(
    tmp_path: Path, name: str, body: str, lines: list[str]
) -> None:
    path = tmp_path / name
    path.write_text((CPP if name.endswith("pp") else C).replace("BODY", body), encoding="latin-1")
    annotations, _ = annotate([read_program(path)])
    files, numbers = marked(annotations, lambda number: f"M{number}")
    text = files.get(str(path), path.read_bytes())
    assert [line for line in lines if line in text.decode("latin-1")] == lines
    assert len(numbers) == sum(bool(re.search(r"M\d", line)) for line in lines)
