"""`weakspot plan`: what a campaign will cost."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from weakspot.harness.cli.errors import NOTHING_FOUND
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import duration, model_option, what_argument
from weakspot.harness.cli.output import progress_bar, results_folder, write_answers
from weakspot.harness.cli.run_options import as_request, campaign_options

if TYPE_CHECKING:
    from weakspot.campaigns import Request
    from weakspot.harness.campaign.executor import Executor


@command(
    epilog="""\
Times come from the last campaigns in results/ (or in WEAKSPOT_RESULTS). A question that they did
not ask is estimated: an exploration by random descents, a check by checking a few of the tests.

Examples:
  weakspot plan all
  weakspot plan duffy_wsq --budget 10m --on local,ssh:pi
  weakspot plan my_queue.c -I include --estimate 1m      spend more time on estimates
  weakspot plan all --for 0 --cluster tcp://host:8786    times with these workers
  weakspot plan tests/ --for 0 --json | jq .seconds"""
)
@what_argument
@model_option
@campaign_options
@click.option(
    "--estimate",
    callback=duration,
    default="10s",
    show_default=True,
    metavar="DURATION",
    help="How long to estimate what stored campaigns do not answer; 0 estimates nothing.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as a JSON object.")
@as_request
def plan(request: Request, estimate: float, as_json: bool, executor: Executor | None) -> int:
    """Show what `weakspot test` would do, and how long it takes.

    Counts the questions, predicts their time, lists the tests that add nothing, and shows how the
    time on each machine is divided. Tests are generated, but not checked and not run. WHAT is
    `all` for every structure."""
    from weakspot import campaigns
    from weakspot.harness.report import forecast as text
    from weakspot.harness.report import terminal

    with progress_bar() as progress:
        found = campaigns.forecast(
            request,
            root=results_folder(),
            seconds_estimate=estimate,
            progress=progress,
            executor=executor,
        )
    write_answers([found], as_json, partial(terminal.print_lines, text.lines(found)))
    return NOTHING_FOUND
