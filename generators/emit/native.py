"""A Test and its variants as one C program that runs them on hardware and counts the outcomes.

The threads are the test's own C11 operations, inlined into loops over many instances; the template
says how they meet, and what is counted. So that memory need not be reset between two batches, the
values that are stored are stamped: an epoch's base is added to them, and a value below the base of
the epoch in which it is read is the initial value. Locations whose values depend on their contents
(sums, comparisons with the initial value) are reset instead.

If a test's condition is about registers only and each location is written at one place, the program
can also run it perpetually: the threads never meet, each store writes the number of its round, and
the values that are read say which rounds of another thread came before. (Melissaris, Markakis, Shaw
and Martonosi, PerpLE, MICRO 2020; `templates/perpetual.c.j2` explains what is counted, and why it
is the test's own outcome.)
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.emit.assembly import assembly
from weakspot.generators.emit.c11 import UNREACHED
from weakspot.generators.emit.threads import (
    Observable,
    ThreadText,
    observables,
    statements,
    thread_text,
)
from weakspot.generators.litmus import Body, Cas, Fence, Load, Rmw, Store, Test

if TYPE_CHECKING:
    from jinja2 import Template

_LARGEST = 1 << 12  # the limit of a stamped value: an int holds the bases of half a million batches


class Observed(msgspec.Struct, frozen=True):
    """Where an observed value comes from: the `index`th observed register of a thread, or the
    `index`th location (thread None). A stamped one is below its epoch's base where it is the
    initial value, `init`."""

    thread: int | None
    index: int
    stamped: bool
    init: int


class Followed(msgspec.Struct, frozen=True):
    """An observed register in a perpetual run: whose writes it reads, the value that the test's
    write leaves, the one before it, and whether the condition needs the write to be read."""

    thread: int
    index: int
    writer: int
    value: int
    init: int
    wanted: bool


def perpetual(read: Body) -> tuple[Followed, ...] | None:
    """The observed registers of a test that can run perpetually, in the order of `observables`.

    None for a test that cannot. It can if nothing depends on values, each location is written by a
    single store, exchange or sum, and the condition is about registers only, into which written
    locations are read."""
    writers: dict[str, tuple[int, int]] = {}
    readers: dict[Observable, str] = {}
    for thread, line in enumerate(read.threads):
        for statement in line:
            match statement:
                case Store(loc=loc, value=left) if loc not in writers:
                    writers[loc] = thread, left
                case Rmw(reg=reg, loc=loc, op="exch" | "fetch.add") if loc not in writers:
                    before = read.init.get(loc, 0) if statement.op == "fetch.add" else 0
                    writers[loc] = thread, before + statement.operand
                    readers[thread, reg] = loc
                case Load(reg=reg, loc=loc):
                    readers[thread, reg] = loc
                case Fence():
                    pass
                case _:
                    return None
    found: list[Followed] = []
    counts = [0] * len(read.threads)
    for atom in read.atoms:
        loc = readers.get((atom.thread, atom.name), "")
        if atom.thread is None or loc not in writers:
            return None
        writer, value = writers[loc]
        init = read.init.get(loc, 0)
        if value == init or atom.value not in (value, init):
            return None
        index, counts[atom.thread] = counts[atom.thread], counts[atom.thread] + 1
        wanted = atom.value == value
        found.append(Followed(atom.thread, index, writer, value, init, wanted))
    together = len(read.threads) > 1 and len(observables(read)) == len(found) > 0
    return tuple(found) if together else None


class Version(msgspec.Struct, frozen=True):
    """The code of a thread in some of the variants, as a named function; `stream` is the perpetual
    form."""

    name: str
    text: ThreadText
    stream: ThreadText | None


def native_source(test: Test, *variants: Test) -> str:
    """The C source of the program that runs a test or, selected by a parameter, one of the
    variants, which differ only in memory orders and fences. Code that several of them share is
    written once.

    Raises Unsupported for a test whose statements are not known.
    """
    if test.arch != "C":
        return _assembly_source(test)
    read = statements(test)
    asked = observables(read)
    stamped = {loc for loc in read.locations if _can_be_stamped(loc, read)}
    index = {loc: number for number, loc in enumerate(read.locations)}
    by_thread = [
        tuple(name for thread, name in asked if thread == number)
        for number in range(len(read.threads))
    ]

    def stamp(loc: str, given: int) -> str:
        return f"base + {given}" if loc in stamped else str(given)

    def counted(loc: str, _: int) -> str:
        return "1" if loc in summed else "base"

    summed = {
        each.loc
        for each in itertools.chain(*read.threads)
        if isinstance(each, Rmw) and each.op == "fetch.add"
    }
    followed = perpetual(read)
    versions: dict[tuple[int, ThreadText], Version] = {}

    def version(of: Body, number: int) -> Version:
        def text(value: Callable[[str, int], str]) -> ThreadText:
            return thread_text(number, of, by_thread[number], value=value, stamped=stamped)

        written = text(stamp)
        known = versions.get((number, written))
        if known is not None:
            return known
        count = sum(thread == number for thread, _ in versions)
        stream = text(counted) if followed else None
        made = Version(f"{number}_{count}" if count else str(number), written, stream)
        return versions.setdefault((number, written), made)

    family = [
        [
            version(msgspec.structs.replace(each, locations=read.locations), number)
            for number in range(len(read.threads))
        ]
        for each in map(statements, (test, *variants))
    ]
    return template("native.c.j2").render(
        condition=test.condition,
        variants=family,
        versions=list(versions.values()),
        followed=followed or [],
        observed=_observed(read, asked, stamped, index, by_thread),
        wanted=[(asked.index((atom.thread, atom.name)), atom.value) for atom in read.atoms],
        step=1 + max((value for _, value in _stores(read, stamped)), default=0),
        resets=[
            (index[loc], read.init.get(loc, 0)) for loc in read.locations if loc not in stamped
        ],
        locations=len(read.locations),
        unreached=UNREACHED,
    )


def _assembly_source(test: Test) -> str:
    """The C source for a test in assembly: each location is set back after every batch."""
    read = assembly(test)
    asked = observables(read)
    observed = [
        Observed(None, read.locations.index(name), False, 0)
        if thread is None
        else Observed(thread, read.threads[thread].observed.index(name), False, 0)
        for thread, name in asked
    ]
    versions = [Version(str(number), text, None) for number, text in enumerate(read.threads)]
    return template("native.c.j2").render(
        condition=test.condition,
        variants=[versions],
        versions=versions,
        followed=[],
        observed=observed,
        wanted=[(asked.index((atom.thread, atom.name)), atom.value) for atom in read.atoms],
        step=1,
        resets=[(at, read.init.get(loc, 0)) for at, loc in enumerate(read.locations)],
        locations=len(read.locations),
        unreached=UNREACHED,
    )


@lru_cache
def template(name: str) -> Template:
    """A template of C."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    return environment.get_template(name)


