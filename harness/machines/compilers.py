"""What makes whole programs for a machine: its gcc, a cross compiler for another architecture, else
zig's clang, which knows every architecture and brings its own C library."""

from __future__ import annotations

from collections.abc import Iterable

from weakspot.errors import MissingTool
from weakspot.generators.binary.isa import ISAS
from weakspot.harness.machines import Machine
from weakspot.system import tools
from weakspot.system.compilers import FAMILIES, Driver
from weakspot.system.tools import Program, Requirement


def find(machine: Machine, language: str = "c") -> Driver | None:
    """The compiler for a machine, of "c" or "c++", or None."""
    triple = ISAS.get(machine.arch).triple
    found = (each.driver(triple, language, native=machine.native) for each in FAMILIES)
    return next(filter(None, found), None)


def require(machine: Machine, language: str = "c") -> Driver:
    """The compiler for a machine. Raises MissingTool, whose advice says how to get one."""
    found = find(machine, language)
    if found is None:
        wanted = needed(machine, language)
        raise MissingTool(
            f"{wanted[0].name} is not installed", advice="; or ".join(map(tools.advice, wanted))
        )
    return found


def needed(machine: Machine, language: str = "c") -> list[Requirement]:
    """What would make programs for a machine, the preferred first: one of them is enough."""
    triple = ISAS.get(machine.arch).triple
    found = (each.needed(triple, language, native=machine.native) for each in FAMILIES)
    return list(filter(None, found))


def missing(machine: Machine, programs: Iterable[Program]) -> str:
    """Which of the programs, and of the machine's compiler, are not installed, in one phrase."""
    names = [each.name for each in programs if tools.find(each) is None]
    if find(machine) is None:
        names.append(needed(machine)[0].name)
    return f"{' and '.join(names)} not installed" if names else ""
