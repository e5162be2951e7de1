"""Annotations: the memory orders that a user has written, each at one place of the source.

One place may be several sites of a program, one for each call that leads there, and sites of
several programs that include one header: they are weakened together.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from weakspot.generators.litmus import Site
from weakspot.harness.values.strength import Assignment, split

if TYPE_CHECKING:
    from weakspot.generators.source.program import Program

_WORDS = {"R": "load", "W": "store", "RMW": "update", "CAS": "compare-exchange", "F": "fence"}


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """An order at one place. `path` is the file; `file` its name as the programs tell it; `order`
    what is written there, in the first program that has it; `mixed` marks a place that holds
    several operations of one kind with different orders, as a macro can."""

    path: str
    file: str
    line: int
    column: int
    function: str
    kind: str  # R W RMW CAS F
    order: str
    mixed: bool = False

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def operation(self) -> str:
        """What it annotates, in a word."""
        return _WORDS[self.kind]


class Annotated(msgspec.Struct, frozen=True):
    """A program by its annotations: `sites` are those of each, by its number among all; `orders`
    what is written at each."""

    program: Program
    sites: dict[int, tuple[int, ...]]
    orders: dict[int, str]

    def under(self, assignment: Assignment) -> Program:
        """The program with the assignment's orders, and with the fences that it has beside them,
        which are new sites at the end."""
        orders: dict[int, str] = {}
        fences: list[tuple[int, str, str]] = []
        for number, sites in self.sites.items():
            before, own, after = split(assignment[number])
            for site in sites:
                orders[site] = own
                sides = (("before", before), ("after", after))
                fences += [(site, side, order) for side, order in sides if order != "none"]
        return self.program.with_orders(orders, fences=fences)

    def numbers(self, program: Program, sites: Iterable[int | None]) -> frozenset[int]:
        """The annotations that sites of the program `under` some assignment belong to; a fence
        beside an access belongs to the access."""
        own = {site: number for number, all in self.sites.items() for site in all}
        count = len(self.program.sites)
        beside = {_place(self.program.sites[site]): number for site, number in own.items()}
        places = {
            number: beside[_place(site)]
            for number, site in enumerate(program.sites[count:], start=count)
        }
        found = own | places
        return frozenset(found[site] for site in sites if site in found)


def annotate(programs: Sequence[Program]) -> tuple[tuple[Annotation, ...], tuple[Annotated, ...]]:
    """The annotations of all the programs, in the order of files, lines and columns."""
    found: dict[tuple[str, ...], Annotation] = {}
    places = [_places(program) for program in programs]
    written = [program.orders for program in programs]
    for program, sites, orders in zip(programs, places, written, strict=True):
        for key, (number, *_) in sites.items():
            site = program.sites[number]
            found.setdefault(
                key,
                Annotation(
                    path=key[0],
                    file=site.file,
                    line=site.line,
                    column=site.column,
                    function=site.function,
                    kind=site.kind,
                    order=orders[number],
                    mixed=bool(key[-1]),
                ),
            )
    keys = sorted(found, key=lambda key: (found[key].file, found[key].line, found[key].column, key))
    at = {key: number for number, key in enumerate(keys)}
    return tuple(found[key] for key in keys), tuple(
        Annotated(
            program,
            {at[key]: tuple(numbers) for key, numbers in sites.items()},
            {at[key]: orders[numbers[0]] for key, numbers in sites.items()},
        )
        for program, sites, orders in zip(programs, places, written, strict=True)
    )


def _place(site: Site) -> tuple[object, ...]:
    return site.file, site.line, site.column, site.chain


def _places(program: Program) -> dict[tuple[str, ...], list[int]]:
    """The sites that have an order, by the place where it is written."""
    sites: defaultdict[tuple[str, str, str, str], list[int]] = defaultdict(list)
    given = program.orders
    for number, (site, order) in enumerate(zip(program.sites, given, strict=True)):
        if order:
            path = program.files.get(site.file, program.source.parent / site.file)
            place = (str(path.resolve()), str(site.line), str(site.column), site.kind)
            sites[place].append(number)
    told: dict[tuple[str, ...], list[int]] = {}
    for place, numbers in sites.items():
        mixed = len({given[number] for number in numbers}) > 1
        for number in numbers:
            told.setdefault((*place, given[number] if mixed else ""), []).append(number)
    return told
