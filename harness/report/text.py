"""A campaign in a terminal: a structure at a time, what is worth knowing first.

Values in, lines out; nothing is decided here. What a person wants to see of a structure are the
outcomes that a machine showed although a model forbids them, then the tests that are claimed
about, then what is not as recorded.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from rich.console import Console
from rich.text import Text

from weakspot.harness.judge.findings import undecided
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.judge.observed import observed_outcomes
from weakspot.harness.judge.violations import violations_of
from weakspot.harness.report import witness
from weakspot.harness.report.tables import compared
from weakspot.harness.report.terminal import bar, columns, magnitude, style
from weakspot.harness.values.agreement import agreed_observation, conclusive
from weakspot.harness.values.descriptions import (
    EMULATED,
    describe_steadiness,
    negative_result_strength,
)
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import rounded
from weakspot.harness.values.record import (
    Entry,
    MachineInfo,
    Record,
    StructureInfo,
    program_name,
    unique,
)

_SHOWN, _SHOWN_OF_MANY = 8, 4  # tests of a structure, alone and among others
_FINDINGS = 40
_GRAVEST = "WS201"  # seen and forbidden: nothing matters more, and it stands above everything


def campaign(record: Record, out: Console, *, report: str = "", everything: bool = False) -> None:
    """Print what a campaign found. `report` is the path of its site; with `everything` every
    test is listed, and not only those worth a look."""
    interest = _Interest(record)
    shown = _SHOWN if len(record.structures) == 1 else _SHOWN_OF_MANY
    limit = len(record.entries) if everything else shown
    unrecorded = [each for each in record.findings if not each.recorded]
    _findings(record, [each for each in unrecorded if each.id == _GRAVEST], everything, out)
    for machine in record.manifest.machines:
        out.print(Text(_machine(machine), style="dim"))
    for structure in record.structures:
        _structure(record, structure, interest, out, limit)
        out.print()
    loose = [entry for entry in record.entries if not entry.structures]
    if loose:
        out.print(Text.assemble(("litmus tests", "bold"), f"  {_amount(len(loose), 'test')}"))
        _tests(record, loose, "", interest, out, max(limit, _SHOWN))
        out.print()
    _findings(record, [each for each in unrecorded if each.id != _GRAVEST], everything, out)
    for text in undecided(record)[:10]:
        out.print(Text.assemble(("undecided: ", "yellow"), text))
    for note in record.manifest.notes:
        out.print(Text(f"note: {note}", style="dim"))
    out.print(_closing(record, report))


def _findings(record: Record, found: Sequence[Finding], everything: bool, out: Console) -> None:
    findings(record, found if everything else found[:_FINDINGS], out)
    if not everything and len(found) > _FINDINGS:
        left = _amount(len(found) - _FINDINGS, "finding")
        out.print(Text(f"and {left} more in the report", style="dim"))


def findings(record: Record, found: Sequence[Finding], out: Console) -> None:
    """Print findings as diagnostics, errors before notes; what a program does wrong with an
    execution that does it."""
    for finding in found:
        head = Text.assemble((f"{finding.id} ", style(finding.severity)), finding.message)
        if finding.severity != "error":
            head.append(f"  [{finding.severity}]", style="dim")
        elif finding.id in KINDS:
            head.append(f"  [{KINDS[finding.id].title}]", style="dim")
        out.print(head)
        for site in finding.sites[:6]:
            out.print(Text.assemble("  --> ", site))
        for evidence in finding.evidence:
            for line in evidence.text.rstrip().split("\n"):
                out.print(Text(f"   |  {line}".rstrip()))
        for line in _witness(record, finding):
            out.print(Text(f"   |    {line}"))
        if finding.fix and finding.severity != "note":
            out.print(Text.assemble(("help: ", "cyan"), finding.fix))


def _witness(record: Record, finding: Finding) -> list[str]:
    """An execution that shows the violation, the shortest of those of the models."""
    shown = [each.witness for _, each in violations_of(record, finding) if each.witness is not None]
    return witness.columns(min(shown, key=lambda each: len(each.events))) if shown else []


def where(entry: Entry, structure: str = "") -> str:
    """The operations and sites a test comes from: `push wsq.h:41 ∥ steal wsq.h:63`. Of several
    places the first of that structure is shown."""
    if not entry.test.origins:
        return entry.test.path or "written by hand"
    here = [origin for origin in entry.test.origins if origin.structure == structure]
    origin = (here or entry.test.origins)[0]
    parts = []
    for operation, sites in zip(origin.operations, origin.sites, strict=True):
        lines: dict[str, list[int]] = defaultdict(list)
        for site in sites:
            if site.line not in lines[site.file]:
                lines[site.file].append(site.line)
        places = " ".join(f"{file}:{','.join(map(str, at))}" for file, at in lines.items())
        parts.append(f"{operation} {places}")
    others = len(here or entry.test.origins) - 1
    more = f"  and {others} more" if others else ""
    return " ∥ ".join(parts) + more


def allowed_and_forbidden(record: Record, entry: Entry) -> tuple[list[str], list[str], list[str]]:
    """The models that allow a test's outcome, that forbid it, and that call the test racy."""
    allowed, forbidden, racy = [], [], []
    for model in entry.models:
        match agreed_observation(record, entry.name, model):
            case "Sometimes" | "Always":
                allowed.append(model)
            case "Never":
                forbidden.append(model)
            case "Undefined":
                racy.append(model)
            case _:
                pass
    return allowed, forbidden, racy


