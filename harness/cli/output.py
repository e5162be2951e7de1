"""What commands print, and how they show that they are at work."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from weakspot.harness.cli.errors import on_interrupt

if TYPE_CHECKING:
    import msgspec
    from rich.console import Console

    from weakspot.answers import Answers
    from weakspot.harness.campaign.progress import PausableProgress
    from weakspot.harness.values.record import Record
    from weakspot.harness.values.verdict import Verdict
    from weakspot.projects import Results

T = TypeVar("T")


def write_lines(lines: Iterable[str], end: str = "\n") -> None:
    for line in lines:
        sys.stdout.write(f"{line}{end}")


def write_wrapped(lines: Iterable[str]) -> None:
    """Print lines for a person: in a terminal not wider than it is, indented from the second on."""
    if not sys.stdout.isatty():
        write_lines(lines)
        return
    width = shutil.get_terminal_size().columns
    for line in "\n".join(lines).split("\n"):
        indent = " " * (len(line) - len(line.lstrip()) + 2)
        parts = textwrap.wrap(line, width, subsequent_indent=indent, break_on_hyphens=False)
        write_lines(parts or [""])


def json_lines(values: Iterable[msgspec.Struct]) -> Iterator[str]:
    """Verdicts, explorations, histograms or findings, one JSON object per line."""
    import msgspec

    for value in values:
        yield msgspec.json.encode(value).decode()


def write_answers(
    values: Iterable[msgspec.Struct], as_json: bool, show: Callable[[Console], object]
) -> None:
    """Print values as JSON lines, or have `show` print them for a person."""
    if as_json:
        write_lines(json_lines(values))
        return
    from weakspot.harness.report import terminal

    show(terminal.console())


def results_folder() -> Path:
    """Where campaigns are written by default."""
    from weakspot.harness.campaign.folder import RESULTS

    return Path(os.environ.get("WEAKSPOT_RESULTS") or RESULTS)


@contextlib.contextmanager
def progress_bar(*, phases: bool = False) -> Iterator[PausableProgress]:
    """Progress: a bar on a terminal; else messages and a line every half a minute, with `phases`
    also one for each phase."""
    from weakspot.harness.campaign.progress import Log

    if sys.stderr.isatty():
        from weakspot.harness.report import progress

        with progress.progress() as bar:
            yield bar
    else:
        yield Log(phases=phases)


def one_by_one(
    ask: Callable[[PausableProgress], Results[T]], show: Callable[[T], None], says: str
) -> tuple[list[T], Results[T]]:
    """Show each result as soon as it is found, and at the end which programs of a folder could not
    be read, if any; after Ctrl-C, the message `says` what became of what was found. Returns the
    results that were found, and what they came from."""
    found: list[T] = []
    with progress_bar() as progress:
        results = ask(progress)
        with on_interrupt(says, is_empty=lambda: not found):
            for each in results:
                found.append(each)
                with progress.pause():
                    show(each)
    write_unread(results.unread)
    return found, results


def waited(
    answers: Answers[T],
    says: str,
    show: Callable[[Record], None],
    progress: PausableProgress,
) -> Record:
    """The record when all is answered. After Ctrl-C, what is known is shown, and the message `says`
    so."""

    def show_and_pause() -> None:
        with progress.pause():
            show(answers.record)

    with on_interrupt(says, show_and_pause):
        return answers.wait(progress)


class UnreadTests:
    """The tests that cannot be read. All verdicts on a test are added at once."""

    def __init__(self) -> None:
        self._asked, self._reasons = 0, dict[str, str]()

    def add(self, verdicts: Iterable[Verdict]) -> None:
        reasons: dict[str, set[str]] = {}
        for verdict in verdicts:
            reasons.setdefault(verdict.test, set()).add(verdict.unread)
        self._asked += len(reasons)
        for test, found in reasons.items():
            if "" not in found:
                self._reasons[test] = min(found)

    def __bool__(self) -> bool:
        return bool(self._reasons)

    def lines(self) -> list[str]:
        """How many tests cannot be read, then the reason and the place of each."""
        if not self:
            return []
        count = f"{len(self._reasons)} of {self._asked} tests cannot be read:"
        return [count, *(f"  {test}: {reason}" for test, reason in self._reasons.items())]


def write_unread(unread: Mapping[str, str]) -> None:
    """Print on stderr which programs of a folder cannot be read."""
    write_aside(f"{name} cannot be read: {why}" for name, why in unread.items())


def write_aside(lines: Iterable[str]) -> None:
    """Print lines on stderr."""
    for line in lines:
        sys.stderr.write(f"{line}\n")


def print_findings(record: Record, *, aside: bool, unfold: bool = False) -> int:
    """Print the findings, on stderr if `aside`, and return the exit code. `unfold`: with what
    happens inside libraries."""
    from weakspot.harness.judge import findings
    from weakspot.harness.judge.kinds import KINDS

    # an error of which little is certain, such as one that an emulator shows, is not printed here
    usual = ("error", *(each.id for each in KINDS.values() if each.severity == "warning"))
    printed = [
        each
        for each in record.findings
        if {each.severity, each.id} & {*usual} and not each.recorded
    ]
    if printed:
        from weakspot.harness.report import findings as report
        from weakspot.harness.report import terminal

        out = terminal.console(sys.stderr if aside else sys.stdout)
        report.findings(record, printed, out, unfold=unfold)
    return findings.exit_code(record)
