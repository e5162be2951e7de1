"""What the user named, as programs and tests: structures, C files, crates, litmus files, folders.

In: names and paths. Out: Structures, whose programs are not compiled yet, and Tests. Two different
tests of one name that are found in folders have their paths as names.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.litmus import Test, found_test, read_test
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.language import is_source, manifest_of
from weakspot.generators.source.mains import code_of, has_main, mentions_main
from weakspot.harness.corpus import structures as corpus
from weakspot.harness.corpus.models import LANGUAGE_MODELS
from weakspot.harness.corpus.structures import Structure
from weakspot.harness.values.claims import Scenario
from weakspot.harness.values.record import MANIFEST, unique
from weakspot.system.deadline import NEVER

_DESCRIPTION = re.compile(r"^(?:Origin|Shape|Cycle|Orig|Com|Generator)\d*=.*\n", re.M)


def resolve(
    what: Sequence[str | Test], root: Path | None = None, *, build: Build = NO_OPTIONS
) -> tuple[tuple[Structure, ...], tuple[Test, ...]]:
    """The structures and the litmus files that the arguments name, before anything is generated.

    A C file is a structure with one scenario and no claims, a Rust crate one with a scenario per
    program that the `build` chooses. Where files with a `main` are named,
    those without are further sources of each of these programs, as are those whose `main` needs a
    macro that is not defined. Raises BadInput for an argument
    that is neither a structure nor a file.
    """
    found: dict[str, Structure] = {}
    tests: list[Test] = []
    files = [Path(word) for word in what if not isinstance(word, Test)]
    files = [path for path in files if is_source(path) and path.is_file()]
    code = {path: text for path in files if mentions_main(text := code_of(path))}
    programs = [path for path in code if has_main(code[path], build)] or [*code] or files
    others = [path for path in files if path not in programs]
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
    return own_structure(name, path.parent, LANGUAGE_MODELS, scenario)


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
        structure = own_structure(package, folder, LANGUAGE_MODELS, *scenarios)
        yield msgspec.structs.replace(structure, entries=own, listed=True)


def own_structure(
    name: str, folder: Path, models: tuple[str, ...], *scenarios: Scenario
) -> Structure:
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
    return is_source(path) and path.is_file() and mentions_main(code_of(path))


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


def content(test: Test) -> str:
    """The text of a test without its description, which changes if lines of the source move."""
    return _DESCRIPTION.sub("", test.text)
