"""`weakspot check`: programs and tests under memory models."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from weakspot.harness.cli.check_questions import compare_code, estimate
from weakspot.harness.cli.errors import BAD, INCONCLUSIVE, NOTHING_FOUND, on_interrupt
from weakspot.harness.cli.exploration_options import bound_options, part_options
from weakspot.harness.cli.help import command
from weakspot.harness.cli.options import (
    checker_option,
    cluster_option,
    compiled_option,
    jobs_option,
    machine_models,
    model_option,
    output_option,
    output_options,
    strict_option,
    timeout_option,
    unfold_option,
    what_argument,
)
from weakspot.harness.cli.output import (
    UnreadTests,
    json_lines,
    print_findings,
    progress_bar,
    write_answers,
    write_aside,
    write_lines,
    write_unread,
)
from weakspot.harness.cli.source_options import crate_options, source_options

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weakspot.answers import FolderAnswers
    from weakspot.generators.source.build import Build
    from weakspot.harness.campaign.executor import Executor
    from weakspot.harness.values.bounds import Bounds, Part
    from weakspot.harness.values.record import Record
    from weakspot.harness.values.verdict import PrintedVerdict, Verdict


@command(
    epilog="""\
Findings are programs that fail an assertion, race, hang, or misuse memory; checkers that disagree;
and claims that do not hold. A litmus test whose condition holds is not a finding: `exists` only
asks whether an outcome is possible. The exit code is 3 if a limit is reached, or if a test or a
program of a folder cannot be read; such files are listed at the end, each with the place.

