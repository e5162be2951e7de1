"""Programs and Python modules that weakspot uses: where each is, its version, how to get it.

In: a Program or a Module, declared where it is used. Out: a Tool. A program is looked for in the
folder that WEAKSPOT_TOOLS names, then on PATH, then in the private folder `.tools` that
scripts/install-tools fills. What the system has is thus used as it is, unless WEAKSPOT_TOOLS says
otherwise.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType

import msgspec

from weakspot.errors import MissingTool

_SECONDS_FOR_A_QUESTION = 20.0  # a version flag answers in milliseconds, unless the disk is cold

INSTALLED_BY_SCRIPT = "run scripts/install-tools in weakspot's clone, which needs no root"
"""The advice for a program that the script installs."""


class Program(msgspec.Struct, frozen=True):
    """A program that weakspot can use.

    `lost` says what does not work without it, `advice` how to get it, each in one phrase; `role`
    is what the main job needs at least one program or module for. `version_option` makes it print
    its version; `version_of` is a program of the same package beside it that does if it does not.
    `aliases` are other names for it.
    """

    name: str
    lost: str = ""
    advice: str = ""
    role: str = ""
    version_option: str = "--version"
    version_of: str = ""
    aliases: tuple[str, ...] = ()


class Module(msgspec.Struct, frozen=True):
    """A Python module that weakspot can use: see Program. Its version is that of the installed
    `distribution`, or what the module states where none is named."""

    name: str
    lost: str
    advice: str
    role: str = ""
    distribution: str = ""

    def version(self, module: ModuleType) -> str:
        if not self.distribution:
            return str(module.__version__)
        from importlib.metadata import version  # slow to import

        return version(self.distribution)


Requirement = Program | Module


class Tool(msgspec.Struct, frozen=True):
    """A program that was found.

    `path` is absolute; `origin` is the place it was found in: "WEAKSPOT_TOOLS", "PATH",
    ".tools", or "Python" for what is a part of weakspot.
    """

    name: str
    path: str
    origin: str
    requirement: Requirement

    @property
    def version(self) -> str | None:
        """The version that the tool states, or None if it states none; asked for once."""
        if isinstance(self.requirement, Module):
            return self.requirement.version(importlib.import_module(self.requirement.name))
        return _version(self.requirement, self.path)


def find(what: Requirement | str) -> Tool | None:
    """The program or module, or None if it is in none of the places. Repeated calls cost nothing.

    The environment is read at every call; a tool installed while weakspot runs is found only
    after `forget()`.
    """
    if isinstance(what, Module):
        return _module(what)
    program = Program(what) if isinstance(what, str) else what
    own, path = os.environ.get("WEAKSPOT_TOOLS", ""), os.environ.get("PATH", os.defpath)
    return _find(program, own, path)


def matching(pattern: str) -> list[Tool]:
    """The programs whose names the regular expression matches whole, each once under its shortest
    name, whatever links lead to it."""
    own = os.environ.get("WEAKSPOT_TOOLS", "")
    folders = [str(Path(own) / "bin")] if own else []
    folders += os.environ.get("PATH", os.defpath).split(os.pathsep)
    names = {
        path.name
        for folder in folders
        if Path(folder).is_dir()
        for path in Path(folder).iterdir()
        if re.fullmatch(pattern, path.name)
    }
    found: dict[Path, Tool] = {}
    for name in sorted(names, key=lambda each: (len(each), each)):
        tool = find(name)
        if tool is not None:
            found.setdefault(Path(tool.path).resolve(), tool)
    return list(found.values())


def require(what: Requirement | str) -> Tool:
    """The program or module. Raises MissingTool, whose advice says how to get it."""
    tool = find(what)
    if tool is None:
        name = what if isinstance(what, str) else what.name
        raise MissingTool(f"{name} is not installed", advice=advice(what))
    return tool


def advice(what: Requirement | str) -> str:
    """How to get a program or module, in one sentence."""
    if isinstance(what, str):
        return f"put {what} on PATH"
    return what.advice or f"put {what.name} on PATH"


def forget() -> None:
    """Forgets what was found, so that the next call looks again."""
    _find.cache_clear()
    _version.cache_clear()


def prefixes() -> list[Path]:
    """The folders that scripts/install-tools may have filled: the one that WEAKSPOT_TOOLS names,
    and the clone's .tools."""
    own = os.environ.get("WEAKSPOT_TOOLS", "")
    return [*([Path(own)] if own else []), *_private_prefixes()]


def _private_prefixes() -> list[Path]:
    """The clone's .tools: beside its .venv, or, from another environment, by this file."""
    return [Path(sys.prefix).parent / ".tools", Path(__file__).resolve().parents[2] / ".tools"]


def _private_folders() -> list[Path]:
    return [prefix / "bin" for prefix in _private_prefixes()]


@lru_cache(maxsize=256)
def _find(program: Program, own: str, path: str) -> Tool | None:
    private = _private_folders()
    places: list[tuple[str, str]] = []
    if own:
        places.append((str(Path(own) / "bin"), "WEAKSPOT_TOOLS"))
    places.append((path, "PATH"))
    places.extend((str(folder), ".tools") for folder in private)
    names = (program.name, *program.aliases)
    for folders, origin in places:
        found = next(filter(None, (shutil.which(each, path=folders) for each in names)), None)
        if found is not None:
            where = Path(found).absolute()
            if origin == "PATH" and where.parent in private:
                origin = ".tools"
            return Tool(program.name, str(where), origin, program)
    return None


def _module(module: Module) -> Tool | None:
    try:
        found = importlib.import_module(module.name)
    except ImportError:
        return None
    return Tool(module.name, str(found.__file__), "Python", module)


@lru_cache(maxsize=256)
def _version(program: Program, path: str) -> str | None:
    stated = ask(path, program.version_option)
    if stated is None and program.version_of:
        neighbour = Path(path).with_name(program.version_of)
        stated = ask(str(neighbour), program.version_option) if neighbour.is_file() else None
    if stated is None:
        return None
    # "gcc (Debian 12.2.0-14) 12.2.0": what stands in brackets is the packager's
    match = re.search(r"\d+(?:\.\d+)+", re.sub(r"\([^)]*\)", "", stated.splitlines()[0]))
    return match.group() if match else None


def ask(path: str, flag: str) -> str | None:
    """What the program prints for `flag`; None if it prints nothing, fails or does not end."""
    try:
        answer = subprocess.run(
            [path, flag],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS_FOR_A_QUESTION,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = answer.stdout.strip() or answer.stderr.strip()  # ssh states it there
    return text if answer.returncode == 0 and text else None
