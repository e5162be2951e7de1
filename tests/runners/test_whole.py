"""Programs as a whole: what fails on the machine is counted, each instance is a fresh one, and what
cannot be run so is reported."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from weakspot.generators.emit.whole import Frame, frame, named
from weakspot.generators.source.build import Build
from weakspot.generators.source.program import read_program
from weakspot.harness.corpus import structures
from weakspot.harness.machines import Machine
from weakspot.harness.runners import whole_programs
from weakspot.harness.runners.tuning import WHOLE
from weakspot.harness.values.histogram import Count
from weakspot.harness.values.program_run import ProgramRun
from weakspot.system import tools
from weakspot.system.processors import cores
from weakspot.system.tools import find

tso = pytest.mark.skipif(
    platform.machine() != "x86_64" or cores() < 2, reason="needs two x86-64 processors"
)


def ran(
    source: Path, machine: Machine, seconds: float = 0.3, defines: tuple[str, ...] = ()
) -> ProgramRun:
    runs: list[ProgramRun] = []
    program = read_program(source, build=Build(defines=defines))
    whole_programs.run([("it", program)], machine, seconds=seconds, done=runs.append)
    assert [each.program for each in runs] == ["it"]
    return runs[0]


def scenario(name: str, machine: Machine, seconds: float = 0.3) -> ProgramRun:
    found = [
        (structure.path(each), each.defines)
        for structure in structures.structures()
        for each in structure.scenarios
        if each.name == name
    ]
    (source, defines) = found[0]
    return ran(source, machine, seconds, defines)


def until(enough: Callable[[ProgramRun], int], name: str, machine: Machine) -> ProgramRun:
    """Run a scenario until it is enough: on a busy machine the threads may not meet for a while."""
    for _ in range(20):
        run = scenario(name, machine, 0.5)
        if enough(run) or run.ended_early:
            break
    return run


Written = Callable[..., ProgramRun]


@pytest.fixture
def written(here: Machine, tmp_path: Path) -> Written:
    """Runs a program of two threads, `one` and `two`, each with a body; main starts both, joins
    them, and then does the rest."""

    def run(
        one: str, two: str = "", after: str = "", top: str = "", seconds: float = 0.3
    ) -> ProgramRun:
        source = tmp_path / "it.c"
        source.write_text(
            "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n"
            f"#include <stdlib.h>\n{top}\n"
            f"static void *one(void *given) {{ {one} return given; }}\n"
            f"static void *two(void *given) {{ {two} return given; }}\n"
            "int main(void) {\n  pthread_t a, b;\n"
            "  pthread_create(&a, NULL, one, NULL);\n  pthread_create(&b, NULL, two, NULL);\n"
            f"  pthread_join(a, NULL);\n  pthread_join(b, NULL);\n  {after}\n  return 0;\n}}\n"
        )
        return ran(source, here, seconds)

    return run


# --- what the corpus says -----------------------------------------------------------------------


@pytest.mark.alone
@tso
@pytest.mark.parametrize("name", ["pop_vs_steal_pop_store", "pop_vs_steal_steal_store"])
def test_a_queue_without_its_fence_loses_or_doubles_an_element(here: Machine, name: str) -> None:
    run = until(lambda run: run.failed, name, here)
    (failure,) = run.failures
    assert (failure.kind, failure.site) == ("assertion", "pop_vs_steal.c:30")
    assert failure.message == "popped + stolen == 1"
    assert 0 < failure.count <= run.instances
    assert sum(each.count for each in failure.values) == failure.count
    both = {"popped": "1", "stolen": "1"}
    assert all(each.state == both for each in failure.values), failure.values


@pytest.mark.alone
@tso
@pytest.mark.parametrize(
    "name", ["pop_vs_steal", "two_pops_vs_steal", "remove_vs_steal", "local_item_fences", "waiters"]
)
def test_a_correct_program_does_not_fail_nor_hang(here: Machine, name: str) -> None:
    run = until(lambda run: run.overlapped, name, here)
    assert run.instances > 0, run
    assert run.overlapped > 0, run
    assert not run.failures, run
    assert not run.ended_early, run


@pytest.mark.alone
@tso
def test_a_lost_wake_up_is_a_hang_and_ends_the_run(here: Machine) -> None:
    run = scenario("single_no_flags", here, 5.0)
    (failure,) = run.failures
    assert (failure.kind, failure.count) == ("hang", 1)
    assert failure.message == "waiter does not end within 2 s"
    assert run.instances > 0
    assert run.ended_early == "an instance hangs"


# --- instances ----------------------------------------------------------------------------------


def test_each_instance_begins_with_fresh_variables_and_memory(written: Written) -> None:
    top = (
        "static int zero, one_ = 1, *own = &one_, many[5000];\n"
        "static atomic_int sum;\nstatic int *volatile sink;\n"
        "static int called(void) { static int times = 7; return ++times; }\n"
    )
    both = "atomic_fetch_add(&sum, 1); sink = malloc(400000); *sink = 1;"
    after = (
        "assert(++zero == 1); assert(++one_ == 2); assert(own == &one_); assert(sum == 2);"
        "assert(called() == 8); assert(++many[4999] == 1);"
        "int *c = calloc(1000, 4); for (int i = 0; i < 1000; i++) assert(c[i]++ == 0);"
        "c = realloc(c, 8000); assert(c[999] == 1);"
    )
    run = written(both, both, after, top)
    assert not run.failures, run
    assert run.instances > int(run.parameters["slices"]), "several in one process"
    assert run.reason == run.ended_early == ""


def test_each_thread_of_each_instance_has_its_own_variables(written: Written) -> None:
    top = "static _Thread_local int zero, seven = 7;\nstatic int __attribute__((noinline)) "
    top += "raise(void) { return ++zero + ++seven; }\n"
    both = "assert(raise() == 9);"
    run = written(both, both, "assert(raise() == 9); assert(raise() == 11);", top)
    assert not run.failures, run
    assert run.instances > int(run.parameters["slices"])
    joined = written("zero = 5;", "", "assert(zero == 0);", "static _Thread_local int zero;\n")
    assert not joined.failures, joined


def test_constructors_run_in_each_instance(written: Written) -> None:
    top = "static int n;\nstatic void __attribute__((constructor)) first(void) { n += 4; }\n"
    run = written("", "", "assert(++n == 5);", top)
    assert not run.failures, run
    assert run.instances > int(run.parameters["slices"])
    ordered = written("", "", "", top.replace("constructor", "constructor(200)"))
    assert ordered.reason == "it has constructors with a priority, which are not run again in order"


@pytest.mark.parametrize("end", ["return 0;", "exit(0);"])
def test_exit_handlers_run_in_each_instance(here: Machine, tmp_path: Path, end: str) -> None:
    source = tmp_path / "exits.c"
    source.write_text(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n#include <stdlib.h>\n"
        "static atomic_int stop;\nstatic pthread_t thread;\nstatic int ended;\n"
        "static void *run(void *given) { while (!stop) { } return given; }\n"
        "static void last(void) { assert(ended == 1); assert(0); }\n"
        "static void first(void) { stop = 1; pthread_join(thread, NULL); ended++; }\n"
        "int main(void) {\n  atexit(last);\n  atexit(first);\n"
        f"  pthread_create(&thread, NULL, run, NULL);\n  {end}\n}}\n"
    )
    run = ran(source, here)
    assert run.failed == run.instances > 0
    assert {each.message for each in run.failures} == {"0"}, run


def test_a_failure_ends_its_instance_and_no_other(written: Written) -> None:
    """The second assertion of an instance would not be reached in a program of its own."""
    top = "static int round;\n"
    run = written("round = 3; assert(round == 4); round = 5;", "", "assert(round == 9);", top)
    (failure,) = run.failures
    assert (failure.function, failure.site) == ("one", "it.c:7")
    assert failure.count == run.instances
    assert failure.values == (Count({"round": "3"}, failure.count),)


def test_a_failure_that_leaves_a_lock_costs_only_its_slice(written: Written) -> None:
    top = "static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\nstatic int n;\n"
    take = "pthread_mutex_lock(&lock); n++; assert(n == 0); pthread_mutex_unlock(&lock);"
    run = written(take, take, top=top, seconds=1.0)
    assert run.failed >= 2, "one a slice"
    assert {each.kind for each in run.failures} == {"assertion"}
    assert run.failed == run.instances


def test_results_and_handles_of_threads_are_as_in_any_program(written: Written) -> None:
    top = "#include <stdint.h>\n#include <threads.h>\nstatic pthread_t me;\n" + (
        "static int third(void *given) { thrd_exit(*(int *)given + 1); return 0; }\n"
    )
    run = written(
        "me = pthread_self(); pthread_exit((void *)7);",
        after="assert(pthread_equal(me, a)); assert(!pthread_equal(me, pthread_self()));"
        "void *got; pthread_create(&a, NULL, one, NULL); pthread_join(a, &got);"
        "assert((intptr_t)got == 7);"
        "thrd_t t; int given = 4, found; thrd_create(&t, third, &given); thrd_join(t, &found);"
        "assert(found == 5);",
        top=top,
    )
    assert not run.failures, run
    assert run.instances > 0


def test_main_may_wait_for_a_thread_before_it_creates_the_next(
    here: Machine, tmp_path: Path
) -> None:
    source = tmp_path / "turns.c"
    source.write_text(
        "#include <assert.h>\n#include <pthread.h>\n#include <stdatomic.h>\n"
        "static atomic_int turn;\n"
        "static void *go(void *given) { atomic_fetch_add(&turn, 1); return given; }\n"
        "int main(void) {\n  pthread_t a, b;\n  pthread_create(&a, NULL, go, NULL);\n"
        "  while (atomic_load(&turn) != 1) {\n  }\n  pthread_create(&b, NULL, go, NULL);\n"
        "  while (atomic_load(&turn) != 2) {\n  }\n"
        "  pthread_join(a, NULL);\n  pthread_join(b, NULL);\n  assert(turn == 2);\n}\n"
    )
    run = ran(source, here, 0.5)
    assert run.instances > 0
    assert not run.failures
    assert not run.ended_early


def test_a_crash_is_reported_and_earlier_counts_remain(written: Written) -> None:
    run = written("*(volatile int *)given = 1;")
    (failure,) = run.failures
    assert (failure.kind, failure.message) == ("crash", "SIGSEGV")
    assert failure.count == run.instances >= 1


# --- what is not believed, and what is not done -------------------------------------------------


def planted(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault in what programs are linked with."""

    def faulty() -> Frame:
        real = frame()
        assert any(old in text for text, _ in real.after)
        after = tuple((text.replace(old, new), suffix) for text, suffix in real.after)
        return msgspec.structs.replace(real, after=after)

    monkeypatch.setattr(whole_programs, "frame", faulty)


