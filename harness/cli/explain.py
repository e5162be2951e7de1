"""`weakspot explain`: a finding, or what an id means."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from weakspot.errors import BadInput
from weakspot.harness.cli.errors import NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.output import results_folder

OUTPUT = click.Path(path_type=Path, dir_okay=False)


@command(
    epilog="""\
What is named is an id, or of the gate or of the newest campaign a finding: by its
fingerprint, its scenario, its program or its test.

Examples:
  weakspot explain WS101
  weakspot explain 4f1c2a9b
  weakspot explain duffy_wsq/pop_vs_steal
  weakspot explain MP+porlxrlx+poacqrlx"""
)
@click.argument("name", metavar="ID-OR-WITNESS")
def explain(name: str) -> int:
    """What a finding means, why it matters, what to do."""
    from weakspot.harness.judge.kinds import KINDS, kind
    from weakspot.harness.report.finding_pages import page

    found = [kind(name)] if name.upper().startswith("WS") else [KINDS[each] for each in _ids(name)]
    for each in found:
        page(each, sys.stdout)
    return NOTHING_FOUND


def _ids(name: str) -> list[str]:
    """Print the findings of that name, of the gate or else of the newest campaign; their ids."""
    from weakspot.harness.campaign.folder import load, newest
    from weakspot.harness.gate.last_findings import stored_findings
    from weakspot.harness.report import explain as report
    from weakspot.harness.report import terminal

    out = terminal.console()
    ids = report.gate_findings(stored_findings(Path.cwd()), name, out)
    campaign = None if ids else newest(results_folder())
    if campaign is not None:
        ids = report.campaign_findings(load(campaign), name, out)
    if not ids:
        raise BadInput(
            f"nothing is called {name}",
            advice="give an id (WS101), or a fingerprint, scenario, program or test of the gate "
            "here or of the newest campaign",
        )
    return list(dict.fromkeys(ids))
