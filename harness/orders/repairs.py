"""Repairs of a program whose memory orders are too weak: the fewest annotations to strengthen or to
put fences beside, each as little as suffices, confirmed by exploring every program again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot.generators.litmus import C_ORDER
from weakspot.generators.source.program import Program
from weakspot.harness.corpus.material import Report
from weakspot.harness.edits.annotations import Annotated, Annotation, annotate
from weakspot.harness.edits.strength import (
    Assignment,
    Values,
    beside,
    cost,
    short,
    spelled,
    split,
    stronger,
    strongest,
    with_own,
)
from weakspot.harness.orders.explorations import Explorations
from weakspot.harness.orders.scenes import Scene
from weakspot.harness.orders.trials import Trials, minimal
from weakspot.harness.values.witness import Execution, shortest_at

_MOST = 3  # repairs that are proposed


class Change(msgspec.Struct, frozen=True):
    """One annotation, the memory order written there, and the one to write, with the fences to put
    beside it; `unbraced` is set if its statement is a body without braces, which a fence needs."""

    annotation: Annotation
    before: str
    after: str
    unbraced: bool = False

    def __str__(self) -> str:
        fence, own, last = split(self.after)
        there = self.annotation
        braces = ", in braces with it," if self.unbraced else ""
        if own != self.before or (fence != "none" and last != "none"):
            return f"{there.spelled(self.after)} at {there}"
        if fence != "none":
            return f"{there.spelled_fence(fence)} before {there}{braces}"
        return f"{there.spelled_fence(last)} after {there}{braces}"

    @property
    def needs(self) -> str:
        """What the annotation needs: `at least release`, `a seq_cst fence before it`."""
        fence, own, last = split(self.after)
        there = self.annotation
        least = there.spelled(own) if there.kernel else short(spelled(own))
        parts = [f"at least {least}"] if own != self.before else []
        sides = ((fence, "before it"), (last, "after it"))
        for order, where in sides:
            if order == "none":
                continue
            if there.kernel:
                parts.append(f"{there.spelled_fence(order)} {where}")
                continue
            word = short(C_ORDER[order])
            parts.append(f"{'an' if word[0] in 'aeiou' else 'a'} {word} fence {where}")
        return " and ".join(parts)


class Repair(msgspec.Struct, frozen=True):
    """Changes that suffice together, none of them dispensable. `safe` names the programs that are
    safe with them, out of `programs` explored. `twice` says whether the repaired one is safe too
    where each of its threads runs twice, if that distinguishes the repairs. `executions` are those
    that show why each change is needed, if they were looked for."""

    changes: tuple[Change, ...]
    safe: tuple[str, ...]
    programs: int
    twice: bool | None = None
    executions: tuple[Execution | None, ...] = ()

    def named(self, root: Path) -> Repair:
        """The repair with its files named relative to the folder."""
        changes = []
        for change in self.changes:
            file = os.path.relpath(change.annotation.path, root.resolve())
            annotation = msgspec.structs.replace(change.annotation, file=file)
            changes.append(msgspec.structs.replace(change, annotation=annotation))
        return msgspec.structs.replace(self, changes=tuple(changes))

    def __str__(self) -> str:
        suffice = "suffices" if len(self.changes) == 1 else "suffice together"
        changes = " and ".join(map(str, self.changes))
        also = {None: "", True: ", even if each thread runs twice"}
        also[False] = ", but not if each thread runs twice"
        count = f"{self.programs} scenario{'' if self.programs == 1 else 's'}"
        if len(self.safe) < self.programs:
            return f"{changes} {suffice} for {len(self.safe)} of {count}{also[self.twice]}"
        all_of = "all " if self.programs > 1 else ""
        return f"{changes} {suffice} (checked in {all_of}{count}{also[self.twice]})"


class Repairing:
    """The search for the smallest repairs of the program named `violated`, of the `programs`, which
    are pairs of name and program. A change with which a program that was safe is no longer safe is
    not a repair.

    Repairs that change the fewest annotations come first. Among these, changes of the library that
    the program uses are preferred to changes of the program's own file, and to changes of wrappers,
    functions through which several operations of the library access memory.

    With `twice`, the program in which each thread runs twice, a repair is one of that too.
    """

    def __init__(
        self,
        programs: Sequence[tuple[str, Program]],
        violated: str,
        explorations: Explorations,
        *,
        twice: Program | None = None,
        report: Report = lambda _: None,
    ) -> None:
        self._names = [name for name, _ in programs]
        read = [program for _, program in programs] + ([] if twice is None else [twice])
        self._annotations, annotated = annotate(read)
        self._annotated = annotated[: len(programs)]
        self._twice = annotated[len(programs) :]
        self._violated = violated
        self._own = self._annotated[self._names.index(violated)]
        # annotations that the program does not use keep a memory order that is written somewhere
        self._written = tuple(
            self._own.orders.get(number, each.order)
            for number, each in enumerate(self._annotations)
        )
        self._foreign = {
            number
            for number in self._own.orders
            if is_foreign(self._own, self._annotations[number], number)
        }
        self._explorations, self._report = explorations, report

    def orders(self) -> tuple[Repair, ...]:
        """Stronger memory orders, at most _MOST repairs. Empty if no memory order repairs the
        program or a limit is reached."""
        own = self._own.orders
        return self._search(
            [
                stronger(each.scale, self._written[number])
                if number in own
                else (self._written[number],)
                for number, each in enumerate(self._annotations)
            ]
        )

    def fences(self, by_orders: Sequence[Repair]) -> tuple[Repair, ...]:
        """The repairs of `orders`, with the best that adds fences: first if it changes fewer
        annotations, else last.

        Fences are looked for where `orders` found no repair, and beside the accesses that repairs
        change if these are several, use seq_cst, or are updates that acquire and release: a seq_cst
        fence for accesses of two locations, as in store buffering; an acquire fence after several
        loads, as in the reader of a sequence lock; an acquire fence after a release, as in a
        reference count. In the Linux kernel's programs they are always looked for: smp_wmb and
        smp_rmb are common there. None is put into a program's own file if there is a library.
        """
        changed = [change for repair in by_orders for change in repair.changes]
        if by_orders and not any(len(each.changes) > 1 for each in by_orders):
            orders = [change.after.partition("/")[0] for change in changed]
            of_kernel = any(change.annotation.kernel for change in changed)
            if not of_kernel and not {"sc", "acq_rel"} & {*orders}:
                return tuple(by_orders)
        places = {self._annotations.index(change.annotation) for change in changed}
        places = (places or {*self._own.orders}) - (
            set() if len(self._foreign) == len(self._own.orders) else self._foreign
        )
        repairs = self._search(
            [
                beside(each.scale, self._written[number])
                if number in places
                else (self._written[number],)
                for number, each in enumerate(self._annotations)
            ]
        )
        known = [repair.changes for repair in by_orders]
        with_fences = [repair for repair in repairs if repair.changes not in known][:1]
        if not by_orders or (with_fences and _size(with_fences[0]) < _size(by_orders[0])):
            return (*with_fences, *by_orders)[:_MOST]
        return (*by_orders[: _MOST - 1], *with_fences)

    def _search(self, choices: Sequence[Values]) -> tuple[Repair, ...]:
        own, written, annotations = self._own.orders, self._written, self._annotations
        scenes = [Scene(self._violated, each) for each in (self._own, *self._twice)]
        trials = Trials(scenes, choices, self._explorations, report=self._report)
        if trials.failing(tuple(orders[-1] for orders in choices)) is not None:
            return ()

        def rank(assignment: Assignment) -> tuple[int, int, int]:
            changed = [n for n in own if assignment[n] != written[n]]
            return (
                len(changed),
                sum(n in self._foreign for n in changed),
                sum(cost(annotations[n].scale, assignment[n]) for n in changed),
            )

        repairs: list[Repair] = []
        fewest = len(annotations)
        for assignment in minimal(choices, trials.fails, rank):
            changed = {n: assignment[n] for n in own if assignment[n] != written[n]}
            if not changed or len(changed) > fewest or len(repairs) == 2 * _MOST:
                break  # without a change: only the audit sees what is wrong
            fewest = len(changed)
            changes = tuple(
                _change(annotations[n], written[n], order) for n, order in sorted(changed.items())
            )
            self._report(f"confirming {changes[0]}")
            safe = self._confirmed(changed)
            if self._violated in safe:
                repairs.append(
                    Repair(changes, safe, len(self._names), True if self._twice else None)
                )
        repairs.sort(key=lambda repair: -len(repair.safe))
        return tuple(repairs[:_MOST])

    def execution(self, repair: Repair, change: Change) -> Execution | None:
        """The shortest execution that still violates something if all other changes are made, of
        those in which the access that the change is about occurs."""
        others = {
            self._annotations.index(each.annotation): each.after
            for each in repair.changes
            if each is not change
        }
        program = self._own.under(self._changed(self._own, others))
        exploration = self._explorations.of(program, stop_at_first=False)
        return shortest_at(
            (each.witness for each in exploration.violations), str(change.annotation)
        )

    def result_twice(self, repair: Repair) -> str:
        """What exploring the program in which each thread runs twice finds with a repair."""
        return self._explored_twice(
            {self._annotations.index(each.annotation): each.after for each in repair.changes}
        )

    def repairable_twice(self) -> bool:
        """Whether the strongest memory orders repair the program in which each thread runs
        twice."""
        own = {number: self._annotations[number].scale for number in self._own.orders}
        changed = {
            number: stronger(kind, self._written[number])[-1] for number, kind in own.items()
        }
        return self._explored_twice(changed) == "Safe"

    def _explored_twice(self, changed: Mapping[int, str]) -> str:
        (twice,) = self._twice
        return _result(twice.under(self._changed(twice, changed)), self._explorations)

    def _changed(self, annotated: Annotated, changed: Mapping[int, str]) -> Assignment:
        """The memory orders of a program with the changes."""
        return tuple(
            self._joined(number, annotated.orders.get(number, own), changed.get(number))
            for number, own in enumerate(self._written)
        )

    def _confirmed(self, changed: dict[int, str]) -> tuple[str, ...]:
        """The programs that are safe with the changes, each explored again; empty if one is safe
        only without them."""
        safe = []
        for name, annotated in zip(self._names, self._annotated, strict=True):
            if _safe(annotated.under(self._changed(annotated, changed)), self._explorations):
                safe.append(name)
            elif changed.keys() & annotated.orders.keys() and _safe(
                annotated.program, self._explorations
            ):
                return ()
        return tuple(safe)

    def _joined(self, number: int, own: str, change: str | None) -> str:
        """A program's own memory order together with a change."""
        if change is None:
            return own
        kind = self._annotations[number].scale
        return with_own(change, strongest(kind, (own, split(change)[1])))


