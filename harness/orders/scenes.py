"""The programs that one search relaxes together.

The scenarios of a structure may be compiled with different macros and then differ in more than
memory orders: one has a fence where another has none. Strengthening an order for the program
without the fence would make the fence in the other look unnecessary. Such programs therefore belong
to different versions of the source, and each version is relaxed by itself. Two programs compiled
with different macros belong to one version if they have the same annotations in each function of
the headers that they share; a program that fits several versions belongs to all of them.

A program that is violated as written makes no version of its own, since it does not show what
suffices, unless all programs are violated.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from weakspot.generators.source.program import Program
from weakspot.harness.corpus.material import Report
from weakspot.harness.corpus.program_groups import ProgramGroup
from weakspot.harness.edits.annotations import Annotated, Annotation, annotate
from weakspot.harness.edits.strength import Assignment, Values, stronger, strongest, weaker
from weakspot.harness.orders.explorations import Explorations, within
from weakspot.harness.orders.relaxation import LeftOut
from weakspot.harness.values.linearizability import Size


class Version(msgspec.Struct, frozen=True):
    """The programs of one version of a source, with their names, those without violations first.
    `violated` holds the kinds of violation of each program that is violated as written; `alone`
    names the programs of this version only, if there are several versions."""

    name: str
    programs: tuple[tuple[str, Program], ...]
    violated: Mapping[str, tuple[str, ...]]
    alone: tuple[str, ...] = ()
    recorded: bool = False  # the corpus records its weakest memory orders
    clients: Size | None = None

    @property
    def needs_repair(self) -> bool:
        """Whether one of the user's own programs is violated as written."""
        return bool(self.violated) and not self.recorded


def versions(
    group: ProgramGroup, explorations: Explorations, *, report: Report = lambda _: None
) -> tuple[Version, ...]:
    """The versions of a group's source, in the order of their first programs."""
    violated: dict[str, tuple[str, ...]] = {}
    for name, program in group.programs:
        report(name)
        exploration = explorations.of(program)
        if kinds := dict.fromkeys(each.kind for each in exploration.violations):
            violated[name] = tuple(kinds)
    good = [named for named in group.programs if named[0] not in violated]
    if not good or group.structure is None:
        wrong = [named for named in group.programs if named[0] in violated]
        recorded = group.structure is not None
        return (
            Version(
                group.name, (*good, *wrong), violated, recorded=recorded, clients=group.clients
            ),
        )
    texts = {name: _text(program) for name, program in group.programs}
    sets = _together([name for name, _ in good], texts)
    homes: defaultdict[int, list[tuple[str, Program]]] = defaultdict(list)
    for name, program in group.programs:
        if name in violated:
            fit = (n for n, names in enumerate(sets) if _agrees(name, names, texts))
            homes[next(fit, 0)].append((name, program))
    uses = Counter(name for names in sets for name in names)
    return tuple(
        Version(
            group.name,
            (*(named for named in good if named[0] in names), *homes[number]),
            {name: violated[name] for name, _ in homes[number]},
            tuple(name for name in names if uses[name] == 1 < len(sets)),
            recorded=True,
        )
        for number, names in enumerate(sets)
    )


_Text = Mapping[tuple[str, str], frozenset[tuple[int, int, str]]]
"""The annotations of each function, which is named by its file and its name."""


def _text(program: Program) -> _Text:
    """The annotations of a program in headers, by function."""
    annotations: defaultdict[tuple[str, str], set[tuple[int, int, str]]] = defaultdict(set)
    for site, order in zip(program.sites, program.orders, strict=True):
        if order:
            annotations[site.file, site.function].add((site.line, site.column, site.kind))
        for call in site.chain:
            function, _, place = call.rpartition("@")
            annotations[place.rsplit(":", 2)[0], function]  # perhaps without annotations
    own = program.name
    return {at: frozenset(here) for at, here in annotations.items() if at[0] != own}


def _agrees(name: str, others: Sequence[str], texts: Mapping[str, _Text]) -> bool:
    """Whether a program has the same annotations as the others in each function of both."""
    mine = texts[name]
    return all(
        mine[function] == texts[other][function]
        for other in others
        for function in mine.keys() & texts[other].keys()
    )


