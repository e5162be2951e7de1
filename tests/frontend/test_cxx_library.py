"""What people use of the C++ library is read from the library's own headers and sources: a driver
of each with two threads, what exploring it finds, and what a mistake in it leads to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from source_answers import explored

from weakspot.errors import Unsupported
from weakspot.generators.source.program import read_program
from weakspot.harness.checkers.explorer import asked
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds

if TYPE_CHECKING:
    pass

PROGRAMS = Path(__file__).parent / "programs"
MODEL = models.resolve("rc20")

MISTAKES = {
    "streams": ("release", "relaxed", "race"),
    "stdatomic": ("memory_order_release", "memory_order_relaxed", "race"),
    "memory_resource": ("    std::lock_guard guard(m);\n", "", "race"),
    "shared_mutex": ("std::unique_lock lock", "std::shared_lock lock", "race"),
    "promise": (
        "    data = 1;\n    promise.set_value(42);",
        "    promise.set_value(42);\n    data = 1;",
        "race",
    ),
    "packaged_task": ("future.get() == 42 && data == 1", "data < 2", "race"),
    "async": ("assert(future.get() == 42);\n", "", "race"),
    "semaphore": ("items(0)", "items(1)", "race"),
    "latch": ("both(2)", "both(1)", "race"),
    "barrier": ("both(2)", "both(1)", "race"),
    "condition_variable_any": ("data = 1;\n    {", "{", "assertion"),
    "stop_token": ("  worker.request_stop();\n", "  worker.request_stop();\n  data = 2;\n", "race"),
    "thread_local": ("destroyed == 2", "destroyed == 1", "assertion"),
    "unordered_map": ("    std::lock_guard guard(m);\n    map[1]", "    map[1]", "race"),
    "recursive_mutex": ("    m.lock();\n", "", "lock"),
    "string": ("release", "relaxed", "race"),
    "exception": ("throw Refused()", "throw 1", "assertion"),
    "system_error": ("operation_not_permitted", "invalid_argument", "assertion"),
    "unwinding": ("throw Both()", "throw Base()", "assertion"),
    "stored_exception": ('runtime_error("late")', 'runtime_error("early")', "assertion"),
    "atomic_shared_ptr": ("*seen == 42", "*seen == 41", "assertion"),
    "shared_ptr": ("destroyed == 1", "destroyed == 2", "assertion"),
    "double_word": ("last.tag == 2", "last.tag == 1", "assertion"),
    "int128": ("sum.fetch_add(1)", "sum.store(1)", "assertion"),
    "clock": ("release", "relaxed", "race"),
    "atomic_float": ("memory_order_release", "memory_order_relaxed", "race"),
    "call_once": ("    std::call_once(once, [] { ++made; });\n", "    ++made;\n", "race"),
    "unwound_calls": ("destroyed == 4", "destroyed == 3", "assertion"),
    "constructors": ("~Local() { count--; }", "~Local() {}", "assertion"),
    "vectors": (
        "  other.join();\n  Ints seen = shared;\n",
        "  Ints seen = shared;\n  other.join();\n",
        "race",
    ),
    "bit_field": ("  header->size = 100;\n", "", "uninitialised"),
}
"""In each driver of `programs`: a text, the mistake in its place, and the kind of violation."""


def changed(name: str, old: str, new: str, folder: Path) -> Path:
    text = (PROGRAMS / f"{name}.cpp").read_text()
    assert old in text
    path = folder / f"{name}.cpp"
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_a_driver_is_safe_and_explored_to_its_end(name: str) -> None:
    found = explored(PROGRAMS / f"{name}.cpp")
    assert (found["result"], found["reasons"]) == ("Safe", [])


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_a_mistake_in_a_driver_is_found(name: str, tmp_path: Path) -> None:
    old, new, kind = MISTAKES[name]
    found = explored(changed(name, old, new, tmp_path))
    assert kind in {each["kind"] for each in found["violations"]}


def test_every_driver_has_a_mistake() -> None:
    assert {path.stem for path in PROGRAMS.iterdir()} == set(MISTAKES)


def test_an_exception_that_is_thrown_in_the_library_is_placed_at_the_users_line(
    tmp_path: Path,
) -> None:
    path = tmp_path / "program.cpp"
    path.write_text(
        "#include <exception>\n#include <vector>\nint main() {\n  std::vector<int> v(1);\n"
        "  try {\n    v.at(0);\n  } catch (char) {\n  }\n  return v.at(1);\n}\n"
    )
    program = read_program(path)
    (violation,) = asked(program, MODEL, Bounds())["violations"]
    assert violation["message"] == "uncaught exception"
    assert violation["site"] is not None
    assert program.sites[violation["site"]].line == 9


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("shared.load(std::memory_order_relaxed);", "weaker than acquire"),
        ("std::ostringstream stream; stream << 1;", "the class std::basic_ostringstream"),
        (
            "try { throw (char*)nullptr; } catch (const char*) {}",
            "whether this exception is caught",
        ),
    ],
)
def test_what_is_not_modelled_is_refused_where_it_runs_and_only_there(
    tmp_path: Path, statement: str, message: str
) -> None:
    path = tmp_path / "program.cpp"
    head = "#include <atomic>\n#include <memory>\n#include <sstream>\n"
    text = f"{head}std::atomic<std::shared_ptr<int>> shared;\nint main(int n, char**) {{\n  "
    path.write_text(f"{text}if (n > 5) {{ {statement} }}\n}}\n")
    assert explored(path)["result"] == "Safe"
    path.write_text(f"{text}{statement}\n}}\n")
    with pytest.raises(Unsupported, match=message) as refused:
        explored(path)
    assert (refused.value.place or "").startswith(f"{path}:6:")
