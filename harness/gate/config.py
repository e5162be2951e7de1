"""A project's configuration: weakspot.toml, or [tool.weakspot] in pyproject.toml.

    models = ["rc20"]                  names, or paths of cat files
    machine_models = ["imm"]           the same, for programs that are safe under models

    [build]                            how programs are compiled, for every command
    include = ["include"]              folders of headers
    defines = ["CAPACITY=2"]           macros
    std = "c++17"                      or ["c11", "c++17"]
    flags = ["-isystem", "vendor"]     other options of clang
    compile_commands = "build"         the compilation database, or its folder
    sources = ["src/queue.c"]          that every program is linked with

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

Paths are relative to the file's folder. An unknown key is an error, and so is a pattern that
matches no file: a gate that checks nothing by mistake would always pass.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.source import build as builds
from weakspot.generators.source.assembly.meaning import Meaning
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.language import sources
from weakspot.harness import machines
from weakspot.harness.campaign import plan
from weakspot.harness.corpus.models import LANGUAGE, MACHINES, Model
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.values.bounds import DEFAULT, LIMITS, MOST_DEPARTURES, Bounds, Part, Reduction
from weakspot.system import project_file, toml
from weakspot.system.durations import seconds_of
from weakspot.system.project_file import PYPROJECT

BASELINE = "weakspot-baseline.json"
SUFFIXES = (*sources(), ".litmus")
SEVERITIES = ("error", "warning", "note")

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


class _Tables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    models: tuple[str, ...] = ()
    machine_models: tuple[str, ...] = MACHINES
    build: BuildTable = BuildTable()
    asm: tuple[Meaning, ...] = ()
    explore: Explore = Explore()
    gate: Gate = Gate()
    run: Run = Run()
    machines: dict[str, object] = {}  # each an address, or a MachineTable


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """A validated configuration. `root` is the folder that its paths are relative to; `file` is the
    file it was read from, None for the defaults. `budget` is in seconds."""

    root: Path
    file: Path | None = None
    explore: Explore = Explore()
    gate: Gate = Gate()
    run: Run = Run()
    machines: machines.Named = machines.NO_NAMES
    models: tuple[Model, ...]
    machine_models: tuple[Model, ...] = ()
    build: Build = NO_OPTIONS
    scenarios: tuple[str, ...] = ()  # files, relative to root, sorted
    baseline: Path
    budget: float

    @property
    def bounds(self) -> Bounds:
        """The limits of the gate's explorations but for their time, which is of the budget."""
        keys = {name: each.key for name, each in LIMITS.items() if each.key}
        limits = {name: getattr(self.gate, key) for name, key in keys.items()}
        limits["loops"] = limits["loops"] or self.explore.loops or DEFAULT.loops
        return Bounds(**limits, given={name: f"{key} =" for name, key in keys.items()})


def without_file(root: Path) -> Config:
    """The configuration of a project without a file: the defaults."""
    return _checked(root, None, _Tables(), toml.Text(root, ()), ())


def read(path: Path) -> Config:
    """Read a configuration. Raises BadInput with file, line and key."""
    return _checked(path.parent, path, *_read_tables(path))


def build_of(path: Path) -> Build:
    """The options for the compiler that a configuration has. Raises BadInput."""
    tables, text, root = _read_tables(path)
    return _build(path.parent, tables, text, root)


def models_of(path: Path) -> tuple[str, ...]:
    """The models that a configuration names; none are a command's defaults. Raises BadInput."""
    return tuple(_model_names(path.parent, _read_tables(path)[0].models))


def machine_models_of(path: Path) -> tuple[str, ...]:
    """The models of machines that a configuration names, or the defaults. Raises BadInput."""
    return tuple(_model_names(path.parent, _read_tables(path)[0].machine_models))


def explore_of(path: Path) -> Explore:
    """The limits of explorations that a configuration has. Raises BadInput."""
    tables, text, root = _read_tables(path)
    return _explore(tables, text, root)


def machines_of(path: Path) -> machines.Named:
    """The machines that a configuration names. Raises BadInput."""
    return _machines(*_read_tables(path))


def _read_tables(path: Path) -> tuple[_Tables, toml.Text, toml.Steps]:
    held, text = toml.read(Path(os.path.relpath(path)))  # as errors name it
    root = ("tool", "weakspot") if path.name == PYPROJECT else ()
    for step in root:
        held = held.get(step, {}) if isinstance(held, Mapping) else {}
    return toml.convert(held, _Tables, text, root), text, root


def _model_names(folder: Path, names: Sequence[str]) -> Iterator[str]:
    for name in names:
        yield os.path.relpath(folder / name) if name.endswith(".cat") else name


