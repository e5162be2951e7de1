"""`weakspot diff`: two campaigns or logs, compared."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from weakspot.harness.cli.errors import FINDINGS, INCONCLUSIVE, NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import output_option
from weakspot.harness.cli.output import write_answers


@command(
    epilog="""\
A and B are campaigns, logs of herd7, litmus7 or `--format herd`, or what `--json` printed.

Rates of outcomes are compared by a test of two Poisson rates, at a level of 1 % for all of them
together. A rate also has to be at least twice the other one: it varies from run to run, with the
load and the frequency of a machine. Rates of whole programs vary more, and are only noted.

If all answers of A are under one model or from one machine, and all answers of B under another, the
two models or machines are compared.

Exit codes: 0 nothing changed; 1 findings, answers or rates changed; 3 a question that A answers is
Unknown in B, or A and B answer no question in common.

Examples:
  weakspot diff results/2026-11-21-1402 results/2026-11-22-0915
  weakspot diff results/old results/new -o changes.html
  weakspot diff herd.log engine.log            two checkers
  weakspot diff model.log hardware.log         what was observed but is not allowed"""
)
@click.argument("before", metavar="A", type=click.Path(path_type=Path))
@click.argument("after", metavar="B", type=click.Path(path_type=Path))
@output_option("FILE", "Write the comparison as a web page, too.")
@click.option("--all", "everything", is_flag=True, help="Print every difference of each kind.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per difference.")
def diff(before: Path, after: Path, output: Path | None, everything: bool, as_json: bool) -> int:
    """Compare two campaigns or logs.

    Prints the findings that are new and gone, the answers and observations that differ, and the
    tools, machines and options that may explain the differences."""
    from weakspot import campaigns
    from weakspot.harness.report import differences

    found = campaigns.diff(before, after)
    if output is not None:
        from weakspot.harness.report.site.comparison_page import write_comparison

        write_comparison(found, output)
    show = partial(differences.print_comparison, found, everything=everything)
    write_answers(found.differences, as_json, show)
    weights = {each.weight for each in found.differences}
    if "changed" in weights:
        return FINDINGS
    unanswered = "open" in weights or not any(found.compared.values())
    return INCONCLUSIVE if unanswered else NOTHING_FOUND
