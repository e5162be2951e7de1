"""Questions asked round by round: those of a plan, then those that follow from their answers.

In: a store, an executor. Out: answers in the store. A Campaign asks what a plan names so, and the
gate what the configuration of a project does.
"""

from __future__ import annotations

from collections.abc import Sequence

from weakspot.harness.campaign.executor import Events, Executor, ask
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.plan import Jobs, Skipped
from weakspot.harness.campaign.progress import Progress, Stopwatch
from weakspot.harness.campaign.store import Store
from weakspot.harness.campaign.time_left import Known
from weakspot.system.deadline import NEVER, Deadline


class Rounds(Events):
    """Asks what is due until nothing is. `known` are the seconds of jobs, for the progress."""

    def __init__(
        self, store: Store, executor: Executor, progress: Progress, known: Known = lambda _: None
    ) -> None:
        self._answers, self._executor, self._known = store, executor, known
        self.progress = Stopwatch(progress)

    def due(self) -> Jobs:
        """The next round, which depends on the answers so far; empty at the end."""
        raise NotImplementedError

    def skip(self, skipped: Sequence[Skipped]) -> None:
        """Takes the questions of a round that cannot be asked."""
        raise NotImplementedError

    def ask_due(self) -> None:
        """Ask round after round. Raises what `ask` raises."""
        while (due := self.due()).jobs or due.skipped:
            self.ask_round(due.jobs)
            self.skip(due.skipped)

    def ask_round(self, jobs: Sequence[Job]) -> None:
        """Ask the jobs of a round."""
        self.ask(jobs)

    def ask(
        self, jobs: Sequence[Job], executor: Executor | None = None, *, end: Deadline = NEVER
    ) -> None:
        """Have the jobs performed whose answers are not stored, by the end. Raises Stopped on
        Ctrl-C, and what `failed` raises."""
        try:
            ask(
                jobs,
                self._answers,
                executor or self._executor,
                progress=self.progress,
                events=self,
                known=self._known,
                end=end,
            )
        finally:
            self.progress.stop()
