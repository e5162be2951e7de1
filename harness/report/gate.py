"""The gate in a terminal: each finding with its line, the execution that shows it, what helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

import msgspec
from rich.console import Console
from rich.text import Text

from weakspot import errors
from weakspot.harness.gate.outcome import Need, Outcome, Place, Told
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.report import witness
from weakspot.harness.report.terminal import style
from weakspot.harness.values.finding import Evidence
from weakspot.harness.values.witness import Witness

HARDWARE = {"tso": "x86"}
"""What machines a model of programs stands for, where it stands for some."""

SHAPES = {
    "SB": "store buffering",
    "MP": "message passing",
    "LB": "load buffering",
    "WRC": "write-to-read causality",
    "RWC": "read-to-write causality",
    "IRIW": "independent reads of independent writes",
}
"""What the literature calls a shape, where it has a name besides its letters."""


def gate(outcome: Outcome, out: Console) -> None:
    """Print what the gate found; the last line says it all."""
    for told in outcome.told:
        if told.status != "accepted" and not told.again:
            for line in finding(told, outcome.alike(told)):
                out.print(line)
            out.print()
    for each in (told for told in outcome.told if told.status == "accepted"):
        out.print(
            Text(f"accepted: {each.finding.id} {each.message} ({each.places[0]})", style="dim")
        )
    for stale in outcome.stale:
        out.print(
            Text.assemble(
                ("stale: ", "yellow"),
                f"{stale.id} in {stale.file} is accepted in {outcome.baseline} and is no longer "
                f"there: {stale.message}",
            )
        )
    for text in outcome.undecided:
        out.print(Text.assemble(("undecided: ", "yellow"), text))
    for note in outcome.notes:
        out.print(Text(f"note: {note}", style="dim"))
    colour = {0: "green", 1: "red"}.get(outcome.exit_code, "yellow")
    out.print(Text(closing(outcome), style=f"bold {colour}"))


def closing(outcome: Outcome) -> str:
    """`1 finding, 5 scenarios safe, 0.4 s`"""
    counts = Counter(each.result for each in outcome.scenarios)
    accepted = sum(each.status == "accepted" for each in outcome.told)
    others = sum(each.status == "told" for each in outcome.told)
    parts = [
        amount(len(outcome.failing), "finding") if outcome.failing else "",
        f"{others} told" if others else "",
        f"{accepted} accepted" if accepted else "",
        f"{amount(counts['Safe'], 'scenario')} safe" if counts["Safe"] else "",
        f"{amount(counts['Ok'], 'test')} as expected" if counts["Ok"] else "",
        f"{len(outcome.undecided)} undecided" if outcome.undecided else "",
        f"{sum(each.unchanged for each in outcome.scenarios)} unchanged",
        f"{outcome.seconds:.1f} s",
    ]
    return ", ".join(part for part in parts if part and part != "0 unchanged")


def finding(told: Told, others: Sequence[Told] = ()) -> Iterator[Text]:
    """A finding as a diagnostic; `others` are those of the same cause."""
    yield Text(f"{told.scenario}  {' '.join(told.models)}", style="bold")
    title = KINDS[told.finding.id].title
    yield Text.assemble(
        (f"{told.finding.id} ", style(told.finding.severity)), told.message, (f"  [{title}]", "dim")
    )
    shown = [(need.place, need.asks) for need in told.needs]
    shown += [(place, place.does) for place in told.places if not told.needs]
    for place, label in shown[:4]:
        yield from excerpt(place, label)
    for line in execution(told):
        yield Text(f"   | {line}".rstrip())
    if told.needs:
        yield Text(f"   = it shows at {', '.join(map(str, told.places))}")
    if told.shape:
        name = f"{SHAPES[told.shape]}, " if told.shape in SHAPES else ""
        yield Text(f"   = its cycle is {name}{told.shape}: the test {told.test}")
    if reach := reaches(told):
        yield Text(f"   = {reach}")
    if there := machines(told):
        yield Text(f"   = {there}")
    for other in others:
        there = f" in {other.scenario}" if other.scenario != told.scenario else ""
        yield Text.assemble(
            "   = the same cause: ",
            (f"{other.finding.id} ", style(other.finding.severity)),
            f"{other.message} ({other.places[0]}){there}",
        )
    if told.fix:
        yield Text.assemble(("help: ", "cyan"), told.fix)
    yield Text(f"      weakspot explain {told.short} says more", style="dim")


def excerpt(place: Place, label: str) -> Iterator[Text]:
    """The line with marks below the operation, and what is to be said of it."""
    yield Text(f"  --> {place}")
    if not place.text:
        return
    drawn = errors.drawn(place.text, place.line, place.column, place.end - place.column, label)
    margin, line, *marked = map(Text, drawn.splitlines())
    for marks in marked:
        marks.highlight_regex(r"\^+", "bold red")
    yield from (margin, line, *marked, margin)


def execution(told: Told) -> list[str]:
    """The witness in columns; files by their names where these are enough."""
    return witness.columns(shortened(told)) if told.witness is not None else []


def shortened(told: Told) -> Witness | None:
    """The witness with the places of its events as short as they are clear."""
    if told.witness is None:
        return None
    files = {step.file for step in told.steps if step is not None}
    names = Counter(PurePosixPath(file).name for file in files)

    def short(place: Place) -> str:
        name = PurePosixPath(place.file).name
        return f"{name if names[name] == 1 else place.file}:{place.line}"

    events = tuple(
        msgspec.structs.replace(event, site=short(step)) if step is not None else event
        for event, step in zip(told.witness.events, told.steps, strict=True)
    )
    return msgspec.structs.replace(told.witness, events=events)


def reaches(told: Told) -> str:
    """`rc11: possible   tso (x86): not possible`, of the models that were asked in this run."""
    parts = [f"{_named(model)}: possible" for model in told.models]
    parts += [f"{_named(model)}: not possible" for model in told.safe]
    return "   ".join(parts) if told.safe else ""


def _named(model: str) -> str:
    return f"{model} ({HARDWARE[model]})" if model in HARDWARE else model


def machines(told: Told) -> str:
    """`as compilers map it: possible on AArch64, POWER; not on x86-64`"""
    able = [name for name, possible in told.machines.items() if possible]
    unable = [name for name, possible in told.machines.items() if not possible]
    parts = [f"possible on {', '.join(able)}" if able else ""]
    parts += [f"not {'possible ' if not able else ''}on {', '.join(unable)}" if unable else ""]
    said = "; ".join(filter(None, parts))
    return f"as compilers map it: {said}" if said else ""


class Flat(msgspec.Struct, frozen=True, kw_only=True):
    """A finding as one JSON object: the keys of every finding, and what the gate adds."""

    id: str
    severity: str
    message: str
    sites: tuple[str, ...]
    evidence: tuple[Evidence, ...]
    fix: str
    status: str
    fingerprint: str
    scenario: str
    models: tuple[str, ...]
    safe: tuple[str, ...]
    machines: dict[str, bool]
    needs: tuple[Need, ...]
    test: str
    witness: Witness | None


def flat(told: Told) -> Flat:
    return Flat(
        id=told.finding.id,
        severity=told.finding.severity,
        message=told.message,
        sites=tuple(map(str, told.places)),
        evidence=told.finding.evidence,
        fix=told.fix,
        status=told.status,
        fingerprint=told.fingerprint,
        scenario=told.scenario,
        models=told.models,
        safe=told.safe,
        machines=told.machines,
        needs=told.needs,
        test=told.test,
        witness=shortened(told),
    )


def amount(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def plain(told: Told, others: Sequence[Told] = ()) -> str:
    """A finding as text without colours, for files and other tools."""
    return "\n".join(line.plain for line in finding(told, others))
