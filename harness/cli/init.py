"""`weakspot init`: the first files of a project."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from weakspot.harness.cli.errors import NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.output import write_lines
from weakspot.harness.cli.source_options import source_options

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build


@command(
    epilog="""\
The scenario is a guess from the names of functions: a value that one thread puts in and another
takes out, a lock around a plain counter, or two calls at once. If no guess compiles, it is a
template that says what to fill in. Existing files are overwritten only with --force.

Examples:
  weakspot init include/queue.hpp     weakspot.toml and tests/weakspot/queue.cpp
  weakspot init                       weakspot.toml and a template
  weakspot gate                       explore what was written"""
)
@click.argument("header", required=False, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite existing files.")
@source_options
def init(header: Path | None, force: bool, build: Build) -> int:
    """Write the first files of a project.

    Writes weakspot.toml, and a program with two threads that use what HEADER declares."""
    from weakspot import projects

    written = projects.init(header, build=build, force=force)
    *_, file = written.files
    write_lines(f"wrote {each}" for each in written.files)
    if written.does:
        write_lines([f"  {written.does}"])
    if written.result:
        write_lines([f"  {written.result}"])
    write_lines(f"note: {note}" for note in written.notes)
    first = "" if written.does else f"complete {file}, then "
    write_lines([f"next: {first}weakspot gate"])
    return NOTHING_FOUND
