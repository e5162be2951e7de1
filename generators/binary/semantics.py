"""What instructions do, in steps that all instruction sets share.

In: an instruction. Out: a few steps. Steps that only move and compute are simulated, to distinguish
the thread's own memory from shared memory; an instruction that accesses shared memory is preserved
as it is written, with fields for its registers: `LDAXR {r},[{at}]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol, get_args

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.binary.instructions import Instruction, Memory, Operand

FLAGS = "flags"
"""The condition flags, as one register; Power has eight fields instead, cr0 to cr7."""

Arithmetic = Literal["add", "sub", "and", "or", "xor"]
ARITHMETIC: dict[str, Arithmetic] = {name: name for name in get_args(Arithmetic)}
"""The operations, by the names that several machines have for them."""


class Copy(msgspec.Struct, frozen=True):
    """`to` takes the value of `of`, of `size` bytes; if `whole`, with zeros above them. One of the
    two may be memory; for shared memory `code` is the instruction: {r} is the register, {at} the
    address."""

    to: str | Memory
    of: Operand
    size: int
    code: str = ""
    whole: bool = False


class Compute(msgspec.Struct, frozen=True):
    """`to` takes `a op b`, which sets `flags` unless that is ""."""

    op: Arithmetic
    to: str | Memory
    a: str | int | Memory
    b: str | int | Memory
    size: int
    flags: str = ""


class Compare(msgspec.Struct, frozen=True):
    """`flags` take the comparison of `a` and `b`; with `bits`, whether they share a set bit."""

    flags: str
    a: str | Memory
    b: str | int | Memory
    size: int
    bits: bool = False


class Shift(msgspec.Struct, frozen=True):
    """`to` takes `of` shifted by 32 bits to the left, or back to the right, which leaves the lower
    half."""

    to: str
    of: str
    left: bool


class Truth(msgspec.Struct, frozen=True):
    """`to` takes 1 or 0; `code` computes it from what it `reads`, with a scratch register {s} and a
    label {own} if it has these fields."""

    code: str
    to: str
    reads: Mapping[str, str]
    size: int = 4


class Access(msgspec.Struct, frozen=True):
    """An instruction that accesses shared memory of `size` bytes other than by the plain load or
    store of `Copy`, among them load-reserve and store-conditional; some of the latter set `flags`.
    """

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
    """A branch to `target` if what it reads says so. `equal`, for a branch on a condition field, is
    whether it is taken on equality; None if it tests something else. `fails`: it is taken if what
    it reads is not zero, like the status of a failed store-conditional."""

    code: str
    reads: Mapping[str, str]
    target: int
    equal: bool | None = None
    fails: bool = False


class Mark(msgspec.Struct, frozen=True):
    """The first bit of a condition field becomes `set`."""

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
    """`to` takes 1 or 0: the bit for equality, or the `first` bit, of `of`, which is a copy of a
    condition field."""

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
    """The registers from which an instruction's result comes, and those that it writes; `branch` if
    where execution continues depends on what it reads."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    branch: bool = False


class NotUnderstood(Exception):
    """An instruction, or a form of one, that is not supported; the argument says which."""


class UnreadInstruction(Unsupported):
    """Code that cannot be read since an instruction is not understood. `unread` is its name and
    why, which is the same wherever it stands."""

    def __init__(self, message: str, unread: str) -> None:
        super().__init__(message)
        self.unread = unread


class Semantics(Protocol):
    """What the instructions of an instruction set do, and how steps are written in herd7's dialect.
    A line of code names its operands by fields: {t}, {a}, {b}. An instruction set inherits what is
    the same for most."""

    dialect: str
    capstone: tuple[int, int]
    arguments: tuple[str, ...]  # registers of the first arguments, by the ABI
    stack: str  # the stack pointer
    fresh: tuple[str, ...]  # free registers; the last is taken first
    named: bool = False  # code names locations; else registers hold addresses
    merges: bool = False  # writing a byte of a register keeps the others

    def steps(self, instruction: Instruction) -> list[Step]:
        """Raises NotUnderstood."""
        ...

    def register(self, name: str, size: int, /) -> str:
        """The register as an operand of so many bytes."""
        ...

    def state_name(self, name: str) -> str:
        """The register as states name it."""
        return name

    def number(self, value: int, stored: bool, /) -> str | None:
        """A number as an operand of arithmetic or, if `stored`, in the place of a register; None
        where the dialect does not allow one."""
        ...

    def word(self, instruction: Instruction) -> Instruction:
        """For an instruction that accesses memory, the one that accesses four bytes: the order that
        a machine preserves does not depend on the width."""
        ...

    def touched(self, instruction: Instruction) -> Memory | None:
        """The memory that an instruction reads or writes; None for none."""
        ...

    def flow(self, _instruction: Instruction, /) -> Flow:
        """The registers of an instruction, as far as dependencies in the machine's model go."""
        return Flow()

    jump: str  # to {to}
    #: what depends on {r} and changes nothing: a branch, to the label {own}; the address {at}
    #: again, in {wide}, the whole of {t}; a zero, in {t}. () where the model has no dependencies
    branched: tuple[str, ...] = ()
    placed: tuple[str, ...] = ()
    zeroed: tuple[str, ...] = ()
    #: to {end} where {s} says that a store-conditional failed; where {a} and {b} differ
    failed: tuple[str, ...] = ()
    unequal: tuple[str, ...]
    #: the code that makes the model honour a promise of the manual: that a loop of reservation and
    #: store followed by this barrier (the second; "" for none) acquires. {v} is the reserved value
    acquires: tuple[str, str] = ("", "")

    def copy(self, constant: bool, size: int, /) -> str:
        """{t} takes {a}, a number if `constant`."""
        ...

    def compute(self, op: Arithmetic, constant: bool, flags: bool, /) -> str | None:
        """{t} takes {a} op {b}, a number if `constant`, and sets the flags {f} if `flags`; None
        where the dialect has no such instruction."""
        ...

    def compare(self, _constant: bool, /) -> str | None:
        """The flags {f} take the comparison of {a} with {b}; None where the dialect has no such
        instruction."""
        return None
