"""The operands of an inline assembly statement: from LLVM's constraints to C variables.

In: the constraint string and the types of results and arguments (LangRef, "Inline Asm Constraint
String"). Out: one Operand per number in the template, and the variables behind them.
"""

from __future__ import annotations

import re

import msgspec

WIDTH = {"ptr": 64, "i1": 8, "i8": 8, "i16": 16, "i32": 32, "i64": 64}
"""The types of values that an instruction can work on, and their widths in bits."""

C_TYPES = {"ptr": "void *", "i1": "_Bool", "i8": "uint8_t", "i16": "uint16_t"}
C_TYPES |= {"i32": "uint32_t", "i64": "uint64_t", "i128": "unsigned __int128"}
C_TYPES |= {"float": "float", "double": "double"}


class NotUnderstood(Exception):
    """The statement has no meaning that is known."""


class Operand(msgspec.Struct, frozen=True):
    """What a number in the template stands for: a C expression that can be assigned to if the
    operand is an output. A memory operand is an object, whose `address` is an expression too."""

    text: str
    type: str
    address: str | None = None


class Argument(msgspec.Struct, frozen=True):
    """An argument of the call: its type, and for a memory operand that of the object."""

    type: str
    element: str | None


class Operands(msgspec.Struct, frozen=True):
    """The operands by number; the C variables behind register operands with their types and initial
    values; named registers, "ax", and their variables; the variable of each result; the registers
    that the statement clobbers."""

    by_number: tuple[Operand, ...]
    variables: dict[str, tuple[str, str | None]]
    registers: dict[str, str]
    results: tuple[str, ...]
    flag_results: dict[str, str]
    clobbers_memory: bool
    clobbered: frozenset[str] = frozenset()


def c_type(name: str) -> str:
    if name not in C_TYPES:
        raise NotUnderstood
    return C_TYPES[name]


def read_operands(
    constraints: str, results: tuple[str, ...], arguments: tuple[Argument, ...]
) -> Operands:
    """The operands of a statement. Raises NotUnderstood."""
    parts = re.findall(r"(?:\{[^}]*\}|[^,{])+", constraints)
    found: list[Operand] = []
    variables: dict[str, tuple[str, str | None]] = {}
    registers: dict[str, str] = {}
    outputs: list[str] = []
    flags: dict[str, str] = {}
    waiting = list(enumerate(arguments))

    def object_of(constraint: str) -> Operand:
        number, argument = waiting.pop(0)
        if argument.element is None:
            raise NotUnderstood(constraint)
        # of an object of another type, only the address is of use
        type_ = C_TYPES.get(argument.element, "char")
        return Operand(f"(*({type_} *)a{number})", argument.element, f"a{number}")

    for part in parts:
        if part.startswith("~"):
            continue
        if part.startswith("!"):
            raise NotUnderstood(part)
        number = len(found)
        named = re.search(r"\{([^}@]+)\}", part)
        if part.startswith("="):
            if "*" in part:
                found.append(object_of(part))
                continue
            type_ = results[len(outputs)]
            name = f"v{number}"
            if condition := re.search(r"\{@cc(\w+)\}", part):
                flags[name] = condition[1]
            if named:
                registers[named[1]] = name
            variables[name] = (type_, None)
            outputs.append(name)
            found.append(Operand(name, type_))
        elif "*" in part:
            found.append(object_of(part))
        else:
            index, argument = waiting.pop(0)
            tied = int(part) if part.isdigit() else None
            if named and named[1] in registers:
                tied = next(n for n, each in enumerate(found) if each.text == registers[named[1]])
            name = found[tied].text if tied is not None else f"v{number}"
            type_ = argument.type
            if tied is not None:
                type_ = max(type_, variables[name][0], key=lambda each: WIDTH.get(each, 0))
            elif named:
                registers[named[1]] = name
            variables[name] = (type_, f"a{index}")
            found.append(Operand(name, argument.type))
    if waiting:
        raise NotUnderstood(constraints)
    return Operands(
        by_number=tuple(found),
        variables=variables,
        registers=registers,
        results=tuple(outputs),
        flag_results=flags,
        clobbers_memory="~{memory}" in parts,
        clobbered=frozenset(re.findall(r"~\{r?([abcd]x)\}", constraints)),
    )
