"""A witness as text: one column per thread, with reads-from as arrows between adjacent columns.

Below the columns stand the edges that they cannot show, the cycle, and the final state. An event
begins with its source line if that is known. `layers` is the layout, which drawings share.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from weakspot.generators.litmus import of_library
from weakspot.harness.report import lost_wakeups
from weakspot.harness.report.folding import folded
from weakspot.harness.values.descriptions import describe_event
from weakspot.harness.values.numbers import amount
from weakspot.harness.values.state import state_text
from weakspot.harness.values.verdict import Verdict
from weakspot.harness.values.witness import Execution, Witness, WitnessEvent, is_at

_GAP = "      "
_RIGHT, _LEFT = " ─rf→ ", " ←rf─ "


def short_name(file: str) -> str:
    """The last part of a file's name, as `<name>` for one of the library."""
    name = PurePosixPath(file).name
    return f"<{name}" if of_library(file) and not of_library(name) else name


def shortened(witness: Witness) -> Witness:
    """The witness with file names instead of paths where they are unambiguous."""
    waits = witness.waits if isinstance(witness, Execution) else ()
    sites = (*(each.site for each in witness.events), *(each.site for each in waits))
    files = {site.rpartition(":")[0] for site in sites}
    names = Counter(map(short_name, files))

    def short(site: str) -> str:
        file, _, line = site.rpartition(":")
        name = short_name(file)
        return f"{name}:{line}" if names[name] == 1 and name else site

    events = tuple(msgspec.structs.replace(each, site=short(each.site)) for each in witness.events)
    if not isinstance(witness, Execution):
        return msgspec.structs.replace(witness, events=events)
    return msgspec.structs.replace(
        witness,
        events=events,
        waits=tuple(msgspec.structs.replace(each, site=short(each.site)) for each in waits),
    )


def readable(witness: Execution, places: Sequence[str] = (), *, unfold: bool = False) -> Witness:
    """The witness with short file names, and library calls as one event each unless `unfold`; none
    that has an event at one of these places."""
    if unfold:
        return shortened(witness)
    keep = [
        number
        for number, each in enumerate(witness.events)
        if any(is_at(each.site, place) for place in places)
    ]
    return shortened(folded(witness, keep.__contains__)[0])


def explanation(verdict: Verdict) -> list[str]:
    """Which axioms forbid the outcome, or that an execution has it; empty without a witness."""
    if verdict.forbidden_by:
        lines = [forbidding_axioms(verdict)]
        if verdict.witness is not None:
            lines.append(f"a candidate execution that axiom `{verdict.witness.axiom}` forbids:")
        return lines
    if verdict.witness is None:
        if verdict.observation in ("Never", "Always"):
            return ["no candidate execution has the outcome: no write supplies its values"]
        return []
    if verdict.observation == "Undefined":
        return ["an execution whose behaviour is undefined:"]
    return ["an execution with the outcome:"]


def forbidding_axioms(verdict: Verdict) -> str:
    """``forbidden by axiom `coherence` (5 candidates), `observation` (3 candidates)``"""
    most = sorted(verdict.forbidden_by.items(), key=lambda pair: (-pair[1], pair[0]))
    axioms = (f"`{axiom}` ({amount(count, 'candidate')})" for axiom, count in most)
    return f"forbidden by axiom {', '.join(axioms)}"


