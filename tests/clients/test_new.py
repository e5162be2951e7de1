"""`weakspot new` writes the operations of an object and says whether it is linearizable."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from headers import QUEUE, RING, RING_C

from weakspot.errors import BadInput
from weakspot.harness.cli import weakspot
from weakspot.harness.clients import project

PUSH = "  bool push(const T &value) { return try_push(value); }\n"
CPP = QUEUE.replace("Queue", "Ring").replace("  std::optional", f"{PUSH}  std::optional")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "include").mkdir()
    return tmp_path


def test_a_class_template(here: Path) -> None:
    Path("include/ring.hpp").write_text(CPP)
    made = project.start("queue", Path("include/ring.hpp"), Path())
    assert made.functions == ("try_push", "try_pop")
    assert made.path == Path("tests/weakspot/operations/ring.cpp")
    text = made.path.read_text()
    assert "static lib::Ring<int, 16> object;" in text
    assert "bool enqueue(long value)" in text
    assert "bool dequeue(int &found)" in text
    assert [each.name for each in made.path.parent.iterdir()] == ["ring.cpp"]
    with pytest.raises(BadInput, match="exists already"):
        project.start("queue", Path("include/ring.hpp"), Path())
    assert here.is_dir()


@pytest.mark.usefixtures("here")
def test_functions_in_c_with_their_source() -> None:
    Path("include/ring.h").write_text(RING)
    Path("include/ring.c").write_text(RING_C)
    made = project.start("queue", Path("include/ring.h"), Path())
    text = made.path.read_text()
    assert "void weakspot_setup(void) { ring_init(&object, 16); }" in text
    assert "bool dequeue(int *found)" in text
    assert "return ring_pop(&object, found);" in text


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("map", CPP, "include/ring.hpp does not declare the operations of kind map"),
        ("queue", "#pragma once\nint put(int);\n", "does not declare the operations of kind queue"),
        ("heap", CPP, "unknown kind of object 'heap'"),
        ("spec.h", CPP, "spec.h is not a kind of object"),
    ],
)
def test_what_cannot_be_guessed_is_an_error_with_advice(kind: str, text: str, message: str) -> None:
    Path("include/ring.hpp").write_text(text)
    with pytest.raises(BadInput, match=message) as error:
        project.start(kind, Path("include/ring.hpp"), Path())
    assert error.value.advice


ONCE = """\
#pragma once
#include <atomic>
#include <mutex>
class Once {
  std::atomic<bool> done{false};
  std::mutex lock;
public:
  template <class F> void call(F &&function) {
    if (done.load(std::memory_order_acquire)) return;
    std::lock_guard<std::mutex> held(lock);
    if (done.load(std::memory_order_relaxed)) return;
    function();
    done.store(true, std::memory_order_release);
  }
};
"""


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("parameter", "template"),
    [
        ("F &&function", "template <class F> "),
        ("const F &function, Rest &&...", "template <typename F, typename... Rest> "),
        ("const std::function<void()> &function", ""),
        ("void (*function)()", ""),
    ],
)
def test_a_function_that_runs_once_is_given_in_any_form(parameter: str, template: str) -> None:
    text = ONCE.replace("template <class F> ", template).replace("F &&function", parameter)
    Path("include/once.hpp").write_text(text.replace("<mutex>", "<mutex>\n#include <functional>"))
    made = project.start("once", Path("include/once.hpp"), Path())
    assert made.functions == ("call",)
    assert "object.call(function);" in made.path.read_text()


SPIN = """\
#ifndef SPIN_H
#define SPIN_H
#include <stdatomic.h>
typedef struct { atomic_flag taken; } spin_t;
static inline void spin_acquire(spin_t *own) {
  while (atomic_flag_test_and_set_explicit(&own->taken, memory_order_acquire));
}
static inline void spin_release(spin_t *own) {
  atomic_flag_clear_explicit(&own->taken, memory_order_release);
}
#endif
"""


@pytest.mark.usefixtures("here")
def test_the_advice_after_a_lock_names_no_option_of_containers() -> None:
    Path("include/spin.h").write_text(SPIN)
    done = CliRunner().invoke(weakspot, ["new", "lock", "include/spin.h", "--calls", "2"])
    assert done.exit_code == 0
    assert "which calls spin_acquire, spin_release" in done.output
    assert "--as lock -I include\n  with more --calls or --threads" in done.output


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("before", [None, b"// written by hand\r\n"])
def test_a_run_that_fails_leaves_the_file_as_it_was(
    before: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_args: object, **_options: object) -> int:
        raise BadInput("the disk of the cache is full")

    monkeypatch.setattr("weakspot.harness.cli.new.check_clients", fails)
    Path("include/spin.h").write_text(SPIN)
    path = Path("tests/weakspot/operations/spin.c")
    if before is not None:
        path.parent.mkdir(parents=True)
        path.write_bytes(before)
    done = CliRunner().invoke(weakspot, ["new", "lock", "include/spin.h", "--force"])
    assert done.exit_code != 0
    assert f"wrote {path}" in done.output
    assert (path.read_bytes() if path.exists() else None) == before
    assert [each.name for each in path.parent.iterdir()] == ([path.name] if before else [])
