"""What the site's pages show, computed from a Record: no markup here, no reading of files."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from weakspot.generators.litmus import Origin
from weakspot.harness.judge.claims import matches_recorded
from weakspot.harness.judge.observed import can_contradict, observed_outcomes
from weakspot.harness.report import witness
from weakspot.harness.report.drawing import Drawing, draw, draw_witness
from weakspot.harness.report.excerpts import Excerpt, Thread, excerpts, threads
from weakspot.harness.report.tables import compared
from weakspot.harness.report.terminal import magnitude
from weakspot.harness.report.text import allowed_and_forbidden, where
from weakspot.harness.values.agreement import agreed_observation, conclusive, contradicts
from weakspot.harness.values.claims import Claim, Scenario
from weakspot.harness.values.codegen import CodegenComparison
from weakspot.harness.values.condition import Proposition, proposition
from weakspot.harness.values.descriptions import exploration_outcome, machine_label
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import rounded
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import Entry, Record, StructureInfo, program_name
from weakspot.harness.values.state import normalized
from weakspot.harness.values.verdict import Verdict

_LETTERS = {"Never": "N", "Sometimes": "S", "Always": "A", "Undefined": "U", "Unknown": "?"}


class Seen(msgspec.Struct, frozen=True):
    """A count of one machine. `part` is the length of its bar, `wrong` whether a model that
    makes a promise for the machine forbids it."""

    count: int
    text: str
    part: float
    wrong: bool


class Outcome(msgspec.Struct, frozen=True):
    """A final state: which models allow it, on which machines it was seen. `allowed` is None for
    a model whose states nobody lists."""

    state: str
    target: bool
    allowed: tuple[bool | None, ...]
    seen: tuple[Seen | None, ...]


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Why a model, or several with the same words, allows or forbids the outcome."""

    models: tuple[str, ...]
    told: tuple[str, ...]
    columns: tuple[str, ...]
    drawing: Drawing | None


class TestView(msgspec.Struct, frozen=True, kw_only=True):
    """A test's page."""

    __test__ = False

    entry: Entry
    page: str
    models: tuple[str, ...]
    checkers: tuple[str, ...]
    matrix: tuple[tuple[str, str, tuple[Verdict | None, ...]], ...]  # model, role, a checker each
    outcomes: tuple[Outcome, ...]
    histograms: tuple[Histogram, ...]
    compared: tuple[str, ...]  # how the states differ that several runners saw
    allowed: list[str]
    forbidden: list[str]
    racy: list[str]
    findings: tuple[Finding, ...]
    claims: tuple[tuple[str, Claim], ...]
    drawing: Drawing | None  # of the cycle that the test is made from
    reasons: tuple[Reason, ...]
    origins: tuple[tuple[Origin, tuple[Thread, ...]], ...]
    shown_by: tuple[tuple[str, str], ...]  # programs with an execution of this cycle; their pages
    compiled: tuple[CodegenComparison, ...]


class ViolationView(msgspec.Struct, frozen=True, kw_only=True):
    """What a program does wrong, under the models that allow it, with the shortest witness."""

    violation: Violation
    models: tuple[str, ...]
    columns: tuple[str, ...]
    drawing: Drawing | None
    page: str  # of the test of its cycle
    excerpts: tuple[Excerpt, ...]  # the source that the witness's events stand in


class ProgramView(msgspec.Struct, frozen=True, kw_only=True):
    """An explored program's page."""

    name: str
    structure: str
    scenario: Scenario
    explorations: tuple[Exploration, ...]
    runs: tuple[ProgramRun, ...]
    violations: tuple[ViolationView, ...]
    findings: tuple[Finding, ...]


class Compared(msgspec.Struct, frozen=True):
    """What a claim records of a model, and what was found; `fits` is None when nobody asked."""

    recorded: str
    found: str
    fits: bool | None


