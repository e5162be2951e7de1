"""Weaker and stronger variants of a test: which there are, their names, and that each is what its
name says."""

from __future__ import annotations

from asking import verdicts

from weakspot.generators.cycles.variants import fenced, weaker
from weakspot.generators.litmus import Body, Fence, Load, Rmw, Store, Test
from weakspot.harness.corpus import structures

GOLDEN = {test.name: test for each in structures.structures() for test in each.golden()}


def sb(*orders: str, fence: bool = False) -> tuple[Test, Body]:
    spelled = {"rlx": "relaxed", "sc": "seq_cst", "rel": "release", "acq": "acquire"}
    between = "  atomic_thread_fence(memory_order_seq_cst);\n" if fence else ""
    threads = "".join(
        f"P{number} (atomic_int* x, atomic_int* y) {{\n"
        f"  atomic_store_explicit({mine},1,memory_order_{spelled[store]});\n{between}"
        f"  int r0 = atomic_load_explicit({its},memory_order_{spelled[load]});\n}}\n"
        for number, (mine, its, store, load) in enumerate(
            (("x", "y", *orders[:2]), ("y", "x", *orders[2:]))
        )
    )
    text = f"C SB\n{{}}\n{threads}exists (0:r0=0 /\\ 1:r0=0)\n"
    test = Test(name="SB", arch="C", text=text)
    assert test.statements is not None
    return test, test.statements


def test_the_fenced_variant_is_one_for_all_orders() -> None:
    bodies = {
        fenced(*sb(*orders, fence=fence)).test.text
        for orders in (("rlx",) * 4, ("sc",) * 4, ("rel", "acq", "rel", "acq"))
        for fence in (False, True)
    }
    assert len(bodies) == 1
    (_, body) = sb("sc", "sc", "rlx", "rlx")
    threads = fenced(*sb("sc", "sc", "rlx", "rlx")).body.threads
    assert threads[0] == (Store("x", 1, "rlx"), Fence("sc"), Load("r0", "y", "rlx"))
    assert body.threads[0] == (Store("x", 1, "sc"), Load("r0", "y", "sc"))


def test_a_weaker_variant_lacks_one_order_or_one_fence() -> None:
    changes = [each.change for each in weaker(*sb("rel", "acq", "rlx", "rlx", fence=True))]
    assert changes == [
        "P0 with its release store of x relaxed",
        "P0 without its seq_cst fence",
        "P0 with its acquire load of y relaxed",
        "P1 without its seq_cst fence",
        "all fences removed and all orders relaxed",
    ]
    assert weaker(*sb("rlx", "rlx", "rlx", "rlx")) == ()


def test_fences_leave_of_every_golden_test_its_interleavings_alone() -> None:
    """The states that the fenced variant has under TSO and RC11 are those of the test under SC."""
    variants = {}
    for name, test in GOLDEN.items():
        assert test.statements is not None
        variants[name] = fenced(test, test.statements).test
    turns = verdicts(list(GOLDEN.values()), "sc")
    for model in ("tso", "rc11"):
        found = verdicts(list(variants.values()), model)
        for name, variant in variants.items():
            states = {frozenset(each.items()) for each in found[variant.name].states}
            assert states <= {frozenset(each.items()) for each in turns[name].states}, name


def test_weaker_variants_allow_what_the_test_allows() -> None:
    tests = [test for name, test in GOLDEN.items() if name.startswith(("SB", "R+", "RWC"))]
    assert len(tests) > 20
    variants = {}
    for test in tests:
        assert test.statements is not None
        variants[test.name] = [each.test for each in weaker(test, test.statements)]
    found = verdicts([*tests, *(each for many in variants.values() for each in many)], "rc11")
    for test in tests:
        if found[test.name].observation == "Sometimes":
            for each in variants[test.name]:
                assert found[each.name].observation in ("Sometimes", "Undefined"), each.name


def test_operations_keep_their_kind() -> None:
    rmw = Test(
        name="t",
        arch="C",
        text="C t\n{}\nP0 (atomic_int* x) {\n  int r0 = atomic_fetch_add_explicit"
        "(x,1,memory_order_acq_rel);\n}\nexists (0:r0=0)\n",
    )
    assert rmw.statements is not None
    assert weaker(rmw, rmw.statements)[0].body.threads == (
        (Rmw("r0", "x", "fetch.add", 1, "rlx"),),
    )
