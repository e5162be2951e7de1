"""What is counted perpetually is the test's own: every frame of every run that a model allows is
a state that the model allows of the test, and the linear count finds frames that are there, all
that exhaustive counting finds where each thread reads a location in order.
"""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pytest
from asking import answers
from hypothesis import given, settings
from hypothesis import strategies as st
from shapes import STRONG, WEAK, litmus

from weakspot.generators.emit.isa import mapped, targets
from weakspot.generators.emit.native import Followed, native_source, perpetual
from weakspot.generators.emit.threads import statements
from weakspot.generators.litmus import Atom, Fence, Load, Order, Rmw, Store, Test, Thread
from weakspot.harness.corpus import models
from weakspot.harness.values.agreement import in_source_names
from weakspot.system.tools import Tool

SHAPES = (*WEAK, *STRONG)
ROUNDS = 2

Values = tuple[tuple[str, int], ...]  # of registers
Log = list[list[int]]  # of each observed register, by round: the last round whose write was seen


# --- a frame is a state of the test ----------------------------------------------------------


def followed(test: Test) -> tuple[Followed, ...]:
    found = perpetual(statements(test))
    assert found is not None, test.text
    return found


def unrolled(test: Test) -> Test:
    """The first rounds of the test's perpetual run: round i writes i + 1."""
    read = statements(test)

    def rounds(thread: Thread) -> Thread:
        return tuple(turn(each, i) for i in range(ROUNDS) for each in thread)

    def turn(each: object, i: int) -> Load | Store | Rmw | Fence:
        match each:
            case Load(reg=reg):
                return msgspec.structs.replace(each, reg=f"{reg}{i}")
            case Store():
                return msgspec.structs.replace(each, value=i + 1)
            case Rmw(reg=reg, op=op):
                operand = 1 if op == "fetch.add" else i + 1
                return msgspec.structs.replace(each, reg=f"{reg}{i}", operand=operand)
            case Fence():
                return each
        raise AssertionError(each)

    atoms = [Atom(a.thread, f"{a.name}{i}", 0) for a in read.atoms for i in range(ROUNDS)]
    return litmus("unrolled", tuple(map(rounds, read.threads)), tuple(atoms))


def decided(test: Test, model: str, isa: str, seconds: float) -> set[Values] | None:
    """The states that a model allows of a test, as assembly where `isa` says so; None where its
    behaviour is undefined, or where deciding takes too long."""
    made = mapped(test, targets()[isa]) if isa else None
    asked = made.test if made else test
    path = models.load()[model].path
    (answer,) = answers([(asked.name, asked.text)], path, seconds=seconds)
    assert not answer["error"]
    if answer["reason"] or "*undef*" in answer["flags"]:
        return None
    states = in_source_names(made, answer["states"]) if made else answer["states"]
    return {tuple(sorted((n, int(v)) for n, v in state.items())) for state in states}


def frames(test: Test, seen: Callable[[Followed, int], int], rounds: int) -> Iterator[list[int]]:
    """The values of each frame of a run: PerpLE's exhaustive counter."""
    loads = followed(test)
    for frame in itertools.product(range(rounds), repeat=len(statements(test).threads)):
        yield [
            each.value if seen(each, frame[each.thread]) >= frame[each.writer] else each.init
            for each in loads
        ]


def stray(test: Test, model: str, isa: str = "", seconds: float = 60.0) -> set[Values] | None:
    """States of frames that the model does not allow of the test; None where that is not known."""
    allowed = decided(test, model, isa, seconds)
    runs = decided(unrolled(test), model, isa, seconds)
    if allowed is None or runs is None:
        return None
    names = [f"{atom.thread}:{atom.name}" for atom in statements(test).atoms]
    name_of = dict(zip(followed(test), names, strict=True))
    found: set[Values] = set()
    for run in map(dict, runs):

        def seen(load: Followed, i: int, run: dict[str, int] = run) -> int:
            return run[f"{name_of[load]}{i}"] - 1

        for values in frames(test, seen, ROUNDS):
            found.add(tuple(sorted(zip(names, values, strict=True))))
    assert found
    return found - allowed


LANGUAGE = [name for name, model in models.load().items() if "C" in model.dialects]
MACHINES = [name for name, target in targets().items() if target.model]
ORDERS: dict[type, list[Order]] = {
    Load: ["rlx", "acq", "sc"],
    Store: ["rlx", "rel", "sc"],
    Rmw: ["rlx", "acq", "rel", "acq_rel", "sc"],
    Fence: ["acq", "rel", "acq_rel", "sc"],
}


@st.composite
def converting(draw: st.DrawFn) -> Test:
    """Tests that run perpetually: each location is written once, and everything read is asked."""
    places = draw(st.integers(2, 3))
    lines: list[list[Load | Store | Rmw | Fence]] = [[] for _ in range(places)]
    for loc in "xyz"[:places]:
        order: Order = "rlx"
        writes: list[Store | Rmw] = [
            Store(loc, 1, order),
            Store(loc, 1, order),
            Rmw(f"w{loc}", loc, "exch", 1, order),
            Rmw(f"w{loc}", loc, "fetch.add", 1, order),
        ]
        write = draw(st.sampled_from(writes))
        lines[draw(st.integers(0, places - 1))].append(write)
    for number in range(draw(st.integers(2, 3))):
        line = lines[draw(st.integers(0, places - 1))]
        read = Load(f"r{number}", draw(st.sampled_from("xyz"[:places])), "rlx")
        line.insert(draw(st.integers(0, len(line))), read)
    for _ in range(draw(st.integers(0, 1))):
        line = lines[draw(st.integers(0, places - 1))]
        line.insert(draw(st.integers(0, len(line))), Fence("sc"))
    threads = tuple(
        tuple(
            msgspec.structs.replace(each, order=draw(st.sampled_from(ORDERS[type(each)])))
            for each in line
        )
        for line in lines
    )
    atoms = tuple(
        Atom(number, each.reg, 0)
        for number, line in enumerate(threads)
        for each in line
        if isinstance(each, Load | Rmw)
    )
    return litmus("t", threads, atoms)


