"""Whether checkers, machines and models agree with one another about a test."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from weakspot.generators.emit.c11 import UNREACHED
from weakspot.generators.litmus import Atom
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.record import Entry, Record
from weakspot.harness.values.state import State, normalized, within
from weakspot.harness.values.verdict import Observation, Verdict

if TYPE_CHECKING:
    from weakspot.generators.emit.isa import Mapped


def conclusive(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts that are not Unknown."""
    return tuple(verdict for verdict in verdicts if verdict.observation != "Unknown")


def agreed_observation(record: Record, test: str, model: str) -> Observation | None:
    """The answer that all checkers give for a test under a model.

    Unknown if no checker decided it or if they disagree, None if none was asked. A checker that
    lists states is preferred to one that does not, whose answer is less precise.
    """
    verdicts = record.verdicts_of.get((test, model))
    if not verdicts:
        return None
    decided = sorted(conclusive(verdicts), key=lambda verdict: not verdict.states)
    if not decided or any(contradicts(decided[0], other) for other in decided[1:]):
        return "Unknown"
    return decided[0].observation


def models_by_answer(record: Record, entry: Entry) -> tuple[list[str], list[str], list[str]]:
    """The models that allow a test's outcome, that forbid it, and that flag a data race."""
    allowed, forbidden, racy = [], [], []
    for model in entry.models:
        match agreed_observation(record, entry.name, model):
            case "Sometimes" | "Always":
                allowed.append(model)
            case "Never":
                forbidden.append(model)
            case "Undefined":
                racy.append(model)
            case _:
                pass
    return allowed, forbidden, racy


def contradicts(one: Verdict, other: Verdict) -> bool:
    """Whether two verdicts on one test under one model cannot both be right.

    Unknown contradicts nothing. A checker that lists no states, such as CBMC, only reports whether
    the outcome can be reached, and does not detect data races.
    """
    if "Unknown" in (one.observation, other.observation):
        return False
    if one.states and other.states:
        if one.observation != other.observation:
            return True
        return one.observation != "Undefined" and not _same_states(one.states, other.states)
    if "Undefined" in (one.observation, other.observation):
        return False
    return (one.observation == "Never") != (other.observation == "Never")


def distinguishing_tests(record: Record) -> tuple[str, ...]:
    """The tests that two models answer differently: in observation, states or data races."""
    decided: dict[str, list[Verdict]] = {}
    for (test, _), verdicts in record.verdicts_of.items():
        best = min(conclusive(verdicts), key=lambda each: not each.states, default=None)
        if best is not None:
            decided.setdefault(test, []).append(best)
    return tuple(
        test
        for test, (first, *others) in decided.items()
        if any(contradicts(first, other) for other in others)
    )


def distinguishing_programs(record: Record) -> tuple[Exploration, ...]:
    """The explorations of programs that are Safe under one model and Violated under another."""
    return tuple(
        each
        for given in record.explorations_of.values()
        if {"Safe", "Violated"} <= {each.result for each in given}
        for each in given
    )


def _same_states(one: Sequence[State], other: Sequence[State]) -> bool:
    common = set(normalized(one[0])) & set(normalized(other[0]))

    def seen(states: Sequence[State]) -> set[tuple[tuple[str, str], ...]]:
        return {
            tuple(sorted((n, v) for n, v in normalized(state).items() if n in common))
            for state in states
        }

    return seen(one) == seen(other)


def in_source_names(made: Mapped, states: Iterable[State]) -> list[State]:
    """The states of a mapped test, with the register names of the C test that it comes from.

    Values are read as 32-bit ints.
    """
    names = {f"{t}:{register}": f"{t}:{name}" for (t, name), register in made.registers.items()}
    return [
        {names.get(name, name): _int(value) for name, value in normalized(state).items()}
        for state in states
    ]


def states_beyond(
    made: Mapped,
    machine: Iterable[State],
    language: Iterable[State],
    taken: Sequence[Atom] | None = None,
) -> list[State]:
    """The states of a mapped test that a machine's model allows and the language's model does not
    allow for its C test.

    Registers that the mapped test does not name may hold anything. If the mapped test follows one
    path only, the one `taken` with these values, states that do not reach its end are left out.
    """
    found = in_source_names(made, machine)
    if taken is not None:
        found = [state for state in found if _ended(state, taken)]
    named = {name for state in found for name in state}
    allowed = [
        {name: value for name, value in state.items() if name in named}
        for state in in_source_names(msgspec.structs.replace(made, registers={}), language)
    ]
    return [state for state in found if state not in allowed]


def _ended(state: State, taken: Sequence[Atom]) -> bool:
    reached = all(int(value) != UNREACHED for name, value in state.items() if ":" in name)
    return reached and all(
        state.get(f"{atom.thread}:{atom.name}", str(atom.value)) == str(atom.value)
        for atom in taken
    )


def _int(value: str) -> str:
    try:
        number = int(value)
    except ValueError:
        return value
    return str(((number & 0xFFFFFFFF) ^ 0x80000000) - 0x80000000)


def states_seen_by_one_runner(
    histograms: Iterable[Histogram],
) -> dict[tuple[str, str], list[State]]:
    """By machine and runner, the states of a test that no other runner on that machine observed.

    This is no error: an outcome that was not observed may be possible.
    """
    ran = [each for each in histograms if each.iterations]
    found: dict[tuple[str, str], list[State]] = {}
    for one in ran:
        others = [
            count.state
            for other in ran
            if other.runner != one.runner and other.machine == one.machine
            for count in other.histogram
        ]
        alone = [c.state for c in one.histogram if c.count and not within(c.state, others)]
        if others and alone:
            found[one.machine, one.runner] = alone
    return found