class ClaimView(msgspec.Struct, frozen=True):
    """A claim with what was found, by model; `page` is that of its test or its program."""

    claim: Claim
    page: str
    found: dict[str, Compared]
    seen: tuple[Histogram, ...]


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """The whole site's data: `record` with what every page needs of it."""

    record: Record
    pages: dict[str, str]  # a test's page
    programs: dict[str, str]  # an explored program's page
    structures: dict[str, str]  # a structure's page
    grave: frozenset[str]  # tests seen although a model forbids them
    claimed: frozenset[str]
    findings: dict[str, tuple[Finding, ...]]  # by subject


def site(record: Record) -> Site:
    found: defaultdict[str, list[Finding]] = defaultdict(list)
    for finding in record.findings:
        found[finding.subject].append(finding)
    return Site(
        record=record,
        pages={
            entry.name: entry.file.removesuffix(".litmus") + ".html" for entry in record.entries
        },
        programs=dict(_pages(record.explorations_of)),
        structures=dict(_pages(structure.name for structure in record.structures)),
        grave=frozenset(
            each.histogram.test for each in observed_outcomes(record) if each.contradicted
        ),
        claimed=frozenset(
            claim.test for structure in record.structures for claim in structure.claims
        ),
        findings={subject: tuple(each) for subject, each in found.items()},
    )


def _pages(names: Iterable[str]) -> Iterable[tuple[str, str]]:
    taken: set[str] = set()
    for name in names:
        page = re.sub(r"[^A-Za-z0-9+._-]", "_", name).strip(".") or "structure"
        while page in taken:
            page += "_"
        taken.add(page)
        yield name, f"{page}.html"


# --- rows of the table of tests ---------------------------------------------------------------


def rows(
    site: Site, entries: Sequence[Entry], models: Sequence[str], structure: str = ""
) -> list[list[object]]:
    """A row a test for the table that a browser filters: name, page, shape, structures, where,
    a letter a model, what machines saw, marks."""
    record = site.record
    found: list[list[object]] = []
    for entry in sorted(entries, key=lambda entry: _interest(site, entry)):
        letters = "".join(_letter(record, entry, model) for model in models)
        counts = record.histograms_of.get(entry.name, ())
        seen = [[machine_label(each, counts), each.target, each.iterations] for each in counts]
        marks = "".join(
            mark
            for mark, holds in (
                ("f", entry.name in site.grave),
                ("s", any(each.target for each in counts)),
                ("c", entry.name in site.claimed),
                ("d", "!" in letters),
            )
            if holds
        )
        found.append(
            [
                entry.name,
                site.pages[entry.name],
                entry.test.shape,
                " ".join(entry.structures),
                where(entry, structure),
                letters,
                seen,
                marks,
            ]
        )
    return found


def _interest(site: Site, entry: Entry) -> tuple[bool, bool, bool, str]:
    """What a person looks for comes first."""
    seen = any(each.target for each in site.record.histograms_of.get(entry.name, ()))
    return (entry.name not in site.grave, entry.name not in site.claimed, not seen, entry.name)


def _letter(record: Record, entry: Entry, model: str) -> str:
    verdicts = record.verdicts_of.get((entry.name, model))
    if not verdicts:
        return "-"
    if clash(verdicts):
        return "!"
    return _LETTERS[agreed_observation(record, entry.name, model) or "Unknown"]


def clash(verdicts: Sequence[Verdict]) -> bool:
    """Whether any two of the verdicts contradict each other."""
    decided = conclusive(verdicts)
    return any(contradicts(decided[0], other) for other in decided[1:]) if decided else False


# --- a test -----------------------------------------------------------------------------------


