"""Options for the compiler of sources, and sources from standard input."""

from __future__ import annotations

import contextlib
import functools
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weakspot.generators.source.language import languages
from weakspot.harness.cli.help import COMPILER_FLAGS
from weakspot.harness.cli.options import project

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build, Volatile


def source_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for the compiler, which the command gets as one argument, `build`, together with
    those of the project's configuration; and those for standard input."""

    @functools.wraps(command)
    def with_build(build: Build, language: str | None, verbose: bool, **rest: Any) -> Any:
        from weakspot.generators.source import build as builds
        from weakspot.generators.source import database

        here = Path.cwd()
        if (own := project()) is not None:
            build = build.over(own.build)
        words = rest.get("what", ())
        with _standard_input(words, language, build.std) as what:
            if "what" in rest:
                rest["what"] = what
            if "-" in words:  # its headers and its build are found from where the user is
                near = None if build.database else database.nearest(here / "stdin.c")
                build = builds.Build(include=(here,), compile_commands=near).over(build)
            if verbose:
                _say_options(what, build)
            return command(build=build, **rest)

    verbose_option = click.option(
        "-v",
        "--verbose",
        is_flag=True,
        help="Print the compiler flags of each source, and where they come from.",
    )
    language_option = click.option(
        "language",
        "-x",
        type=click.Choice([each.name for each in languages()]),
        help="Language of standard input.  [default: that of --std, else c]",
    )
    return compiler_options(language_option(verbose_option(with_build)))


def crate_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What there is to choose of Rust crates, which becomes a part of `build`."""

    def keep(ctx: click.Context, param: click.Parameter, given: object) -> None:
        ctx.meta[f"weakspot.{param.name}"] = given

    tests = click.option(
        "--test",
        multiple=True,
        metavar="NAME",
        expose_value=False,
        callback=keep,
        help="Of a Rust crate, the tests whose name contains NAME.  [default: those that start "
        "threads]",
    )
    features = click.option(
        "--features",
        multiple=True,
        metavar="NAME",
        expose_value=False,
        callback=keep,
        help="Features of a Rust crate, besides its default ones.",
    )
    loom = click.option(
        "--loom",
        is_flag=True,
        expose_value=False,
        callback=keep,
        help="Build a Rust crate with cfg(loom), and check its tests that are written for loom.",
    )
    return tests(loom(features(command)))


def compiler_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Options for the compiler, which the command gets as one argument, `build`."""

    @functools.wraps(command)
    def with_build(
        include: tuple[Path, ...],
        defines: tuple[str, ...],
        undefines: tuple[str, ...],
        system: tuple[str, ...],
        headers: tuple[str, ...],
        warnings: tuple[str, ...],
        std: tuple[str, ...],
        volatile: Volatile | None,
        compile_commands: Path | None,
        **rest: Any,
    ) -> Any:
        from weakspot.generators.source import build as builds

        for name in undefines:
            if any(re.split(r"[=(]", each)[0] == name for each in defines):
                raise click.UsageError(f"-D {name} and -U {name} contradict each other.")
        flags = (
            *(f"-U{name}" for name in undefines),
            *(word for name in system for word in ("-isystem", name)),
            *(word for name in headers for word in ("-include", name)),
            *(f"-W{name}" for name in warnings),
            *click.get_current_context().meta.get(COMPILER_FLAGS, ()),
        )
        meta = click.get_current_context().meta
        build = builds.Build(
            defines=defines,
            include=include,
            std=std,
            volatile=volatile,
            tests=meta.get("weakspot.test", ()),
            features=meta.get("weakspot.features", ()),
            loom=meta.get("weakspot.loom", False),
            flags=builds.absolute(flags, Path.cwd()),
            compile_commands=compile_commands,
            origin="the command line",
        )
        return command(build=build, **rest)

    options = [
        click.option(
            parameter,
            name,
            multiple=True,
            metavar=metavar,
            type=click.Path(path_type=Path) if parameter == "include" else str,
            help=text,
        )
        for parameter, name, metavar, text in _LISTS
    ]
    options += [
        click.option(
            *("--std", "-std", "std"),
            multiple=True,
            metavar="STD",
            help="Version of C or C++, or edition of Rust: c11, c++17, 2024.",
        ),
        click.option(
            "--volatile",
            type=click.Choice(("plain", "relaxed")),
            metavar="KIND",
            help="What volatile accesses in C and C++ are: plain, or relaxed atomic ones, as much "
            "code from before C11 takes them.  [default: plain]",
        ),
        click.option(
            "--compile-commands",
            metavar="FILE",
            type=click.Path(path_type=Path, exists=True),
            help="Compilation database, or its folder.  [default: the nearest "
            "compile_commands.json in the source's folder or above, or in build/ there]",
        ),
    ]
    for option in reversed(options):
        with_build = option(with_build)
    return with_build


_LISTS = (
    ("defines", "-D", "NAME[=VALUE]", "Define a macro."),
    ("include", "-I", "DIR", "Add a folder to search for headers."),
    ("system", "-isystem", "DIR", "Add a folder to search for headers after those of -I."),
    ("undefines", "-U", "NAME", "Undefine a macro."),
    ("headers", "-include", "FILE", "Include a file before the source."),
    ("warnings", "-W", "NAME", "Accepted; no warning is printed."),
)
"""The options that can be given several times: the parameter, the option, its metavar and help."""


@contextlib.contextmanager
def _standard_input(
    what: Sequence[str], language: str | None, std: Sequence[str]
) -> Iterator[tuple[str, ...]]:
    """WHAT with standard input, `-`, as a file."""
    if "-" not in what:
        yield tuple(what)
        return
    import tempfile

    from weakspot.errors import BadInput, WeakspotError
    from weakspot.generators.source.file_names import STANDARD_INPUT

    chosen = [each for each in languages() if each.name == language]
    chosen = chosen or [each for each in languages() if any(map(each.has_version, std))]
    (suffix, *_) = (chosen or languages())[-1 if chosen else 0].suffixes
    with tempfile.TemporaryDirectory(prefix=STANDARD_INPUT) as folder:
        file = Path(folder, f"stdin{suffix}")
        file.write_bytes(sys.stdin.buffer.read())
        if not file.stat().st_size:
            raise BadInput("standard input is empty", advice="expected a C or C++ program")
        try:
            yield tuple(str(file) if word == "-" else word for word in what)
        except WeakspotError as error:
            error.place = error.place and error.place.replace(f"{folder}/", "")
            raise


def _say_options(what: Sequence[str], build: Build) -> None:
    """Which options each source gets, and where they come from."""
    from weakspot.generators.source.build import options
    from weakspot.harness.corpus.resolution import build_of, resolve

    for structure in resolve(what, build=build)[0]:
        for scenario in structure.scenarios:
            path = structure.path(scenario)
            found = options(path, build_of(structure, scenario, build))
            given = " ".join((*found.meaning, *found.clang)) or "none"
            for line in (f"flags: {given}", *found.notes):
                click.echo(f"{path}: {line}", err=True)
