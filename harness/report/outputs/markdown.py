"""The gate as Markdown: the summary for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from weakspot.generators.source.language import candidates, languages
from weakspot.harness.gate.outcome import GateOutcome, ReportedFinding
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.report.gate import closing, execution, machines, other_execution, reaches
from weakspot.harness.report.outputs import File
from weakspot.harness.values.finding import unnamed
from weakspot.harness.values.numbers import amount


def markdown(outcome: GateOutcome) -> bytes:
    """The file's content."""
    return "\n".join([*_lines(outcome), ""]).encode()


def _lines(outcome: GateOutcome) -> Iterator[str]:
    failing = len(outcome.causes)
    head = amount(failing, "finding") if failing else "nothing found"
    if not failing and outcome.undecided:
        head = f"{len(outcome.undecided)} undecided"
    yield f"### weakspot: {head}"
    for reported in outcome.findings:
        if not reported.is_hidden and not reported.is_repeat:
            yield ""
            yield from _finding(reported, outcome.alike(reported))
    if outcome.undecided:
        yield ""
        yield from (f"- undecided: {_inline(text)}" for text in outcome.undecided)
    for stale in outcome.stale:
        yield f"- in the baseline but not found any more: {stale.id} in `{stale.file}`"
    yield ""
    yield "| scenario | model | result |"
    yield "|---|---|---|"
    for each in outcome.scenarios:
        yield f"| `{each.file}` | {each.model} | {each.result} |"
    yield ""
    yield closing(outcome)


def _finding(reported: ReportedFinding, others: Sequence[ReportedFinding] = ()) -> Iterator[str]:
    place = reported.places[0]
    title = KINDS[reported.finding.id].title
    note = "" if reported.status == "fails" else " (does not fail the gate)"
    where = f"in `{reported.scenario}` under {reported.models[0]}"
    yield f"**{reported.finding.id} {title}**{note} {where}"
    yield ""
    yield f"{_inline(reported.message)}, at `{place}`:"
    yield ""
    file = PurePosixPath(place.file)
    known = (*candidates(file), languages()[-1])
    block = "text" if file.suffix == ".litmus" else known[0].block
    yield from _fenced([place.text.strip()], block)
    for need in reported.needs:
        yield f"- `{need.place.text.strip()}` (`{need.place}`) **{need.asks}**"
    for other in others:
        places = [*unnamed(other.places[:1], other.message), other.scenario]
        where = ", ".join(f"`{each}`" for each in places)
        yield f"- same cause: {other.finding.id} {_inline(other.message)} ({where})"
    if reported.fix:
        yield f"- {_inline(reported.fix)}"
    if shown := execution(reported):
        yield ""
        yield "<details><summary>The execution</summary>"
        yield ""
        yield from _fenced([*shown, *filter(None, [reaches(reported), machines(reported)])], "text")
        for need in reported.needs:
            if drawn := other_execution(reported, need):
                yield f"`{need.place}` is too weak, as this execution shows:"
                yield from _fenced(drawn, "text")
        yield ""
        yield "</details>"


def _fenced(lines: list[str], language: str) -> Iterator[str]:
    yield f"```{language}"
    yield from lines
    yield "```"


def _inline(text: str) -> str:
    """The text with Markdown's special characters escaped."""
    return "".join(f"\\{sign}" if sign in "\\`*_<>|[]" else sign for sign in text)


OUTPUT = File("markdown", 5, "Write a summary for a comment on a pull request.", markdown)
