"""The engine under the Linux kernel's own files: the results that its tests record, and herd7's
answers to them and to random tests. Without the model, `scripts/install-tools --kernel-model`,
these tests are skipped.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from engine_answers import agree, engine
from figures import Keep
from herdtools import ask
from random_kernel import kernel_cycle, kernel_test

from weakspot.system import kernel
from weakspot.system.tools import Tool

HAND_WRITTEN = Path(__file__).parent / "kernel"
RANDOM = 1500  # tests of each kind


@pytest.fixture(scope="module")
def model() -> Path:
    """The configuration of the kernel's model."""
    folder = kernel.folder()
    if folder is None:
        pytest.skip(f"the Linux kernel's memory model is not installed: {kernel.ADVICE}")
    return folder / kernel.CONFIGURATION


@pytest.fixture
def recorded(model: Path) -> dict[Path, str]:
    """The kernel's tests, and the result that each records."""
    tests = sorted((model.parent / "litmus-tests").glob("*.litmus"))
    results = {test: re.search(r"Result:\s*(\w+)", test.read_text()) for test in tests}
    return {test: result[1] for test, result in results.items() if result is not None}


def test_the_tests_of_the_kernel_have_the_results_that_they_record(
    model: Path, recorded: dict[Path, str]
) -> None:
    assert len(recorded) > 30
    found = engine(model, list(recorded))
    assert {test.stem: found[test.stem].observation for test in recorded} == {
        test.stem: result for test, result in recorded.items()
    }


def test_engine_and_herd7_agree_on_the_tests_of_the_kernel(
    model: Path, recorded: dict[Path, str], herd7: Tool, figures: Keep
) -> None:
    check(model, list(recorded), herd7, figures, "of the kernel")


def test_engine_and_herd7_agree_on_the_hand_written_tests(
    model: Path, herd7: Tool, figures: Keep
) -> None:
    check(model, sorted(HAND_WRITTEN.glob("*.litmus")), herd7, figures, "hand-written")


@pytest.mark.full
@pytest.mark.parametrize("kind", [kernel_test, kernel_cycle], ids=["threads", "cycles"])
def test_engine_and_herd7_agree_on_random_tests(
    kind: Callable[[random.Random, str], str],
    model: Path,
    herd7: Tool,
    figures: Keep,
    tmp_path: Path,
) -> None:
    tests = []
    for seed in range(RANDOM):
        tests.append(tmp_path / f"t{seed}.litmus")
        tests[-1].write_text(kind(random.Random(seed), f"t{seed}"))
    check(model, tests, herd7, figures, f"random {kind.__name__}")


def check(model: Path, tests: Sequence[Path], herd7: Tool, figures: Keep, material: str) -> None:
    theirs, ours = ask(herd7, model, tests), engine(model, tests)
    agree(theirs, ours, figures, dialect="C", model=model.stem, material=material)
