"""Machines that Tests run on: this one, those that qemu emulates, others by ssh; their profiles.

In: the name of a machine. Out: a Machine, and a Session on it. To add a kind of machine, add a file
NAME.py that defines KIND, a value with what `MachineKind` asks for. Nothing else names it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import msgspec

from weakspot.errors import BadInput, ToolFailed
from weakspot.system.process import Ended
from weakspot.system.registry import Registry
from weakspot.system.tools import Program, Requirement


class Machine(msgspec.Struct, frozen=True):
    """Where tests run.

    `arch` is what `uname -m` prints; `cores` are the logical processors that may be used there.
    Programs for it are compiled with `flags`, by a `native` compiler or a cross compiler
    (compilers.py); `litmus7` are litmus7's options for C tests on it. `emulator` runs its programs,
    if one is needed; `host` is its address for its `kind`. An emulated machine is not real
    hardware: it shows nothing about how weak real hardware is, and Histograms from it are marked.
    """

    name: str
    arch: str
    cores: int = 1
    emulated: bool = False
    emulator: Program | None = None
    kind: str = "local"
    host: str = ""
    native: bool = True
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


class MachineKind(Protocol):
    """What every kind of machine offers. A machine is named KIND or KIND:REST; `form` shows that to
    a person. `rank` orders lists; `requires` are the programs for `weakspot doctor`."""

    @property
    def name(self) -> str: ...

    @property
    def rank(self) -> int: ...

    @property
    def form(self) -> str: ...

    @property
    def requires(self) -> tuple[Requirement, ...]: ...

    def accepts(self, rest: str) -> bool:
        """Whether KIND:`rest` names a machine, "" for KIND alone. Asks no machine."""
        ...

    def machines(self) -> str:
        """The machines of this kind, in a phrase: "ssh:HOST for every host that ssh knows"."""
        ...

    def machine(self, rest: str) -> Machine:
        """The machine KIND:`rest`. Raises Unsupported for an architecture that there are no
        programs for, Lost for a machine that cannot be reached."""
        ...

    def opened(self, machine: Machine) -> AbstractContextManager[Session]:
        """The machine, open for work until the block is left. Raises Lost, MissingTool."""
        ...


KINDS: Registry[MachineKind] = Registry(
    "machine kind", __name__, "KIND", others=("compilers", "prices", "profile")
)
"""The kinds of machines by name."""


def check(name: str) -> tuple[MachineKind, str]:
    """The kind of the machine of that name, and the rest of the name.

    Asks no machine. Raises BadInput for what is no name of a machine.
    """
    kind, _, rest = name.partition(":")
    found = KINDS.find(kind)
    if found is None or not found.accepts(rest) or name.endswith(":"):
        known = [each.machines() for each in KINDS]
        raise BadInput(
            f"unknown machine {name!r}",
            advice=f"the machines are {', '.join(known[:-1])}, and {known[-1]}",
        )
    return found, rest


def resolve(name: str) -> Machine:
    """The machine of that name.

    Raises BadInput for what is no name of a machine, Unsupported for an architecture that there
    are no programs for, and Lost for a machine that cannot be reached.
    """
    kind, rest = check(name)
    return kind.machine(rest)


def opened(machine: Machine) -> AbstractContextManager[Session]:
    """The machine, open for work until the block is left. Raises Lost, MissingTool."""
    return KINDS.get(machine.kind).opened(machine)
