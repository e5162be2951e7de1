"""Symbolic simulation of a thread: the effect of each step on what is known of registers and
memory, and the code that is left of it.

The state says which register and which stack slot holds which address. An access through the
address of a location is shared and stays as the compiler wrote it. A slot of the stack or of the
results becomes a register: no other thread can access it, and dependencies pass through it as they
do through memory that a thread reads back (Armv8's `(addr | data); rfi`, Power's `rfi` in `ii0`,
rule 12 of RISC-V). Computations of addresses are left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import msgspec

from weakspot.generators.binary.instructions import Memory
from weakspot.generators.binary.semantics import (
    Access,
    Barrier,
    Compare,
    Compute,
    ConditionBit,
    Copy,
    NotUnderstood,
    Semantics,
    Shift,
    Step,
    Truth,
)

APART = 64
"""Bytes between two results: too far apart for one store to write two."""

Facts = tuple[tuple[str, str], ...]
Key = tuple[int, Facts]
"""A node: an offset, and what is known of each condition field there, by name: "equal", "unequal",
or "conditional" where a store-conditional has set it and no branch has tested it yet. The name with
a colon stands for the field's first bit: "set", "clear"."""


class Address(msgspec.Struct, frozen=True):
    """An address: of a location (`region` is its name in brackets), the stack or the results."""

    region: str
    offset: int = 0


class Bit(msgspec.Struct, frozen=True):
    """0 or 1, in the lowest byte only unless it is the `whole` register."""

    whole: bool = True


class Fields(msgspec.Struct, frozen=True):
    """A copy of a condition field with what is known of it; () if nothing is."""

    facts: Facts = ()


class Lower(msgspec.Struct, frozen=True):
    """The lower half of a value, as an unsigned number; or, `moved`, shifted to the upper half. It
    may be known to be a `bit`."""

    moved: bool
    bit: bool = False


Value = Address | Bit | Fields | Lower | int | None
"""What is known of a register; None for data, of which the upper 32 bits repeat the sign."""

State = dict[str, Value]


class Line(msgspec.Struct, frozen=True):
    """A line of code: fields for registers, each with its size, for the location {at} and the label
    {to}. A line that does not `stay` matters only for what it writes."""

    code: str
    reads: Mapping[str, tuple[str, int]] = {}
    writes: Mapping[str, tuple[str, int]] = {}
    words: Mapping[str, str] = {}
    at: str = ""
    to: Key | None = None
    stay: bool = False
    kind: str = ""  # reserves, conditional: of the access; fails: of a branch


