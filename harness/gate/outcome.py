"""What the gate found, as values: every output is made of these, and nothing else."""

from __future__ import annotations

import posixpath
from typing import Literal

import msgspec

from weakspot.harness.values.finding import Finding
from weakspot.harness.values.witness import Execution

Status = Literal["fails", "told", "accepted"]


class Place(msgspec.Struct, frozen=True):
    """A place in the project. `file` is relative to the project's folder; `line` counts from 1,
    `column` too, 0 where it is not known, and `end` is the first column after it. `text` is the
    line itself, empty where it cannot be read; `does` says what stands there: `store (rlx)`."""

    file: str
    line: int
    column: int = 0
    end: int = 0
    text: str = ""
    function: str = ""
    does: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f":{self.column}" if self.column else "")


class Need(msgspec.Struct, frozen=True):
    """An annotation to strengthen: `asks` is short, `needs at least release under rc11`."""

    place: Place
    asks: str


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """A finding as the gate tells it.

    `message` is the finding's without the program's name, which is `scenario`. `places` are the
    finding's, the first where a reader should look; `steps` are those of the witness's events,
    None for an event without one. `models` show it, `safe` are models that were asked and do not.
    `test` is the litmus test of the witness's cycle, `shape` its family,
    `machines` whether it can come about on a kind of machine.
    `fingerprint` stays the same where lines move. Findings of one `cause`, an order or a cycle,
    are told once, where they have one status: the others are `again`.
    """

    finding: Finding
    message: str
    scenario: str
    fingerprint: str
    status: Status
    places: tuple[Place, ...]
    needs: tuple[Need, ...] = ()
    fix: str = ""
    models: tuple[str, ...] = ()
    safe: tuple[str, ...] = ()
    test: str = ""
    shape: str = ""
    machines: dict[str, bool] = {}
    witness: Execution | None = None
    steps: tuple[Place | None, ...] = ()
    cause: str = ""
    again: bool = False

    @property
    def short(self) -> str:
        """The fingerprint as a person types it."""
        return self.fingerprint[:8]

    @property
    def place(self) -> Place:
        """Where to look first: at the annotation that is too weak, if it is known."""
        return self.needs[0].place if self.needs else self.places[0]


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """A scenario under a model. `result` is that of its exploration, or of a litmus test whether
    it is as it expects. `unchanged` when the answer was kept from an earlier run."""

    file: str
    model: str
    result: Literal["Safe", "Violated", "Unknown", "Ok", "No"]
    reasons: tuple[str, ...] = ()
    executions: int = 0
    seconds: float = 0.0
    unchanged: bool = False

    @property
    def undecided(self) -> str:
        """What was asked and not answered, in a line."""
        if self.result != "Unknown":
            return ""
        return f"{self.file} under {self.model}: {'; '.join(self.reasons) or 'unknown'}"


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """A finding of the baseline. `reason` is for people, and kept when the baseline is written
    anew."""

    fingerprint: str
    id: str
    file: str
    function: str
    text: str
    message: str
    reason: str = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """All of a run. `below` is where the project's folder is in its repository, "." at its top;
    `stale` are accepted findings that are no longer there."""

    below: str
    scenarios: tuple[Scenario, ...]
    told: tuple[Told, ...]
    notes: tuple[str, ...] = ()
    stale: tuple[Accepted, ...] = ()
    baseline: str = ""
    seconds: float = 0.0

    def uri(self, place: Place) -> str:
        """The place's file as the repository's host knows it."""
        return posixpath.normpath(posixpath.join(self.below, place.file))

    @property
    def failing(self) -> tuple[Told, ...]:
        return tuple(each for each in self.told if each.status == "fails")

    def alike(self, told: Told) -> tuple[Told, ...]:
        """The other findings of the same cause, as far as they are treated alike."""
        return tuple(
            each
            for each in self.told
            if (each.cause, each.status) == (told.cause, told.status) and each is not told
        )

    @property
    def undecided(self) -> tuple[str, ...]:
        return tuple(filter(None, (each.undecided for each in self.scenarios)))

    @property
    def exit_code(self) -> int:
        """1 with a finding that fails; 3 with something undecided; else 0."""
        return 1 if self.failing else 3 if self.undecided else 0
