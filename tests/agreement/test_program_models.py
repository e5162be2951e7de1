"""Models of programs that order by dependencies: imm, and those of machines as compilers map C to
them. What they allow of a C test is what the assembly models allow of its assembly, state for
state, and imm allows whatever a machine does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from asking import answers
from herdtools import ask, generate

from weakspot.generators.emit.c11 import litmus_text
from weakspot.generators.emit.isa import Target, mapped, target
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
    read_test,
)
from weakspot.harness.checkers.herd7 import Herd7
from weakspot.harness.corpus import models
from weakspot.harness.corpus.structures import structures
from weakspot.harness.values.agreement import in_source_names
from weakspot.harness.values.state import State
from weakspot.system.tools import Tool

HERE = Path(__file__).parent
FOLDERS = (HERE / "dependencies", HERE / "litmus")
MACHINES = ("aarch64", "power", "riscv")
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


def target_of(machine: str) -> Target:
    """The mapping. POWER's with a branch on what an acquire read-modify-write reads, as
    power-programs.cat takes it to have."""
    to = target(machine)
    if machine != "power":
        return to
    acquires = ("cmpw {r},{r}", "bne {F}9", "{F}9:", "isync")
    after = dict.fromkeys(("acq", "acq_rel", "sc"), acquires)
    return msgspec.structs.replace(to, parts={**to.parts, "after": after})


def states(made: Sequence[State]) -> States:
    return {tuple(sorted(state.items())) for state in made}


def differing(tests: Sequence[Test], machine: str) -> list[str]:
    """The tests of which the assembly has other final states than the test in C."""
    to = target_of(machine)
    made = [mapped(test, to) for test in tests]
    of_code = allowed([each.test for each in made], models.load()[machine].path)
    of_c = allowed(tests, path(machine))
    named = [msgspec.structs.replace(each, registers={}) for each in made]
    return [
        test.name
        for test, code, c, does, may in zip(tests, made, named, of_code, of_c, strict=True)
        if states(in_source_names(code, does)) != states(in_source_names(c, may))
    ]


def with_one_order(test: Test) -> bool:
    """Whether each compare-exchange acquires as well where it fails: the code acquires if either
    order does, which the models of programs say they leave out."""
    assert test.statements is not None
    pairs = {"rlx": "rlx", "rel": "", "acq": "acq", "acq_rel": "", "sc": "sc"}
    return all(
        pairs[statement.success] == statement.failure
        for thread in test.statements.threads
        for statement in thread
        if isinstance(statement, Cas)
    )


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
@pytest.mark.parametrize("kinds", ["LLSSFG", "LLSSUG", "LLSSCG", "LLLSSSUCFG"])
@each
def test_a_machine_allows_of_random_tests_what_its_assembly_model_allows(
    machine: str, kinds: str, count: int
) -> None:
    chance = random.Random(f"{machine} {kinds}")
    tests = [random_test(f"random{i}", kinds, chance) for i in range(count // 4)]
    assert differing(tests, machine) == []


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
    of_c, of_code = cycles("C", "-varatom", "Rlx"), cycles(target(machine).dialect)
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


@each
def test_a_machine_answers_as_herd7_does_for_the_assembly(
    machine: str, herd7: Tool, tmp_path: Path
) -> None:
    """Without loops, of which herd7 warns."""
    chance = random.Random(machine)
    tests = [random_test(f"random{i}", "LLLSSFG", chance) for i in range(100)]
    made = {test.name: mapped(test, target(machine)) for test in tests}
    files = []
    for each in made.values():
        files.append(tmp_path / f"{each.test.name}.litmus")
        files[-1].write_text(each.test.text, encoding="utf-8")
    found = ask(herd7, models.load()[machine].path, files)
    for test, ours in zip(tests, allowed(tests, path(machine)), strict=True):
        code = made[test.name]
        theirs = [read_state(line) for line in found[code.test.name].states]
        named = in_source_names(msgspec.structs.replace(code, registers={}), ours)
        assert states(in_source_names(code, theirs)) == states(named), test.text


def read_state(line: str) -> State:
    return dict(re.findall(r"\[?([\w:]+)\]?=(-?\d+);", line))


# --- imm ----------------------------------------------------------------------------------------


@tiers
@pytest.mark.parametrize("machine", [*MACHINES, "x86"])
def test_imm_allows_whatever_a_machine_does(machine: str, count: int) -> None:
    chance = random.Random(f"imm {machine}")
    tests = [random_test(f"random{i}", "LLLSSSUCFG", chance) for i in range(count)]
    of_machine, of_imm = allowed(tests, path(machine)), allowed(tests, path("imm"))
    beyond = [
        test.name
        for test, does, may in zip(tests, of_machine, of_imm, strict=True)
        if not states(does) <= states(may)
    ]
    assert beyond == []


@tiers
def test_imm_allows_no_more_than_c11(count: int) -> None:
    chance = random.Random("imm in c11")
    tests = [random_test(f"random{i}", "LLLSSSUCFG", chance) for i in range(count)]
    of_imm, of_c11 = allowed(tests, path("imm")), allowed(tests, path("c11"))
    beyond = [
        test.name
        for test, does, may in zip(tests, of_imm, of_c11, strict=True)
        if not states(does) <= states(may)
    ]
    assert beyond == []


def test_herd7_agrees_on_imm_where_it_can_be_asked(herd7: Tool) -> None:
    files = [file for folder in FOLDERS for file in sorted(folder.glob("*.litmus"))]
    imm = models.load()["imm"]
    asked = [file for file in files if not Herd7().applicable(read_test(file), imm)]
    assert 40 < len(asked) < len(files)
    theirs = ask(herd7, imm.path, asked)
    for answer in answers([str(file) for file in asked], imm.path):
        assert answer["observation"] == theirs[answer["name"]].observation, answer["name"]
        assert len(answer["states"]) == len(theirs[answer["name"]].states), answer["name"]


# --- random tests -------------------------------------------------------------------------------

LOADS: tuple[Order, ...] = ("rlx", "rlx", "acq", "sc")
STORES: tuple[Order, ...] = ("rlx", "rlx", "rel", "sc")
UPDATES: tuple[Order, ...] = ("rlx", "rlx", "acq", "rel", "acq_rel", "sc")
MOST_LOOPS = 3  # a loop of machine code multiplies the executions


def random_test(name: str, kinds: str, chance: random.Random) -> Test:
    """Two or three threads of a few operations of the kinds: L(oad), S(tore), U(pdate),
    C(ompare-exchange), F(ence), G(uard: a branch on what the last operation read)."""
    count = chance.choice([2, 2, 2, 3])
    last = dict.fromkeys("xy" if chance.random() < 0.7 else "xyz", 0)
    threads: list[Thread] = []
    loops = 0
    for _ in range(count):
        thread: list[Statement] = []
        for i in range(chance.choice([2, 2, 3] if count == 3 else [2, 3, 3, 4])):
            kind, loc, register = chance.choice(kinds), chance.choice(list(last)), f"r{i}"
            if kind in "UC" and loops == MOST_LOOPS:
                kind = "L"
            loops += kind in "UC"
            if kind in "SUC":
                last[loc] += 1
            statement = _statement(kind, loc, register, last[loc], thread, chance)
            thread += [statement] if statement is not None else []
        threads.append(tuple(thread))
    results = [
        Atom(number, statement.reg, 0)
        for number, thread in enumerate(threads)
        for statement in thread
        if isinstance(statement, Load | Rmw | Cas)
    ]
    atoms = (*results, *(Atom(None, loc, 0) for loc in last))
    body = Body(tuple(threads), atoms, tuple(last), {}, frozenset())
    return Test(name=name, arch="C", text=litmus_text(name, "", body), body=body)


def _statement(
    kind: str,
    loc: str,
    register: str,
    value: int,
    before: Sequence[Statement],
    chance: random.Random,
) -> Statement | None:
    match kind:
        case "L":
            return Load(register, loc, chance.choice(LOADS))
        case "S":
            return Store(loc, value, chance.choice(STORES))
        case "U":
            op = chance.choice(["exch", "fetch.add"])
            return Rmw(register, loc, op, value, chance.choice(UPDATES))
        case "C":
            order, weak = chance.choice(LOADS), chance.random() < 0.2
            return Cas(register, loc, chance.randrange(value), value, order, order, weak)
        case "F":
            return Fence(chance.choice(["sc", "rel", "acq", "acq_rel"]))
        case _:
            read = before[-1] if before else None
            if not isinstance(read, Load | Rmw | Cas):
                return None
            return Guard(read.reg, chance.randrange(2))
