"""A mapping is right when the machine does nothing with the mapped test that C11 forbids: every
final state that the model of the instruction set allows, the language allows, register for
register. Where that is known not to hold is recorded here, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec
import pytest
from asking import answers
from herdtools import ask

from weakspot.errors import BadInput, Unsupported
from weakspot.generators.emit.isa import Target, mapped, target, targets
from weakspot.generators.litmus import Cas, Load, Rmw, Test, read_test
from weakspot.harness.corpus import models
from weakspot.harness.corpus.structures import structures
from weakspot.harness.values.agreement import states_beyond
from weakspot.harness.values.state import State
from weakspot.system import herdtools
from weakspot.system.tools import Tool

LITMUS = Path(__file__).parent / "litmus"
QUICK = 300  # diy7's tests in the quick tier
LANGUAGE: dict[tuple[str, tuple[str, ...]], list[list[State] | None]] = {}

Suite = Callable[[str, int | None], list[Path]]

modelled = pytest.mark.parametrize("name", [name for name, to in targets().items() if to.model])


def of_language(tests: Sequence[Test], model: str | Path) -> list[list[State] | None]:
    """The states that the language allows: asked once for the mappings to all machines."""
    key = str(model), tuple(test.text for test in tests)
    if key not in LANGUAGE:
        LANGUAGE[key] = decided(tests, model)
    return LANGUAGE[key]


def decided(tests: Sequence[Test], model: str | Path) -> list[list[State] | None]:
    """The states of each test; None for one whose behaviour is undefined."""
    path = models.load()[model].path if isinstance(model, str) else model
    texts = [(test.name, test.text) for test in tests]
    folders = [str(library)] if (library := herdtools.libdir()) else []
    found = answers(texts, path, folders=folders)
    assert not any(answer["reason"] or answer["error"] for answer in found)
    return [None if "*undef*" in answer["flags"] else list(answer["states"]) for answer in found]


def wrong_ones(to: Target, tests: Sequence[Test], model: str | Path = "c11") -> set[str]:
    """The tests of which the machine allows a state that the language forbids."""
    made = [mapped(test, to) for test in tests]
    machine = decided([each.test for each in made], to.model)
    language = of_language(tests, model)
    return {
        test.name
        for test, each, does, may in zip(tests, made, machine, language, strict=True)
        if may is not None and does is not None and states_beyond(each, does, may)
    }


def corpus() -> list[Test]:
    tests = {test.name: test for structure in structures() for test in structure.golden()}
    assert len(tests) > 300
    return list(tests.values())


def acquires(test: Test) -> bool:
    """Whether it has a read-modify-write that acquires, other than a compare-exchange."""
    assert test.statements is not None
    orders = ("acq", "acq_rel", "sc")
    return any(
        isinstance(statement, Rmw) and statement.order in orders
        for thread in test.statements.threads
        for statement in thread
    )


def with_branches(to: Target) -> Target:
    """The target with a branch on the value that a read-modify-write reads."""
    branch = ("cmpw {r},{r}", "bne {F}", "{F}:")

    def lines(kind: str, code: tuple[str, ...]) -> tuple[str, ...]:
        if not kind.startswith(("exch", "fetch")):
            return code
        return (*code[:-1], *branch, code[-1])

    return msgspec.structs.replace(to, lines={k: lines(k, code) for k, code in to.lines.items()})


def right(name: str, tests: Sequence[Test]) -> None:
    to = target(name)
    if to.dialect != "PPC":
        assert wrong_ones(to, tests) == set()
        return
    # lwarx, stwcx., bne, isync acquires: the Power ISA (Book II, B.2.1.1) says so, but in Herding
    # cats a branch on stwcx. does not depend on what lwarx reads. With a branch that does, the
    # model forbids all that C11 forbids.
    wrong = wrong_ones(to, tests)
    assert all(acquires(test) for test in tests if test.name in wrong)
    # a branch that is added forbids no less
    assert wrong_ones(with_branches(to), [test for test in tests if test.name in wrong]) == set()


@modelled
def test_a_mapping_allows_no_more_than_c11_of_the_corpus(name: str) -> None:
    right(name, corpus())


@modelled
def test_a_mapping_allows_no_more_than_c11_of_diys_tests(name: str, tests_of: Suite) -> None:
    right(name, straight(tests_of("C", QUICK)))


@pytest.mark.full
@modelled
def test_a_mapping_allows_no_more_than_c11_of_thousands_of_tests(
    name: str, tests_of: Suite
) -> None:
    tests = straight(tests_of("C", None))
    assert len(tests) > 1000
    right(name, tests)


def straight(paths: Iterable[Path]) -> list[Test]:
    tests = [test for test in map(read_test, paths) if test.statements is not None]
    assert tests
    return tests


def test_trailing_sync_breaks_the_seq_cst_rules_of_2011(need: Callable[[str], Tool]) -> None:
    """Manerkar and others, "Counterexamples and proof loophole for the C/C++ to POWER and ARMv7
    trailing-sync compiler mappings", 2016: a seq_cst read behind an acquire read."""
    need("herd7")
    library = herdtools.libdir()
    assert library is not None
    test = read_test(LITMUS / "IRIW+acq-scs.litmus")
    original = library / "c11_orig.cat"
    assert wrong_ones(target("power-trailing"), [test], original) == {test.name}
    assert wrong_ones(target("power"), [test], original) == set()
    assert wrong_ones(target("power-trailing"), [test], "c11") == set()


