"""The questions of `weakspot check` that have their own answers: how many executions there are
(`--estimate`), and what compiled code allows (`--compiled`)."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from weakspot.harness.cli.errors import NOTHING_FOUND, on_interrupt
from weakspot.harness.cli.output import print_findings, progress_bar, waited, write_answers

if TYPE_CHECKING:
    from weakspot.generators.source.build import Build
    from weakspot.harness.values.bounds import Bounds, Part
    from weakspot.harness.values.record import Record


def estimate(
    what: tuple[str, ...],
    models: tuple[str, ...],
    bounds: Bounds,
    part: Part,
    build: Build,
    form: str | None,
) -> int:
    """`check --estimate`: how many executions programs have."""
    from weakspot import questions
    from weakspot.errors import BadInput
    from weakspot.harness.report import answers as report

    with progress_bar() as progress:
        answers = questions.explore(
            what,
            models=models,
            machine_models=(),
            bounds=bounds,
            part=part,
            build=build,
            progress=progress,
        )
        with on_interrupt("no estimate is printed"):
            record = answers.wait(progress)
    if not answers.material.programs:
        raise BadInput("a litmus test has no executions to estimate", advice="name a program")
    write_answers(record.explorations, form == "json", partial(report.sizes, record))
    return NOTHING_FOUND


def compare_code(
    what: tuple[str, ...],
    configs: tuple[str, ...],
    code: Literal["tests", "operations", "all"],
    models: tuple[str, ...],
    checker: str | None,
    output: Path | None,
    timeout: float,
    build: Build,
    form: str | None,
) -> int:
    """`check --compiled`: compare compiled tests and operations with their sources."""
    from weakspot import questions
    from weakspot.harness.codegen.check import weaker
    from weakspot.harness.corpus import golden
    from weakspot.harness.report import answers as report

    def show(record: Record) -> None:
        write_answers(record.compiled, form == "json", partial(report.codegen, record))

    with progress_bar() as progress:
        answers = questions.compare_code(
            what,
            configs,
            code=code,
            models=models,
            checker=checker,
            seconds=timeout,
            build=build,
            progress=progress,
        )
        record = waited(answers, "the comparisons so far are printed", show, progress)
    if output is not None:
        golden.write(output, weaker(record))
    show(record)
    return print_findings(record, aside=form == "json")
