"""Machines of other architectures, emulated by qemu's user mode.

The test is compiled by a cross compiler and linked statically, so nothing of the other system has
to be installed. What is seen is what qemu's translation and this machine allow together: on a
host with total store order, no more than store buffering. A run shows that a test compiles and
runs; it does not show how weak real hardware is.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import msgspec

from weakspot.generators.binary.isa import ISAS
from weakspot.harness.machines import Machine, Session, local
from weakspot.system.compilers import FAMILIES
from weakspot.system.processors import cores
from weakspot.system.tools import Program, Requirement


def architectures() -> tuple[str, ...]:
    """The architectures that qemu emulates."""
    return tuple(isa.name for isa in ISAS if isa.emulated)


def emulator(arch: str) -> Program:
    """qemu's user-mode emulation of an architecture."""
    return Program(
        f"qemu-{arch}",
        lost=f"emulated {arch} runs",
        advice="install qemu's user-mode emulation (Debian, Ubuntu: qemu-user)",
        aliases=(f"qemu-{arch}-static",),
    )


class Qemu(msgspec.Struct, frozen=True):
    """See machines.MachineKind."""

    name: str = "qemu"
    rank: int = 1
    form: str = "qemu:ARCH"
    elsewhere: bool = False

    @property
    def requires(self) -> tuple[Requirement, ...]:
        known = architectures()
        family = FAMILIES.default
        wanted = [family.needed(ISAS.get(arch).triple, "c", native=False) for arch in known]
        return (*(each for each in wanted if each is not None), *map(emulator, known))

    def accepts(self, rest: str) -> bool:
        return rest in architectures()

    def machines(self) -> str:
        return ", ".join(f"{self.name}:{arch}" for arch in architectures())

    def machine(self, rest: str) -> Machine:
        """The machine qemu:`rest`. Whether its programs are installed is asked by the runner that
        needs them."""
        return Machine(
            name=f"{self.name}:{rest}",
            arch=rest,
            cores=cores(),
            emulated=True,
            emulator=emulator(rest),
            kind=self.name,
            native=False,
            flags=("-O2", "-static"),
            litmus7=("-carch", ISAS.get(rest).dialect, "-affinity", "none"),
        )

    def opened(self, machine: Machine) -> AbstractContextManager[Session]:
        return local.opened(machine)


KIND = Qemu()