def history(witness: Witness | None) -> list[str]:
    """The calls of an execution that is not linearizable, each as long as it may be under way: one
    line per thread, and the nearest sequential order."""
    if not isinstance(witness, Execution) or (found := witness.history) is None:
        return []
    calls = found.calls
    begins = [0] * len(calls)
    for _ in calls:
        for at, each in enumerate(calls):
            begins[at] = max((begins[earlier] + 1 for earlier in each.before), default=0)
    last = max(begins)
    ends = [
        min(
            (begins[later] - 1 for later, one in enumerate(calls) if at in one.before), default=last
        )
        for at in range(len(calls))
    ]
    written = [each.returning(each.result) for each in calls]
    width = max(
        -(-(len(written[at]) + 4) // (ends[at] - begins[at] + 1)) for at in range(len(calls))
    )
    names = {each.thread: heading(witness, each.thread) for each in calls}
    room = max(map(len, names.values()))
    lines = []
    for thread, name in sorted(names.items()):
        line = ""
        for at in sorted(range(len(calls)), key=lambda at: begins[at]):
            if calls[at].thread == thread:
                line = line.ljust(begins[at] * (width + 1))
                inside = (ends[at] - begins[at] + 1) * (width + 1) - 1 - 2
                line += f"├{f' {written[at]} ':─^{inside}}┤ "
        lines.append(f"{name.ljust(room)}  {line}".rstrip())
    if found.nearest:
        order = ", ".join(calls[at].returning(result) for at, result in found.nearest)
        lines.append(f"nearest sequential order: {order}")
    return lines


def columns(witness: Witness | None, most: int | None = None) -> list[str]:
    """The execution in thread columns, then its other edges, its cycle and its final state. If the
    columns are wider than `most`, one thread stands below the other."""
    if witness is None:
        return []
    calls = history(witness)
    place = places(witness)
    if not place:
        return [*calls, *_notes(witness, set())]
    drawn: set[tuple[int, int]] = set()
    lines = _side_by_side(witness, place, drawn)
    if most is not None and max(map(len, lines)) > most:
        drawn.clear()
        lines = _one_below_the_other(witness, place)
    return [*calls, *lines, *_notes(witness, drawn)]


def _one_below_the_other(witness: Witness, place: dict[int, tuple[int, int]]) -> list[str]:
    lines = []
    for at in sorted({column for column, _ in place.values()}):
        lines.append(_head(witness, place, at))
        events = [number for number, (column, _) in place.items() if column == at]
        for number in sorted(events, key=lambda each: place[each][1]):
            event = witness.events[number]
            lines.append(f"  {event.label}  {described(event)}")
    return lines


def _side_by_side(
    witness: Witness, place: dict[int, tuple[int, int]], drawn: set[tuple[int, int]]
) -> list[str]:
    """One column per thread. The edges that are drawn between them are added to `drawn`."""
    width = 1 + max((column for column, _ in place.values()), default=0)
    height = 1 + max((row for _, row in place.values()), default=0)
    cells = [[""] * width for _ in range(height)]
    for number, (column, row) in place.items():
        event = witness.events[number]
        cells[row][column] = f"{event.label}  {described(event)}"
    gutters = [[_GAP] * width for _ in range(height)]
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
    return lines


def places(witness: Witness) -> dict[int, tuple[int, int]]:
    """Column and row of each event that has a thread.

    There is one column per thread, with program order downward. A read is placed no higher than
    the write it reads, if that is possible for all reads.
    """
    chains = list(events_of_threads(witness).values())
    drawn = {number for chain in chains for number in chain}
    return layers(chains, [each for each in witness.rf if drawn.issuperset(each)])


def events_of_threads(witness: Witness) -> dict[int, list[int]]:
    """The indices of each thread's events, in program order."""
    threads: defaultdict[int, list[int]] = defaultdict(list)
    for number, event in enumerate(witness.events):
        if event.thread is not None:
            threads[event.thread].append(number)
    return dict(sorted(threads.items()))


def layers(
    chains: Sequence[Sequence[int]], reads: Sequence[tuple[int, int]]
) -> dict[int, tuple[int, int]]:
    """Column and row of each node: a chain is a column, and the second of each two in `reads` is
    placed no higher than the first, if that is possible for all of them."""
    simple = {at: row for chain in chains for row, at in enumerate(chain)}
    rows = dict(simple)
    for _ in range(len(rows) + 1):
        before = dict(rows)
        for chain in chains:
            for above, below in itertools.pairwise(chain):
                rows[below] = max(rows[below], rows[above] + 1)
        for source, target in reads:
            rows[target] = max(rows[target], rows[source])
        if rows == before:
            break
    else:
        rows = simple  # a read reads a write that is placed after it
    return {at: (column, rows[at]) for column, chain in enumerate(chains) for at in chain}


def described(event: WitnessEvent) -> str:
    """`store x = 1 (rel)`, or with a known site `queue.h:57 store x = 1 (rel)`"""
    return f"{event.site} {describe_event(event)}" if event.site else describe_event(event)


def _head(witness: Witness, place: dict[int, tuple[int, int]], column: int) -> str:
    number = next(number for number, (at, _) in place.items() if at == column)
    thread = witness.events[number].thread
    assert thread is not None
    return heading(witness, thread)


def heading(witness: Witness, thread: int) -> str:
    """P0; in a program, the function that the thread runs."""
    if isinstance(witness, Execution) and thread < len(witness.functions):
        return witness.functions[thread]
    return f"P{thread}"


def _notes(witness: Witness, drawn: set[tuple[int, int]]) -> list[str]:
    events = witness.events
    notes = []
    for source, target in witness.rf:
        if (source, target) in drawn:
            continue
        if events[source].thread is not None:
            notes.append(f"{events[target].label} reads from {events[source].label}")
        elif reads_initial(witness, target):
            notes.append(
                f"{events[target].label} reads the initial value of {events[target].location}"
            )
    notes += [
        f"{events[b].location}: {events[a].label} is overwritten by {events[b].label}"
        for a, b in witness.co
        if events[a].thread is not None
    ]
    return [*notes, *conclusion(witness)]


def reads_initial(witness: Witness, read: int) -> bool:
    """Whether an event reads the initial value, and another thread overwrites that, or the cycle or
    the race needs that it is read: otherwise no other value was possible."""
    event = witness.events[read]
    if not any(witness.events[write].thread is None for write, at in witness.rf if at == read):
        return False
    needed = {start for start, _, kind in witness.cycle if kind == "fr"}
    if isinstance(witness, Execution):
        needed.update(witness.conflict or ())
    return read in needed or any(
        other.location == event.location
        and other.thread not in (None, event.thread)
        and bool(other.written)
        for other in witness.events
    )


def conclusion(witness: Witness) -> list[str]:
    """What is wrong with the execution, its cycle and its final state."""
    events = witness.events
    notes = _wrong(witness) if isinstance(witness, Execution) else []
    if witness.cycle:
        start = events[witness.cycle[0][0]]
        steps = "".join(f" ─{kind}→ {_name(events[to])}" for _, to, kind in witness.cycle)
        notes.append(f"cycle: {_name(start)}{steps}")
        if isinstance(witness, Execution):
            notes += lost_wakeups.explained(witness)
    elif not isinstance(witness, Execution) or witness.conflict is None:
        notes.append("no cycle: this execution is an interleaving")
    if witness.state:
        notes.append(f"final state: {state_text(witness.state)}")
    return notes


def _wrong(witness: Execution) -> list[str]:
    """The race or the hang that a program's execution ends in."""
    notes = []
    if witness.conflict is not None:
        one, other = (_name(witness.events[number]) for number in witness.conflict)
        notes.append(f"{one} and {other} race: happens-before does not order them")
    for wait in witness.waits:
        name = heading(witness, wait.thread)
        notes.append(f"{name} waits at {wait.site} for {wait.what}, which never happens")
    return notes


def _name(event: WitnessEvent) -> str:
    return event.label or f"initial {event.location}"
