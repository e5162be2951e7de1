"""Calls of outline atomics, with the code in their place that they choose when the program runs.

With -moutline-atomics, GCC and clang compile a read-modify-write for Armv8.0 to a call of a helper
of libgcc or compiler-rt, such as `__aarch64_cas4_acq_rel`. It asks once whether the processor has
LSE, and from then on runs one instruction of LSE, or else a loop of exclusives (libgcc's
config/aarch64/lse.S). Both are code of one program on two processors: a function is read with the
one or the other.
"""

from __future__ import annotations

import re

from weakspot.generators.binary.instructions import Function, Instruction, operands

_HELPER = re.compile(
    r"__aarch64_(?P<op>cas|swp|ldadd|ldclr|ldset|ldeor)(?P<size>[48])_"
    r"(?P<order>relax|acq|rel|acq_rel|sync)"
)
_ELSEWHERE = 1 << 32
"""The offset of the code in place of calls: further than any function is long."""
_LENGTH = 4  # of an instruction, in bytes
_MOST = 16  # instructions in place of a call


class Inlined(Function, frozen=True):
    """A function with code in place of its calls of outline atomics: an instruction of LSE if
    `lse`, else a loop of exclusives."""

    lse: bool

    def at(self, offset: int) -> Instruction | None:
        if offset >= _ELSEWHERE:
            call, index = divmod((offset - _ELSEWHERE) // _LENGTH, _MOST)
            return self._inside(call * _LENGTH, index)
        found = super().at(offset)
        if found is None or not _is_call(found):
            return found
        return _instruction(offset, f"b #{_place(offset, 0)}")

    def _inside(self, offset: int, index: int) -> Instruction | None:
        """The instruction of that number in place of the call there."""
        call = super().at(offset)
        assert call is not None
        lines = _code(call.symbol, self.lse)
        if index < len(lines):
            name, _, text = lines[index].partition(" ")
            text = re.sub(r"@(\d+)", lambda to: f"#{_place(offset, int(to[1]))}", text)
            return _instruction(_place(offset, index), f"{name} {text}")
        # a call that is the last thing of the function is a jump
        ends = "ret" if call.name == "b" else f"b #{offset + call.length}"
        return _instruction(_place(offset, index), ends)


def inlined(function: Function, *, lse: bool) -> Function:
    """The function with code in place of its calls of outline atomics."""
    return Inlined(function.name, function.start, function.end, function.decoder, lse)


def _is_call(instruction: Instruction) -> bool:
    is_helper = _HELPER.fullmatch(instruction.symbol) is not None
    return instruction.name in ("b", "bl") and is_helper


def _place(call: int, index: int) -> int:
    return _ELSEWHERE + call * _MOST + index * _LENGTH


def _instruction(at: int, code: str) -> Instruction:
    name, _, text = code.partition(" ")
    return Instruction(at, _LENGTH, name, text, operands(text))


def _code(helper: str, lse: bool) -> list[str]:
    """The lines in place of a call, up to the return; @ and a number is a line."""
    asked = _HELPER.fullmatch(helper)
    assert asked is not None
    op, order = asked["op"], asked["order"]
    r = "x" if asked["size"] == "8" else "w"
    acquires = "a" if order in ("acq", "acq_rel") else ""
    releases = "l" if order in ("rel", "acq_rel", "sync") else ""
    if lse:
        acquires = "a" if order == "sync" else acquires
        if op == "cas":
            return [f"cas{acquires}{releases} {r}0, {r}1, [x2]"]
        return [f"{op}{acquires}{releases} {r}0, {r}0, [x1]"]
    load, store = f"ld{acquires}xr", f"st{releases}xr"
    barrier = ["dmb ish"] if order == "sync" else []
    given = f"mov {r}16, {r}0"
    match op:
        case "cas":
            return [
                given,
                f"{load} {r}0, [x2]",
                f"cmp {r}0, {r}16",
                "b.ne @6",
                f"{store} w17, {r}1, [x2]",
                "cbnz w17, @1",
                *barrier,
            ]
        case "swp":
            loop = [f"{load} {r}0, [x1]", f"{store} w17, {r}16, [x1]", "cbnz w17, @1"]
            return [given, *loop, *barrier]
        case "ldclr":
            given, computes = f"mvn {r}16, {r}0", "and"
        case _:
            computes = {"ldadd": "add", "ldset": "orr", "ldeor": "eor"}[op]
    return [
        given,
        f"{load} {r}0, [x1]",
        f"{computes} {r}17, {r}0, {r}16",
        f"{store} w15, {r}17, [x1]",
        "cbnz w15, @1",
        *barrier,
    ]
