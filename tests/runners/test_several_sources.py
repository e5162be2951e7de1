"""A program of several source files runs as a whole, is costed and is relaxed as one program: a
driver, and the library that it calls."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from weakspot import projects
from weakspot.generators.source.build import Build
from weakspot.generators.source.program import read_program
from weakspot.harness.machines import Machine
from weakspot.harness.runners import whole_programs
from weakspot.harness.values.program_run import ProgramRun

FIRST = """\
#include <stdatomic.h>
#include "lib.h"
static int calls;  /* of one file: the other has one of its own */
static atomic_int flag;
int put(int value) {
  atomic_fetch_add_explicit(&flag, value, memory_order_release);
  return ++calls;
}
int get(void) { return atomic_load_explicit(&flag, memory_order_acquire); }
"""

HEADER = """\
#ifdef __cplusplus
extern "C" {
#endif
int put(int);
int get(void);
#ifdef __cplusplus
}
#endif
"""

DRIVER = """\
#include <assert.h>
#include <pthread.h>
#include "lib/lib.h"
static int calls = 5;
static void *one(void *p) { int times = put(1); CHECK; return p; }
static void *two(void *p) { int seen = get(); assert(seen == 0 || seen == 1); return p; }
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, one, 0);
  pthread_create(&b, 0, two, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(get() == 1);
  assert(calls++ == 5);
  return 0;
}
"""

Written = Callable[..., tuple[Path, Path]]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Writes a driver, and a library in a folder of its own."""

    def write(check: str = "assert(times == 1)", suffix: str = ".c") -> tuple[Path, Path]:
        folder = tmp_path / "lib"
        folder.mkdir()
        (folder / "lib.h").write_text(HEADER)
        (folder / "lib.c").write_text(FIRST)
        driver = (tmp_path / "driver").with_suffix(suffix)
        driver.write_text(DRIVER.replace("CHECK", check))
        return driver, folder / "lib.c"

    return write


def ran(driver: Path, library: Path, machine: Machine) -> ProgramRun:
    runs: list[ProgramRun] = []
    program = read_program(driver, build=Build(sources=(library,)), base=driver.parent)
    whole_programs.run([("it", program)], machine, seconds=0.3, done=runs.append)
    return runs[0]


@pytest.mark.parametrize("suffix", [".c", ".cpp"])
def test_a_program_of_two_sources_runs(here: Machine, written: Written, suffix: str) -> None:
    run = ran(*written(suffix=suffix), here)
    assert run.instances > 0, run
    assert not run.failures, run


def test_the_variables_of_each_source_are_reset_and_reported(
    here: Machine, written: Written
) -> None:
    run = ran(*written("assert(times == 2)"), here)
    (failure,) = run.failures
    assert failure.count == run.instances > 0
    assert (failure.site, failure.message) == ("driver.c:5", "times == 2")


def test_an_assertion_of_the_library_is_reported_where_it_is(
    here: Machine, written: Written
) -> None:
    driver, library = written()
    text = library.read_text().replace("return ++calls;", "assert(++calls == 2); return calls;")
    library.write_text(f"#include <assert.h>\n{text}")
    (failure,) = ran(driver, library, here).failures
    assert failure.site == "lib/lib.c:8"
    assert not failure.values, "both sources have a variable `calls`"


@pytest.mark.alone
def test_the_orders_of_a_library_are_costed_and_relaxed(written: Written) -> None:
    what = list(map(str, written()))
    (costs,) = projects.cost(what, seconds=0.5)
    library = [each for each in costs.sites if each.annotation.file.endswith("lib.c")]
    assert {each.annotation.line for each in library} == {6, 9}
    assert all(not order.why for each in library for order in each.orders)
    (relaxed,) = projects.relax(what, models=("rc11",))
    assert {each.file.rpartition("/")[2] for each in relaxed.annotations} == {"lib.c"}