def test_leading_sync_breaks_the_seq_cst_rules_of_2011(need: Callable[[str], Tool]) -> None:
    """Lahav and others, "Repairing sequential consistency in C/C++11", PLDI 2017, section 2.1."""
    need("herd7")
    library = herdtools.libdir()
    assert library is not None
    test = read_test(LITMUS / "Z6.U.litmus")
    assert wrong_ones(target("power"), [test], library / "c11_orig.cat") == {test.name}
    assert wrong_ones(target("power"), [test], "c11") == set()


def test_a_mapping_without_its_fences_is_caught() -> None:
    to = target("riscv")
    weak = msgspec.structs.replace(to, parts=to.parts | {"after_load": {}})
    assert "MP+rel+acq" in wrong_ones(weak, [read_test(LITMUS / "MP+rel+acq.litmus")])


@pytest.mark.parametrize("name", list(targets()))
def test_herd7_reads_the_assembly_and_allows_no_more(
    name: str, need: Callable[[str], Tool], tmp_path: Path
) -> None:
    """Also of the targets whose assembly the engine does not read. Without loops: herd7 warns of
    those."""
    to = target(name)
    herd7 = need("herd7")
    tests = [each for each in straight(sorted(LITMUS.glob("*.litmus"))) if not loops(each)]
    language = dict(zip((test.name for test in tests), decided(tests, "c11"), strict=True))
    made = {test.name: mapped(test, to) for test in tests}
    paths = []
    for each in made.values():
        paths.append(tmp_path / f"{each.test.name}.litmus")
        paths[-1].write_text(each.test.text, encoding="utf-8")
    packaged = {"AArch64": "aarch64.cat", "PPC": "ppc.cat", "RISCV": "riscv.cat", "ARM": "arm.cat"}
    model = packaged.get(to.dialect, models.load()["x86"].path)
    if name == "riscv-zalasr":  # for herd7's model, lw.aq and sw.rl are no RCsc
        model = models.load()["riscv"].path
    answers = ask(herd7, model, paths)
    assert len(answers) == len(tests)
    for test in tests:
        states = answers[made[test.name].test.name].states
        may = language[test.name]
        assert may is None or not states_beyond(made[test.name], map(read_state, states), may), (
            test.name
        )


def loops(test: Test) -> bool:
    assert test.statements is not None
    return any(isinstance(s, Rmw | Cas) for thread in test.statements.threads for s in thread)


def read_state(line: str) -> State:
    pairs = re.findall(r"\[?([\w:]+)\]?=(-?\d+);", line)
    return dict(pairs)


def test_the_acquire_part_serves_a_compare_exchange_that_fails() -> None:
    cas = Cas("r0", "x", 0, 1, "rel", "acq")
    assert "LDAXR" in assembly(cas, "aarch64")
    assert "STLXR" in assembly(cas, "aarch64")
    assert "CASAL " in assembly(cas, "aarch64-lse")


def assembly(statement: Load | Rmw | Cas, name: str) -> str:
    test = read_test(LITMUS / "SB+rlxs.litmus")
    assert test.statements is not None
    body = msgspec.structs.replace(test.statements, threads=((statement,),), atoms=())
    return mapped(msgspec.structs.replace(test, body=body), target(name)).test.text


def test_rcpc_loads_are_ldapr_and_seq_cst_ones_ldar() -> None:
    assert "LDAPR" in assembly(Load("r0", "x", "acq"), "aarch64-rcpc")
    assert "LDAR" in assembly(Load("r0", "x", "sc"), "aarch64-rcpc")


def test_a_missing_mapping_is_explained() -> None:
    locks = read_test(LITMUS / "Dekker+one-lock.litmus")
    with pytest.raises(Unsupported, match="straight lines"):
        mapped(locks, target("x86"))
    with pytest.raises(BadInput, match="no mapping is called sparc"):
        target("sparc")
