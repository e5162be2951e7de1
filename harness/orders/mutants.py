"""Mutants: programs in which one memory order is a step weaker, or one fence or notification is
missing, and which of the scenarios notice.

A mutant that no scenario notices survives: either what was changed is stronger than needed, or no
scenario does what it is needed for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import msgspec

from weakspot.generators.source.program import Program
from weakspot.harness.corpus.material import Report
from weakspot.harness.corpus.program_groups import ProgramGroup
from weakspot.harness.edits.annotations import Annotated, annotate
from weakspot.harness.edits.strength import just_below, weaker
from weakspot.harness.orders.explorations import Explorations, within
from weakspot.harness.orders.relaxation import LeftOut

Result = Literal["noticed", "survives", "undecided"]


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """A change at one place of the source, `file:line`: of an operation ("store", "fence",
    "notification", "post") from what is written to something weaker: "none" if it is left out,
    "one" if it notifies one thread instead of all.
    `noticed_by` is the first scenario that violates something with it, of this `violation`'s kind;
    `reasons` say which limit left it undecided."""

    place: str
    function: str
    operation: str
    written: str
    weaker: str
    result: Result
    noticed_by: str = ""
    violation: str = ""
    reasons: tuple[str, ...] = ()
    primitives: tuple[str, str] | None = None
    """In the Linux kernel's programs, the primitives that are written and that are weaker."""
    client: str = ""
    """Calls of operations that would notice it, if clients of the object were tried."""


class Mutated(msgspec.Struct, frozen=True, kw_only=True):
    """The mutants of a structure, or of the user's programs, under a model. `left_out` are the
    scenarios that violate something as they are, or cannot be explored completely."""

    subject: str
    model: str
    machine_models: tuple[str, ...] = ()
    mutants: tuple[Mutant, ...]
    scenarios: tuple[str, ...]
    left_out: tuple[LeftOut, ...] = ()
    explorations: int
    seconds: float
    finished: bool = True

    def of(self, result: Result) -> tuple[Mutant, ...]:
        return tuple(each for each in self.mutants if each.result == result)

    @property
    def violated(self) -> tuple[str, ...]:
        """The scenarios that violate something as they are written."""
        return tuple(each.scenario for each in self.left_out if each.violated)

    @property
    def decided(self) -> bool:
        """Whether every mutant is noticed or survives, and every scenario was asked."""
        unknown = any(not each.violated for each in self.left_out)
        return self.finished and not unknown and not self.of("undecided")


class Change(msgspec.Struct, frozen=True):
    """A mutant before it is explored: the program of each scenario that it changes. `path`, `line`
    and `column` are where it is, the column 0 for a whole line."""

    mutant: Mutant
    path: str
    line: int
    column: int
    programs: tuple[tuple[str, Program], ...]

    def is_like(self, other: Change) -> bool:
        """Whether another change, of other programs, changes the same text in the same way."""
        mine, theirs = self.mutant, other.mutant
        return (
            (self.path, self.line, self.column) == (other.path, other.line, other.column)
            and (mine.operation, mine.written) == (theirs.operation, theirs.written)
            and mine.weaker == theirs.weaker
        )


ClientOf = Callable[[Change], str]
"""Calls that notice a change which no scenario notices; empty if none was found."""


