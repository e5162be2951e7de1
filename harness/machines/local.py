"""The machine that weakspot runs on, as it is or behind an emulator."""

from __future__ import annotations

import contextlib
import platform
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.binary.isa import ISAS
from weakspot.harness.machines import Machine, Session, emulation
from weakspot.system import process, tools
from weakspot.system.processors import cores

_NAMES = {"amd64": "x86_64", "arm64": "aarch64"}  # as macOS and the BSDs call them


def arch() -> str:
    """The architecture of this machine, in the words of uname -m."""
    name = platform.machine().lower()
    return _NAMES.get(name, name)


def machine() -> Machine:
    """This machine. Raises Unsupported for an architecture that litmus7 does not know."""
    here = arch()
    isa = ISAS.find(here)
    if isa is None:
        raise Unsupported(
            f"tests cannot run on this machine: its architecture is {here}",
            advice="known are " + ", ".join(ISAS.names()),
        )
    kernel, cpuinfo = (_beginning(Path(file)) for file in (emulation.KERNEL, emulation.CPUINFO))
    return Machine(
        name="local",
        arch=here,
        cores=cores(),
        emulated=emulation.is_emulated(here, kernel, cpuinfo),
        litmus7=("-carch", isa.dialect),
    )


def _beginning(file: Path) -> str:
    """The beginning of a file's text; "" if there is none."""
    try:
        with file.open(encoding="utf-8", errors="replace") as text:
            return text.read(emulation.MOST)
    except OSError:
        return ""


class Here(msgspec.Struct, frozen=True):
    """See Session. `prefix` stands before a program's path to run it."""

    prefix: tuple[str, ...] = ()

    def run(self, program: Path, arguments: Sequence[str] = (), *, seconds: float) -> process.Ended:
        command = [*self.prefix, str(program.absolute()), *arguments]
        return process.run(command, seconds=seconds, memory=None)

    def shell(self, script: str, *, seconds: float = 20.0) -> process.Ended:
        return process.run(["sh", "-c", script], seconds=seconds)


@contextlib.contextmanager
def opened(machine: Machine) -> Iterator[Here]:
    """See machines.opened. Raises MissingTool for an emulator that is not installed."""
    yield Here((tools.require(machine.emulator).path,) if machine.emulator else ())


class Local(msgspec.Struct, frozen=True):
    """See machines.MachineKind."""

    name: str = "local"
    rank: int = 0
    form: str = "local"
    requires: tuple[tools.Requirement, ...] = ()
    elsewhere: bool = False

    def accepts(self, rest: str) -> bool:
        return not rest

    def machines(self) -> str:
        return self.name

    def machine(self, _rest: str) -> Machine:
        return machine()

    def opened(self, machine: Machine) -> AbstractContextManager[Session]:
        return opened(machine)


KIND = Local()