Examples:
  weakspot check my_queue.c -D CAPACITY=2 -I include
  weakspot check my_queue.c --loops 8 --seconds 2m     raise limits that were reached
  weakspot check my_queue.c --estimate                 how many executions, and how long?
  weakspot check my_queue.c --bound 4                  executions close to the default first
  weakspot check my_queue.c --sample 1m --seed 7       draw executions at random for a minute
  weakspot check my_queue.c -o tests                   write the litmus tests of violations
  weakspot check SB.litmus --model sc,tso,rc20
  weakspot check SB.litmus -m rc20 --witness           why the outcome is possible, or why not
  weakspot check SB.litmus -m sc --graph SB.svg        the same as a picture
  weakspot check tests/ -m rc11,rc20 --diff            which tests distinguish two models?
  weakspot check tests/ -m rc20 --format herd          a log for mcompare7
  weakspot check duffy_wsq --json | jq .observation
  weakspot check SB.litmus --compiled all              do compilers preserve what C11 promises?
  weakspot check duffy_wsq --compiled gcc,clang,O2,aarch64,x86
  weakspot check my_queue.c --compiled gcc,O2,aarch64 --code operations"""
)
@what_argument
@model_option
@checker_option("checker")
@click.option(
    "--tests", is_flag=True, help="Decide the litmus tests of programs too, Safe ones included."
)
@click.option(
    "--witness",
    "witnesses",
    is_flag=True,
    help="Show an execution with the outcome, or the axiom that forbids it.",
)
@click.option(
    "--diff",
    "distinguishing",
    is_flag=True,
    help="Print only the tests that distinguish the models, with an execution that one allows and "
    "the axiom that forbids it in another.",
)
@output_option("DIR", "Write the litmus tests of violations to this folder.")
@click.option(
    "--graph",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Draw the execution of --witness, or of a violation, to a .dot or .svg file. Several "
    "pictures are numbered: FILE-1.svg, FILE-2.svg.",
)
@unfold_option
@strict_option
@compiled_option("under c11 or the models given")
@click.option(
    "--code",
    type=click.Choice(["tests", "operations", "all"]),
    default="tests",
    show_default=True,
    help="What --compiled compiles: litmus tests, or the operations of the programs that they come "
    "from, executed under qemu.",
)
@bound_options
@part_options
@timeout_option
@jobs_option
@cluster_option
@source_options
@crate_options
@output_options
def check(
    what: tuple[str, ...],
    models: tuple[str, ...],
    checker: str | None,
    tests: bool,
    witnesses: bool,
    distinguishing: bool,
    output: Path | None,
    graph: Path | None,
    unfold: bool,
    strict: bool,
    configs: tuple[str, ...],
    code: Literal["tests", "operations", "all"],
    bounds: Bounds,
    part: Part,
    timeout: float,
    build: Build,
    form: str | None,
    executor: Executor | None,
) -> int:
    """Check programs and litmus tests under memory models.

    Every execution of a program is explored. The result is Safe, Violated, or Unknown if a limit
    was reached. For a litmus test, the answer says whether its condition's proposition holds in
    no, some or all executions: Never, Sometimes or Always. It is Undefined if the model sees a
    data race. Tests of programs are decided where they show a violation, and with --tests,
    --checker or --witness."""
    from weakspot import questions
    from weakspot.generators.emit.merge import merge
    from weakspot.harness.corpus import golden

    if executor is not None and (configs or part.estimate or part.reference):
        raise click.UsageError(
            "--cluster cannot be used with --compiled, --estimate or --reference."
        )
    if graph is not None:
        if configs or distinguishing or part.estimate or executor is not None:
            raise click.UsageError(
                "--graph cannot be used with --compiled, --diff, --estimate or --cluster."
            )
        _require_drawable(graph)
    if configs:
        if witnesses or distinguishing or form == "herd":
            raise click.UsageError(
                "--compiled cannot be used with --witness, --diff or --format herd."
            )
        return compare_code(what, configs, code, models, checker, output, timeout, build, form)
    if code != "tests":
        raise click.UsageError("--code requires --compiled.")
    if part.estimate:
        if form == "herd":
            raise click.UsageError("--estimate cannot be used with --format herd.")
        return estimate(what, models, bounds, part, build, form)
    if not (witnesses or graph or distinguishing or output or executor):
        folders = questions.check_folders(what, models=models, checker=checker, seconds=timeout)
        if folders is not None:
            if form == "herd":
                _require_one([each.name for each in folders.manifest.models], checker)
            return _check_folders(folders, form, strict=strict)
    with progress_bar() as progress:
        answers = questions.check(
            what,
            models=models,
            machine_models=machine_models(),
            checker=checker,
            tests=tests or distinguishing or form == "herd",
            witnesses=(witnesses or graph is not None) and not distinguishing,
            seconds=timeout,
            bounds=bounds,
            part=part,
            build=build,
            progress=progress,
            executor=executor,
        )
    if form == "herd":
        _require_one([each.name for each in answers.record.manifest.models], checker)
    if distinguishing and len(answers.record.manifest.models) < 2:
        raise click.UsageError("--diff requires at least two models.")

    def show(record: Record) -> None:
        if distinguishing:
            _distinguishing(record, models, timeout, form)
        else:
            _show(record, form, witnesses=witnesses)

    def deliver(record: Record) -> None:
        if output is not None:
            golden.write(output, merge(test for each in record.explorations for test in each.tests))
        show(record)

    with (
        on_interrupt("the answers so far are printed", lambda: deliver(answers.record)),
        progress_bar() as progress,
    ):
        record = answers.wait(progress)
    deliver(record)
    if graph is not None:
        _draw(record, graph, unfold=unfold)
    unread = UnreadTests()
    unread.add(record.verdicts)
    write_aside(unread.lines())
    if form in ("json", "herd"):
        write_unread(record.manifest.unread)
    if distinguishing:
        from weakspot.harness.judge.findings import undecided

        found = INCONCLUSIVE if undecided(record) else NOTHING_FOUND
    else:
        found = print_findings(record, aside=form in ("json", "herd"), unfold=unfold)
    return BAD if strict and (unread or record.manifest.unread) else found


def _show(record: Record, form: str | None, *, witnesses: bool = False) -> None:
    """Print the answers."""
    if form == "json":
        write_lines(json_lines((*record.explorations, *record.verdicts)))
    elif form == "herd":
        from weakspot.harness.values.herdlog import format_verdict

        write_lines(map(format_verdict, record.verdicts), end="")
    else:
        from weakspot.harness.report import answers as report
        from weakspot.harness.report import terminal

        report.explorations(record, terminal.console())
        report.verdicts(record, terminal.console(), witnesses=witnesses)


def _require_drawable(path: Path) -> None:
    """Raises UsageError for a file that --graph cannot write."""
    if path.suffix not in (".dot", ".svg"):
        raise click.UsageError(f"--graph writes .dot and .svg files; {path} is neither.")
    if not path.parent.is_dir():
        raise click.UsageError(f"--graph {path}: create the folder {path.parent} first.")


def _draw(record: Record, path: Path, *, unfold: bool) -> None:
    """Write the witnesses of the answers as graphs, and print which file shows what."""
    from weakspot.harness.report.graph import graphs, write_graphs

    found = graphs(record, unfold=unfold)
    if found:
        write_aside(f"{name}: {title}" for name, title in write_graphs(found, path))
    else:
        what = "no program is violated, and no litmus test that was given has an execution to draw"
        write_aside([f"{path} is not written: {what}"])


def _require_one(under: Sequence[str], checker: str | None) -> None:
    """Raises UsageError for a log of several models or checkers."""
    from weakspot.harness.campaign.tools import choose_checkers

    asked = [each.name for each in choose_checkers(checker)]
    if len(under) > 1 or len(asked) > 1:
        raise click.UsageError(
            f"A herd log has one model and one checker; these are "
            f"{', '.join(under)} by {', '.join(asked)}. "
            "Choose one with --model and --checker."
        )


def _check_folders(answers: FolderAnswers, form: str | None, *, strict: bool) -> int:
    """Print the answers about litmus tests of folders: json and herd part by part, a table at the
    end, since its columns are as wide as their longest cell."""
    import msgspec

    unread = UnreadTests()
    rows: list[Verdict] = []
    printed = form if form in ("json", "herd") else ""
    is_open = False

    def take(answers: Sequence[PrintedVerdict]) -> None:
        nonlocal is_open
        verdicts = [each.verdict for each in answers]
        unread.add(verdicts)
        is_open = is_open or any(each.observation == "Unknown" for each in verdicts)
        with progress.pause():
            write_lines(["".join([each.text for each in answers])], end="")
        if not printed:
            rows.extend(verdicts)

    def end() -> None:
        if not printed:
            _show(msgspec.structs.replace(answers.record(), verdicts=tuple(rows)), form)

    with on_interrupt("the answers so far are printed", end), progress_bar() as progress:
        answers.wait(take, printed, progress)
    end()
    write_aside(unread.lines())
    found = INCONCLUSIVE if is_open else NOTHING_FOUND
    return BAD if strict and unread else found


def _distinguishing(
    record: Record, models: tuple[str, ...], timeout: float, form: str | None
) -> None:
    """`check --diff`: the tests that models answer differently, asked again for executions."""
    from weakspot import questions
    from weakspot.harness.report import model_differences
    from weakspot.harness.values.agreement import distinguishing_programs, distinguishing_tests

    explorations = distinguishing_programs(record)
    verdicts: tuple[Verdict, ...] = ()
    if names := distinguishing_tests(record):
        under = models or [each.name for each in record.manifest.models]
        tests = [record.entry[name].test for name in names]
        asked = questions.check(tests, models=under, witnesses=True, seconds=timeout)
        verdicts = asked.wait().verdicts
    show = partial(model_differences.print_differences, record, explorations, verdicts)
    write_answers((*explorations, *verdicts), form == "json", show)
