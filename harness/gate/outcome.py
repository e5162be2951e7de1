"""The result of a gate run, as values: every output prints these, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

import msgspec

from weakspot.harness.values.finding import Finding
from weakspot.harness.values.repair import SourceEdit
from weakspot.harness.values.witness import Execution

Status = Literal["fails", "reported", "accepted", "suppressed"]
"""Whether a finding fails the gate, is only reported, is accepted in the baseline, or is suppressed
by a comment in the source."""


BAD_INPUT = ("WS002", "WS003")
"""The findings about the input itself, which always fail: no baseline accepts them."""


def source_of(name: str) -> str:
    """The file of a scenario: its name, but for the test of a crate, which is behind it."""
    return name.partition("::")[0]


class SourceSpan(msgspec.Struct, frozen=True):
    """A word of a source line in the project.

    `file` is relative to the project's folder. `line` and `column` count from 1; `column` is 0 if
    it is not known, and `end` is the first column after the word. `text` is the whole line, empty
    if it cannot be read. `does` describes the operation: `store (rlx)`.
    """

    file: str
    line: int
    column: int = 0
    end: int = 0
    text: str = ""
    function: str = ""
    does: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


class RequiredOrder(msgspec.Struct, frozen=True):
    """An annotation to strengthen; `asks` is short: `needs at least release under rc20`. `witness`
    is an execution that shows why, if that of the finding does not."""

    place: SourceSpan
    asks: str
    witness: Execution | None = None


class ReportedFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A finding of the gate, with its source lines and what is known about it.

    `message` is the finding's without the program's name, which is `scenario`. `places` are its
    source lines, the first where a reader should look; `edits` make the first repair that `fix`
    names, and are empty where it cannot be made safely; `steps` are those of the witness's events,
    None for an event without one. `models` show it; the models in `safe` were checked and do not.
    `test` is the litmus test of the witness's cycle and `shape` its shape; `machines` says, by
    architecture, whether the cycle is possible there. `fingerprint` does not change when lines
    move; `justification` is the reason in the comment that suppresses the finding. Findings with
    one `cause`, a memory order or a cycle, and one status are printed once: the
    others have `is_repeat` set. Texts show a library call as one step unless `unfold` is set.
    """

    finding: Finding
    message: str
    scenario: str
    fingerprint: str
    status: Status = "fails"
    places: tuple[SourceSpan, ...]
    needs: tuple[RequiredOrder, ...] = ()
    edits: tuple[SourceEdit, ...] = ()
    fix: str = ""
    models: tuple[str, ...] = ()
    safe: tuple[str, ...] = ()
    test: str = ""
    shape: str = ""
    machines: dict[str, bool] = {}
    witness: Execution | None = None
    steps: tuple[SourceSpan | None, ...] = ()
    cause: str = ""
    justification: str = ""
    is_repeat: bool = False
    unfold: bool = False

    @property
    def is_hidden(self) -> bool:
        """Whether it is accepted or suppressed."""
        return self.status in ("accepted", "suppressed")

    @property
    def short(self) -> str:
        """The prefix of the fingerprint that `weakspot explain` takes."""
        return self.fingerprint[:8]

    @property
    def place(self) -> SourceSpan:
        """Where to look first: the annotation that is too weak, if it is known."""
        return self.needs[0].place if self.needs else self.places[0]


class ScenarioResult(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario under a model.

    `result` is that of its exploration; for a litmus test, whether it is as the file expects; Error
    for a scenario that cannot be read.
    `unchanged` is set if the answer was stored by an earlier run. `seconds` is the time that
    finding the answer took.
    """

    file: str
    model: str
    result: Literal["Safe", "Violated", "Unknown", "Ok", "No", "Error"]
    reasons: tuple[str, ...] = ()
    executions: int = 0
    seconds: float = 0.0
    unchanged: bool = False

    @property
    def undecided(self) -> str:
        """Why the question was not answered, in one line; empty if it was."""
        if self.result != "Unknown":
            return ""
        return f"{self.file} under {self.model}: {'; '.join(self.reasons) or 'unknown'}"


class AcceptedFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A finding of the baseline. `reason` is written by people and preserved when the baseline is
    rewritten."""

    fingerprint: str
    id: str
    file: str
    function: str
    text: str
    message: str
    reason: str = ""


class Note(msgspec.Struct, frozen=True):
    """What a reader should know of a file, in the rest of a sentence that its name begins."""

    file: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}{self.text}"


class GateOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The whole result of a run.

    `below` is the project's folder relative to its repository, "." at the top. The names of files
    are relative to `folder`, by default the project's; it and the `repository` are absolute. With
    several projects, `projects` are their outcomes by themselves. `stale` are accepted
    findings that no longer exist. `whole` is set if the run covered every scenario of the project.
    `seconds` is the duration of the run. `pages` is the address of the pages on findings, with
    {id} in it, if the project publishes them.
    """

    below: str
    folder: str = ""
    repository: str = ""
    scenarios: tuple[ScenarioResult, ...]
    findings: tuple[ReportedFinding, ...]
    file_notes: tuple[Note, ...] = ()
    stale: tuple[AcceptedFinding, ...] = ()
    baseline: str = ""
    whole: bool = False
    seconds: float = 0.0
    pages: str = ""
    projects: tuple[GateOutcome, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know, one sentence each."""
        return tuple(map(str, self.file_notes))

    def uri(self, place: SourceSpan) -> str:
        """The file's path relative to the repository."""
        path = os.path.relpath(Path(self.folder, place.file), self.repository or None)
        return Path(path).as_posix()

    def unfolded(self) -> GateOutcome:
        """The outcome whose texts show what happens inside library calls."""
        return msgspec.structs.replace(
            self,
            findings=tuple(msgspec.structs.replace(each, unfold=True) for each in self.findings),
            projects=tuple(each.unfolded() for each in self.projects),
        )

    @property
    def failing(self) -> tuple[ReportedFinding, ...]:
        """The findings that fail the gate."""
        return tuple(each for each in self.findings if each.status == "fails")

    @property
    def causes(self) -> tuple[ReportedFinding, ...]:
        """The findings that fail the gate, without those that have the cause of an earlier one."""
        return tuple(each for each in self.failing if not each.is_repeat)

    def alike(self, reported: ReportedFinding) -> tuple[ReportedFinding, ...]:
        """The other findings with the same cause and status."""
        same = (reported.cause, reported.status)
        return tuple(
            each
            for each in self.findings
            if (each.cause, each.status) == same and each is not reported
        )

    @property
    def undecided(self) -> tuple[str, ...]:
        """The questions without an answer, one per line."""
        return tuple(filter(None, (each.undecided for each in self.scenarios)))

    @property
    def unreadable(self) -> frozenset[str]:
        """The scenarios that cannot be read or compiled."""
        return frozenset(each.file for each in self.scenarios if each.result == "Error")

    @property
    def exit_code(self) -> int:
        """2 with bad input, 1 with a failing finding, 3 with an undecided question, else 0."""
        if any(each.finding.id in BAD_INPUT for each in self.findings):
            return 2
        return 1 if self.failing else 3 if self.undecided else 0
