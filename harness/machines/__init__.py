"""Machines that Tests run on: this one and those that qemu plays; and their profiles."""

from __future__ import annotations

import msgspec

from weakspot.errors import BadInput, Unsupported


class Machine(msgspec.Struct, frozen=True):
    """Where tests run.

    `arch` is in the words of uname -m. `prefix` stands before a program's path to run it there;
    `compiler` makes programs for it, with `flags`; `litmus7` are the options by which litmus7
    writes C tests for it. An emulated machine is no real hardware: it shows little of the weak
    behaviour of its architecture, and Histograms from it say so.
    """

    name: str
    arch: str
    emulated: bool = False
    prefix: tuple[str, ...] = ()
    compiler: str = "gcc"
    flags: tuple[str, ...] = ("-O2",)
    litmus7: tuple[str, ...] = ()


#: litmus7's name of the architecture that C is compiled to
CARCH = {
    "x86_64": "X86_64",
    "aarch64": "AArch64",
    "ppc64le": "PPC",
    "riscv64": "RISCV",
    "armv7l": "ARM",
}


def resolve(name: str) -> Machine:
    """The machine called "local" or "qemu:ARCH".

    Raises BadInput for any other name; Unsupported for ssh:HOST, and for an architecture that
    there are no programs for.
    """
    from weakspot.harness.machines import emulated, local

    kind, _, rest = name.partition(":")
    if name == "local":
        return local.machine()
    if kind == "qemu" and rest:
        return emulated.machine(rest)
    if kind == "ssh" and rest:
        raise Unsupported(
            f"running on another machine by ssh is not there yet ({name})",
            advice=f"install weakspot on {rest} and run it there with --on local; "
            "its campaign folder can be reported here",
        )
    raise BadInput(
        f"unknown machine {name!r}",
        advice="the machines are local and "
        + " and ".join(f"qemu:{arch}" for arch in emulated.ARCHITECTURES),
    )
