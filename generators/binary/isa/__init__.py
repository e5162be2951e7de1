"""Instruction sets: what they and their compilers' targets are called, and what their instructions
do.

To add an instruction set, add a file here, named as `uname -m` names the architecture, that defines
ISA; the mappings of C11 atomics to its instructions, and the registers that they use, are tables
in emit/mappings.toml. What `semantics` does not understand names the instruction: most often a
line in that file is all it needs.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from weakspot.generators.binary.semantics import Semantics
from weakspot.system.compilers import Platform
from weakspot.system.registry import Registry


class Options(msgspec.Struct, frozen=True):
    """How compilers are started for a target, `name`: see Platform. `like` is the mapping of
    mappings.toml that the code is compared under, the one of this name unless it is given.
    `outline`: which code of outline atomics is read, "lse" or "exclusives"."""

    name: str
    options: tuple[str, ...] = ()
    march: str = ""
    cpu: str = ""
    like: str = ""
    outline: Literal["", "lse", "exclusives"] = ""


class Log(msgspec.Struct, frozen=True):
    """qemu's log of registers: how each state begins, and the name of the program counter."""

    begins: str
    counter: str


class InstructionSet(msgspec.Struct, frozen=True):
    """An instruction set.

    `name` is the architecture as `uname -m` prints it, `title` its name in reports, `dialect` that
    of its litmus tests, `triple` and `backend` those of compilers and of clang. `mappings` are
    what compilers are asked to compile for. `semantics` and `log` are None where machine code is
    not read. `emulated` says whether tests can be run on qemu's machine of that name.
    """

    name: str
    rank: int
    title: str
    dialect: str
    triple: str
    backend: str
    mappings: tuple[Options, ...] = ()
    semantics: Semantics | None = None
    log: Log | None = None
    emulated: bool = True

    @property
    def platforms(self) -> tuple[Platform, ...]:
        """What compilers are asked to compile for."""
        return tuple(
            Platform(
                each.name, self.name, self.triple, self.backend, each.options, each.march, each.cpu
            )
            for each in self.mappings
        )


ISAS: Registry[InstructionSet] = Registry("instruction set", __name__, "ISA")
"""The instruction sets by architecture."""


def options(name: str) -> Options:
    """How compilers are started for the target of that name."""
    return next(each for isa in ISAS for each in isa.mappings if each.name == name)


def semantics(dialect: str) -> Semantics:
    """What the instructions of a dialect do, which has to be one that is read."""
    found = next(each.semantics for each in ISAS if each.dialect == dialect and each.semantics)
    assert found is not None
    return found