# --- a structure ------------------------------------------------------------------------------


class _Interest:
    """How much a test deserves to be shown: seen and forbidden, seen, claimed, the rest."""

    def __init__(self, record: Record) -> None:
        self.claims: dict[tuple[str, str], str] = {}
        for structure in record.structures:
            for claim in structure.claims:
                self.claims.setdefault((structure.name, claim.test), claim.says)
        self.rank: dict[str, int] = {}
        for sighting in observed_outcomes(record):
            grave = 3 if sighting.contradicted else 2 if sighting.forbidden else 1
            name = sighting.histogram.test
            self.rank[name] = max(grave, self.rank.get(name, 0))

    def order(self, entry: Entry, structure: str) -> tuple[int, bool, str]:
        unclaimed = (structure, entry.name) not in self.claims
        return (-self.rank.get(entry.name, 0), unclaimed, entry.name)

    def worth(self, entry: Entry, structure: str) -> bool:
        return (structure, entry.name) in self.claims or self.rank.get(entry.name, 0) >= 2


def _structure(
    record: Record, structure: StructureInfo, interest: _Interest, out: Console, limit: int
) -> None:
    entries = record.tests_of(structure.name)
    title = structure.title if structure.title != structure.name else ""
    out.print(
        Text.assemble(
            (structure.name, "bold"),
            f"  {title}" if title else "",
            (f"  {_amount(len(structure.scenarios), 'scenario')}", "dim"),
            (f"  models {' '.join(structure.models)}", "dim"),
        )
    )
    rows = [("tests", f"{len(entries)}: {_shapes(entries)}", _checkers(record, entries))]
    rows.append(("programs", *_programs(record, structure)))
    rows += _whole(record, structure)
    rows += _compiled(record, entries)
    if structure.claims:
        rows.append(("claims", *_claims(record, structure)))
    for line in columns(rows, indent=2):
        out.print(line)
    _tests(record, entries, structure.name, interest, out, limit)


def _compiled(record: Record, entries: Iterable[Entry]) -> list[tuple[str, str, str]]:
    """`120 codes of 40 tests: 118 kept, 2 weaker`, where compilers were asked."""
    given = [record.compiled_of.get(entry.name, ()) for entry in entries]
    results = Counter(each.result for codes in given for each in codes)
    if not results:
        return []
    said = ", ".join(f"{count:,} {result.lower()}" for result, count in results.most_common())
    return [("compiled", f"{results.total():,} codes of {sum(map(bool, given))} tests: {said}", "")]


def _shapes(entries: Iterable[Entry]) -> str:
    counts = Counter(entry.test.shape or "other" for entry in entries)
    parts = [f"{count} {shape}" for shape, count in counts.most_common(7)]
    left = sum(count for _, count in counts.most_common()[7:])
    return ", ".join([*parts, f"{left} others"] if left else parts) or "none"


def _checkers(record: Record, entries: Iterable[Entry]) -> str:
    """`checked by herd7, cbmc (agree)`: agree is said only where two were asked the same."""
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
    said = f"{clashes} disagree" if clashes else f"agree on {shared:,}" if shared else ""
    return f"checked by {', '.join(sorted(asked))}{f' ({said})' if said else ''}"


def _programs(record: Record, structure: StructureInfo) -> tuple[str, str]:
    """`14 under sc rc11: 27 safe, 1 violated as recorded (…)`, and how much was explored."""
    names = [program_name(structure.name, scenario.name) for scenario in structure.scenarios]
    explored = [each for name in names for each in record.explorations_of.get(name, ())]
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
        parts.append(f"{left} not all explored")
    models = " ".join(unique(each.model for each in explored))
    runs = sum(each.executions for each in explored)
    seconds = sum(each.seconds for each in explored)
    return (
        f"{len({each.program for each in explored})} under {models}: {', '.join(parts)}",
        f"{runs:,} executions in {seconds:.1f} s",
    )


def _whole(record: Record, structure: StructureInfo) -> Iterator[tuple[str, str, str]]:
    """`10 run whole on local: 2 failed (…), 8 not seen to`, a machine each."""
    names = [program_name(structure.name, scenario.name) for scenario in structure.scenarios]
    given = [run for name in names for run in record.runs_of.get(name, ()) if run.instances]
    for machine in unique(run.machine for run in given):
        here = [run for run in given if run.machine == machine]
        failed = [run for run in here if run.failures]
        few = ", ".join(run.program.partition("/")[2] for run in failed[:3])
        more = " …" if len(failed) > 3 else ""
        said = f"{len(failed)} failed ({few}{more}), " if failed else ""
        instances = rounded(sum(run.instances for run in here))
        overlapped = sum(run.overlapped for run in here)
        yield (
            "",
            f"{len(here)} run whole on {machine}: {said}{len(here) - len(failed)} not seen to fail",
            f"{instances} instances, threads at once in {rounded(overlapped)}",
        )


