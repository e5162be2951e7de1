"""Jobs: questions as frozen values, each with a key made of everything its answer depends on.

In: programs, tests, models, and the explorer, checker, runner or machine to ask. Out: through a
Sink, one answer per job. A kind of job is a subclass of Job that says which jobs can be performed
together and how; a backend needs to know no kind by name. Keys name the content first (program or
test, then the model), so that an answer about a source or a model that has changed since is not
used.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Protocol, Self

import msgspec

from weakspot.errors import Interrupted
from weakspot.harness.corpus.models import Model
from weakspot.harness.machines import Machine
from weakspot.system.deadline import NEVER, Deadline


class Sink(Protocol):
    """Where a job's answers go."""

    def answered(self, job: Job, answer: object, *, final: bool = True) -> None:
        """Takes the answer of a job as soon as it is known. An answer that is not `final` holds
        for this command only: the job was truncated or lost its machine, and will be asked again.
        """

    def at(self, text: str) -> None:
        """Reports how far the job in progress is."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One question. `key` is made of everything that the answer depends on."""

    key: str

    @property
    def phase(self) -> str:
        """What is being done, for the progress display."""
        raise NotImplementedError

    @property
    def label(self) -> str:
        """Names the tool, for the note about its failure: "herd7 under tso"."""
        return self.phase

    @property
    def machine(self) -> Machine | None:
        """The machine that the job has to itself; None for a job that may share a processor."""
        return None

    @property
    def batch(self) -> Hashable:
        """Consecutive jobs of one batch are performed together, at most `together` at a time."""
        return self.key

    @property
    def kind(self) -> Hashable:
        """Jobs of one kind take about equally long, unless more is known of each."""
        return type(self)

    @property
    def deadline(self) -> Deadline:
        """When the phase of the job has ended."""
        return NEVER

    @property
    def together(self) -> int:
        """How many jobs of a batch may be performed together; 0 for any number."""
        return 0

    @property
    def count(self) -> int:
        """How many questions of the user's the job answers, for the progress display."""
        return 1

    @property
    def is_long(self) -> bool:
        """Whether it takes so long that a worker performs it alone."""
        return False

    @property
    def asked_models(self) -> Iterable[Model]:
        """The models whose files are read while the job is performed."""
        return ()

    @property
    def is_current(self) -> bool:
        """Whether the files that the job reads while it is performed are still those that its key
        names; otherwise its answer is not stored."""
        return all(model.is_current for model in self.asked_models)

    def on_one_core(self) -> Self:
        """The same question for a worker that has no file of the user, and whose machine other jobs
        use at the same time."""
        return self

    def within(self, seconds: float) -> Job:  # noqa: ARG002
        """The same question with at most this much time for its answer. Raises what reading the
        user's files raises, where that is a part of the answer's work."""
        return self

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        """Answer jobs of one batch. Raises MissingTool or ToolFailed where no answer is possible
        this time, and BadInput."""
        raise NotImplementedError


class Search(Protocol):
    """Work whose result so far is known at any time, also after Ctrl-C."""

    def run(self) -> None: ...

    def result(self) -> object: ...


class SearchJob(Job, frozen=True, kw_only=True):
    """A question that searches answer, one after the other. The answer is a tuple of their results;
    after Ctrl-C, with that of the search in progress."""

    def searches(self, report: Callable[[str], None]) -> Iterable[Search]:
        """The searches; `report` gets how far they are."""
        raise NotImplementedError

    @classmethod
    def perform(cls, jobs: Sequence[Self], sink: Sink) -> None:
        for job in jobs:
            found: list[object] = []
            running: Search | None = None
            try:
                for running in job.searches(sink.at):
                    running.run()
                    found.append(running.result())
                    running = None
            except (KeyboardInterrupt, Interrupted):
                left = () if running is None else (running.result(),)
                sink.answered(job, (*found, *left), final=False)
                raise
            sink.answered(job, tuple(found))


class MachineJob(Job, frozen=True, kw_only=True):
    """One question to a machine, which the job has to itself. `end` is when the last job of the
    batch must have ended."""

    on: Machine
    end: Deadline = NEVER

    @property
    def machine(self) -> Machine:
        return self.on

    @property
    def deadline(self) -> Deadline:
        return self.end
