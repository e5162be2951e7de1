"""The litmus Test: a few short threads, a condition, and where in the source they come from.

The one representation between the generators and every backend. Values are frozen; a Test that
entered as a `.litmus` file carries its text and no body.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from weakspot.errors import BadInput, excerpt, reported

if TYPE_CHECKING:
    from weakspot._engine import LitmusFile

Order = Literal[
    "na",
    "rlx",
    "acq",
    "rel",
    "acq_rel",
    "sc",
    # of the Linux kernel: of accesses, then of fences alone
    "once",
    "acquire",
    "release",
    "mb",
    "noreturn",
    "rmb",
    "wmb",
    "before-atomic",
    "after-atomic",
    "sync-rcu",
]

#: memory orders as C spells them; "na" is a plain, non-atomic access
C_ORDER: dict[str, str] = {
    "rlx": "memory_order_relaxed",
    "acq": "memory_order_acquire",
    "rel": "memory_order_release",
    "acq_rel": "memory_order_acq_rel",
    "sc": "memory_order_seq_cst",
}

#: memory orders as the Linux kernel's model names them
KERNEL_ORDER: dict[str, Order] = {"rlx": "once", "acq": "acquire", "rel": "release", "sc": "mb"}


def of_library(file: str) -> bool:
    """Whether a file of a site is none of the user's, but a library's or the system's: `<name>`."""
    return file.startswith("<")


class Site(msgspec.Struct, frozen=True):
    """One memory operation in the source. `chain` lists the calls that lead to it, innermost
    first, as `function@file:line:column`."""

    file: str
    line: int
    column: int
    function: str
    kind: str  # R W RMW CAS F lock unlock
    order: str
    chain: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Load(msgspec.Struct, frozen=True, tag="load"):
    reg: str
    loc: str
    order: Order


class Store(msgspec.Struct, frozen=True, tag="store"):
    loc: str
    value: int
    order: Order


class Rmw(msgspec.Struct, frozen=True, tag="rmw"):
    """`reg` takes the old value. `op`: exch, fetch.add, fetch.sub, fetch.or, fetch.and,
    fetch.xor (diy7's words)."""

    reg: str
    loc: str
    op: str
    operand: int
    order: Order


class Cas(msgspec.Struct, frozen=True, tag="cas"):
    """`reg` takes 1 on success, else 0. `expected` is the value it is compared with."""

    reg: str
    loc: str
    expected: int
    desired: int
    success: Order
    failure: Order
    weak: bool = False


class Fence(msgspec.Struct, frozen=True, tag="fence"):
    order: Order


class Guard(msgspec.Struct, frozen=True, tag="guard"):
    """The rest of the thread runs only if `reg` equals `value` (a control dependency)."""

    reg: str
    value: int


Statement = Load | Store | Rmw | Cas | Fence | Guard
Thread = tuple[Statement, ...]


class Atom(msgspec.Struct, frozen=True):
    """`thread:name = value`, or `[name] = value` for a location (thread is None)."""

    thread: int | None
    name: str
    value: int

    @property
    def left(self) -> str:
        """What has the value."""
        return f"[{self.name}]" if self.thread is None else f"{self.thread}:{self.name}"

    def __str__(self) -> str:
        return f"{self.left}={self.value}"


class Origin(msgspec.Struct, frozen=True):
    """Where in a program a Test comes from. `sites[t]` are the sites of thread t's accesses and
    fences, in order (Guards have none); `locations` maps the Test's names to the program's."""

    structure: str
    scenario: str
    operations: tuple[str, ...]
    sites: tuple[tuple[Site, ...], ...]
    locations: dict[str, str]

    def __str__(self) -> str:
        where = " || ".join(
            f"{operation} {','.join(str(site) for site in sites)}"
            for operation, sites in zip(self.operations, self.sites, strict=True)
        )
        return f"{self.structure}/{self.scenario}: {where}"


class Body(msgspec.Struct, frozen=True):
    """The threads of a C11 Test. The condition is `exists` over the conjunction of `atoms`.
    `init` holds the locations that do not start as 0; `plain` those accessed as plain ints.
    `kernel`: the primitives are those of the Linux kernel; then the threads in `sections` are in
    critical sections of RCU as a whole, and what is stored to one of the `pointers` is the address
    of the location that it is mapped to, which the thread that reads it accesses through it."""

    threads: tuple[Thread, ...]
    atoms: tuple[Atom, ...]
    locations: tuple[str, ...]
    init: dict[str, int]
    plain: frozenset[str]
    kernel: bool = False
    sections: frozenset[int] = frozenset()
    pointers: dict[str, str] = {}


