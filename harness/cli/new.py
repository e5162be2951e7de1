"""`weakspot new`: the operations of an object, and whether it is linearizable."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weakspot.errors import WeakspotError
from weakspot.harness.cli import completion
from weakspot.harness.cli.client_options import calls_option
from weakspot.harness.cli.help import command
from weakspot.harness.cli.linearize import check_clients, seconds_option
from weakspot.harness.cli.options import object_kinds, project
from weakspot.harness.cli.output import write_lines
from weakspot.harness.cli.source_options import source_options

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build
    from weakspot.harness.clients.kinds import Kind


@command(
    names={"{KINDS}": object_kinds},
    epilog="""\
KIND is {KINDS}. The functions are guessed
from the names and types that the header declares; change the file where a guess is wrong, and run
`weakspot linearize` on it, which has more options.

Examples:
  weakspot new queue include/queue.hpp       tests/weakspot/operations/queue.cpp
  weakspot new stack src/stack.h --calls 3""",
)
@click.argument("kind", metavar="KIND", shell_complete=completion.kinds)
@click.argument("header", metavar="HEADER", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@calls_option()
@seconds_option("Time limit for all clients.")
@source_options
def new(kind: str, header: Path, force: bool, calls: int, seconds: float, build: Build) -> int:
    """Check that what a header declares is linearizable.

    Writes a file with one function per operation of a queue, a stack, …, and checks whether the
    object behaves as one."""
    from weakspot.harness.clients import project
    from weakspot.harness.clients.subject import ClientChoice
    from weakspot.harness.values.bounds import Bounds

    made = project.start(kind, header, Path(), build=build, force=force)
    path = os.path.relpath(made.path)
    write_lines([f"wrote {path}, which calls {', '.join(made.functions)}"])
    try:
        choice = ClientChoice(kind, calls=calls)
        code = check_clients(path, choice, bounds=Bounds(seconds=seconds), build=made.build)
    except WeakspotError:
        made.undo()
        raise
    words = ("weakspot", "linearize", path, "--as", kind, *_compiler_options(made.build))
    write_lines([f"next: {shlex.join(words)}", f"  with {_options(made.kind)}"])
    return code


def _compiler_options(build: Build) -> Iterator[str]:
    """The options that the file needs, without those of weakspot.toml, which every command
    reads."""
    own = project()
    below = () if own is None else own.build.layers
    known = {each.resolve() for layer in below for each in layer.include}
    for layer in build.layers:
        if layer in below:
            continue
        folders = (each for each in layer.include if each.resolve() not in known)
        yield from (word for each in folders for word in ("-I", str(each)))
        yield from (word for each in layer.defines for word in ("-D", each))
        yield from (word for each in layer.std for word in ("--std", each))
        if layer.compile_commands is not None:
            yield from ("--compile-commands", str(layer.compile_commands))
        yield from layer.flags


def _options(kind: Kind) -> str:
    """The options that an author of such an object needs next."""
    if kind.transfers:
        return (
            "--role producer=NAME if only one thread may call the operation NAME, and --capacity "
            "or --spurious if the object promises less"
        )
    return "more --calls or --threads"
