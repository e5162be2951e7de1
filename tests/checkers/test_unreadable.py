"""What the engine cannot decide it refuses, at its place: a test that may be right is then another
checker's, a malformed one is its owner's mistake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from texts import SB, asked, made

from weakspot.errors import BadInput
from weakspot.generators.litmus import Test, read_test
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.herd7 import Herd7
from weakspot.system.tools import Tool

MIXED = sorted((Path(__file__).parent / "mixed").glob("*.litmus"))
UNSUPPORTED = {
    "an instruction": (
        "AArch64 i\n{ 0:X1=x; }\n P0 ;\n LDG X0,[X1] ;\nexists (x=0)\n",
        "mine/i.litmus:4:2",
    ),
    "a macro of the Linux kernel": (
        "C k\n{}\nP0 (int* x) {\n  WRITE_ONCE(*x, 1);\n}\nexists (x=0)\n",
        "mine/k.litmus:4:3",
    ),
    "an instruction as a value": (
        "AArch64 l\n{ 0:X1=NOP; }\n P0 ;\nL: NOP ;\nexists (0:X0=0)\n",
        "mine/l.litmus:2:8",
    ),
}
MODELS = {"AArch64": "aarch64", "C": "rc11", "PPC": "power", "RISCV": "riscv", "X86_64": "x86"}


def mine(text: str) -> Test:
    return made(text, path=f"mine/{text.split()[1]}.litmus")


@pytest.mark.parametrize("what", UNSUPPORTED)
def test_a_construct_that_the_engine_does_not_know_is_reported_and_ends_nothing(what: str) -> None:
    text, place = UNSUPPORTED[what]
    test = mine(text)
    other = {"AArch64": "AArch64 o\n{}\n P0 ;\n NOP ;\nexists (x=0)\n", "C": SB}[test.arch]
    verdicts = {v.test: v for v in asked(Engine(), [test, made(other)], MODELS[test.arch])}
    assert len(verdicts) == 2
    refused = verdicts.pop(test.name)
    assert refused.observation == "Unknown"
    assert f"({place})" in refused.reason
    assert next(iter(verdicts.values())).observation != "Unknown"


def test_a_malformed_test_is_bad_input() -> None:
    test = mine(SB.replace("exists (", "exists )"))
    with pytest.raises(BadInput):
        asked(Engine(), [mine(UNSUPPORTED["a macro of the Linux kernel"][0]), test], "rc11")


def test_herd7_decides_what_the_engine_does_not_know(need: Callable[[str], Tool]) -> None:
    need("herd7")
    (verdict,) = asked(Herd7(), [mine(UNSUPPORTED["an instruction as a value"][0])], "aarch64")
    assert verdict.observation == "Always"


@pytest.mark.parametrize("path", MIXED, ids=lambda path: path.stem)
def test_accesses_of_mixed_sizes_are_answered_or_refused(path: Path) -> None:
    test = read_test(path)
    (verdict,) = asked(Engine(), [test], MODELS[test.arch])
    if test.arch in ("AArch64", "X86_64") and path.stem != "exclusive-and-word":
        assert verdict.observation == "Sometimes"
        return
    assert verdict.observation == "Unknown"
    # an undeclared location has 32 bits
    assert any(words in verdict.reason for words in ("mixed sizes", "reaches beyond"))


@pytest.mark.parametrize("path", MIXED, ids=lambda path: path.stem)
def test_herd7_refuses_what_is_mixed_in_aarch64_too(
    path: Path, need: Callable[[str], Tool]
) -> None:
    need("herd7")
    test = read_test(path)
    (verdict,) = asked(Herd7(), [test], MODELS[test.arch])
    # elsewhere it takes each access for one of the whole location
    assert (verdict.observation == "Unknown") == (test.arch == "AArch64" or "part" in path.stem)


def test_accesses_of_one_size_are_decided_whatever_the_declaration() -> None:
    text = (
        "AArch64 narrow\n{ uint64_t x; 0:X1=x; 1:X1=x; }\n P0 | P1 ;\n"
        " MOV W0,#1 | LDR W2,[X1] ;\n STR W0,[X1] | ;\nexists (1:X2=1)\n"
    )
    (verdict,) = asked(Engine(), [made(text)], "aarch64")
    assert verdict.observation == "Sometimes"
