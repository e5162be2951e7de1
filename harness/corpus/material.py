"""The tests and programs that the user named: structures, C files, litmus files, folders.

Tests with the same name are one test, with the origins of all. Two different texts with one name
are an error, since answers are filed under the test's name; those found in folders have their paths
as names then.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from weakspot.errors import BadInput, LimitReached, Unsupported
from weakspot.generators.emit.merge import merge
from weakspot.generators.litmus import Test, found_test, read_test
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.language import is_source, manifest_of
from weakspot.harness.corpus import models
from weakspot.harness.corpus import structures as corpus
from weakspot.harness.corpus.structures import Structure
from weakspot.harness.values.claims import Scenario
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.record import (
    MANIFEST,
    Entry,
    GoldenDifference,
    SourceFile,
    StructureInfo,
    digest,
    program_name,
    unique,
)
from weakspot.system.deadline import NEVER
from weakspot.system.files import file_names

if TYPE_CHECKING:
    from weakspot._engine import LitmusFiles
    from weakspot.generators.pipeline import Generated, NamedProgram
    from weakspot.generators.source.program import Program

#: the models of a C test outside any structure; for other architectures see `default_models`
LANGUAGE_MODELS = ("sc", "tso", models.LANGUAGE)

_DESCRIPTION = re.compile(r"^(?:Origin|Shape|Cycle|Orig|Com|Generator)\d*=.*\n", re.M)

Generator: TypeAlias = "Callable[[Structure, Scenario], Generated]"
Report = Callable[[str], None]


class ScenarioProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A program to explore: a scenario, what was generated from it, and the models by name."""

    structure: str
    scenario: str
    generated: Generated
    models: tuple[str, ...]

    @property
    def name(self) -> str:
        return program_name(self.structure, self.scenario)

    @property
    def named(self) -> NamedProgram:
        return self.generated.named(self.structure, self.scenario)


class FolderTests(msgspec.Struct, frozen=True):
    """Litmus tests that were found in folders, sorted by name: their files, which are read when
    they are asked about. They are checked `under` these models, each under those of its
    architecture if there are none."""

    files: LitmusFiles
    under: tuple[str, ...] = ()

    def models_of(self, arch: str) -> tuple[str, ...]:
        """The models of the tests of an architecture."""
        return self.under or models_of(arch)

    @property
    def models(self) -> tuple[str, ...]:
        """The models of all files."""
        if self.under:
            return self.under
        return unique(name for arch in self.files.dialects for name in models_of(arch))


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """The tests and programs of a campaign. `compilers` are those that read the sources. `files`
    are litmus tests in folders that have no entries; `unread` says why programs of a folder could
    not be read."""

    structures: tuple[StructureInfo, ...]
    entries: tuple[Entry, ...]
    programs: tuple[ScenarioProgram, ...]
    sources: tuple[SourceFile, ...]
    compilers: tuple[str, ...] = ()
    files: FolderTests | None = None
    unread: dict[str, str] = {}

    @property
    def models(self) -> tuple[str, ...]:
        """The models of the programs and tests."""
        programs = (name for each in self.programs for name in each.models)
        files = self.files.models if self.files else ()
        return unique((*programs, *(name for each in self.entries for name in each.models), *files))


def build_of(structure: Structure, scenario: Scenario, build: Build = NO_OPTIONS) -> Build:
    """The options that a scenario is compiled with: those of its claims.toml in the corpus, and
    those of the user's `build` elsewhere."""
    sources = tuple(structure.folder / name for name in scenario.sources)
    if structure.recorded:
        return Build(defines=scenario.defines, sources=sources, own=False)
    if entry := structure.entries.get(scenario.name):
        return Build(entry=entry).over(build)
    if not scenario.defines and not sources:
        return build
    return Build(defines=scenario.defines, sources=sources).over(build)


def base_of(structure: Structure) -> Path | None:
    """The folder that the files of a structure are named from: its own in the corpus, and where the
    user is elsewhere."""
    return None if structure.recorded else Path.cwd()


