"""CBMC as a checker: what the literature says of sc, tso and pso, and what herd7 says of each."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence

import asking
import pytest

from weakspot.generators.emit.cbmc import cbmc_source
from weakspot.generators.emit.text import litmus_text
from weakspot.generators.litmus import (
    Atom,
    Body,
    Cas,
    Fence,
    Guard,
    Load,
    Order,
    Rmw,
    Statement,
    Store,
    Test,
    Thread,
)
from weakspot.harness.checkers.cbmc import Cbmc
from weakspot.harness.checkers.herd7 import Herd7
from weakspot.harness.corpus import models
from weakspot.harness.values.verdict import Verdict
from weakspot.system.tools import Tool

MODELS = ("sc", "tso", "pso")


def made(name: str, threads: Sequence[Thread], *atoms: Atom) -> Test:
    locations = {s.loc for thread in threads for s in thread if not isinstance(s, Fence | Guard)}
    locations |= {atom.name for atom in atoms if atom.thread is None}
    body = Body(tuple(threads), atoms, tuple(sorted(locations)), {}, frozenset())
    return Test(name=name, arch="C", text=litmus_text(name, "", body), body=body)


def checked(checker: Cbmc | Herd7, tests: Sequence[Test], model: str) -> dict[str, Verdict]:
    return asking.verdicts(tests, model, checker=checker)


def w(loc: str, value: int = 1, order: Order = "rlx") -> Store:
    return Store(loc, value, order)


def r(reg: str, loc: str, order: Order = "rlx") -> Load:
    return Load(reg, loc, order)


def at(thread: int | None, name: str, value: int) -> Atom:
    return Atom(thread, name, value)


def shape(name: str, between: Sequence[Statement] = (), label: str = "") -> Test:
    """A classic shape, with `between` between the two accesses of each thread that has two."""
    b = tuple(between)
    full = f"{name}{label}"
    match name:
        case "SB":
            threads = [(w("x"), *b, r("r0", "y")), (w("y"), *b, r("r0", "x"))]
            return made(full, threads, at(0, "r0", 0), at(1, "r0", 0))
        case "MP":
            threads = [(w("x"), *b, w("y")), (r("r0", "y"), *b, r("r1", "x"))]
            return made(full, threads, at(1, "r0", 1), at(1, "r1", 0))
        case "LB":
            threads = [(r("r0", "x"), *b, w("y")), (r("r0", "y"), *b, w("x"))]
            return made(full, threads, at(0, "r0", 1), at(1, "r0", 1))
        case "S":
            threads = [(w("x", 2), *b, w("y")), (r("r0", "y"), *b, w("x"))]
            return made(full, threads, at(1, "r0", 1), at(None, "x", 2))
        case "R":
            threads = [(w("x"), *b, w("y")), (w("y", 2), *b, r("r0", "x"))]
            return made(full, threads, at(None, "y", 2), at(1, "r0", 0))
        case "2+2W":
            threads = [(w("x", 2), *b, w("y")), (w("y", 2), *b, w("x"))]
            return made(full, threads, at(None, "x", 2), at(None, "y", 2))
        case "IRIW":
            threads = [
                (w("x"),),
                (w("y"),),
                (r("r0", "x"), *b, r("r1", "y")),
                (r("r0", "y"), *b, r("r1", "x")),
            ]
            atoms = [at(t, reg, v) for t in (2, 3) for reg, v in (("r0", 1), ("r1", 0))]
            return made(full, threads, *atoms)
        case "SB+rfi":  # each thread reads its own store first
            threads = [
                (w("x"), r("r0", "x"), *b, r("r1", "y")),
                (w("y"), r("r0", "y"), *b, r("r1", "x")),
            ]
            atoms = [at(t, reg, v) for t in (0, 1) for reg, v in (("r0", 1), ("r1", 0))]
            return made(full, threads, *atoms)
    raise AssertionError(name)


SHAPES = ("SB", "MP", "LB", "S", "R", "2+2W", "IRIW", "SB+rfi")
#: which models allow the shape when nothing stands between: the textbook's table
ALLOWED = {
    "SB": ("tso", "pso"),
    "MP": ("pso",),
    "LB": (),
    "S": ("pso",),
    "R": ("tso", "pso"),
    "2+2W": ("pso",),
    "IRIW": (),
    "SB+rfi": ("tso", "pso"),
}


@pytest.fixture(autouse=True)
def _tool(need: Callable[[str], Tool]) -> None:
    need("cbmc")


@pytest.mark.parametrize("model", MODELS)
def test_the_classic_shapes_are_allowed_as_in_the_literature(model: str) -> None:
    tests = [shape(name) for name in SHAPES]
    verdicts = checked(Cbmc(), tests, model)
    assert {name: v.observation for name, v in verdicts.items()} == {
        name: "Sometimes" if model in ALLOWED[name] else "Never" for name in SHAPES
    }
    for verdict in verdicts.values():
        assert verdict.condition_holds == (verdict.observation == "Sometimes")
        assert verdict.states == ()
        assert verdict.seconds > 0


@pytest.mark.parametrize("model", MODELS)
def test_full_fences_forbid_every_shape(model: str) -> None:
    tests = [shape(name, [Fence("sc")]) for name in SHAPES]
    verdicts = checked(Cbmc(), tests, model)
    assert {v.observation for v in verdicts.values()} == {"Never"}


def test_always_is_distinguished_from_sometimes() -> None:
    test = made("once", [(w("x"), r("r0", "x"))], at(0, "r0", 1))
    assert checked(Cbmc(), [test], "tso")["once"].observation == "Always"


def test_a_guarded_thread_stops_where_its_guard_fails() -> None:
    reader: Thread = (r("r0", "y"), Guard("r0", 1), r("r1", "x"))
    stale = made("MP+ctrl", [(w("x"), w("y")), reader], at(1, "r0", 1), at(1, "r1", 0))
    skipped = made("skip", [(w("x"), w("y")), reader], at(1, "r0", 0), at(1, "r1", -1))
    verdicts = checked(Cbmc(), [stale, skipped], "tso")
    assert verdicts["MP+ctrl"].observation == "Never"
    assert verdicts["skip"].observation == "Sometimes"


def test_a_weak_compare_exchange_can_fail_spuriously() -> None:
    for weak, expected in ((True, "Sometimes"), (False, "Never")):
        cas = Cas("r0", "x", 0, 1, "sc", "sc", weak=weak)
        test = made("cas", [(cas,)], at(0, "r0", 0))
        assert checked(Cbmc(), [test], "sc")["cas"].observation == expected


def test_a_question_that_cbmc_cannot_answer_is_unknown_with_the_reason() -> None:
    loop = "C loop\n{}\nP0 (atomic_int* x) { while (atomic_load(x)) { } }\nexists ([x]=1)\n"
    file = Test(name="loop", arch="C", text=loop, path="loop.litmus")
    assert "straight lines" in checked(Cbmc(), [file], "sc")["loop"].reason
    assert "not rc11" in checked(Cbmc(), [shape("SB")], "rc11")["SB"].reason


def test_a_test_from_a_file_is_asked_as_a_generated_one() -> None:
    file = Test(name="file", arch="C", text=shape("SB").text, path="SB.litmus")
    assert checked(Cbmc(), [file], "sc")["file"].observation == "Never"
    assert checked(Cbmc(), [file], "tso")["file"].observation == "Sometimes"


def test_a_test_too_large_is_unknown_within_its_limit() -> None:
    threads = [tuple(w(loc, 9 * t + i) for i in range(9) for loc in "xyz") for t in range(4)]
    test = made("huge", threads, at(None, "x", 1))
    verdicts: list[Verdict] = []
    Cbmc().check([test], models.resolve("pso"), seconds=0.2, done=verdicts.append)
    assert verdicts[0].observation == "Unknown"
    assert verdicts[0].reason == "time limit of 0.2 s"


def test_the_source_can_be_read() -> None:
    source = cbmc_source(shape("SB", [Fence("sc")]).body, "tso")  # type: ignore[arg-type]
    assert "__CPROVER_ASYNC_1: {" in source
    assert "v_x = 1;" in source
    assert "__CPROVER_assume(done_0 && done_1);" in source


BETWEEN: dict[str, Sequence[Statement]] = {
    "+fence.acqs": [Fence("acq")],
    "+fence.rels": [Fence("rel")],
    "+fence.acq_rels": [Fence("acq_rel")],
    "+exch.rlxs": [Rmw("q", "z", "exch", 7, "rlx")],
    "+fetch.adds": [Rmw("q", "z", "fetch.add", 1, "acq_rel")],
    "+cas.fails": [Cas("q", "z", 5, 6, "sc", "sc")],
    "+cas.succeeds": [Cas("q", "z", 0, 0, "sc", "rlx")],
    "+store.scs": [w("z", 1, "sc")],
    "+store.rels": [w("z", 1, "rel")],
    "+loads": [r("q", "z", "sc")],
}


def orders() -> list[Test]:
    """SB, MP and 2+2W with every choice of orders."""
    tests = []
    stores: tuple[Order, ...] = ("rlx", "rel", "sc")
    for a, b in itertools.product(stores, stores):
        tests += [
            made(f"SB+{a}+{b}", [(w("x", 1, a), r("r0", "y", "sc")), (w("y", 1, b), r("r0", "x"))],
                 at(0, "r0", 0), at(1, "r0", 0)),
            made(f"MP+{a}-{b}", [(w("x", 1, a), w("y", 1, b)), (r("r0", "y"), r("r1", "x"))],
                 at(1, "r0", 1), at(1, "r1", 0)),
            made(f"2+2W+{a}-{b}", [(w("x", 2, a), w("y", 1, b)), (w("y", 2, a), w("x", 1, b))],
                 at(None, "x", 2), at(None, "y", 2)),
        ]  # fmt: skip
    return tests


def locked() -> list[Test]:
    """Shapes whose stores are read-modify-writes."""
    rmws: list[Callable[[str, str], Statement]] = [
        lambda reg, loc: Rmw(reg, loc, "exch", 1, "rlx"),
        lambda reg, loc: Rmw(reg, loc, "fetch.or", 1, "acq"),
        lambda reg, loc: Rmw(reg, loc, "fetch.sub", -1, "sc"),
        lambda reg, loc: Cas(reg, loc, 0, 1, "acq_rel", "acq"),
        lambda reg, loc: Cas(reg, loc, 0, 1, "rlx", "rlx", weak=True),
    ]
    tests = []
    for number, rmw in enumerate(rmws):
        tests += [
            made(f"SB+rmw{number}", [(rmw("q", "x"), r("r0", "y")), (rmw("q", "y"), r("r0", "x"))],
                 at(0, "r0", 0), at(1, "r0", 0)),
            made(f"SB+rmw{number}+rlx", [(rmw("q", "x"), r("r0", "y")), (w("y"), r("r0", "x"))],
                 at(0, "r0", 0), at(1, "r0", 0)),
            made(f"MP+rmw{number}", [(w("x"), rmw("q", "y")), (r("r0", "y"), r("r1", "x"))],
                 at(1, "r0", 1), at(1, "r1", 0)),
            made(f"twice{number}", [(rmw("q", "x"),), (rmw("q", "x"),)],
                 at(0, "q", 0), at(1, "q", 0)),
        ]  # fmt: skip
    return tests


def family() -> list[Test]:
    shapes = [shape(name, between, label) for name in SHAPES for label, between in BETWEEN.items()]
    return [*shapes, *orders(), *locked()]


@pytest.mark.parametrize("model", MODELS)
def test_cbmc_and_herd7_agree(model: str, need: Callable[[str], Tool]) -> None:
    need("herd7")
    _agree(family()[MODELS.index(model) :: 5], model)


@pytest.mark.full
@pytest.mark.parametrize("model", MODELS)
def test_cbmc_and_herd7_agree_on_the_whole_family(model: str, need: Callable[[str], Tool]) -> None:
    need("herd7")
    _agree(family(), model)


@pytest.mark.full
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("kinds", ["LLLSSS", "LLLSSSF", "LLSSU", "LLSSC", "LLSSG", "LLLSSSUCFG"])
def test_cbmc_and_herd7_agree_on_random_tests(
    kinds: str, model: str, need: Callable[[str], Tool]
) -> None:
    need("herd7")
    chance = random.Random(kinds)
    tests = [_reachable(_random(f"random{i}", kinds, chance), chance) for i in range(60)]
    _agree([test for test in tests if test is not None], model)


def _agree(tests: Sequence[Test], model: str) -> None:
    ours = checked(Cbmc(), tests, model)
    theirs = checked(Herd7(), tests, model)
    # herd7 runs out of time on chains of additions
    answered = [n for n, v in theirs.items() if not v.reason.startswith("time limit")]
    assert len(answered) > 0.9 * len(tests)
    assert {n: ours[n].observation for n in answered} == {
        n: theirs[n].observation for n in answered
    }


def _random(name: str, kinds: str, chance: random.Random) -> Test:
    """Two or three threads of a few operations of the given kinds; every value is new."""
    count = chance.choice([2, 2, 3])
    top = dict.fromkeys("xy" if chance.random() < 0.8 else "xyz", 0)
    threads: list[Thread] = []
    atoms: list[Atom] = []
    for number in range(count):
        thread: list[Statement] = []
        guarded = False
        for i in range(chance.choice([2, 2, 3] if count == 3 else [2, 3, 3, 4])):
            kind, loc, reg = chance.choice(kinds), chance.choice(list(top)), f"r{i}"
            if kind in "LUC":
                atoms.append(at(number, reg, 0))
            if kind in "SUCG":
                top[loc] += 1
            new = top[loc]
            if kind == "L":
                thread.append(r(reg, loc, chance.choice(["rlx", "acq", "sc"])))
            elif kind == "S":
                thread.append(w(loc, new, chance.choice(["rlx", "rel", "sc"])))
            elif kind == "U":
                op = chance.choice(["exch", "exch", "fetch.add"])
                thread.append(Rmw(reg, loc, op, new, chance.choice(["rlx", "acq_rel", "sc"])))
            elif kind == "C":
                old, weak = chance.randrange(new), chance.random() < 0.2
                thread.append(Cas(reg, loc, old, new, chance.choice(["rlx", "sc"]), "rlx", weak))
            elif kind == "F":
                thread.append(Fence(chance.choice(["sc", "sc", "rel", "acq"])))
            elif kind == "G":
                last = thread[-1] if thread else None
                if isinstance(last, Load) and not guarded:
                    guarded = True
                    thread.append(Guard(last.reg, chance.randrange(2)))
                thread.append(w(loc, new))
        threads.append(tuple(thread))
    return made(name, threads, *atoms, *(at(None, loc, 0) for loc in top))


def _reachable(test: Test, chance: random.Random) -> Test | None:
    """The test with another condition: part of a state that pso allows, so that the models
    differ on it."""
    states = checked(Herd7(), [test], "pso")[test.name].states
    if not states or test.body is None:
        return None
    state = chance.choice(states)
    atoms = [
        at(atom.thread, atom.name, int(state[str(atom).partition("=")[0]]))
        for atom in test.body.atoms
        if chance.random() < 0.8
    ]
    return made(test.name, test.body.threads, *atoms) if atoms else None
