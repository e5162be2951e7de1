"""Explorations, verdicts and comparisons of machine code in a terminal: `weakspot check`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.text import Text

from weakspot.harness.corpus import models
from weakspot.harness.report.terminal import print_dim, print_table, style, text_width
from weakspot.harness.values.agreement import conclusive, contradicts
from weakspot.harness.values.condition import satisfies
from weakspot.harness.values.descriptions import (
    STARTS_NO_THREAD,
    describe_size,
    exploration_outcome,
    limits_reached,
)
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.numbers import amount
from weakspot.harness.values.record import Record, unique
from weakspot.harness.values.state import state_text
from weakspot.harness.values.verdict import Verdict


def explorations(record: Record, out: Console) -> None:
    """One row per program, one column per model; below, the limits that were reached."""
    _print_by_model(record, _result, out)
    for each in record.explorations:
        if each.reasons:
            why = f"{each.program} under {each.model}: {limits_reached(each)}"
            print_dim(why, out)
    for name, given in record.explorations_of.items():
        if any(each.sequential for each in given):
            print_dim(f"{name} {STARTS_NO_THREAD}", out)
    notes(record, out)
    if record.explorations:
        runs = sum(each.executions for each in record.explorations)
        seconds = sum(each.seconds for each in record.explorations)
        explored = f"{amount(runs, 'execution')} explored in {seconds:.1f} s"
        if (represented := sum(each.represented for each in record.explorations)) > runs:
            explored += f"; with threads exchanged that behave alike, they are {represented:,}"
        print_dim(explored, out)
        if record.verdicts:
            out.print()


def sizes(record: Record, out: Console) -> None:
    """One row per program, one column per model: about how many executions, and how long exploring
    them takes."""
    _print_by_model(record, describe_size, out)
    estimates = [each.estimate for each in record.explorations if each.estimate]
    if estimates:
        print_dim(ESTIMATED, out)
    if any(each.error > WIDE * each.executions for each in estimates):
        print_dim(UNCERTAIN, out)
    for each in record.explorations:
        if each.truncated:
            why = f"{each.program} under {each.model}: {TRUNCATED}"
            print_dim(why, out)
    for note in record.manifest.notes:
        print_dim(note, out)


ESTIMATED = (
    "±: standard error of the mean of random descents, each of them unbiased; too low more often "
    "than too high. The time is for this machine, at the rate of the first second."
)
WIDE = 0.3
"""The standard error, as a part of the estimate, from which on little is certain."""
UNCERTAIN = "Where ± is more than 30 %, the number may be several times as large."
TRUNCATED = "limits end some executions; higher limits (--loops) make more of them"


def _races(record: Record) -> Iterator[str]:
    """The programs that race under a model that defines races and are Safe under others."""
    for name, given in record.explorations_of.items():
        racy = {e.model for e in given if any(v.kind == "race" for v in e.violations)}
        silent = [
            e.model
            for e in given
            if e.result == "Safe" and record.model[e.model].role != "language"
        ]
        if racy and silent:
            yield (
                f"{name} has a data race under {_and(racy)}: {_and(silent)} "
                f"{'define' if len(silent) > 1 else 'defines'} no races, and Safe there means that "
                "nothing else goes wrong"
            )


def _left_out(record: Record) -> Iterator[str]:
    """What the models of the language leave out, if no other model was asked."""
    asked = unique(each.model for each in record.explorations)
    if record.manifest.plan.machine_models or any(_may_load_late(name) for name in asked):
        return
    safe = unique(
        each.model
        for each in record.explorations
        if each.program in record.own_programs
        and each.result == "Safe"
        and record.model[each.model].role == "language"
    )
    if safe:
        yield (
            f"{_and(safe)} {'leave' if len(safe) > 1 else 'leaves'} out that a load takes its "
            "value after later stores of its thread, as on Armv8, POWER and RISC-V machines: "
            f"--model {','.join((*asked, *models.MACHINES))} explores that too"
        )


def _may_load_late(name: str) -> bool:
    known = models.load().get(name)
    return known is None or known.acyclic == "dependencies"


def _and(names: Iterable[str]) -> str:
    return " and ".join(sorted(names))


def notes(record: Record, out: Console) -> None:
    """What was left out of the answers, and why."""
    for note in (*_races(record), *_left_out(record), *record.manifest.notes):
        print_dim(note, out)


def _print_by_model(
    record: Record, cell: Callable[[Exploration], str | Text], out: Console
) -> None:
    """Print one row per program, one column per model."""
    under = unique(each.model for each in record.explorations)
    rows: list[list[str | Text]] = [["program", *under]]
    for name, explorations in record.explorations_of.items():
        cells = {each.model: cell(each) for each in explorations}
        rows.append([name, *(cells.get(model, Text("–", style="dim")) for model in under)])
    if under:
        print_table(rows, out)


def _result(exploration: Exploration) -> Text:
    return Text(exploration_outcome(exploration), style=style(exploration.result))


def verdicts(record: Record, out: Console, *, witnesses: bool = False) -> None:
    """One row per test, one column per model; below, why a cell is Unknown. A single test is
    printed with its states."""
    models = unique(verdict.model for verdict in record.verdicts)
    tests = unique(verdict.test for verdict in record.verdicts)
    if not tests:
        if not record.explorations:
            out.print("nothing was checked")
        return
    if len(tests) == 1:
        _one_test(record.verdicts, out)
    else:
        rows: list[list[str | Text]] = [["test", *models]]
        for test in tests:
            rows.append([test, *(_cell(record.verdicts_of.get((test, m), ())) for m in models)])
        print_table(rows, out)
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for verdict in record.verdicts:
        if verdict.observation == "Unknown":
            reasons[f"{verdict.checker}: {verdict.reason}"].append(verdict.test)
    _print_unknown(reasons, ", ", 3, out)
    if witnesses:
        _witnesses(record.verdicts, out)
    checkers = unique(verdict.checker for verdict in record.verdicts)
    print_dim(f"{_asked(record)} by {', '.join(checkers)}", out)


def codegen(record: Record, out: Console) -> None:
    """One row per target and compiler configuration: how many tests came out how.

    Below, the reasons for Unknown.
    """
    results = ("Preserved", "Weaker", "Undefined", "Unknown")
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for each in record.compiled:
        for build in each.builds:
            counts.setdefault((each.target, build, each.code), Counter())[each.result] += 1
        if each.result == "Unknown":
            # the address of the instruction differs from test to test
            reasons[each.unread or each.reason].append(f"{each.source} by {', '.join(each.builds)}")
    rows: list[list[str | Text]] = [
        ["target", "compiler", "code of", *(each.lower() for each in results)]
    ]
    for (target, build, code), count in sorted(counts.items()):
        cells = [Text(str(count[each]), style=style(each)) for each in results]
        rows.append([target, build, "tests" if code == "test" else code, *cells])
    if not counts:
        out.print("nothing was compared")
        return
    print_table(rows, out)
    _print_unknown(reasons, "; ", 2, out)
    compilations = sum(map(Counter.total, counts.values()))
    codes = (
        f"{amount(len(record.compiled), 'distinct machine code')} from "
        f"{amount(compilations, 'compilation')}"
    )
    bounded = sum(each.result == "Preserved" and bool(each.reason) for each in record.compiled)
    loops = (
        f"; in {bounded:,} of them, loops were followed for a bounded number of iterations"
        if bounded
        else ""
    )
    models = ", ".join(unique(each.model for each in record.compiled))
    print_dim(f"{codes}, compared with {models}{loops}", out)


def _print_unknown(
    reasons: Mapping[str, Sequence[str]], separator: str, most: int, out: Console
) -> None:
    """Print for how many questions each reason is, with the first of them."""
    for reason, about in reasons.items():
        names = unique(about)
        few = separator.join(names[:most]) + (" …" if len(names) > most else "")
        print_dim(f"Unknown for {amount(len(about), 'question')}: {reason} ({few})", out)


def _cell(given: Sequence[Verdict]) -> Text:
    """The answer if all checkers agree, else the answer of each."""
    decided = conclusive(given)
    if not given:
        return Text("·", style="dim")
    if not decided:
        return Text("Unknown", style=style("Unknown"))
    best = min(decided, key=lambda verdict: not verdict.states)
    if any(contradicts(best, other) for other in decided):
        text = " / ".join(f"{each.checker} {each.observation}" for each in decided)
        return Text(text, style="bold red")
    return Text(best.observation, style=style(best.observation))


def _one_test(given: Sequence[Verdict], out: Console) -> None:
    out.print(Text.assemble((given[0].test, "bold"), f"  {given[0].condition}"))
    for verdict in given:
        witnesses = verdict.witnesses
        ratio = f"  {witnesses[0]} of {sum(witnesses)} executions" if witnesses else ""
        flags = f"  flags {', '.join(verdict.flags)}" if verdict.flags else ""
        holds = {True: "holds", False: "does not hold", None: ""}[verdict.condition_holds]
        out.print(
            Text.assemble(
                f"  {verdict.model}  {verdict.checker}  ",
                (verdict.observation, style(verdict.observation)),
                f"  the condition {holds}" if holds else "",
                (f"{ratio}{flags}", "dim"),
            )
        )
        for state in verdict.states:
            mark = "*" if satisfies(verdict.condition, state) else " "
            out.print(f"    {mark} {state_text(state)}", markup=False)


def _witnesses(given: Sequence[Verdict], out: Console) -> None:
    from weakspot.harness.report import witness

    for verdict in given:
        most = text_width(out, 2)
        lines = [*witness.explanation(verdict), *witness.columns(verdict.witness, most)]
        if lines:
            out.print()
            out.print(Text.assemble((verdict.test, "bold"), f"  {verdict.model}"))
        for line in lines:
            out.print(Text(f"  {line}" if line else ""))


def _asked(record: Record) -> str:
    tests = len({verdict.test for verdict in record.verdicts})
    models = len({verdict.model for verdict in record.verdicts})
    seconds = sum(verdict.seconds for verdict in record.verdicts)
    asked = f"{amount(tests, 'test')} under {amount(models, 'model')}"
    return f"{asked} in {seconds:.1f} s"
