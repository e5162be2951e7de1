"""Critical cycles of an access pattern.

A cycle goes through two to four threads; each contributes a segment, and the last access of a
segment communicates with the first access of the next through one location: rf, fr or co. It is
critical when it contains no shorter cycle: every communication has a location of its own, and a
thread contributes a single access only where that access cannot be left out (Herding cats, section
9.1). A chain of read-modify-writes stays complete, because a release sequence runs through it (C11
5.1.2.4p10).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from weakspot.generators.cycles.patterns import Access, Pattern, Segment
from weakspot.system.deadline import NEVER, Deadline


class Cycle(msgspec.Struct, frozen=True):
    """Segments of distinct threads; communication i leads from the last access of segment i to
    the first of segment i+1 (the last one back to segment 0)."""

    segments: tuple[Segment, ...]

    @property
    def communications(self) -> tuple[str, ...]:
        return tuple(
            communication(each.last, self.segments[(index + 1) % len(self.segments)].first) or ""
            for index, each in enumerate(self.segments)
        )


def communication(source: Access, target: Access) -> str | None:
    """rf, fr or co; None when the two do not conflict or never run at the same time.

    A write that an atomic read-modify-write comes after is the one it reads: rf, not co.
    """
    if source.loc != target.loc or not (source.writes or target.writes):
        return None
    if source.mutex or target.mutex:
        # between operations on a mutex only unlock → lock synchronises
        return "rf" if (source.mutex, target.mutex) == ("unlock", "lock") else None
    if source.writes:
        return "rf" if target.reads else "co"
    return "fr"


def cycles(pattern: Pattern, *, threads: int = 3, end: Deadline = NEVER) -> Iterator[Cycle]:
    """The critical cycles through at most `threads` threads, each once up to rotation; those found
    so far when the time is up."""
    reach = pattern.segments
    by_location: list[dict[str, list[Segment]]] = []
    for segments in reach:
        index: dict[str, list[Segment]] = defaultdict(list)
        for segment in segments:
            index[segment.first.loc].append(segment)
        by_location.append(index)

    def extend(path: list[tuple[int, Segment]], coms: list[str]) -> Iterator[Cycle]:
        if end.passed:
            return
        first_thread, first = path[0]
        thread, last = path[-1]
        if len(path) > 1:
            closing = communication(last.last, first.first)
            if (
                closing
                and first_thread in reach[thread][last].last
                and thread in reach[first_thread][first].first
                and critical([segment for _, segment in path], [*coms, closing])
            ):
                yield Cycle(tuple(segment for _, segment in path))
        if len(path) == threads:
            return
        here = last.last.loc
        if len(last.accesses) > 1 and any(
            before.last.loc == here for _, before in path[:-1] if len(before.accesses) > 1
        ):
            return
        used = {number for number, _ in path}
        for number, index in enumerate(by_location):
            if number in used or number not in reach[thread][last].last:
                continue
            for segment in index.get(here, ()):
                if number < first_thread and len(segment.accesses) > 1:
                    continue  # the same cycle starts at that thread
                com = communication(last.last, segment.first)
                if com and thread in reach[number][segment].first:
                    yield from extend([*path, (number, segment)], [*coms, com])

    for start, segments in enumerate(reach):
        for segment in segments:
            if len(segment.accesses) > 1:
                yield from extend([(start, segment)], [])


def critical(segments: Sequence[Segment], coms: Sequence[str]) -> bool:
    """Whether the cycle contains no shorter one, and its Test is about the program."""
    count = len(segments)
    if sum(len(segment.accesses) > 1 for segment in segments) < 2:
        return False
    # the locations of communications differ, but for those on both sides of a single access
    runs: list[str] = []
    for index in range(count):
        single_before = len(segments[index].accesses) == 1
        if not single_before:
            runs.append(segments[index].last.loc)
    if len(set(runs)) != len(runs):
        return False
    for index, segment in enumerate(segments):
        incoming, outgoing = coms[index - 1], coms[index]
        if len(segment.accesses) == 1:
            access = segment.first
            if access.kind == "RMW" and (incoming, outgoing) == ("rf", "rf"):
                continue
            if access.kind == "R" or outgoing != "rf" or incoming == "rf":
                return False
            if len(segments[index - 1].accesses) == 1:
                return False
        elif (any(edge.kind == "coi" for edge in segment.edges) and outgoing != "rf") or (
            segment.edges[0].kind == "rfi" and incoming == "rf"
        ):
            return False
    return _orderable(segments, coms) and not _locked_away(segments)


def _orderable(segments: Sequence[Segment], coms: Sequence[str]) -> bool:
    """Whether synchronisation inside the cycle can prevent a race of its plain accesses: at most
    one communication is plain, and the path from its target back to its source reads from atomics
    only. What orders the accesses of other cycles is outside them, and would be left out."""
    plain = 0
    for index, segment in enumerate(segments):
        source, target = segment.last, segments[(index + 1) % len(segments)].first
        if (source.order == "na") != (target.order == "na"):
            return False  # one object accessed both ways has no C11 litmus form
        plain += source.order == "na"
    return plain == 0 or (
        plain == 1
        and all(
            com == "rf" or segment.last.order == "na"
            for segment, com in zip(segments, coms, strict=True)
        )
    )


def _locked_away(segments: Sequence[Segment]) -> bool:
    """Whether a mutex that both accesses of a communication hold, and that the cycle does not pass
    through, prevents their race."""
    passed = {access.loc for segment in segments for access in segment.accesses if access.mutex}
    for index, segment in enumerate(segments):
        target = segments[(index + 1) % len(segments)].first
        if segment.last.mutex:
            continue
        if (segment.last.held & target.held) - passed:
            return True
    return False
