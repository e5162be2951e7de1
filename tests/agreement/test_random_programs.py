"""Programs of C, compiled and explored under imm and the models of machines, against enumeration of
their litmus tests: the C test under imm, and under a machine's model the assembly that compilers
map it to.

    scripts/test tests/agreement/test_random_programs.py --programs 25000

compares that many random programs under each of the models: in two halves with the engine's
enumeration, and with herd7's.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from asking import answers
from herdtools import ask, read_state
from random_assembly import all_returned, assembly, has_weaker_model, targets_of
from random_programs import Program, Step, Use, litmus, of_test, random_program, selected, source

from weakspot import _engine
from weakspot.generators.litmus import Cas, Fence, Load, Store, Test, read_test
from weakspot.generators.source.frontend import compile_source
from weakspot.harness.corpus import models
from weakspot.harness.corpus.structures import structures
from weakspot.system.tools import Tool

MACHINES = ("aarch64", "aarch64-llsc", "aarch64-lse", "aarch64-rcpc", "power", "riscv")
MODELS = ("imm", *MACHINES)
BATCH = 50  # programs that are compiled together
UNROLLED = r"unrolling limit exceeded at \w+, legal outcomes may be missing"

Suite = Callable[[str, int | None], list[Path]]


def path(model: str) -> Path:
    return models.load()[model].of_programs.path


def enumerated(programs: Sequence[Program], model: str) -> list[set[int]]:
    """What main of each program returns, by enumerating its litmus test."""
    returned: list[set[int]] = [set() for _ in programs]
    for to in (None,) if model == "imm" else targets_of(model):
        made = [None if to is None else assembly(each, to) for each in programs]
        tests = [
            (program.name, litmus(program)) if code is None else (code.test.name, code.test.text)
            for program, code in zip(programs, made, strict=True)
        ]
        found = answers(tests, models.load()[model].path)
        wrong = [each for each in found if each["reason"] or each["error"] or each["malformed"]]
        assert wrong == []
        for one, program, code, answer in zip(returned, programs, made, found, strict=True):
            one |= all_returned(program, code, answer["states"])
    return returned


def explored(ir: str, number: int, model: str) -> set[int]:
    """What main of a program of a source returns, by exploring it."""
    found = _engine.Program(selected(ir, number)).explore(
        str(path(model)), acyclic="dependencies", jobs=1, results=True
    )
    assert found["result"] == "Safe", (found["reasons"], found["violations"])
    return set(found["results"])


def differences(programs: Sequence[Program], folder: Path) -> Iterator[str]:
    """The programs that main does not return the same of, with the numbers of final states."""
    for start in range(0, len(programs), BATCH):
        batch = programs[start : start + BATCH]
        file = folder / "programs.c"
        file.write_text(source(batch), encoding="utf-8")
        ir = compile_source(file).text
        for model in MODELS:
            for number, expected in enumerate(enumerated(batch, model)):
                found = explored(ir, number, model)
                if found != expected and not (
                    found > expected and has_weaker_model(batch[number], model)
                ):
                    yield (
                        f"{model}: {len(expected - found)} states are not found, "
                        f"{len(found - expected)} not allowed\n{litmus(batch[number])}"
                    )


@pytest.mark.parametrize("part", range(2))
def test_random_programs_end_as_their_litmus_tests_do(
    part: int, pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    asked: int | None = pytestconfig.getoption("--programs")
    count = asked or (10_000 if pytestconfig.getoption("--full") else 20)
    chance = random.Random(f"programs {part}")
    programs = (random_program(f"random{number}", chance) for number in range(count // 2))
    for first in programs:
        batch = [first, *(each for each, _ in zip(programs, range(BATCH - 1), strict=False))]
        assert list(differences(batch, tmp_path)) == []


def test_a_read_may_read_from_a_release_of_its_thread_that_is_still_to_come(tmp_path: Path) -> None:
    """The release waits for the read before it, which waits for what depends on the read after."""
    first = (
        Step(Load("r0", "x", "rlx")),
        Step(Store("x", 1, "rel")),
        Step(Load("r1", "x", "rlx")),
        Step(Store("y", 1, "rlx"), address=Use("r1")),
    )
    second = (
        Step(Load("r0", "y", "rlx")),
        Step(Store("x", 2, "rlx"), data=Use("r0", value=True)),
        Step(Store("x", 3, "rlx")),
    )
    forwarded = Program("forwarded", (first, second), ("x", "y"))
    assert list(differences([forwarded], tmp_path)) == []


def straight(tests: Sequence[Test]) -> list[Program]:
    """The programs of the tests that a mapping takes."""
    made = (of_test(test) for test in tests)
    return [program for program in made if program is not None and program.registers]


@pytest.mark.full
def test_programs_of_hand_written_tests_end_as_the_tests_do(tmp_path: Path) -> None:
    files = sorted((Path(__file__).parent / "litmus").glob("*.litmus"))
    programs = straight([read_test(file) for file in files])
    assert len(programs) > 40
    assert list(differences(programs, tmp_path)) == []


@pytest.mark.full
def test_programs_of_the_corpus_tests_end_as_the_tests_do(tmp_path: Path) -> None:
    tests = {test.name: test for structure in structures() for test in structure.golden()}
    programs = straight(list(tests.values()))
    assert len(programs) > 250
    assert list(differences(programs, tmp_path)) == []


@pytest.mark.full
def test_programs_of_diys_tests_end_as_the_tests_do(tests_of: Suite, tmp_path: Path) -> None:
    programs = straight([read_test(file) for file in tests_of("C", None)])
    assert len(programs) > 1000
    assert list(differences(programs, tmp_path)) == []


@pytest.mark.parametrize("model", MODELS)
def test_random_programs_end_as_herd7_says(
    model: str, herd7: Tool, pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    """No state of a mapping's assembly is missing, and there are no others but where it is said why
    (`has_weaker_model`). With --programs N of them, the numbers are printed."""
    chance = random.Random(f"herd7 {model}")
    count: int = pytestconfig.getoption("--programs") or 3
    made = (random_program(f"random{number}", chance) for number in itertools.count())
    asked = (each for each in made if not each.plain and readable(each, model))
    programs = list(itertools.islice(asked, count))
    weaker = 0
    for start in range(0, count, BATCH):
        batch = programs[start : start + BATCH]
        expected = of_herd7(herd7, batch, model, tmp_path / str(start))
        file = tmp_path / "programs.c"
        file.write_text(source(batch), encoding="utf-8")
        ir = compile_source(file).text
        for number, (program, states) in enumerate(zip(batch, expected, strict=True)):
            found = explored(ir, number, model)
            assert found >= states, litmus(program)
            weaker += found != states
            assert found == states or has_weaker_model(program, model), litmus(program)
        print(f"{model}: {start + len(batch)} programs, none misses a state, {weaker} have more")


def readable(program: Program, model: str) -> bool:
    """Whether herd7 reads what it is asked: a read-modify-write of C is one event there, and it
    does not know amocas."""
    operations = [step.operation for thread in program.threads for step in thread]
    if model == "imm":
        return program.loops == 0
    return model != "riscv" or not any(isinstance(each, Cas) for each in operations)


def of_herd7(herd7: Tool, programs: Sequence[Program], model: str, folder: Path) -> list[set[int]]:
    """What main of each program returns, by herd7 on its litmus test, or on the assembly of each
    mapping. In loops, of which herd7 warns, further rounds end as the first ones do, and only take
    time: a minute for a program with two loops, where two seconds suffice."""
    returned: list[set[int]] = [set() for _ in programs]
    for to in (None,) if model == "imm" else targets_of(model):
        part = folder / str(len(list(folder.glob("*"))))
        part.mkdir(parents=True)
        names = []
        for program in programs:
            code = None if to is None else assembly(program, to)
            name, text = (
                (program.name, litmus(program))
                if code is None
                else (code.test.name, code.test.text)
            )
            (part / f"{program.name}.litmus").write_text(text, encoding="utf-8")
            names.append((name, code))
        files = [part / f"{program.name}.litmus" for program in programs]
        quickly = ("-unroll", "0", "-optace", "true")
        theirs = ask(herd7, models.load()[model].path, files, *quickly, warns=UNROLLED)
        for known, program, (name, code) in zip(returned, programs, names, strict=True):
            known |= all_returned(program, code, map(read_state, theirs[name].states))
    return returned


def test_the_random_programs_have_weak_executions() -> None:
    """Most have dependencies, and imm allows more of many than rc11 does."""
    chance = random.Random("weak")
    programs = [random_program(f"random{number}", chance) for number in range(400)]
    steps = [step for each in programs for thread in each.threads for step in thread]
    assert sum(step.address is not None for step in steps) > 100
    assert sum(step.data is not None for step in steps) > 100
    assert sum(step.skips is not None for step in steps) > 20
    assert sum(isinstance(step.operation, Fence) for step in steps) > 50
    tests = [(each.name, litmus(each)) for each in programs]
    weak, strong = (answers(tests, path(model)) for model in ("imm", "rc11"))
    pairs = zip(weak, strong, strict=True)
    assert sum(len(one["states"]) > len(other["states"]) for one, other in pairs) > 20
