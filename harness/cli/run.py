"""`weakspot run`: programs and tests on machines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import (
    configured,
    is_given,
    machine_option,
    named_machines,
    output_options,
    runner_option,
    some_time,
    what_argument,
)
from weakspot.harness.cli.output import (
    json_lines,
    print_findings,
    progress_bar,
    waited,
    write_lines,
)
from weakspot.harness.cli.source_options import crate_options, source_options

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build
    from weakspot.harness.values.record import Record


@command(
    epilog="""\
An outcome that is not observed is not impossible.

A program with a main also runs as a whole, repeatedly, with threads that start together, and failed
assertions are counted. A failure is a finding unless claims.toml records it.

Examples:
  weakspot run SB.litmus --for 10s
  weakspot run my_queue.c -D CAPACITY=2 -I include     its assertions, and its litmus tests
  weakspot run duffy_wsq --only programs               no litmus tests
  weakspot run SB.litmus --runner all                  weakspot's own runner, and litmus7
  weakspot run duffy_wsq --on ssh:pi                   a machine that ssh knows as pi
  weakspot run duffy_wsq --on qemu:aarch64             emulated; no evidence about real ones
  weakspot run tests/ --format herd > this.log         a log for mcompare7"""
)
@what_argument
@machine_option(
    "machine",
    "The machine to run on.",
    default=lambda: configured("machines")()[0],
    show_default="local, or as configured",
)
@runner_option()
@click.option(
    "--for",
    "seconds",
    callback=some_time,
    default=configured("seconds"),
    show_default="1s, or as configured",
    metavar="DURATION",
    help="How long each test and each program runs: 500ms, 10s, 2m. If given, the command takes "
    "at most a second more for each, compiling included, and as long once more to generate tests; "
    "what did not run in this time is reported, with exit code 3.",
)
@click.option(
    "--only",
    type=click.Choice(["programs", "tests"]),
    help="Run only whole programs, or only litmus tests.",
)
@source_options
@crate_options
@output_options
def run(
    what: tuple[str, ...],
    machine: str,
    runner: str | None,
    seconds: float,
    only: str | None,
    build: Build,
    form: str | None,
) -> int:
    """Run programs and litmus tests on hardware.

    Counts how often each outcome is observed, and which assertions fail."""
    from weakspot import questions
    from weakspot.harness.machines import Lost
    from weakspot.harness.values.herdlog import format_histograms

    def show(record: Record) -> None:
        if form == "json":
            write_lines(json_lines((*record.runs, *record.histograms)))
        elif form == "herd":
            write_lines([format_histograms(record.histograms)], end="")
        else:
            from weakspot.harness.report import answers, measurements, terminal

            measurements.runs(record, terminal.console())
            if only != "programs":
                measurements.histograms(record, terminal.console())
                answers.notes(record, terminal.console())

    with progress_bar() as progress:
        counts = questions.run(
            what,
            on=machine,
            named=named_machines(),
            runner=runner,
            seconds=seconds,
            limited=is_given("seconds"),
            programs=only != "tests" and form != "herd",
            tests=only != "programs",
            build=build,
            progress=progress,
        )
        try:
            record = waited(counts, "the counts so far are printed", show, progress)
        except Lost:
            show(counts.record)
            raise
    show(record)
    return print_findings(record, aside=form in ("json", "herd"))