def _together(names: Sequence[str], texts: Mapping[str, _Text]) -> list[list[str]]:
    """The maximal groups whose members all agree (Bron and Kerbosch, CACM 1973)."""
    beside = {
        name: {other for other in names if other != name and _agrees(name, [other], texts)}
        for name in names
    }
    groups: list[list[str]] = []

    def grow(group: set[str], more: set[str], done: set[str]) -> None:
        if not more and not done:
            groups.append([name for name in names if name in group])
        for name in [other_name for other_name in names if other_name in more]:
            grow(group | {name}, more & beside[name], done & beside[name])
            more, done = more - {name}, done | {name}

    grow(set(), set(names), set())
    return sorted(groups, key=lambda group: [names.index(name) for name in group])


class Scene(msgspec.Struct, frozen=True):
    """An included program: its name and its annotations."""

    name: str
    annotated: Annotated

    @property
    def used(self) -> tuple[int, ...]:
        """The numbers of its annotations."""
        return tuple(self.annotated.sites)


class Inclusion:
    """Which programs of a version a search includes.

    They are those that are safe as written, each under the strongest memory orders that any of them
    is written with; if none is safe as written, those that are safe under the strongest memory
    orders of all. A published mistake and its repair are then one program and are included once; a
    program that no memory order repairs is excluded.

    After `run`, `scenes` are the programs, `used` their annotations, which are numbered from 0, and
    `choices` the memory orders of each, up to the strongest. The programs numbered in `limited` are
    included within a limit, which `notes` state. `annotations` are those of all programs;
    `explorations` counts those that the choice has taken.
    """

    def __init__(self, version: Version, explorations: Explorations, report: Report) -> None:
        self._version, self._explorations, self._report = version, explorations, report
        self.annotations, self._annotated = annotate([program for _, program in version.programs])
        self.scenes: list[Scene] = []
        self.limited: list[int] = []
        self.left_out: list[LeftOut] = []
        self.notes: list[str] = []
        self.sequential: list[str] = []
        self.used: list[Annotation] = []
        self.choices: list[Values] = []
        # each was explored as it is written
        self.explorations = len(version.programs)

    def run(self) -> None:
        top = self._strongest()
        known: set[str] = set()
        violated = self._version.violated
        other_good = self._version.recorded and len(violated) < len(self._version.programs)
        for (name, _), annotated in zip(self._version.programs, self._annotated, strict=True):
            program = annotated.under(top)
            if program.digest in known:
                continue
            known.add(program.digest)
            if not annotated.sites:
                self.left_out.append(LeftOut(name, "it has no memory order to choose"))
            elif other_good and name in violated:
                self._leave_out(name, violated[name])
            else:
                self._explore(name, annotated, program)
        used = sorted({number for scene in self.scenes for number in scene.used})
        at = {number: place for place, number in enumerate(used)}
        self.used = [self.annotations[number] for number in used]
        self.choices = [weaker(self.annotations[number].scale, top[number]) for number in used]
        self.scenes = [Scene(scene.name, scene.annotated.renumbered(at)) for scene in self.scenes]

    def _explore(self, name: str, annotated: Annotated, program: Program) -> None:
        """Include the program if it is safe under the strongest memory orders."""
        self._report(name)
        self.explorations += 1
        exploration = self._explorations.of(program)
        if exploration.sequential:
            self.sequential.append(name)
        if exploration.violations:
            self._leave_out(name, [violation.kind for violation in exploration.violations])
            return
        if exploration.reasons:
            self.notes.append(f"{name}: {'; '.join(exploration.reasons)}")
            if not within(exploration):
                self.left_out.append(LeftOut(name, "a limit was reached before it was decided"))
                return
            self.limited.append(len(self.scenes))
        self.scenes.append(Scene(name, annotated))

    def _leave_out(self, name: str, kinds: Iterable[str]) -> None:
        why = f"it is violated: {', '.join(dict.fromkeys(kinds))}"
        self.left_out.append(LeftOut(name, why, violated=True))

    def _strongest(self) -> Assignment:
        """For each annotation, the strongest memory order that a program without violations is
        written with; for an annotation that only violated programs have, the strongest of theirs;
        if all programs are violated, or one of the user's own, the strongest there is."""
        version = self._version
        if len(version.violated) == len(version.programs) or version.needs_repair:
            return tuple(stronger(each.scale, each.order)[-1] for each in self.annotations)
        good: list[list[str]] = [[] for _ in self.annotations]
        other: list[list[str]] = [[] for _ in self.annotations]
        for (name, _), annotated in zip(version.programs, self._annotated, strict=True):
            written = other if name in version.violated else good
            for number, order in annotated.orders.items():
                written[number].append(order)
        return tuple(
            strongest(annotation.scale, good[number] or other[number])
            for number, annotation in enumerate(self.annotations)
        )