def generator(build: Build, seconds: float = 0.0, *, own_tests: bool = True) -> Generator:
    """The generator that compiles a user's own C files with these options; the corpus is compiled
    as its claims.toml says. `seconds` limits the search for the tests of one program, unless they
    are 0. Without `own_tests`, the user's programs get none."""

    def made(structure: Structure, scenario: Scenario) -> Generated:
        from weakspot.generators.pipeline import generate

        return generate(
            structure.path(scenario),
            structure=structure.name,
            scenario=scenario.name,
            build=build_of(structure, scenario, build),
            base=base_of(structure),
            threads=scenario.cycles if own_tests or structure.recorded else 0,
            seconds=seconds,
        )

    return made


from_source = generator(NO_OPTIONS)
"""The generator without options of the user's."""


def resolve(
    what: Sequence[str | Test], root: Path | None = None, *, build: Build = NO_OPTIONS
) -> tuple[tuple[Structure, ...], tuple[Test, ...]]:
    """The structures and the litmus files that the arguments name, before anything is generated.

    A C file is a structure with one scenario and no claims, a Rust crate one with a scenario per
    program that the `build` chooses. Where files with a `main` are named,
    those without are further sources of each of these programs. Raises BadInput for an argument
    that is neither a structure nor a file.
    """
    found: dict[str, Structure] = {}
    tests: list[Test] = []
    files = [Path(word) for word in what if not isinstance(word, Test)]
    files = [path for path in files if is_source(path) and path.is_file()]
    others = [path for path in files if not _has_main(path)]
    if len(others) == len(files):
        others = []
    for word in what:
        if isinstance(word, Test):
            tests.append(word)
            continue
        path = Path(word)
        if path in others:
            continue
        if word == "all":
            found.update({each.name: each for each in corpus.structures(root)})
        elif (manifest := manifest_of(path)) is not None:
            found.update({f"{word} {each.name}": each for each in _crates(manifest, build)})
        elif path.is_dir():
            found_files = below(path)
            if not found_files:
                raise BadInput(
                    "no programs and no litmus tests in this folder",
                    place=word,
                    advice="name a folder with .litmus files, or with C or C++ files that have a "
                    "main, or a structure",
                )
            for file in map(Path, found_files):
                if file.suffix == ".litmus":
                    tests.append(found_test(file, path))
                else:
                    taken = {each.name for each in found.values()}
                    program = _program(file, taken, others)
                    found[str(file)] = msgspec.structs.replace(program, listed=True)
        elif path.suffix == ".litmus":
            tests.append(read_test(path))
        elif path.suffix or "/" in word:
            found[word] = _program(path, {each.name for each in found.values()}, others)
        else:
            found[word] = corpus.find(word, root)
    return tuple(found.values()), distinguished(tests)


def distinguished(tests: Sequence[Test]) -> tuple[Test, ...]:
    """The tests, those of folders under their paths where two different ones have one name."""
    contents: dict[str, set[str]] = {}
    for test in tests:
        contents.setdefault(test.name, set()).add(content(test))

    def named(test: Test) -> Test:
        if test.folder is None or test.path is None or len(contents[test.name]) == 1:
            return test
        path = Path(test.path).relative_to(test.folder).with_suffix("")
        return msgspec.structs.replace(test, name=path.as_posix())

    return tuple(named(test) for test in tests)


_MAIN = re.compile(rb"\bmain\s*\(")


def _has_main(file: Path) -> bool:
    return _MAIN.search(file.read_bytes()) is not None


def below(folder: Path) -> list[str]:
    """The litmus tests and the programs below a folder, folder by folder."""
    from weakspot import _engine

    return _engine.below(str(folder), is_entered=is_entered, is_program=is_program)


def is_entered(folder: str) -> bool:
    """Whether tests are searched for in a folder below one that was named: neither in a hidden
    folder, nor in one that CMake builds in, nor in a campaign, which contains the tests that it
    asked about."""
    path = Path(folder)
    left_out = ("CMakeCache.txt", MANIFEST)
    return not (path.name.startswith(".") or any((path / name).exists() for name in left_out))


def is_program(file: str) -> bool:
    """Whether it is a source with a main."""
    path = Path(file)
    return is_source(path) and path.is_file() and _has_main(path)


