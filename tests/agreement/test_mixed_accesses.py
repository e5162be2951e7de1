"""Where accesses have mixed sizes, the engine answers as herd7 does with its variant `mixed`:
states, observation and flags, on random tests and on those that diy7 makes.

With this variant, atomic operations of herd7 read what they write themselves unless the model
forbids it, as x86tso-mixed.cat and sc.cat do not; the engine has no answer then. herd7 narrows
neither what an atomic operation computes nor an immediate: the tests have none that must be.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from asking import answers
from engine_answers import agree, as_answer
from figures import Keep
from herdtools import ask, generate
from random_mixed import mixed_tests

from weakspot.harness.corpus import models
from weakspot.system import herdtools
from weakspot.system.tools import Tool, require

DIY = Path(__file__).parent / "mixed" / "AArch64.conf"
OWN_WRITE = "to read what it writes itself"


class Pair(NamedTuple):
    """A dialect and a cat file, of herd7's library or ours, with the part of the random tests that
    the engine must answer."""

    dialect: str
    model: str
    answered: float


PAIRS = [
    Pair("AArch64", "aarch64.cat", 1),
    Pair("AArch64", "aarch64", 1),
    Pair("AArch64", "sc.cat", 0.6),
    Pair("X86_64", "x86tso-mixed.cat", 0.4),
    Pair("X86_64", "x86", 1),
]
each = pytest.mark.parametrize("pair", PAIRS, ids=[f"{p.dialect}-{p.model}" for p in PAIRS])


@each
def test_engine_and_herd7_agree_on_random_tests(
    pair: Pair, herd7: Tool, tmp_path: Path, figures: Keep
) -> None:
    tests = written(tmp_path, pair, 24, 1, largest=100)
    check(pair, tests, herd7, figures, "mixed sizes")


@each
@pytest.mark.full
def test_engine_and_herd7_agree_on_many_random_tests(
    pair: Pair, herd7: Tool, tmp_path: Path, figures: Keep
) -> None:
    tests = written(tmp_path, pair, 200, 2, largest=1000)
    check(pair, tests, herd7, figures, "many of mixed sizes")


@pytest.mark.parametrize("model", ["aarch64", pytest.param("aarch64.cat", marks=pytest.mark.full)])
def test_engine_and_herd7_agree_on_tests_of_diy7(
    model: str, herd7: Tool, tmp_path: Path, figures: Keep
) -> None:
    tests = generate(require("diy7"), DIY, tmp_path)
    assert len(tests) > 50
    check(Pair("AArch64", model, 1), tests, herd7, figures, "mixed sizes of diy7")


def written(folder: Path, pair: Pair, count: int, seed: int, largest: int) -> list[Path]:
    tests = []
    for name, text in mixed_tests(pair.dialect, count, seed, largest):
        tests.append(folder / f"{name}.litmus")
        tests[-1].write_text(text)
    return tests


def check(pair: Pair, tests: list[Path], herd7: Tool, figures: Keep, material: str) -> None:
    library = herdtools.libdir()
    assert library is not None, herd7
    packaged = pair.model.endswith(".cat")
    cat = library / pair.model if packaged else models.load()[pair.model].path
    theirs = ask(herd7, cat, tests, "-variant", "mixed")
    found = answers([(path.name, path.read_text()) for path in tests], cat, folders=[str(library)])
    refused = [answer["reason"] for answer in found if answer["observation"] == "Unknown"]
    assert all(OWN_WRITE in reason for reason in refused), refused
    assert len(tests) - len(refused) >= pair.answered * len(tests)
    ours = {a["name"]: as_answer(a) for a in found if a["observation"] != "Unknown"}
    agree(
        {name: theirs[name] for name in ours},
        ours,
        figures,
        dialect=pair.dialect,
        model=pair.model,
        material=material,
    )
