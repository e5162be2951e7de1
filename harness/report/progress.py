"""Progress on stderr: a bar for a person, one line per phase for a log."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from weakspot.harness.campaign.progress import Left, LogClock, Quiet
from weakspot.harness.report.terminal import console
from weakspot.system.durations import duration_text


class _Bar(Progress):
    """A bar, and below it how far the job in progress is, on as many lines as that needs."""

    detail = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.detail:
            # wrapped, although what the console prints is not
            yield Text(self.detail, style="dim", no_wrap=False, overflow="fold")


class _LeftColumn(ProgressColumn):
    """The time that is left of a phase."""

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        return Text(_left_text(task.fields.get("left")), style="progress.remaining")


def _left_text(left: Left | None) -> str:
    """ "about 30 s left"; empty if that is not known."""
    found = left and left()
    if not found:
        return ""
    return f"{'about' if found.complete else 'more than'} {duration_text(found.seconds)} left"


class RichProgress:
    """Progress as a bar that disappears when it is done; a context manager."""

    def __init__(self, out: Console) -> None:
        self._progress = _Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=32),
            MofNCompleteColumn(),
            _LeftColumn(),
            console=out,
            transient=True,
        )
        self._task = None if not out.is_terminal else self._progress.add_task("", visible=False)

    def __enter__(self) -> RichProgress:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def start(self, total: int, what: str, left: Left | None = None) -> None:
        if self._task is not None:
            # a new task: reset() takes a total of None for the one there was
            self._progress.remove_task(self._task)
            self._task = self._progress.add_task(what, total=total or None, left=left)
            self._progress.detail = ""

    def advance(self, count: int = 1) -> None:
        if self._task is not None:
            self._progress.advance(self._task, count)

    def at(self, text: str) -> None:
        if self._task is not None:
            self._progress.detail = text

    def message(self, text: str) -> None:
        self._progress.console.print(text, style="dim", markup=False)

    @contextlib.contextmanager
    def pause(self) -> Iterator[None]:
        self._progress.stop()
        try:
            yield
        finally:
            self._progress.start()


class PlainProgress(Quiet):
    """Progress for a log: one line per phase, the messages, and now and then how far the phase is;
    a context manager."""

    def __init__(self, out: Console) -> None:
        self._out, self._clock = out, LogClock()
        self._phase, self._total, self._done = "", 0, 0
        self._left: Left | None = None
        self._detail = ""

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def start(self, total: int, what: str, left: Left | None = None) -> None:
        self._phase, self._total, self._done, self._detail = what, total, 0, ""
        self._left = left
        self._out.print(f"{what}: {total:,}" if total else what, markup=False)

    def advance(self, count: int = 1) -> None:
        self._done += count
        self._print_if_due()

    def at(self, text: str) -> None:
        self._detail = text
        self._print_if_due()

    def _print_if_due(self) -> None:
        if not self._clock.is_due():
            return
        of = f" of {self._total:,}" if self._total else ""
        left = f", {text}" if (text := _left_text(self._left)) else ""
        detail = f"; {self._detail}" if self._detail else ""
        self._out.print(f"{self._phase}: {self._done:,}{of}{left}{detail}", markup=False)

    def message(self, text: str) -> None:
        self._out.print(text, markup=False)


def progress() -> RichProgress | PlainProgress:
    """The progress that suits stderr; standard output stays free for a pipe."""
    out = console(sys.stderr)
    return RichProgress(out) if out.is_terminal else PlainProgress(out)
