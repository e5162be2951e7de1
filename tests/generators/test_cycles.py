"""The cycles that an access pattern holds, their names and their Tests."""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import execute
from events import trace_of

import weakspot.models
from weakspot.generators.cycles.critical import cycles
from weakspot.generators.cycles.enumeration import enumerate_tests
from weakspot.generators.cycles.tests import build
from weakspot.generators.cycles.values import distinct_values
from weakspot.generators.emit.merge import merge
from weakspot.generators.litmus import Test
from weakspot.system.tools import Tool


def generated(*threads: list[str], most: int = 4) -> dict[str, Test]:
    found = merge(
        build(cycle, structure="s", scenario="t")
        for cycle in cycles(trace_of(*threads), threads=most)
    )
    return {test.name: test for test in found}


def test_message_passing_has_one_cycle() -> None:
    tests = generated(["W x rlx", "W y rel"], ["R y acq", "R x rlx"])
    assert list(tests) == ["MP+porlxrel+poacqrlx"]
    assert "exists (1:r0=1 /\\ 1:r1=0)" in tests["MP+porlxrel+poacqrlx"].text


def test_store_buffering_with_own_reads_is_made_with_and_without_them() -> None:
    thread = ["W x rel", "R x acq", "R y acq"], ["W y rel", "R y acq", "R x acq"]
    tests = generated(*thread)
    assert {"SB+porelacqs", "SB+rfirelacq-poacqacqs", "SB+porelacq+rfirelacq-poacqacq"} <= set(
        tests
    )


def test_fence_between_accesses_names_the_edge() -> None:
    tests = generated(["W x rlx", "F sc", "R y rlx"], ["W y rlx", "F sc", "R x rlx"])
    assert list(tests) == ["SB+fencescrlxrlxs"]


def test_fence_between_a_store_and_its_own_read_names_the_edge_too() -> None:
    """Else this test has the name of the one without the fence."""
    tests = generated(["W x rel", "F sc", "R x rlx", "R y acq"], ["W y rel", "R x acq"])
    assert "SB+porelacq+rfifencescrelrlx-porlxacq" in tests
    assert "SB+porelacq+rfirelrlx-porlxacq" not in tests


def test_plain_access_after_a_flag_is_guarded() -> None:
    tests = generated(["W x na", "W y rel"], ["R y acq", "R x na ctrl"])
    test = tests["MP+ponarel+ctrlacqna"]
    assert "if (r0 == 1) {" in test.text
    assert "*x = 1;" in test.text


def test_guard_behind_a_fence_is_in_the_name() -> None:
    """As diy7 names a branch and an isb: ctrlisb."""
    writer = ["W x na", "W y rel"]
    guarded = generated(writer, ["R y rlx", "F acq", "R x na ctrl"])
    assert list(guarded) == ["MP+ponarel+ctrlfenceacqrlxna"]
    assert "DpCtrlFenceAcqdRRlxNa" in guarded["MP+ponarel+ctrlfenceacqrlxna"].cycle
    assert list(generated(writer, ["R y rlx", "F acq", "R x na"])) == ["MP+ponarel+fenceacqrlxna"]


def test_release_sequence_through_a_read_modify_write_has_three_threads() -> None:
    tests = generated(["W x rlx", "W y rel"], ["fetch.add y rlx"], ["R y acq", "R x rlx"])
    assert "ISA2+porlxrel+fetch.addrlxrlx+poacqrlx" in tests
    assert "MP+porlxrel+poacqrlx" in tests


def test_plain_store_in_the_chain_breaks_the_sequence_in_a_test_of_its_own() -> None:
    tests = generated(["W x rlx", "W y rel"], ["W y rlx"], ["R y acq", "R x rlx"])
    assert "WRR+2W+poacqrlx+porlxrel+Rlx" in tests


def test_releasing_thread_that_stores_again_continues_its_sequence() -> None:
    tests = generated(["W x rlx", "W y rel", "W y rlx"], ["R y acq", "R x rlx"])
    assert "MP+porlxrel-coirelrlx+poacqrlx" in tests


def test_accesses_under_a_common_mutex_give_only_cycles_through_it() -> None:
    thread = ["LOCK m", "R x rlx", "W x rlx", "W y rlx", "UNLOCK m"]
    other = ["LOCK m", "R y rlx", "R x rlx", "UNLOCK m"]
    assert all("exch" in name for name in generated(thread, other))


def test_plain_access_in_a_critical_section_is_guarded_by_its_lock() -> None:
    tests = generated(["LOCK m", "W x na", "UNLOCK m"], ["LOCK m", "R x na", "UNLOCK m"])
    assert "MP+ponarel+ctrlexchacqna" in tests
    assert "if (r0 == 1) {" in tests["MP+ponarel+ctrlexchacqna"].text