def test_counts_that_do_not_add_up_are_not_believed(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted("  failed++;", "  failed += 2;", monkeypatch)
    run = written("assert(0);")
    assert "do not add up" in run.reason
    assert not run.instances
    assert not run.failures


def test_variables_that_are_not_set_back_are_noticed(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of fresh variables can fail."""
    planted("memcpy(weakspot_zero_begin, saved + plain, zero);\n    atomic", "atomic", monkeypatch)
    run = written("", "", "assert(++n == 1);", "static int n;\n")
    assert run.failed == run.instances - int(run.parameters["slices"])


def test_a_program_that_is_too_large_is_not_run_in_part(written: Written) -> None:
    run = written("sink = malloc(2000000); *sink = 1;", top="static int *volatile sink;\n")
    assert run.reason.endswith("the program takes more than one MiB of memory per thread")
    more = "pthread_t t[17]; for (int i = 0; i < 17; i++) pthread_create(&t[i], 0, none, 0);"
    run = written(more, top="static void *none(void *given) { return given; }\n")
    assert run.reason.endswith("the program starts more than 16 threads")
    assert not run.instances


def test_a_program_that_the_compiler_rejects_is_explained(here: Machine, tmp_path: Path) -> None:
    source = tmp_path / "it.c"
    source.write_text(
        "#ifndef __clang__\n#error only clang\n#endif\nint main(void) { return 0; }\n"
    )
    assert ran(source, here).reason == "gcc does not compile it: it.c:2:2: #error only clang"


def test_what_the_linker_does_not_find_is_named(here: Machine, tmp_path: Path) -> None:
    """A function that weakspot knows without a definition, such as those of other checkers."""
    source = tmp_path / "it.c"
    source.write_text(
        "_Bool __VERIFIER_nondet_bool(void);\nint main(void) { return __VERIFIER_nondet_bool(); }\n"
    )
    reason = ran(source, here).reason
    assert reason.startswith("gcc does not link it: __VERIFIER_nondet_bool is not defined: ")


def test_asymmetric_fences_run_as_they_are_meant(here: Machine, tmp_path: Path) -> None:
    """Light in one thread and heavy in the other: never do both read 0."""
    source = tmp_path / "it.c"
    source.write_text(ASYMMETRIC)
    run = ran(source, here)
    assert (run.instances > 0, run.failed, run.reason) == (True, 0, "")


def test_assertions_stay_where_a_compiler_would_leave_them_out(
    here: Machine, tmp_path: Path
) -> None:
    """As zig does where it optimizes; a user who says so is heard."""
    source = tmp_path / "it.c"
    source.write_text("#include <assert.h>\nint main(void) { assert(0); return 0; }\n")
    without = msgspec.structs.replace(here, flags=("-O2", "-DNDEBUG"))
    run = ran(source, without, 0.1)
    assert run.failed == run.instances > 0
    assert ran(source, here, 0.1, ("NDEBUG",)).failed == 0


ASYMMETRIC = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
void asymmetric_thread_fence_light(memory_order);
void asymmetric_thread_fence_heavy(memory_order);
static atomic_int x, y;
static int r;
static void *reader(void *none) {
  atomic_store_explicit(&x, 1, memory_order_relaxed);
  asymmetric_thread_fence_light(memory_order_seq_cst);
  r = atomic_load_explicit(&y, memory_order_relaxed);
  return none;
}
int main(void) {
  pthread_t t;
  pthread_create(&t, 0, reader, 0);
  atomic_store_explicit(&y, 1, memory_order_relaxed);
  asymmetric_thread_fence_heavy(memory_order_seq_cst);
  int other = atomic_load_explicit(&x, memory_order_relaxed);
  pthread_join(t, 0);
  assert(r || other);
}
"""


@pytest.mark.full
def test_without_gcc_zig_makes_the_same_program(
    written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asserts, and its variables are set back."""
    monkeypatch.setattr(tools, "find", lambda what: (what.name == "ziglang" and find(what)) or None)
    top = "static int n, m = 3;\nstatic _Thread_local int own;\n"
    run = written("assert(++own == 1);", "", "assert(++n == 1); assert(++m == 4);", top)
    assert not run.failures, run
    assert run.instances > int(run.parameters["slices"])
    assert run.parameters["compiler"].startswith("zig")
    wrong = written("assert(++own == 1);", "", "assert(++n == 2); assert(++m == 4);", top)
    assert wrong.failed == wrong.instances > 0


def test_names_are_those_of_the_source() -> None:
    text = "\t.local\tn\n\t.comm\tn,4,4\n\t.type\tn, @object\n\t.type\tf, @function\n\t.size f, 9\n"
    text += "\t.type\ttimes.0, @object\n\t.size\ttimes.0, 8\n\t.comm big,400,32\n"
    text += '\t.section\t.tbss,"awT",@nobits\n\t.type\town, @object\n\t.size\town, 4\nown:\n'
    named_text = named(text)
    assert named_text.startswith(text.rstrip("\n"))
    assert re.findall(r"\.quad (\S+)", named_text)[::3] == ["n", "times.0", "f"]
    assert re.findall(r'\.asciz "(.*)"', named_text) == ["n", "times", "f"]


def test_every_setting_is_one_that_the_program_knows() -> None:
    source = frame().after[-1][0]
    known = set(re.findall(r'\{"(\w+)", -?\d+\}', source))
    assert {name for setting in WHOLE for name in setting} <= known
