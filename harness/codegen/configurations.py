"""Compiler configurations: a compiler, an optimisation level and a target, and what each compiles.

In: words of the user's, a C source. Out: the configurations that the words select, an object file
for each.
"""

from __future__ import annotations

import os
import platform as host
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec

from weakspot.errors import BadInput, MissingTool
from weakspot.generators.binary.isa import ISAS, options
from weakspot.generators.emit.isa import Target, target
from weakspot.system import compilers, process, tools
from weakspot.system.compilers import FAMILIES, Compiler, Platform
from weakspot.system.processors import cores

SECONDS = 120.0
"""How long a compiler may take for the threads of all tests."""

LEVELS = ("O0", "O1", "O2", "O3")

_ALWAYS = (
    *("-std=c11", "-ffreestanding", "-c", "-w"),  # no header of the target's system is needed
    *("-fno-stack-protector", "-fno-asynchronous-unwind-tables"),
)


class Configuration(msgspec.Struct, frozen=True):
    """A compiler configuration."""

    compiler: Compiler
    level: str
    platform: Platform

    @property
    def name(self) -> str:
        return f"{self.compiler.name} -{self.level}"

    @property
    def key(self) -> tuple[str, str]:
        """What distinguishes it from the others: its platform and its name."""
        return self.platform.name, self.name

    @property
    def mapping(self) -> Target:
        """The mapping that its code is compared under: its dialect and its model."""
        return target(options(self.platform.name).like or self.platform.name)

    @property
    def outline(self) -> str:
        """Which code of outline atomics is read; "" for a target without them."""
        return options(self.platform.name).outline

    @property
    def command(self) -> tuple[str, ...]:
        """How the compiler is started for the platform."""
        return self.compiler.commands[self.platform.name]


class ObjectFile(msgspec.Struct, frozen=True):
    """What a configuration made: the content of the object file, or `reason` why there is none."""

    config: Configuration
    content: bytes = b""
    reason: str = ""


def platforms() -> dict[str, Platform]:
    """What can be compiled for, by the names of the mappings."""
    return {each.name: each for isa in ISAS for each in isa.platforms}


def configurations(words: Sequence[str]) -> list[Configuration]:
    """The configurations that the words select: names of compilers (gcc, clang-14), levels (O2),
    platforms (aarch64). Without a compiler, level or platform among them, every one is selected; so
    does `all`.

    Raises BadInput for a word that is none of these, MissingTool where no compiler is left.
    """
    targets = platforms()
    known = compilers.installed(list(targets.values()))
    families = {*FAMILIES.names(), *(each.name for each in known)}
    chosen: dict[str, list[str]] = {"compiler": [], "level": [], "platform": []}
    for word in words:
        kind = (
            *(["compiler"] if word in families else []),
            *(["level"] if word.lstrip("-") in LEVELS else []),
            *(["platform"] if word in targets else []),
        )
        if not kind and word != "all":
            raise BadInput(
                f"{word!r} is no compiler, level or target",
                advice=f"compilers are {', '.join(sorted(families))}; levels {', '.join(LEVELS)}; "
                f"targets {', '.join(targets)}; or all",
            )
        for each in kind:
            chosen[each].append(word.lstrip("-"))
    found = [
        Configuration(compiler, level, targets[name])
        for name in chosen["platform"] or targets
        for compiler in known
        if name in compiler.commands
        and (not chosen["compiler"] or {compiler.family, compiler.name} & set(chosen["compiler"]))
        for level in chosen["level"] or LEVELS
    ]
    if not found:
        raise MissingTool(
            f"no compiler for {', '.join(words)}",
            advice="; or ".join(_advice(chosen["compiler"], chosen["platform"], targets)),
        )
    return found


def _advice(
    compilers: Sequence[str], names: Sequence[str], targets: Mapping[str, Platform]
) -> list[str]:
    """How to get the compilers of these names, or any, for the targets of these names."""
    advice: dict[str, None] = {}
    for family in FAMILIES:
        if compilers and family.name not in compilers:
            continue
        for name in names or targets:
            native = targets[name].arch == host.machine()
            needed = family.needed(targets[name].triple, "c", native=native)
            for each in (needed,) if needed else family.requires[:1]:
                advice[tools.advice(each)] = None
    return list(advice)


def compile_each(
    text: str, configs: Iterable[Configuration], done: Callable[[ObjectFile], None]
) -> None:
    """Compile a C source with each configuration, on all cores; `done` is called with each object
    file as soon as it is there."""
    with tempfile.TemporaryDirectory(prefix="weakspot-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "threads.c").write_text(text, encoding="utf-8")
        tasks = [partial(_compile, each, folder, number) for number, each in enumerate(configs)]
        process.in_parallel(tasks, workers=cores(), done=done)


def _compile(
    config: Configuration,
    folder: Path,
    number: int,
    crew: process.Crew,
    done: Callable[[ObjectFile], None],
) -> None:
    out = folder / f"{number}.o"
    # zig fills its cache as it goes; compilers that share one would wait for one another
    environment = {
        **os.environ,
        "LC_ALL": "C",
        "ZIG_GLOBAL_CACHE_DIR": str(folder / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(folder / "zig"),
    }
    ended = process.run(
        [*config.command, f"-{config.level}", *_ALWAYS, "threads.c", "-o", str(out)],
        seconds=SECONDS,
        cwd=folder,
        env=environment,
        memory=None,  # zig reserves more address space than it uses
        crew=crew,
    )
    if ended.code or not out.exists():
        done(ObjectFile(config, reason=failure(config, ended, "it")))
    else:
        done(ObjectFile(config, out.read_bytes()))


def failure(config: Configuration, ended: process.Ended, what: str) -> str:
    """Why a compiler made nothing of `what`."""
    if ended.timed_out:
        return f"{config.name} did not end within {SECONDS:.0f} s"
    lines = [line for line in ended.err.splitlines() if "error" in line] or ended.err.split("\n")
    return f"{config.name} does not compile {what}: {lines[0].strip()}"
