"""Verdict: what a checker answers for a Test under a Model. Its JSON form is a contract."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from weakspot.harness.values.state import State
from weakspot.harness.values.witness import Witness, WitnessEvent

Observation = Literal["Never", "Sometimes", "Always", "Undefined", "Unknown"]


ReasonKind = Literal["", "loop", "unread"]
"""What a program has to know of the reason of a verdict: that a loop was not followed completely,
or that the checker cannot read the test."""


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """A checker's answer for a Test under a Model.

    `observation` says whether the condition's proposition holds in no, some or all executions, in
    herd7's words. It is Undefined if the model flags a data race, and Unknown if a limit was
    reached or the checker cannot read the test (`reason` says which). `condition_holds` is herd7's
    Ok or No, None when unknown. `states` is empty for a checker that does not enumerate (CBMC).
    `witnesses` counts the executions that satisfy and that do not satisfy the proposition, None if
    the checker does not count. `witness` is an execution with the condition's outcome, a forbidden
    one if no other exists; `forbidden_by` counts, per axiom, the candidate executions with that
    outcome that this axiom is the first to forbid. `seconds` is the time the checker took.
    """

    test: str
    model: str
    checker: str
    observation: Observation
    condition_holds: bool | None
    states: tuple[State, ...] = ()
    flags: tuple[str, ...] = ()
    seconds: float = 0.0
    sites: tuple[str, ...] = ()
    condition: str = ""
    witnesses: tuple[int, int] | None = None
    reason: str = ""
    hash: str = ""  # herd7's digest of the parsed test, if the checker gives one
    witness: Witness | None = None
    forbidden_by: dict[str, int] = {}
    reason_kind: ReasonKind = ""

    @property
    def unread(self) -> str:
        """Why the checker cannot read the test, with the place; empty for any other verdict."""
        if self.reason_kind != "unread":
            return ""
        return self.reason.removeprefix(cannot_read(self.checker))


class PrintedVerdict(msgspec.Struct, frozen=True):
    """A Verdict, perhaps without its states and flags, and its printed form."""

    verdict: Verdict
    text: str


def cannot_read(checker: str) -> str:
    """How the reason of a verdict on a test begins that the checker cannot read."""
    return f"the {checker} cannot read it: "


class Shared:
    """Replaces parts of verdicts by equal parts of those before. The witnesses of many tests
    consist of the same few events: this saves most of the memory that many verdicts take."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}
        self._states: dict[tuple[tuple[str, str], ...], State] = {}
        self._events: dict[WitnessEvent, WitnessEvent] = {}
        self._edges: dict[tuple[object, ...], Any] = {}

    def __call__(self, verdict: Verdict) -> Verdict:
        texts, edges, witness = self._texts, self._edges, verdict.witness
        if witness is not None:
            witness = msgspec.structs.replace(
                witness,
                events=tuple([self._events.setdefault(each, each) for each in witness.events]),
                rf=edges.setdefault(witness.rf, witness.rf),
                co=edges.setdefault(witness.co, witness.co),
                fr=edges.setdefault(witness.fr, witness.fr),
                cycle=edges.setdefault(witness.cycle, witness.cycle),
                state=self._state(witness.state),
            )
        return msgspec.structs.replace(
            verdict,
            test=texts.setdefault(verdict.test, verdict.test),
            model=texts.setdefault(verdict.model, verdict.model),
            checker=texts.setdefault(verdict.checker, verdict.checker),
            condition=texts.setdefault(verdict.condition, verdict.condition),
            hash=texts.setdefault(verdict.hash, verdict.hash),
            states=tuple([self._state(each) for each in verdict.states]),
            witness=witness,
        )

    def _state(self, state: State) -> State:
        return self._states.setdefault(tuple(state.items()), state)
