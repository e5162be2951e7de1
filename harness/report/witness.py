"""A witness as text: a column a thread, reads-from as arrows where two columns meet, and below
what the columns cannot show; the places of its events are those of its drawing. An event begins
with its line of source, where that is known."""

from __future__ import annotations

import itertools
from collections import defaultdict

from weakspot.harness.values.descriptions import describe_event
from weakspot.harness.values.state import state_text
from weakspot.harness.values.verdict import Verdict
from weakspot.harness.values.witness import Execution, Witness, WitnessEvent

_GAP = "      "
_RIGHT, _LEFT = " ─rf→ ", " ←rf─ "


def told(verdict: Verdict) -> list[str]:
    """What forbids the outcome, or that it is possible; nothing when nobody looked."""
    if verdict.forbidden_by:
        lines = [f"forbidden by: {killers(verdict.forbidden_by)}"]
        if verdict.witness is not None:
            lines.append(f"a candidate execution that {verdict.witness.axiom} forbids:")
        return lines
    if verdict.witness is None:
        if verdict.observation in ("Never", "Always"):
            return ["no candidate execution has the outcome: its values cannot come about"]
        return []
    if verdict.observation == "Undefined":
        return ["an execution without a defined meaning:"]
    return ["an execution with the outcome:"]


def killers(forbidden_by: dict[str, int]) -> str:
    """`coherence 3, observation 5`, the busiest first."""
    busiest = sorted(forbidden_by.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{axiom} {count}" for axiom, count in busiest)


def columns(witness: Witness | None) -> list[str]:
    """The execution in thread columns, then its remaining edges, its cycle and its end."""
    if witness is None:
        return []
    place = places(witness)
    width = 1 + max((column for column, _ in place.values()), default=0)
    height = 1 + max((row for _, row in place.values()), default=0)
    cells = [[""] * width for _ in range(height)]
    for number, (column, row) in place.items():
        event = witness.events[number]
        cells[row][column] = f"{event.label}  {described(event)}"
    gutters = [[_GAP] * width for _ in range(height)]
    drawn = set()
    for source, target in witness.rf:
        if source not in place or target not in place:
            continue
        (left, row), (right, below) = place[source], place[target]
        if row != below or abs(left - right) != 1:
            continue
        gutters[row][min(left, right)] = _RIGHT if left < right else _LEFT
        drawn.add((source, target))
    heads = [_head(witness, place, column) for column in range(width)]
    widths = [max(len(heads[at]), *(len(row[at]) for row in cells)) for at in range(width)]
    lines = [_GAP.join(map(str.ljust, heads, widths)).rstrip()]
    for texts, arrows in zip(cells, gutters, strict=True):
        line = ""
        for cell, size, arrow in zip(texts, widths, arrows, strict=True):
            room = size - len(cell)
            # an arrow to the right begins at the text
            line += f"{cell} {'─' * room}─rf→ " if arrow == _RIGHT else cell + " " * room + arrow
        lines.append(line.rstrip())
    return [*lines, *_notes(witness, drawn)]


def places(witness: Witness) -> dict[int, tuple[int, int]]:
    """Column and row of each event that has a thread: a column a thread, program order downward,
    a read no higher than the write that it sees where all reads can be."""
    threads: defaultdict[int, list[int]] = defaultdict(list)
    for number, event in enumerate(witness.events):
        if event.thread is not None:
            threads[event.thread].append(number)
    column = {thread: at for at, thread in enumerate(sorted(threads))}
    simple = {n: row for numbers in threads.values() for row, n in enumerate(numbers)}
    rows = dict(simple)
    for _ in range(len(rows) + 1):
        before = dict(rows)
        for numbers in threads.values():
            for above, below in itertools.pairwise(numbers):
                rows[below] = max(rows[below], rows[above] + 1)
        for source, target in witness.rf:
            if source in rows and target in rows:
                rows[target] = max(rows[target], rows[source])
        if rows == before:
            break
    else:
        rows = simple  # some read sees a write that comes after it
    return {
        number: (column[thread], rows[number])
        for thread, numbers in threads.items()
        for number in numbers
    }


def described(event: WitnessEvent) -> str:
    """`store x = 1 (rel)`, with its site `queue.h:57 store x = 1 (rel)`"""
    return f"{event.site} {describe_event(event)}" if event.site else describe_event(event)


def _head(witness: Witness, place: dict[int, tuple[int, int]], column: int) -> str:
    number = next(number for number, (at, _) in place.items() if at == column)
    thread = witness.events[number].thread
    assert thread is not None
    return heading(witness, thread)


def heading(witness: Witness, thread: int) -> str:
    """P0, or of a program the function that the thread runs."""
    if isinstance(witness, Execution) and thread < len(witness.functions):
        return witness.functions[thread]
    return f"P{thread}"


def _notes(witness: Witness, drawn: set[tuple[int, int]]) -> list[str]:
    events = witness.events
    notes = []
    for source, target in witness.rf:
        if (source, target) in drawn:
            continue
        if events[source].thread is None:
            notes.append(
                f"{events[target].label} reads the initial value of {events[target].location}"
            )
        else:
            notes.append(f"{events[target].label} reads from {events[source].label}")
    notes += [
        f"{events[b].location}: {events[a].label} is overwritten by {events[b].label}"
        for a, b in witness.co
        if events[a].thread is not None
    ]
    if isinstance(witness, Execution):
        notes += _wrong(witness)
    if witness.cycle:
        start = events[witness.cycle[0][0]]
        steps = "".join(f" ─{kind}→ {_name(events[to])}" for _, to, kind in witness.cycle)
        notes.append(f"cycle: {_name(start)}{steps}")
    elif not isinstance(witness, Execution) or witness.conflict is None:
        notes.append("no cycle: the threads simply take turns")
    if witness.state:
        notes.append(f"final state: {state_text(witness.state)}")
    return notes


def _wrong(witness: Execution) -> list[str]:
    """What goes wrong at the end of a program's execution."""
    notes = []
    if witness.conflict is not None:
        one, other = (_name(witness.events[number]) for number in witness.conflict)
        notes.append(f"{one} and {other} race: nothing orders them")
    for wait in witness.waits:
        who = heading(witness, wait.thread)
        notes.append(f"{who} waits at {wait.site} for {wait.what}, which does not come")
    return notes


def _name(event: WitnessEvent) -> str:
    return event.label or f"initial {event.location}"
