"""Annotations: the memory orders in a source, each at one place.

One place may be several sites of a program, one per call chain, and sites of several programs that
include the same header: their memory orders are changed together.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from weakspot.generators.litmus import Site, of_library
from weakspot.harness.edits import kernel_primitives
from weakspot.harness.edits.order_arguments import SourceText, written_at
from weakspot.harness.edits.strength import Assignment, spelled, spelled_fence, split

if TYPE_CHECKING:
    from weakspot.generators.source.program import Program

_OPERATIONS = {"R": "load", "W": "store", "RMW": "update", "CAS": "compare-exchange", "F": "fence"}


class Annotation(msgspec.Struct, frozen=True, kw_only=True):
    """A memory order at one place of the source.

    `path` is the file, `file` its name in the programs; `order` is the order in the source of the
    first program that has the annotation. `mixed` marks a place with several operations of one kind
    and different orders, as a macro can have; `passed` one where a function is called that takes
    the memory order as an argument. `cpp` and `rust` tell these from C. `kernel` marks a program
    with the Linux kernel's primitives, and `called` is what is called there then.
    """

    path: str
    file: str
    line: int
    column: int
    function: str
    kind: str  # R W RMW CAS F
    order: str
    mixed: bool = False
    passed: bool = False
    cpp: bool = False
    rust: bool = False
    kernel: bool = False
    called: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"

    @property
    def operation(self) -> str:
        """The kind of operation: load, store, update, compare-exchange or fence."""
        return _OPERATIONS[self.kind]

    @property
    def scale(self) -> str:
        """The kind of operation, as `strength` has it."""
        if self.kernel:
            return f"kernel {self.kind}"
        return "C CAS" if self.kind == "CAS" and not (self.cpp or self.rust) else self.kind

    def named(self, order: str) -> str:
        """A memory order, with fences beside the operation, in tables: that of C, or the name that
        the Linux kernel has for the operation with it."""
        return self.spelled(order) if self.kernel else order

    def spelled(self, order: str) -> str:
        """A memory order, with fences beside the operation, as it is written in the source."""
        if not self.kernel:
            return spelled(order, self.path)
        before, own, after = split(order)
        sides = ((before, "before it"), (after, "after it"))
        fences = (f"{self.spelled_fence(one)} {at}" for one, at in sides if one != "none")
        name = kernel_primitives.named(self.called, self.kind, own)
        return " with ".join(filter(None, (name, " and ".join(fences))))

    def spelled_fence(self, order: str) -> str:
        """A fence beside the operation, as it is written in the source."""
        if not self.kernel:
            return spelled_fence(order, self.path)
        return f"{kernel_primitives.fence(order)}()"


class Annotated(msgspec.Struct, frozen=True):
    """A program with its annotations, by their numbers: `sites` are the sites of each, `orders` the
    memory orders in the source."""

    program: Program
    sites: dict[int, tuple[int, ...]]
    orders: dict[int, str]

    def under(self, assignment: Assignment) -> Program:
        """The program with the orders of the assignment; its additional fences are new sites at the
        end."""
        orders: dict[int, str] = {}
        fences: list[tuple[int, str, str]] = []
        for number, sites in self.sites.items():
            before, own, after = split(assignment[number])
            for site in sites:
                orders[site] = own
                sides = (("before", before), ("after", after))
                fences += [(site, side, order) for side, order in sides if order != "none"]
        return self.program.with_orders(orders, fences=fences)

    def renumbered(self, at: Mapping[int, int]) -> Annotated:
        """The program with other numbers for its annotations."""
        return Annotated(
            self.program,
            {at[number]: sites for number, sites in self.sites.items()},
            {at[number]: order for number, order in self.orders.items()},
        )

    def numbers(self, program: Program, sites: Iterable[int]) -> frozenset[int]:
        """The annotations that these sites of a program made by `under` belong to; an additional
        fence belongs to the access next to it."""
        own = {site: number for number, all in self.sites.items() for site in all}
        count = len(self.program.sites)
        adjacent = {_position(self.program.sites[site]): number for site, number in own.items()}
        places = {
            number: adjacent[_position(site)]
            for number, site in enumerate(program.sites[count:], start=count)
        }
        found = own | places
        return frozenset(found[site] for site in sites if site in found)


def annotate(programs: Sequence[Program]) -> tuple[tuple[Annotation, ...], tuple[Annotated, ...]]:
    """The annotations of all programs, ordered by file, line and column."""
    found: dict[tuple[str, ...], Annotation] = {}
    where = [_written_at(program) for program in programs]
    places = [_annotated_sites(program, at) for program, at in zip(programs, where, strict=True)]
    written = [program.orders for program in programs]
    for program, sites, orders, at in zip(programs, places, written, where, strict=True):
        for key, (number, *_) in sites.items():
            operation = program.sites[number]
            site = at[number]
            if key[:3] != _place(program, site):  # several kinds of operation take it
                site = operation
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
                    passed=site is not operation,
                    cpp=program.language == "c++" and not site.file.endswith(".c"),
                    rust=site.file.endswith(".rs"),
                    kernel=program.kernel,
                    called=_called(key[0], site) if program.kernel else "",
                ),
            )
    keys = sorted(found, key=lambda key: (found[key].file, found[key].line, found[key].column, key))
    numbers_of = {key: number for number, key in enumerate(keys)}
    return tuple(found[key] for key in keys), tuple(
        Annotated(
            program,
            {numbers_of[key]: tuple(numbers) for key, numbers in sites.items()},
            {numbers_of[key]: orders[numbers[0]] for key, numbers in sites.items()},
        )
        for program, sites, orders in zip(programs, places, written, strict=True)
    )


_NAME = re.compile(r"[A-Za-z_]\w*")


def _called(path: str, site: Site) -> str:
    """The name that stands at a place, if the file is as it was."""
    try:
        lines = Path(path).read_text(encoding="latin-1").splitlines()
    except OSError:
        return ""
    line = lines[site.line - 1] if 0 < site.line <= len(lines) else ""
    found = _NAME.match(line, max(site.column - 1, 0))
    return found[0] if found else ""


def _place(program: Program, site: Site) -> tuple[str, str, str]:
    return str(program.path_of(site.file)), str(site.line), str(site.column)


def _written_at(program: Program) -> dict[int, Site]:
    """Where the memory order of each site of the user's is written."""

    @cache
    def source(file: str) -> SourceText:
        try:
            return SourceText(program.path_of(file).read_text(encoding="latin-1"))
        except OSError:
            return SourceText("")

    return {
        number: written_at(site, source)
        for number, (site, order) in enumerate(zip(program.sites, program.orders, strict=True))
        if order and not of_library(site.file)
    }


def _position(site: Site) -> tuple[object, ...]:
    return site.file, site.line, site.column, site.chain


def _annotated_sites(
    program: Program, written: Mapping[int, Site]
) -> dict[tuple[str, ...], list[int]]:
    """The sites that have a memory order, by its place in the source. Those of the compiler's own
    headers and library are not the user's to change."""
    sites: defaultdict[tuple[str, str, str, str], list[int]] = defaultdict(list)
    given = program.orders
    kinds: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for site in written.values():
        kinds[_place(program, site)].add(site.kind)
    for number, site in written.items():
        place = _place(program, site)
        if len(kinds[place]) > 1:
            place = _place(program, program.sites[number])
        sites[*place, site.kind].append(number)
    annotations: dict[tuple[str, ...], list[int]] = {}
    for at, numbers in sites.items():
        mixed = len({given[number] for number in numbers}) > 1
        for number in numbers:
            annotations.setdefault((*at, given[number] if mixed else ""), []).append(number)
    return annotations
