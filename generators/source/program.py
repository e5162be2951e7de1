"""A Program: the engine's lowered program, its sites, its source. Engine errors are raised with the
source line that they are about."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from weakspot import _engine
from weakspot.errors import BadInput, Unsupported
from weakspot.generators.litmus import Site, of_library
from weakspot.generators.source import build as builds
from weakspot.generators.source.assembly.meaning import WRAPPER
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.clang_errors import text_of
from weakspot.generators.source.definitions import digest_of_sources
from weakspot.generators.source.frontend import Question, Units, compile_source
from weakspot.generators.source.language import sources
from weakspot.generators.source.links import Links
from weakspot.generators.source.problems import linkable, missing_definitions, placed
from weakspot.system.deadline import NEVER, Deadline

if TYPE_CHECKING:
    from typing import Unpack

    from weakspot._engine import ExplorationArguments, ExplorationDict, SiteDict, TraceDict


class Unit(msgspec.Struct, frozen=True):
    """A translation unit; `given` are the options of the build for it."""

    source: Path
    given: builds.Options = builds.Options()

    @property
    def language(self) -> str:
        """ "c", "c++" or "rust"."""
        return sources()[self.source.suffix].name

    @property
    def standard(self) -> tuple[str, ...]:
        """Those of `options` that name the version of the language."""
        return tuple(each for each in self.options if each.startswith(("-std=", "-fgnu89-inline")))

    @property
    def options(self) -> list[str]:
        """The options for any compiler, run in the source's folder: the language version, macros,
        headers."""
        return [
            *sources()[self.source.suffix].options,
            "-UNDEBUG",  # zig's clang leaves out assertions where it optimizes
            "-DWEAKSPOT=1",
            *self.given.meaning,
            "-idirafter.",
        ]


_TWICE = (
    "WEAKSPOT_ROUNDS=2",
    *(f"{name}=weakspot_{name}_twice" for name in ("pthread_create", "thrd_create")),
)


_ASSERTS = re.compile(r"\bassert\s*\(")
_NDEBUG = re.compile(r"((?:.*\n)*?)[ \t]*#[ \t]*define[ \t]+NDEBUG\b")


class Program(msgspec.Struct, frozen=True):
    """A program. The engine refers to `sites` by number. `digest` changes with its LLVM IR. `files`
    maps the names of its source files to files; `others` are its translation units besides
    `source`; `given` are the options of the `build` that it was read with, with names relative to
    `base`. `key` stands for the text that it was read from, but for `links`; see Ir. `assembly`: it
    contains inline assembly, which orders as its machine does."""

    source: Path
    files: dict[str, Path]
    compiler: str
    digest: str
    sites: tuple[Site, ...]
    lowered: _engine.Program
    given: builds.Options = builds.Options()
    others: tuple[Unit, ...] = ()
    build: Build = NO_OPTIONS
    base: Path | None = None
    key: str = ""
    assembly: bool = False
    links: Links | None = None

    @property
    def orders(self) -> tuple[str, ...]:
        """The memory order of each site; see _engine.Program.orders."""
        return tuple(self.lowered.orders)

    @property
    def kernel(self) -> bool:
        """Whether it has the Linux kernel's primitives."""
        return self.lowered.of_kernel

    @property
    def name(self) -> str:
        """The source as sites name it."""
        return self.shown(self.source.name)

    def shown(self, name: str) -> str:
        """A file, which is relative to the folder of a unit, as sites name it."""
        paths = [(unit.source.parent / name).resolve() for unit in self.units]
        return next((each for each, one in self.files.items() if one.resolve() in paths), name)

    def path_of(self, name: str) -> Path:
        """The file that sites name so."""
        return self.files.get(name, self.source.parent / name).resolve()

    @property
    def without_assertions(self) -> str | None:
        """Where NDEBUG is defined, if `source` has assertions and none of them is compiled."""
        if any(site.kind == "assert" and site.file == self.name for site in self.sites):
            return None
        return _ndebug(self.digest, self.source, tuple(self.files.items()))

    @property
    def units(self) -> tuple[Unit, ...]:
        """The translation units, that of `source` first."""
        return (Unit(self.source, self.given), *self.others)

    @property
    def language(self) -> str:
        """What the program is linked as: "c++" or "rust" if one of its units is."""
        languages = {unit.language for unit in self.units}
        return next((each for each in ("rust", "c++") if each in languages), "c")

    @property
    def options(self) -> list[str]:
        """The options for the unit of `source`; see Unit."""
        return self.units[0].options

    def with_orders(
        self, orders: Mapping[int, str], *, fences: Sequence[tuple[int, str, str]] = ()
    ) -> Program:
        """The program with other memory orders at these sites, and another digest; see
        _engine.Program.with_orders. Raises BadInput."""
        try:
            lowered = self.lowered.with_orders(orders, fences=fences)
        except _engine.EngineError as error:
            raise self._placed(error) from error
        return msgspec.structs.replace(
            self,
            digest=lowered.fingerprint,
            sites=tuple(map(site_of, lowered.sites)),
            lowered=lowered,
        )

    def with_threads_twice(self, end: Deadline = NEVER) -> Program:
        """The program as its source is, but each thread that it starts runs its function twice.
        Raises what read_program raises."""
        build = Build(defines=_TWICE).over(self.build)
        return read_program(self.source, build=build, base=self.base, end=end)

    @property
    def signals(self) -> tuple[tuple[int, str, bool], ...]:
        """What other threads wait for, and may be left out: notifications, posts of semaphores and
        latches, asymmetric fences. The site, which of these, and whether it wakes several. Those of
        a library are not the user's to change."""
        signals = self.lowered.signals
        return tuple(each for each in signals if not of_library(self.sites[each[0]].file))

    def with_fewer_signals(self, sites: Sequence[int], *, to_one: bool) -> Program:
        """The program without the signals at these sites, or, with `to_one`, with ones that wake
        one thread each; and with another digest."""
        lowered = self.lowered.with_fewer_signals(sites, to_one)
        return msgspec.structs.replace(self, digest=lowered.fingerprint, lowered=lowered)

    def with_parameters(self, parameters: Sequence[int]) -> Program:
        """The program with these numbers for `weakspot_parameter`, and another digest."""
        digest = hashlib.sha256(f"{self.digest} {list(parameters)}".encode()).hexdigest()[:16]
        lowered = self.lowered.with_parameters(parameters)
        return msgspec.structs.replace(self, digest=digest, lowered=lowered)

    def trace(
        self, *, loops: int, interleavings: int, seed: int, seconds: float = 0.0
    ) -> TraceDict:
        """See _engine.Program.trace. Raises BadInput or Unsupported."""
        try:
            return self.lowered.trace(
                loops=loops, interleavings=interleavings, seed=seed, seconds=seconds
            )
        except _engine.EngineError as error:
            raise self._placed(error) from error

    def explore(self, model: Path, **how: Unpack[ExplorationArguments]) -> ExplorationDict:
        """See _engine.Program.explore. Raises BadInput or Unsupported."""
        try:
            found = self.lowered.explore(str(model), **how)
        except _engine.EngineError as error:
            raise self._placed(error) from error
        if self.language == "rust":
            # main may return before its threads do: those of a scope are not joined either
            found["warnings"] = [one for one in found["warnings"] if one["kind"] != "unjoined"]
        return found

    def _placed(self, error: _engine.EngineError) -> BadInput | Unsupported:
        return placed(error, self.source, self.files, self.build)


