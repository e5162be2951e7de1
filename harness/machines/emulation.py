"""Whether a machine is emulated that does not say so: a container or a worker of another
architecture, whose programs an emulator such as qemu's user mode runs.

In: the architecture that uname prints, of which the emulator takes care, and what the kernel and
/proc/cpuinfo say. Out: whether they contradict it. An emulator of a whole system, or of the host's
own architecture, is recognised only if its processor has a name that no real one has.
"""

from __future__ import annotations

KERNEL, CPUINFO = "/proc/sys/kernel/arch", "/proc/cpuinfo"
"""What is read; the first is there since Linux 6.1."""

MOST = 4096
"""How many bytes of each are read: a processor or two."""

_FAMILIES = {"x86_64": "x86", "i": "x86", "a": "Arm", "p": "Power", "r": "RISC-V"}
"""By how the names of architectures begin: a kernel runs programs of its family."""

_WRITTEN_BY = {"vendor_id": "x86", "cpu implementer": "Arm", "timebase": "Power", "hart": "RISC-V"}
"""What only the kernels of a family write into /proc/cpuinfo, of those that tests run on."""

_INVENTED: dict[str, tuple[str, ...]] = {
    "cpu implementer": (
        "0x00",
    ),  # reserved for software; qemu's -cpu max, in user mode from 8.1 on
    "uarch": ("qemu",),
    "model name": ("QEMU TCG", "VirtualApple"),  # the latter is Rosetta
}
"""How values begin that processors of emulators have."""


def fields(text: str) -> dict[str, str]:
    """The first of each `name: value`, names in lower case: those of the first processor."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            found.setdefault(name.strip().lower(), value.strip())
    return found


def is_emulated(arch: str, kernel: str, cpuinfo: str) -> bool:
    """Whether programs of the architecture are emulated where the files have these contents, ""
    for one that there is not."""
    info = fields(cpuinfo)
    if any(info.get(name, "").startswith(value) for name, value in _INVENTED.items()):
        return True
    family = _family(arch)
    if not family:
        return False
    if kernel.strip():
        return _family(kernel.strip()) != family
    written = {of for name, of in _WRITTEN_BY.items() if name in info}
    return bool(written) and family not in written


def _family(arch: str) -> str:
    return next((of for begin, of in _FAMILIES.items() if arch.startswith(begin)), "")
