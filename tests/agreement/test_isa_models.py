"""Our hardware models say of assembly what herd7's own say: states, observation and flags.

Measured on the suites that diy7 makes (suites.py) and on hand-written tests, which stand in
litmus/DIALECT/, each with what it is about. The quick tier takes a sample of each suite.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from engine_answers import engine
from herdtools import Answer, ask

from weakspot.harness.corpus import models
from weakspot.system import herdtools
from weakspot.system.tools import Tool

LITMUS = Path(__file__).parent / "litmus"
QUICK = 80  # tests of a suite in the quick tier

Suite = Callable[[str, int | None], list[Path]]


class Hardware(NamedTuple):
    """A model of ours, the dialect it is for, and the file of herd7's that it agrees with."""

    model: str
    dialect: str
    packaged: str

    @property
    def path(self) -> Path:
        return models.load()[self.model].path

    @property
    def axioms(self) -> Path:
        """The file with the axioms, which the model's own file may include."""
        own = self.path.with_name(f"{self.model}-axioms.cat")
        return own if own.is_file() else self.path

    @property
    def hand_written(self) -> list[Path]:
        return sorted((LITMUS / self.dialect).glob("*.litmus"))


HARDWARE = [
    Hardware("aarch64", "AArch64", "aarch64.cat"),
    Hardware("power", "PPC", "ppc.cat"),
    Hardware("riscv", "RISCV", "riscv.cat"),
    Hardware("x86", "X86_64", "x86tso.cat"),
]
each = pytest.mark.parametrize("hardware", HARDWARE, ids=[h.model for h in HARDWARE])

DIFFERENT = {"MP+dmb.sy+dsb.oshld", "SB+rl-aqs"}
"""Hand-written tests on which herd7's file is not what its paper says, or does not
know an extension; the test states why."""


@pytest.fixture(scope="session")
def packaged(herd7: Tool, tmp_path_factory: pytest.TempPathFactory) -> Callable[[Hardware], str]:
    """herd7's file. x86tso.cat says that it is for the dialect X86, so it goes without its name
    line; and it lets a locked instruction read the store that overwrites its own, so rmw joins
    its check of one location."""

    def path(hardware: Hardware) -> str:
        if hardware.packaged != "x86tso.cat":
            return hardware.packaged
        library = herdtools.libdir()
        assert library is not None, herd7.path
        text = (library / "x86tso.cat").read_text(encoding="utf-8")
        assert text.startswith("X86 TSO\n")
        copy = tmp_path_factory.mktemp("packaged") / "x86tso.cat"
        text = '"TSO"\n' + text.removeprefix("X86 TSO\n")
        assert "acyclic po-loc | com" in text
        text = text.replace("acyclic po-loc | com", "acyclic po-loc | rmw | com")
        copy.write_text(text, encoding="utf-8")
        return str(copy)

    return path


def both_cores(
    herd7: Tool, model: str | Path, tests: list[Path], *options: str
) -> dict[str, Answer]:
    """herd7's answers from two processes, each with every other test."""
    with ThreadPoolExecutor(2) as pool:
        halves = pool.map(
            lambda half: ask(herd7, model, half, *options),
            [h for h in (tests[::2], tests[1::2]) if h],
        )
        return {name: answer for half in halves for name, answer in half.items()}


@cache
def of_hand_written(herd7: Tool, hardware: Hardware) -> dict[str, Answer]:
    """The answers under our model."""
    return ask(herd7, hardware.path, hardware.hand_written)


def differing(ours: dict[str, Answer], theirs: dict[str, Answer]) -> set[str]:
    return {name for name, answer in ours.items() if answer != theirs[name]}


@pytest.mark.parametrize(
    "limit", [QUICK, pytest.param(None, marks=pytest.mark.full)], ids=["sample", "all"]
)
@each
def test_our_model_agrees_with_the_packaged_one_on_its_suite(
    herd7: Tool,
    tests_of: Suite,
    packaged: Callable[[Hardware], str],
    hardware: Hardware,
    limit: int | None,
) -> None:
    tests = tests_of(hardware.dialect, limit)
    # as herd7 answers under this model: test_engine_and_herd7.py
    ours = engine(hardware.path, tests)
    assert differing(ours, both_cores(herd7, packaged(hardware), tests)) == set()
    never = sum(answer.observation == "Never" for answer in ours.values())
    assert never > len(tests) // 5, "the suite asks for hardly anything that is forbidden"
    assert never < len(tests) - len(tests) // 5, "or for hardly anything that is allowed"
    print(f"{hardware.dialect}: {len(tests)} tests, {never} Never, no difference")


@pytest.mark.full
@pytest.mark.parametrize("dialect", ["AArch64", "C", "PPC", "RISCV", "X86", "X86_64"])
def test_a_suite_has_at_least_600_tests_of_2_to_4_threads(tests_of: Suite, dialect: str) -> None:
    tests = tests_of(dialect, None)
    assert len(tests) >= 600
    thread = r"^P(\d+) *\(" if dialect == "C" else r"\bP(\d+) *[|;]"
    texts = [test.read_text(encoding="utf-8") for test in tests]
    threads = {len(set(re.findall(thread, text, re.MULTILINE))) for text in texts}
    assert threads >= {2, 3, 4}


