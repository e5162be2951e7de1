"""What orders cost: measured where there is a difference to measure, and no more is said."""

from __future__ import annotations

import itertools
import platform
from math import comb
from pathlib import Path

import pytest

from weakspot.generators.program import read_program
from weakspot.harness.annotations import Annotation
from weakspot.harness.cost import Costing, OrderCost, SiteCost, Timing, prices, timing
from weakspot.harness.machines import Machine
from weakspot.harness.prices import Prices

x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="speaks of x86-64")

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
    program = read_program(source, include=(source.parents[1] / "include",))
    return Costing("it", [("it", program)], machine)


def by_line(sites: tuple[SiteCost, ...]) -> dict[int, SiteCost]:
    return {site.annotation.line: site for site in sites}


@x86
def test_orders_that_compile_alike_are_one_and_the_others_are_measured(
    source: Path, here: Machine
) -> None:
    work = costing(source, here)
    work.run(0.1)
    found = work.result()
    assert found.rounds >= 6, "an interval needs as many"
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


def test_what_was_measured_until_ctrl_c_is_told(source: Path, here: Machine) -> None:
    program = read_program(source, include=(source.parents[1] / "include",))

    def report(text: str) -> None:
        if text.endswith("round 2"):
            raise KeyboardInterrupt

    work = Costing("it", [("it", program)], here, report=report)
    assert work.result().rounds == 0
    with pytest.raises(KeyboardInterrupt):
        work.run(60)
    found = work.result()
    assert found.rounds == 2
    assert found.runs[0].alone is not None
    timings = [one for site in found.sites for each in site.orders for one in (each.alone,)]
    assert not any(timings), "two rounds tell no difference"
    assert not any(prices(site) for site in found.sites if len(site.orders) == 5)


def test_threads_that_wait_for_one_another_are_measured_together_only(
    tmp_path: Path, here: Machine
) -> None:
    path = tmp_path / "it.c"
    turns = SOURCE.replace('#include "orders.h"', "#define ORDER memory_order_release").replace(
        "    atomic_load_explicit(&y, memory_order_acquire);\n",
        "    while (!atomic_load_explicit(&y, memory_order_acquire)) {\n    }\n",
    )
    path.write_text(turns)
    work = Costing("it", [("it", read_program(path))], here)
    work.run(0.1)
    (run,) = work.result().runs
    assert run.alone is None
    assert "wait for one another" in run.why
    assert run.together is not None


def test_what_cannot_be_written_or_run_says_why(tmp_path: Path, here: Machine) -> None:
    path = tmp_path / "it.c"
    path.write_text(
        SOURCE.replace('#include "orders.h"', "#define ORDER memory_order_release").replace(
            "    atomic_load_explicit(&x, memory_order_acquire);\n",
            "    int r = x;\n    (void)r;\n",
        )
    )
    work = Costing("it", [("it", read_program(path))], here)
    work.run(0.01)
    site = next(each for each in work.result().sites if each.annotation.line == 13)
    assert [bool(each.why) for each in site.orders] == [True, True, False]
    assert prices(site) == {}


# --- figures ------------------------------------------------------------------------------------


def test_the_interval_holds_the_median_with_95_percent() -> None:
    """Of n differences the true median lies outside of [kth, (n-k+1)th] as often as fewer than k of
    n fair coins fall on one side."""
    assert timing([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    for count in range(6, 40):
        found = timing([float(each) for each in range(1, count + 1)])
        assert found is not None
        cut = int(found.low)
        assert found.high == count + 1 - cut
        missed = 2 * sum(comb(count, each) for each in range(cut)) / 2**count
        narrower = 2 * sum(comb(count, each) for each in range(cut + 1)) / 2**count
        assert missed <= 0.05 < narrower
    whole = timing([3.0, -1.0, 2.0, 2.5, 1.0, 8.0])
    assert whole == Timing(2.25, -1.0, 8.0)
    assert whole.is_noise


def annotation(**more: object) -> Annotation:
    given = {"path": "/it.c", "file": "it.c", "line": 1, "column": 1, "function": "f"}
    return Annotation(**{**given, "kind": "RMW", "order": "sc", **more})  # type: ignore[arg-type]


def test_a_price_is_what_is_above_the_noise_and_grows_with_the_order() -> None:
    real, noise = Timing(9.0, 7.0, 11.0), Timing(5.0, -1.0, 8.0)
    cheaper = Timing(4.0, 3.0, 5.0)
    orders = (
        OrderCost(order="rlx"),
        OrderCost(order="acq", alone=real, together=noise),
        OrderCost(order="rel", same_as="rlx"),
        OrderCost(order="acq_rel", alone=cheaper),
        OrderCost(order="sc", alone=noise, together=noise),
    )
    site = SiteCost(annotation=annotation(), scenario="it", orders=orders)
    assert prices(site) == {"rlx": 0.0, "acq": 9.0, "rel": 0.0, "acq_rel": 9.0, "sc": 9.0}
    for gap in (OrderCost(order="sc"), OrderCost(order="sc", why="no")):
        assert prices(SiteCost(annotation=annotation(), scenario="it", orders=(*orders, gap))) == {}


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


def test_every_order_has_a_place_to_be_told(source: Path, here: Machine) -> None:
    """Without a round, and without a compiler's answer, nothing is invented."""
    found = costing(source, here).result()
    told = list(itertools.chain(*(site.orders for site in found.sites)))
    assert told
    assert all(each.why == "not compiled" for each in told)
