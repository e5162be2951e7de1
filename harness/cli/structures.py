"""`weakspot structures`: the corpus and its claims."""

from __future__ import annotations

from pathlib import Path

import click

from weakspot.harness.cli import completion
from weakspot.harness.cli.errors import NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import json_option
from weakspot.harness.cli.output import results_folder, write_lines, write_wrapped


@command(
    epilog="""\
Claims are decided in a campaign (`weakspot test`): by an exploration, by a checker, or by a machine
on which the outcome was observed.

Examples:
  weakspot structures
  weakspot structures duffy_wsq             its scenarios
  weakspot structures --claims              every claim, and what decided it
  weakspot structures duffy_wsq --claims --in results/2026-11-21-1402"""
)
@click.argument("names", nargs=-1, metavar="[NAME…]", shell_complete=completion.structures)
@click.option("--claims", is_flag=True, help="List the claims about them, and what decided each.")
@click.option(
    "--in",
    "campaign",
    metavar="CAMPAIGN",
    type=click.Path(path_type=Path),
    help="Campaign whose answers --claims shows.  [default: the newest in results/]",
)
@json_option
def structures(names: tuple[str, ...], claims: bool, campaign: Path | None, as_json: bool) -> int:
    """List the structures of the corpus."""
    from weakspot.harness.corpus import structures
    from weakspot.harness.report import corpus

    if campaign is not None and not claims:
        raise click.UsageError("--in requires --claims.")
    found = [structures.find(name) for name in names] or structures.structures()
    if not claims:
        if as_json:
            write_lines(corpus.json_structures(found))
        else:
            write_wrapped(corpus.structures(found, alone=bool(names)))
        return NOTHING_FOUND

    from weakspot.harness.campaign.folder import load, newest
    from weakspot.harness.report import listing, terminal

    campaign = campaign or newest(results_folder())
    record = load(campaign) if campaign else None
    if as_json:
        write_lines(listing.json_claims(found, record))
    else:
        for line in listing.claims(found, record, campaign):
            terminal.console().print(line)
    return NOTHING_FOUND
