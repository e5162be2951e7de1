"""The programs that are relaxed, mutated or measured together: those of a structure, or of a user's
files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.program import Program, read_program
from weakspot.harness.corpus.material import Report, Unread, in_one_line, readable
from weakspot.harness.corpus.resolution import base_of, build_of, resolve
from weakspot.harness.corpus.structures import Structure
from weakspot.harness.values.claims import Scenario
from weakspot.harness.values.linearizability import Size
from weakspot.system.deadline import NEVER, Deadline, ending


class ProgramGroup(msgspec.Struct, frozen=True):
    """Programs that are relaxed together, with their names; `unread` says why further programs of a
    folder could not be read. Where the programs are the generated `clients` of an object, this is
    their size."""

    name: str
    programs: tuple[tuple[str, Program], ...]
    structure: Structure | None = None  # of the corpus
    unread: dict[str, str] = {}
    clients: Size | None = None


def program_groups(
    what: Sequence[str],
    *,
    build: Build = NO_OPTIONS,
    flags: Sequence[str] = (),
    report: Report = lambda _: None,
    end: Deadline = NEVER,
    seconds: float = math.inf,
) -> tuple[ProgramGroup, ...]:
    """One group per named structure, without its large programs, and one for the user's own files,
    which are compiled with these options, until the `end`, and for so many seconds each. `flags`
    are more options, for both. A program of a folder that cannot be read is left out, unless there
    is no other. Raises BadInput for a litmus test, which has no source, and what reading another
    program raises.
    """
    named, tests = resolve(what, build=build)
    if tests:
        raise BadInput(
            "a litmus test has no source whose memory orders could be changed",
            place=str(tests[0].path),
            advice="name a C or C++ file, or a structure",
        )

    def name_of(structure: Structure, scenario: Scenario) -> str:
        return scenario.name if structure.recorded else structure.name_of(scenario)

    def read(structure: Structure, scenario: Scenario) -> Program:
        report(name_of(structure, scenario))
        return read_program(
            structure.path(scenario),
            build=build_of(structure, scenario, build).with_flags(flags),
            base=base_of(structure),
            end=ending(end.at_most(seconds)),
        )

    def programs(structure: Structure) -> Iterator[tuple[str, Program]]:
        small = (each for each in structure.scenarios if not each.large)
        for scenario, program in readable(structure, small, read, unread):
            yield name_of(structure, scenario), program

    unread: dict[str, Unread] = {}
    found = [
        ProgramGroup(each.name, tuple(programs(each)), each) for each in named if each.recorded
    ]
    if mine := [each for each in named if not each.recorded]:
        own = tuple(program for each in mine for program in programs(each))
        if not own:
            raise next(iter(unread.values()))
        found.append(
            ProgramGroup(
                ", ".join(each.name for each in mine if each.name not in unread),
                own,
                unread=in_one_line(unread),
            )
        )
    return tuple(found)
