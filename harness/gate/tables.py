"""The tables of a project's configuration, as they are in the file: weakspot.toml, or
[tool.weakspot] in pyproject.toml.

    models = ["rc20"]                  names, or paths of cat files
    machine_models = ["imm"]           the same, for programs that are safe under models

    [build]                            how programs are compiled, for every command
    include = ["include"]              folders of headers
    defines = ["CAPACITY=2"]           macros
    std = "c++17"                      or ["c11", "c++17"]
    flags = ["-isystem", "vendor"]     other options of clang
    compile_commands = "build"         the compilation database, or its folder
    sources = ["src/queue.c"]          that every program is linked with
    volatile = "relaxed"               what volatile accesses are; "plain" without it

    [explore]                          limits of exploring one program, for every command
    loops = 8                          iterations of a loop that does not only wait
    seconds = "20s"                    for one program under one model; the gate has a budget
    bound = 4                          departures, or
    sample = true                      drawn at random: explored where half of the time does not
                                       suffice for all executions
    without = ["symmetry"]             reductions to switch off (docs/reductions.md)

    [[asm]]                            what inline assembly does, as C
    pattern = "ldadd %0, *"            a glob over its text as it stands in the source
    body = "%1 = __atomic_fetch_add(&%2, %0, __ATOMIC_RELAXED);"

    [gate]
    scenarios = ["tests/weakspot/*.cpp", "tests/litmus/*.litmus"]
    unroll = 8                         as `loops` above, for the gate alone
    executions = 0                     of one program under one model; 0: all
    events = 4096                      accesses of shared memory in one execution
    instructions = 2000000             of one thread in one execution
    calls = 200                        within one another
    fail_on = ["error"]                severities, or ids of findings
    baseline = "weakspot-baseline.json"
    budget = "2m"                      for the whole run: 10, "500ms", "10s", "1h"
    pages = "https://host/{id}.html"   where the pages on findings are published, for SARIF

    [run]
    machines = ["local"]               where tests run, and for how long each
    seconds = 1

    [machines]                         names of machines, for `machines` above and --on
    pi = "ssh:pi.lan"                  an address, or with options:
    server = { address = "ssh:me@server", cores = 4, flags = ["-march=native"] }
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from weakspot.generators.source.assembly.meaning import Meaning
from weakspot.generators.source.build import Volatile
from weakspot.harness.corpus.models import MACHINES
from weakspot.harness.values.bounds import DEFAULT, MOST_DEPARTURES, Part, Reduction

Duration = int | float | str
WRITE_DURATION = 'write "500ms", "10s" or "2m"'


class BuildTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The table [build], as it is in the file."""

    include: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()
    std: str | tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    compile_commands: str = ""
    sources: tuple[str, ...] = ()
    volatile: Volatile | None = None
    features: tuple[str, ...] = ()
    loom: bool = False


class Explore(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The table [explore], as it is in the file."""

    loops: Annotated[int, msgspec.Meta(ge=1)] | None = None
    seconds: Duration | None = None
    bound: Annotated[int, msgspec.Meta(ge=0, le=MOST_DEPARTURES)] | None = None
    sample: bool = False
    without: tuple[Reduction, ...] = ()

    @property
    def part(self) -> Part:
        """What is explored where the time does not suffice for all executions, and how."""
        return Part(
            departures=self.bound,
            sample=self.sample,
            without=self.without,
            fallback=self.bound is not None or self.sample,
        )


class Gate(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The table [gate], as it is in the file."""

    scenarios: tuple[str, ...] = ()
    unroll: Annotated[int, msgspec.Meta(ge=1)] | None = None
    executions: Annotated[int, msgspec.Meta(ge=0)] = DEFAULT.executions
    events: Annotated[int, msgspec.Meta(ge=1)] = DEFAULT.events
    instructions: Annotated[int, msgspec.Meta(ge=1)] = DEFAULT.instructions
    calls: Annotated[int, msgspec.Meta(ge=1)] = DEFAULT.calls
    fail_on: tuple[str, ...] = ("error",)
    baseline: str = ""
    budget: Duration = "2m"
    pages: str = ""


class Run(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The table [run]: the defaults of `weakspot run` and `weakspot test`."""

    machines: tuple[str, ...] = ("local",)
    seconds: Duration = 1


class MachineTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A machine of the table [machines], as it is in the file."""

    address: str
    cores: Annotated[int, msgspec.Meta(ge=1)] | None = None
    flags: tuple[str, ...] = ()


class Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of a file."""

    models: tuple[str, ...] = ()
    machine_models: tuple[str, ...] = MACHINES
    build: BuildTable = BuildTable()
    asm: tuple[Meaning, ...] = ()
    explore: Explore = Explore()
    gate: Gate = Gate()
    run: Run = Run()
    machines: dict[str, object] = {}  # each an address, or a MachineTable
