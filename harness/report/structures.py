"""One structure of a campaign in a terminal: what was generated, explored, run and claimed.

Of its tests those are printed that deserve a look: outcomes that a machine showed although a model
forbids them, then tests that a claim is about.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.text import Text

from weakspot.harness.judge.claims import standing
from weakspot.harness.judge.observations import observed_outcomes
from weakspot.harness.judge.violations import violations_of
from weakspot.harness.report.measurements import runner_differences
from weakspot.harness.report.terminal import bar, magnitude, print_dim, print_table
from weakspot.harness.values.agreement import conclusive, models_by_answer
from weakspot.harness.values.descriptions import describe_origin, negative_result_strength
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import amount, rounded
from weakspot.harness.values.record import Entry, Record, StructureInfo, unique


class Ranking:
    """The order in which tests are printed: observed and forbidden, observed, claimed, others."""

    def __init__(self, record: Record) -> None:
        self.claims: dict[tuple[str, str], str] = {}
        for structure, claim in record.claims:
            self.claims.setdefault((structure.name, claim.test), claim.says)
        self.rank: dict[str, int] = {}
        for outcome in observed_outcomes(record):
            rank = 3 if outcome.contradicted else 2 if outcome.forbidden else 1
            name = outcome.histogram.test
            self.rank[name] = max(rank, self.rank.get(name, 0))

    def order(self, entry: Entry, structure: str) -> tuple[int, bool, str]:
        """The sort key of a test."""
        unclaimed = (structure, entry.name) not in self.claims
        return (-self.rank.get(entry.name, 0), unclaimed, entry.name)

    def is_notable(self, entry: Entry, structure: str) -> bool:
        """Whether the test is printed even if there are many."""
        return (structure, entry.name) in self.claims or self.rank.get(entry.name, 0) >= 2


def print_structure(
    record: Record, structure: StructureInfo, ranking: Ranking, out: Console, limit: int
) -> None:
    entries = record.tests_of(structure.name)
    title = structure.title if structure.title != structure.name else ""
    out.print(
        Text.assemble(
            (structure.name, "bold"),
            f"  {title}" if title else "",
            (f"  {amount(len(structure.scenarios), 'scenario')}", "dim"),
            (f"  models {' '.join(structure.models)}", "dim"),
        )
    )
    rows = [("tests", f"{len(entries)}: {_shapes(entries)}", _checkers(record, entries))]
    rows.append(("programs", *_programs(record, structure)))
    rows += _program_runs(record, structure)
    rows += _compiled(record, entries)
    if stands := standing(record, [structure]):
        rows.append(("claims", stands, ""))
    print_table(rows, out, indent=2)
    print_tests(record, entries, structure.name, ranking, out, limit)


def print_overview(record: Record, structures: Iterable[StructureInfo], out: Console) -> None:
    """Print a row for each structure: its tests, what was found of its programs, its claims."""
    rows = [
        (
            Text(each.name, style="bold"),
            amount(len(record.tests_of(each.name)), "test"),
            amount(len(each.scenarios), "program"),
            _answers(record, each),
            standing(record, [each]),
        )
        for each in structures
    ]
    print_table(rows, out)
    out.print()


def _answers(record: Record, structure: StructureInfo) -> str:
    """`10 Safe, 5 Violated`: of its programs, under all models."""
    found = [each.result for each in record.explorations_in(structure)]
    counts = [(found.count(result), result) for result in ("Safe", "Violated", "Unknown")]
    return ", ".join(f"{count} {result}" for count, result in counts if count)


def _compiled(record: Record, entries: Iterable[Entry]) -> list[tuple[str, str, str]]:
    """`120 codes of 40 tests: 118 preserved, 2 weaker`, if machine code was compared."""
    given = [record.compiled_of.get(entry.name, ()) for entry in entries]
    results = Counter(each.result for codes in given for each in codes)
    if not results:
        return []
    counts = ", ".join(f"{count:,} {result.lower()}" for result, count in results.most_common())
    return [
        ("compiled", f"{results.total():,} codes of {sum(map(bool, given))} tests: {counts}", "")
    ]


def _shapes(entries: Iterable[Entry]) -> str:
    counts = Counter(entry.test.shape or "other" for entry in entries)
    parts = [f"{count} {shape}" for shape, count in counts.most_common(7)]
    left = sum(count for _, count in counts.most_common()[7:])
    return ", ".join([*parts, f"{left} others"] if left else parts) or "none"


def _checkers(record: Record, entries: Iterable[Entry]) -> str:
    """`checked by herd7, cbmc (agree on 12)`, if two checkers answered the same question."""
    asked: Counter[str] = Counter()
    shared = clashes = 0
    names = {entry.name for entry in entries}
    for (test, _), verdicts in record.verdicts_of.items():
        if test not in names:
            continue
        decided = conclusive(verdicts)
        asked.update(verdict.checker for verdict in decided)
        if len(decided) > 1:
            shared += 1
    clashes = sum(each.id == "WS401" and each.subject in names for each in record.findings)
    if not asked:
        return "not checked"
    agreement = f"{clashes} disagree" if clashes else f"agree on {shared:,}" if shared else ""
    return f"checked by {', '.join(sorted(asked))}{f' ({agreement})' if agreement else ''}"


def _programs(record: Record, structure: StructureInfo) -> tuple[str, str]:
    """`14 under sc rc20: 27 safe, 1 violated as recorded (…)`, and the number of executions."""
    explored = record.explorations_in(structure)
    if not explored:
        return "not explored", ""
    known = {
        (each.subject, model)
        for each in record.findings
        if each.recorded
        for model in (exploration.model for exploration, _ in violations_of(record, each))
    }
    safe = sum(each.result == "Safe" for each in explored)
    violated = [each for each in explored if each.result == "Violated"]
    recorded = [each for each in violated if (each.program, each.model) in known]
    parts = [f"{safe} safe"]
    if recorded:
        few = unique(each.program.partition("/")[2] for each in recorded)
        more = " …" if len(few) > 3 else ""
        parts.append(f"{len(recorded)} violated as recorded ({', '.join(few[:3])}{more})")
    if len(violated) > len(recorded):
        parts.append(f"{len(violated) - len(recorded)} violated")
    if left := len(explored) - safe - len(violated):
        parts.append(f"{left} not fully explored")
    models = " ".join(unique(each.model for each in explored))
    runs = sum(each.executions for each in explored)
    seconds = sum(each.seconds for each in explored)
    return (
        f"{len({each.program for each in explored})} under {models}: {', '.join(parts)}",
        f"{runs:,} executions in {seconds:.1f} s",
    )


def _program_runs(record: Record, structure: StructureInfo) -> Iterator[tuple[str, str, str]]:
    """`10 run on local: 2 failed (…), 8 not observed to fail`, one row per machine."""
    runs = (run for name in structure.programs for run in record.runs_of.get(name, ()))
    given = [run for run in runs if run.instances]
    for machine in unique(run.machine for run in given):
        here = [run for run in given if run.machine == machine]
        failed = [run for run in here if run.failures]
        few = ", ".join(run.program.partition("/")[2] for run in failed[:3])
        more = " …" if len(failed) > 3 else ""
        failures = f"{len(failed)} failed ({few}{more}), " if failed else ""
        instances = rounded(sum(run.instances for run in here))
        overlapped = sum(run.overlapped for run in here)
        yield (
            "",
            f"{len(here)} run on {machine}: {failures}"
            f"{len(here) - len(failed)} not observed to fail",
            f"{instances} instances, threads overlapped in {rounded(overlapped)}",
        )


def print_tests(
    record: Record,
    entries: Sequence[Entry],
    structure: str,
    ranking: Ranking,
    out: Console,
    limit: int,
) -> None:
    """Print at most `limit` tests: all if they are so few, else the notable ones."""
    chosen = sorted(entries, key=lambda entry: ranking.order(entry, structure))
    if len(chosen) > limit:
        chosen = [entry for entry in chosen if ranking.is_notable(entry, structure)]
    shown = chosen[:limit]
    if shown:
        out.print()
    for entry in shown:
        for line in _test(record, entry, structure, ranking, out.is_terminal):
            out.print(line)
    if len(chosen) > len(shown):
        print_dim(f"  and {len(chosen) - len(shown)} more in the report", out)


def _test(
    record: Record, entry: Entry, structure: str, ranking: Ranking, drawn: bool
) -> Iterator[Text]:
    allowed, forbidden, racy = models_by_answer(record, entry)
    line = Text.assemble("  ", (entry.name, "bold"), "  ", describe_origin(entry, structure))
    for label, names, colour in (
        ("allowed", allowed, "yellow"),
        ("forbidden", forbidden, "green"),
        ("racy", racy, "red"),
    ):
        if names:
            line.append(f"   {label} ", style="dim").append(" ".join(names), style=colour)
    yield line
    if says := ranking.claims.get((structure, entry.name)):
        yield Text(f"     claim: {says}", style="italic")
    given = record.histograms_of.get(entry.name, ())
    several = len({histogram.runner for histogram in given}) > 1
    for machine in unique(histogram.machine for histogram in given):
        here = [histogram for histogram in given if histogram.machine == machine]
        yield _on_machine(machine, here, forbidden, drawn, several=several)
    if differences := "; ".join(runner_differences(given)):
        yield Text(f"     {differences}", style="dim")


def _on_machine(
    machine: str,
    given: Sequence[Histogram],
    forbidden: Sequence[str],
    drawn: bool,
    *,
    several: bool,
) -> Text:
    """What a machine showed for a test, its runners side by side."""
    line = Text("     ")
    seen = [magnitude(each.target, each.iterations) for each in given if each.target]
    if drawn and seen:
        line.append(bar(max(seen), 12) + " ", style="red" if forbidden else "yellow")
    line.append(f"{machine}{' (emulated)' if given[0].emulated else ''}: ", style=_faint(seen))
    for at, histogram in enumerate(given):
        if at:
            line.append(" · ", style="dim")
        if several:
            line.append(f"{histogram.runner} ", style=_faint(histogram.target))
        line.append_text(_observed(histogram))
    if forbidden and seen:
        line.append(f"  forbidden by {' '.join(forbidden)}", style="red")
    return line


def _faint(seen: object) -> str:
    return "" if seen else "dim"


def _observed(histogram: Histogram) -> Text:
    if histogram.reason and not histogram.iterations:
        return Text(f"not run: {histogram.reason}", style="dim")
    if not histogram.target:
        strength = negative_result_strength(histogram)
        text = f"not observed in {rounded(histogram.iterations)} iterations"
        return Text(f"{text}; {strength}" if strength else text, style="dim")
    line = Text(f"observed {histogram.target:,} of {rounded(histogram.iterations)}")
    if histogram.target_independent is not None:
        line.append(f" (independent {histogram.target_independent:,})", style="dim")
    return line
