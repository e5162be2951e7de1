"""The profile of a machine: everything that may explain why another machine shows other counts. It
is read from /proc, /sys and /etc by one line of shell, on this machine and others alike; what
cannot be read is None, never guessed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

import msgspec

from weakspot.harness.machines import Machine, Session, compilers, opened
from weakspot.harness.machines.emulation import fields
from weakspot.system import tools

_CPU = "/sys/devices/system/cpu"
_FILES = (
    *("/proc/cpuinfo", "/proc/self/status", "/proc/meminfo"),
    *("/proc/sys/kernel/ostype", "/proc/sys/kernel/osrelease", "/etc/machine-id"),
    f"{_CPU}/cpu0/cpufreq/cpuinfo_max_freq",
    "/sys/devices/system/clocksource/clocksource0/current_clocksource",
    *(f"{_CPU}/online", f"{_CPU}/smt/active", "/sys/devices/system/node/online"),
    *(f"{_CPU}/cpu0/cache/index*/*", f"{_CPU}/cpu0/cpufreq/scaling_*"),
    *(f"{_CPU}/cpuidle/current_*", f"{_CPU}/cpu0/cpuidle/state*/*"),
    *("/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor"),
    *("/sys/fs/cgroup/cpu.max", "/sys/fs/cgroup/cpu/cpu.cfs_*_us"),
)


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """A machine as it is now. For an emulated machine everything but `emulator` and `compiler`
    describes the host.

    `cores` are the logical processors that may be used, `cores_online` those that there are;
    `quota` is the share of them that a container may use, in processors; `caches` are those of the
    first processor; `idle` are its idle states, without disabled ones; `memory` is in bytes, `mhz`
    the highest frequency of the first processor, `clock` what the kernel reads the time from.
    `identity` is a digest of the installation's machine-id, which itself is confidential.
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
    caches: tuple[str, ...] | None = None
    governor: str | None = None
    idle: tuple[str, ...] | None = None
    hypervisor: str | None = None
    kernel: str | None = None
    memory: int | None = None
    compiler: str | None = None
    emulator: str | None = None
    mhz: float | None = None
    clock: str | None = None
    identity: str | None = None


