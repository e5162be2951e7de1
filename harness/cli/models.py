"""`weakspot models`: the memory models."""

from __future__ import annotations

import click

from weakspot.harness.cli.errors import NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.output import json_lines, say, tell


@command(
    epilog="""\
Examples:
  weakspot models
  weakspot models rc11              its description and its axioms
  weakspot models rc11 --path       the path of its cat file
  weakspot models lkmm              that of the Linux kernel, where it is installed"""
)
@click.argument("names", nargs=-1, metavar="[NAME…]")
@click.option("--path", "as_path", is_flag=True, help="Print only the path of the cat file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per line.")
def models(names: tuple[str, ...], as_path: bool, as_json: bool) -> int:
    """List the memory models."""
    from weakspot.harness.corpus import models
    from weakspot.harness.report import corpus

    found = [models.resolve(name) for name in names] or list(models.available().values())
    if as_json:
        say(json_lines(found))
    elif as_path:
        say(str(model.path) for model in found)
    else:
        tell(corpus.models(found, alone=bool(names)))
    return NOTHING_FOUND
