"""Models of programs that order by dependencies: imm, and those of machines as compilers map C to
them. What they allow of a C test is what the assembly models allow of its assembly, state for
state, and imm allows whatever a machine does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from asking import answers
from herdtools import ask, generate
from random_assembly import all_returned, assembly, has_weaker_model, targets_of
from random_programs import Program, litmus, of_test, random_program, with_one_order

from weakspot.generators.emit.isa import Mapped, mapped
from weakspot.generators.litmus import Test, read_test
from weakspot.harness.checkers.herd7 import Herd7
from weakspot.harness.corpus import models
from weakspot.harness.corpus.structures import structures
from weakspot.harness.values.agreement import in_source_names
from weakspot.harness.values.state import State
from weakspot.system.tools import Tool

HERE = Path(__file__).parent
FOLDERS = (HERE / "dependencies", HERE / "litmus")
MACHINES = ("aarch64", "aarch64-llsc", "aarch64-lse", "aarch64-rcpc", "power", "riscv")
QUICK = 300  # tests of each kind in the quick tier

Suite = Callable[[str, int | None], list[Path]]
States = set[tuple[tuple[str, str], ...]]

each = pytest.mark.parametrize("machine", MACHINES)
tiers = pytest.mark.parametrize(
    "count", [QUICK, pytest.param(10_000, marks=pytest.mark.full)], ids=["quick", "full"]
)


def path(model: str) -> Path:
    return models.load()[model].of_programs.path


def allowed(tests: Sequence[Test], cat: Path) -> list[list[State]]:
    found = answers([(test.name, test.text) for test in tests], cat)
    assert [each for each in found if each["reason"] or each["error"] or each["malformed"]] == []
    return [list(answer["states"]) for answer in found]


# --- hand-written tests -------------------------------------------------------------------------


def known() -> dict[str, dict[str, str]]:
    """verdicts.txt: test, then model, then yes or no."""
    lines = (FOLDERS[0] / "verdicts.txt").read_text(encoding="utf-8").splitlines()
    columns = next(line for line in lines if "riscv" in line and line.startswith("#    "))
    rows = (line.split() for line in lines if line and line[0] != "#")
    names = columns.lstrip("#").split()
    return {test: dict(zip(names, row, strict=True)) for test, *row in rows}


KNOWN = known()


def test_every_hand_written_test_has_known_answers() -> None:
    assert {file.stem for file in FOLDERS[0].glob("*.litmus")} <= set(KNOWN)


@pytest.mark.parametrize("test", KNOWN)
def test_every_model_answers_as_its_publication_does(test: str) -> None:
    (file,) = (path for folder in FOLDERS for path in folder.glob(f"{test}.litmus"))
    found = {}
    for model in KNOWN[test]:
        (answer,) = answers([str(file)], path(model))
        found[model] = "no" if answer["observation"] == "Never" else "yes"
    assert found == KNOWN[test]


# --- assembly -----------------------------------------------------------------------------------


def states(made: Sequence[State]) -> States:
    return {tuple(sorted(state.items())) for state in made}


def differing(tests: Sequence[Test], machine: str) -> list[str]:
    """The tests of which no assembly has a final state that the test in C has, or one has another
    one."""
    does: list[States] = [set() for _ in tests]
    for to in targets_of(machine):
        made = [mapped(test, to) for test in tests]
        of_code = allowed([each.test for each in made], models.load()[machine].path)
        for all_states, code, found in zip(does, made, of_code, strict=True):
            all_states |= states(in_source_names(code, found))
    of_c = allowed(tests, path(machine))
    named = [Mapped(test=test, registers={}) for test in tests]
    different = []
    for test, c, code_states, may in zip(tests, named, does, of_c, strict=True):
        allows = states(in_source_names(c, may))
        program = of_test(test)
        weaker = program is not None and has_weaker_model(program, machine)
        if code_states != allows and not (weaker and code_states < allows):
            different.append(test.name)
    return different


@each
def test_a_machine_allows_of_the_corpus_what_its_assembly_model_allows(machine: str) -> None:
    tests = {test.name: test for structure in structures() for test in structure.golden()}
    comparable = [test for test in tests.values() if with_one_order(test)]
    assert len(comparable) > 250
    assert differing(comparable, machine) == []


@tiers
@each
def test_a_machine_allows_of_diys_tests_what_its_assembly_model_allows(
    machine: str, count: int, tests_of: Suite
) -> None:
    read = map(read_test, tests_of("C", count))
    tests = [test for test in read if test.statements is not None]
    assert len(tests) > count // 10
    assert differing(tests, machine) == []


@tiers
@each
def test_a_machine_allows_of_random_tests_what_its_assembly_model_allows(
    machine: str, count: int
) -> None:
    chance = random.Random(machine)
    programs = [random_program(f"random{i}", chance) for i in range(count)]
    does: list[set[int]] = [set() for _ in programs]
    for to in targets_of(machine):
        code = [assembly(program, to) for program in programs]
        of_code = allowed([each.test for each in code], models.load()[machine].path)
        for one, program, made, found in zip(does, programs, code, of_code, strict=True):
            one |= all_returned(program, made, found)
    of_c = allowed(litmus_tests(programs), path(machine))
    differing = []
    for program, one, may in zip(programs, does, of_c, strict=True):
        other = all_returned(program, None, may)
        if one != other and not (one < other and has_weaker_model(program, machine)):
            differing.append(litmus(program))
    assert differing == []


def litmus_tests(programs: Sequence[Program]) -> list[Test]:
    return [Test(name=each.name, arch="C", text=litmus(each)) for each in programs]


@pytest.fixture(scope="module")
def cycles(
    need: Callable[[str], Tool], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str, str], dict[str, Path]]:
    """diy7's tests of one list of cycles in a dialect, by cycle."""

    def made(dialect: str, *options: str) -> dict[str, Path]:
        folder = tmp_path_factory.mktemp(dialect)
        config = FOLDERS[0] / "cycles.conf"
        files = generate(need("diy7"), config, folder, "-arch", dialect, *options)
        texts = {file: file.read_text(encoding="utf-8") for file in files}
        found = {file: re.search(r"^Cycle=(.*)$", text, re.M) for file, text in texts.items()}
        return {match[1].replace("Rlx", ""): file for file, match in found.items() if match}

    return made


