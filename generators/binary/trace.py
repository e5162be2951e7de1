"""The trace of a program: the instructions that its threads executed, one after another, with
addresses.

In: the log of an emulator that prints the registers before each instruction (qemu's `-d cpu` with
one instruction at a time). Out: for each thread its trace through the program's own code, each
instruction with its source line and the address of the memory that it accesses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from weakspot.generators.binary.image import Image, SourceLocation
from weakspot.generators.binary.instructions import Instruction, Memory
from weakspot.generators.binary.isa import InstructionSet
from weakspot.generators.binary.semantics import Flow, NotUnderstood, Step

BEGIN, END = "weakspot_begin", "weakspot_end"
"""The functions between which a thread runs."""
_LOCKS = ("__wrap_pthread_mutex_lock", "__wrap_pthread_mutex_unlock")
"""Functions of the frame that belong to the thread that calls them."""

_PAIR = re.compile(r"\b(?:x\d+/)?([A-Za-z][A-Za-z0-9]*) *[= ] *([0-9a-f]{16})\b")
_PADDED = re.compile(r"^x0(?=\d)")
_GROUP = re.compile(r"GPR(\d\d)((?: [0-9a-f]{16})+)")


class ExecutedInstruction(msgspec.Struct, frozen=True):
    """An instruction that was executed. `at` is the address that it accessed, None for none or an
    unknown one; `source` is its source line, for a lock's own code the line of the call. `step` is
    what it does to shared memory, or the order that it imposes; None where it does neither or is
    not understood."""

    instruction: Instruction
    source: SourceLocation | None
    at: int | None
    memory: Memory | None
    step: Step | None
    flow: Flow


class TraceReader:
    """Reads the logs of a program; `frame` is the source file that surrounds it."""

    def __init__(self, image: Image, isa: InstructionSet, frame: str) -> None:
        assert isa.semantics is not None
        assert isa.log is not None
        self.image, self.semantics, self._begins = image, isa.semantics, isa.log.begins
        self._counter = re.compile(rf"\b{isa.log.counter}[ =]+([0-9a-f]{{16}})")
        self._frame = image.ranges[frame]
        self._locks = [image.symbols[name] for name in _LOCKS]
        self._known: dict[int, ExecutedInstruction | None] = {}

    def threads(self, log: Iterable[str]) -> list[tuple[ExecutedInstruction, ...]]:
        """The trace of each thread: main first, the others in the order in which they began."""
        (begin, _), (end, _) = self.image.symbols[BEGIN], self.image.symbols[END]
        threads: list[list[ExecutedInstruction]] = [[]]
        running = [0]
        for state in self._states(log):
            counter = self._counter.search(state)
            if counter is None:
                continue  # a truncated state
            at = int(counter[1], 16)
            if at == begin:
                running.append(len(threads))
                threads.append([])
            elif at == end and len(running) > 1:
                running.pop()
            thread = threads[running[-1]]
            found = self._read(at, state, thread[-1].source if thread else None)
            if found is not None:
                thread.append(found)
        return [tuple(thread) for thread in threads]

    def _states(self, log: Iterable[str]) -> Iterator[str]:
        lines = list[str]()
        for line in log:
            if line.startswith(self._begins) and lines:
                yield "".join(lines)
                lines.clear()
            lines.append(line)
        yield "".join(lines)

    def _read(
        self, counter: int, state: str, before: SourceLocation | None
    ) -> ExecutedInstruction | None:
        if counter not in self._known:
            self._known[counter] = self._understood(counter)
        found = self._known[counter]
        if found is None:
            return None
        if found.memory is None and found.source is not None:
            return found
        at = None
        if found.memory is not None:
            after = counter + found.instruction.length
            at = _address(found.memory, {**_registers(state), "rip": after})
        return msgspec.structs.replace(found, source=found.source or before, at=at)

    def _understood(self, counter: int) -> ExecutedInstruction | None:
        instruction = self.image.at(counter)
        source = self.image.source_location(counter)
        if instruction is None or source is None:
            return None
        if any(start <= counter < end for start, end in self._frame):
            if not any(start <= counter < end for start, end in self._locks):
                return None
            source = None
        semantics = self.semantics
        step: Step | None = None
        try:
            steps = semantics.steps(semantics.word(instruction))
        except NotUnderstood:
            steps = []
        if len(steps) == 1 or (steps and semantics.touched(instruction) is not None):
            step = steps[0]
        return ExecutedInstruction(
            instruction,
            source,
            None,
            semantics.touched(instruction),
            step,
            semantics.flow(instruction),
        )


def _registers(state: str) -> dict[str, int]:
    found = {_PADDED.sub("x", name.lower()): int(value, 16) for name, value in _PAIR.findall(state)}
    for first, values in _GROUP.findall(state):
        for at, value in enumerate(values.split(), int(first)):
            found[f"r{at}"] = int(value, 16)
    return found


def _address(memory: Memory, state: Mapping[str, int]) -> int | None:
    base = _value(memory.base, state)
    index = _value(memory.index, state) if memory.index else 0
    if base is None or index is None:
        return None
    return (base + index * memory.scale + memory.displacement) % (1 << 64)


def _value(register: str, state: Mapping[str, int]) -> int | None:
    """The value of a register; 32 bits are a signed number."""
    if register in ("0", "zero", "xzr", "wzr"):
        return 0
    if register in state:
        return state[register]
    half = f"x{register[1:]}"
    if re.fullmatch(r"w\d+", register) and half in state:
        return ((state[half] & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000
    return None
