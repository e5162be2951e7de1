"""The gate in a terminal: findings with source lines, executions that show them, and fixes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec
from rich.console import Console
from rich.text import Text

from weakspot import errors
from weakspot.harness.gate.outcome import GateOutcome, ReportedFinding, RequiredOrder, SourceSpan
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.report import folding, terminal, witness
from weakspot.harness.report.terminal import advice, diagnostic, print_dim
from weakspot.harness.values.finding import unnamed
from weakspot.harness.values.numbers import amount
from weakspot.harness.values.witness import Witness, WitnessEvent

HARDWARE = {"tso": "x86"}
"""The machines that a hardware model describes, by model."""

MACHINES = {"tso": "x86-64"}
"""The machine that a mapped test has of the same kind, by model."""

SHAPES = {
    "SB": "store buffering",
    "MP": "message passing",
    "LB": "load buffering",
    "WRC": "write-to-read causality",
    "RWC": "read-to-write causality",
    "IRIW": "independent reads of independent writes",
}
"""The names of shapes in the literature, of those that have one besides their abbreviation."""


def gate(outcome: GateOutcome, out: Console) -> None:
    """Print the findings, what is undecided, and a closing line with the counts."""
    for reported in outcome.findings:
        if not reported.is_hidden and not reported.is_repeat:
            for line in finding(reported, outcome.alike(reported), terminal.text_width(out)):
                out.print(line)
            out.print()
    for each in filter(lambda reported: reported.is_hidden, outcome.findings):
        why = f": {each.justification}" if each.justification else ""
        text = f"{each.status}: {each.finding.id} {each.message} ({each.places[0]}){why}"
        print_dim(text, out)
    for stale in outcome.stale:
        out.print(
            Text.assemble(
                ("stale: ", "yellow"),
                f"{stale.id} in {stale.file} is accepted in {outcome.baseline} but was not found "
                f"any more: {stale.message}",
            )
        )
    for text in outcome.undecided:
        out.print(Text.assemble(("undecided: ", "yellow"), text))
    for note in outcome.notes:
        print_dim(f"note: {note}", out)
    colour = {0: "green", 1: "red", 2: "red"}.get(outcome.exit_code, "yellow")
    out.print(Text(closing(outcome), style=f"bold {colour}"))


def closing(outcome: GateOutcome) -> str:
    """`1 finding, 5 scenarios safe, 0.4 s`. Findings with one cause count once; a scenario is safe
    if it is under all its models."""
    results: dict[str, set[str]] = {}
    changed = {each.file for each in outcome.scenarios if not each.unchanged}
    for each in outcome.scenarios:
        results.setdefault(each.file, set()).add(each.result)
    counts = Counter(found.pop() for found in results.values() if len(found) == 1)
    accepted = sum(each.status == "accepted" for each in outcome.findings)
    suppressed = sum(each.status == "suppressed" for each in outcome.findings)
    others = sum(each.status == "reported" for each in outcome.findings)
    parts = [
        amount(len(outcome.causes), "finding") if outcome.failing else "",
        f"{others} reported without failing" if others else "",
        f"{accepted} accepted" if accepted else "",
        f"{suppressed} suppressed" if suppressed else "",
        f"{amount(counts['Safe'], 'scenario')} safe" if counts["Safe"] else "",
        f"{amount(counts['Ok'], 'test')} as expected" if counts["Ok"] else "",
        f"{len(outcome.undecided)} undecided" if outcome.undecided else "",
        f"{amount(len(outcome.unreadable), 'scenario')} not checked" if outcome.unreadable else "",
        f"{len(results.keys() - changed)} unchanged",
        f"{outcome.seconds:.1f} s",
    ]
    return ", ".join(part for part in parts if part and part != "0 unchanged")


def finding(
    reported: ReportedFinding, others: Sequence[ReportedFinding] = (), most: int | None = None
) -> Iterator[Text]:
    """A finding as a diagnostic, with drawings and source lines of at most that width; `others` are
    those with the same cause."""
    yield Text(f"{reported.scenario}  {' '.join(reported.models)}", style="bold")
    title = KINDS[reported.finding.id].title
    yield diagnostic(reported.finding.id, reported.finding.severity, reported.message, title)
    shown = [(need.place, need.asks) for need in reported.needs]
    shown += [(place, place.does) for place in reported.places if not reported.needs]
    for place, label in shown[:4]:
        yield from source_excerpt(place, label, most)
    for line in execution(reported, None if most is None else most - len(_MARGIN)):
        yield Text(f"{_MARGIN}{line}".rstrip())
    for need in reported.needs:
        if need.witness is not None:
            yield Text(f"{_MARGIN}{need.place} is too weak, as this execution shows:")
            for line in other_execution(reported, need, most):
                yield Text(f"{_MARGIN}{line}".rstrip())
    if reported.needs:
        yield Text(f"   = violation at {', '.join(map(str, reported.places))}")
    if reported.shape:
        name = f" ({SHAPES[reported.shape]})" if reported.shape in SHAPES else ""
        yield Text(f"   = critical cycle: {reported.shape}{name}, litmus test {reported.test}")
    if reach := reaches(reported):
        yield Text(f"   = {reach}")
    if there := machines(reported):
        yield Text(f"   = {there}")
    for other in others:
        at = "".join(f" ({place})" for place in unnamed(other.places[:1], other.message))
        there = f" in {other.scenario}" if other.scenario != reported.scenario else ""
        message = f"{other.message}{at}{there}"
        repeated = diagnostic(other.finding.id, other.finding.severity, message)
        yield Text("   = same cause: ").append_text(repeated)
    if reported.fix:
        yield advice(reported.fix)
    yield Text(f"      details: weakspot explain {reported.short}", style="dim")


_MARGIN = "   | "


def source_excerpt(place: SourceSpan, label: str, most: int | None = None) -> Iterator[Text]:
    """The source line with marks below the operation, and a label. A line that is longer than
    `most` loses its indentation, and its end behind the marks."""
    yield Text(f"  --> {place}")
    if not place.text:
        return
    text, column, end = place.text, place.column, place.end
    room = None if most is None else most - len(f"{place.line:>2} | ")
    if room is not None and len(text) > room:
        blank = min(len(text) - len(text.lstrip()), max(0, column - 1))
        text, column, end = text[blank:], column - blank, end - blank
        if len(text) > room > end:
            text = f"{text[: room - 1]}…"
    excerpt = errors.marked_line(text, place.line, column, end - column, label)
    margin, line, *marked = map(Text, excerpt.splitlines())
    for marks in marked:
        marks.highlight_regex(r"\^+", "bold red")
    yield from (margin, line, *marked, margin)


def execution(reported: ReportedFinding, most: int | None = None) -> list[str]:
    """The witness in columns, if they are not wider than `most`; files without their folders where
    their names are unambiguous."""
    return witness.columns(shortened(reported), most) if reported.witness is not None else []


def other_execution(
    reported: ReportedFinding, need: RequiredOrder, most: int | None = None
) -> list[str]:
    """The execution that shows what the finding's own does not, in columns."""
    if need.witness is None:
        return []
    place = f"{need.place.file}:{need.place.line}"
    found = witness.readable(need.witness, [place], unfold=reported.unfold)
    return witness.columns(found, None if most is None else most - len(_MARGIN))


