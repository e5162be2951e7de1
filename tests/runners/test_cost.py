"""The cost of memory orders: measured where there is a difference to measure, and only there."""

from __future__ import annotations

import io
import itertools
import platform
from pathlib import Path

import pytest
from rich.console import Console

from weakspot.generators.source.build import Build
from weakspot.generators.source.program import read_program
from weakspot.harness.costs.comparisons import FEWEST, Timing
from weakspot.harness.costs.measurement import Costing
from weakspot.harness.costs.result import Costs, OrderCost, SiteCost, prices
from weakspot.harness.edits.annotations import Annotation
from weakspot.harness.edits.strength import fenced
from weakspot.harness.machines import Machine
from weakspot.harness.machines.prices import Prices
from weakspot.harness.report import costs as report
from weakspot.harness.runners.whole_programs import Times

x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="needs x86-64")

#: two threads; an order that two stores share; a fence
SOURCE = """\
#include <pthread.h>
#include <stdatomic.h>
#include "orders.h"
static atomic_int x, y, z;
static void *one(void *unused) {
    atomic_store_explicit(&x, 1, ORDER);
    atomic_load_explicit(&y, memory_order_acquire);
    return unused;
}
static void *two(void *unused) {
    atomic_store_explicit(&y, 1, ORDER);
    atomic_thread_fence(memory_order_seq_cst);
    atomic_load_explicit(&x, memory_order_acquire);
    return unused;
}
int main(void) {
    pthread_t a, b;
    atomic_store_explicit(&z, 1, ORDER);
    pthread_create(&a, 0, one, 0);
    pthread_create(&b, 0, two, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "src"
    (tmp_path / "include").mkdir()
    folder.mkdir()
    (tmp_path / "include" / "orders.h").write_text("#define ORDER memory_order_release\n")
    path = folder / "it.c"
    path.write_text(SOURCE)
    return path


def costing(source: Path, machine: Machine) -> Costing:
    program = read_program(source, build=Build(include=(source.parents[1] / "include",)))
    return Costing("it", [("it", program)], machine)


def changed(folder: Path, old: str, new: str) -> Path:
    """The source, in one file, with another text once."""
    assert old in SOURCE
    path = folder / "it.c"
    text = SOURCE.replace('#include "orders.h"', "#define ORDER memory_order_release")
    path.write_text(text.replace(old, new, 1))
    return path


def by_line(sites: tuple[SiteCost, ...]) -> dict[int, SiteCost]:
    return {site.annotation.line: site for site in sites}


@x86
def test_orders_that_compile_alike_are_one_and_the_others_are_measured(
    source: Path, here: Machine
) -> None:
    work = costing(source, here)
    work.run(0.1)
    found = work.result()
    assert found.turns >= 2 * FEWEST, "an interval needs as many, alone and together"
    (run,) = found.runs
    assert run.alone is not None
    assert run.together is not None
    assert run.alone > 0
    sites = by_line(found.sites)
    store, load, fence = sites[6], sites[7], sites[12]
    assert [each.order for each in store.orders] == ["rlx", "rel", "sc"]
    assert not store.orders[-1].same_as, "an exchange, or a fence"
    assert [each.same_as for each in load.orders] == ["", "rlx", "rlx"]
    assert fence.orders[0].order == "none"
    assert not fence.orders[-1].same_as, "mfence, or a locked instruction"
    for site in (store, fence):
        strongest = site.orders[-1]
        for each in (strongest.alone, strongest.together):
            assert each is not None
            assert each.low <= each.ns <= each.high
    assert all(each.alone is each.together is None for each in load.orders)
    assert (source.parents[1] / "include" / "orders.h").read_text().endswith("release\n")
    assert source.read_text() == SOURCE, "the user's files are never touched"


@x86
def test_a_header_is_changed_in_a_folder_that_compilers_search_anyway(
    source: Path, here: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its other memory orders are named with their scope: it may import those that it uses."""
    folder = source.parents[1] / "system"
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "flag.hpp").write_text(
        "#include <atomic>\nnamespace lib {\nusing std::memory_order_release;\n"
        "struct Flag {\n  std::atomic<int> set{0};\n"
        "  void raise() { set.store(1, memory_order_release); }\n};\n}\n"
    )
    path = source.with_name("flags.cpp")
    path.write_text(
        "#include <lib/flag.hpp>\n#include <thread>\nstatic lib::Flag flag;\n"
        "int main() { std::thread t([] { flag.raise(); }); t.join(); }\n"
    )
    monkeypatch.setenv("CPATH", str(folder))
    work = Costing("it", [("it", read_program(path))], here)
    work.run(0.1)
    (store,) = (site for site in work.result().sites if site.annotation.file.endswith("flag.hpp"))
    assert [(each.order, each.same_as, each.why) for each in store.orders] == [
        ("rlx", "", ""),
        ("rel", "rlx", ""),
        ("sc", "", ""),
    ]


