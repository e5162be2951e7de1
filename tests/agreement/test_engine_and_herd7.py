"""The engine answers as herd7 does: states, observation and flags, on the suites that diy7 makes
and on the hand-written tests, under herd7's own cat files and ours. The quick tier takes a
sample of each suite. The comparisons are reported at the end of the run (tests/figures.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from engine_answers import agree, engine
from figures import Keep
from herdtools import ask

from weakspot.harness.corpus import models
from weakspot.system import herdtools
from weakspot.system.tools import Tool

LITMUS = Path(__file__).parent / "litmus"
QUICK = 40  # tests of a suite in the quick tier
ALONE = 200  # those that are also answered one by one

Suite = Callable[[str, int | None], list[Path]]


class Pair(NamedTuple):
    """A dialect, and a cat file that reads it: of herd7's library, or ours by its name."""

    dialect: str
    model: str

    @property
    def packaged(self) -> bool:
        return self.model.endswith(".cat")


PAIRS = [
    *(Pair("C", name) for name in ("rc11.cat", "c11_simp.cat", "c11_orig.cat")),
    *(Pair("C", name) for name in ("c11_partialSC.cat", "c11_cos.cat", "sc.cat")),
    *(Pair("C", name) for name in ("sc", "tso", "pso", "rc11", "rc20", "c11", "c20")),
    *(Pair("C", name) for name in ("clr2", "openmp3")),
    Pair("X86", "x86tso.cat"),
    Pair("X86", "x86"),
    Pair("X86_64", "x86tso.cat"),
    Pair("X86_64", "x86tso-mixed.cat"),
    Pair("X86_64", "x86"),
    Pair("PPC", "ppc.cat"),
    Pair("PPC", "power"),
    Pair("RISCV", "riscv.cat"),
    Pair("RISCV", "riscv"),
    Pair("AArch64", "aarch64.cat"),
    Pair("AArch64", "aarch64"),
]
UNREAD = {"MP+stilp+ldiapp"}
"""Hand-written tests of instructions that the engine does not read: ordered pairs."""

each = pytest.mark.parametrize("pair", PAIRS, ids=[f"{p.dialect}-{p.model}" for p in PAIRS])


@pytest.fixture
def cat(herd7: Tool, tmp_path: Path) -> Callable[[Pair], Path]:
    """The file of a pair's model; herd7 applies x86tso.cat to X86 only, by its first line."""
    library = herdtools.libdir()
    assert library is not None, herd7

    def found(pair: Pair) -> Path:
        if not pair.packaged:
            return models.load()[pair.model].path
        if pair != Pair("X86_64", "x86tso.cat"):
            return library / pair.model
        copy = tmp_path / pair.model
        lines = (library / pair.model).read_text().splitlines()
        copy.write_text("\n".join(lines[1:]) + "\n")
        return copy

    return found


@each
def test_engine_and_herd7_agree_on_a_sample(
    pair: Pair, tests_of: Suite, herd7: Tool, cat: Callable[[Pair], Path], figures: Keep
) -> None:
    check(pair, cat(pair), tests_of(pair.dialect, QUICK), herd7, figures, "sample")


@each
@pytest.mark.full
def test_engine_and_herd7_agree(
    pair: Pair, tests_of: Suite, herd7: Tool, cat: Callable[[Pair], Path], figures: Keep
) -> None:
    check(pair, cat(pair), tests_of(pair.dialect, None), herd7, figures, "suite")


@pytest.mark.parametrize(
    "limit", [ALONE, pytest.param(None, marks=pytest.mark.full)], ids=["sample", "all"]
)
@pytest.mark.parametrize("pair", PAIRS[:6], ids=[pair.model for pair in PAIRS[:6]])
def test_a_test_among_others_is_answered_as_it_is_alone(
    pair: Pair, limit: int | None, tests_of: Suite, cat: Callable[[Pair], Path]
) -> None:
    """What a thread keeps from one test to the next is memory, not what stood in it."""
    tests = tests_of(pair.dialect, limit)
    together = engine(cat(pair), tests, jobs=1)
    assert together == {
        name: one for each in tests for name, one in engine(cat(pair), [each]).items()
    }


@each
def test_engine_and_herd7_agree_on_the_hand_written_tests(
    pair: Pair, herd7: Tool, cat: Callable[[Pair], Path], figures: Keep
) -> None:
    folder = LITMUS if pair.dialect == "C" else LITMUS / pair.dialect
    tests = [path for path in folder.glob("*.litmus") if path.stem not in UNREAD]
    check(pair, cat(pair), sorted(tests), herd7, figures, "hand-written")


def check(
    pair: Pair, cat: Path, tests: Sequence[Path], herd7: Tool, figures: Keep, material: str
) -> None:
    agree(
        ask(herd7, cat, tests),
        engine(cat, tests),
        figures,
        dialect=pair.dialect,
        model=pair.model,
        material=material,
    )
