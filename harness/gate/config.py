"""A project's configuration, checked: what the tables of its file stand for.

Paths are relative to the file's folder. An unknown key is an error, and so is a pattern that
matches no file: a gate that checks nothing by mistake would always pass.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.source import build as builds
from weakspot.generators.source.build import NO_OPTIONS, Build
from weakspot.generators.source.language import MANIFEST, sources
from weakspot.harness import machines
from weakspot.harness.campaign import plan
from weakspot.harness.corpus.models import LANGUAGE, Model
from weakspot.harness.gate.tables import (
    WRITE_DURATION,
    Duration,
    Explore,
    Gate,
    MachineTable,
    Run,
    Tables,
)
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.values.bounds import DEFAULT, LIMITS, Bounds
from weakspot.system import toml
from weakspot.system.durations import seconds_of
from weakspot.system.project_file import PYPROJECT

BASELINE = "weakspot-baseline.json"
SUFFIXES = (*sources(), ".litmus", MANIFEST)
SEVERITIES = ("error", "warning", "note")


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


class ProjectFile:
    """A configuration as it is in a file, below these steps. Each part is checked when it is asked
    for. Raises BadInput with file, line and key."""

    def __init__(
        self, folder: Path, tables: Tables, text: toml.Text, root: toml.Steps = ()
    ) -> None:
        self.folder = folder
        self._tables, self._text, self._root = tables, text, root

    @classmethod
    def of(cls, path: Path) -> Self:
        """The file at that path."""
        held, text = toml.read(Path(os.path.relpath(path)))  # as errors name it
        root = ("tool", "weakspot") if path.name == PYPROJECT else ()
        for step in root:
            held = held.get(step, {}) if isinstance(held, Mapping) else {}
        return cls(path.parent, toml.convert(held, Tables, text, root), text, root)

    def _wrong(self, table: str, key: str, message: str, advice: str | None = None) -> BadInput:
        steps = (table, key) if table else (key,)
        return self._text.wrong((*self._root, *steps), f"{key}: {message}", advice)

    def _seconds(self, table: str, key: str, given: Duration, *, zero: bool = False) -> float:
        found = seconds_of(str(given))
        if found is None or not (found or zero):
            raise self._wrong(table, key, f"{given!r} is not a duration", WRITE_DURATION)
        return found

    def _names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Names of models, and paths of cat files as seen from where the user is."""
        return tuple(
            os.path.relpath(self.folder / name) if name.endswith(".cat") else name for name in names
        )

    @property
    def models(self) -> tuple[str, ...]:
        """The names of models; none are a command's defaults."""
        return self._names(self._tables.models)

    @property
    def machine_models(self) -> tuple[str, ...]:
        """The names of the models of machines, or of the defaults."""
        return self._names(self._tables.machine_models)

    @property
    def build(self) -> Build:
        """The options for the compiler, with paths as seen from where the user is."""
        table, folder = self._tables.build, self.folder
        for word in table.defines:
            try:
                builds.define(word)
            except BadInput as error:
                raise self._wrong("build", "defines", error.message, error.advice) from error
        for name in table.include:
            if not (folder / name).is_dir():
                raise self._missing("include", f"no such folder: {name}")
        for name in table.sources:
            if not (folder / name).is_file():
                raise self._missing("sources", f"no such file: {name}")
        named = folder / table.compile_commands if table.compile_commands else None
        if named is not None and not named.exists():
            message = f"no such file: {table.compile_commands}"
            raise self._wrong("build", "compile_commands", message)
        return Build(
            defines=table.defines,
            include=tuple(folder / name for name in table.include),
            std=(table.std,) if isinstance(table.std, str) else table.std,
            flags=builds.absolute(table.flags, folder),
            compile_commands=named,
            sources=tuple(folder / name for name in table.sources),
            assembly=self._tables.asm,
            volatile=table.volatile,
            features=table.features,
            loom=table.loom,
            origin=os.path.relpath(self._text.path),
        )

    def _missing(self, key: str, message: str) -> BadInput:
        return self._wrong("build", key, message, f"it is looked up in {self.folder}")

    @property
    def explore(self) -> Explore:
        """The limits of explorations."""
        table = self._tables.explore
        if table.seconds is not None:
            self._seconds("explore", "seconds", table.seconds)
        if table.sample and table.bound is not None:
            message = "bound and sample exclude one another"
            raise self._wrong("explore", "sample", message, "remove one of the two")
        return table

    @property
    def machines(self) -> machines.Named:
        """The machines that have names."""
        found = {}
        for name, given in self._tables.machines.items():
            steps, text = (*self._root, "machines", name), self._text
            if not isinstance(given, str | Mapping):
                raise text.wrong(
                    steps, f"{name}: expected an address or a table", 'such as "ssh:HOST"'
                )
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

    def config(self, file: Path | None) -> Config:
        """All of it; `file` is the file that it was read from."""
        tables, folder = self._tables, self.folder
        gate, build = tables.gate, self.build
        known = (*SEVERITIES, *KINDS)
        for name in gate.fail_on:
            if name not in known:
                message = f"{name!r} is neither a severity nor the id of a finding"
                advice = toml.suggest(name, known) or f"known: {', '.join(known)}"
                raise self._wrong("gate", "fail_on", message, advice)
        chosen = self._resolved("models", self.models or (LANGUAGE,))
        machine_models = self._resolved("machine_models", self.machine_models)
        if gate.pages and not _is_web_address(gate.pages):
            raise self._wrong(
                "gate",
                "pages",
                f"{gate.pages!r} is not the address of a web page",
                'for example "https://host/{id}.html", where {id} becomes the id of a finding',
            )
        if gate.baseline and not (folder / gate.baseline).parent.is_dir():
            message = f"the folder of {gate.baseline} does not exist"
            raise self._wrong("gate", "baseline", message)
        self._seconds("run", "seconds", tables.run.seconds, zero=True)
        if not tables.run.machines:
            message = "expected at least one machine"
            raise self._wrong("run", "machines", message, 'for example "local"')
        named = self.machines
        for name in tables.run.machines:
            try:
                machines.check(name, named)
            except BadInput as error:
                raise self._wrong("run", "machines", error.message, error.advice) from error
        return Config(
            root=folder,
            file=file,
            explore=self.explore,
            gate=gate,
            run=tables.run,
            machines=named,
            models=chosen,
            machine_models=machine_models,
            build=Build(below=build),
            scenarios=self._scenarios(),
            baseline=folder / (gate.baseline or BASELINE),
            budget=self._seconds("gate", "budget", gate.budget),
        )

    def _resolved(self, key: str, names: Sequence[str]) -> tuple[Model, ...]:
        try:
            return tuple(plan.models(names))
        except BadInput as error:
            raise self._wrong("", key, error.message, error.advice) from error

    def _scenarios(self) -> tuple[str, ...]:
        """The scenarios that the patterns match, sorted."""
        scenarios: dict[str, None] = {}
        for pattern in self._tables.gate.scenarios:
            matched = list(_matching(self.folder, pattern))
            if not matched:
                raise self._wrong(
                    "gate",
                    "scenarios",
                    f"{pattern!r} matches no file",
                    f"expected files below {self.folder} that end in {', '.join(SUFFIXES)}",
                )
            scenarios.update(dict.fromkeys(matched))
        return tuple(sorted(scenarios))


def without_file(root: Path) -> Config:
    """The configuration of a project without a file: the defaults."""
    return ProjectFile(root, Tables(), toml.Text(root, ())).config(None)


def read(path: Path) -> Config:
    """Read a configuration. Raises BadInput with file, line and key."""
    return ProjectFile.of(path).config(path)


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
        if path.is_file() and is_scenario(path):
            yield Path(os.path.relpath(path, folder)).as_posix()


def is_scenario(path: Path) -> bool:
    """Whether a file is a scenario, or the manifest of a crate, whose tests are."""
    return path.suffix in SUFFIXES or path.name == MANIFEST
