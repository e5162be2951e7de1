"""`weakspot report`: campaigns as static sites."""

from __future__ import annotations

from pathlib import Path

import click

from weakspot.errors import BadInput
from weakspot.harness.cli.errors import NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import output_option
from weakspot.harness.cli.output import results_folder, write_lines


@command(
    epilog="""\
For a folder that contains campaigns, such as results, the page lists them with the trends of their
results, and compares each campaign with the one before it.

Exit codes: 0 written; 2 bad usage, no campaign, or a folder that cannot be written. What the
campaigns found is not reported by this code.

Examples:
  weakspot report                                    the newest campaign in results/
  weakspot report results/2026-11-21-1402 --open
  weakspot report results                            all campaigns, with trends
  weakspot report campaign -o public                 a site for a web server"""
)
@click.argument("campaigns", nargs=-1, metavar="[CAMPAIGN…]", type=click.Path(path_type=Path))
@output_option("DIR", "Folder for the site.  [default: the campaign's folder]")
@click.option("--open", "show", is_flag=True, help="Open it in a browser.")
def report(campaigns: tuple[Path, ...], output: Path | None, show: bool) -> int:
    """Write campaigns as static web sites.

    A site opens from a file and needs no network."""
    from weakspot.harness.campaign import folder as campaign_folder
    from weakspot.harness.report.site import build, results_page
    from weakspot.harness.values.record import MANIFEST

    if output is not None and len(campaigns) > 1:
        raise click.UsageError("-o can be used with one campaign only.")
    if not campaigns:
        newest = campaign_folder.newest(results_folder())
        if newest is None:
            raise BadInput(
                "there is no campaign yet",
                place=str(results_folder()),
                advice="weakspot test WHAT writes one",
            )
        campaigns = (newest,)
    for folder in campaigns:
        if not (folder / MANIFEST).exists() and campaign_folder.campaigns(folder):
            if output is not None:
                raise click.UsageError("-o can be used with one campaign only.")
            page = results_page.write_results(folder)
        else:
            page = build.write_site(campaign_folder.load(folder), output or folder)
        write_lines([str(page)])
        if show:
            click.launch(page.resolve().as_uri())
    return NOTHING_FOUND
