"""The first files of a project, tried out and written.

In: a header, or none. Out: weakspot.toml, and a scenario that compiles and was explored; where no
guess compiles, a template that says what to fill in.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import msgspec

from weakspot.errors import BadInput, Unsupported, WeakspotError
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.language import candidates
from weakspot.generators.source.program import Program, read_program
from weakspot.harness.corpus.models import LANGUAGE, resolve
from weakspot.harness.gate import config as config_file
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.scaffold.declarations import Declarations, is_cpp, read
from weakspot.harness.scaffold.scenarios import Scenario, scenarios, template
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.numbers import amount
from weakspot.system.files import disk
from weakspot.system.include_folders import default_folders
from weakspot.system.project_file import OWN

FOLDER = Path("tests/weakspot")
"""Where scenarios are written, below the project's folder."""
HEADERS = (".h", ".hh", ".hpp", ".hxx", ".h++", ".H", ".ipp", ".inl", ".tpp")
_X86 = "tso"
"""The model of what inline assembly is read: that of x86."""
_ORDERS_AS_X86 = "Inline assembly of x86 orders as x86 does"
SECONDS = 5.0
"""The time limit for exploring the scenario."""
_TRIES = 12


class Written(msgspec.Struct, frozen=True):
    """What was written: `files` relative to the project's folder. `does` says what the scenario
    does, empty for a template; `result` is that of exploring it, `notes` say what is left to
    do."""

    files: tuple[str, ...]
    does: str = ""
    result: str = ""
    notes: tuple[str, ...] = ()


def start(
    header: Path | None, folder: Path, *, build: Build = NO_OPTIONS, force: bool = False
) -> Written:
    """Write weakspot.toml and a scenario for the header into a project's folder.

    A weakspot.toml that is there stays as it is, and a scenario that is there is an error, unless
    `force`. Raises BadInput for a header that cannot be read.
    """
    if header is not None:
        require_header(header)
    config = folder / OWN
    keep = config.exists() and not force
    cpp = header is None or is_cpp(header)
    name = f"{header.stem if header is not None else 'scenario'}.{'cpp' if cpp else 'c'}"
    path = folder / FOLDER / name
    if path.exists() and not force:
        raise BadInput(
            f"{os.path.relpath(path)} exists already",
            advice="--force overwrites it; or copy it, change the copy, and run weakspot gate",
        )
    asked = config_file.ProjectFile.of(config).models if keep else ()
    include, written = includes_of(header) if header is not None else (None, ())
    own = build.over(Build(include=(include,))) if include is not None else build
    program, chosen, why, result, model = None, None, "", "", LANGUAGE
    with folder_for(path):
        if header is not None:
            try:
                declared = declarations(header, written, path, own)
            except BadInput as error:
                why = error.message
            else:
                includes = (written, *with_source(header, path, written))
                guesses = (
                    each for one in includes for each in scenarios(declared, one, header.stem)
                )
                program, chosen, why = _tried(guesses, path, own)
        if program is not None and chosen is not None:
            result, violated = _explored(program, model)
            if violated and not chosen.asserts:
                why, chosen = f"{chosen.does} may be a misuse: {result}", None
            elif violated and program.assembly:
                model = _X86
                result, _ = _explored(program, model)
        text = chosen.text if chosen is not None else template(written, cpp=cpp)
        with disk(path):
            path.write_text(text, encoding="utf-8")
        try:
            # a pattern of scenarios may have waited for this one
            listed = config_file.read(config).scenarios if keep else ()
        except BadInput:
            path.unlink()
            raise
    files = [os.path.relpath(path, folder)]
    notes: list[str] = []
    if not keep:
        with disk(config):
            config.write_text(_configuration(include, folder, path.suffix, model), encoding="utf-8")
        files.insert(0, OWN)
    else:
        notes.append(f"{OWN} was there and is unchanged")
        if files[0] not in listed:
            notes.append(f"add {files[0]} to the scenarios in {OWN}")
        if model != LANGUAGE and model not in asked:
            notes.append(f'{_ORDERS_AS_X86}: give {OWN} the line models = ["{model}"]')
    if chosen is None:
        reason = f" ({why})" if why else ""
        guessed = f": no use of the header could be guessed{reason}" if header else ""
        notes.append(f"fill in {files[-1]}{guessed}")
    elif not chosen.asserts:
        notes.append(f"add to {files[-1]} an assertion that must hold")
    if chosen is None:
        return Written(tuple(files), notes=tuple(notes))
    return Written(tuple(files), chosen.does, result or why, tuple(notes))


