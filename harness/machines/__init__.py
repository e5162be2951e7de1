"""Machines that Tests run on: this one, those that qemu emulates, others by ssh; their profiles.

In: the name of a machine. Out: a Machine, and a Session on it. To add a kind of machine, add a file
NAME.py that defines KIND, a value with what `MachineKind` asks for. Nothing else names it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

import msgspec

from weakspot.errors import BadInput, ToolFailed, Unsupported
from weakspot.system.process import Ended
from weakspot.system.registry import Registry, ToolEntry
from weakspot.system.tools import Program


class Machine(msgspec.Struct, frozen=True):
    """Where tests run.

    `arch` is what `uname -m` prints; `cores` are the logical processors that may be used there.
    Programs for it are compiled with `flags`, by a `native` compiler or a cross compiler
    (compilers.py); `litmus7` are litmus7's options for C tests on it. `emulator` runs its programs,
    if one is needed; `host` is its address for its `kind`. An emulated machine is not real
    hardware: it shows nothing about how weak real hardware is, and Histograms from it are marked.
    `options` are those of its NamedMachine, as text.
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
    options: str = ""

    @property
    def key(self) -> str:
        """The machine in the keys of jobs: its name, with the options that the user gave it."""
        return f"{self.name} {self.options}".rstrip()


class NamedMachine(msgspec.Struct, frozen=True, kw_only=True):
    """A machine that the user gave a name. At most `cores` of its logical processors are used, 0
    for all; programs for it are compiled with `flags` after those of its kind. `place` is where it
    is configured, for messages."""

    address: str
    cores: int = 0
    flags: tuple[str, ...] = ()
    place: str = ""

    @property
    def options(self) -> str:
        """What results depend on beside the machine itself; "" without options."""
        return " ".join((*((f"cores={self.cores}",) if self.cores else ()), *self.flags))


Named = Mapping[str, NamedMachine]
"""Machines by the names that the user gave them."""

NO_NAMES: Named = {}


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


class MachineKind(ToolEntry, Protocol):
    """What every kind of machine offers. A machine is named KIND or KIND:REST; `form` shows that to
    a person. `elsewhere` says that its machines are not this computer."""

    @property
    def form(self) -> str: ...

    @property
    def elsewhere(self) -> bool: ...

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
    "machine kind", __name__, "KIND", others=("compilers", "emulation", "prices", "profile")
)
"""The kinds of machines by name."""


def check(name: str, named: Named = NO_NAMES) -> tuple[MachineKind, str]:
    """The kind of the machine of that name, and the rest of its address.

    Asks no machine. Raises BadInput for what is no name of a machine.
    """
    if name in named:
        return check(named[name].address)
    kind, _, rest = name.partition(":")
    found = KINDS.find(kind)
    if found is None or not found.accepts(rest) or name.endswith(":"):
        known = [*named, *(each.machines() for each in KINDS)]
        raise BadInput(
            f"unknown machine {name!r}",
            advice=f"the machines are {', '.join(known[:-1])}, and {known[-1]}",
        )
    return found, rest


def resolve(name: str, named: Named = NO_NAMES) -> Machine:
    """The machine of that name: of one of those that the user `named`, or of a kind.

    Raises BadInput for what is no name of a machine, Unsupported for an architecture that there
    are no programs for, and Lost for a machine that cannot be reached.
    """
    kind, rest = check(name, named)
    given = named.get(name)
    if given is None:
        return kind.machine(rest)
    try:
        found = kind.machine(rest)
    except (Lost, Unsupported) as error:
        error.message = f"{name}: {error.message}"
        error.place = given.place or None
        raise
    return msgspec.structs.replace(
        found,
        name=name,
        cores=min(found.cores, given.cores or found.cores),
        flags=(*found.flags, *given.flags),
        options=given.options,
    )


def refused_name(name: str) -> str:
    """Why a machine cannot be given that name, in one phrase; "" if it can."""
    if not name or not name.isprintable() or any(each in ":, " for each in name) or name[0] == "-":
        return "a name has no colon, comma or space, and does not begin with a dash"
    return f"{name} is a kind of machine" if KINDS.find(name) is not None else ""


def opened(machine: Machine) -> AbstractContextManager[Session]:
    """The machine, open for work until the block is left. Raises Lost, MissingTool."""
    return KINDS.get(machine.kind).opened(machine)
