"""Armv7: tests are mapped to it and run on it; machine code is not read."""

from __future__ import annotations

from weakspot.generators.binary.isa import InstructionSet

ISA = InstructionSet(
    name="armv7l",
    rank=4,
    title="Armv7",
    dialect="ARM",
    triple="arm-linux-gnueabihf",
    backend="arm",
    emulated=False,
)
