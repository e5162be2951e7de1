"""clang: one per version on the path; each compiles for every target that it was built with.

It makes no whole programs here: those would need the target's C library and headers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from weakspot.system import process, tools
from weakspot.system.compilers import Compiler, Platform, newest_first
from weakspot.system.tools import Program, Requirement, Tool

CLANG = Program(
    "clang",
    lost="checks of what the system's clang makes of tests; ziglang reads programs instead",
    aliases=tuple(f"clang-{major}" for major in range(40, 14, -1)),
    advice="install clang, or the Python package ziglang, which contains one",
    role="clang",
)


class Clang(msgspec.Struct, frozen=True):
    """See Family."""

    name: str = "clang"
    rank: int = 1
    requires: tuple[Requirement, ...] = (CLANG,)

    def installed(self, platforms: Sequence[Platform]) -> list[Compiler]:
        found: dict[str, Compiler] = {}
        for tool, major in _versions():
            if major:
                name = f"clang-{major}"
                backends = _backends(tool.path)
                commands = {
                    each.name: (tool.path, f"--target={each.triple}", *each.flags)
                    for each in platforms
                    if each.backend in backends
                }
                found.setdefault(name, Compiler(name, self.name, commands))
        return newest_first(list(found.values()))

    def needed(self, *_: str, native: bool) -> None:  # noqa: ARG002
        return None

    def driver(self, *_: str, native: bool) -> None:  # noqa: ARG002
        return None


def newest(oldest: int) -> Tool | None:
    """The newest clang on the path; None if each is older than `oldest`."""
    found = [(major, tool) for tool, major in _versions() if major >= oldest]
    return max(found, key=lambda each: each[0])[1] if found else None


def _versions() -> Iterator[tuple[Tool, int]]:
    """Every clang on the path with its major version; 0 if it states none."""
    for tool in tools.matching(r"clang(-\d+)?"):
        yield tool, int((tool.version or "0").split(".")[0])


@lru_cache
def _backends(clang: str) -> frozenset[str]:
    listed = process.run([clang, "--print-targets"], seconds=20).out
    return frozenset(re.findall(r"^\s+(\S+)\s+- ", listed, re.M))


FAMILY = Clang()
