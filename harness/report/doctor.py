"""Which tools are installed, and what does not work without the others.

`report` looks, `plain` and `table` show, `missing_required` decides.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from weakspot import __version__
from weakspot.harness.machines.compilers import CROSS
from weakspot.harness.machines.emulated import ARCHITECTURES
from weakspot.system import tools

if TYPE_CHECKING:
    from rich.table import Table

COMPILERS = ("gcc", "clang", "ziglang")
"""Any one of these turns C into what weakspot reads and runs."""

REQUIRED = ("llvmlite", "weakspot._engine")
"""What the main job needs besides a compiler; herd7, cbmc and litmus7 are second opinions."""


class DoctorLine(msgspec.Struct, frozen=True):
    """One thing weakspot can use.

    `where` is the path of a program or of a Python module; `origin` is "PATH",
    "WEAKSPOT_TOOLS", ".tools" or "Python"; both are None for what is missing. `version` is None
    too where it was not asked for. `lost` says what does not work without the tool, `advice` how
    to get it, whether it is there or not.
    """

    name: str
    found: bool
    version: str | None
    where: str | None
    origin: str | None
    lost: str
    advice: str


class _Module(msgspec.Struct, frozen=True):
    name: str
    lost: str
    advice: str
    version: Callable[[Any], str]


_PROGRAMS = {
    "herd7": "the second opinion on tests; herd's own models",
    "litmus7": "the second runner on machines; tests in assembly do not run",
    "diy7": "comparing generated tests with diy7's",
    "mcompare7": "comparing logs as the herd tools do",
    "cbmc": "the second opinion on programs, bounded model checking",
    "gcc": "runs of what gcc makes of a test; zig's clang compiles instead",
    "g++": "the same for programs in C++; zig's clang compiles instead",
    "clang": "nothing while ziglang is there; a system clang's own version",
    "ssh": "runs on other machines (--on ssh:HOST)",
}
_MODULES = (
    _Module(
        "ziglang",
        "reading C without a system clang; programs for machines without a compiler",
        "pip install ziglang",
        lambda _: importlib.metadata.version("ziglang"),
    ),
    _Module(
        "llvmlite",
        "reading C and C++ programs; .litmus files still work",
        "pip install llvmlite",
        lambda module: str(module.__version__),
    ),
    _Module(
        "weakspot._engine",
        "the engine: exploring programs and checking tests without herd7",
        "pip install weakspot again; in a clone, pip install -e . (needs Rust)",
        lambda _: __version__,
    ),
)


def report(*, versions: bool = True) -> list[DoctorLine]:
    """One line per tool, in the order in which a person reads them.

    Without `versions` nothing is started or imported: tools are only looked for.
    """
    return [
        *(_program(name, lost, versions) for name, lost in _PROGRAMS.items()),
        *(_module(each, versions) for each in _MODULES),
        *(
            _program(CROSS[arch], f"gcc for {arch}; zig's clang compiles instead", versions)
            for arch in ARCHITECTURES
        ),
        *(_program(f"qemu-{arch}", f"emulated {arch} runs", versions) for arch in ARCHITECTURES),
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


def closing(lines: Iterable[DoctorLine]) -> str:
    """The last line of the report: whether the main job can run."""
    missing = missing_required(lines)
    if missing:
        return f"`weakspot test` cannot run without: {', '.join(missing)}"
    return "everything that `weakspot test` needs is installed"


def plain(lines: Sequence[DoctorLine]) -> Iterator[str]:
    """One line of text per tool, for a pipe or a file."""
    width = max((len(line.name) for line in lines), default=0)
    for line in lines:
        if line.found:
            rest = f"{_version(line):<10}  {line.where}"
        else:
            rest = f"{'missing':<10}  lost: {line.lost}; {line.advice}"
        yield f"{line.name:<{width}}  {rest}"
    yield closing(lines)


def table(lines: Sequence[DoctorLine]) -> Table:
    """The lines as a table for a terminal."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    drawn.add_column("tool", no_wrap=True)
    drawn.add_column("version", no_wrap=True)
    drawn.add_column("path, or what is lost without it", overflow="fold")
    for line in lines:
        if line.found:
            row = (Text(_version(line)), Text(line.where or "", style="dim"))
        else:
            row = (
                Text("missing", style="yellow"),
                Text(f"lost: {line.lost}").append(f"\n{line.advice}", style="dim"),
            )
        drawn.add_row(Text(line.name), *row)
    return drawn


def _version(line: DoctorLine) -> str:
    return line.version or ("found" if line.found else "missing")


def _program(name: str, lost: str, versions: bool) -> DoctorLine:
    tool = tools.find(name)
    return DoctorLine(
        name=name,
        found=tool is not None,
        version=tool.version if tool and versions else None,
        where=tool.path if tool else None,
        origin=tool.origin if tool else None,
        lost=lost,
        advice=tools.advice(name),
    )


def _module(module: _Module, versions: bool) -> DoctorLine:
    """A Python module; where versions are asked for it counts as found only if its import works."""
    line = DoctorLine(
        name=module.name,
        found=False,
        version=None,
        where=None,
        origin=None,
        lost=module.lost,
        advice=module.advice,
    )
    try:
        spec = importlib.util.find_spec(module.name)
        version = module.version(importlib.import_module(module.name)) if versions else None
    except Exception as error:  # a broken library fails with whatever it likes
        if isinstance(error, ModuleNotFoundError):
            return line
        advice = f"{module.advice} (importing it fails: {error})"
        return msgspec.structs.replace(line, advice=advice)
    if spec is None or spec.origin is None:
        return line
    file = Path(spec.origin)
    where = file.parent if file.name == "__init__.py" else file
    return msgspec.structs.replace(
        line, found=True, version=version, where=str(where), origin="Python"
    )