def prose(reported: ReportedFinding) -> Iterator[str]:
    """The witness as lines of proportional text: its steps in reading order, then its cycle."""
    found = shortened(reported)
    if found is None:
        return
    written_by = {target: found.events[source] for source, target in found.rf}
    rows = witness.places(found)
    threads = {found.events[number].thread or 0 for number in rows}
    names = {thread: witness.heading(found, thread) for thread in threads}
    alike = Counter(names.values())
    for number, _ in sorted(rows.items(), key=lambda each: (each[1][1], each[1][0])):
        event = found.events[number]
        thread = event.thread or 0
        who = names[thread] + (f" (thread {thread})" if alike[names[thread]] > 1 else "")
        source = written_by.get(number)
        where = f", from step {source.label}" if source is not None and source.label else ""
        yield f"{event.label}. {who}: {witness.described(event)}{where}"
    yield from witness.conclusion(found)


def shortened(reported: ReportedFinding) -> Witness | None:
    """The witness with file names instead of paths where they are unambiguous, and library calls as
    one event each unless the finding is to be unfolded; none that has an event that needs another
    memory order."""
    if reported.witness is None:
        return None
    return _short(reported, *_folded(reported))


def _folded(reported: ReportedFinding) -> tuple[Witness, list[int]]:
    found, steps = reported.witness, reported.steps
    assert found is not None
    if reported.unfold:
        return found, [*range(len(found.events))]
    needed = {(need.place.file, need.place.line) for need in reported.needs}

    def keep(number: int) -> bool:
        step = steps[number]
        return step is not None and (step.file, step.line) in needed

    return folding.folded(found, keep)


