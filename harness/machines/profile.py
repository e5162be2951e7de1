"""What kind of machine a result comes from: everything that explains why another machine shows
other counts. Read from /proc and /sys; what cannot be read is None, never guessed."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path

import msgspec

from weakspot.harness import tools
from weakspot.harness.machines import Machine
from weakspot.harness.machines.local import cores

_CPU = Path("/sys/devices/system/cpu")
_NODES = Path("/sys/devices/system/node")


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as it is now. For an emulated machine everything but `emulator` and `compiler`
    is of the host.

    `cores` are the logical processors that may be used, `cores_online` those that there are;
    `quota` is the share of them that a container may use, in processors; `memory` is in bytes.
    """

    machine: str
    arch: str
    cpu: str | None = None
    microcode: str | None = None
    cores: int | None = None
    cores_online: int | None = None
    quota: float | None = None
    smt: bool | None = None
    numa_nodes: int | None = None
    governor: str | None = None
    hypervisor: str | None = None
    kernel: str | None = None
    memory: int | None = None
    compiler: str | None = None
    emulator: str | None = None


def profile(machine: Machine) -> Profile:
    """The profile of a machine, as far as it can be read."""
    info = _cpuinfo()
    compiler = tools.find(machine.compiler)
    emulator = tools.find(machine.prefix[0]) if machine.prefix else None
    return Profile(
        machine=machine.name,
        arch=machine.arch,
        cpu=info.get("model name") or info.get("cpu") or info.get("hardware") or _arm(info),
        microcode=info.get("microcode"),
        cores=cores(),
        cores_online=os.cpu_count(),
        quota=_quota(),
        smt={"0": False, "1": True}.get(_read(_CPU / "smt/active") or ""),
        numa_nodes=_numa_nodes(),
        governor=_read(_CPU / "cpu0/cpufreq/scaling_governor"),
        hypervisor=_hypervisor(info),
        kernel=" ".join(filter(None, (platform.system(), platform.release()))) or None,
        memory=_memory(),
        compiler=_named(compiler),
        emulator=_named(emulator),
    )


def _named(tool: tools.Tool | None) -> str | None:
    return None if tool is None else " ".join(filter(None, (tool.name, tool.version)))


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _cpuinfo() -> dict[str, str]:
    """The first processor's entry of /proc/cpuinfo, names in lower case."""
    info: dict[str, str] = {}
    for line in (_read(Path("/proc/cpuinfo")) or "").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            info.setdefault(name.strip().lower(), value.strip())
    return info


def _arm(info: dict[str, str]) -> str | None:
    """ARM's kernels give numbers only."""
    if "cpu implementer" not in info or "cpu part" not in info:
        return None
    return f"implementer {info['cpu implementer']} part {info['cpu part']}"


def _quota() -> float | None:
    """The limit of this control group, version 2 or 1; None when there is none."""
    limit = (_read(Path("/sys/fs/cgroup/cpu.max")) or "").split()
    if len(limit) != 2:
        base = Path("/sys/fs/cgroup/cpu")
        limit = [_read(base / f"cpu.cfs_{name}_us") or "" for name in ("quota", "period")]
    try:
        quota, period = (int(value) for value in limit)
    except ValueError:
        return None
    return round(quota / period, 2) if quota > 0 and period > 0 else None


def _numa_nodes() -> int | None:
    try:
        return sum(bool(re.fullmatch(r"node\d+", path.name)) for path in _NODES.iterdir()) or None
    except OSError:
        return None


def _hypervisor(info: dict[str, str]) -> str | None:
    """Its name; "yes" when the processor says that there is one and nobody says which."""
    named = _read(Path("/sys/hypervisor/type")) or _read(Path("/sys/class/dmi/id/sys_vendor"))
    if "hypervisor" in info.get("flags", "").split():
        return named or "yes"
    return _read(Path("/sys/hypervisor/type"))


def _memory() -> int | None:
    match = re.search(r"MemTotal:\s*(\d+) kB", _read(Path("/proc/meminfo")) or "")
    return int(match[1]) * 1024 if match else None