def require_header(path: Path) -> None:
    """Raises BadInput for what is not a header."""
    if path.suffix not in HEADERS:
        raise BadInput(
            f"not a header: {path}", advice=f"expected a name that ends in {', '.join(HEADERS)}"
        )
    if not path.is_file():
        raise BadInput(f"no such file: {path}", advice="check the path and the spelling")


def _tried(
    scenarios: Iterable[Scenario], path: Path, build: Build
) -> tuple[Program | None, Scenario | None, str]:
    """The first scenario that compiles, with its program if that is understood, and why the first
    one does not compile. Scenarios that do not name all sources of their programs come last."""
    why, understood, linked = "", None, None
    for scenario in islice(scenarios, _TRIES):
        with trial(path, scenario.text) as source:
            try:
                program = read_program(source, build=build, base=Path.cwd())
                if program.links is None:
                    return program, scenario, ""
                linked = linked or (program, scenario, "")
            except Unsupported as error:
                understood = understood or (None, scenario, f"not explored: {error.message}")
            except BadInput as error:
                why = why or error.message
    return linked or understood or (None, None, why)


def declarations(header: Path, includes: Sequence[str], path: Path, build: Build) -> Declarations:
    """What a header declares to a file at this path that includes it so. Raises BadInput."""
    with trial(path, "".join(f'#include "{each}"\n' for each in includes)) as source:
        return read(header, source, build)


@contextmanager
def trial(path: Path, text: str) -> Iterator[Path]:
    """A file with the text beside the path, for the block."""
    made = path.with_name(f".{path.stem}.trial{path.suffix}")
    with disk(made):
        made.write_text(text, encoding="utf-8")
    try:
        yield made
    finally:
        made.unlink(missing_ok=True)


def _explored(program: Program, name: str) -> tuple[str, bool]:
    """The result of exploring the program under a model, in a few words; whether it is violated."""
    model = resolve(name)
    try:
        found = Explorations(model, Bounds(seconds=SECONDS)).of(program)
    except WeakspotError as error:
        return f"not explored: {error.message}", False
    kinds = ", ".join(dict.fromkeys(each.kind for each in found.violations))
    more = kinds or "; ".join(found.reasons) or amount(found.complete, "execution")
    return f"{found.result} under {model.name}: {more}", bool(kinds)


@contextmanager
def folder_for(path: Path) -> Iterator[None]:
    """Make the folder of a file that the block writes. If the block fails, the folders that were
    made are removed again."""
    made = [each for each in path.parents if not each.exists()]
    with disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for each in made:
            with suppress(OSError):
                each.rmdir()
        raise


def includes_of(header: Path) -> tuple[Path | None, tuple[str, ...]]:
    """The folder to search, and how the header is included: below `include`, if it is. None stands
    for the folders that compilers search anyway."""
    whole = Path(os.path.abspath(header))  # noqa: PTH100  # links are part of the path
    for above in whole.parents:
        if above.name == "include":
            searched = None if above in default_folders() else Path(os.path.relpath(above))
            return searched, (whole.relative_to(above).as_posix(),)
    return Path(os.path.relpath(whole.parent)), (whole.name,)


def with_source(header: Path, path: Path, written: Sequence[str]) -> list[tuple[str, ...]]:
    """The includes with the source that defines what the header declares, if there is one."""
    endings = [suffix for each in candidates(header) for suffix in each.suffixes]
    for folder in (header.parent, header.parent.parent / "src", Path("src")):
        for ending in endings:
            source = folder / f"{header.stem}{ending}"
            if source.is_file():
                return [(*written, Path(os.path.relpath(source, path.parent)).as_posix())]
    return []


def _configuration(include: Path | None, folder: Path, suffix: str, model: str) -> str:
    lines = []
    if model != LANGUAGE:
        lines += [f"# {_ORDERS_AS_X86}.", f'models = ["{model}"]', ""]
    lines += ["# `weakspot gate` explores these programs and fails if one goes wrong.", "[gate]"]
    lines += [f'scenarios = ["{FOLDER.as_posix()}/*{suffix}"]', ""]
    if include is not None:
        name = Path(os.path.relpath(include, folder)).as_posix()
        lines += ["# How they are compiled, besides what compile_commands.json says.", "[build]"]
        lines += [f"include = {json.dumps([name])}"]
    return "\n".join(lines).rstrip() + "\n"
