"""Several locks at once, and waits that end after some time: every execution is explored."""

from __future__ import annotations

from pathlib import Path

import pytest
from source_answers import kinds


def violated(folder: Path, body: str) -> str:
    """The kinds of violations of a program with two threads."""
    text = (
        "#include <cassert>\n#include <chrono>\n#include <condition_variable>\n#include <mutex>\n"
        "#include <thread>\nusing namespace std::chrono_literals;\n"
        "std::mutex a, b, c;\nstd::condition_variable filled;\nint x;\nbool ready;\n"
        f"int main() {{\n{body}\n}}\n"
    )
    return kinds(folder / "program.cpp", text, "rc11")


def beside(other: str, main: str) -> str:
    return f"  std::thread t([] {{ {other} }});\n  {main}\n  t.join();\n"


@pytest.mark.parametrize(
    ("other", "main"),
    [
        ("std::scoped_lock all(a, b); ++x;", "{ std::scoped_lock all(b, a); ++x; }"),
        ("std::scoped_lock all(a, b, c); ++x;", "{ std::scoped_lock all(c, a); ++x; }"),
        ("std::scoped_lock all(a, b); ++x;", "b.lock(); a.lock(); ++x; a.unlock(); b.unlock();"),
        (
            "std::unique_lock l(a, std::defer_lock), r(b, std::defer_lock); std::lock(l, r); ++x;",
            "{ std::lock(b, a); ++x; b.unlock(); a.unlock(); }",
        ),
    ],
)
def test_locks_that_are_taken_together_exclude_and_do_not_deadlock(
    tmp_path: Path, other: str, main: str
) -> None:
    assert violated(tmp_path, beside(other, main) + "  assert(x == 2);") == "Safe"


def test_a_lock_that_is_never_given_back_blocks_those_taken_with_it(tmp_path: Path) -> None:
    """Where main takes it last, it is destroyed while it is locked, at the end of the process."""
    body = beside("std::scoped_lock all(a, b); ++x;", "b.lock();")
    assert violated(tmp_path, body) == "hang, lock"


def test_locks_that_are_others_do_not_exclude(tmp_path: Path) -> None:
    body = beside("std::scoped_lock all(a, b); ++x;", "{ std::scoped_lock one(c); ++x; }")
    assert violated(tmp_path, body) == "race"


FILL = "{ std::lock_guard guard(a); x = 1; ready = true; } filled.notify_one();"


@pytest.mark.parametrize(
    ("wait", "found"),
    [
        ("if (filled.wait_for(lock, 5ms, [] { return ready; })) assert(x == 1);", "Safe"),
        ("assert(filled.wait_for(lock, 5ms, [] { return ready; }));", "assertion"),
        ("while (!ready) filled.wait_for(lock, 5ms); assert(x == 1);", "Safe"),
        (
            "auto late = std::chrono::steady_clock::time_point{}; "
            "if (filled.wait_until(lock, late, [] { return ready; })) assert(x == 1);",
            "Safe",
        ),
    ],
)
def test_a_wait_for_some_time_may_end_at_any_time(tmp_path: Path, wait: str, found: str) -> None:
    assert violated(tmp_path, beside(FILL, f"{{ std::unique_lock lock(a); {wait} }}")) == found


def test_a_wait_for_some_time_hangs_where_what_it_waits_for_never_comes(tmp_path: Path) -> None:
    body = beside("", "{ std::unique_lock lock(a); while (!ready) filled.wait_for(lock, 5ms); }")
    assert violated(tmp_path, body) == "hang"


def test_a_wait_for_some_time_is_late_or_wakes_for_no_reason(tmp_path: Path) -> None:
    late = "auto late = filled.wait_for(lock, 5ms) == std::cv_status::timeout;"
    for claim in ("late", "!late"):
        body = beside(FILL, f"{{ std::unique_lock lock(a); {late} assert({claim}); }}")
        assert violated(tmp_path, body) == "assertion"