def test_view(site: Site, entry: Entry) -> TestView:
    record = site.record
    allowed, forbidden, racy = allowed_and_forbidden(record, entry)
    verdicts = [
        verdict
        for model in entry.models
        for verdict in record.verdicts_of.get((entry.name, model), ())
    ]
    checkers = tuple(dict.fromkeys(verdict.checker for verdict in verdicts))
    histograms = record.histograms_of.get(entry.name, ())
    return TestView(
        entry=entry,
        page=site.pages[entry.name],
        models=entry.models,
        checkers=checkers,
        matrix=tuple(
            (
                model,
                record.model[model].role if model in record.model else "",
                tuple(_of(verdicts, model, checker) for checker in checkers),
            )
            for model in entry.models
        ),
        outcomes=_outcomes(record, entry, histograms),
        histograms=histograms,
        compared=tuple(compared(histograms)),
        allowed=allowed,
        forbidden=forbidden,
        racy=racy,
        findings=site.findings.get(entry.name, ()),
        claims=tuple(
            (structure.name, claim)
            for structure in record.structures
            for claim in structure.claims
            if claim.test == entry.name
        ),
        drawing=draw(entry.test),
        reasons=_reasons(verdicts),
        origins=tuple((origin, threads(record, origin)) for origin in entry.test.origins),
        compiled=record.compiled_of.get(entry.name, ()),
        shown_by=tuple(
            (name, page)
            for name, page in site.programs.items()
            if any(
                violation.test == entry.name
                for exploration in record.explorations_of[name]
                for violation in exploration.violations
            )
        ),
    )


# --- a program --------------------------------------------------------------------------------


def program_view(site: Site, structure: StructureInfo, scenario: Scenario) -> ProgramView:
    record = site.record
    name = program_name(structure.name, scenario.name)
    explorations = record.explorations_of[name]
    found: defaultdict[tuple[str, str], list[tuple[str, Violation]]] = defaultdict(list)
    for exploration in explorations:
        for violation in exploration.violations:
            found[violation.kind, violation.message].append((exploration.model, violation))
    return ProgramView(
        name=name,
        structure=structure.name,
        scenario=scenario,
        explorations=explorations,
        runs=record.runs_of.get(name, ()),
        violations=tuple(_violation(site, structure.name, given) for given in found.values()),
        findings=site.findings.get(name, ()),
    )


def _violation(site: Site, structure: str, given: Sequence[tuple[str, Violation]]) -> ViolationView:
    shown = min(
        (violation for _, violation in given),
        key=lambda each: len(each.witness.events) if each.witness else math.inf,
    )
    places = [event.site for event in shown.witness.events] if shown.witness else []
    places += shown.sites
    return ViolationView(
        violation=shown,
        models=tuple(model for model, _ in given),
        columns=tuple(witness.columns(shown.witness)),
        drawing=draw_witness(shown.witness) if shown.witness else None,
        page=site.pages.get(shown.test, ""),
        excerpts=excerpts(site.record, structure, places),
    )