def test_measurements_until_ctrl_c_are_reported(source: Path, here: Machine) -> None:
    program = read_program(source, build=Build(include=(source.parents[1] / "include",)))

    def report(text: str) -> None:
        if text.endswith("round 8"):
            raise KeyboardInterrupt

    work = Costing("it", [("it", program)], here, report=report)
    assert work.result().turns == 0
    with pytest.raises(KeyboardInterrupt):
        work.run(60)
    found = work.result()
    assert found.turns == 8
    assert found.runs[0].alone is not None
    timings = [one for site in found.sites for each in site.orders for one in (each.alone,)]
    assert not any(timings), "eight turns, of several programs, show no difference"
    assert not any(prices(site) for site in found.sites if len(site.orders) == 5)
    reasons = [each.why for site in found.sites for each in site.orders if each.why]
    assert set(reasons) == {"interrupted"}


@pytest.mark.alone
def test_threads_that_wait_for_one_another_are_measured_together_only(
    tmp_path: Path, here: Machine
) -> None:
    path = tmp_path / "it.c"
    turns = SOURCE.replace('#include "orders.h"', "#define ORDER memory_order_release").replace(
        "    atomic_load_explicit(&y, memory_order_acquire);\n",
        "    while (!atomic_load_explicit(&y, memory_order_acquire)) {\n    }\n",
    )
    path.write_text(turns)
    for _ in range(10):  # where something else runs, a thread that waits for long is taken to hang
        work = Costing("it", [("it", read_program(path))], here)
        work.run(0.1)
        (run,) = work.result().runs
        assert run.alone is None
        assert "wait for one another" in run.why
        if run.together is not None:
            break
    assert run.together is not None


def test_a_program_that_takes_too_long_to_be_timed_is_not_timed(
    tmp_path: Path, here: Machine
) -> None:
    path = changed(
        tmp_path,
        "    atomic_thread_fence",
        "    for (volatile int i = 0; i < 300000; i++) {\n    }\n    atomic_thread_fence",
    )
    work = Costing("it", [("it", read_program(path))], here)
    work.run(0.0)
    found = work.result()
    assert found.runs[0].alone is found.runs[0].together is None
    assert "longer than can be timed" in found.runs[0].why
    assert not any(order.alone or order.together for site in found.sites for order in site.orders)


def test_a_memory_order_that_cannot_be_written_or_run_is_explained(
    tmp_path: Path, here: Machine
) -> None:
    path = changed(
        tmp_path,
        "    atomic_load_explicit(&x, memory_order_acquire);\n",
        "    int r = ++x;\n    (void)r;\n",
    )
    work = Costing("it", [("it", read_program(path))], here)
    work.run(0.01)
    site = next(each for each in work.result().sites if each.annotation.line == 13)
    assert [bool(each.why) for each in site.orders] == [True, True, True, True, False]
    assert prices(site) == {}


