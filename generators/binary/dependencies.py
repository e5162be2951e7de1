"""Which reads the registers and the memory of a thread depend on, instruction by instruction."""

from __future__ import annotations

from collections.abc import Iterable

from weakspot.generators.binary.semantics import Access, Copy
from weakspot.generators.binary.trace import ExecutedInstruction


def registers_of_address(each: ExecutedInstruction) -> tuple[str, ...]:
    """The registers that the address of an access is made of."""
    return () if each.memory is None else (each.memory.base, each.memory.index)


def registers_of_data(each: ExecutedInstruction) -> tuple[str, ...]:
    """The registers whose values an access stores."""
    match each.step:
        case Access(reads=reads):
            return tuple(of for of in reads.values() if isinstance(of, str))
        case Copy(to=to, of=str(of)) if not isinstance(to, str):
            return (of,)
    return ()


class Dependencies:
    """The accesses, by number, on whose reads the registers and the thread's own memory depend, and
    those on which a branch depended."""

    def __init__(self) -> None:
        self.registers: dict[str, frozenset[int]] = {}
        self.memory: dict[int, frozenset[int]] = {}
        self.asked: frozenset[int] = frozenset()

    def of(self, registers: Iterable[str]) -> frozenset[int]:
        none: frozenset[int] = frozenset()
        return none.union(*(self.registers.get(each, none) for each in registers))

    def branch(self, each: ExecutedInstruction) -> frozenset[int]:
        """The accesses on which a branch depends and no earlier one did."""
        new = self.of(each.flow.reads) - self.asked
        self.asked |= new
        return new

    def go(self, each: ExecutedInstruction, read: frozenset[int] | None) -> None:
        """Update the dependencies after an instruction; `read` are those of its result, None to
        compute them."""
        came = self.of(each.flow.reads) if read is None else read
        if read is None and each.at is not None:
            came = self.of(registers_of_address(each)) | self.memory.get(each.at, frozenset())
            if not each.flow.writes:
                self.memory[each.at] = self.of(each.flow.reads)
        for register in each.flow.writes:
            self.registers[register] = came
