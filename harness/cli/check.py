"""`weakspot check`: programs and tests under memory models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weakspot.harness.cli.errors import keeping
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import (
    bound_options,
    checker_option,
    model_option,
    output_options,
    source_options,
    timeout_option,
    ways_option,
    what_argument,
)
from weakspot.harness.cli.output import gathered, json_lines, judged, say, watched

if TYPE_CHECKING:
    from weakspot.harness.checkers import Checker
    from weakspot.harness.corpus.material import Material
    from weakspot.harness.corpus.models import Model
    from weakspot.harness.values.record import Record


@command(
    epilog="""\
Findings are programs that fail an assertion, race, hang, or misuse memory; checkers that disagree;
and claims that do not hold. A litmus test whose condition holds is not a finding: `exists` only
asks whether an outcome is possible. If a limit is reached the exit code is 3.

Examples:
  weakspot check my_queue.c -D CAPACITY=2 -I include
  weakspot check my_queue.c --loops 8 --seconds 2m     raise limits that were reached
  weakspot check my_queue.c -o tests                   write the litmus tests of violations
  weakspot check SB.litmus --model sc,tso,rc11
  weakspot check SB.litmus -m rc11 --witness           why the outcome is possible, or why not
  weakspot check tests/ -m rc11 --format herd          a log for mcompare7
  weakspot check duffy_wsq --json | jq .observation
  weakspot check SB.litmus --compiled all              do compilers preserve what C11 promises?
  weakspot check duffy_wsq --compiled gcc,clang,O2,aarch64,x86
  weakspot check my_queue.c --compiled gcc,O2,aarch64 --code operations"""
)
@what_argument
@model_option
@checker_option("checker")
@click.option(
    "--witness",
    "witnesses",
    is_flag=True,
    help="Show an execution with the outcome, or the axiom that forbids it.",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="Write the litmus tests of violations to this folder.",
)
@ways_option("under c11 or the models given")
@click.option(
    "--code",
    type=click.Choice(["tests", "operations", "all"]),
    default="tests",
    show_default=True,
    help="What --compiled compiles: litmus tests, or the operations of the programs that they come "
    "from, executed under qemu.",
)
@bound_options
@timeout_option
@source_options
@output_options
def check(
    what: tuple[str, ...],
    models: tuple[str, ...],
    checker: str | None,
    witnesses: bool,
    output: Path | None,
    ways: tuple[str, ...],
    code: str,
    explore_seconds: float,
    executions: int,
    loops: int,
    timeout: float,
    defines: tuple[str, ...],
    include: tuple[Path, ...],
    form: str | None,
) -> int:
    """Check programs and litmus tests under memory models.

    Every execution of a program is explored. The result is Safe, Violated, or Unknown if a limit
    was reached. For a litmus test, the answer says whether its condition's proposition holds in
    no, some or all executions: Never, Sometimes or Always. It is Undefined if the model sees a
    data race."""
    from weakspot.generators.emit.merge import merge
    from weakspot.harness.campaign import plan
    from weakspot.harness.campaign.campaign import printed
    from weakspot.harness.campaign.tools import choose_checkers
    from weakspot.harness.corpus import golden
    from weakspot.harness.corpus.material import generator
    from weakspot.harness.values.herdlog import format_verdicts
    from weakspot.harness.values.record import Plan

    wanted = plan.models(models)
    if ways:
        if witnesses or form == "herd":
            raise click.UsageError("--compiled cannot be used with --witness or --format herd.")
        material = gathered(what, (), generator(defines, include))
        asked = choose_checkers(checker)
        return _compiled(what, material, ways, code, wanted, asked[0], output, timeout, form)
    if code != "tests":
        raise click.UsageError("--code requires --compiled.")
    material = gathered(what, [model.name for model in wanted], generator(defines, include))
    wanted = wanted or plan.models(material.models)
    asked = choose_checkers(checker, witnesses=witnesses)
    if form == "herd" and (len(wanted) > 1 or len(asked) > 1):
        raise click.UsageError(
            f"A herd log has one model and one checker; these are "
            f"{', '.join(model.name for model in wanted)} by {', '.join(c.name for c in asked)}. "
            "Choose one with --model and --checker."
        )

    def show(record: Record) -> None:
        if form == "json":
            say(json_lines((*record.explorations, *record.verdicts)))
        elif form == "herd":
            say([format_verdicts(record.verdicts)], end="")
        else:
            from weakspot.harness.report import tables, terminal

            tables.explorations(record, terminal.console())
            tables.verdicts(record, terminal.console(), witnesses=witnesses)

    limits = Plan(
        what=what,
        seconds_check=timeout,
        loops=loops,
        executions=executions,
        seconds_explore=explore_seconds,
    )
    work = printed(limits, material, wanted)
    with (
        keeping("the answers so far are printed", lambda: show(work.record())),
        watched() as work.progress,
    ):
        work.explore()
        if output is not None:
            explored = work.record().explorations
            golden.write(output, merge(test for each in explored for test in each.tests))
        work.check(asked)
    show(record := work.record())
    return judged(record, aside=form in ("json", "herd"))


def _compiled(
    what: tuple[str, ...],
    material: Material,
    ways: tuple[str, ...],
    code: str,
    language: Sequence[Model],
    checker: Checker,
    output: Path | None,
    timeout: float,
    form: str | None,
) -> int:
    """`check --compiled`: compare compiled tests and operations with their sources."""
    from weakspot.harness.campaign.campaign import printed
    from weakspot.harness.codegen import configurations, operations
    from weakspot.harness.codegen.check import LANGUAGE, weaker
    from weakspot.harness.corpus import golden
    from weakspot.harness.corpus.models import resolve
    from weakspot.harness.values.record import Plan

    builds = configurations.configurations(ways)
    programs = []
    if code != "tests":
        operations.require(builds)
        programs = [
            operations.Subject(each.name, each.generated.program, each.generated.tests)
            for each in material.programs
        ]
        if not programs:
            raise click.UsageError(
                "--code operations needs a program: a structure, or a C or C++ file."
            )

    def show(record: Record) -> None:
        if form == "json":
            say(json_lines(record.compiled))
        else:
            from weakspot.harness.report import tables, terminal

            tables.codegen(record, terminal.console())

    work = printed(Plan(what=what, seconds_check=timeout), material, ())
    with (
        keeping("the comparisons so far are printed", lambda: show(work.record())),
        watched() as work.progress,
    ):
        work.compare(
            [entry.name for entry in material.entries],
            language or [resolve(LANGUAGE)],
            checker,
            builds,
            of_tests=code != "operations",
            programs=programs,
        )
    record = work.record()
    if output is not None:
        golden.write(output, weaker(record))
    show(record)
    return judged(record, aside=form == "json")