@pytest.mark.alone
@x86
def test_a_store_that_fences_is_no_noise(tmp_path: Path, here: Machine) -> None:
    """Of four stores a run, which another thread shares; more time if others use the machine."""
    stores = "    for (int i = 0; i < 4; i++) atomic_store_explicit(&x, i, memory_order_relaxed);\n"
    path = changed(tmp_path, "    atomic_store_explicit(&x, 1, ORDER);\n", stores)
    for seconds in (1.0, 4.0, 16.0):
        work = Costing("it", [("it", read_program(path))], here)
        work.run(seconds)
        fenced = by_line(work.result().sites)[6].orders[-1].alone
        assert fenced is not None
        if not fenced.is_noise:
            break
    assert fenced is not None
    assert fenced.low > 0
    assert fenced.run == pytest.approx(4 * fenced.ns, abs=0.1)


def counted(tmp_path: Path, here: Machine, one: str, two: str, main: str = "") -> Costs:
    """What is known of two threads, after hardly a measurement."""
    path = tmp_path / "it.c"
    path.write_text(
        "#include <pthread.h>\n#include <stdatomic.h>\nstatic atomic_int x, y, z;\n"
        f"static void *one(void *given) {{\n  {one}\n  return given; }}\n"
        f"static void *two(void *given) {{\n  {two}\n  return given; }}\n"
        f"int main(void) {{\n  pthread_t a, b;\n  {main}\n"
        "  pthread_create(&a, 0, one, 0);\n  pthread_create(&b, 0, two, 0);\n"
        "  pthread_join(a, 0);\n  pthread_join(b, 0);\n}\n"
    )
    work = Costing("it", [("it", read_program(path))], here)
    work.run(0.0)
    return work.result()


def test_how_often_threads_execute_an_operation_is_counted(tmp_path: Path, here: Machine) -> None:
    """As main does not count; also where it takes as many as the machine pleases."""
    three = "for (int i = 0; i < 3; i++) atomic_store_explicit(&z, i, memory_order_release);"
    add = "do atomic_fetch_add(&y, 1); while (y < 2);"
    found = counted(tmp_path, here, f"{three}\n  y = 0;", add, "z = 7;").sites
    sites = by_line(found)
    assert sites[5].alone == sites[5].together == Times(3.0, 3, 3)
    assert sites[13].alone == Times(0.0, 0, 0)
    assert sites[13].is_executed is False
    update = next(each for each in found if each.annotation.kind == "RMW")
    assert update.alone == Times(2.0, 2, 2)
    together = update.together
    assert together is not None
    assert sites[9].annotation.kind == "R"
    assert sites[9].alone is sites[9].together is None, "a load that is part of a condition"
    assert 1 <= together.least <= together.mean <= together.most


def test_an_order_is_measured_in_the_scenario_that_executes_it_most(
    tmp_path: Path, here: Machine
) -> None:
    one = "    atomic_store_explicit(&x, 1, ORDER);\n"
    path = changed(tmp_path, one, f"for (int i = 0; i < TIMES; i++)\n{one}")
    subject = [
        (f"{n}_times", read_program(path, build=Build(defines=(f"TIMES={n}",))))
        for n in (0, 1, 5, 2)
    ]
    work = Costing("it", subject, here)
    work.run(0.0)
    site = by_line(work.result().sites)[7]
    assert (site.scenario, site.alone) == ("5_times", Times(5.0, 5, 5))
    assert prices(site).keys() == {"rlx", "rel", "sc"}
    run = next(run for run in work.result().runs if run.scenario == "5_times")
    assert run.operations == 5 + 1 + 1 + 1 + 1


def test_fences_beside_accesses_have_prices(tmp_path: Path, here: Machine) -> None:
    path = changed(tmp_path, "    atomic_thread_fence(memory_order_seq_cst);\n", "")
    work = Costing("it", [("it", read_program(path))], here, fences=True)
    work.run(0.0)
    sites = by_line(work.result().sites)
    assert set(prices(sites[6])) == set(fenced("W", "sc", full=True))
    assert set(prices(sites[7])) == set(fenced("R", "sc", full=True))
    orders = {each.order: each for each in sites[7].orders}
    assert not orders["sc fence; rlx"].same_as, "it is an instruction, here as elsewhere"


