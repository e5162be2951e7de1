"""A thread of a test in assembly, from the instructions that a program executed for it.

Accesses and barriers are preserved as the compiler wrote them; locations and values are the test's.
A dependency on a read is written as diy7 writes it: by an exclusive or of a register with itself,
or by a branch to what follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from weakspot.generators.binary.dependencies import (
    Dependencies,
    registers_of_address,
    registers_of_data,
)
from weakspot.generators.binary.image import SourceLocation
from weakspot.generators.binary.semantics import Access, Barrier, Copy, NotUnderstood, Semantics
from weakspot.generators.binary.trace import ExecutedInstruction
from weakspot.generators.emit.c11 import UNREACHED
from weakspot.generators.litmus import Atom, Cas, Fence, Guard, Load, Rmw, Statement, Store


class MatchedAccess(msgspec.Struct, frozen=True):
    """The instructions of an access in a trace: one, or a reservation and the store that is
    conditional on it."""

    first: int
    last: int
    at: int


class Match(msgspec.Struct, frozen=True):
    """The accesses of a test's thread in the trace of one thread."""

    trace: tuple[ExecutedInstruction, ...]
    accesses: tuple[MatchedAccess, ...]

    @property
    def window(self) -> tuple[ExecutedInstruction, ...]:
        return self.trace[self.first : self.last + 1]

    @property
    def first(self) -> int:
        return min(each.first for each in self.accesses)

    @property
    def last(self) -> int:
        return max(each.last for each in self.accesses)

    @property
    def code(self) -> tuple[int, ...]:
        return tuple(each.instruction.at for each in self.window)


