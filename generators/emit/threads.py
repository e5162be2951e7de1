"""The C statements of a Test's threads, for programs that compilers compile."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.emit.c11 import expression, guarded_registers
from weakspot.generators.emit.kernel import OF_A_TEST
from weakspot.generators.litmus import Atom, Body, Cas, Fence, Guard, Load, Rmw, Test

Observable = tuple[int | None, str]
"""A register of a thread, or a location (thread None): part of a state."""


class ThreadText(msgspec.Struct, frozen=True):
    """A thread's C text: `parameters` are its locations with index and type, `observed`
    the registers that the condition names."""

    parameters: tuple[tuple[int, str, str], ...]
    observed: tuple[str, ...]
    lines: tuple[str, ...]


def statements(test: Test) -> Body:
    """The threads and the condition of a test. Raises Unsupported if they are not known."""
    if test.arch != "C":
        raise Unsupported(f"it is {test.arch} assembly, not C")
    if test.body is not None and test.body.kernel:
        raise Unsupported(OF_A_TEST)
    if test.statements is None:
        raise Unsupported(
            "not read: its threads are no straight lines of atomic accesses, or its condition is "
            "not exists over a conjunction"
        )
    return test.statements


class Asking(Protocol):
    """A test's content with a condition."""

    @property
    def atoms(self) -> tuple[Atom, ...]: ...


def observables(read: Asking) -> tuple[Observable, ...]:
    """The registers and locations in the test's condition: their values are a state."""
    return tuple(dict.fromkeys((atom.thread, atom.name) for atom in read.atoms))


def thread_text(
    number: int,
    read: Body,
    observed: Sequence[str],
    *,
    value: Callable[[str, int], str] = lambda _, number: str(number),
    stamped: Collection[str] = (),
    result: str = "out[{at}] = {reg};",
) -> ThreadText:
    """The C text of a thread of a Test. `value` writes a number to store; values that are read from
    `stamped` locations are stamped. `result` writes the `at`th of the `observed` registers to its
    result; registers that are not reached hold UNREACHED."""
    statements = read.threads[number]
    guarded = set(guarded_registers(statements))
    source = {
        s.reg: s.loc for s in statements if isinstance(s, Load | Rmw)
    }  # a compare-exchange returns whether it succeeded, not a value
    lines = [f"int {reg} = UNREACHED;" for reg in sorted(guarded)]
    used: dict[str, None] = {}
    depth = 0
    for at, statement in enumerate(statements):
        if isinstance(statement, Guard):
            loc = source.get(statement.reg, "")
            compared = statement.reg
            if loc in stamped:
                compared = f"meant({compared}, base, {read.init.get(loc, 0)})"
            lines.append("  " * depth + f"if ({compared} == {statement.value}) {{")
            depth += 1
            continue
        if not isinstance(statement, Fence):
            used[statement.loc] = None
        cell = f"e{at}"
        if isinstance(statement, Cas):
            lines.append("  " * depth + f"int {cell} = {value(statement.loc, statement.expected)};")
        text = expression(statement, f"&{cell}", value)
        if isinstance(statement, Load | Rmw | Cas):
            text = f"{'' if statement.reg in guarded else 'int '}{statement.reg} = {text}"
        lines.append("  " * depth + f"{text};")
    lines += ["  " * level + "}" for level in range(depth - 1, -1, -1)]
    names = {s.reg for s in statements if isinstance(s, Load | Rmw | Cas)}
    if unknown := [reg for reg in observed if reg not in names]:
        raise Unsupported(
            f"the condition asks for {number}:{unknown[0]}, which nothing is read into"
        )
    lines += [f"(void){reg};" for reg in sorted(names - set(observed))]
    lines += [result.format(at=at, reg=reg) for at, reg in enumerate(observed)]
    parameters = tuple(
        (read.locations.index(loc), "int" if loc in read.plain else "atomic_int", loc)
        for loc in used
    )
    return ThreadText(parameters, tuple(observed), tuple(lines))