def gather(
    what: Sequence[str | Test],
    *,
    under: Sequence[str] = (),
    generator: Generator = from_source,
    build: Build = NO_OPTIONS,
    report: Report = lambda _: None,
    root: Path | None = None,
) -> Material:
    """Generate and read all tests. The models `under` apply to every test; without them a
    structure has its own, and a litmus file those of `default_models`.

    A program of a folder or a crate that cannot be read is left out, unless there is nothing else.
    Raises BadInput, Unsupported, LimitReached, MissingTool or ToolFailed for another.
    """
    named, files = resolve(what, root, build=build)
    notes: list[StructureInfo] = []
    programs: list[ScenarioProgram] = []
    tests: list[_Placed] = []
    sources: dict[tuple[str, str], SourceFile] = {}
    unread: dict[str, BadInput | Unsupported | LimitReached] = {}
    for structure in named:
        made: list[Test] = []
        read = False
        for scenario in structure.scenarios:
            report(program_name(structure.name, scenario.name))
            try:
                generated = generator(structure, scenario)
            except (BadInput, Unsupported, LimitReached) as error:
                if not structure.listed:
                    raise
                unread.setdefault(structure.name_of(scenario), error)
                continue
            read = True
            made.extend(generated.tests)
            programs.append(
                ScenarioProgram(
                    structure=structure.name,
                    scenario=scenario.name,
                    generated=generated,
                    models=tuple(under) or structure.models,
                )
            )
            sources.update(_sources(structure, generated.program, sources))
        if not read and structure.listed:
            continue
        merged = merge(_agreed(made))
        by_hand = structure.hand_written() if structure.recorded else ()
        for test in (*merged, *by_hand):
            tests.append((test, (structure.name,), tuple(under) or structure.models))
        notes.append(_note(structure, merged, under))
    if unread and not notes and not files:
        raise next(iter(unread.values()))
    tests.extend((test, (), tuple(under) or default_models(test)) for test in files)
    return Material(
        structures=tuple(notes),
        entries=tuple(_entries(tests)),
        programs=tuple(programs),
        sources=tuple(sources.values()),
        compilers=unique(each.generated.program.compiler for each in programs),
        unread={name: in_one_line(error) for name, error in unread.items()},
    )


def in_one_line(error: BadInput | Unsupported | LimitReached) -> str:
    """An error without its advice, with its place from the current folder where it is in it."""
    if not error.place:
        return error.message
    within = error.place.startswith(f"{Path.cwd()}{os.sep}")
    return f"{error.message} ({os.path.relpath(error.place) if within else error.place})"


def material_of(path: Path, program: ScenarioProgram) -> Material:
    """The material of one program that was made from a user's file."""
    scenario = Scenario(name=program.scenario, file=path.name)
    structure = _own(program.structure, path.parent, program.models, scenario)
    return Material(
        structures=(_note(structure, (), program.models),),
        entries=(),
        programs=(program,),
        sources=tuple(_sources(structure, program.generated.program, {}).values()),
    )


def default_models(test: Test) -> tuple[str, ...]:
    """The models of a litmus file if none are named: those that can read it."""
    return models_of("" if test.unread else test.arch)


@lru_cache
def models_of(arch: str) -> tuple[str, ...]:
    """The models that can read tests of an architecture, "" if it is not known."""
    if arch in ("C", ""):
        return LANGUAGE_MODELS
    return tuple(model.name for model in models.load().values() if arch in model.dialects)


def joined(material: Material, explorations: Iterable[Exploration]) -> Material:
    """The material, with the litmus tests of violations added."""
    found: list[_Placed] = [(each.test, each.structures, each.models) for each in material.entries]
    programs = {each.name: each for each in material.programs}
    for exploration in explorations:
        program = programs[exploration.program]
        found += [(test, (program.structure,), program.models) for test in exploration.tests]
    return msgspec.structs.replace(material, entries=tuple(_entries(found)))


def content(test: Test) -> str:
    """The text of a test without its description, which changes if lines of the source move."""
    return _DESCRIPTION.sub("", test.text)


def drift(golden: Iterable[Test], made: Iterable[Test]) -> GoldenDifference:
    """How generated tests differ from golden ones, by name and text."""
    old = {test.name: test.text for test in golden}
    new = {test.name: test.text for test in made}
    return GoldenDifference(
        missing=tuple(sorted(old.keys() - new.keys())),
        added=tuple(sorted(new.keys() - old.keys())),
        changed=tuple(sorted(name for name in old.keys() & new.keys() if old[name] != new[name])),
    )


