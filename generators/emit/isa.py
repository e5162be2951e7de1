"""A Test as an assembly litmus test: the code of a compiler that maps C11 atomics by a table.

The tables are in mappings.toml, each with its publication.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import zip_longest
from typing import Any

import msgspec

from weakspot.errors import BadInput, Unsupported
from weakspot.generators.emit.c11 import UNREACHED, guarded_registers
from weakspot.generators.litmus import (
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
)

Part = str | tuple[str, ...]


SCRATCH = ("s", "n", "m")


class Target(msgspec.Struct, frozen=True):
    """A table of mappings.toml: the `lines` of each statement, and the `parts` of lines by memory
    order. `model` is the model of ours that the assembly is for, "" where there is none.

    Its code uses the registers `operands`, which conditions and initial states call `names`, and
    `addresses` for the addresses of locations; none where code names locations."""

    name: str
    title: str
    dialect: str
    model: str
    reference: str
    operands: tuple[str, ...]
    names: tuple[str, ...]
    addresses: tuple[str, ...]
    lines: dict[str, tuple[str, ...]]
    parts: dict[str, dict[str, Part]]


class Mapped(msgspec.Struct, frozen=True):
    """A Test in assembly. `registers` maps the C test's registers, by thread and name, to those of
    the assembly."""

    test: Test
    registers: dict[tuple[int, str], str]


_REGISTERS = ("operands", "names", "addresses")


@cache
def targets() -> Mapping[str, Target]:
    """The tables by name."""
    text = resources.files(__package__).joinpath("mappings.toml").read_text(encoding="utf-8")
    tables: dict[str, dict[str, Any]] = tomllib.loads(text)
    found: dict[str, Target] = {}
    for name, table in tables.items():
        base = found.get(table.pop("like", ""))
        parts = table.pop("parts", {})
        known = ("title", "dialect", "model", "reference", *_REGISTERS)
        about: dict[str, Any] = {key: table.pop(key) for key in known if key in table}
        about |= {key: tuple(about[key].split()) for key in _REGISTERS if key in about}
        if base is not None:
            inherited = ("dialect", "model", *_REGISTERS)
            about = {key: getattr(base, key) for key in inherited} | about
            table, parts = base.lines | table, base.parts | parts
        found[name] = msgspec.convert(
            about | {"name": name, "lines": table, "parts": parts}, Target
        )
    return found


def target(name: str) -> Target:
    """The table of that name. Raises BadInput for an unknown name."""
    if name not in targets():
        raise BadInput(f"no mapping is called {name}", advice="there are " + ", ".join(targets()))
    return targets()[name]


def mapped(test: Test, to: Target) -> Mapped:
    """The Test as compiled for a target, whose name is added to its own.

    Raises Unsupported for a test without statements (a file with loops or locks, or assembly), and
    for one that needs more registers than there are.
    """
    body = test.statements
    if test.body is not None and test.body.kernel:
        raise Unsupported(
            f"{test.name} has no assembly here: it has the Linux kernel's primitives",
            advice="klitmus7 makes a kernel module of it",
        )
    if body is None:
        raise Unsupported(
            f"{test.name} has no assembly here: its threads are not straight lines of C",
            place=test.path or "",
            advice="a mapping takes C tests whose threads are straight lines, without locks and "
            "computed values, and whose condition is `exists` over a conjunction",
        )
    threads = [_Thread(test, number, thread, to) for number, thread in enumerate(body.threads)]
    registers = {
        (thread.number, reg): name for thread in threads for reg, name in thread.named.items()
    }
    initial = [thread.initial for thread in threads]
    code = [thread.code() for thread in threads]
    return assembled(test, to.name, to.dialect, to.title, code, initial, registers)


def assembled(
    test: Test,
    suffix: str,
    dialect: str,
    title: str,
    code: Sequence[Sequence[str]],
    initial: Sequence[Mapping[str, str | int]],
    registers: dict[tuple[int, str], str],
) -> Mapped:
    """The assembly test of a C test whose `code` is given by thread, with the `initial` contents of
    registers. Registers of the condition that have no counterpart are left out of it. `suffix` ends
    its name, `title` describes the code's origin."""
    body = test.statements
    assert body is not None
    init = [f"{loc}={value};" for loc, value in body.init.items()]
    for number, thread in enumerate(initial):
        init += [f"{number}:{name}={value};" for name, value in thread.items()]
    condition = " /\\ ".join(
        str(atom)
        if atom.thread is None
        else f"{atom.thread}:{registers[atom.thread, atom.name]}={atom.value}"
        for atom in body.atoms
        if atom.thread is None or (atom.thread, atom.name) in registers
    )
    name = f"{test.name}.{suffix}"
    text = "\n".join(
        [
            f"{dialect} {name}",
            *([f'"{test.cycle}"'] if test.cycle else []),
            f"Target={title}",
            "{ " + " ".join(init) + " }",
            *_table([[f"P{number}", *lines] for number, lines in enumerate(code)]),
            f"exists ({condition or 'true'})",
            "",
        ]
    )
    made = Test(
        name=name, arch=dialect, text=text, shape=test.shape, cycle=test.cycle, origins=test.origins
    )
    return Mapped(made, registers)


