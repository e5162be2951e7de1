"""The gate as Markdown: the summary for a comment on a pull request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from weakspot.harness.gate.outcome import Outcome, Told
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.report.gate import amount, closing, execution, machines, reaches
from weakspot.harness.report.outputs import File

_LANGUAGES = {".c": "c", ".h": "c", ".litmus": "text"}


def markdown(outcome: Outcome) -> bytes:
    """The file's content."""
    return "\n".join([*_lines(outcome), ""]).encode()


def _lines(outcome: Outcome) -> Iterator[str]:
    failing = len(outcome.failing)
    head = amount(failing, "finding") if failing else "nothing found"
    if not failing and outcome.undecided:
        head = f"{len(outcome.undecided)} undecided"
    yield f"### weakspot: {head}"
    for told in outcome.told:
        if told.status != "accepted" and not told.again:
            yield ""
            yield from _finding(told)
    if outcome.undecided:
        yield ""
        yield from (f"- undecided: {_inline(text)}" for text in outcome.undecided)
    for stale in outcome.stale:
        yield f"- no longer there, but still in the baseline: {stale.id} in `{stale.file}`"
    yield ""
    yield "| scenario | model | result |"
    yield "|---|---|---|"
    for each in outcome.scenarios:
        yield f"| `{each.file}` | {each.model} | {each.result} |"
    yield ""
    yield closing(outcome)


def _finding(told: Told) -> Iterator[str]:
    place = told.place
    title = KINDS[told.finding.id].title
    told_only = "" if told.status == "fails" else " (does not fail)"
    yield f"**{told.finding.id} {title}**{told_only} in `{told.scenario}` under {told.models[0]}"
    yield ""
    yield f"{_inline(told.message)}, at `{place}`:"
    yield ""
    yield from _fenced(
        [place.text.strip()], _LANGUAGES.get(PurePosixPath(place.file).suffix, "cpp")
    )
    for need in told.needs:
        yield f"- `{need.place.text.strip()}` (`{need.place}`) **{need.asks}**"
    if told.fix:
        yield f"- {_inline(told.fix)}"
    if shown := execution(told):
        yield ""
        yield "<details><summary>The execution</summary>"
        yield ""
        yield from _fenced([*shown, *filter(None, [reaches(told), machines(told)])], "text")
        yield ""
        yield "</details>"


def _fenced(lines: list[str], language: str) -> Iterator[str]:
    yield f"```{language}"
    yield from lines
    yield "```"


def _inline(text: str) -> str:
    """Text that Markdown takes as it is."""
    return "".join(f"\\{sign}" if sign in "\\`*_<>|[]" else sign for sign in text)


OUTPUT = File("markdown", 5, "Write a summary for a comment on a pull request.", markdown)