@each
def test_our_model_agrees_with_the_packaged_one_on_hand_written_tests(
    herd7: Tool, packaged: Callable[[Hardware], str], hardware: Hardware
) -> None:
    ours = of_hand_written(herd7, hardware)
    theirs = ask(herd7, packaged(hardware), hardware.hand_written)
    assert differing(ours, theirs) == DIFFERENT & set(ours)


def test_the_x86_model_reads_the_32_bit_dialect_too(herd7: Tool) -> None:
    tests = sorted((LITMUS / "X86").glob("*.litmus"))
    ours = ask(herd7, models.load()["x86"].path, tests)
    assert differing(ours, ask(herd7, "x86tso.cat", tests)) == set()


CONTRARY = {
    "a DSB of the outer domain orders reads as any DSB does": (
        *("aarch64", "AArch64/MP+dmb.sy+dsb.oshld", "aarch64.cat"),
        ("Never", "Sometimes"),
    ),
    "loads that acquire and stores that release are RCsc on RISC-V": (
        *("riscv", "RISCV/SB+rl-aqs", "riscv.cat"),
        ("Never", "Sometimes"),
    ),
    "a locked instruction reads before it writes": (
        *("x86", "X86_64/XCHG+store", "x86tso-mixed.cat"),
        ("Never", "Sometimes"),
    ),
    "sfence is no mfence": (
        *("x86", "X86_64/SB+sfences", "x86tso-mixed.cat"),
        ("Sometimes", "Never"),
    ),
}
"""Where ours answers otherwise: our model, a test, the packaged model, and the two answers."""


@pytest.mark.parametrize("what", CONTRARY)
def test_our_model_differs_from_the_packaged_one(herd7: Tool, what: str) -> None:
    model, name, packaged, expected = CONTRARY[what]
    test = LITMUS / f"{name}.litmus"
    (ours,) = ask(herd7, models.load()[model].path, [test]).values()
    (theirs,) = ask(herd7, packaged, [test]).values()
    assert (ours.observation, theirs.observation) == expected


@pytest.mark.parametrize("flush", ["clflush", "clflushopt"])
def test_a_flush_of_the_cache_is_no_mfence(herd7: Tool, flush: str) -> None:
    """Under x86tso-mixed.cat herd7 and the engine differ (docs/litmus-tests.md): for the engine a
    flush is no event."""
    test = LITMUS.parent / "flushes" / f"SB+{flush}s.litmus"
    x86 = models.load()["x86"].path
    (ours,) = ask(herd7, x86, [test]).values()
    (mixed,) = ask(herd7, "x86tso-mixed.cat", [test]).values()
    assert (ours.observation, mixed.observation) == ("Sometimes", "Never")
    assert list(engine(x86, [test]).values()) == [ours]


AXIOM = re.compile(r"^(?:acyclic|irreflexive|empty) .* as (\S+).*\n", re.MULTILINE)
AXIOMS = [(h, match[1]) for h in HARDWARE for match in AXIOM.finditer(h.axioms.read_text())]


@pytest.mark.parametrize(("hardware", "axiom"), AXIOMS, ids=[f"{h.model}-{a}" for h, a in AXIOMS])
def test_without_an_axiom_some_hand_written_test_is_answered_otherwise(
    herd7: Tool, tmp_path: Path, hardware: Hardware, axiom: str
) -> None:
    shutil.copy(hardware.path, tmp_path)
    text = hardware.axioms.read_text(encoding="utf-8")
    weaker = AXIOM.sub(lambda m: "" if m[1] == axiom else m[0], text)
    (tmp_path / hardware.axioms.name).write_text(weaker, encoding="utf-8")
    found = ask(herd7, tmp_path / hardware.path.name, hardware.hand_written, "-I", str(tmp_path))
    assert differing(of_hand_written(herd7, hardware), found)


@each
def test_acyclic_is_what_the_axioms_imply(
    herd7: Tool, hardware: Hardware, tests_of: Suite, tmp_path: Path
) -> None:
    acyclic = models.load()[hardware.model].acyclic == "program order"
    cat = tmp_path / "porf.cat"
    cat.write_text(
        f'"porf"\ninclude "{hardware.path.name}"\nflag ~acyclic [M]; po; [M] | rf as cycle\n'
    )
    # that there is a cycle, one test shows; that there is none, many
    tests = tests_of(hardware.dialect, QUICK) if acyclic else hardware.hand_written
    found = both_cores(herd7, cat, tests, "-I", str(models.folder()))
    cyclic = {name for name, answer in found.items() if "cycle" in answer.flags}
    assert (cyclic == set()) if acyclic else ("LB" in cyclic)


@each
def test_every_axiom_is_one_line_with_a_name_and_a_source(hardware: Hardware) -> None:
    files = dict.fromkeys([hardware.path, hardware.axioms])
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    code = re.sub(r"\(\*.*?\*\)", lambda c: re.sub(r"\S", " ", c[0]), text, flags=re.DOTALL)
    lines = [
        line
        for line, bare in zip(text.splitlines(), code.splitlines(), strict=True)
        if re.search(r"\b(acyclic|irreflexive|empty|flag)\b", bare)
    ]
    axiom = re.compile(r"(?:flag ~)?(?:acyclic|irreflexive|empty) \S.* as \S+ +\(\* [^*]+ \*\)")
    assert lines
    assert [line for line in lines if axiom.fullmatch(line) is None] == []