def test_read_modify_write_as_store_of_store_buffering() -> None:
    tests = generated(["exch x sc", "R y sc"], ["exch y sc", "R x sc"])
    assert "SB+poexchscscs" in tests
    assert "atomic_exchange_explicit(x,1,memory_order_seq_cst)" in tests["SB+poexchscscs"].text


def test_compare_exchange_must_succeed_in_its_test() -> None:
    tests = generated(["W x na", "cas y rel"], ["R y acq", "R x na ctrl"])
    test = tests["MP+ponacasrel+ctrlacqna"]
    assert "[e0]=0;" in test.text
    assert "0:r0=1 /\\ 1:r0=1 /\\ 1:r1=0" in test.text


def test_coherence_of_two_stores_is_asked_in_the_final_state() -> None:
    tests = generated(["W x rlx", "W y rel"], ["W y rlx", "W x rel"])
    assert "[x]=2" in tests["2+2W+porlxrels"].text


THREADS = [
    (["W x rlx", "W y rel"], ["R y acq", "R x rlx"]),
    (
        ["W x rel", "R x acq", "R y acq", "W z sc"],
        ["W y sc", "R y rlx", "F sc", "R x sc", "R z rlx"],
    ),
    (
        ["W x rlx", "F rel", "W y rlx", "W z rlx"],
        ["R z rlx", "F acq", "R y rlx", "R x rlx", "W x rlx"],
    ),
    (["W x rlx", "W y rel", "R z acq"], ["R y acq", "W z rel"], ["W z rlx", "R z acq", "R x rlx"]),
    (["W x rlx"], ["R x acq", "R y acq"], ["W y rel"], ["R y acq", "R x acq"]),
    (["W x sc", "R y sc"], ["W y rel", "R z acq"], ["W z rlx", "R x rlx"]),
    (["W x rlx", "F acq_rel", "W y rlx"], ["R y rlx", "W x rlx"], ["W x rel", "R y sc"]),
    (["W x na", "W y rel", "W y rlx"], ["R y acq", "R x na ctrl"]),
    (["W x rlx", "W y rel"], ["exch y acq_rel"], ["R y acq", "R x rlx", "W x rlx"]),
    (["W x rlx", "W y rel"], ["fetch.add y rlx"], ["R y acq", "R x rlx"]),
]


@pytest.mark.parametrize("threads", THREADS, ids=lambda threads: f"{len(threads)}")
def test_names_are_those_that_diyone7_gives(
    threads: tuple[list[str], ...], need: Callable[[str], Tool], tmp_path: Path
) -> None:
    diyone7 = need("diyone7")
    compared = 0
    for name, test in generated(*threads).items():
        if re.search(r"(?<!rmw)exch|(?<![+])fetch", name):
            continue  # a read-modify-write that ends an edge: diy7 has no word for it
        folder = tmp_path / str(compared)
        folder.mkdir()
        done = execute(diyone7.path, "-arch", "C", "-norm", *diy_edges(test.cycle), cwd=folder)
        if "Observer" in done.err:
            continue  # three writes to one location: diy7 makes no test of it
        assert done.code == 0, (name, done.err)
        assert [path.stem for path in folder.glob("*.litmus")] == [name]
        compared += 1
    assert compared


def diy_edges(cycle: str) -> list[str]:
    """`PodWWRlxRel RfeRelAcq` as diyone7 reads it: `Rlx PodWW Rel Rfe Acq`."""
    words: list[str] = []
    for edge in cycle.split():
        match = re.fullmatch(r"(.+?)(Acq|Rel|Ar|Sc|Rlx|Na)(Acq|Rel|Ar|Sc|Rlx|Na)", edge)
        assert match, edge
        word = match[1].replace("FenceAr", "FenceAR").replace("Coi", "Wsi")
        words += [match[2].replace("Ar", "AR"), word]
    return words


@pytest.mark.parametrize("operation", ["max", "nand", "fadd"])
def test_an_operation_that_c11_lacks_becomes_an_addition(operation: str) -> None:
    threads = (["W x rlx", f"fetch.{operation} y rel"], ["R y acq", "R x rlx"])
    added = (["W x rlx", "fetch.add y rel"], ["R y acq", "R x rlx"])
    assert list(generated(*threads)) == list(generated(*added)) != []


ORDERS = {
    "W": ("rlx", "rel", "sc"),
    "R": ("rlx", "acq", "sc"),
    **dict.fromkeys(
        ("exch", "cas", "fetch.add", "fetch.sub", "fetch.and", "fetch.or"),
        ("rlx", "acq", "rel", "acq_rel", "sc"),
    ),
}


