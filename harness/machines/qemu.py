"""Machines of other architectures, emulated by qemu's user mode.

The test is compiled by a cross compiler and linked statically, so nothing of the other system has
to be installed. What is seen is what qemu's translation and this machine allow together: on a
host with total store order, no more than store buffering. A run shows that a test compiles and
runs; it does not show how weak real hardware is.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import msgspec

from weakspot.harness.machines import CARCH, Machine, Session, local
from weakspot.harness.machines.compilers import cross
from weakspot.system.tools import Program, Requirement

ARCHITECTURES = ("aarch64", "ppc64le", "riscv64")


def emulator(arch: str) -> Program:
    """qemu's user-mode emulation of an architecture."""
    return Program(
        f"qemu-{arch}",
        lost=f"emulated {arch} runs",
        advice="install qemu's user-mode emulation (Debian, Ubuntu: qemu-user)",
        aliases=(f"qemu-{arch}-static",),
    )


class Qemu(msgspec.Struct, frozen=True):
    """See machines.Kind."""

    name: str = "qemu"
    rank: int = 1
    form: str = "qemu:ARCH"

    @property
    def requires(self) -> tuple[Requirement, ...]:
        return (*map(cross, ARCHITECTURES), *map(emulator, ARCHITECTURES))

    def accepts(self, rest: str) -> bool:
        return rest in ARCHITECTURES

    def machines(self) -> str:
        return ", ".join(f"{self.name}:{arch}" for arch in ARCHITECTURES)

    def machine(self, rest: str) -> Machine:
        """The machine qemu:`rest`. Whether its programs are installed is asked by the runner that
        needs them."""
        return Machine(
            name=f"{self.name}:{rest}",
            arch=rest,
            cores=local.cores(),
            emulated=True,
            emulator=emulator(rest),
            kind=self.name,
            compiler=cross(rest).name,
            flags=("-O2", "-static"),
            litmus7=("-carch", CARCH[rest], "-affinity", "none"),
        )

    def opened(self, machine: Machine) -> AbstractContextManager[Session]:
        return local.opened(machine)


KIND = Qemu()
