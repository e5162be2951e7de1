"""`weakspot explain`: a finding, or what an id means."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from weakspot.errors import BadInput
from weakspot.harness.cli import completion
from weakspot.harness.cli.errors import NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.output import results_folder

OUTPUT = click.Path(path_type=Path, dir_okay=False)


@command(
    epilog="""\
NAME is the id of a kind of finding, or it selects findings of the last gate run here or of the
newest campaign: by fingerprint, scenario, program or litmus test.

Examples:
  weakspot explain WS101                      what this kind of finding means
  weakspot explain 4f1c2a9b                   a finding that `weakspot gate` reported
  weakspot explain duffy_wsq/pop_vs_steal     the findings about a program
  weakspot explain MP+porlxrlx+poacqrlx       the findings about a litmus test"""
)
@click.argument("name", metavar="NAME", shell_complete=completion.findings)
def explain(name: str) -> int:
    """Explain a finding.

    Prints what it means, why it matters, and what to do."""
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
            f"no finding is named {name}",
            advice="give an id (WS101), or the fingerprint, scenario, program or litmus test of a "
            "finding of the last gate run here or of the newest campaign",
        )
    return list(dict.fromkeys(ids))
