"""The content of a campaign, as values: the plan, the tests, the answers, the tools.

The store writes and reads it; judge and reports work on it. None of them needs the corpus, a model
file or a tool to interpret a campaign that somebody else has run.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from weakspot.generators.litmus import Test
from weakspot.harness.values.bounds import DEFAULT, LIMITS, Bounds, Limits
from weakspot.harness.values.claims import Claim, Scenario, Weakest
from weakspot.harness.values.codegen import CodegenComparison
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.repair import SuggestedRepair
from weakspot.harness.values.verdict import Verdict

_K = TypeVar("_K")
_V = TypeVar("_V")

FORMAT = 3
"""The version of the campaign folder; a folder of another version is refused."""


class Plan(Limits, frozen=True, kw_only=True):
    """What a campaign is to do. Two runs with equal plans are one campaign.

    `what` is as the user gave it: structures, C files, litmus files, folders. Without `models`
    each structure has its own. The user's programs that are safe under the models of the language
    are explored under `machine_models` too. `seconds_check` limits the check of one test under one
    model, `seconds_run` is how long one test runs on one machine; the Limits are those of each
    exploration. `budget` is how many seconds each machine is used in all, 0 for any. `compiled` are
    the compiler configurations whose code for the tests is compared with them.
    """

    what: tuple[str, ...]
    models: tuple[str, ...] = ()
    machine_models: tuple[str, ...] = ()
    checkers: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    runners: tuple[str, ...] = ()
    seconds_check: float = 20.0
    seconds_run: float = 1.0
    seconds: float = msgspec.field(name="seconds_explore", default=DEFAULT.seconds)
    budget: float = 0.0
    compiled: tuple[str, ...] = ()

    @property
    def bounds(self) -> Bounds:
        """The limits of exploring one program under one model."""
        return Bounds(**{name: getattr(self, name) for name in LIMITS})

    def within(self, bounds: Bounds) -> Plan:
        """The plan with these limits of explorations."""
        return msgspec.structs.replace(self, **{name: getattr(bounds, name) for name in LIMITS})


class ModelInfo(msgspec.Struct, frozen=True):
    """What judge and reports need to know about a model; `machines` are kinds, such as x86_64."""

    name: str
    title: str
    role: str  # reference, language, hardware, paper
    machines: tuple[str, ...] = ()
    digest: str = ""  # of the cat file and its includes: a changed file is another model

    def applies_to(self, arch: str) -> bool:
        """Whether the model describes machines of that kind."""
        return not self.machines or arch in self.machines


class MachineInfo(msgspec.Struct, frozen=True):
    """A machine, with its profile at the time of the runs."""

    name: str
    arch: str
    emulated: bool
    profile: dict[str, Any] = {}

    def is_same(self, other: MachineInfo) -> bool:
        """Whether the results of both are those of one machine, as far as is known: it has one
        name, or is one installation of an operating system, and its processor is of one kind. A
        kernel, a microcode or a compiler may have been replaced."""
        if (self.arch, self.emulated) != (other.arch, other.emulated):
            return False
        cpus = {each.profile.get("cpu") for each in (self, other)} - {None}
        if len(cpus) > 1:
            return False
        identities = {each.profile.get("identity") for each in (self, other)}
        return self.name == other.name or (len(identities) == 1 and None not in identities)


class Timing(msgspec.Struct, frozen=True):
    """How many jobs of a phase were performed, and in how many seconds."""

    jobs: int = 0
    seconds: float = 0.0

    def __add__(self, other: Timing) -> Timing:
        return Timing(self.jobs + other.jobs, round(self.seconds + other.seconds, 3))


MANIFEST = "campaign.json"
"""The file by which a campaign's folder is known."""


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The file MANIFEST.

    `finished` is empty until every job of the plan is done; `notes` say what was left out and why
    (a tool that is not installed, a test that a checker cannot read). `programs` are digests by
    name: a changed source is another program. `interrupted` names those with litmus tests that the
    time limit left out; `unread` says why programs of a folder could not be read. `timings` are by
    phase, as it is shown while the campaign runs; those of processes that were killed are missing.
    """

    format: int
    weakspot: str
    plan: Plan
    started: str
    finished: str = ""
    tools: dict[str, str] = {}
    models: tuple[ModelInfo, ...] = ()
    machines: tuple[MachineInfo, ...] = ()
    programs: dict[str, str] = {}
    interrupted: tuple[str, ...] = ()
    unread: dict[str, str] = {}
    timings: dict[str, Timing] = {}
    notes: tuple[str, ...] = ()


class GoldenDifference(msgspec.Struct, frozen=True):
    """How the generated tests differ from the golden files; all empty if they do not."""

    missing: tuple[str, ...] = ()  # golden, but no longer generated
    added: tuple[str, ...] = ()  # generated, but not golden
    changed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.missing or self.added or self.changed)


class AnnotationCosts(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of the memory orders of an annotation on the machine that started the campaign.

    `ns` are nanoseconds more than with the weakest memory order, by memory order; 0 within the
    noise."""

    at: str
    operation: str
    function: str
    written: str
    ns: dict[str, float]


class StructureInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A structure as its claims.toml describes it; a user's own program has no claims."""

    name: str
    title: str
    source: str = ""
    models: tuple[str, ...] = ()
    scenarios: tuple[Scenario, ...] = ()
    claims: tuple[Claim, ...] = ()
    drift: GoldenDifference = GoldenDifference()
    recorded: bool = True  # false for a user's own program
    weakest: tuple[Weakest, ...] = ()
    prices: tuple[AnnotationCosts, ...] = ()

    @property
    def programs(self) -> tuple[str, ...]:
        """The names of its scenarios' programs."""
        return tuple(program_name(self.name, scenario.name) for scenario in self.scenarios)

    def program_of(self, claim: Claim) -> str:
        """The name of the program that a claim is about."""
        return program_name(self.name, claim.scenario)


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A test of the campaign: the `structures` it belongs to, the `models` it is checked under, its
    `file` below tests/. `digest` identifies the text: another text is another test."""

    test: Test
    structures: tuple[str, ...]
    models: tuple[str, ...]
    digest: str
    file: str

    @property
    def name(self) -> str:
        return self.test.name


class SourceFile(msgspec.Struct, frozen=True):
    """A source file that sites refer to, with its text at the time."""

    structure: str
    file: str
    text: str


class Record(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything in a campaign folder."""

    manifest: Manifest
    structures: tuple[StructureInfo, ...] = ()
    entries: tuple[Entry, ...] = ()
    sources: tuple[SourceFile, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    explorations: tuple[Exploration, ...] = ()
    histograms: tuple[Histogram, ...] = ()
    runs: tuple[ProgramRun, ...] = ()
    compiled: tuple[CodegenComparison, ...] = ()
    repairs: tuple[SuggestedRepair, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()  # from reading the folder: an incomplete line that was ignored

    @cached_property
    def entry(self) -> dict[str, Entry]:
        return {entry.name: entry for entry in self.entries}

    @cached_property
    def model(self) -> dict[str, ModelInfo]:
        return {model.name: model for model in self.manifest.models}

    @cached_property
    def machine(self) -> dict[str, MachineInfo]:
        return {machine.name: machine for machine in self.manifest.machines}

    @cached_property
    def verdicts_of(self) -> dict[tuple[str, str], tuple[Verdict, ...]]:
        """The verdicts of a test under a model, one per checker."""
        return _grouped(self.verdicts, lambda verdict: (verdict.test, verdict.model))

    @cached_property
    def histograms_of(self) -> dict[str, tuple[Histogram, ...]]:
        """The histograms of a test, one per machine and runner."""
        return _grouped(self.histograms, lambda histogram: histogram.test)

    @cached_property
    def explorations_of(self) -> dict[str, tuple[Exploration, ...]]:
        """The explorations of a program, one per model."""
        return _grouped(self.explorations, lambda exploration: exploration.program)

    @cached_property
    def runs_of(self) -> dict[str, tuple[ProgramRun, ...]]:
        """The runs of a whole program, one per machine."""
        return _grouped(self.runs, lambda run: run.program)

    @cached_property
    def repair_of(self) -> dict[str, SuggestedRepair]:
        return {each.program: each for each in self.repairs}

    @cached_property
    def compiled_of(self) -> dict[str, tuple[CodegenComparison, ...]]:
        """The machine code of a test, one comparison per target and code."""
        return _grouped(self.compiled, lambda each: each.source)

    @cached_property
    def claims(self) -> tuple[tuple[StructureInfo, Claim], ...]:
        """Every claim, with its structure."""
        return tuple((each, claim) for each in self.structures for claim in each.claims)

    @cached_property
    def own_programs(self) -> frozenset[str]:
        """The user's own programs."""
        own = (each for each in self.structures if not each.recorded)
        return frozenset(name for each in own for name in each.programs)

    @cached_property
    def errors(self) -> tuple[Finding, ...]:
        """The errors that no claim records."""
        found = (each for each in self.findings if each.severity == "error")
        return tuple(each for each in found if not each.recorded)

    def explorations_in(self, structure: StructureInfo) -> tuple[Exploration, ...]:
        """The explorations of a structure's programs."""
        of = self.explorations_of
        return tuple(each for name in structure.programs for each in of.get(name, ()))

    def subjects_in(self, structure: StructureInfo) -> set[str]:
        """What findings about a structure are about: itself, its programs, tests and claims."""
        tests = {entry.name for entry in self.tests_of(structure.name)}
        claimed = {claim.test for claim in structure.claims}
        return {structure.name, *structure.programs} | tests | claimed

    def tests_of(self, structure: str) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if structure in entry.structures)


def _grouped(values: Iterable[_V], of: Callable[[_V], _K]) -> dict[_K, tuple[_V, ...]]:
    """The values by key, in order."""
    found: defaultdict[_K, list[_V]] = defaultdict(list)
    for value in values:
        found[of(value)].append(value)
    return {key: tuple(those) for key, those in found.items()}


def digest(*parts: str) -> str:
    """A short digest that identifies these texts."""
    joined = "\0".join(parts).encode(errors="surrogateescape")
    return hashlib.sha256(joined).hexdigest()[:16]


def key(*parts: str) -> str:
    """The name of a job: what it is about first, so that a changed test or model is redone."""
    return ":".join(parts)


def program_name(structure: str, scenario: str) -> str:
    """The name of a scenario's program in an Exploration."""
    return f"{structure}/{scenario}"


def unique(names: Iterable[str]) -> tuple[str, ...]:
    """Each name once, in order of first occurrence."""
    return tuple(dict.fromkeys(names))
