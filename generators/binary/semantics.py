"""What instructions do, in the words that all instruction sets share.

An instruction becomes a few steps. Those that only move and compute are understood, so that the
thread's own memory can be told from what threads share; what touches shared memory stays as it is
written, with its registers named by fields: `LDAXR {r},[{at}]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

import msgspec

from weakspot.generators.binary.instructions import Instruction, Memory, Operand

FLAGS = "flags"
"""The condition flags, as a register; Power has eight, cr0 to cr7."""

Arithmetic = Literal["add", "sub", "and", "or", "xor"]


class Copy(msgspec.Struct, frozen=True):
    """`to` takes the value of `of`, of `size` bytes; if `whole`, zeros above them. One of the two
    may be memory; if that is shared, `code` is the instruction that stands there: {r} the
    register, {at} the address."""

    to: str | Memory
    of: Operand
    size: int
    code: str = ""
    whole: bool = False


class Compute(msgspec.Struct, frozen=True):
    """`to` takes `a op b`; `flags` are set by it, "" if not."""

    op: Arithmetic
    to: str | Memory
    a: str | int | Memory
    b: str | int | Memory
    size: int
    flags: str = ""


class Compare(msgspec.Struct, frozen=True):
    """`flags` tell how `a` compares with `b`; with `bits`, whether they have a bit in common."""

    flags: str
    a: str | Memory
    b: str | int | Memory
    size: int
    bits: bool = False


class Shift(msgspec.Struct, frozen=True):
    """`to` takes `of` moved by 32 bits, to the left or back, which leaves its lower half."""

    to: str
    of: str
    left: bool


class Truth(msgspec.Struct, frozen=True):
    """`to` takes 1 or 0; `code` computes it from what it `reads`, with a register {s} of its own if
    it asks for it, and a label {own}."""

    code: str
    to: str
    reads: Mapping[str, str]
    size: int = 4


class Access(msgspec.Struct, frozen=True):
    """An instruction that touches shared memory of `size` bytes other than by a plain load or
    store of `Copy`: among them those that reserve, and the stores that are conditional on that,
    whose `flags` tell of it in some."""

    code: str
    at: Memory
    reads: Mapping[str, str | int]
    writes: Mapping[str, str]
    size: int = 4
    flags: str = ""
    kind: Literal["", "reserves", "conditional"] = ""


class Barrier(msgspec.Struct, frozen=True):
    code: str


class Branch(msgspec.Struct, frozen=True):
    """To `target` if what it reads says so, else on. `equal` tells, of one on a condition field,
    whether it is taken where that says equal; None where it asks something else. `fails`: it is
    taken where what it reads is not zero, as the status of a store-conditional that failed."""

    code: str
    reads: Mapping[str, str]
    target: int
    equal: bool | None = None
    fails: bool = False


class Mark(msgspec.Struct, frozen=True):
    """The first bit of a condition field becomes what `set` says."""

    field: str
    set: bool


class Choice(msgspec.Struct, frozen=True):
    """`to` takes `a` where the first bit of `field` is set, else `b`."""

    to: str
    a: str
    b: str
    field: str


class Condition(msgspec.Struct, frozen=True):
    """`to` takes a copy of a condition field."""

    to: str
    field: str


class ConditionBit(msgspec.Struct, frozen=True):
    """`to` takes 1 or 0: what `of`, a copy of a condition field, says in the bit of equality, or
    in the `first`."""

    to: str
    of: str
    field: str
    first: bool = False


class Jump(msgspec.Struct, frozen=True):
    target: int


class End(msgspec.Struct, frozen=True):
    """The function returns."""


Step = (
    Copy
    | Compute
    | Compare
    | Shift
    | Truth
    | Access
    | Barrier
    | Branch
    | Mark
    | Choice
    | Condition
    | ConditionBit
    | Jump
    | End
)


class Flow(msgspec.Struct, frozen=True):
    """From which registers an instruction's result comes and to which it goes; `branch` if where it
    goes on depends on what it reads."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    branch: bool = False


class NotUnderstood(Exception):
    """An instruction, or a form of one, that has no meaning here; the argument says which."""


class Semantics(Protocol):
    """What the instructions of an instruction set do, and how steps are written in herd7's dialect.
    A line of code names its operands by fields: {t}, {a}, {b}."""

    dialect: str
    capstone: tuple[int, int]
    arguments: tuple[str, ...]  # registers of the first arguments, by the ABI
    stack: str  # the stack pointer
    fresh: tuple[str, ...]  # registers for what had none, last taken first
    named: bool  # code names locations; else registers hold addresses
    merges: bool  # writing a byte of a register keeps the others

    def steps(self, instruction: Instruction) -> list[Step]:
        """Raises NotUnderstood."""
        ...

    def register(self, name: str, size: int, /) -> str:
        """How code names a register as an operand of so many bytes."""
        ...

    def state_name(self, name: str) -> str:
        """How states name a register."""
        ...

    def number(self, value: int, stored: bool, /) -> str | None:
        """A number as an operand of arithmetic or, if `stored`, in the place of a register; None
        where code cannot have it there."""
        ...

    def word(self, instruction: Instruction) -> Instruction:
        """Of an instruction that touches memory, the one that does so with four bytes: the order
        that a machine keeps does not depend on the width."""
        ...

    def touched(self, instruction: Instruction) -> Memory | None:
        """The memory that an instruction reads or writes; None for none."""
        ...

    def flow(self, instruction: Instruction) -> Flow:
        """The registers of an instruction, as far as the model of the machine asks for
        dependencies."""
        ...

    jump: str  # to {to}
    #: what depends on {r} and changes nothing: a branch, to the label {own}; the address {at}
    #: again, in {wide}, the whole of {t}; a zero, in {t}. () where the model has no dependencies
    branched: tuple[str, ...]
    placed: tuple[str, ...]
    zeroed: tuple[str, ...]
    #: to {end} where {s} says that a store-conditional failed; where {a} and {b} differ
    failed: tuple[str, ...]
    unequal: tuple[str, ...]
    #: what makes the model see a promise of the manual: that a loop of reservation and store,
    #: followed by this barrier (the second; "" for none), acquires. {v} is what was reserved
    acquires: tuple[str, str]

    def copy(self, constant: bool, size: int, /) -> str:
        """{t} takes {a}, a number if `constant`."""
        ...

    def compute(self, op: Arithmetic, constant: bool, flags: bool, /) -> str | None:
        """{t} takes {a} op {b}, the latter a number if `constant`, and the flags {f} tell of it;
        None where the dialect has no such instruction."""
        ...

    def compare(self, constant: bool, /) -> str | None:
        """The flags {f} tell how {a} compares with {b}; None as above."""
        ...
