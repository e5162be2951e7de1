"""Which tools are installed, and what does not work without the others.

`report` looks, `plain` shows, `missing_required` decides.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from weakspot.generators.source.irtext import LLVM
from weakspot.generators.source.rust import RUSTC
from weakspot.harness.checkers import CHECKERS
from weakspot.harness.machines import KINDS
from weakspot.harness.runners import RUNNERS
from weakspot.system import tools
from weakspot.system.compilers import FAMILIES
from weakspot.system.tools import Module, Program, Requirement


class DoctorLine(msgspec.Struct, frozen=True):
    """One tool or library that weakspot can use.

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


def requirements() -> list[Requirement]:
    """The tools that checkers, runners and machines can use, as each declares them."""
    kinds = (*CHECKERS, *RUNNERS, *FAMILIES, *KINDS)
    found = (*(one for each in kinds for one in each.requires), LLVM, RUSTC)
    return list(dict.fromkeys(found))


def report(*, versions: bool = True) -> list[DoctorLine]:
    """One line per requirement.

    Without `versions` no tool is started or imported: they are only looked for.
    """
    return [
        _module(each, versions) if isinstance(each, Module) else _program(each, versions)
        for each in requirements()
    ]


def missing_required(lines: Iterable[DoctorLine]) -> list[str]:
    """What `weakspot test` lacks, by name; empty if it can run. One tool per role is enough."""
    found = {line.name for line in lines if line.found}
    roles: dict[str, list[str]] = {}
    for each in requirements():
        if each.role:
            roles.setdefault(each.role, []).append(each.name)
    return [
        role if names == [role] else f"a {role} ({', '.join(names)})"
        for role, names in roles.items()
        if not found.intersection(names)
    ]


def closing(lines: Iterable[DoctorLine]) -> str:
    """The last line of the report: whether `weakspot test` can run."""
    missing = missing_required(lines)
    if missing:
        return f"`weakspot test` cannot run without: {', '.join(missing)}"
    return "everything that `weakspot test` needs is installed"


def plain(lines: Sequence[DoctorLine]) -> Iterator[str]:
    """One line of text per tool."""
    width = max((len(line.name) for line in lines), default=0)
    for line in lines:
        rest = line.where if line.found else f"lost without it: {line.lost}; {line.advice}"
        yield f"{line.name:<{width}}  {_version(line):<10}  {rest}"
    yield closing(lines)


def _version(line: DoctorLine) -> str:
    return line.version or ("found" if line.found else "missing")


def _program(program: Program, versions: bool) -> DoctorLine:
    tool = tools.find(program)
    return DoctorLine(
        name=program.name,
        found=tool is not None,
        version=tool.version if tool and versions else None,
        where=tool.path if tool else None,
        origin=tool.origin if tool else None,
        lost=program.lost,
        advice=tools.advice(program),
    )


def _module(module: Module, versions: bool) -> DoctorLine:
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
