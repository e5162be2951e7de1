"""What is installed, and what its absence costs.

`report` looks, `render` shows, `missing_required` decides. Nothing here changes anything.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from weakspot.harness.machines.compilers import CROSS
from weakspot.harness.machines.emulated import ARCHITECTURES
from weakspot.system import tools

COMPILERS = ("gcc", "clang", "ziglang")
"""Any one of these turns C into what weakspot reads and runs."""

REQUIRED = ("llvmlite", "weakspot._engine")
"""What the main job needs besides a compiler; herd7, cbmc and litmus7 are second opinions."""


class DoctorLine(msgspec.Struct, frozen=True):
    """One thing weakspot can use.

    `where` is the path of a program or of a Python module; `origin` is "PATH",
    "WEAKSPOT_TOOLS", ".tools" or "Python"; both are None for what is missing. `lost` says what
    does not work without it, `advice` how to get it, whether it is there or not.
    """

    name: str
    found: bool
    version: str | None
    where: str | None
    origin: str | None
    lost: str
    advice: str


def report() -> list[DoctorLine]:
    """One line for each thing, in the order a person reads them. Takes well under a second."""
    return [
        _program("herd7", lost="the second opinion on tests; herd's own models"),
        _program("litmus7", lost="the second runner on machines; tests in assembly do not run"),
        _program("diy7", lost="comparing generated tests with diy7's"),
        _program("mcompare7", lost="comparing logs as the herd tools do"),
        _program("cbmc", lost="the second opinion on programs, bounded model checking"),
        _program("gcc", lost="runs of what gcc makes of a test; zig's clang compiles instead"),
        _program("g++", lost="the same of programs in C++; zig's clang compiles instead"),
        _program("clang", lost="nothing while ziglang is there; a system clang's own version"),
        _module(
            "ziglang",
            lost="reading C without a system clang; programs for machines without a compiler",
            advice="pip install ziglang",
            version=lambda _: importlib.metadata.version("ziglang"),
        ),
        _module(
            "llvmlite",
            lost="reading C and C++ programs; .litmus files still work",
            advice="pip install llvmlite",
            version=lambda module: module.__version__,
        ),
        _module(
            "weakspot._engine",
            lost="the engine: exploring programs and checking tests without herd7",
            advice="pip install weakspot again; in a clone, pip install -e . (needs Rust)",
            version=lambda _: importlib.import_module("weakspot").__version__,
        ),
        _program("ssh", lost="runs on other machines (--on ssh:HOST)"),
        *(
            _program(CROSS[arch], lost=f"gcc for {arch}; zig's clang compiles instead")
            for arch in ARCHITECTURES
        ),
        *(_program(f"qemu-{arch}", lost=f"emulated {arch} runs") for arch in ARCHITECTURES),
    ]


def missing_required(lines: Iterable[DoctorLine]) -> list[str]:
    """What the main job lacks, by name; empty if it can run. One compiler is enough."""
    found = {line.name for line in lines if line.found}
    missing = [name for name in REQUIRED if name not in found]
    if not found.intersection(COMPILERS):
        missing.append(f"a C compiler ({', '.join(COMPILERS)})")
    return missing


def as_dicts(lines: Iterable[DoctorLine]) -> list[dict[str, Any]]:
    """The lines as JSON-able dictionaries, field by field."""
    return [msgspec.to_builtins(line) for line in lines]


def render(lines: Sequence[DoctorLine], console: Console) -> None:
    """Prints the lines: a table on a terminal, unwrapped columns into a pipe or a file."""
    if console.is_terminal:
        _render_table(lines, console)
    else:
        _render_plain(lines, console)
    missing = missing_required(lines)
    if missing:
        console.print(Text(f"the main job lacks: {', '.join(missing)}"), soft_wrap=True)
    else:
        console.print(Text("everything the main job needs is here"), soft_wrap=True)


def _render_table(lines: Sequence[DoctorLine], console: Console) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("tool", no_wrap=True)
    table.add_column("version", no_wrap=True)
    table.add_column("where, or what is lost without it", overflow="fold")
    for line in lines:
        if line.found:
            row = (Text(line.version or "?"), Text(line.where or "", style="dim"))
        else:
            row = (
                Text("missing", style="yellow"),
                Text(f"lost: {line.lost}").append(f"\n{line.advice}", style="dim"),
            )
        table.add_row(Text(line.name), *row)
    console.print(table)


def _render_plain(lines: Sequence[DoctorLine], console: Console) -> None:
    name_width = max((len(line.name) for line in lines), default=0)
    for line in lines:
        if line.found:
            rest = f"{line.version or '?':<10}  {line.where}"
        else:
            rest = f"{'missing':<10}  lost: {line.lost}; {line.advice}"
        console.print(Text(f"{line.name:<{name_width}}  {rest}"), soft_wrap=True)


def _program(name: str, *, lost: str) -> DoctorLine:
    tool = tools.find(name)
    return DoctorLine(
        name=name,
        found=tool is not None,
        version=tool.version if tool else None,
        where=tool.path if tool else None,
        origin=tool.origin if tool else None,
        lost=lost,
        advice=tools.advice(name),
    )


def _module(name: str, *, lost: str, advice: str, version: Callable[[Any], str]) -> DoctorLine:
    """A Python module: found if it can be imported, since a broken one is of no use."""
    try:
        module = importlib.import_module(name)
        stated = str(version(module))
    except Exception as error:  # a broken library fails with whatever it likes
        if not isinstance(error, ModuleNotFoundError):
            advice = f"{advice} (it fails with: {error})"
        return DoctorLine(
            name=name,
            found=False,
            version=None,
            where=None,
            origin=None,
            lost=lost,
            advice=advice,
        )
    file = Path(module.__file__ or "")
    return DoctorLine(
        name=name,
        found=True,
        version=stated,
        where=str(file.parent if file.name == "__init__.py" else file),
        origin="Python",
        lost=lost,
        advice=advice,
    )
