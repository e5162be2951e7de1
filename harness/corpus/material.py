"""The tests and programs of a campaign: generated from sources, and read from litmus files.

In: what the user named (`resolution`). Out: a Material. Tests with the same name are one test, with
the origins of all. Two different texts with one name are an error, since answers are filed under
the test's name.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import msgspec

from weakspot.errors import BadInput, LimitReached, Unsupported
from weakspot.generators.emit.merge import merge
from weakspot.generators.litmus import Test
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.harness.corpus.models import default_models, models_of
from weakspot.harness.corpus.resolution import base_of, build_of, content, own_structure, resolve
from weakspot.harness.corpus.structures import Structure
from weakspot.harness.values.claims import Scenario
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.record import (
    Entry,
    GoldenDifference,
    SourceFile,
    StructureInfo,
    digest,
    program_name,
    unique,
)
from weakspot.system.files import file_names

if TYPE_CHECKING:
    from weakspot._engine import LitmusFiles
    from weakspot.generators.pipeline import Generated, NamedProgram
    from weakspot.generators.source.program import Program

Generator: TypeAlias = "Callable[[Structure, Scenario], Generated]"
T = TypeVar("T")

Report = Callable[[str], None]
"""Called with a description of the current step."""

Unread = BadInput | Unsupported | LimitReached
"""Why a program of a folder is left out."""


class ScenarioProgram(msgspec.Struct, frozen=True, kw_only=True):
    """A program to explore: a scenario, what was generated from it, and the models by name."""

    structure: str
    scenario: str
    generated: Generated
    models: tuple[str, ...]

    @classmethod
    def of(cls, named: NamedProgram, models: tuple[str, ...] = ()) -> ScenarioProgram:
        """A program from which no tests are generated."""
        from weakspot.generators.pipeline import Generated

        generated = Generated(
            program=named.program,
            tests=(),
            interleavings=0,
            exhaustive=False,
            how="",
            bounded=(),
            habits=named.habits,
        )
        return cls(
            structure=named.structure, scenario=named.scenario, generated=generated, models=models
        )

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
    unread: dict[str, Unread] = {}

    def generate(structure: Structure, scenario: Scenario) -> Generated:
        report(program_name(structure.name, scenario.name))
        return generator(structure, scenario)

    for structure in named:
        made: list[Test] = []
        count = len(programs)
        for scenario, generated in readable(structure, structure.scenarios, generate, unread):
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
        if len(programs) == count and structure.listed:
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
        unread=in_one_line(unread),
    )


def readable(
    structure: Structure,
    scenarios: Iterable[Scenario],
    read: Callable[[Structure, Scenario], T],
    unread: dict[str, Unread],
) -> Iterator[tuple[Scenario, T]]:
    """The scenarios with what is read of each. The error of one that cannot be read is added to
    `unread` if it was found in a folder or a crate, and raised if it was named."""
    for scenario in scenarios:
        try:
            content = read(structure, scenario)
        except (BadInput, Unsupported, LimitReached) as error:
            if not structure.listed:
                raise
            unread.setdefault(structure.name_of(scenario), error)
        else:
            yield scenario, content


def in_one_line(unread: Mapping[str, Unread]) -> dict[str, str]:
    """Why programs of folders could not be read, by name, one line per program."""
    return {name: _message(error) for name, error in unread.items()}


def _message(error: Unread) -> str:
    """An error without its advice, with its place from the current folder where it is in it."""
    if not error.place:
        return error.message
    within = error.place.startswith(f"{Path.cwd()}{os.sep}")
    return f"{error.message} ({os.path.relpath(error.place) if within else error.place})"


def material_of(path: Path, program: ScenarioProgram) -> Material:
    """The material of one program that was made from a user's file."""
    scenario = Scenario(name=program.scenario, file=path.name)
    structure = own_structure(program.structure, path.parent, program.models, scenario)
    return Material(
        structures=(_note(structure, (), program.models),),
        entries=(),
        programs=(program,),
        sources=tuple(_sources(structure, program.generated.program, {}).values()),
    )


def joined(material: Material, explorations: Iterable[Exploration]) -> Material:
    """The material, with the litmus tests of violations added."""
    found: list[_Placed] = [(each.test, each.structures, each.models) for each in material.entries]
    programs = {each.name: each for each in material.programs}
    for exploration in explorations:
        program = programs[exploration.program]
        found += [(test, (program.structure,), program.models) for test in exploration.tests]
    return msgspec.structs.replace(material, entries=tuple(_entries(found)))


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


def drift(golden: Iterable[Test], made: Iterable[Test]) -> GoldenDifference:
    """How generated tests differ from golden ones, by name and text."""
    old = {test.name: test.text for test in golden}
    new = {test.name: test.text for test in made}
    return GoldenDifference(
        missing=tuple(sorted(old.keys() - new.keys())),
        added=tuple(sorted(new.keys() - old.keys())),
        changed=tuple(sorted(name for name in old.keys() & new.keys() if old[name] != new[name])),
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