def _program(path: Path, taken: Container[str], others: Sequence[Path]) -> Structure:
    """A user's C file as a structure of its own; `others` are further sources of the program."""
    if not path.is_file():
        raise BadInput(f"no such file: {path}", advice="check the path and the spelling")
    name = str(path) if path.name in taken else path.name
    scenario = Scenario(
        name=path.stem,
        file=path.name,
        sources=tuple(os.path.relpath(each, path.parent) for each in others),
    )
    return _own(name, path.parent, LANGUAGE_MODELS, scenario)


def _crates(manifest: Path, build: Build) -> Iterator[Structure]:
    """A Rust crate, or the crates of a workspace, as structures of their own."""
    from weakspot.generators.source import crates  # which few need

    found = crates.entries(manifest, build, NEVER)
    for package in unique(each.target.package for each in found):
        own = {each.name: each for each in found if each.target.package == package}
        folder = next(iter(own.values())).target.folder
        scenarios = (
            Scenario(name=name, file=os.path.relpath(each.target.root, folder))
            for name, each in own.items()
        )
        structure = _own(package, folder, LANGUAGE_MODELS, *scenarios)
        yield msgspec.structs.replace(structure, entries=own, listed=True)


def _own(name: str, folder: Path, models: tuple[str, ...], *scenarios: Scenario) -> Structure:
    """A structure of the user's, of which nothing is recorded."""
    return Structure(
        name=name,
        folder=folder,
        title=name,
        source="",
        models=models,
        scenarios=scenarios,
        claims=(),
        recorded=False,
    )


def _note(structure: Structure, generated: Sequence[Test], under: Sequence[str]) -> StructureInfo:
    return StructureInfo(
        name=structure.name,
        title=structure.title,
        source=structure.source,
        models=tuple(under) or structure.models,
        scenarios=structure.scenarios,
        claims=structure.claims,
        drift=drift(structure.golden(), generated) if structure.recorded else GoldenDifference(),
        recorded=structure.recorded,
        weakest=structure.weakest,
    )


def _agreed(tests: Iterable[Test]) -> list[Test]:
    """The tests. Raises BadInput if two of them have one name and different content."""
    first: dict[str, Test] = {}
    found = []
    for test in tests:
        known = first.setdefault(test.name, test)
        if known is not test and content(known) != content(test):
            places = [str(each.path or each.origins[0]) for each in (known, test)]
            raise BadInput(
                f"two different tests have the name {test.name}",
                place=places[1],
                advice=f"the other is {places[0]}; rename one of them",
            )
        found.append(test)
    return found


_Placed = tuple[Test, tuple[str, ...], tuple[str, ...]]  # with its structures and its models


def _entries(tests: Sequence[_Placed]) -> Iterator[Entry]:
    merged = {test.name: test for test in merge(_agreed(test for test, _, _ in tests))}
    where: dict[str, list[str]] = {name: [] for name in merged}
    under: dict[str, list[str]] = {name: [] for name in merged}
    for test, structures, names in tests:
        where[test.name] += structures
        under[test.name] += names
    for (name, test), file in zip(merged.items(), file_names(merged), strict=True):
        yield Entry(
            test=test,
            structures=unique(where[name]),
            models=unique(under[name]),
            digest=digest(content(test)),
            file=file,
        )


def mapped_to(material: Material, isa: Sequence[str]) -> tuple[Material, tuple[str, ...]]:
    """The material with its tests mapped to the instruction sets `isa` ("all" for every one), under
    the models of these; and why some tests cannot be mapped.

    Raises BadInput for an unknown target.
    """
    from weakspot.generators.emit.isa import mapped, target, targets

    chosen = [target(name) for name in (targets() if "all" in isa else isa)]
    found: list[_Placed] = []
    left_out: list[str] = []
    for to in chosen:
        for entry in material.entries:
            try:
                test = mapped(entry.test, to).test
            except Unsupported as error:
                left_out.append(error.message)
                continue
            found.append((test, entry.structures, (to.model,) if to.model else ()))
    entries = tuple(_entries(found))
    return msgspec.structs.replace(material, entries=entries), unique(left_out)


def _sources(
    structure: Structure, program: Program, known: Container[tuple[str, str]]
) -> dict[tuple[str, str], SourceFile]:
    """The source files that a program's sites refer to, without system headers."""
    found = {}
    for name in unique(site.file for site in program.sites):
        path = program.files.get(name, structure.folder / name)
        if (structure.name, name) not in known and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            found[structure.name, name] = SourceFile(structure.name, name, text)
    return found