@lru_cache(maxsize=64)  # each model asks
def _ndebug(_digest: str, source: Path, files: tuple[tuple[str, Path], ...]) -> str | None:
    """Where the first of the files defines NDEBUG that does, if the source has assertions."""
    if _ASSERTS.search(text_of(source)):
        for name, path in files:
            if before := _NDEBUG.match(text_of(path)):
                return f"{name}:{before[1].count(chr(10)) + 1}"
    return None


def read_program(
    source: Path,
    *,
    build: Build = NO_OPTIONS,
    base: Path | None = None,
    end: Deadline = NEVER,
    asked: Question | None = None,
) -> Program:
    """Compile a C, C++ or Rust file and have the engine lower it. Sites name files relative to
    `base`, by default the source's folder. `asked` is the compiler's question, if it is known.

    Where an execution reaches something that the program does not define, and one source beside it
    or its headers does, that source is a part of the program, too.

    Raises BadInput, Unsupported, MissingTool, ToolFailed, or LimitReached at the `end`.
    """
    links: Links | None = None
    key = ""
    units: Units = {}
    while True:
        try:
            ir = compile_source(source, build=build, base=base, end=end, asked=asked, units=units)
        except BadInput as error:
            if links:
                error.message += f" ({links})"
            raise
        if links is None:
            key = ir.key
        else:
            links = msgspec.structs.replace(links, key=ir.key)
        try:
            lowered = _engine.Program(ir.text)
            if lowered.may_lack_definitions:
                # what an ordinary execution reaches is an error at once
                lowered.trace(loops=_ROUNDS, events=_EVENTS, interleavings=1, seconds=_TRIED)
            break
        except _engine.EngineError as error:
            found = missing_definitions(error, source, ir.files, build)
            found = found.confirmed(build, end, units)
            more = linkable(found)
            if not more:
                raise placed(error, source, ir.files, build, ir.text, found) from error
            folders = [each.resolve() for each in found.folders]
            search = (tuple(map(str, folders)), digest_of_sources(folders))
            before = links or Links((), "", ())
            sources_ = (*before.sources, *(str(each.resolve()) for each in more))
            links = Links(sources_, "", (*before.searched, search))
            asked, build = None, build.with_sources(more)
    return Program(
        source=source,
        files=ir.files,
        compiler=ir.compiler,
        digest=hashlib.sha256(ir.text.encode()).hexdigest()[:16],
        sites=tuple(map(site_of, lowered.sites)),
        lowered=lowered,
        given=builds.options(source, build),
        others=tuple(
            Unit(each, builds.options(each, build)) for each in build.other_sources(source)
        ),
        build=build,
        base=base,
        key=key,
        assembly=WRAPPER in ir.text,
        links=links,
    )


_ROUNDS, _EVENTS = 1_000, 50_000
"""How many rounds of a loop, and events, are followed to see what an execution reaches."""
_TRIED = 1.0
"""For how many seconds an execution is looked for that reaches what is not defined."""


def site_of(site: SiteDict) -> Site:
    return msgspec.convert(site, Site)
