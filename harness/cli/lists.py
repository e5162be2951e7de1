"""Commands that list what there is: doctor, structures, models."""

from __future__ import annotations

import click

from weakspot.harness.cli.shared import command, json_lines, say
from weakspot.harness.edge import FINDINGS, NOTHING_FOUND


@command(
    epilog="""\
Exit code 1 when something is missing that the full main job needs.

Example:
  weakspot doctor --json"""
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def doctor(as_json: bool) -> int:
    """What is installed, and what is lost without the rest."""
    from weakspot.harness import doctor
    from weakspot.harness.report import terminal

    lines = doctor.report()
    if as_json:
        say(json_lines(lines))
    else:
        doctor.render(lines, terminal.console())
    return FINDINGS if doctor.missing_required(lines) else NOTHING_FOUND


@command(
    epilog="""\
Examples:
  weakspot structures
  weakspot structures duffy_wsq --claims"""
)
@click.argument("names", nargs=-1, metavar="[NAME…]")
@click.option("--claims", is_flag=True, help="Who claims what of them, and what is true.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def structures(names: tuple[str, ...], claims: bool, as_json: bool) -> int:
    """The structures of the corpus."""
    from weakspot.harness import listing, structures

    found = [structures.find(name) for name in names] or structures.structures()
    say(
        listing.json_structures(found)
        if as_json
        else listing.structures(found, claims=claims, alone=bool(names))
    )
    return NOTHING_FOUND


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
    from weakspot.harness import listing, models

    found = [models.resolve(name) for name in names] or list(models.load().values())
    if as_json:
        say(json_lines(found))
    elif as_path:
        say(str(model.path) for model in found)
    else:
        say(listing.models(found, alone=bool(names)))
    return NOTHING_FOUND