def affordable(costs: Mapping[str, float], first: str, seconds: float) -> list[str]:
    """The programs on which a repair can be confirmed in so many seconds: `first`, then the
    others as long as they fit, the cheapest first. Each is explored with the repair, and again
    without it where it is not safe."""
    chosen = [first]
    spent = 2 * costs[first]
    for name in sorted(costs.keys() - {first}, key=lambda name: (costs[name], name)):
        spent += 2 * costs[name]
        if spent > seconds:
            break
        chosen.append(name)
    return chosen


def _change(annotation: Annotation, before: str, after: str) -> Change:
    fence, _, last = split(after)
    if fence == last == "none":
        return Change(annotation, before, after)
    from weakspot.harness.edits.rewrite import is_unbraced

    return Change(annotation, before, after, is_unbraced(annotation))


def _size(repair: Repair) -> int:
    return len(repair.changes)


def is_foreign(annotated: Annotated, annotation: Annotation, number: int) -> bool:
    """Whether an annotation is in the program's own file, or in a wrapper: a function that code
    outside that file calls at several places."""
    program = annotated.program
    if Path(annotation.path) == program.source.resolve():
        return True
    callers = {
        caller.partition("@")[2]
        for site in annotated.sites[number]
        for caller in program.sites[site].chain[:1]
    }
    own = program.source.name
    return len({each for each in callers if each.partition(":")[0] != own}) > 1


def _safe(program: Program, explorations: Explorations) -> bool:
    return _result(program, explorations) == "Safe"


def _result(program: Program, explorations: Explorations) -> str:
    return explorations.of(program, threads=0).result
