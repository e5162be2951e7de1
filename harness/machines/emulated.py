"""Machines of other architectures, played by qemu's user-mode emulation.

The test is compiled by a cross compiler and linked statically, so nothing of the other system has
to be installed. What is seen is what qemu's translation and this machine allow together: on a
host with total store order, little more than store buffering.
"""

from __future__ import annotations

from weakspot.errors import BadInput
from weakspot.harness.machines import CARCH, Machine

#: architecture → qemu's program, the cross compiler
ARCHITECTURES: dict[str, tuple[str, str]] = {
    "aarch64": ("qemu-aarch64", "aarch64-linux-gnu-gcc"),
    "ppc64le": ("qemu-ppc64le", "powerpc64le-linux-gnu-gcc"),
}


def machine(arch: str) -> Machine:
    """The machine qemu:`arch`. Raises BadInput for an architecture that is not in the table.

    Whether its programs are installed is asked by the runner that needs them.
    """
    if arch not in ARCHITECTURES:
        raise BadInput(
            f"qemu:{arch} is not a machine that weakspot knows",
            advice="known are " + ", ".join(f"qemu:{known}" for known in ARCHITECTURES),
        )
    qemu, compiler = ARCHITECTURES[arch]
    return Machine(
        name=f"qemu:{arch}",
        arch=arch,
        emulated=True,
        prefix=(qemu,),
        compiler=compiler,
        flags=("-O2", "-static"),
        litmus7=("-carch", CARCH[arch], "-gcc", compiler, "-affinity", "none"),
    )