def profile(machine: Machine, at: Session | None = None) -> Profile:
    """The profile of a machine, as far as it can be read. The machine is opened if no session is
    given. Raises Lost."""
    if at is None:
        with opened(machine) as at:
            return profile(machine, at)
    read = _facts(at)
    info = fields(read.get("/proc/cpuinfo", ""))
    status = fields(read.get("/proc/self/status", ""))
    compiler = compilers.find(machine)
    emulator = tools.find(machine.emulator) if machine.emulator else None
    kernel = [read.get(f"/proc/sys/kernel/{name}") for name in ("ostype", "osrelease")]
    return Profile(
        machine=machine.name,
        arch=machine.arch,
        cpu=info.get("model name") or info.get("cpu") or info.get("hardware") or _arm(info),
        microcode=info.get("microcode"),
        cores=_count(status.get("cpus_allowed_list")),
        cores_online=_count(read.get(f"{_CPU}/online")),
        quota=_quota(read),
        smt={"0": False, "1": True}.get(read.get(f"{_CPU}/smt/active", "")),
        numa_nodes=_count(read.get("/sys/devices/system/node/online")),
        caches=_caches(read),
        governor=read.get(f"{_CPU}/cpu0/cpufreq/scaling_governor"),
        idle=_idle(read),
        hypervisor=_hypervisor(info, read),
        kernel=" ".join(filter(None, kernel)) or None,
        memory=_memory(read),
        compiler=compiler.stated if compiler else None,
        emulator=" ".join(filter(None, (emulator.name, emulator.version))) if emulator else None,
        mhz=_mhz(info, read),
        clock=read.get("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        identity=_identity(read.get("/etc/machine-id", "")),
    )


def _mhz(info: Mapping[str, str], read: Mapping[str, str]) -> float | None:
    """The highest frequency; where the kernel does not change it, the present one."""
    for text, unit in (
        (read.get(f"{_CPU}/cpu0/cpufreq/cpuinfo_max_freq"), 1000.0),
        (info.get("cpu mhz"), 1.0),
    ):
        if text and re.fullmatch(r"[\d.]+", text):
            return round(float(text) / unit)
    return None


def _identity(machine_id: str) -> str | None:
    """See machine-id(5): 32 hexadecimal digits, of which an application publishes only a digest."""
    if not re.fullmatch(r"[0-9a-f]{32}", machine_id):
        return None
    return hashlib.sha256(f"weakspot {machine_id}".encode()).hexdigest()[:12]


def _facts(at: Session) -> dict[str, str]:
    """The contents of the files by path, without those that are empty or cannot be read."""
    printed = at.shell(f'grep -sH "" {" ".join(_FILES)}').out
    found: dict[str, list[str]] = {}
    for line in printed.splitlines():
        path, _, text = line.partition(":")
        found.setdefault(path, []).append(text)
    return {path: text for path, lines in found.items() if (text := "\n".join(lines).strip())}


def _count(listed: str | None) -> int | None:
    """How many numbers a list such as `0-3,8` contains."""
    if listed is None or not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", listed):
        return None
    ranges = [[int(end) for end in part.split("-")] for part in listed.split(",")]
    return sum(each[-1] - each[0] + 1 for each in ranges)


def _arm(info: Mapping[str, str]) -> str | None:
    """The processor as ARM's kernels describe it: by numbers only."""
    if "cpu implementer" not in info or "cpu part" not in info:
        return None
    return f"implementer {info['cpu implementer']} part {info['cpu part']}"


def _quota(read: Mapping[str, str]) -> float | None:
    """The limit of this control group, version 2 or 1; None when there is none."""
    limit = read.get("/sys/fs/cgroup/cpu.max", "").split()
    if len(limit) != 2:
        base = "/sys/fs/cgroup/cpu/cpu.cfs"
        limit = [read.get(f"{base}_{name}_us", "") for name in ("quota", "period")]
    try:
        quota, period = (int(value) for value in limit)
    except ValueError:
        return None
    return round(quota / period, 2) if quota > 0 and period > 0 else None


def _caches(read: Mapping[str, str]) -> tuple[str, ...] | None:
    """`L1 Data 48K, 12 ways, lines of 64 bytes, shared by processors 0-1`, from the first on."""
    found = []
    for number in range(16):
        of = {
            name: read.get(f"{_CPU}/cpu0/cache/index{number}/{name}")
            for name in (
                *("level", "type", "size", "ways_of_associativity", "coherency_line_size"),
                "shared_cpu_list",
            )
        }
        if not of["level"] or not of["size"]:
            continue
        kind = "" if of["type"] in (None, "Unified") else f" {of['type']}"
        words = [f"L{of['level']}{kind} {of['size']}"]
        for name, text in (
            ("ways_of_associativity", "{} ways"),
            ("coherency_line_size", "lines of {} bytes"),
            ("shared_cpu_list", "of processor {}"),
        ):
            if value := of[name]:
                words.append(text.format(value))
        found.append(", ".join(words))
    return tuple(found) or None


def _idle(read: Mapping[str, str]) -> tuple[str, ...] | None:
    """The driver, then its states. With the driver "none" processors only halt."""
    driver = read.get(f"{_CPU}/cpuidle/current_driver")
    found = [driver] if driver else []
    for number in range(16):
        state = f"{_CPU}/cpu0/cpuidle/state{number}"
        if (name := read.get(f"{state}/name")) and read.get(f"{state}/disable", "0") == "0":
            late = read.get(f"{state}/latency")
            found.append(f"{name}, awake after {late} µs" if late else name)
    return tuple(found) or None


def _hypervisor(info: Mapping[str, str], read: Mapping[str, str]) -> str | None:
    """Its name; "yes" if the processor reports one whose name is unknown."""
    named = read.get("/sys/hypervisor/type")
    if "hypervisor" in info.get("flags", "").split():
        return named or read.get("/sys/class/dmi/id/sys_vendor") or "yes"
    return named


def _memory(read: Mapping[str, str]) -> int | None:
    match = re.search(r"MemTotal:\s*(\d+) kB", read.get("/proc/meminfo", ""))
    return int(match[1]) * 1024 if match else None