class Simulator:
    """Performs the steps of a thread. `slots` is the private memory that was used, by region:
    offsets and sizes in bytes."""

    def __init__(self, semantics: Semantics, results: int) -> None:
        self.semantics, self.results = semantics, results
        self.slots: dict[str, dict[int, int]] = {"stack": {}, "out": {}}

    def perform(self, step: Step, state: State) -> list[Line]:
        """The lines that are left of a step; `state` becomes the state after it. Raises
        NotUnderstood."""
        match step:
            case Copy():
                return self._copy(step, state)
            case Compute():
                return self._compute(step, state)
            case Compare():
                return self._compare(step, state)
            case Shift(to=to, of=of, left=left):
                value = state.get(of)
                moved = isinstance(value, Lower) and value.moved
                if isinstance(value, int) and not left:
                    lines = self._put(to, value >> 32, state)
                    state[to] = Lower(moved=False)
                    return lines
                if isinstance(value, Address | Fields) or moved is left:
                    raise NotUnderstood
                small = isinstance(value, Bit) or (isinstance(value, Lower) and value.bit)
                state[to] = Bit() if small and not left else Lower(left, small)
                copy = self.semantics.copy(False, 4)
                return [] if to == of else [Line(copy, {"a": (of, 4)}, {"t": (to, 4)})]
            case Truth(code=code, to=to, reads=reads, size=size):
                sources = {field: (reg, 4) for field, reg in reads.items()}
                self.want(state, sources)
                state[to] = self._bit(to, size, state)
                sinks = {"t": (to, 4)} | ({"s": ("scratch", 4)} if "{s}" in code else {})
                return [Line(code, sources, sinks)]
            case ConditionBit(to=to, of=of, field=field, first=first):
                value = state.get(of)
                known = dict(value.facts) if isinstance(value, Fields) else {}
                fact = known.get(f"{field}:" if first else field)
                if fact is None:
                    raise NotUnderstood("a bit of a condition field of which nothing is known")
                return self._put(to, int(fact in ("equal", "set")), state)
            case Access():
                return self._access(step, state)
            case Barrier(code=code):
                return [Line(code, stay=True)]
        raise NotUnderstood

    def _copy(self, step: Copy, state: State) -> list[Line]:
        to, of, size = step.to, step.of, step.size
        if isinstance(of, Memory):
            private, name = self._own_register(of, size, state)
            if not private:
                if isinstance(to, Memory) or not step.code or size != 4:
                    raise NotUnderstood(f"reads {size} bytes of a location in an unsupported way")
                state[to] = None
                return [Line(step.code, {}, {"r": (to, 4)}, at=name, stay=True)]
            of = name
        value = of if isinstance(of, int) else state.get(of)
        if isinstance(to, Memory):
            private, name = self._own_register(to, size, state)
            if not private:
                if not step.code or size != 4 or isinstance(value, Address):
                    raise NotUnderstood(f"writes {size} bytes to a location in an unsupported way")
                words, sources, before = self._operands({"r": of}, state)
                return [*before, Line(step.code, sources, {}, words, name, stay=True)]
            to = name
        if isinstance(value, int):
            return self._put(to, value, state, size)
        if isinstance(value, Address | Fields):
            if size != 8:
                raise NotUnderstood("moves a part of an address")
            state[to] = value
            return []
        assert isinstance(of, str)
        if isinstance(value, Bit):
            if size > 1 and not value.whole:
                raise NotUnderstood("reads a register of which only a byte is known")
            state[to] = self._bit(to, size, state, step.whole)
        elif size < 4:
            raise NotUnderstood("moves a part of a value")
        else:
            state[to] = None
        if to == of:
            return []
        width = max(size, 4)
        return [Line(self.semantics.copy(False, width), {"a": (of, width)}, {"t": (to, width)})]

    def _bit(self, to: str, size: int, state: State, whole: bool = False) -> Bit:
        """The value of a register after 0 or 1 was written to `size` bytes of it."""
        old = state.get(to)
        blank = isinstance(old, int) and 0 <= old < 256
        merged = size == 1 and self.semantics.merges and not to.startswith(("stack", "out"))
        return Bit(whole=whole or blank or not merged)

    def _put(self, to: str, number: int, state: State, size: int = 4) -> list[Line]:
        if size == 1 and not 0 <= number < 2:
            raise NotUnderstood("writes a byte of a value")
        number = _signed(number)
        merged = size == 1 and not self._bit(to, size, state).whole
        state[to] = Bit(whole=False) if merged else number
        word = self.semantics.number(number, False)
        return [Line(self.semantics.copy(True, 4), {}, {"t": (to, 4)}, {"a": word or str(number)})]

    def _compute(self, step: Compute, state: State) -> list[Line]:
        to, a, b = (self._private(each, step.size, state) for each in (step.to, step.a, step.b))
        assert isinstance(to, str)
        left, right = (each if isinstance(each, int) else state.get(each) for each in (a, b))
        if step.op == "add" and isinstance(right, Address):
            left, right = right, left
        if isinstance(left, Address) and isinstance(right, int) and step.op in ("add", "sub"):
            by = right if step.op == "add" else -right
            state[to] = Address(left.region, left.offset + by)
            if step.flags:
                state[step.flags] = Fields()
            return []
        if isinstance(left, Address | Fields) or isinstance(right, Address | Fields):
            raise NotUnderstood("computes with an address")
        if isinstance(left, int) and isinstance(right, int):
            if step.flags:
                state[step.flags] = Fields()
            return self._put(to, _folded(step.op, left, right), state)
        if step.op == "and" and isinstance(left, Bit) and isinstance(right, int) and right % 2:
            assert isinstance(a, str)
            state[to] = Bit(whole=left.whole or step.size > 1)
            if step.flags:
                state[step.flags] = Fields()
            copy = self.semantics.copy(False, 4)
            return [] if to == a else [Line(copy, {"a": (a, 4)}, {"t": (to, 4)})]
        if step.size < 4:
            raise NotUnderstood("computes with a part of a value")
        words, sources, before = self._operands({"a": a, "b": b}, state, {"b"})
        code = self.semantics.compute(step.op, "b" in words, bool(step.flags))
        if code is None and "b" in words and not step.flags:
            words, sources, before = self._operands({"a": a, "b": b}, state, (), reg=True)
            code = self.semantics.compute(step.op, False, False)
        if code is None:
            raise NotUnderstood(f"no such instruction in the dialect: {step.op}")
        small = step.op in ("and", "xor", "or") and all(
            isinstance(each, Bit) or (isinstance(each, int) and each in (0, 1))
            for each in (left, right)
        )
        state[to] = Bit() if small else None
        sinks = {"t": (to, 4)}
        if step.flags:
            state[step.flags] = None
            sinks["f"] = (step.flags, 4)
        return [*before, Line(code, sources, sinks, words)]

    def _compare(self, step: Compare, state: State) -> list[Line]:
        a, b = (self._private(each, step.size, state) for each in (step.a, step.b))
        assert isinstance(a, str)
        value = state.get(a)
        if isinstance(value, Address) or (step.size < 4 and not isinstance(value, Bit)):
            raise NotUnderstood("compares what is no whole value")
        if step.bits:
            if not (isinstance(value, Bit) and b == 1) and a != b:
                raise NotUnderstood("asks for bits")
            b = 0
        elif isinstance(value, Bit) and not value.whole and step.size > 1:
            raise NotUnderstood("compares a register of which only a byte is known")
        words, sources, before = self._operands({"a": a, "b": b}, state, {"b"}, step.size == 1)
        code = self.semantics.compare("b" in words)
        if code is None:
            raise NotUnderstood("no such comparison in the dialect")
        state[step.flags] = None
        return [*before, Line(code, sources, {"f": (step.flags, 4)}, words)]

    def _access(self, step: Access, state: State) -> list[Line]:
        private, name = self._own_register(step.at, step.size, state)
        if private or step.size != 4:
            raise NotUnderstood("an atomic access that is not of a location, or not of an int")
        words, sources, before = self._operands(step.reads, state)
        sinks = {}
        for field, register in step.writes.items():
            state[register] = None
            sinks[field] = (register, 4)
        line = Line(step.code, sources, sinks, words, name, stay=True, kind=step.kind)
        return [*before, line]

    def _operands(
        self,
        given: Mapping[str, str | int],
        state: State,
        immediate: Collection[str] = (),
        narrow: bool = False,
        reg: bool = False,
    ) -> tuple[dict[str, str], dict[str, tuple[str, int]], list[Line]]:
        """The operands of a line: words, registers, and the lines before it that load numbers into
        registers. `immediate` are the fields that may be numbers; `reg` requires registers,
        `narrow` reads their lowest byte."""
        words: dict[str, str] = {}
        sources: dict[str, tuple[str, int]] = {}
        before: list[Line] = []
        for field, of in given.items():
            if isinstance(of, str):
                sources[field] = (of, 4)
                continue
            stored = field not in immediate
            word = None if reg else self.semantics.number(_signed(of), stored)
            if word is not None:
                words[field] = word
                continue
            scratch = f"number{len(before)}"
            before += self._put(scratch, of, {})
            sources[field] = (scratch, 4)
        self.want(state, sources, narrow)
        return words, sources, before

    def want(
        self, state: State, sources: Mapping[str, tuple[str, int]], narrow: bool = False
    ) -> None:
        """Raises NotUnderstood for an operand that is no value; if `narrow`, its lowest byte."""
        for register, _ in sources.values():
            value = state.get(register)
            if isinstance(value, Address | Fields) or (isinstance(value, Lower) and value.moved):
                raise NotUnderstood("has an address, or flags that nothing set, for a value")
            if isinstance(value, Bit) and not value.whole and not narrow:
                raise NotUnderstood("reads a register of which only a byte is known")

    def alike(self, compared: Sequence[Value]) -> None:
        """Raises NotUnderstood if one is unsigned and another may be negative."""
        lower = [isinstance(each, Lower) for each in compared]
        if any(lower) and any(
            not (isinstance(each, Lower | Bit) or (isinstance(each, int) and each >= 0))
            for each in compared
        ):
            raise NotUnderstood("compares an unsigned number with a signed one")

    def _private(self, of: str | int | Memory, size: int, state: State) -> str | int:
        if not isinstance(of, Memory):
            return of
        private, name = self._own_register(of, size, state)
        if not private:
            raise NotUnderstood("computes with a location in memory")
        return name

    def _own_register(self, at: Memory, size: int, state: State) -> tuple[bool, str]:
        """Whether the memory is the thread's own, with the register that stands for it; else the
        location."""
        base = state.get(at.base)
        if not isinstance(base, Address) or at.index:
            raise NotUnderstood("accesses memory at an address that is not known")
        offset = base.offset + at.displacement
        if base.region.startswith("["):
            if offset:
                raise NotUnderstood("accesses memory beside a location")
            return False, base.region[1:-1]
        if base.region == "out" and (
            offset % APART or not 0 <= offset < self.results * APART or size != 4
        ):
            raise NotUnderstood("accesses memory beside a result")
        known = self.slots[base.region]
        for other, width in known.items():
            same = (other, width) == (offset, size)
            if not same and other < offset + size and offset < other + width:
                raise NotUnderstood("accesses a part of what is in the stack")
        known[offset] = size
        return True, f"{base.region}{offset:+d}"


def _signed(number: int) -> int:
    return ((number & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000


def _folded(op: str, a: int, b: int) -> int:
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "and":
            return a & b
        case "or":
            return a | b
    return a ^ b