class Mutating:
    """The exploration of all mutants of a group. `result` is available at any time, also after
    Ctrl-C."""

    def __init__(
        self,
        group: ProgramGroup,
        explorations: Explorations,
        report: Report = lambda _: None,
        *,
        client_of: ClientOf = lambda _: "",
    ) -> None:
        self._group, self._explorations, self._report = group, explorations, report
        self._client_of = client_of
        self._mutants: list[Mutant] = []
        self._left_out: list[LeftOut] = []
        self._scenarios: list[tuple[str, Program]] = []
        self._tolerated: set[str] = set()
        self._order: list[str] = []
        self._count, self._started, self._ended = 0, time.monotonic(), False

    def run(self) -> None:
        self._explorations.prepare([program for _, program in self._group.programs])
        for name, program in self._group.programs:
            self._report(name)
            self._count += 1
            exploration = self._explorations.of(program)
            if kinds := dict.fromkeys(violation.kind for violation in exploration.violations):
                self._left_out.append(LeftOut(name, f"violated: {', '.join(kinds)}", violated=True))
            elif exploration.reasons and not within(exploration):
                self._left_out.append(LeftOut(name, "; ".join(exploration.reasons)))
            else:
                self._scenarios.append((name, program))
                self._order.append(name)
                if exploration.reasons:
                    self._tolerated.add(name)
        mutants = list(changes(self._scenarios))
        for number, change in enumerate(mutants, start=1):
            self._report(f"mutant {number:,} of {len(mutants):,}: {change.mutant.place}")
            if (ahead := self._explorations.ahead) and (number - 1) % ahead == 0:
                self._prepare(mutants[number - 1 : number - 1 + ahead])
            self._mutants.append(self._explored(change))
        self._ended = True

    def _prepare(self, changes: Sequence[Change]) -> None:
        """Have mutants explored at once, as far as it is known which scenarios they need."""
        left = [dict(change.programs) for change in changes]
        for name in list(self._order):
            endless = name in self._tolerated
            programs = [programs_left[name] for programs_left in left if name in programs_left]
            self._explorations.prepare(programs, endless=endless)
            left = [
                programs_left
                for programs_left in left
                if name not in programs_left
                or not self._explorations.of(programs_left[name], endless=endless).violations
            ]

    def _explored(self, change: Change) -> Mutant:
        programs = dict(change.programs)
        reasons: list[str] = []
        # what noticed the last mutant often notices the next
        for name in [each for each in self._order if each in programs]:
            self._count += 1
            exploration = self._explorations.of(programs[name], endless=name in self._tolerated)
            if exploration.violations:
                self._order.remove(name)
                self._order.insert(0, name)
                return msgspec.structs.replace(
                    change.mutant,
                    result="noticed",
                    noticed_by=name,
                    violation=exploration.violations[0].kind,
                )
            if exploration.reasons and not (name in self._tolerated and within(exploration)):
                reasons += [f"{name}: {each}" for each in exploration.reasons]
        return msgspec.structs.replace(
            change.mutant,
            result="undecided" if reasons else "survives",
            reasons=tuple(reasons),
            client="" if reasons else self._client_of(change),
        )

    def result(self) -> Mutated:
        """What is known so far."""
        return Mutated(
            subject=self._group.name,
            model=self._explorations.model.name,
            machine_models=tuple(each.name for each in self._explorations.also),
            mutants=tuple(self._mutants),
            scenarios=tuple(name for name, _ in self._scenarios),
            left_out=tuple(self._left_out),
            explorations=self._count,
            seconds=round(time.monotonic() - self._started, 3),
            finished=self._ended,
        )


def changes(scenarios: Sequence[tuple[str, Program]]) -> Iterator[Change]:
    """Every mutant, by place: one memory order a step weaker, one fence or notification less. A
    memory order is that of each scenario, which may be compiled with another."""
    annotations, annotated = annotate([program for _, program in scenarios])
    for number, annotation in enumerate(annotations):
        steps: dict[tuple[str, str], list[tuple[str, Program]]] = {}
        for (name, _), annotated_program in zip(scenarios, annotated, strict=True):
            written = annotated_program.orders.get(number)
            if written is None:
                continue
            for order in just_below(written, weaker(annotation.scale, written)):
                steps.setdefault((written, order), []).append(
                    (name, _with(annotated_program, number, order))
                )
        for (written, order), programs in steps.items():
            mutant = Mutant(
                place=str(annotation),
                function=annotation.function,
                operation=annotation.operation,
                written=written,
                weaker=order,
                result="undecided",
                primitives=(annotation.named(written), annotation.named(order))
                if annotation.kernel
                else None,
            )
            at = (annotation.path, annotation.line, annotation.column)
            yield Change(mutant, *at, tuple(programs))
    yield from _without_signals(scenarios)


_SignalPlace = tuple[str, str, str, int, str, str]
"""Its place, the function, the path and the line, what it is, and to what it is weakened."""


def _without_signals(scenarios: Sequence[tuple[str, Program]]) -> Iterator[Change]:
    """The mutants that lack a notification, the post of a semaphore or an asymmetric fence, or
    notify one thread instead of all."""
    changed_programs: dict[_SignalPlace, list[tuple[str, Program]]] = {}
    for name, program in scenarios:
        places: dict[_SignalPlace, list[int]] = {}
        for site, what, wakes_several in program.signals:
            at = program.sites[site]
            for weaker_ in ("none", *(["one"] if wakes_several else [])):
                path = str(program.path_of(at.file))
                key = (str(at), at.function, path, at.line, what, weaker_)
                places.setdefault(key, []).append(site)
        for place, sites in places.items():
            changed = program.with_fewer_signals(sites, to_one=place[-1] == "one")
            changed_programs.setdefault(place, []).append((name, changed))
    for (at_, function, path_, line, what, weaker_), programs in sorted(
        changed_programs.items(), key=lambda item: item[0]
    ):
        mutant = Mutant(
            place=at_,
            function=function,
            operation=what,
            written="all" if weaker_ == "one" else what,
            weaker=weaker_,
            result="undecided",
        )
        yield Change(mutant, path_, line, 0, tuple(programs))


def _with(annotated: Annotated, number: int, order: str) -> Program:
    return annotated.program.with_orders(dict.fromkeys(annotated.sites[number], order))