def test_an_operation_that_no_thread_executes_has_no_price(tmp_path: Path, here: Machine) -> None:
    found = counted(tmp_path, here, "if (y) {\n    x = 1;\n  }", "(void)0;")
    site = by_line(found.sites)[6]
    assert [bool(order.why) for order in site.orders] == [False, False, False]
    assert site.is_executed is False
    assert all(order.alone is order.together is None for order in site.orders)
    assert prices(site) == {}


# --- figures ------------------------------------------------------------------------------------


def annotation(**more: object) -> Annotation:
    given = {"path": "/it.c", "file": "it.c", "line": 1, "column": 1, "function": "f"}
    return Annotation(**{**given, "kind": "RMW", "order": "sc", **more})  # type: ignore[arg-type]


def test_a_price_is_what_is_above_the_noise_and_grows_with_the_order() -> None:
    real, noise = Timing(9.0, 7.0, 11.0, 9.0, 6), Timing(5.0, -1.0, 8.0, 5.0, 6)
    cheaper = Timing(4.0, 3.0, 5.0, 4.0, 6)
    orders = (
        OrderCost(order="rlx"),
        OrderCost(order="acq", alone=real, together=noise),
        OrderCost(order="rel", same_as="rlx"),
        OrderCost(order="acq_rel", alone=cheaper),
        OrderCost(order="sc", alone=noise, together=noise),
    )
    site = SiteCost(annotation=annotation(), scenario="it", orders=orders)
    assert prices(site) == {"rlx": 0.0, "acq": 9.0, "rel": 0.0, "acq_rel": 9.0, "sc": 9.0}
    gap, refused = OrderCost(order="sc"), OrderCost(order="sc fence; rlx", why="no")
    assert prices(SiteCost(annotation=annotation(), scenario="it", orders=(*orders, gap))) == {}
    without = SiteCost(annotation=annotation(), scenario="it", orders=(*orders, refused))
    assert prices(without) == prices(site), "an order that cannot be written has none"
    nothing = SiteCost(annotation=annotation(), scenario="it", orders=(refused, *orders))
    assert prices(nothing) == {}, "there is nothing to compare with"


def test_a_reason_that_several_memory_orders_have_is_printed_once() -> None:
    problem = "error: no member named 'store'"
    sites = tuple(
        SiteCost(
            annotation=annotation(line=line),
            scenario="it",
            orders=(
                OrderCost(order="rlx"),
                OrderCost(order="sc", why=f"it.c:{line}:5: {problem}", problem=problem),
            ),
        )
        for line in range(1, 6)
    )
    found = Costs(
        subject="it", machine="m", emulated=False, runs=(), sites=sites, turns=0, seconds=0.0
    )
    out = io.StringIO()
    report.costs(found, Console(file=out, width=200))
    assert out.getvalue().count("no member named 'store'") == 1
    assert "not measured: it.c:1 sc; it.c:2 sc; it.c:3 sc, and 2 more: error:" in out.getvalue()


def test_prices_are_remembered_until_the_file_changes(tmp_path: Path, cache: Path) -> None:
    path = tmp_path / "it.c"
    path.write_text("one\n")
    mine, other = annotation(path=str(path)), annotation(path=str(path), line=2)
    costs = {"rlx": 0.0, "sc": 8.5}
    Prices().remember([(mine, costs), (other, {})])
    assert (Prices().of(mine), Prices().of(other)) == (costs, {})
    assert list(cache.rglob("costs/*.json"))
    path.write_text("two\n")
    assert Prices().of(mine) == {}


def test_a_memory_order_without_a_measurement_has_a_reason(source: Path, here: Machine) -> None:
    """Without a turn, and without a compiler's answer, nothing is invented."""
    found = costing(source, here).result()
    costs = list(itertools.chain(*(site.orders for site in found.sites)))
    assert costs
    assert all(each.why == "not compiled" for each in costs)
