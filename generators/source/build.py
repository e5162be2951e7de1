"""How the user's build compiles a source: the options that the front end takes from it.

In: what the user asks for (`Build`), and a source. Out: `Options`: those of the compilation
database, of weakspot.toml and of the command line together, sorted into what changes the meaning of
the source, which is used, and the rest, which is listed as left out.

The command line's options take precedence over weakspot.toml's, and these over the database's: its
folders are searched first, its macros, its standard and its other options come last. Paths in the
options are relative to the source's folder, as the front end needs them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.source import database
from weakspot.generators.source.assembly.meaning import Meaning
from weakspot.generators.source.compiler_options import Option, sorted_out
from weakspot.generators.source.language import Language, languages, sources

Volatile = Literal["plain", "relaxed"]
"""What a volatile access is: one that is not atomic, as the languages say, or a relaxed atomic one,
as code takes it to be that was written before C11."""


class Target(msgspec.Struct, frozen=True):
    """What cargo builds to one program: the unit tests of a library or a program (`tested`), a
    program of src/bin or src/main.rs, an example, or an integration test. `root` is its root
    file, `folder` that of its crate, `package` the crate's name."""

    package: str
    folder: Path
    kind: str  # lib, bin, example or test
    name: str
    root: Path
    tested: bool
    features: tuple[str, ...] = ()  # without which cargo does not build it

    @property
    def arguments(self) -> tuple[str, ...]:
        """Those of cargo that choose it."""
        named = () if self.kind == "lib" else (self.name,)
        return ("--profile", "test" if self.tested else "dev", f"--{self.kind}", *named)


class Entry(msgspec.Struct, frozen=True):
    """A program of a Rust crate: what cargo builds, and the `symbol` of a test in it, or "main".
    `name` is that of the test as `cargo test` prints it, behind the target's where that is no
    library; `test` is it without the target's."""

    target: Target
    name: str = ""
    symbol: str = "main"
    test: str = "main"


class Build(msgspec.Struct, frozen=True, kw_only=True):
    """Options for the compiler. `defines` are `NAME` or `NAME=VALUE`, `include` folders that are
    searched for headers after the source's own, `std` versions of languages, of which a source
    takes that of its own. `flags` are any other options of clang.

    `entry` is the program of a Rust crate that is read, `features` are those of the crate, and
    `tests` parts of the names of those that are programs. With `loom`, its tests are those of loom.

    `compile_commands` is a compilation database; by default it is the nearest compile_commands.json
    in the source's folder or above it, or in `build` there. `own` is False for sources whose build
    is known, for which none is looked for. `sources` are the program's translation units besides
    the one that defines `main`, `crates` the root files of Rust crates that these use; `assembly`
    says what inline assembly means, `volatile` what volatile accesses in C and C++ are. `origin`
    says where the options come from. `below` holds options of lower precedence.
    """

    defines: tuple[str, ...] = ()
    include: tuple[Path, ...] = ()
    std: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    compile_commands: Path | None = None
    own: bool = True
    sources: tuple[Path, ...] = ()
    crates: tuple[Path, ...] = ()
    assembly: tuple[Meaning, ...] = ()
    volatile: Volatile | None = None
    features: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    loom: bool = False
    entry: Entry | None = None
    origin: str = ""
    below: Build | None = None

    def over(self, other: Build) -> Build:
        """These options, with precedence over the other ones."""
        if self.below is not None:
            other = self.below.over(other)
        return msgspec.structs.replace(self, below=other)

    def with_flags(self, flags: Sequence[str]) -> Build:
        """These options and more."""
        return msgspec.structs.replace(self, flags=(*self.flags, *flags))

    def with_sources(self, sources: Sequence[Path]) -> Build:
        """These options and more translation units."""
        return msgspec.structs.replace(self, sources=(*self.sources, *sources))

    @property
    def layers(self) -> tuple[Build, ...]:
        """The options by precedence, the lowest first."""
        return (*(self.below.layers if self.below else ()), self)

    @property
    def database(self) -> Path | None:
        """The compilation database that the user has named."""
        return self.compile_commands or (self.below.database if self.below else None)

    def other_sources(self, source: Path) -> tuple[Path, ...]:
        """The translation units of the source's program besides itself."""
        named = dict.fromkeys(path for each in self.layers for path in each.sources)
        return tuple(path for path in named if path.resolve() != Path(source).resolve())

    @property
    def all_crates(self) -> tuple[Path, ...]:
        """The root files of the crates that the translation units use."""
        return tuple(dict.fromkeys(path for each in self.layers for path in each.crates))

    @property
    def folders(self) -> tuple[Path, ...]:
        """Those that are searched for headers."""
        return tuple(path for each in self.layers for path in each.include)

    @property
    def program(self) -> Entry | None:
        """The program of a crate that is read."""
        return self.entry or (self.below.program if self.below else None)

    @property
    def all_features(self) -> tuple[str, ...]:
        """The features of the crate besides its default ones."""
        return tuple(name for each in self.layers for name in each.features)

    @property
    def relaxes_volatile(self) -> bool:
        """Whether volatile accesses are relaxed atomic ones."""
        given = (each.volatile for each in reversed(self.layers) if each.volatile)
        return next(given, None) == "relaxed"

    @property
    def of_loom(self) -> bool:
        """Whether the crate is built as for loom."""
        return any(each.loom for each in self.layers)

    @property
    def chosen(self) -> tuple[str, ...]:
        """Parts of the names of the crate's tests that are programs."""
        return tuple(name for each in self.layers for name in each.tests)

    @property
    def meanings(self) -> tuple[Meaning, ...]:
        """What inline assembly means; the first that fits holds."""
        return tuple(meaning for each in reversed(self.layers) for meaning in each.assembly)


