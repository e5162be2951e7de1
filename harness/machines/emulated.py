"""Machines of other architectures, played by qemu's user-mode emulation.

The test is compiled by a cross compiler and linked statically, so nothing of the other system has
to be installed. What is seen is what qemu's translation and this machine allow together: on a
host with total store order, no more than store buffering. That a test compiles and runs is shown,
how weak a real machine is is not.
"""

from __future__ import annotations

from weakspot.harness.machines import CARCH, Machine
from weakspot.harness.machines.compilers import CROSS
from weakspot.harness.machines.local import cores

ARCHITECTURES = ("aarch64", "ppc64le", "riscv64")


def machine(arch: str) -> Machine:
    """The machine qemu:`arch`, for one of ARCHITECTURES.

    Whether its programs are installed is asked by the runner that needs them.
    """
    return Machine(
        name=f"qemu:{arch}",
        arch=arch,
        cores=cores(),
        emulated=True,
        prefix=(f"qemu-{arch}",),
        compiler=CROSS[arch],
        flags=("-O2", "-static"),
        litmus7=("-carch", CARCH[arch], "-affinity", "none"),
    )
