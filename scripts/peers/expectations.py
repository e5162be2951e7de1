"""What a peer's repository expects of its own tests, read from a checkout.

Each peer has a function that yields Expectations; `PEERS` names them. Only what the peer's own test
scripts run is read, with the options that they give.
"""

from __future__ import annotations

import csv
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType


class NoCheckout(Exception):
    """The folder is not a checkout of the peer's repository."""


@dataclass(frozen=True)
class Expectation:
    """What a peer answers for the test in `file` under a model of ours.

    `suite` is the part of the peer's tests that it belongs to, `name` is unique within the peer's
    tests under one model. `answer` is, of a litmus test, herd7's Ok or No, and of a program "safe"
    or "violated", or its number of complete executions. `flags` are the compiler's, `loops` how
    many rounds a loop has at most. `unreported` are the kinds of violations that
    the peer does not report in this test."""

    suite: str
    name: str
    file: Path
    model: str
    answer: str
    flags: tuple[str, ...] = ()
    loops: int | None = None
    unreported: tuple[str, ...] = ()

    @property
    def is_test(self) -> bool:
        """Whether it is a litmus test, and no program."""
        return self.file.suffix == ".litmus"


def genmc(checkout: Path, scratch: Path) -> Iterator[Expectation]:
    """GenMC's tests/correct with their numbers of executions, and tests/wrong. As its
    scripts/driver.sh runs them, under rc11 and imm, and under sc where a number is given. Its
    rc11 has the release sequences of C++20, as our rc20."""
    tests = _folder(checkout, "tests/correct").parent
    for header in ("genmc.h", "genmc_internal.h"):  # without its headers of the C library
        (scratch / header).symlink_to(checkout / "include" / header)
    # what genmc.h expects of GenMC's build, and of its C library
    headers = (f"-I{scratch}", "-D__CONFIG_GENMC_INODE_DATA_SIZE=64", "-D__off_t=long")
    for folder in sorted(tests.glob("correct/*/*")):
        for name, model in _OF_GENMC.items():
            expected = folder / f"expected.{name}.mo.in"
            if folder.parent.name in _OWN_SEMANTICS or not expected.is_file():
                continue
            arguments = folder / f"args.{name}.mo.in"
            rows = arguments.read_text().splitlines() if arguments.is_file() else [""]
            for row, count in zip(rows, expected.read_text().split(), strict=False):
                rounds, flags = _genmc_options(row, checkout)
                yield from (
                    Expectation(
                        f"correct/{folder.parent.name}",
                        _with(f"{folder.parent.name}/{folder.name}/{source.stem}", row),
                        source,
                        model,
                        count,
                        (*flags, *headers),
                        rounds,
                        unreported=_unreported(row),
                    )
                    for source in _variants(folder)
                )
    for folder in sorted(tests.glob("wrong/*/*")):
        category = folder.parent.name
        if category in _OWN_SEMANTICS:
            continue
        models = ("rc20", "imm") if category in ("safety", "liveness") else ("rc20",)
        unroll = folder / "unroll.in"
        loops = _rounds(unroll.read_text()) if unroll.is_file() else None
        for model in models:
            for source in _variants(folder):
                name = f"{category}/{folder.name}/{source.stem}"
                yield Expectation(
                    f"wrong/{category}", name, source, model, "violated", headers, loops
                )


_OF_GENMC = MappingProxyType({"sc": "sc", "rc11": "rc20", "imm": "imm"})
"""Our model for each of GenMC's."""

_OWN_SEMANTICS = ("fs", "lapor", "lkmm", "relinche")
"""GenMC's tests of file systems, of locks without an order, of the kernel's macros, of a relation
between two libraries: none is run by its driver under rc11."""


def _genmc_options(row: str, checkout: Path) -> tuple[int | None, tuple[str, ...]]:
    """A row of GenMC's options and, after a bar, of clang's: the rounds of loops, and clang's."""
    own, _, flags = row.partition("|")
    unroll = re.search(r"-unroll=(\d+)", own)
    words = [
        f"-I{checkout / word[2:]}" if word.startswith("-I.") else word
        for word in shlex.split(flags)
    ]
    return _rounds(unroll[1]) if unroll else None, tuple(words)


def _unreported(row: str) -> tuple[str, ...]:
    """What GenMC does not report with a row of options."""
    hang = () if "-check-liveness" in row else ("hang",)
    return (*hang, "race") if "-disable-race-detection" in row else hang


def _rounds(unroll: str) -> int:
    """How often a loop returns to its header under this bound of GenMC's. With 1, it does not do so
    at all, which Bounds cannot say."""
    return max(int(unroll) - 1, 1)


def _with(name: str, row: str) -> str:
    """A name with the macros that a row of options defines, and disable-bam if that is in it."""
    macros = re.findall(r"-D(\S+)", row) + re.findall(r"-(disable-bam)", row)
    return f"{name}[{','.join(macros)}]" if macros else name


def _variants(folder: Path) -> list[Path]:
    return sorted(file for file in (folder / "variants").glob("*") if file.suffix in (".c", ".cpp"))


