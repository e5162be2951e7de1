"""`weakspot test`: a campaign, generated, checked, run, judged and reported."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import model_option, output_option, what_argument
from weakspot.harness.cli.output import json_lines, progress_bar, results_folder, write_lines
from weakspot.harness.cli.run_options import as_request, campaign_options

if TYPE_CHECKING:
    from weakspot.campaigns import Request
    from weakspot.harness.campaign.executor import Executor


@command(
    epilog="""\
A campaign is a folder in results/ (or in WEAKSPOT_RESULTS). An interrupted campaign resumes when
the same command is run again; an exploration that reached --seconds or --executions resumes when it
is given more.

Examples:
  weakspot test all
  weakspot test duffy_wsq store_buffering --for 10s
  weakspot test all --budget 10m                         ten minutes on each machine
  weakspot test duffy_wsq --on local,ssh:pi,qemu:riscv64
  weakspot test duffy_wsq --compiled gcc,clang,O2
  weakspot test my_queue.c -D CAPACITY=2 -I include -m rc20,tso
  weakspot test tests/ -o campaign --for 0               check only, run nothing"""
)
@what_argument
@model_option
@output_option("DIR", "Folder of the campaign.  [default: a new one in results/]")
@click.option("--fresh", is_flag=True, help="Start a new campaign instead of resuming one.")
@campaign_options
@click.option(
    "--all-tests", is_flag=True, help="List every test, not only the most interesting ones."
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print the findings, one JSON object per line."
)
@as_request
def test(
    request: Request,
    output: Path | None,
    fresh: bool,
    all_tests: bool,
    as_json: bool,
    executor: Executor | None,
) -> int:
    """Generate, explore, check, run, judge and report.

    Does everything that gen, check and run do, compares the answers with one another and with the
    claims, and writes a report. Prints the most important results first. WHAT is `all` for
    every structure."""
    from weakspot.harness.campaign import folder_run
    from weakspot.harness.campaign.folder import chosen_folder
    from weakspot.harness.judge import findings
    from weakspot.harness.report import answers, terminal
    from weakspot.harness.report import campaign as text
    from weakspot.harness.report.site.build import write_site

    root = results_folder()
    with progress_bar(phases=True) as progress:
        folder, record = folder_run.run(
            request.plan(),
            tools=request.tools(),
            folder=chosen_folder(output, fresh=fresh, root=root),
            root=root,
            fresh=fresh,
            progress=progress,
            executor=executor,
        )
    page = write_site(record, folder)
    if as_json:
        write_lines(json_lines(record.findings))
        answers.notes(record, terminal.console(sys.stderr))
    else:
        text.campaign(record, terminal.console(), report=str(page), everything=all_tests)
    return findings.exit_code(record)