def _short(reported: ReportedFinding, found: Witness, numbers: Sequence[int]) -> Witness:
    """The witness, whose events are those with these numbers in the finding's, with short names."""
    steps = [reported.steps[number] for number in numbers]
    names = Counter(map(witness.short_name, {step.file for step in steps if step}))

    def short(event: WitnessEvent, step: SourceSpan | None) -> str:
        own = None if event.kind in ("CALL", "ROUNDS") else step
        site = event.site if own is None else f"{own.file}:{own.line}"
        plain = witness.short_name(site)
        return plain if names[plain.partition(":")[0]] <= 1 else site

    events = tuple(
        msgspec.structs.replace(event, site=short(event, step))
        for event, step in zip(found.events, steps, strict=True)
    )
    return msgspec.structs.replace(found, events=events)


def same_cause(outcome: GateOutcome, reported: ReportedFinding) -> list[str]:
    """The other findings with the same cause, one per line."""
    return [
        f"Same cause: {each.finding.id} {each.message} ({each.places[0]}, {each.scenario})"
        for each in outcome.alike(reported)
    ]


def reaches(reported: ReportedFinding) -> str:
    """`allowed by rc20   forbidden by tso (x86)`, for the models that this run checked."""
    if not reported.safe:
        return ""
    allowed = ", ".join(map(_named, reported.models))
    forbidden = ", ".join(map(_named, reported.safe))
    return f"allowed by {allowed}   forbidden by {forbidden}"


def _named(model: str) -> str:
    return f"{model} ({HARDWARE[model]})" if model in HARDWARE else model


def machines(reported: ReportedFinding) -> str:
    """`mapped to instructions: possible on AArch64, POWER; not possible on RISC-V`. A machine whose
    model explored the program is left out: the cycle alone may be possible where the program
    cannot show it."""
    explored = {MACHINES[each] for each in (*reported.models, *reported.safe) if each in MACHINES}
    known = {name: able for name, able in reported.machines.items() if name not in explored}
    able = [name for name, possible in known.items() if possible]
    unable = [name for name, possible in known.items() if not possible]
    parts = [f"possible on {', '.join(able)}" if able else ""]
    parts += [f"not possible on {', '.join(unable)}" if unable else ""]
    text = "; ".join(filter(None, parts))
    return f"mapped to instructions: {text}" if text else ""


def flat(reported: ReportedFinding) -> dict[str, object]:
    """The finding as `--json` prints it: the keys of every finding, and the gate's own."""
    found = reported.finding
    own = ("status", "fingerprint", "scenario", "models", "safe", "machines", "needs", "test")
    return {
        "id": found.id,
        "severity": found.severity,
        "message": reported.message,
        "sites": tuple(map(str, reported.places)),
        "evidence": found.evidence,
        "fix": reported.fix,
        **{name: getattr(reported, name) for name in (*own, "justification")},
        "witness": None
        if reported.witness is None
        else _short(reported, reported.witness, range(len(reported.steps))),
    }


def plain(reported: ReportedFinding, others: Sequence[ReportedFinding] = ()) -> str:
    """A finding as text without colours."""
    return "\n".join(line.plain for line in finding(reported, others))
