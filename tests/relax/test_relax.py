"""The weakest orders that suffice, against trying everything, and each of them explained."""

from __future__ import annotations

import itertools
from pathlib import Path

import msgspec
import pytest
from clusters import in_process
from relaxings import ran, relaxings

from weakspot import api
from weakspot.errors import BadInput
from weakspot.harness.checkers.explorer import asked
from weakspot.harness.corpus import models
from weakspot.harness.corpus.program_groups import program_groups
from weakspot.harness.edits.annotations import Annotation
from weakspot.harness.edits.strength import Assignment, allowed, below, just_less
from weakspot.harness.orders.relax import Relaxing
from weakspot.harness.orders.relaxation import Relaxed, findings
from weakspot.harness.values.bounds import Bounds

PASSING = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static int message;
static atomic_int flag;
static void *sender(void *unused) {
    message = 42;
    atomic_store(&flag, 1);
    return unused;
}
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, sender, 0);
    if (atomic_load(&flag)) {
        atomic_thread_fence(memory_order_seq_cst);
        assert(message == 42);
    }
    pthread_join(t, 0);
    return 0;
}
"""


def relaxed(what: str, model: str = models.LANGUAGE) -> Relaxed:
    return ran(what, model=model).result()


@pytest.fixture
def passing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "passing.c"
    path.write_text(PASSING)
    return str(path)


def sufficient(work: Relaxing, model: str) -> set[Assignment]:
    """All assignments that suffice, each tried."""
    return {
        assignment
        for assignment in itertools.product(*work.choices)
        if all(
            asked(
                scene.annotated.under(assignment),
                models.resolve(model),
                Bounds(),
                jobs=1,
                stop_at_first=True,
            )["result"]
            == "Safe"
            for scene in work.scenes
        )
    }


def test_they_are_those_that_trying_every_assignment_gives(passing: str) -> None:
    work = ran(passing)
    found = work.result()
    enough = sufficient(work, models.LANGUAGE)
    assert {each.orders for each in found.weakest} == {
        each for each in enough if not any(one != each and below(one, each) for one in enough)
    }
    # a release, and then either an acquire or a fence after a relaxed load
    assert [each.orders for each in found.weakest] == [
        ("rel", "acq", "none"),
        ("rel", "rlx", "acq"),
    ]
    assert found.suffices
    assert found.decided
    assert found.explorations < found.assignments == 3 * 3 * 5


@pytest.mark.parametrize("model", ["sc", "tso", models.LANGUAGE])
@pytest.mark.parametrize("structure", ["store_buffering", "dekker_locks"])
def test_memory_orders_stronger_than_sufficient_ones_suffice(structure: str, model: str) -> None:
    """What the search rests on, assignment by assignment."""
    for work in relaxings(structure, model=model):
        work.run()
        enough = sufficient(work, model)
        assert enough
        every = itertools.product(*work.choices)
        above = {each for each in every if any(below(one, each) for one in enough)}
        assert above == enough


def test_a_memory_order_stronger_than_needed_is_a_finding_with_the_one_to_write(
    passing: str,
) -> None:
    found = findings(relaxed(passing))
    assert {each.id for each in found} == {"WS301"}
    assert [each.fix for each in found] == [
        "write memory_order_release",
        "write memory_order_acquire",
        "remove the fence",
    ]
    assert found[0].sites == ("passing.c:8",)


@pytest.mark.parametrize("structure", ["dice_ptlqueue", "duffy_wsq", "intra_processor_forwarding"])
def test_every_order_in_an_answer_is_explained_by_a_violation_below_it(structure: str) -> None:
    for work in relaxings(structure):
        work.run()
        found = work.result()
        assert found.weakest
        for one in found.weakest:
            assert one.executions > 0
            for each, order, needs in zip(found.annotations, one.orders, one.needs, strict=True):
                assert {need.below for need in needs} == set(just_less(each.kind, order))
                assert all(need.scenario in found.scenarios for need in needs)
                assert all(need.violation.witness for need in needs)


def test_the_weakest_memory_orders_of_a_program_that_is_too_weak_repair_it(passing: str) -> None:
    path = Path(passing)
    text = path.read_text().replace("atomic_store(&flag, 1)", "STORE(&flag, 1)")
    weak = "#define STORE(x, v) atomic_store_explicit(x, v, memory_order_relaxed)\n"
    path.write_text(weak + text)
    found = relaxed(passing)
    assert not found.suffices
    assert {each.orders[0] for each in found.weakest} == {"rel"}
    assert findings(found) == ()


def test_a_published_mistake_takes_part_as_its_repair() -> None:
    """Among the four with the same accesses, seq_cst alone suffices."""
    work = next(each for each in relaxings("store_buffering"))
    work.run()
    found = work.result()
    assert found.scenarios == ("seq_cst",)
    assert found.left_out == ()
    assert [each.orders for each in found.weakest] == [("sc", "sc")]
    assert found.suffices


@pytest.mark.parametrize(
    ("structure", "scenario"),
    [
        ("store_buffering", "fence"),
        ("duffy_thread_pool", "local_item_fences"),
        ("intra_processor_forwarding", "fence"),
    ],
)
def test_a_fence_is_not_called_unneeded_for_a_version_of_the_source_that_has_none(
    structure: str, scenario: str
) -> None:
    results = []
    for work in relaxings(structure):
        work.run()
        results.append(work.result())
    (found,) = (each for each in results if scenario in each.scenarios)
    for one in found.weakest:
        kinds = {
            order
            for each, order in zip(found.annotations, one.orders, strict=True)
            if each.kind == "F"
        }
        assert kinds == {"sc"}
    assert not any("without it" in each.message for each in findings(found))


def test_a_stronger_model_asks_for_less(passing: str) -> None:
    """The fence stays a release fence: no store follows it that another thread could read."""
    found = relaxed(passing, "tso")
    (one,) = found.weakest
    assert one.orders == ("rlx", "rlx", "rel")
    assert [each.guarantees for each in found.unexercised.values()] == [("release",)]
    assert one.needs == ((), (), ())


def test_a_result_within_a_limit_is_not_decided() -> None:
    work = relaxings("duffy_wsq", bounds=Bounds(executions=4))[0]
    work.run()
    found = work.result()
    assert not found.decided
    assert any("limit of 4 executions" in note for note in found.notes)


def test_programs_that_share_a_header_are_relaxed_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flag.h").write_text(
        "#include <stdatomic.h>\nstatic atomic_int flag;\n"
        "static void set(void) { atomic_store(&flag, 1); }\n"
    )
    for name, kind in (("plain.c", "int"), ("atomic.c", "atomic_int")):
        text = PASSING.replace("static int message", f"static {kind} message")
        text = text.replace("static atomic_int flag;", '#include "flag.h"')
        text = text.replace("atomic_store(&flag, 1)", "set()")
        (tmp_path / name).write_text(text.replace("memory_order_seq_cst", "memory_order_acquire"))
    found = ran(tmp_path / "plain.c", tmp_path / "atomic.c").result()
    assert len(found.scenarios) == 2
    assert [str(each) for each in found.annotations].count("flag.h:3") == 1


def interrupted(path: str, before: str) -> Relaxed:
    """What is known when the search is interrupted at the first report of this."""

    def stop(text: str) -> None:
        if before in text:
            raise KeyboardInterrupt

    (work,) = relaxings(path, report=stop)
    with pytest.raises(KeyboardInterrupt):
        work.run()
    return work.result()


def test_an_interrupted_search_is_marked_as_such(passing: str) -> None:
    found = interrupted(passing, "why")
    assert not found.decided
    assert any("the search was interrupted" in note for note in found.notes)


def test_a_search_interrupted_before_its_first_answer_reports_what_is_too_weak(
    passing: str,
) -> None:
    work = ran(passing)
    whole, found = work.result(), interrupted(passing, "why")
    assert found.weakest == ()
    assert whole.failing == ()
    assert {0: "rlx"} in [each.orders for each in found.failing]
    for each in found.failing:
        tried = tuple(each.orders.get(at, orders[-1]) for at, orders in enumerate(work.choices))
        assert not any(below(one.orders, tried) for one in whole.weakest)


def test_a_litmus_test_has_nothing_to_relax() -> None:
    folder = Path(__file__).parents[2] / "litmus" / "store_buffering" / "tests"
    with pytest.raises(BadInput, match="no source whose memory orders could be changed"):
        program_groups([str(folder)])


class Dear:
    """Prices of a machine on which loads are dear and fences cost nothing."""

    def of(self, annotation: Annotation) -> dict[str, float]:
        dear = annotation.kind == "R"
        return {order: 50.0 * (dear and order != "rlx") for order in allowed(annotation.kind)}


def test_with_measured_costs_the_cheapest_assignment_comes_first(passing: str) -> None:
    """An acquiring load and no fence, or a relaxed one and an acquire fence: both are minimal."""
    orders = {}
    for prices in (None, Dear()):
        (work,) = relaxings(passing, prices=prices)  # type: ignore[arg-type]
        work.run()
        found = work.result()
        assert found.measured is (prices is not None)
        assert len(found.weakest) == 2
        orders[found.measured] = [each.orders for each in found.weakest]
    kinds = [each.kind for each in found.annotations]
    first = {
        measured: dict(zip(kinds, given[0], strict=True)) for measured, given in orders.items()
    }
    assert (first[False]["R"], first[False]["F"]) == ("acq", "none")
    assert (first[True]["R"], first[True]["F"]) == ("rlx", "acq")
    assert set(orders[True]) == set(orders[False]), "the same ones, in another order"


def test_a_cluster_finds_the_same_memory_orders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "passing.c"
    source.write_text(PASSING)
    what: list[str | Path] = ["ttas_lock", source]
    models = ["rc11", "rc20"]
    executor, workers = in_process(monkeypatch)
    found, here = (
        [msgspec.structs.replace(each, seconds=0.0) for each in relaxed]
        for relaxed in (
            api.relax(what, models=models, executor=executor),
            api.relax(what, models=models),
        )
    )
    assert found == here
    assert len(found) >= 4
    assert workers.most > 1