def _claims(record: Record, structure: StructureInfo) -> tuple[str, str]:
    about = {
        claim.test or program_name(structure.name, claim.scenario) for claim in structure.claims
    }
    wrong = {
        each.subject
        for each in record.findings
        if each.id == "WS001" and each.severity == "error" and each.subject in about
    }
    bad = sum(
        (claim.test or program_name(structure.name, claim.scenario)) in wrong
        for claim in structure.claims
    )
    total = len(structure.claims)
    if not bad:
        return f"{total} as recorded", ""
    return f"{total - bad} of {total} as recorded", f"{bad} not"


def _tests(
    record: Record,
    entries: Sequence[Entry],
    structure: str,
    interest: _Interest,
    out: Console,
    limit: int,
) -> None:
    """The tests worth a look, `limit` at most; all of them when the limit is so high."""
    chosen = sorted(entries, key=lambda entry: interest.order(entry, structure))
    if len(chosen) > limit:
        chosen = [entry for entry in chosen if interest.worth(entry, structure)]
    shown = chosen[:limit]
    if shown:
        out.print()
    for entry in shown:
        for line in _test(record, entry, structure, interest, out.is_terminal):
            out.print(line)
    if len(chosen) > len(shown):
        out.print(Text(f"  and {len(chosen) - len(shown)} more in the report", style="dim"))


def _test(
    record: Record, entry: Entry, structure: str, interest: _Interest, drawn: bool
) -> Iterator[Text]:
    allowed, forbidden, racy = allowed_and_forbidden(record, entry)
    line = Text.assemble("  ", (entry.name, "bold"), "  ", where(entry, structure))
    for label, names, colour in (
        ("allowed", allowed, "yellow"),
        ("forbidden", forbidden, "green"),
        ("racy", racy, "red"),
    ):
        if names:
            line.append(f"   {label} ", style="dim").append(" ".join(names), style=colour)
    yield line
    if says := interest.claims.get((structure, entry.name)):
        yield Text(f"     claimed: {says}", style="italic")
    given = record.histograms_of.get(entry.name, ())
    several = len({histogram.runner for histogram in given}) > 1
    for machine in unique(histogram.machine for histogram in given):
        here = [histogram for histogram in given if histogram.machine == machine]
        yield _shown_by(machine, here, forbidden, drawn, several=several)
    if differences := "; ".join(compared(given)):
        yield Text(f"     {differences}", style="dim")


def _shown_by(
    machine: str,
    given: Sequence[Histogram],
    forbidden: Sequence[str],
    drawn: bool,
    *,
    several: bool,
) -> Text:
    """What a machine showed of a test, its runners side by side."""
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
        line.append_text(_seen(histogram))
    if forbidden and seen:
        line.append(f"  forbidden by {' '.join(forbidden)}", style="red")
    return line


def _faint(seen: object) -> str:
    return "" if seen else "dim"


def _seen(histogram: Histogram) -> Text:
    if histogram.reason and not histogram.iterations:
        return Text(f"not run: {histogram.reason}", style="dim")
    if not histogram.target:
        worth = negative_result_strength(histogram)
        told = f"not seen in {rounded(histogram.iterations)}{f'; {worth}' if worth else ''}"
        return Text(told, style="dim")
    line = Text(f"seen {histogram.target:,} of {rounded(histogram.iterations)}")
    if histogram.target_independent is not None:
        line.append(f" (independent {histogram.target_independent:,})", style="dim")
    return line


# --- the end ----------------------------------------------------------------------------------


def summary(record: Record) -> tuple[Literal["bad", "open", "good"], str]:
    """The campaign in one phrase, and how good that is."""
    errors = [each for each in record.findings if each.severity == "error" and not each.recorded]
    if errors:
        return "bad", _amount(len(errors), "finding")
    if left := undecided(record):
        return "open", f"{_amount(len(left), 'question')} undecided"
    if not record.manifest.finished:
        return "open", "not finished: give the same command again"
    claims = any(structure.claims for structure in record.structures)
    return "good", "everything as recorded in claims.toml" if claims else "nothing found"


def _closing(record: Record, report: str) -> Text:
    state, text = summary(record)
    colour = {"bad": "red", "open": "yellow", "good": "green"}[state]
    line = Text.assemble((text, f"bold {colour}"))
    if report:
        line.append(f" · report: {report}")
    return line


def _machine(each: MachineInfo) -> str:
    """`machine local: x86_64, AMD EPYC, 2 cores, KVM`."""
    known = each.profile
    cores = known.get("cores")
    words = [
        each.arch,
        EMULATED if each.emulated else "",
        str(known.get("cpu") or ""),
        _amount(cores, "core") if isinstance(cores, int) else "",
        {"yes": "virtual", None: ""}.get(known.get("hypervisor"), str(known.get("hypervisor"))),
        describe_steadiness(known),
    ]
    return f"machine {each.name}: {', '.join(filter(None, words))}"


def _amount(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
