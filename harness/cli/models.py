"""`weakspot models`: the memory models."""

from __future__ import annotations

import click

from weakspot.harness.cli.errors import NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.output import json_lines, say


@command(
    epilog="""\
Examples:
  weakspot models
  weakspot models rc11              what it is, and its axioms
  weakspot models rc11 --path       where its cat file is"""
)
@click.argument("names", nargs=-1, metavar="[NAME…]")
@click.option("--path", "as_path", is_flag=True, help="Print the path of the cat file only.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def models(names: tuple[str, ...], as_path: bool, as_json: bool) -> int:
    """The memory models."""
    from weakspot.harness.corpus import models
    from weakspot.harness.report import corpus

    found = [models.resolve(name) for name in names] or list(models.load().values())
    if as_json:
        say(json_lines(found))
    elif as_path:
        say(str(model.path) for model in found)
    else:
        say(corpus.models(found, alone=bool(names)))
    return NOTHING_FOUND
