"""The compilers that are installed, what each compiles for, and what it makes of a source.

Every version of gcc and clang on the path counts, and the clang in ziglang; a gcc of another
machine is a cross compiler (aarch64-linux-gnu-gcc), a clang compiles for all it was built with.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from weakspot.errors import BadInput, MissingTool
from weakspot.generators.emit.isa import Target, target
from weakspot.harness.machines.compilers import TRIPLES, musl
from weakspot.harness.machines.local import cores
from weakspot.system import process, tools

SECONDS = 120.0
"""How long a compiler may take for the threads of all tests."""

LEVELS = ("O0", "O1", "O2", "O3")

_ALWAYS = (
    *("-std=c11", "-ffreestanding", "-c", "-w"),  # no header of the target's system is needed
    *("-fno-stack-protector", "-fno-asynchronous-unwind-tables"),
)


class Place(msgspec.Struct, frozen=True):
    """What to compile for: the mapping's name, the machine as `uname -m` has it, the name that
    clang gives its part for it, and options for all compilers and for zig."""

    name: str
    machine: str
    backend: str
    options: tuple[str, ...] = ()
    zig: tuple[str, ...] = ()

    @property
    def triple(self) -> str:
        return TRIPLES[self.machine]

    @property
    def target(self) -> Target:
        """Its dialect and its model."""
        return target(self.name)


# calls of the helpers that choose LSE when the program runs would hide the instructions
_INLINE = "-mno-outline-atomics"
PLACES = {
    place.name: place
    for place in (
        Place("x86", "x86_64", "x86-64", ("-fcf-protection=none",)),
        Place("aarch64", "aarch64", "aarch64", (_INLINE, "-march=armv8-a")),
        Place(
            *("aarch64-lse", "aarch64", "aarch64"),
            options=(_INLINE, "-march=armv8.1-a"),
            zig=("-mcpu=generic+v8_1a",),
        ),
        Place(
            *("aarch64-rcpc", "aarch64", "aarch64"),
            options=(_INLINE, "-march=armv8.3-a"),
            zig=("-mcpu=generic+v8_3a",),
        ),
        Place("power", "ppc64le", "ppc64le"),
        Place("riscv", "riscv64", "riscv64", ("-march=rv64gc",)),
    )
}
"""By the names of the mappings: what is compared under the same model has one name."""


class Compiler(msgspec.Struct, frozen=True):
    """A compiler: its name with its version (gcc-12), and how it is started for each place."""

    name: str
    family: str
    commands: dict[str, tuple[str, ...]]


class Build(msgspec.Struct, frozen=True):
    """One way to compile."""

    compiler: Compiler
    level: str
    place: Place

    @property
    def name(self) -> str:
        return f"{self.compiler.name} -{self.level}"


class Made(msgspec.Struct, frozen=True):
    """What a build gave: the object file, or `reason` why there is none."""

    build: Build
    content: bytes = b""
    reason: str = ""


def builds(words: Sequence[str]) -> list[Build]:
    """All ways to compile that the words leave: names of compilers (gcc, clang-14), levels (O2),
    places (aarch64). Of what no word speaks, all are taken; so does `all`.

    Raises BadInput for a word that is none of these, MissingTool where no compiler is left.
    """
    known = installed()
    families = {name for each in known for name in (each.family, each.name)} | {
        "gcc",
        "clang",
        "zig",
    }
    chosen: dict[str, list[str]] = {"compiler": [], "level": [], "place": []}
    for word in words:
        kind = (
            *(["compiler"] if word in families else []),
            *(["level"] if word.lstrip("-") in LEVELS else []),
            *(["place"] if word in PLACES else []),
        )
        if not kind and word != "all":
            raise BadInput(
                f"{word!r} is no compiler, level or target",
                advice=f"compilers are {', '.join(sorted(families))}; levels {', '.join(LEVELS)}; "
                f"targets {', '.join(PLACES)}; or all",
            )
        for each in kind:
            chosen[each].append(word.lstrip("-"))
    found = [
        Build(compiler, level, PLACES[place])
        for place in chosen["place"] or PLACES
        for compiler in known
        if place in compiler.commands
        and (not chosen["compiler"] or {compiler.family, compiler.name} & set(chosen["compiler"]))
        for level in chosen["level"] or LEVELS
    ]
    if not found:
        raise MissingTool(
            f"no compiler for {', '.join(words)}",
            advice="install gcc, a cross compiler (Debian, Ubuntu: gcc-aarch64-linux-gnu) or "
            "clang; ziglang has a clang for every target",
        )
    return found


def installed() -> list[Compiler]:
    """The compilers by name, gcc first, the newest of each first."""
    return [*_gccs(), *_clangs(), *_zig()]


def _gccs() -> list[Compiler]:
    commands: dict[str, dict[str, tuple[str, ...]]] = {}
    for place in PLACES.values():
        names = [rf"{place.triple}-gcc(-\d+)?"]
        if platform.machine() == place.machine:
            names.append(r"gcc(-\d+)?")
        # one gcc/ipa pass gives functions of the same code one body, and jumps to it
        options = (*place.options, "-fno-ipa-icf")
        for tool in tools.matching("|".join(names)):
            if tool.version:
                name = f"gcc-{tool.version.split('.')[0]}"
                commands.setdefault(name, {}).setdefault(place.name, (tool.path, *options))
    return [Compiler(name, "gcc", commands[name]) for name in sorted(commands, key=_age)]


def _clangs() -> list[Compiler]:
    found: dict[str, Compiler] = {}
    for tool in tools.matching(r"clang(-\d+)?"):
        if tool.version:
            name = f"clang-{tool.version.split('.')[0]}"
            backends = _backends(tool.path)
            commands = {
                place.name: (tool.path, f"--target={place.triple}", *place.options)
                for place in PLACES.values()
                if place.backend in backends
            }
            found.setdefault(name, Compiler(name, "clang", commands))
    return sorted(found.values(), key=lambda each: _age(each.name))


def _zig() -> list[Compiler]:
    if importlib.util.find_spec("ziglang") is None:
        return []
    from importlib.metadata import version

    start = (sys.executable, "-m", "ziglang", "cc", "-fno-sanitize=all")
    commands = {}
    for place in PLACES.values():
        options = [each for each in place.options if not each.startswith("-march")]
        commands[place.name] = (*start, "-target", musl(place.triple), *options, *place.zig)
    return [Compiler(f"zig-{version('ziglang')}", "zig", commands)]


def _age(name: str) -> int:
    return -int(name.rpartition("-")[2])


@lru_cache
def _backends(clang: str) -> frozenset[str]:
    said = process.run([clang, "--print-targets"], seconds=20).out
    return frozenset(re.findall(r"^\s+(\S+)\s+- ", said, re.M))


def compiled(text: str, wanted: Iterable[Build], done: Callable[[Made], None]) -> None:
    """Compile a C source in each way, on all cores; `done` is told of each as it ends."""
    with tempfile.TemporaryDirectory(prefix="weakspot-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "threads.c").write_text(text, encoding="utf-8")
        # zig makes its cache on the way; compilers of one cache would wait for one another
        tasks = [_task(build, folder, number) for number, build in enumerate(wanted)]
        process.in_parallel(tasks, workers=cores(), done=done)


def _task(
    build: Build, folder: Path, number: int
) -> Callable[[process.Crew, Callable[[Made], None]], None]:
    def work(crew: process.Crew, done: Callable[[Made], None]) -> None:
        out = folder / f"{number}.o"
        command = build.compiler.commands[build.place.name]
        environment = {
            **os.environ,
            "LC_ALL": "C",
            "ZIG_GLOBAL_CACHE_DIR": str(folder / "zig"),
            "ZIG_LOCAL_CACHE_DIR": str(folder / "zig"),
        }
        ended = process.run(
            [*command, f"-{build.level}", *_ALWAYS, "threads.c", "-o", str(out)],
            seconds=SECONDS,
            cwd=folder,
            env=environment,
            memory=None,  # zig reserves more address space than it uses
            crew=crew,
        )
        if ended.code or not out.exists():
            done(Made(build, reason=said(build, ended, "it")))
        else:
            done(Made(build, out.read_bytes()))

    return work


def said(build: Build, ended: process.Ended, what: str) -> str:
    """Why a compiler gave nothing."""
    if ended.timed_out:
        return f"{build.name} did not end within {SECONDS:.0f} s"
    lines = [line for line in ended.err.splitlines() if "error" in line] or ended.err.split("\n")
    return f"{build.name} does not compile {what}: {lines[0].strip()}"