class Thread:
    """The code of a thread; used once."""

    def __init__(self, semantics: Semantics, number: int, statements: Sequence[Statement]) -> None:
        self.semantics, self.number = semantics, number
        self.statements = statements
        self.free = [name for name in semantics.fresh if name != "rax"][::-1]
        self.lines: list[str] = []
        self.initial: dict[str, str | int] = {}
        self.results: dict[str, str] = {}
        self.taken: list[Atom] = []
        self.places: dict[str, str] = {}
        self.labels = 0
        self.values: dict[int, str] = {}  # the register with an access's result, by its number
        self.reserved: dict[int, str] = {}
        for each in statements:
            if isinstance(each, Guard):
                self.taken.append(Atom(number, each.reg, each.value))
            elif isinstance(each, Cas):
                self.taken.append(Atom(number, each.reg, 1))

    def write(
        self, match: Match, own: frozenset[SourceLocation], others: frozenset[SourceLocation]
    ) -> None:
        """Write the code for a match; `own` are the thread's lines, `others` those of other
        accesses. Raises NotUnderstood."""
        accesses = [each for each in self.statements if not isinstance(each, Fence | Guard)]
        begins = {found.first: number for number, found in enumerate(match.accesses)}
        ends = {found.last: number for number, found in enumerate(match.accesses)}
        deps = Dependencies()
        for at in range(match.first, match.last + 1):
            each = match.trace[at]
            number = ends.get(at, begins.get(at))
            if number is not None:
                statement = accesses[number]
                step = each.step
                assert isinstance(step, Access | Copy)
                address = deps.of(registers_of_address(each))
                if at in begins and at not in ends:
                    self._reserve(number, statement, step, address)
                elif at in begins:
                    self._access(number, statement, step, address, deps.of(registers_of_data(each)))
                else:
                    self._conditional(number, statement, step, deps.of(registers_of_data(each)))
            elif isinstance(each.step, Barrier) and (
                each.source in own or each.source not in others
            ):
                self.lines.append(each.step.code)
            elif each.flow.branch:
                self._branch(deps.branch(each))
            deps.go(each, self._came(each, number, at in begins))
        if any("{end}" in line for line in self.lines):
            end = f"E{self.number}"
            self.lines = [*(line.replace("{end}", end) for line in self.lines), f"{end}:"]

    def _came(
        self, each: ExecutedInstruction, number: int | None, begins: bool
    ) -> frozenset[int] | None:
        """The reads on which the result of an access depends; None for an instruction that is no
        access of the test."""
        conditional = isinstance(each.step, Access) and each.step.kind == "conditional"
        if number is not None and (begins or (conditional and self.semantics.acquires[1])):
            return frozenset({number})
        return frozenset() if conditional else None

    # --- registers -----------------------------------------------------------------------

    def _new(self) -> str:
        if not self.free:
            raise NotUnderstood(f"needs more registers than {self.semantics.dialect} has")
        return self.free.pop()

    def _name(self, register: str) -> str:
        return self.semantics.register(register, 4)

    def _set(self, value: int) -> str:
        register = self._new()
        self.initial[self.semantics.state_name(register)] = value
        return register

    def _result(self, name: str) -> str:
        register = self._set(UNREACHED)
        self.results[name] = register
        return register

    def _at(self, loc: str, address: frozenset[int]) -> str:
        """The operand for a location whose address depends on what was read."""
        if self.semantics.named:
            return loc
        if loc not in self.places:
            self.places[loc] = self._new()
            self.initial[self.semantics.state_name(self.places[loc])] = loc
        at = self.semantics.register(self.places[loc], 8)
        for number in sorted(address & self.values.keys()):
            fresh = self._new()
            self._dependent(self.semantics.placed, number, fresh, at)
            at = self.semantics.register(fresh, 8)
        return at

    def _value(self, value: int, data: frozenset[int]) -> str:
        """A register with a value that depends on what was read."""
        known = sorted(data & self.values.keys()) if self.semantics.zeroed else []
        if not known:
            return self._set(value)
        register = self._set(value)
        for number in known:
            fresh = self._new()
            self._dependent(self.semantics.zeroed, number, fresh, "")
            self._compute("add", register, register, fresh)
        return register

    def _dependent(self, lines: Sequence[str], number: int, to: str, at: str) -> None:
        self._lines(
            lines,
            r=self._name(self.values[number]),
            t=self._name(to),
            wide=self.semantics.register(to, 8),
            at=at,
        )

    # --- lines ---------------------------------------------------------------------------

    def _lines(self, lines: Iterable[str], **words: str) -> None:
        self.labels += 1
        words |= {"own": f"L{self.number}{self.labels}", "end": "{end}", "f": ""}
        self.lines += [part for line in lines for part in line.format_map(words).split("\n")]

    def _compute(self, op: str, to: str, a: str, b: str) -> None:
        code = self.semantics.compute(op, False, False)  # type: ignore[arg-type]
        assert code is not None
        if "{a}" not in code:  # of two operands
            self._copy(to, a)
        self._lines([code], t=self._name(to), a=self._name(a), b=self._name(b))

    def _copy(self, to: str, of: str) -> None:
        if to != of:
            self._lines([self.semantics.copy(False, 4)], t=self._name(to), a=self._name(of))

    def _branch(self, numbers: frozenset[int]) -> None:
        for number in sorted(numbers & self.values.keys()):
            self._lines(self.semantics.branched, r=self._name(self.values[number]))

    # --- accesses ------------------------------------------------------------------------

    def _access(
        self,
        number: int,
        statement: Load | Store | Rmw | Cas,
        step: Access | Copy,
        address: frozenset[int],
        data: frozenset[int],
    ) -> None:
        at = self._at(statement.loc, address)
        match statement, step:
            case Load(), Copy():
                self.values[number] = register = self._result(statement.reg)
                self._lines([step.code], r=self._name(register), at=at)
            case Load(), Access(kind="reserves"):
                self.values[number] = register = self._result(statement.reg)
                self._lines([step.code], r=self._name(register), at=at)
            case Store(), Copy():
                register = self._value(statement.value, data)
                self._lines([step.code], r=self._name(register), at=at)
            case Store(), Access() if _operation(step.code) == "swap":
                self._swap(step, at, self._value(statement.value, data), self._new())
            case Rmw(), Access() if "cmpxchg" in step.code:
                self._exchanged(statement, step, at)
            case Cas(), Access() if (
                "cmpxchg" in step.code or "o" in step.reads or "n" in step.reads
            ):
                self._compared(number, statement, step, at)
            case Rmw(), Access():
                self._updated(number, statement, step, at, data)
            case _:
                raise NotUnderstood(f"{step} is no {type(statement).__name__}")

    def _swap(self, step: Access, at: str, value: str, result: str) -> None:
        """An atomic instruction with an operand and, in some, a result."""
        words = {"v": self._name(value), "r": self._name(result), "at": at}
        self._lines([step.code], **words)

    def _updated(
        self, number: int, statement: Rmw, step: Access, at: str, data: frozenset[int]
    ) -> None:
        does = _operation(step.code)
        operand = _OPERANDS.get((does, statement.op))
        if operand is None:
            raise NotUnderstood(f"{does} for a {statement.op}")
        code = step.code
        if does in ("inc", "dec"):
            code = code.replace(f"{does}l ", "addl {v},")
        value = self._value(operand(statement.operand), data)
        returns = bool(step.writes.keys() - {"f"})
        if not returns:
            self._lines([code], v=self._name(value), at=at)
            return
        result = self._result(statement.reg)
        if "{r}" in code:
            self._lines([code], v=self._name(value), r=self._name(result), at=at)
        else:  # one register for both
            self._lines([code], v=self._name(value), at=at)
            self._copy(result, value)
        self.values[number] = result

    def _compared(self, number: int, statement: Cas, step: Access, at: str) -> None:
        """A compare-exchange in one instruction; where it fails the thread ends."""
        expected = self._set(statement.expected)
        new = self._set(statement.desired)
        if self.semantics.named:
            self._copy("rax", expected)
            old = "rax"
            self._lines([step.code, "jne {end}"], n=self._name(new), at=at)
        else:
            old = self._set(statement.expected)
            self._lines([step.code], r=self._name(old), n=self._name(new), at=at)
            self._lines(self.semantics.unequal, a=self._name(old), b=self._name(expected))
        self._succeeded(statement)
        self.values[number] = old

    def _exchanged(self, statement: Rmw, step: Access, at: str) -> None:
        """An atomic operation by a compare-exchange of what was read just before."""
        self._lines(["movl ({at}),%eax"], at=at)
        new = self._modified(statement, "rax")
        self._lines([step.code, "jne {end}"], n=self._name(new), at=at)
        self._copy(self._result(statement.reg), "rax")

    def _reserve(
        self,
        number: int,
        statement: Load | Store | Rmw | Cas,
        step: Access | Copy,
        address: frozenset[int],
    ) -> None:
        self.values[number] = self.reserved[number] = register = self._new()
        at = self._at(statement.loc, address)
        self._lines([step.code], r=self._name(register), at=at)
        if isinstance(statement, Cas):
            expected = self._set(statement.expected)
            self._lines(self.semantics.unequal, a=self._name(register), b=self._name(expected))

    def _conditional(
        self,
        number: int,
        statement: Load | Store | Rmw | Cas,
        step: Access | Copy,
        data: frozenset[int],
    ) -> None:
        """Where the store fails the thread ends: it would only try again."""
        old = self.reserved[number]
        at = self._at(statement.loc, frozenset())
        if isinstance(statement, Cas):
            new = self._value(statement.desired, data)
        elif isinstance(statement, Rmw):
            new = self._modified(statement, old)
        else:
            raise NotUnderstood("a store that is conditional")
        words = {"r": self._name(new), "v": self._name(new), "at": at}
        status = self._new()
        field = "r" if "{v}" in step.code else "s"
        words |= {field: self._name(status)}
        self._lines([step.code], **words)
        self._lines(self.semantics.failed, s=self._name(status))
        if isinstance(statement, Cas):
            self._succeeded(statement)
        else:
            self._copy(self._result(statement.reg), old)

    def _succeeded(self, statement: Cas) -> None:
        one = self._set(1)
        self._copy(self._result(statement.reg), one)

    def _modified(self, statement: Rmw, old: str) -> str:
        """A register with what a read-modify-write leaves."""
        operand = self._set(statement.operand)
        if statement.op == "exch":
            return operand
        new = self._new()
        op = statement.op.removeprefix("fetch.")
        self._compute(op, new, old, operand)
        return new


