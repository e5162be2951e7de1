"""What instructions work on, in C: the operands of a statement, registers, memory and flags.

The methods write statements in terms of the operands' variables. What is read before anything is
written to it, and a flag that no instruction has set, raises NotUnderstood.
"""

from __future__ import annotations

import re

import msgspec

from weakspot.generators.source.assembly.operands import WIDTH, NotUnderstood, Operand, Operands

_PARTS = {"b": 8, "w": 16, "k": 32, "q": 64}
_CONDITIONS = {
    **dict.fromkeys(("z", "e"), "zf"),
    **dict.fromkeys(("nz", "ne"), "!zf"),
    **dict.fromkeys(("c", "b", "nae"), "cf"),
    **dict.fromkeys(("nc", "nb", "ae"), "!cf"),
    "s": "sf",
    "ns": "!sf",
}
_LEGACY = {
    name: (register, bits)
    for register in ("ax", "bx", "cx", "dx")
    for name, bits in (
        (register[0] + "l", 8),
        (register, 16),
        (f"e{register}", 32),
        (f"r{register}", 64),
    )
} | {
    f"r{number}{suffix}": (f"r{number}", bits)
    for number in range(8, 16)
    for suffix, bits in (("b", 8), ("w", 16), ("d", 32), ("", 64))
}


class Value(msgspec.Struct, frozen=True):
    """An operand of an instruction: an expression of so many bits; an object's address if it is
    memory; 0 bits: a constant, which fits any width."""

    text: str
    bits: int
    address: str | None = None
    variable: str | None = None


class State:
    """The state after the instructions so far, and their statements."""

    def __init__(self, operands: Operands) -> None:
        self._operands = operands
        self._out: list[str] = []
        self._flags: set[str] = set()
        self._flag_statements: list[str] = []
        self._flags_matter = False
        self._written = {
            name for name, (_, initial) in operands.variables.items() if initial is not None
        }

    def _value(self, text: str, width: int | None) -> Value:
        """An operand, read with this width, or with its own."""
        if found := re.fullmatch(r"\$\$(-?(?:0x[0-9a-fA-F]+|\d+))", text):
            return Value(f"((uint{width or 64}_t){found[1]})", width or 0)
        if found := re.fullmatch(r"%(\w+)", text):
            return self._legacy(found[1])
        if found := re.fullmatch(r"(-?\d*)\((?:\$(\d+)|\$\{(\d+)(?::q)?\})\)", text):
            operand = self._operand(int(found[2] or found[3]))
            bits = width or 0
            if operand.address:
                raise NotUnderstood(text)
            address = f"((char *){operand.text} + {found[1] or 0})"
            return Value("", bits, address=address)
        found = re.fullmatch(r"\$(\d+)|\$\{(\d+)(?::(\w))?\}", text)
        if found is None:
            raise NotUnderstood(text)
        operand = self._operand(int(found[1] or found[2]))
        part = found[3]
        if operand.address:
            stated = width or WIDTH.get(operand.type)
            if stated is None or part is not None:
                raise NotUnderstood(text)
            return Value("", stated, address=operand.address)
        if part is not None and part not in _PARTS:
            raise NotUnderstood(text)
        return self._register(operand.text, (_PARTS[part] if part else None) or width)

    def _legacy(self, name: str) -> Value:
        """A register that is named in the text: the operand that is in it, or one that the
        statement clobbers."""
        register, bits = _LEGACY.get(name, ("", 0))
        variable = self._operands.registers.get(register)
        if variable is None:
            if register not in self._operands.clobbered:
                raise NotUnderstood(f"%{name}")
            variable = self._operands.registers[register] = f"clobbered_{register}"
            self._operands.variables[variable] = ("i64", None)
        return self._register(variable, bits)

    def _operand(self, number: int) -> Operand:
        if number >= len(self._operands.by_number):
            raise NotUnderstood(f"${number}")
        return self._operands.by_number[number]

    def _register(self, variable: str, bits: int | None) -> Value:
        type_ = self._operands.variables[variable][0]
        if type_ not in WIDTH:
            raise NotUnderstood(type_)
        bits = bits or WIDTH[type_]
        whole = f"(uint64_t){variable}" if type_ == "ptr" else variable
        return Value(f"((uint{bits}_t){whole})", bits, variable=variable)

    def _pointer(self, value: Value, width: int) -> str:
        return f"(uint{width}_t *){value.address}"

    def _read(self, value: Value, width: int) -> str:
        if value.address is not None:
            return f"__atomic_load_n({self._pointer(value, width)}, __ATOMIC_RELAXED)"
        if value.variable is not None and value.variable not in self._written:
            raise NotUnderstood(f"{value.variable} is read before it is written")
        return value.text

    def _write(self, value: Value, expression: str) -> None:
        """Assign, as x86 does: 8 and 16 bits leave the rest of a register, 32 bits clear it."""
        if value.address is not None:
            pointer = self._pointer(value, value.bits)
            self._out.append(f"__atomic_store_n({pointer}, {expression}, __ATOMIC_RELAXED);")
            return
        if value.variable is None:
            raise NotUnderstood("a constant as a target")
        name = value.variable
        type_ = self._operands.variables[name][0]
        if type_ == "ptr":
            self._out.append(f"{name} = (void *)(uint64_t)(uint{value.bits}_t)({expression});")
        elif value.bits < 32 and value.bits < WIDTH[type_] and name in self._written:
            rest = f"({name} & ~(uint{WIDTH[type_]}_t){(1 << value.bits) - 1})"
            self._out.append(f"{name} = {rest} | (uint{value.bits}_t)({expression});")
        else:
            self._out.append(f"{name} = (uint{value.bits}_t)({expression});")
        self._written.add(name)

    def _new(self, width: int, expression: str) -> str:
        name = f"t{len(self._out)}"
        self._out.append(f"uint{width}_t {name} = {expression};")
        return name

    def _set_flag(self, name: str, expression: str, *, pure: bool = True) -> None:
        self._flags.add(name)
        self._out.append(f"{name} = {expression};")
        if pure:
            self._flag_statements.append(self._out[-1])

    def _condition(self, name: str) -> str:
        expression = _CONDITIONS.get(name)
        if expression is None or expression.strip("!") not in self._flags:
            raise NotUnderstood(f"condition {name}")
        self._flags_matter = True
        return expression

    def _set_result_flags(self, width: int, result: str) -> None:
        self._set_flag("zf", f"{result} == 0")
        self._set_flag("sf", f"({result} >> {width - 1}) & 1")