class _Thread:
    """The code of a thread; used once. `named` maps its registers, `initial` holds the registers'
    initial contents."""

    def __init__(self, test: Test, number: int, thread: Thread, to: Target) -> None:
        self.test, self.number, self.to = test, number, to
        self.operands: dict[str, str] = {}
        self.named: dict[str, str] = {}
        self.places: dict[str, str] = {}
        self.initial: dict[str, str | int] = {}
        self.labels = 0
        self.thread = thread
        results = [s.reg for s in thread if isinstance(s, Load | Rmw | Cas)]
        for each in (*results, *SCRATCH):
            self._register(each)
        for reg in guarded_registers(thread):
            self.initial[self.named[reg]] = UNREACHED
        for statement in thread:
            if not isinstance(statement, Fence | Guard):
                self._place(statement.loc)

    def _register(self, name: str) -> None:
        taken = len(self.operands)
        if taken >= len(self.to.operands):
            raise self._short()
        self.operands[name] = self.to.operands[taken]
        if name not in SCRATCH:
            self.named[name] = self.to.names[taken]

    def _place(self, loc: str) -> None:
        if loc in self.places:
            return
        if not self.to.addresses:
            self.places[loc] = loc
            return
        if len(self.places) >= len(self.to.addresses):
            raise self._short()
        register = self.to.addresses[len(self.places)]
        self.places[loc] = register
        self.initial[register] = loc

    def _short(self) -> Unsupported:
        return Unsupported(
            f"thread {self.number} of {self.test.name} needs more registers than {self.to.dialect} "
            "has here",
            place=self.test.path or "",
        )

    def code(self) -> list[str]:
        """Its lines, labels on lines of their own."""
        lines = [line for statement in self.thread for line in self._lines(statement)]
        if any(isinstance(statement, Guard) for statement in self.thread):
            lines.append(f"{self._end}:")
        return lines

    @property
    def _end(self) -> str:
        return f"E{self.number}"

    def _lines(self, statement: Statement) -> Iterator[str]:
        self.labels += 1
        values = {
            **{name: self.operands[name] for name in SCRATCH},
            "L": f"L{self.number}{self.labels}",
            "F": f"F{self.number}{self.labels}",
            "end": self._end,
        }
        if not isinstance(statement, Fence | Guard):
            values["at"] = self.places[statement.loc]
        if not isinstance(statement, Fence | Store):
            values["r"] = self.operands[statement.reg]
        kind, order, numbers = _phrase(statement, self.to)
        values |= {name: str(number) for name, number in numbers.items()}
        for line in self.to.lines[kind]:
            for written in _expand(line, self.to.parts, order):
                if written:
                    yield written.format_map(values)


def _phrase(statement: Statement, to: Target) -> tuple[str, Order, dict[str, int]]:
    """The entry of the table, the order that chooses its parts, the numbers in its lines."""
    match statement:
        case Load(order=order):
            return "load", order, {}
        case Store(value=value, order=order):
            return "store", order, {"value": value}
        case Rmw(op=op, operand=value, order=order):
            return op, order, {"value": value, "minus": -value, "not": ~value}
        case Cas(expected=expected, desired=desired, weak=weak):
            kind = "cas_weak" if weak and "cas_weak" in to.lines else "cas"
            return kind, stronger_order(statement), {"expected": expected, "desired": desired}
        case Fence(order=order):
            return "fence", order, {}
        case Guard(value=value):
            return "guard", "na", {"value": value}


def stronger_order(cas: Cas) -> Order:
    """The memory order that suffices whether a compare-exchange succeeds or fails."""
    if "sc" in (cas.success, cas.failure):
        return "sc"
    if cas.failure != "acq":
        return cas.success
    return "acq" if cas.success in ("rlx", "acq") else "acq_rel"


_PART = re.compile(r"\{(\w+)\}")


def _expand(line: str, parts: Mapping[str, Mapping[str, Part]], order: Order) -> Sequence[str]:
    """The line with its parts of this order; several lines when a part is that alone."""
    whole = _PART.fullmatch(line)
    if whole and whole[1] in parts:
        part = parts[whole[1]].get(order, "")
        return (part,) if isinstance(part, str) else part
    return (
        _PART.sub(
            lambda match: str(parts[match[1]].get(order, "")) if match[1] in parts else match[0],
            line,
        ),
    )


def _table(columns: Sequence[Sequence[str]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in columns]
    for row in zip_longest(*columns, fillvalue=""):
        cells = (f" {cell:<{width}} " for cell, width in zip(row, widths, strict=True))
        yield "|".join(cells) + ";"
