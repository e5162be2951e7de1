"""The programs of herdtools7, and the folder of cat files that herd7 comes with."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from weakspot.system import tools
from weakspot.system.tools import INSTALLED_BY_SCRIPT, Program


def _program(name: str, lost: str) -> Program:
    # only some of them state their version; herd7 beside them does
    advice = f"{INSTALLED_BY_SCRIPT}; or opam install herdtools7"
    return Program(name, lost, advice, version_option="-version", version_of="herd7")


HERD7 = _program("herd7", "the second opinion on tests; herd's own models")
LITMUS7 = _program("litmus7", "the second runner on machines; tests in assembly do not run")
DIY7 = _program("diy7", "comparing generated tests with diy7's")
MCOMPARE7 = _program("mcompare7", "comparing logs as the herd tools do")


def libdir() -> Path | None:
    """The folder of the cat files that herd7 comes with (rc11.cat and the others), or None."""
    tool = tools.find(HERD7)
    return None if tool is None else _libdir(tool.path)


def forget() -> None:
    """Look for the folder again at the next call."""
    _libdir.cache_clear()


@lru_cache(maxsize=16)
def _libdir(herd7: str) -> Path | None:
    stated = tools.ask(herd7, "-libdir")
    if stated is None:
        return None
    folder = Path(stated.splitlines()[0]).resolve()
    return folder if folder.is_dir() else None
