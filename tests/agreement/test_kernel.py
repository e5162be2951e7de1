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
from asking import answers
from engine_answers import agree, engine
from figures import Keep, Row
from herdtools import ask
from kernel_programs import KernelTest, excluding, kernel_program
from random_kernel import kernel_cycle, kernel_test

from weakspot import _engine
from weakspot.generators.source.frontend import compile_source
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds, Part
from weakspot.system.tools import Tool

HAND_WRITTEN = Path(__file__).parent / "kernel"
RANDOM = 1500  # tests of each kind
PROGRAMS = 20  # programs of random tests of each kind, and in the long tier
ALL_PROGRAMS = 1000
LONGEST = 20.0  # seconds for a program: retry loops of several threads take longer


@pytest.fixture
def model(kernel_model: Path) -> Path:
    return kernel_model


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


def test_programs_end_as_the_tests_of_the_kernel_and_the_hand_written_do(
    model: Path, recorded: dict[Path, str], figures: Keep, tmp_path: Path
) -> None:
    own = (test for test in HAND_WRITTEN.glob("*.litmus") if test.stem != "srcu-indices")
    tests = [*recorded, *own]  # the indices of critical sections are others in programs
    made = [kernel_program(test.stem, test.read_text()) for test in tests]
    programs = [program for program in made if program is not None]
    assert len(programs) > 28
    assert compare(model, programs, figures, "programs of the kernel's tests", tmp_path) == []


@pytest.mark.parametrize("kind", [kernel_test, kernel_cycle], ids=["threads", "cycles"])
def test_programs_end_as_random_tests_do(
    kind: Callable[[random.Random, str], str],
    model: Path,
    figures: Keep,
    pytestconfig: pytest.Config,
    tmp_path: Path,
) -> None:
    """Some are explored for too long: reads that return any constant, in loops."""
    count = ALL_PROGRAMS if pytestconfig.getoption("--full") else PROGRAMS
    made = (kernel_program(f"t{n}", kind(random.Random(n), f"t{n}")) for n in range(3 * count))
    programs = [program for program in made if program is not None][:count]
    undecided = compare(model, programs, figures, f"programs of {kind.__name__}", tmp_path)
    assert len(undecided) <= count // 10


def compare(
    model: Path, programs: Sequence[KernelTest], figures: Keep, material: str, folder: Path
) -> list[str]:
    """Compares final states and races with those of the tests, and the answers where one of these
    states, or another one, is an error. Returns the programs that are not explored in time."""
    folders = [str(each) for each in models.include_folders(models.resolve(model))]
    tests = [(each.name, each.litmus) for each in programs]
    wrong, undecided = [], []
    for program, test in zip(programs, answers(tests, model, folders=folders), strict=True):
        assert not test["reason"], program.litmus
        assert not test["malformed"], program.litmus
        file = folder / "program.c"
        file.write_text(program.source, encoding="utf-8")
        same = is_same(program, test, compile_source(file).text, (model, folders))
        if same is None:
            undecided.append(program.name)
        elif not same:
            wrong.append(program.name)
    count = len(programs) - len(undecided)
    equal = count - len(wrong)
    figures(Row("C", model.stem, material, count, equal, equal, equal, tuple(wrong)))
    assert wrong == []
    return undecided


def is_same(
    program: KernelTest, test: _engine.AnswerDict, ir: str, under: tuple[Path, list[str]]
) -> bool | None:
    """Whether a program's executions are those of its test; None if it is not explored in time."""
    expected = {program.returned(state) for state in test["states"]}
    free = next(number for number in range(1, 1000) if number not in expected)
    found = explored(excluding(ir, free), under, Part(reference=True))
    if found["limit"]:
        return None
    states = set(found["results"])
    races = "data-race" in test["flags"]
    flags = {f"flag {name} is raised" for name in test["flags"] if name != "data-race"}
    # herd7 solves no equations: r0 = 1 + r1 - r1 and r1 = 1 + r0 - r0 have no solution there
    same = states == expected or (races and states > expected)
    same = same and races == ("race" in kinds(found)) and "assertion" not in kinds(found)
    same = same and flags == {v["message"] for v in found["violations"] if v["kind"] == "flag"}
    searched = explored(excluding(ir, free), under, Part(), results=True)
    same = same and set(searched["results"]) <= states
    for hashed in (free, *sorted(expected)[:1]):
        answer = explored(excluding(ir, hashed), under, Part())
        if answer["limit"]:
            continue
        # a race or a flag that the search finds is the answer, without the reference
        known = {"race", "flag"} & kinds(answer)
        failed = "assertion" in kinds(answer)
        same = same and (bool(failed or known) if hashed != free else not failed)
        same = same and (answer["result"] != "Unknown" or not expected)
    return same


def kinds(found: _engine.ExplorationDict) -> set[str]:
    return {violation["kind"] for violation in found["violations"]}


def explored(
    ir: str, under: tuple[Path, list[str]], part: Part, *, results: bool = False
) -> _engine.ExplorationDict:
    model, folders = under
    return _engine.Program(ir).explore(
        str(model),
        folders=folders,
        bounds=Bounds(seconds=LONGEST),
        part=part,
        results=results,
        jobs=1,
    )