NO_OPTIONS = Build()


class Options(msgspec.Struct, frozen=True):
    """The options for one source. `meaning` are those that any compiler takes, `clang` those for
    clang only; paths are relative to the source's folder. `searched` are the folders that are
    searched for headers. `notes` say where options come from and which are left out."""

    meaning: tuple[str, ...] = ()
    clang: tuple[str, ...] = ()
    searched: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def options(source: Path, build: Build) -> Options:
    """The options for a source. Raises BadInput for a database that cannot be read, for a folder
    or a macro that is none, and for a standard of another language."""
    by_clang = [each for each in languages() if each.compiler == "clang"]
    language = sources().get(source.suffix, by_clang[-1])
    _check(build, source, language)
    if language.compiler == "rustc":
        return _of_rustc(build, language)
    notes: list[str] = []
    layers: list[tuple[Option, ...]] = []
    if (found := _command(source, build)) is not None:
        notes.append(f"the flags are those of {found.command.file.name}: {found.why}")
        words = sorted_out(found.command.words, found.command.folder, known_only=True)
        left_out = [each for each in words if each.use == "left out"]
        if left_out:
            shown = " ".join(dict.fromkeys(" ".join(each.words) for each in left_out))
            notes.append(f"flags of the build that are left out: {shown}")
        layers.append(words)
    for each in build.layers:
        layers.append(
            (
                *(Option("search", ("-I", str(folder.absolute()))) for folder in each.include),
                *sorted_out(each.flags, Path.cwd()),
                *(Option("meaning", ("-std=" + name,)) for name in each.std),
                *(Option("meaning", (define(text),)) for text in each.defines),
            )
        )
        used = [_shown(one) for one in layers[-1] if one.use != "left out"]
        if each.origin and used:
            notes.append(f"flags from {each.origin}: {' '.join(used)}")
        if dropped := [each for each in layers[-1] if each.use == "left out"]:
            shown = " ".join(" ".join(each.words) for each in dropped)
            notes.append(f"flags that the front end does not take: {shown}")
    return _together(source, language, layers, tuple(notes))


def _check(build: Build, source: Path, language: Language) -> None:
    for layer in build.layers:
        for folder in layer.include:
            if not folder.is_dir():
                raise BadInput(
                    f"no such include folder: {folder}",
                    advice="name a folder that exists, or leave it out",
                )
    if build.std and not any(map(language.has_version, build.std)):
        raise BadInput(
            f"{source.name} is {language.name.capitalize()}, "
            f"and {build.std[-1]} is not a version of that",
            advice=f"for example --std {language.example}",
        )


def _command(source: Path, build: Build) -> database.Match | None:
    if not all(each.own for each in build.layers):
        return None
    named = build.database
    if named is not None and named.is_dir():
        named = named / database.NAME
    if named is not None and not named.is_file():
        raise BadInput(f"no such compilation database: {named}", advice="check the path")
    path = named or database.nearest(source)
    return database.match(source, path) if path is not None else None


def _together(
    source: Path, language: Language, layers: Sequence[Sequence[Option]], notes: tuple[str, ...]
) -> Options:
    folder = Path(os.path.realpath(source.parent))
    meaning: list[str] = []
    clang: list[str] = []
    searched: list[Path] = []
    known: set[tuple[str, ...]] = set()
    named = ""
    for layer in layers:
        for each in layer:
            (first, *rest) = each.words
            if first.startswith("-std="):
                named = first[5:] if language.has_version(first[5:]) else named
            elif each.use == "meaning":
                meaning += [first, os.path.relpath(rest[0], folder)] if rest else [first]
            elif each.use == "clang":
                clang += each.words
    for layer in reversed(layers):
        for each in layer:
            if each.use == "search":
                name, path = each.words
                if Path(path).is_dir() and each.words not in known:
                    known.add(each.words)
                    searched.append(Path(path))
                    relative = os.path.relpath(os.path.realpath(path), folder)
                    meaning += [f"-I{relative}"] if name == "-I" else [name, relative]
    standard = named or language.standard
    if re.fullmatch(language.old, standard):
        notes += (f"{standard} is read as {language.standard}",)
        standard = language.standard
        clang += language.only_old
    if not named or standard != named:
        clang += language.of_old
    if standard:
        meaning.insert(0, f"-std={standard}")
    return Options(tuple(meaning), tuple(clang), tuple(dict.fromkeys(searched)), notes)


def _of_rustc(build: Build, language: Language) -> Options:
    """The options of rustc: a version is the edition, a macro a `--cfg`."""
    edition, words = language.standard, list[str]()
    for each in build.layers:  # an include folder has no meaning here
        edition = next((name for name in each.std if language.has_version(name)), edition)
        for text in each.defines:
            name, equals, value = text.partition("=")
            words += ["--cfg", f'{name}="{value}"' if equals else name]
        words += each.flags
    if build.program is None:
        words.insert(0, f"--edition={edition}")
    return Options(meaning=tuple(words))


def absolute(flags: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The flags, with paths that are relative to the folder made absolute."""
    return tuple(word for each in sorted_out(flags, folder.absolute()) for word in each.words)


def define(text: str) -> str:
    """The option that defines `NAME` or `NAME=VALUE`; BadInput for anything else."""
    if not re.match(r"[A-Za-z_]\w*(\([^)]*\))?(=|$)", text) or "\n" in text:
        raise BadInput(
            f"not a macro definition: {text!r}", advice="write NAME or NAME=VALUE, without -D"
        )
    return f"-D{text}"


def _shown(option: Option) -> str:
    """The option, with the folder that it names relative to the current one."""
    name, *rest = option.words
    return " ".join((name, *(map(os.path.relpath, rest) if option.use == "search" else rest)))