def _operation(code: str) -> str:
    """The operation that an atomic instruction performs."""
    name = code.split()[1 if code.startswith("lock ") else 0].lower()
    for word, does in _DOES:
        if word in name:
            return does
    return name


_DOES = (
    *(("xchg", "swap"), ("swp", "swap"), ("swap", "swap"), ("xadd", "add"), ("inc", "inc")),
    *(("dec", "dec"), ("add", "add"), ("set", "or"), ("clr", "clear"), ("eor", "xor")),
    *(("xor", "xor"), ("or", "or"), ("and", "and"), ("sub", "sub")),
)
_OPERANDS: dict[tuple[str, str], Callable[[int], int]] = {
    ("swap", "exch"): lambda value: value,
    ("add", "fetch.add"): lambda value: value,
    ("add", "fetch.sub"): lambda value: -value,
    ("inc", "fetch.add"): lambda value: value,
    ("dec", "fetch.sub"): lambda value: -value,
    ("sub", "fetch.sub"): lambda value: value,
    ("sub", "fetch.add"): lambda value: -value,
    ("or", "fetch.or"): lambda value: value,
    ("and", "fetch.and"): lambda value: value,
    ("clear", "fetch.and"): lambda value: ~value,
    ("xor", "fetch.xor"): lambda value: value,
}
