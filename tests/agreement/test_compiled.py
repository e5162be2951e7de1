"""What a compiler made of a test is read from its machine code and compared with the source: code
that keeps the source's meaning is called so, and code that does not is caught.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path

import msgspec
import pytest

from weakspot.errors import BadInput
from weakspot.generators.binary.isa import options
from weakspot.generators.emit.isa import target
from weakspot.generators.litmus import Test, read_test
from weakspot.harness.campaign import plan
from weakspot.harness.checkers import Checker
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.herd7 import Herd7
from weakspot.harness.codegen.check import CodegenCheck
from weakspot.harness.codegen.configurations import (
    Configuration,
    ObjectFile,
    compile_each,
    configurations,
    platforms,
)
from weakspot.harness.corpus import models
from weakspot.harness.corpus.structures import structures
from weakspot.harness.values.codegen import CodegenComparison
from weakspot.system.tools import Tool

LITMUS = Path(__file__).parent / "litmus"

everywhere = pytest.mark.parametrize("place", platforms())

#: how clang has a compare-exchange's result on Power: as leading zeros, or, newer ones, in parts of
#: the condition register
NOT_UNDERSTOOD = ("cntlzw", "srwi", "mfocrf", "crclr", "crset")


def inspected(
    tests: Sequence[Test],
    words: Sequence[str],
    *,
    edit: Callable[[bytes], bytes] = lambda content: content,
    checker: Checker | None = None,
) -> tuple[CodegenComparison, ...]:
    """The comparison of each code with its test, the object files edited before they are read."""

    def compile(
        text: str, wanted: Iterable[Configuration], done: Callable[[ObjectFile], None]
    ) -> None:
        for made in objects(text, wanted):
            done(msgspec.structs.replace(made, content=edit(made.content)))

    asked = checker or Engine(witnesses=False)
    inspection = CodegenCheck(tests, plan.models(["c11"]), asked, compile=compile)
    inspection.compile(configurations(words), lambda: None)
    inspection.check(5, lambda: None)
    return inspection.answers()


@cache
def of_hand_written(place: str) -> tuple[CodegenComparison, ...]:
    """The comparisons of the tests written by hand, without optimisation and with it."""
    return inspected(straight(), ["zig", "O0", "O2", place])


#: what was compiled in this run of pytest; zig takes a second each time
_OBJECTS: dict[tuple[str, str, str], ObjectFile] = {}


def objects(text: str, wanted: Iterable[Configuration]) -> list[ObjectFile]:
    keys = {(text, *each.key): each for each in wanted}

    def keep(made: ObjectFile) -> None:
        _OBJECTS[text, *made.config.key] = made

    compile_each(text, [each for key, each in keys.items() if key not in _OBJECTS], keep)
    return [_OBJECTS[key] for key in keys]


def words(old: int, mask: int, new: Callable[[int], int]) -> Callable[[bytes], bytes]:
    """Replaces the instructions of four bytes that match."""

    def edited(content: bytes) -> bytes:
        changed = bytearray(content)
        for at in range(0, len(content) - 3, 2):
            (word,) = struct.unpack_from("<I", content, at)
            if word & mask == old:
                struct.pack_into("<I", changed, at, new(word))
        assert bytes(changed) != content, "there is nothing to plant a fault into"
        return bytes(changed)

    return edited


def bytes_of(old: str, new: str) -> Callable[[bytes], bytes]:
    def edited(content: bytes) -> bytes:
        assert bytes.fromhex(old) in content, "there is nothing to plant a fault into"
        return content.replace(bytes.fromhex(old), bytes.fromhex(new))

    return edited


#: faults as a compiler could have made them: test, place, what is changed in the machine code
FAULTS = {
    "x86: a fence that is not locked": (
        *("SB+fence.scs", "x86"),
        bytes_of("f0834c24c000", "90834c24c000"),
    ),
    "x86: an xadd that is not locked": ("RMW+adds", "x86", bytes_of("f00fc1", "900fc1")),
    "aarch64: stlr as str": (
        *("MP+rel+acq", "aarch64"),
        words(0x889FFC00, 0xFFFFFC00, lambda word: 0xB9000000 | (word & 0x3FF)),
    ),
    "aarch64: ldar as ldr": (
        *("MP+rel+acq", "aarch64-lse"),
        words(0x88DFFC00, 0xFFFFFC00, lambda word: 0xB9400000 | (word & 0x3FF)),
    ),
    "aarch64: no dmb": (
        *("SB+fence.scs", "aarch64"),
        words(0xD5033BBF, 0xFFFFFFFF, lambda _: 0xD503201F),
    ),
    **{
        f"{place}: the helper that adds as the one that clears": (
            *("RMW+adds", place),
            lambda content: content.replace(b"__aarch64_ldadd4_", b"__aarch64_ldclr4_"),
        )
        for place in ("aarch64-outline", "aarch64-outline-lse")
    },
    "aarch64: ldapr as ldr": (
        *("MP+rel+acq", "aarch64-rcpc"),
        words(0xB8BFC000, 0xFFFFFC00, lambda word: 0xB9400000 | (word & 0x3FF)),
    ),
    "power: no lwsync": (
        *("MP+rel+acq", "power"),
        words(0x7C2004AC, 0xFFFFFFFF, lambda _: 0x60000000),
    ),
    "power: no isync": (
        *("MP+rel+acq", "power"),
        words(0x4C00012C, 0xFFFFFFFF, lambda _: 0x60000000),
    ),
    "riscv: no fence": (
        *("MP+rel+acq", "riscv"),
        words(0x0000000F, 0xF00FFFFF, lambda _: 0x00000013),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_wrong_compilation_is_caught(fault: str) -> None:
    name, place, edit = FAULTS[fault]
    test = read_test(LITMUS / f"{name}.litmus")
    for level in ("O0", "O2"):
        (right,) = inspected([test], ["zig", level, place])
        assert right.result == "Preserved"
        (wrong,) = inspected([test], ["zig", level, place], edit=edit)
        assert wrong.result == "Weaker"
        assert wrong.beyond
        assert wrong.assembly
        assert wrong.test is not None


@everywhere
def test_compiled_code_keeps_what_the_source_promises(place: str) -> None:
    """Tests written by hand, without optimisation and with it."""
    tests = straight()
    answers = of_hand_written(place)
    assert {each.source for each in answers} == {test.name for test in tests}
    assert [each.source for each in answers if each.result == "Weaker"] == []
    for each in answers:
        if each.result == "Unknown":
            assert accounted_for(each), each.reason


def accounted_for(answer: CodegenComparison) -> bool:
    """Whether it is known that there is no answer: how, or that each attempt of an atomic add
    without optimisation is a loop in a loop."""
    if answer.target == "power" and answer.unread.partition(":")[0] in NOT_UNDERSTOOD:
        return True
    return "time limit" in answer.reason and "-O0" in answer.builds[0]


@everywhere
def test_herd7_reads_the_code_and_agrees(
    place: str, need: Callable[[str], Tool], request: pytest.FixtureRequest
) -> None:
    """Tests without read-modify-writes: herd7 warns about loops, and knows few of x86's. The short
    tier takes half of them."""
    need("herd7")
    tests = [
        test for test in straight() if "exchange" not in test.text and "fetch" not in test.text
    ]
    assert len(tests) > 20
    if not request.config.getoption("--full"):
        tests = tests[::2]
    names = {test.name for test in tests}
    ours = [each for each in of_hand_written(place) if each.source in names]
    herds = inspected(tests, ["zig", "O0", "O2", place], checker=Herd7())
    assert results(ours) == results(herds)


def results(answers: Iterable[CodegenComparison]) -> list[tuple[str, tuple[str, ...], str]]:
    return [(each.source, each.builds, each.result) for each in answers]


def straight() -> list[Test]:
    tests = [read_test(path) for path in sorted(LITMUS.glob("*.litmus"))]
    return [test for test in tests if test.statements is not None]


def test_unsupported_code_is_unknown_and_located() -> None:
    """A dmb that became the reading of a system register, another that became no instruction."""
    test = read_test(LITMUS / "SB+fence.scs.litmus")
    for code, reason in ((0xD53BE040, "mrs"), (0x00000000, "instruction")):
        edit = words(0xD5033BBF, 0xFFFFFFFF, partial(lambda code, _: code, code))
        (answer,) = inspected([test], ["zig", "O2", "aarch64"], edit=edit)
        assert answer.result == "Unknown"
        assert reason in answer.reason
        assert "thread 0" in answer.reason


def test_a_test_without_straight_lines_is_unknown() -> None:
    test = read_test(LITMUS / "Dekker+one-lock.litmus")
    (answer,) = inspected([test], ["zig", "O2", "x86"])
    assert answer.result == "Unknown"
    assert "straight lines" in answer.reason


def test_a_race_leaves_nothing_to_compare() -> None:
    message = """C MP+na
{}
P0 (int* x, atomic_int* y) {
  *x = 1;
  atomic_store_explicit(y,1,memory_order_relaxed);
}
P1 (int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y,memory_order_relaxed);
  int r1 = *x;
}
exists (1:r0=1 /\\ 1:r1=0)
"""
    test = Test(name="MP+na", arch="C", text=message)
    (answer,) = inspected([test], ["zig", "O2", "aarch64"])
    assert answer.result == "Undefined"


def test_levels_that_give_the_same_code_are_one_answer() -> None:
    test = read_test(LITMUS / "MP+rel+acq.litmus")
    answers = inspected([test], ["zig", "x86"])
    assert sorted(name for each in answers for name in each.builds) == [
        config.name for config in configurations(["zig", "x86"])
    ]
    assert len(answers) < 4


def test_memory_of_the_threads_own_is_not_shared() -> None:
    """Without optimisation everything goes through the stack; of that the test knows nothing."""
    test = read_test(LITMUS / "SB+rlxs.litmus")
    (answer,) = inspected([test], ["zig", "O0", "aarch64"])
    assert answer.assembly.count("[sp") > 4
    assert answer.test is not None
    accesses = [line for line in answer.test.text.replace("|", "\n").splitlines() if "[X" in line]
    assert len(accesses) == 4


def test_an_unknown_configuration_lists_the_known_ones() -> None:
    with pytest.raises(BadInput, match="'icc' is no compiler, level or target"):
        configurations(["icc"])
    assert {config.level for config in configurations(["zig", "O1", "x86"])} == {"O1"}
    assert {config.platform.name for config in configurations(["zig"])} == set(platforms())


@pytest.mark.full
@everywhere
def test_every_compiler_keeps_what_the_corpus_promises(place: str) -> None:
    """gcc 12 compiles RISC-V compare-exchanges by the order of their failure, and forgets the
    release of success."""
    tests = list({t.name: t for structure in structures() for t in structure.golden()}.values())
    assert len(tests) > 300
    for answer in inspected(tests, [place]):
        if answer.result == "Weaker":
            assert place == "riscv"
            assert all(name.startswith("gcc-12") for name in answer.builds)
            assert "cas" in answer.source
        if answer.result == "Unknown":
            assert accounted_for(answer), answer.reason


def test_the_models_of_machines_are_those_of_the_mappings() -> None:
    mappings = {options(name).like or name for name in platforms()}
    assert {target(name).model for name in mappings} <= set(models.load())
