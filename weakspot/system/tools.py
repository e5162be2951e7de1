"""The programs that weakspot starts: where each is, which version it is, how to get it.

A tool is looked for in the folder that WEAKSPOT_TOOLS names, then on PATH, then in the private
folder `.tools` that scripts/install-tools fills. What the system has is thus used as it is,
unless WEAKSPOT_TOOLS says otherwise.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import msgspec

from weakspot.errors import MissingTool

HERDTOOLS = frozenset({"herd7", "litmus7", "diy7", "diyone7", "diycross7", "mcompare7", "msum7"})
"""The programs of the herdtools7 package that weakspot knows by name."""

_VERSION_FLAGS = {"zig": "version", "ssh": "-V"}
_SECONDS_FOR_A_QUESTION = 20.0  # a version flag answers in milliseconds, unless the disk is cold


class Tool(msgspec.Struct, frozen=True):
    """A program that was found.

    `path` is absolute; `origin` is the place it was found in: "WEAKSPOT_TOOLS", "PATH",
    ".tools", or "Python" for what is a part of weakspot.
    """

    name: str
    path: str
    origin: str

    @property
    def version(self) -> str | None:
        """The version the program itself states, or None if it states none; asked for once."""
        return _version(self.name, self.path)


def find(name: str) -> Tool | None:
    """The program called `name`, or None. Repeated calls cost nothing.

    The environment is read at every call; a tool installed while weakspot runs is found only
    after `forget()`.
    """
    return _find(name, os.environ.get("WEAKSPOT_TOOLS", ""), os.environ.get("PATH", os.defpath))


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


def engine() -> Tool | None:
    """weakspot's own engine, or None where it is not built."""
    try:
        module = importlib.import_module("weakspot._engine")
    except ImportError:
        return None
    return Tool(name="engine", path=str(module.__file__), origin="Python")


def require(name: str) -> Tool:
    """The program called `name`.

    Raises MissingTool, whose advice says how to get it, if it is in none of the places.
    """
    tool = find(name)
    if tool is None:
        raise MissingTool(f"{name} is not installed", advice=advice(name))
    return tool


def advice(name: str) -> str:
    """How to get the tool called `name`, in one sentence."""
    if name in HERDTOOLS:
        return (
            "run scripts/install-tools in weakspot's clone, which needs no root; "
            "or opam install herdtools7"
        )
    if name == "cbmc":
        return (
            "run scripts/install-tools in weakspot's clone, which needs no root; "
            "or put a release of CBMC on PATH"
        )
    if name == "engine":
        return "install weakspot again; in a clone, pip install -e . (which needs Rust)"
    return _PACKAGES.get(name, f"put {name} on PATH")


def herd_libdir() -> Path | None:
    """The folder of the cat files that herd7 comes with (rc11.cat and the others), or None."""
    tool = find("herd7")
    return None if tool is None else _libdir(tool.path)


def forget() -> None:
    """Forgets what was found, so that the next call looks again."""
    _find.cache_clear()
    _version.cache_clear()
    _libdir.cache_clear()


_PACKAGES = {
    "gcc": "install your system's C compiler (Debian, Ubuntu: gcc)",
    "g++": "install your system's C++ compiler (Debian, Ubuntu: g++)",
    "clang": "install clang, or the Python package ziglang, which contains one",
    "aarch64-linux-gnu-gcc": "install a cross compiler (Debian, Ubuntu: gcc-aarch64-linux-gnu)",
    "powerpc64le-linux-gnu-gcc": (
        "install a cross compiler (Debian, Ubuntu: gcc-powerpc64le-linux-gnu)"
    ),
    "riscv64-linux-gnu-gcc": "install a cross compiler (Debian, Ubuntu: gcc-riscv64-linux-gnu)",
    "zig": "pip install ziglang",
    "ssh": "install an OpenSSH client (Debian, Ubuntu: openssh-client)",
    **dict.fromkeys(
        ("qemu-aarch64", "qemu-ppc64le", "qemu-riscv64", "qemu-x86_64"),
        "install qemu's user-mode emulation (Debian, Ubuntu: qemu-user)",
    ),
}


def _private_folders() -> list[Path]:
    """The clone's .tools/bin: beside its .venv, or, from another environment, by this file."""
    return [
        Path(sys.prefix).parent / ".tools" / "bin",
        Path(__file__).resolve().parents[2] / ".tools" / "bin",
    ]


@lru_cache(maxsize=256)
def _find(name: str, own: str, path: str) -> Tool | None:
    private = _private_folders()
    places: list[tuple[str, str]] = []
    if own:
        places.append((str(Path(own) / "bin"), "WEAKSPOT_TOOLS"))
    places.append((path, "PATH"))
    places.extend((str(folder), ".tools") for folder in private)
    names = (name, f"{name}-static") if name.startswith("qemu-") else (name,)
    for folders, origin in places:
        found = next(filter(None, (shutil.which(each, path=folders) for each in names)), None)
        if found is not None:
            where = Path(found).absolute()
            if origin == "PATH" and where.parent in private:
                origin = ".tools"
            return Tool(name=name, path=str(where), origin=origin)
    return _packaged() if name == "zig" else None


def _packaged() -> Tool | None:
    """The zig of the Python package ziglang."""
    spec = importlib.util.find_spec("ziglang")
    path = Path(spec.origin).with_name("zig") if spec and spec.origin else None
    found = path is not None and path.is_file()
    return Tool(name="zig", path=str(path), origin="Python") if found else None


@lru_cache(maxsize=256)
def _version(name: str, path: str) -> str | None:
    if name == "engine":
        return str(importlib.import_module("weakspot._engine").__version__)
    if name in HERDTOOLS:
        stated = _ask(path, "-version")
        if stated is None:
            # only some of herdtools7 have the flag; herd7 beside it is of the same package
            neighbour = Path(path).with_name("herd7")
            stated = _ask(str(neighbour), "-version") if neighbour.is_file() else None
    else:
        stated = _ask(path, _VERSION_FLAGS.get(name, "--version"))
    if stated is None:
        return None
    # "gcc (Debian 12.2.0-14) 12.2.0": what stands in brackets is the packager's
    match = re.search(r"\d+(?:\.\d+)+", re.sub(r"\([^)]*\)", "", stated.splitlines()[0]))
    return match.group() if match else None


@lru_cache(maxsize=16)
def _libdir(herd7: str) -> Path | None:
    stated = _ask(herd7, "-libdir")
    if stated is None:
        return None
    folder = Path(stated.splitlines()[0]).resolve()
    return folder if folder.is_dir() else None


def _ask(path: str, flag: str) -> str | None:
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
