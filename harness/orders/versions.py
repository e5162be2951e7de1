"""The versions of a source, whose programs are relaxed together.

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
from collections.abc import Mapping, Sequence

import msgspec

from weakspot.generators.source.program import Program
from weakspot.harness.corpus.material import Report
from weakspot.harness.corpus.program_groups import ProgramGroup
from weakspot.harness.orders.explorations import Explorations
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


def versions(
    group: ProgramGroup, explorations: Explorations, *, report: Report = lambda _: None
) -> tuple[Version, ...]:
    """The versions of a group's source, in the order of their first programs."""
    violated: dict[str, tuple[str, ...]] = {}
    for name, program in group.programs:
        report(name)
        found = explorations.of(program)
        if kinds := dict.fromkeys(each["kind"] for each in found["violations"]):
            violated[name] = tuple(kinds)
    good = [each for each in group.programs if each[0] not in violated]
    if not good or group.structure is None:
        wrong = [each for each in group.programs if each[0] in violated]
        recorded = group.structure is not None
        return (
            Version(
                group.name,
                (*good, *wrong),
                violated,
                recorded=recorded,
                clients=group.clients,
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
            (*(each for each in good if each[0] in names), *homes[number]),
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
    found: defaultdict[tuple[str, str], set[tuple[int, int, str]]] = defaultdict(set)
    for site, order in zip(program.sites, program.orders, strict=True):
        if order:
            found[site.file, site.function].add((site.line, site.column, site.kind))
        for call in site.chain:
            function, _, place = call.rpartition("@")
            found[place.rsplit(":", 2)[0], function]  # perhaps without annotations
    own = program.name
    return {at: frozenset(here) for at, here in found.items() if at[0] != own}


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
    found: list[list[str]] = []

    def grow(group: set[str], more: set[str], done: set[str]) -> None:
        if not more and not done:
            found.append([name for name in names if name in group])
        for name in [each for each in names if each in more]:
            grow(group | {name}, more & beside[name], done & beside[name])
            more, done = more - {name}, done | {name}

    grow(set(), set(names), set())
    return sorted(found, key=lambda group: [names.index(name) for name in group])
