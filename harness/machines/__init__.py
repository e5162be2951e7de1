"""Machines that Tests run on: this one, those that qemu plays, others by ssh; their profiles."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import msgspec

from weakspot.errors import BadInput, ToolFailed
from weakspot.system.process import Ended


class Machine(msgspec.Struct, frozen=True):
    """Where tests run.

    `arch` is in the words of uname -m; `cores` are the logical processors that may be used there.
    `compiler` makes programs for it, with `flags`, and zig does where there is none (compilers.py);
    `litmus7` are the options by which litmus7 writes C tests for it. `prefix` stands before a
    program's path to run it; `host` is what ssh calls another machine. An emulated machine is no
    real hardware: it says nothing of how weak a real one is, and Histograms from it are marked.
    """

    name: str
    arch: str
    cores: int = 1
    emulated: bool = False
    prefix: tuple[str, ...] = ()
    host: str = ""
    compiler: str = "gcc"
    flags: tuple[str, ...] = ("-O2",)
    litmus7: tuple[str, ...] = ()


class Session(Protocol):
    """A machine that is open for work, with a folder that is removed afterwards."""

    def run(self, program: Path, arguments: Sequence[str] = (), *, seconds: float) -> Ended:
        """Run a program that was compiled here for the machine, for so many seconds at most; it is
        copied there once. Raises Lost, and ToolFailed if it cannot be started."""
        ...

    def shell(self, script: str, *, seconds: float = 20.0) -> Ended:
        """Run a line in the machine's sh; an emulated machine has its host's. Raises Lost."""
        ...


class Lost(ToolFailed):
    """A machine that cannot be reached, or not any more. What it was doing is lost."""


#: litmus7's name of the architecture that C is compiled to
CARCH = {
    "x86_64": "X86_64",
    "aarch64": "AArch64",
    "ppc64le": "PPC",
    "riscv64": "RISCV",
    "armv7l": "ARM",
}


def check(name: str) -> tuple[str, str]:
    """The two parts of a machine's name: local, or qemu and its architecture, or ssh and its host.

    Asks no machine. Raises BadInput for what is no name of a machine.
    """
    from weakspot.harness.machines.emulated import ARCHITECTURES

    kind, _, rest = name.partition(":")
    if (
        (kind == "local" and not rest)
        or (kind == "qemu" and rest in ARCHITECTURES)
        # what begins with a dash would be an option of ssh
        or (kind == "ssh" and rest and rest[0] != "-" and rest.isprintable() and " " not in rest)
    ):
        return kind, rest
    emulated = [f"qemu:{arch}" for arch in ARCHITECTURES]
    raise BadInput(
        f"unknown machine {name!r}",
        advice=f"the machines are local, {', '.join(emulated)}, and ssh:HOST for every host that "
        "ssh knows",
    )


def resolve(name: str) -> Machine:
    """The machine called "local", "qemu:ARCH" or "ssh:HOST".

    Raises BadInput for any other name, Unsupported for an architecture that there are no programs
    for, and Lost for a host that cannot be reached.
    """
    from weakspot.harness.machines import emulated, local, ssh

    kind, rest = check(name)
    if kind == "qemu":
        return emulated.machine(rest)
    return ssh.machine(rest) if kind == "ssh" else local.machine()


def opened(machine: Machine) -> AbstractContextManager[Session]:
    """The machine, open for work until the block is left. Raises Lost, MissingTool."""
    from weakspot.harness.machines import local, ssh

    return ssh.opened(machine.host) if machine.host else local.opened(machine)