def _stores(read: Body, locations: set[str]) -> list[tuple[str, int]]:
    """The values that are stored in the locations, operands of sums among them."""
    found = []
    for statement in itertools.chain(*read.threads):
        match statement:
            case Store(loc=loc, value=value) | Rmw(loc=loc, operand=value):
                found.append((loc, value))
            case Cas(loc=loc, desired=desired, expected=expected):
                found += [(loc, desired), (loc, expected)]
    return [(loc, value) for loc, value in found if loc in locations]


def _can_be_stamped(loc: str, read: Body) -> bool:
    init = read.init.get(loc, 0)
    for statement in itertools.chain(*read.threads):
        if isinstance(statement, Rmw) and statement.loc == loc and statement.op != "exch":
            return False
        if isinstance(statement, Cas) and statement.loc == loc and statement.expected == init:
            return False
    return all(0 <= value < _LARGEST for _, value in _stores(read, {loc}))


def _observed(
    read: Body,
    asked: Sequence[Observable],
    stamped: set[str],
    index: dict[str, int],
    by_thread: Sequence[Sequence[str]],
) -> list[Observed]:
    found = []
    for thread, name in asked:
        if thread is None:
            if name not in index:
                raise Unsupported(f"the condition asks for {name}, which no thread uses")
            found.append(Observed(None, index[name], name in stamped, read.init.get(name, 0)))
            continue
        if thread >= len(read.threads):
            raise Unsupported(
                f"the condition asks for {thread}:{name}; there is no thread {thread}"
            )
        loc = next(
            (s.loc for s in read.threads[thread] if isinstance(s, Load | Rmw) and s.reg == name), ""
        )
        where = by_thread[thread].index(name)
        found.append(Observed(thread, where, loc in stamped, read.init.get(loc, 0)))
    return found