class Test(msgspec.Struct, frozen=True):
    """A litmus test.

    `shape` is the critical cycle's family in diy7's words (SB, MP, …), empty for a foreign file;
    `cycle` its edges as diy7 writes them; `text` the litmus source; `body` is None for a test
    that was read from a file. `folder` is the folder that was named, for a test that was found in
    one; `unread` says why the file is not a litmus test.
    """

    __test__ = False  # not for pytest to collect

    name: str
    arch: str
    text: str
    shape: str = ""
    cycle: str = ""
    body: Body | None = None
    origins: tuple[Origin, ...] = ()
    path: str | None = None
    folder: str | None = None
    unread: str = ""

    @property
    def condition(self) -> str:
        """The final condition as written, e.g. `exists (0:r0=0 /\\ 1:r0=0)`."""
        return _condition(self.text)

    @property
    def herd_hash(self) -> str:
        """herdtools7's digest of the test, the `Hash=` of its logs; empty if it is not certain."""
        from weakspot import _engine

        return _engine.herd_hash(self.text)

    @property
    def statements(self) -> Body | None:
        """The body, if it is one of C11; for a C test that was read from a file, the body that its
        text describes, if its threads are straight lines of accesses, fences and guards and its
        condition is a conjunction."""
        if self.body is not None and self.body.kernel:
            return None
        if self.body is not None or self.arch != "C":
            return self.body
        return _read(self.text)

    @property
    def sites(self) -> tuple[str, ...]:
        """`file:line` of every site of every origin, each once, in order."""
        found = dict.fromkeys(
            str(site) for origin in self.origins for thread in origin.sites for site in thread
        )
        return tuple(found)

    @property
    def thread_sites(self) -> tuple[tuple[str, ...], ...]:
        """By thread, `file:line` of its accesses and fences in order, from the first origin in the
        text's metadata; () for a test that names none."""
        match = _ORIGIN.search(self.text)
        if match is None:
            return ()
        threads = match["threads"].split(" || ")
        return tuple(tuple(thread.partition(" ")[2].split(",")) for thread in threads)


@lru_cache(maxsize=1024)  # used by each backend
def _read(text: str) -> Body | None:
    from weakspot import _engine

    found = _engine.straight_line(text)
    return None if found is None else msgspec.convert(found, Body)


_ORIGIN = re.compile(r"^Origin1=[^:\n]*: (?P<threads>.*\S)", re.M)  # as Origin.__str__ writes it
ARCHITECTURES = ("C", "X86", "X86_64", "AArch64", "ARM", "PPC", "RISCV", "MIPS", "LISA", "BPF")


def _condition(text: str) -> str:
    from weakspot import _engine

    try:
        return _engine.outline(text)["condition"]
    except _engine.EngineError:
        return ""


_LOCATIONS = re.compile(r"^\s*locations\b", re.M)


def found_test(path: Path, folder: Path) -> Test:
    """A `.litmus` file that was found in a folder; what is wrong with it is the test's `unread`."""
    try:
        return msgspec.structs.replace(read_test(path), folder=str(folder))
    except BadInput as error:
        return Test(
            name=path.stem,
            arch="",
            text=str(path),
            path=str(path),
            folder=str(folder),
            unread=f"{error.message} ({error.place or path})",
        )


def file_test(file: LitmusFile) -> Test:
    """The test in a file of a folder."""
    return msgspec.structs.replace(found_test(Path(file.path), Path(file.folder)), name=file.name)


def read_test(path: Path) -> Test:
    """Read a `.litmus` file: its architecture, its name, its text.

    Raises BadInput when the file cannot be read, has no header, no initial state, or neither a
    final condition nor a list of locations; the threads are for the checkers to judge.
    """
    from weakspot import _engine

    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadInput("not a text file", place=str(path)) from error
    except OSError as error:
        raise BadInput(f"cannot read the file: {error.strerror}", place=str(path)) from error
    try:
        outline = _engine.outline(text)
    except _engine.EngineError as error:
        raise reported(
            error.problem, BadInput, f"not a litmus test: {error}", source=path
        ) from None
    if outline["dialect"] not in ARCHITECTURES:
        raise BadInput(
            f"not a litmus test: unknown architecture {outline['dialect']}",
            place=f"{path}:1",
            excerpt=excerpt(text, 1),
            advice=f"the architectures are {', '.join(ARCHITECTURES)}",
        )
    if not outline["condition"] and not _LOCATIONS.search(outline["end"]):
        raise BadInput(
            "the litmus test has no final condition",
            place=f"{path}:{len(text.splitlines())}",
            advice="end it with exists (…), ~exists (…) or forall (…)",
        )
    return Test(name=outline["name"], arch=outline["dialect"], text=text, path=str(path))