def nidhugg(checkout: Path, _scratch: Path) -> Iterator[Expectation]:
    """Nidhugg's litmus and smoke tests under sc: can an assertion fail. Its numbers of traces count
    another equivalence."""
    for suite in ("litmus", "smoke"):
        folder = _folder(checkout, f"tests/{suite}")
        for line in (folder / "reference.results.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                name, answer, *_ = line.split()
                file = folder / "C-tests" / f"{name}.c"
                yield Expectation(
                    suite,
                    f"{suite}/{name}",
                    file,
                    "sc",
                    "violated" if answer == "Allow" else "safe",
                    unreported=("hang",),
                )


def dartagnan(checkout: Path, _scratch: Path) -> Iterator[Expectation]:
    """Dartagnan's litmus tests of the languages and machines that weakspot has models of. As its
    AbstractLitmusTest does, of a table those whose file is there. And its C programs for which it
    knows whether an assertion fails."""
    resources = _folder(checkout, "dartagnan/src/test/resources")
    skipped = (resources / "dartagnan-skip.csv").read_text().split()
    for table, model in _OF_DARTAGNAN.items():
        with (resources / f"{table}-expected.csv").open(newline="") as rows:
            for name, answer in csv.reader(rows):
                if name not in skipped and (checkout / name).is_file():
                    answered = "Ok" if answer == "1" else "No"
                    yield Expectation(
                        f"litmus/{table}", f"{table}/{name}", checkout / name, model, answered
                    )
    for table in ("CLocks", "RC11Locks", "IMMLocks", "LFDS", "RC11LFDS", "IMMLFDS"):
        yield from _programs_of_dartagnan(checkout, table)


def _programs_of_dartagnan(checkout: Path, table: str) -> Iterator[Expectation]:
    """Those of one of its classes of tests, whose names are of compiled sources: ttas-acq2rx is
    ttas.c with ACQ2RX defined, mutex-acq2rx_lock is mutex.c with the same, and so on."""
    folder = "locks" if table.endswith("Locks") else "lfds"
    classes = _folder(checkout, "dartagnan/src/test/java/com/dat3m/dartagnan/llvm")
    java = classes / f"{table}Test.java"
    rows = re.findall(r'^ *\{"([\w-]+)", (\w+), (PASS|FAIL)\}', java.read_text(), re.MULTILINE)
    sources = {file.stem: file for file in (checkout / "benchmarks" / folder).glob("*.c")}
    headers = f"-I{checkout / 'include'}"
    for name, target, answer in rows:
        (file,) = (sources[each] for each in sources if name == each or name.startswith(f"{each}-"))
        variant = name.removeprefix(file.stem)[1:].upper()
        macros = (variant, variant.partition("_")[0], "FAIL") if variant else ()
        yield Expectation(
            f"programs/{folder}",
            f"{folder}/{name}",
            file,
            _OF_ITS_TARGETS[target],
            "safe" if answer == "PASS" else "violated",
            (headers, *(f"-D{macro.replace('-', '_')}" for macro in macros)),
            unreported=("hang", "race"),
        )


_OF_ITS_TARGETS = MappingProxyType(
    {
        "C11": "rc11",
        "IMM": "imm",
        "TSO": "tso",
        "ARM8": "aarch64",
        "POWER": "power",
        "RISCV": "riscv",
    }
)
"""Our model of programs for each of its targets."""


_OF_DARTAGNAN = MappingProxyType(
    {
        "C11": "c11",
        "RC11": "rc11",
        "TSO": "x86",
        "ARM8": "aarch64",
        "PPC": "power",
        "RISCV": "riscv",
        "LKMM": "lkmm",
    }
)
"""Our model for each of Dartagnan's tables of expected results."""


def herdtools(checkout: Path, _scratch: Path) -> Iterator[Expectation]:
    """herdtools7's tests of single instructions and of the language, of the variants that need no
    option of herd7's."""
    folder = _folder(checkout, "herd/tests/instructions")
    for dialect, model in _OF_HERD.items():
        for expected in sorted((folder / dialect).glob("*.litmus.expected")):
            said = re.search(r"^(Ok|No)$", expected.read_text(), re.MULTILINE)
            if said is not None:
                file = expected.with_suffix("")
                name = f"{dialect}/{file.stem}"
                yield Expectation(f"instructions/{dialect}", name, file, model, said[1])


_OF_HERD = MappingProxyType(
    {"AArch64": "aarch64", "PPC": "power", "RISCV": "riscv", "X86_64": "x86", "C": "rc11"}
)


Reader = Callable[[Path, Path], Iterator[Expectation]]
"""Reads a checkout; what it writes for its tests goes into the second folder."""

PEERS: Mapping[str, Reader] = MappingProxyType(
    {"genmc": genmc, "nidhugg": nidhugg, "dartagnan": dartagnan, "herdtools7": herdtools}
)


def _folder(checkout: Path, name: str) -> Path:
    folder = checkout / name
    if not folder.is_dir():
        raise NoCheckout(f"no folder {name} in {checkout}")
    return folder