def _build(folder: Path, tables: _Tables, text: toml.Text, root: toml.Steps) -> Build:
    """The options, with paths as seen from where the user is."""
    table = tables.build

    def wrong(key: str, message: str, advice: str | None = None) -> BadInput:
        return text.wrong((*root, "build", key), f"{key}: {message}", advice)

    for word in table.defines:
        try:
            builds.define(word)
        except BadInput as error:
            raise wrong("defines", error.message, error.advice) from error
    for name in table.include:
        if not (folder / name).is_dir():
            raise wrong("include", f"no such folder: {name}", f"it is looked up in {folder}")
    for name in table.sources:
        if not (folder / name).is_file():
            raise wrong("sources", f"no such file: {name}", f"it is looked up in {folder}")
    named = folder / table.compile_commands if table.compile_commands else None
    if named is not None and not named.exists():
        raise wrong("compile_commands", f"no such file: {table.compile_commands}")
    return Build(
        defines=table.defines,
        include=tuple(folder / name for name in table.include),
        std=(table.std,) if isinstance(table.std, str) else table.std,
        flags=builds.absolute(table.flags, folder),
        compile_commands=named,
        sources=tuple(folder / name for name in table.sources),
        assembly=tables.asm,
        origin=os.path.relpath(text.path),
    )


def _explore(tables: _Tables, text: toml.Text, root: toml.Steps) -> Explore:
    table = tables.explore

    def wrong(key: str, message: str, advice: str) -> BadInput:
        return text.wrong((*root, "explore", key), f"{key}: {message}", advice)

    if table.seconds is not None and not seconds_of(str(table.seconds)):
        raise wrong("seconds", f"{table.seconds!r} is not a duration", WRITE_DURATION)
    if table.sample and table.bound is not None:
        raise wrong("sample", "bound and sample exclude one another", "remove one of the two")
    return table


def _machines(tables: _Tables, text: toml.Text, root: toml.Steps) -> machines.Named:
    found = {}
    for name, given in tables.machines.items():
        steps = (*root, "machines", name)
        if not isinstance(given, str | Mapping):
            raise text.wrong(steps, f"{name}: expected an address or a table", 'such as "ssh:HOST"')
        held = {"address": given} if isinstance(given, str) else given
        table = toml.convert(held, MachineTable, text, steps)
        if why := machines.refused_name(name):
            raise text.wrong(steps, f"{name!r} cannot name a machine: {why}")
        try:
            machines.check(table.address)
        except BadInput as error:
            raise text.wrong(steps, f"{name}: {error.message}", error.advice) from error
        line = text.line(steps)
        found[name] = machines.NamedMachine(
            address=table.address,
            cores=table.cores or 0,
            flags=table.flags,
            place=f"{text.path}:{line}" if line else str(text.path),
        )
    return found


def _checked(
    folder: Path, file: Path | None, tables: _Tables, text: toml.Text, root: toml.Steps
) -> Config:
    gate = tables.gate
    build = _build(folder, tables, text, root)

    def wrong(table: str, key: str, message: str, advice: str | None = None) -> BadInput:
        steps = (table, key) if table else (key,)
        return text.wrong((*root, *steps), f"{key}: {message}", advice)

    def seconds(table: str, key: str, given: Duration) -> float:
        found = seconds_of(str(given))
        if found is None or (table == "gate" and not found):
            raise wrong(table, key, f"{given!r} is not a duration", WRITE_DURATION)
        return found

    known = (*SEVERITIES, *KINDS)
    for name in gate.fail_on:
        if name not in known:
            advice = toml.suggest(name, known) or f"known: {', '.join(known)}"
            raise wrong(
                "gate", "fail_on", f"{name!r} is neither a severity nor the id of a finding", advice
            )
    try:
        chosen = plan.models(list(_model_names(folder, tables.models)) or [LANGUAGE])
    except BadInput as error:
        raise wrong("", "models", error.message, error.advice) from error
    try:
        machine_models = plan.models(list(_model_names(folder, tables.machine_models)))
    except BadInput as error:
        raise wrong("", "machine_models", error.message, error.advice) from error
    if gate.pages and not _is_web_address(gate.pages):
        raise wrong(
            "gate",
            "pages",
            f"{gate.pages!r} is not the address of a web page",
            'for example "https://host/{id}.html", where {id} becomes the id of a finding',
        )
    if gate.baseline and not (folder / gate.baseline).parent.is_dir():
        raise wrong("gate", "baseline", f"the folder of {gate.baseline} does not exist")
    seconds("run", "seconds", tables.run.seconds)
    if not tables.run.machines:
        raise wrong("run", "machines", "expected at least one machine", 'for example "local"')
    named = _machines(tables, text, root)
    for name in tables.run.machines:
        try:
            machines.check(name, named)
        except BadInput as error:
            raise wrong("run", "machines", error.message, error.advice) from error
    scenarios: dict[str, None] = {}
    for pattern in gate.scenarios:
        matched = list(_matching(folder, pattern))
        if not matched:
            raise wrong(
                "gate",
                "scenarios",
                f"{pattern!r} matches no file",
                f"expected files below {folder} that end in {', '.join(SUFFIXES)}",
            )
        scenarios.update(dict.fromkeys(matched))
    return Config(
        root=folder,
        file=file,
        explore=_explore(tables, text, root),
        gate=gate,
        run=tables.run,
        machines=named,
        models=tuple(chosen),
        machine_models=tuple(machine_models),
        build=Build(below=build),
        scenarios=tuple(sorted(scenarios)),
        baseline=folder / (gate.baseline or BASELINE),
        budget=seconds("gate", "budget", gate.budget),
    )


