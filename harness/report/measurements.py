"""Histograms and runs of programs in a terminal: `weakspot run`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.text import Text

from weakspot.harness.report.terminal import bar, columns, print_dim
from weakspot.harness.values.agreement import states_seen_by_one_runner
from weakspot.harness.values.condition import satisfies
from weakspot.harness.values.descriptions import (
    EMULATED,
    describe_steadiness,
    negative_result_strength,
)
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import rounded, times
from weakspot.harness.values.record import Record, unique
from weakspot.harness.values.state import state_text, within


def histograms(record: Record, out: Console) -> None:
    """The observed states of each test, by count; `*` marks those that satisfy the condition."""
    if not record.histograms and not record.runs:
        out.print("nothing was run")
    for histogram in record.histograms:
        emulated = f"  {EMULATED}" if histogram.emulated else ""
        out.print(
            Text.assemble(
                (histogram.test, "bold"),
                f"  {histogram.machine}  {histogram.runner}",
                (emulated, "yellow"),
            )
        )
        if histogram.reason and not histogram.histogram:
            out.print(f"  not run: {histogram.reason}", markup=False)
            continue
        for line in _states(record, histogram, out.is_terminal):
            out.print(line)
        independent = (
            f" (independent {histogram.target_independent:,})"
            if histogram.target_independent is not None
            else ""
        )
        seen = f"{histogram.target:,}{independent}" if histogram.target else "not observed"
        print_dim(
            f"  {histogram.condition or 'condition'}: {seen} in "
            f"{rounded(histogram.iterations)} iterations, {histogram.seconds:.1f} s",
            out,
        )
        if ended := histogram.parameters.get("ended_early"):
            print_dim(f"  ended early: {ended}", out)
        if strength := negative_result_strength(histogram):
            print_dim(f"  {strength}", out)
    for machine in record.manifest.machines:
        if even := describe_steadiness(machine.profile):
            print_dim(f"{machine.name}: {even}", out)
    for name, given in record.histograms_of.items():
        for difference in runner_differences(given):
            print_dim(f"{name}: {difference}", out)


def runner_differences(histograms: Iterable[Histogram]) -> Iterator[str]:
    """The states that only one runner observed on a machine, one line per such runner:
    `only litmus7 observed 0:r0=1 1:r0=1 on local`."""
    for (machine, runner), states in states_seen_by_one_runner(histograms).items():
        yield f"only {runner} observed {', '.join(map(state_text, states))} on {machine}"


def runs(record: Record, out: Console) -> None:
    """One row per program; below it what failed, with the values of the assertion's variables."""
    if not record.runs:
        return
    rows: list[list[str | Text]] = [["program", "instances", "overlapped", "failed"]]
    for run in record.runs:
        if run.reason:
            rows.append([run.program, Text(f"not run: {run.reason}", style="dim")])
            continue
        share = f"{run.overlapped / max(1, run.instances):.0%}"
        failed = Text(f"{run.failed:,}", style="red") if run.failed else Text("not observed", "dim")
        rows.append([run.program, f"{run.instances:>10,}", f"{share:>10}", failed])
    table = columns(rows)
    out.print(table[0])
    for run, line in zip(record.runs, table[1:], strict=True):
        out.print(line)
        for failure in run.failures:
            where = f"{failure.site} {failure.function}: " if failure.site else ""
            values = [
                f"{state_text(each.state)} {times(each.count)}" for each in failure.values[:3]
            ]
            more = [f"{len(failure.values) - 3} more"] if len(failure.values) > 3 else []
            observed = f"   {', '.join([*values, *more])}" if values else ""
            out.print(Text(f"  {where}{failure.message}  {failure.count:,}{observed}", style="red"))
        if run.ended_early:
            print_dim(f"  ended early: {run.ended_early}", out)
    instances = sum(run.instances for run in record.runs)
    seconds = sum(run.seconds for run in record.runs)
    machines = ", ".join(unique(run.machine for run in record.runs))
    print_dim(
        f"{rounded(instances)} instances on {machines} in {seconds:.1f} s; a program that "
        "was not observed to fail may still be wrong",
        out,
    )
    if record.histograms:
        out.print()


def _states(record: Record, histogram: Histogram, drawn: bool) -> list[Text]:
    total = max(1, sum(count.count for count in histogram.histogram))
    states = [
        (each.model, each.states)
        for each in record.verdicts
        if each.test == histogram.test and each.states and each.observation != "Undefined"
    ]
    rows: list[list[str | Text]] = []
    for count in sorted(histogram.histogram, key=lambda each: -each.count):
        mark = "*" if satisfies(histogram.condition, count.state) else ""
        outside = [model for model, allowed in states if not within(count.state, allowed)]
        row: list[str | Text] = [mark, state_text(count.state), f"{count.count:>13,}"]
        if drawn:
            row.append(Text(bar(count.count / total), style="yellow" if mark else "cyan"))
        if outside:
            row.append(Text(f"not allowed by {' '.join(unique(outside))}", style="red"))
        rows.append(row)
    return columns(rows, indent=2, gap=1)
