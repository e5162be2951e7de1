"""Progress on stderr, as a bar for a person."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
from rich.text import Text

from weakspot.harness.campaign.progress import Left
from weakspot.harness.report.terminal import console


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
        left: Left | None = task.fields.get("left")
        return Text(str((left and left()) or ""), style="progress.remaining")


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
        self._task = self._progress.add_task("", visible=False)

    def __enter__(self) -> RichProgress:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def start(self, total: int, what: str, left: Left | None = None) -> None:
        # a new task: reset() takes a total of None for the one there was
        self._progress.remove_task(self._task)
        self._task = self._progress.add_task(what, total=total or None, left=left)
        self._progress.detail = ""

    def advance(self, count: int = 1) -> None:
        self._progress.advance(self._task, count)

    def at(self, text: str) -> None:
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


def progress() -> RichProgress:
    """The progress on stderr, a terminal; standard output stays free for a pipe."""
    return RichProgress(console(sys.stderr))