def _is_web_address(text: str) -> bool:
    try:
        address = urlsplit(text)
    except ValueError:  # brackets that do not match
        return False
    return address.scheme in ("http", "https") and bool(address.netloc) and " " not in text


def _matching(folder: Path, pattern: str) -> Iterator[str]:
    """The files that a pattern matches, relative to the folder; `..` may lead out of it."""
    if not pattern or Path(pattern).is_absolute():
        return
    for path in folder.glob(pattern):
        if path.is_file() and path.suffix in SUFFIXES:
            yield Path(os.path.relpath(path, folder)).as_posix()


Selected = tuple[Config, tuple[str, ...]]
"""A project's configuration and the scenarios to check."""


def select(file: Path | None, paths: Sequence[Path], here: Path) -> tuple[Selected, ...]:
    """The configuration in `file`, or the nearest one of each path upwards, and the scenarios that
    the paths select. A path without one, and no path, has the nearest one from the folder `here`
    upwards. Raises BadInput if there are no scenarios."""
    file = file and here / file
    around = file or project_file.find(here)
    grouped: dict[Path | None, list[Path]] = {} if paths else {around: []}
    for path in paths:
        there = Path(os.path.normpath(here / path))
        nearest = file or project_file.find(there if there.is_dir() else there.parent)
        grouped.setdefault(nearest or around, []).append(path)
    return tuple(_selected(nearest, there, here) for nearest, there in grouped.items())


def _selected(file: Path | None, paths: Sequence[Path], here: Path) -> Selected:
    if file is None and not paths:
        raise BadInput(
            "no configuration file found and no PATH given",
            advice="weakspot init HEADER writes weakspot.toml and a first scenario; or give the "
            "paths of programs",
        )
    config = read(file) if file is not None else without_file(here)
    scenarios = chosen(config, paths)
    if not scenarios:
        raise BadInput(
            "no scenarios are configured",
            place=str(config.file),
            advice='add [gate] scenarios = ["tests/weakspot/*.cpp"]',
        )
    return config, scenarios


def chosen(config: Config, paths: Sequence[Path]) -> tuple[str, ...]:
    """The scenarios that `paths` select, relative to the configuration's folder.

    A file selects itself. A folder selects the configured scenarios below it, or, if there are
    none, the litmus tests below it. Raises BadInput for a path that selects nothing.
    """
    if not paths:
        return config.scenarios
    found: dict[str, None] = {}
    for path in paths:
        name = Path(os.path.relpath(path.absolute(), config.root)).as_posix()
        if path.is_dir():
            below = [
                each for each in config.scenarios if name == "." or each.startswith(f"{name}/")
            ]
            if not below:
                below = [
                    Path(os.path.relpath(file.absolute(), config.root)).as_posix()
                    for file in sorted(path.rglob("*.litmus"))
                ]
            if not below:
                raise BadInput(
                    "no scenario in this folder",
                    place=str(path),
                    advice="name a folder with scenarios that weakspot.toml lists, or with .litmus "
                    "files",
                )
            found.update(dict.fromkeys(below))
        elif not path.is_file():
            raise BadInput(f"no such file: {path}", advice="check the path and the spelling")
        elif path.suffix not in SUFFIXES:
            raise BadInput(
                f"not a scenario: {path.name}",
                place=str(path),
                advice=f"expected a file name that ends in {', '.join(SUFFIXES)}",
            )
        else:
            found[name] = None
    return tuple(found)


def fails(config: Config, id: str, severity: str) -> bool:
    """Whether a finding with this id and severity fails the gate."""
    return id in config.gate.fail_on or severity in config.gate.fail_on
