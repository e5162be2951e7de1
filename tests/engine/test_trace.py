"""The engine's Program as Python sees it: what its type stub says is what comes out."""

from __future__ import annotations

import threading
import typing
from pathlib import Path

import pytest

from generators.source.program import read_program
from weakspot import _engine
from weakspot._engine import EngineError, Program

FIXTURES = Path(__file__).parents[2] / "engine" / "program" / "tests" / "fixtures"


@pytest.fixture(scope="module")
def sb() -> Program:
    return Program((FIXTURES / "sb.ll").read_text())


def stub() -> dict[str, typing.Any]:
    """The stub's TypedDicts; the module itself has none of them."""
    text = (Path(_engine.__file__).parent / "_engine.pyi").read_text()
    names: dict[str, typing.Any] = {}
    exec(compile(text, "_engine.pyi", "exec", dont_inherit=True), names)
    return names


TYPES = stub()


def of_type(value: object, wanted: typing.Any) -> bool:
    if typing.is_typeddict(wanted):
        fields = typing.get_type_hints(wanted, TYPES)
        return (
            isinstance(value, dict)
            and value.keys() == fields.keys()
            and all(of_type(value[name], kind) for name, kind in fields.items())
        )
    if typing.get_origin(wanted) is list:
        (item,) = typing.get_args(wanted)
        return isinstance(value, list) and all(of_type(v, item) for v in value)
    if args := typing.get_args(wanted):
        return any(of_type(value, kind) for kind in args)
    return type(value) is wanted


@pytest.mark.parametrize("name", sorted(path.stem for path in FIXTURES.glob("*.ll")))
def test_every_field_is_there_with_its_type(name: str) -> None:
    program = Program((FIXTURES / f"{name}.ll").read_text())
    assert all(of_type(site, TYPES["SiteDict"]) for site in program.sites)
    assert of_type(program.functions, list[str])
    trace = program.trace()
    assert of_type(trace, TYPES["TraceDict"])
    assert trace["exhaustive"]
    for run in trace["runs"]:
        assert len(run["threads"]) <= len(trace["functions"])
        for events in run["threads"]:
            for index, event in enumerate(events):
                program.sites[event["site"]]
                for before in (*event["addr"], *event["data"], *event["ctrl"]):
                    assert before < index
                    assert events[before]["kind"] in {"R", "RMW", "CASF"}


def test_store_buffering_is_sequentially_consistent(sb: Program) -> None:
    trace = sb.trace()
    assert trace["interleavings"] == 6
    assert trace["functions"] == ["main", "first", "second"]
    for run in trace["runs"]:
        read = {e["loc"]: e["read"] for e in run["threads"][0] if e["kind"] == "R"}
        assert read != {"r0": 0, "r1": 0}
    store, load, _ = trace["runs"][0]["threads"][1]
    assert (store["kind"], store["order"], store["loc"], store["size"]) == ("W", "rel", "x", 4)
    assert (load["kind"], load["order"], load["loc"]) == ("R", "acq", "y")
    assert store["operation"] == load["operation"] == "left"
    site = sb.sites[store["site"]]
    assert (site["file"], site["function"], site["kind"]) == ("sb.c", "left", "W")
    assert site["chain"] == ["first@sb.c:23:5"]


def test_errors_say_what_and_where() -> None:
    main = "define i32 @main() {\n  %x = fadd fp128 poison, poison\n  ret i32 0\n}"
    with pytest.raises(EngineError) as caught:
        Program(main).trace()
    problem = caught.value.problem
    assert (problem["about"], problem["kind"]) == ("program", "unsupported")
    assert (problem["file"], problem["line"]) == ("", 0)
    assert "fp128" in str(caught.value)
    with pytest.raises(EngineError) as caught:
        Program("nonsense")
    assert caught.value.problem["kind"] == "invalid"


@pytest.mark.parametrize(
    "arguments", [{"interleavings": 0}, {"loops": -1}, {"seed": -1}, {"seed": "a"}, {"unknown": 1}]
)
def test_bad_arguments_are_refused(sb: Program, arguments: dict[str, typing.Any]) -> None:
    with pytest.raises((ValueError, TypeError, OverflowError)):
        sb.trace(**arguments)
    with pytest.raises(TypeError):
        sb.trace(4)  # type: ignore[call-arg]


def test_a_seed_draws_the_same_runs_again() -> None:
    program = Program((FIXTURES / "queue.ll").read_text())
    drawn = program.trace(interleavings=8, seed=3)
    assert not drawn["exhaustive"]
    assert "drawn" in drawn["how"]
    assert drawn == program.trace(interleavings=8, seed=3)
    assert sum(run["count"] for run in drawn["runs"]) == drawn["interleavings"]


def test_other_python_threads_go_on_during_a_trace() -> None:
    program = Program((FIXTURES / "queue.ll").read_text())
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1

    other = threading.Thread(target=tick)
    other.start()
    before = ticks
    program.trace(interleavings=20000, spurious=False)
    after = ticks
    done.set()
    other.join()
    assert after > before


def test_a_program_is_used_from_several_threads_at_once(sb: Program) -> None:
    traces: list[object] = []
    workers = [threading.Thread(target=lambda: traces.append(sb.trace())) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert traces == [traces[0]] * 4


SPIN = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int lock, sleepers;
static void *look(void *arg) {
  for (int looks = 0; looks < 10000; looks++) {
    if (!atomic_load(&lock)) return 0;
    atomic_signal_fence(memory_order_acquire);
  }
  atomic_fetch_add(&sleepers, 1);
  return 0;
}
int main(void) {
  pthread_t t;
  atomic_store(&lock, 1);
  pthread_create(&t, 0, look, 0);
  atomic_store(&lock, 0);
  atomic_load(&sleepers);
  pthread_join(t, 0);
}
"""

DEPENDENT = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flags[1500], set;
static void *count(void *arg) {
  for (int i = 0; i < 1500; i++)
    if (atomic_load(&flags[i])) atomic_fetch_add(&set, 1);
  return 0;
}
int main(void) {
  pthread_t t, u;
  pthread_create(&t, 0, count, 0);
  pthread_create(&u, 0, count, 0);
  for (int i = 0; i < 1500; i++) atomic_store(&flags[i], 1);
  pthread_join(t, 0);
  pthread_join(u, 0);
}
"""


def traced(text: str, folder: Path) -> _engine.TraceDict:
    (folder / "traced.c").write_text(text)
    program = read_program(folder / "traced.c")
    return program.trace(loops=4, interleavings=1000, seed=0)


def test_a_loop_that_looks_often_is_traced_with_few_looks(tmp_path: Path) -> None:
    trace = traced(SPIN, tmp_path)
    looks = [sum(e["kind"] == "R" for e in run["threads"][1]) for run in trace["runs"]]
    gives_up = [any(e["loc"] == "sleepers" for e in run["threads"][1]) for run in trace["runs"]]
    assert trace["exhaustive"]
    assert max(looks) <= 3
    assert any(gives_up)
    assert not all(gives_up)


def test_a_trace_with_too_many_dependencies_ends(tmp_path: Path) -> None:
    trace = traced(DEPENDENT, tmp_path)
    assert trace["runs"]
    assert not trace["exhaustive"]
    assert "dependencies" in trace["how"]