def _reasons(verdicts: Iterable[Verdict]) -> tuple[Reason, ...]:
    found: defaultdict[tuple[tuple[str, ...], tuple[str, ...]], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        words = tuple(witness.told(verdict)), tuple(witness.columns(verdict.witness))
        if verdict.witness is not None or verdict.forbidden_by:
            found[words].append(verdict)
    return tuple(
        Reason(
            models=tuple(verdict.model for verdict in given),
            told=told,
            columns=columns,
            drawing=draw_witness(given[0].witness) if given[0].witness else None,
        )
        for (told, columns), given in found.items()
    )


def _of(verdicts: Iterable[Verdict], model: str, checker: str) -> Verdict | None:
    return next((v for v in verdicts if v.model == model and v.checker == checker), None)


def _outcomes(record: Record, entry: Entry, histograms: Sequence[Histogram]) -> tuple[Outcome, ...]:
    """Every state that is listed or was seen, on the variables that all name."""
    listed: dict[str, list[dict[str, str]] | None] = {}  # None: a race, everything is allowed
    for model in entry.models:
        for verdict in conclusive(record.verdicts_of.get((entry.name, model), ())):
            if verdict.states and model not in listed:
                racy = verdict.observation == "Undefined"
                listed[model] = None if racy else [normalized(state) for state in verdict.states]
    seen = [[(normalized(c.state), c.count) for c in each.histogram] for each in histograms]
    every = [state for states in listed.values() for state in states or ()]
    every += [state for counts in seen for state, _ in counts]
    if not every:
        return ()
    names = sorted(set.intersection(*(set(state) for state in every)))

    def short(state: dict[str, str]) -> _Key:
        return tuple(state[name] for name in names)

    allowed = {
        model: None if states is None else {short(state) for state in states}
        for model, states in listed.items()
    }
    counts = [Counter[_Key]() for _ in seen]
    for number, given in enumerate(seen):
        for state, count in given:
            counts[number][short(state)] += count
    holds = proposition(entry.test.condition)
    found = []
    for values in sorted({short(state) for state in every}):
        forbidding = [
            model
            for model, states in allowed.items()
            if states is not None and values not in states
        ]
        found.append(
            Outcome(
                " ".join(f"{name}={value}" for name, value in zip(names, values, strict=True)),
                _satisfied(holds, dict(zip(names, values, strict=True))),
                tuple(
                    model not in forbidding if model in allowed else None for model in entry.models
                ),
                tuple(
                    _seen(record, histogram, counted[values], forbidding)
                    for histogram, counted in zip(histograms, counts, strict=True)
                ),
            )
        )
    return tuple(found)


_Key = tuple[str, ...]


def _satisfied(holds: Proposition | None, state: dict[str, str]) -> bool:
    """Conditions name locations `[x]`; a plain state names them `x`."""
    bracketed = {(name if ":" in name else f"[{name}]"): value for name, value in state.items()}
    try:
        return holds is not None and holds({**state, **bracketed})
    except KeyError:
        return False


def _seen(
    record: Record, histogram: Histogram, count: int, forbidding: Sequence[str]
) -> Seen | None:
    if not count:
        return None
    wrong = any(can_contradict(record.model[model], histogram) for model in forbidding)
    part = magnitude(count, histogram.iterations)
    return Seen(count, f"{count:,}", round(100 * part, 1), wrong)


# --- a structure ------------------------------------------------------------------------------


def claim_views(site: Site, structure: StructureInfo) -> tuple[ClaimView, ...]:
    return tuple(_claim(site, structure, claim) for claim in structure.claims)


def _claim(site: Site, structure: StructureInfo, claim: Claim) -> ClaimView:
    record = site.record
    if claim.explored:
        name = program_name(structure.name, claim.scenario)
        given = {each.model: each for each in record.explorations_of.get(name, ())}
        return ClaimView(
            claim,
            site.programs.get(name, ""),
            {
                model: Compared(
                    expected,
                    exploration_outcome(given[model]) if model in given else "not explored",
                    matches_recorded(given[model], expected) if model in given else None,
                )
                for model, expected in claim.explored.items()
            },
            (),
        )
    found: dict[str, Compared] = {}
    wrong = [
        each.message
        for each in site.findings.get(claim.test, ())
        if each.id == "WS001" and each.severity == "error"
    ]
    for model, expected in claim.verdict.items():
        answer = agreed_observation(record, claim.test, model) or "not checked"
        matched = None if answer in ("not checked", "Unknown") else answer == expected
        if matched is False and not any(f" under {model}:" in message for message in wrong):
            matched = True  # a checker that says less than the claim does not contradict it
        found[model] = Compared(expected, answer, matched)
    seen = tuple(
        each for each in record.histograms_of.get(claim.test, ()) if each.arch in claim.seen
    )
    return ClaimView(claim, site.pages.get(claim.test, ""), found, seen)


def scenarios(
    site: Site, structure: StructureInfo
) -> list[tuple[Scenario, str, dict[str, Exploration]]]:
    """Each with the page of its program and the explorations by model."""
    return [
        (
            scenario,
            site.programs.get(name, ""),
            {each.model: each for each in site.record.explorations_of.get(name, ())},
        )
        for scenario in structure.scenarios
        for name in (program_name(structure.name, scenario.name),)
    ]


def share(histogram: Histogram) -> str:
    """`4,021 of 1.2·10⁷`, or that it was not seen."""
    if histogram.reason and not histogram.iterations:
        return f"not run: {histogram.reason}"
    total = rounded(histogram.iterations)
    if not histogram.target:
        return f"not seen in {total}"
    return f"{histogram.target:,} of {total}"