@pytest.mark.parametrize("model", LANGUAGE)
def test_every_frame_is_a_state_that_the_language_allows(model: str) -> None:
    for test in SHAPES:
        assert stray(test, model) == set(), test.text


@pytest.mark.parametrize("isa", MACHINES)
def test_every_frame_is_a_state_that_the_machine_allows(isa: str) -> None:
    for test in SHAPES:
        assert stray(test, targets()[isa].model, isa) == set(), test.text


def test_every_frame_of_any_test_is_a_state_of_it() -> None:
    known = []

    @settings(max_examples=60, deadline=None, derandomize=True)
    @given(test=converting(), model=st.sampled_from(LANGUAGE), isa=st.sampled_from(MACHINES))
    def of(test: Test, model: str, isa: str) -> None:
        machine = targets()[isa].model
        for found in (stray(test, model, "", 1.0), stray(test, machine, isa, 1.0)):
            assert not found, (model, isa, test.text)
            known.append(found is not None)

    of()
    assert sum(known) > len(known) / 2


# --- counting ---------------------------------------------------------------------------------

LONGEST = 6  # rounds of a log
COUNTER = """
#define main whole_program
#include "source.c"
#undef main
long counted[3];
void count_log(int rounds, int loads, const int *thread, const int *index, const int *log) {
  instances = rounds;
  counted[0] = counted[1] = counted[2] = 0;
  for (int l = 0; l < loads; l++)
    for (int i = 0; i < rounds; i++)
      all[thread[l]].results[0][index[l] * rounds + i] = 1 + log[l * rounds + i];
  for (int n = 0; n < THREADS; n++) {
    all[n].number = n, all[n].used = 0, all[n].hits = all[n].independent = all[n].counted = 0;
    count_rounds(&all[n], 2, 1);
    counted[0] += all[n].counted, counted[1] += all[n].hits, counted[2] += all[n].independent;
  }
}
void begin(int rounds) {
  for (int n = 0; n < THREADS; n++) {
    all[n].results[0] = room(RESULTS * (size_t)rounds * sizeof(int));
    all[n].states = room(STATES * sizeof(struct state));
  }
}
"""


class Counter:
    """The counting of a test's program, given logs."""

    def __init__(self, test: Test, gcc: Tool, folder: Path) -> None:
        self.loads = followed(test)
        (folder / "source.c").write_text(native_source(test))
        (folder / "counter.c").write_text(COUNTER)
        subprocess.run(
            [gcc.path, "-shared", "-fPIC", "-pthread", "counter.c", "-o", "counter.so"],
            cwd=folder,
            check=True,
        )
        self.library = ctypes.CDLL(str(folder / "counter.so"))
        self.library.begin(LONGEST)

    def __call__(self, log: Log) -> tuple[int, int, int]:
        """Rounds of thread 0 counted, hits, independent hits."""
        rounds = len(log[0])

        def array(values: Sequence[int]) -> ctypes.Array[ctypes.c_int]:
            return (ctypes.c_int * len(values))(*values)

        self.library.count_log(
            rounds,
            len(self.loads),
            array([each.thread for each in self.loads]),
            array([each.index for each in self.loads]),
            array(list(itertools.chain(*log))),
        )
        counted, hits, independent = (ctypes.c_long * 3).in_dll(self.library, "counted")
        return counted, hits, independent


def exhaustive(test: Test, log: Log) -> set[int]:
    """The rounds of thread 0 that are in a frame with the outcome."""
    loads, rounds = followed(test), len(log[0])
    wanted = [each.value if each.wanted else each.init for each in loads]
    number = {each: at for at, each in enumerate(loads)}
    found = frames(test, lambda load, i: log[number[load]][i], rounds)
    others = rounds ** (len(statements(test).threads) - 1)
    return {at // others for at, values in enumerate(found) if values == wanted}


@pytest.mark.parametrize("test", SHAPES, ids=lambda test: test.name)
def test_the_linear_count_is_the_exhaustive_one(
    test: Test, need: Callable[[str], Tool], tmp_path: Path
) -> None:
    """Where each register's values grow, as coherence has it; else it counts no more, and what it
    counts is there."""
    count = Counter(test, need("gcc"), tmp_path)
    hit = set()

    @settings(max_examples=100, deadline=None, derandomize=True)
    @given(data=st.data(), rounds=st.integers(1, LONGEST), ordered=st.booleans())
    def same(data: st.DataObject, rounds: int, ordered: bool) -> None:
        one = st.lists(st.integers(-1, rounds - 1), min_size=rounds, max_size=rounds)
        log = [data.draw(one) for _ in count.loads]
        if ordered:
            log = [sorted(each) for each in log]
        there = exhaustive(test, log)
        counted, hits, independent = count(log)
        assert counted == rounds
        assert hits == len(there) if ordered else hits <= len(there)
        assert bool(independent) <= bool(hits)
        assert independent <= hits
        hit.add(hits > 0)

    same()
    assert hit == {True, False}, "both were tried"