@each
def test_dependencies_order_in_c_what_they_order_in_assembly(
    machine: str, cycles: Callable[..., dict[str, Path]]
) -> None:
    """A mapping has no computed values: diy7 makes both tests of each cycle. Behind a control
    dependency its assembly stores whichever way the branch goes, its C does not."""
    of_c, of_code = cycles("C", "-varatom", "Rlx"), cycles(targets_of(machine)[0].dialect)
    common = sorted(of_c.keys() & of_code.keys())
    assert len(common) > 200
    in_c = answers([str(of_c[cycle]) for cycle in common], path(machine))
    in_code = answers([str(of_code[cycle]) for cycle in common], models.load()[machine].path)
    differing = [
        cycle
        for cycle, one, other in zip(common, in_c, in_code, strict=True)
        if one["observation"] != other["observation"]
        or ("Ctrl" not in cycle and len(one["states"]) != len(other["states"]))
    ]
    assert differing == []
    forbidden = sum(answer["observation"] == "Never" for answer in in_c)
    assert len(common) // 10 < forbidden < len(common)


# --- imm ----------------------------------------------------------------------------------------


def beyond(tests: Sequence[Test], model: str, other: str) -> list[str]:
    """The tests with a state that the model allows and the other one does not."""
    both = zip(tests, allowed(tests, path(model)), allowed(tests, path(other)), strict=True)
    return [test.name for test, does, may in both if not states(does) <= states(may)]


@tiers
@pytest.mark.parametrize("machine", [*MACHINES, "x86"])
def test_imm_allows_whatever_a_machine_does(machine: str, count: int) -> None:
    chance = random.Random(f"imm {machine}")
    tests = litmus_tests([random_program(f"random{i}", chance) for i in range(count)])
    assert beyond(tests, machine, "imm") == []


@tiers
def test_imm_allows_no_more_than_c11(count: int) -> None:
    chance = random.Random("imm in c11")
    programs = (random_program(f"random{i}", chance) for i in range(count))
    # c11 leaves a race undefined
    tests = litmus_tests([program for program in programs if not program.plain])
    assert beyond(tests, "imm", "c11") == []


def test_herd7_agrees_on_imm_where_it_can_be_asked(herd7: Tool) -> None:
    files = [file for folder in FOLDERS for file in sorted(folder.glob("*.litmus"))]
    imm = models.load()["imm"]
    asked = [file for file in files if not Herd7().applicable(read_test(file), imm)]
    assert 40 < len(asked) < len(files)
    theirs = ask(herd7, imm.path, asked)
    for answer in answers([str(file) for file in asked], imm.path):
        assert answer["observation"] == theirs[answer["name"]].observation, answer["name"]
        assert len(answer["states"]) == len(theirs[answer["name"]].states), answer["name"]
