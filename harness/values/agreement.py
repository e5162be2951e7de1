"""Whether answers agree: verdicts with one another, and states that were seen with verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from weakspot.generators.emit.c11 import UNREACHED
from weakspot.generators.litmus import Atom
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.record import Record
from weakspot.harness.values.state import State, normalized, within
from weakspot.harness.values.verdict import Observation, Verdict

if TYPE_CHECKING:
    from weakspot.generators.emit.isa import Mapped


def conclusive(verdicts: Iterable[Verdict]) -> tuple[Verdict, ...]:
    """The verdicts that decide something."""
    return tuple(verdict for verdict in verdicts if verdict.observation != "Unknown")


def agreed_observation(record: Record, test: str, model: str) -> Observation | None:
    """The one answer of all checkers; Unknown when none decided or when they disagree; None when
    nobody was asked. A checker that lists states says more than one that does not."""
    verdicts = record.verdicts_of.get((test, model))
    if not verdicts:
        return None
    decided = sorted(conclusive(verdicts), key=lambda verdict: not verdict.states)
    if not decided or any(contradicts(decided[0], other) for other in decided[1:]):
        return "Unknown"
    return decided[0].observation


def contradicts(one: Verdict, other: Verdict) -> bool:
    """Whether two verdicts on one test under one model cannot both be right.

    Unknown contradicts nothing. A checker that lists no states, as CBMC does not, only says
    whether the outcome can be reached, and knows nothing of races.
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


def _same_states(one: Sequence[State], other: Sequence[State]) -> bool:
    common = set(normalized(one[0])) & set(normalized(other[0]))

    def seen(states: Sequence[State]) -> set[tuple[tuple[str, str], ...]]:
        return {
            tuple(sorted((n, v) for n, v in normalized(state).items() if n in common))
            for state in states
        }

    return seen(one) == seen(other)


def in_source_names(made: Mapped, states: Iterable[State]) -> list[State]:
    """States of a test in assembly, in the registers of the C test that it is of; values are ints
    of 32 bits."""
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
    """The states that a machine allows of a test in assembly, and the language does not of the C
    test that it is of; where the assembly does not tell of a register, whatever it holds. Of
    assembly of one way only, that which is `taken` with these values, states are left out in which
    it did not go to its end."""
    found = in_source_names(made, machine)
    if taken is not None:
        found = [state for state in found if _ended(state, taken)]
    told = {name for state in found for name in state}
    allowed = [
        {name: value for name, value in state.items() if name in told}
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
    """By machine and runner, the states of a test that this runner alone saw among those that ran
    the test on that machine. No fault: what is not seen is not impossible."""
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