def drawn_thread(draw: random.Random, plain: str) -> list[str]:
    """Accesses of x, y and z, those of `plain` not atomic; fences, and operations of a mutex."""
    words = []
    for _ in range(draw.randint(2, 5)):
        kind = draw.choice(("F", "LOCK", "UNLOCK", *ORDERS, *ORDERS))
        location = draw.choice("xyz")
        if kind == "F":
            words.append(f"F {draw.choice(('acq', 'rel', 'acq_rel', 'sc'))}")
        elif kind in ("LOCK", "UNLOCK"):
            words.append(f"{kind} m")
        else:
            order = draw.choice(ORDERS[kind])
            if location == plain:
                kind, order = draw.choice("RW"), "na"
            words.append(f"{kind} {location} {order}{draw.choice((' ctrl', ''))}")
    return words


def test_different_tests_have_different_names() -> None:
    draw = random.Random(20)
    texts: dict[str, str] = {}
    guarded: set[bool] = set()
    for _ in range(400):
        plain = draw.choice(("", *"xyz"))
        threads = [drawn_thread(draw, plain) for _ in range(draw.randint(2, 3))]
        for cycle in cycles(trace_of(*threads), threads=3):
            test = build(cycle, structure="s", scenario="t")
            text = test.text.partition("Shape=")[0]
            assert texts.setdefault(test.name, text) == text
            guarded.add("if (" in text)
    assert len(texts) > 300
    assert guarded == {True, False}


def test_sum_may_carry_into_the_bits_that_a_mask_clears() -> None:
    """As in a lock of one word for a writer's bit and the number of readers."""
    threads = (["W x rlx", "fetch.add y rlx"], ["fetch.and y rlx"], ["fetch.sub y rlx", "R x rlx"])
    assert "ISA2+porlxfetch.addrlx+fetch.andrlxrlx+pofetch.subrlxrlx" in generated(*threads)
    updates = ("fetch.add", "fetch.sub", "fetch.or", "fetch.xor", "fetch.and")
    for ops in itertools.product(("", "exch", "cas", *updates), repeat=4):
        initial, written = distinct_values(ops)
        assert len({initial, *(left for _, left in written)}) == 5, ops


COHERENCE_ONLY = """"coherence only"
include "cos.cat"
acyclic po-loc | rf | co | fr as coherence
empty rmw & (fre; coe) as atomicity
"""
WORDS = [
    "W {} rlx", "W {} rel", "W {} sc", "R {} rlx", "R {} acq", "R {} sc",
    "exch {} acq_rel", "fetch.add {} rlx", "fetch.sub {} rel", "fetch.and {} rlx", "cas {} acq",
    "fetch.or {} sc",
    "F sc", "F acq_rel",
]  # fmt: skip


def test_every_condition_is_reachable_by_coherence_alone_and_never_under_sc(
    need: Callable[[str], Tool], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """A critical cycle is a violation of sequential consistency, and no more than that."""
    herd7 = need("herd7")
    draw = random.Random(11)
    found: dict[str, Test] = {}
    wanted = 800 if request.config.getoption("--full") else 300
    while len(found) < wanted:
        threads = [
            [draw.choice(WORDS).format(draw.choice("xyz")) for _ in range(draw.randint(2, 5))]
            for _ in range(draw.randint(2, 3))
        ]
        for name, test in sorted(generated(*threads, most=3).items())[:40]:
            found.setdefault(name, test)
    paths = []
    for number, test in enumerate(found.values()):
        path = tmp_path / f"{number}.litmus"
        path.write_text(test.text)
        paths.append(str(path))
    (tmp_path / "coherence.cat").write_text(COHERENCE_ONLY)
    sc = Path(weakspot.models.__file__).parent / "sc.cat"
    for model, expected in ((sc, "Never"), (tmp_path / "coherence.cat", "Sometimes")):
        done = execute(herd7.path, "-model", str(model), *paths)
        observed = re.findall(r"^Observation (\S+) (\S+)", done.out, re.M)
        assert len(observed) == len(found), done.err[-2000:]
        assert {name for name, what in observed if what not in (expected, "Always")} == set()
        if expected == "Never":
            assert not [name for name, what in observed if what != "Never"]


def test_enumeration_has_every_cycle_of_two_threads_once() -> None:
    families = Counter(test.shape for test in enumerate_tests(4))
    # nine pairs of memory orders and five fences for each thread; SB, LB and 2+2W are symmetric
    assert families == {
        **dict.fromkeys(("MP", "S", "R"), 45 * 45),
        **dict.fromkeys(("SB", "LB", "2+2W"), 45 * 46 // 2),
    }


def test_enumeration_begins_with_the_weakest_memory_orders() -> None:
    names = [test.name for test in itertools.islice(enumerate_tests(5), 3000)]
    assert {"WRC+porlxrlxs+Rlx", "RWC+porlxrlxs+Rlx", "MP+porlxrlx-coirlxrlx+porlxrlx"} <= set(
        names[:50]
    )
    assert len(set(names)) == len(names)
