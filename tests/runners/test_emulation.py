"""A machine that is emulated is never taken for real hardware, whatever says that it is not."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path

import pytest
from says import program

from weakspot.harness import machines
from weakspot.harness.machines import emulation, local
from weakspot.harness.machines.emulation import is_emulated
from weakspot.harness.machines.qemu import architectures
from weakspot.harness.machines.ssh import described
from weakspot.system.tools import Tool

Need = Callable[[str], Tool]

X86 = (
    "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\nflags\t\t: fpu hypervisor\n"
)
ARM = "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"
POWER = "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n\ntimebase\t: 512000000\n"
RISC_V = "processor\t: 0\nhart\t\t: 1\nisa\t\t: rv64imafdc\nuarch\t\t: sifive,u74-mc\n"
QEMU_10_ARM = ARM.replace("0x41", "0x00").replace("0xd0c", "0x051")

SHOWN = r"""
#include <stdio.h>
int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    FILE *file = fopen(argv[i], "r");
    for (int c, n = 0; file && n < 4096 && (c = getc(file)) != EOF; n++) putchar(c);
    putchar('\f');
  }
}
"""


@pytest.mark.parametrize(
    ("arch", "kernel", "cpuinfo"),
    [
        ("x86_64", "x86_64\n", X86),
        ("x86_64", "", X86),
        ("aarch64", "aarch64\n", ARM),
        ("aarch64", "", ARM),
        ("armv7l", "aarch64\n", ARM),
        ("ppc64le", "ppc64le\n", POWER),
        ("ppc64le", "", POWER),
        ("riscv64", "riscv64\n", RISC_V),
        ("riscv64", "", RISC_V),
        ("aarch64", "", ""),
    ],
)
def test_real_hardware_is_not_emulated(arch: str, kernel: str, cpuinfo: str) -> None:
    assert not is_emulated(arch, kernel, cpuinfo)


@pytest.mark.parametrize(
    ("arch", "kernel", "cpuinfo"),
    [
        ("aarch64", "x86_64\n", X86),
        ("aarch64", "", X86),
        ("aarch64", "x86_64\n", QEMU_10_ARM),
        ("aarch64", "", QEMU_10_ARM),
        ("armv7l", "x86_64\n", ""),
        ("ppc64le", "", X86),
        ("riscv64", "", X86),
        ("riscv64", "", RISC_V.replace("sifive,u74-mc", "qemu")),
        ("x86_64", "aarch64\n", ARM),
        ("x86_64", "", ARM),
        ("x86_64", "x86_64\n", X86.replace("AMD EPYC", "VirtualApple @ 2.50GHz")),
        ("x86_64", "x86_64\n", X86.replace("AMD EPYC", "QEMU TCG CPU version 2.5+")),
    ],
)
def test_what_contradicts_the_architecture_is_emulated(
    arch: str, kernel: str, cpuinfo: str
) -> None:
    assert is_emulated(arch, kernel, cpuinfo)


@pytest.mark.parametrize("arch", architectures())
def test_qemu_cannot_hide(arch: str, need: Need, tmp_path: Path) -> None:
    need(f"qemu-{arch}")
    if arch == local.arch():
        pytest.skip("qemu's emulation of the host's own architecture is not recognised")
    machine = machines.resolve(f"qemu:{arch}")
    with machines.opened(machine) as at:
        shown = program(machine, tmp_path, SHOWN)
        there = at.run(shown, [emulation.KERNEL, emulation.CPUINFO], seconds=20)
    kernel, cpuinfo, _ = there.out.split("\f")
    assert cpuinfo
    assert is_emulated(arch, kernel, cpuinfo)
    assert is_emulated(arch, "", cpuinfo), "a kernel before Linux 6.1"


def test_a_machine_that_says_another_architecture_than_its_kernel_is_emulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container of another architecture."""
    here = local.machine()
    if here.emulated:
        pytest.skip("these tests run in an emulator themselves")
    other = "aarch64" if here.arch == "x86_64" else "x86_64"
    assert not described(local.Here(), "ssh:there", kind="ssh", host="there").emulated
    uname = tmp_path / "uname"
    uname.write_text(f"#!/bin/sh\n[ $1 = -s ] && echo Linux || echo {other}\n")
    uname.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    there = described(local.Here(), "ssh:there", kind="ssh", host="there")
    assert (there.arch, there.emulated) == (other, True)
    monkeypatch.setattr(platform, "machine", lambda: other)
    assert local.machine().emulated
