"""What the site's pages show, computed from a Record: no markup here, no reading of files."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from weakspot.generators.litmus import Origin
from weakspot.harness.agreement import answers, contradicts, observation, plain, within
from weakspot.harness.judge import promises, sightings
from weakspot.harness.record import Entry, Record, StructureNote, program
from weakspot.harness.report.drawing import Drawing, draw
from weakspot.harness.report.excerpts import Thread, threads
from weakspot.harness.report.tables import satisfies
from weakspot.harness.report.terminal import magnitude
from weakspot.harness.report.text import allowed_and_forbidden, where
from weakspot.harness.structures import Claim
from weakspot.harness.verdict import Exploration, Finding, Histogram, Verdict
from weakspot.harness.words import rounded, stated

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
    allowed: list[str]
    forbidden: list[str]
    racy: list[str]
    findings: tuple[Finding, ...]
    claims: tuple[tuple[str, Claim], ...]
    drawing: Drawing | None
    origins: tuple[tuple[Origin, tuple[Thread, ...]], ...]


class ClaimView(msgspec.Struct, frozen=True):
    """A claim with what was found: `found` pairs what it names with the answer and whether that
    is as recorded (None when it was not asked)."""

    claim: Claim
    page: str
    found: tuple[tuple[str, str, str, bool | None], ...]  # what, recorded, found, as recorded
    seen: tuple[Histogram, ...]


class Site(msgspec.Struct, frozen=True, kw_only=True):
    """The whole site's data: `record` with what every page needs of it."""

    record: Record
    pages: dict[str, str]  # a test's page
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
        structures=dict(_pages(structure.name for structure in record.structures)),
        grave=frozenset(each.histogram.test for each in sightings(record) if each.broken),
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


def rows(site: Site, entries: Sequence[Entry], models: Sequence[str]) -> list[list[object]]:
    """A row a test for the table that a browser filters: name, page, shape, structures, where,
    a letter a model, what machines saw, marks."""
    record = site.record
    found: list[list[object]] = []
    for entry in entries:
        letters = "".join(_letter(record, entry, model) for model in models)
        counts = record.histograms_of.get(entry.name, ())
        seen = [[each.machine, each.target, each.iterations] for each in counts]
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
                where(entry),
                letters,
                seen,
                marks,
            ]
        )
    return found


def _letter(record: Record, entry: Entry, model: str) -> str:
    verdicts = record.verdicts_of.get((entry.name, model))
    if not verdicts:
        return "-"
    if clash(verdicts):
        return "!"
    return _LETTERS[observation(record, entry.name, model) or "Unknown"]


def clash(verdicts: Sequence[Verdict]) -> bool:
    """Whether any two of the verdicts contradict each other."""
    decided = answers(verdicts)
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
        origins=tuple((origin, threads(record, origin)) for origin in entry.test.origins),
    )


def _of(verdicts: Iterable[Verdict], model: str, checker: str) -> Verdict | None:
    return next((v for v in verdicts if v.model == model and v.checker == checker), None)


def _outcomes(record: Record, entry: Entry, histograms: Sequence[Histogram]) -> tuple[Outcome, ...]:
    listed: dict[str, Verdict] = {}
    for model in entry.models:
        for verdict in answers(record.verdicts_of.get((entry.name, model), ())):
            if verdict.states:
                listed.setdefault(model, verdict)
    every = [plain(state) for verdict in listed.values() for state in verdict.states]
    every += [plain(count.state) for each in histograms for count in each.histogram]
    if not every:
        return ()
    common = set.intersection(*(set(state) for state in every))
    states = {tuple(sorted((n, v) for n, v in state.items() if n in common)): 0 for state in every}
    condition = entry.test.condition
    found = []
    for items in sorted(states):
        state = dict(items)
        allowed = {
            model: verdict.observation == "Undefined" or within(state, verdict.states)
            for model, verdict in listed.items()
        }
        found.append(
            Outcome(
                stated(state),
                satisfies(condition, state) or satisfies(condition, _bracketed(state)),
                tuple(allowed.get(model) for model in entry.models),
                tuple(_seen(record, each, state, allowed) for each in histograms),
            )
        )
    return tuple(found)


def _bracketed(state: dict[str, str]) -> dict[str, str]:
    """Locations as conditions name them: `[x]`."""
    return {(name if ":" in name else f"[{name}]"): value for name, value in state.items()}


def _seen(
    record: Record, histogram: Histogram, state: dict[str, str], allowed: dict[str, bool]
) -> Seen | None:
    count = sum(each.count for each in histogram.histogram if within(each.state, [state]))
    if not count:
        return None
    promising = [
        model
        for model, allows in allowed.items()
        if not allows and promises(record.model[model], histogram)
    ]
    part = magnitude(count, histogram.iterations)
    return Seen(count, f"{count:,}", round(100 * part, 1), bool(promising))


# --- a structure ------------------------------------------------------------------------------


def claim_views(site: Site, structure: StructureNote) -> tuple[ClaimView, ...]:
    return tuple(_claim(site, structure, claim) for claim in structure.claims)


def _claim(site: Site, structure: StructureNote, claim: Claim) -> ClaimView:
    record = site.record
    if claim.interleavings:
        name = program(structure.name, claim.scenario)
        explored = _exploration(record, name)
        result = explored.result if explored else "not explored"
        fits = None if result in ("Unknown", "not explored") else result == claim.interleavings
        return ClaimView(claim, "", (("interleavings", claim.interleavings, result, fits),), ())
    found: list[tuple[str, str, str, bool | None]] = []
    wrong = [
        each.message
        for each in site.findings.get(claim.test, ())
        if each.id == "WS001" and each.severity == "error"
    ]
    for model, expected in claim.verdict.items():
        answer = observation(record, claim.test, model) or "not checked"
        matched = None if answer in ("not checked", "Unknown") else answer == expected
        if matched is False and not any(f" under {model}:" in message for message in wrong):
            matched = True  # a checker that says less than the claim does not contradict it
        found.append((model, expected, answer, matched))
    seen = tuple(
        each for each in record.histograms_of.get(claim.test, ()) if each.arch in claim.seen
    )
    return ClaimView(claim, site.pages.get(claim.test, ""), tuple(found), seen)


def _exploration(record: Record, name: str) -> Exploration | None:
    return next((each for each in record.explorations if each.program == name), None)


def scenarios(record: Record, structure: StructureNote) -> list[tuple[object, Exploration | None]]:
    return [
        (scenario, _exploration(record, program(structure.name, scenario.name)))
        for scenario in structure.scenarios
    ]


def share(histogram: Histogram) -> str:
    """`4,021 of 1.2·10⁷`, or that it was not seen."""
    if histogram.reason and not histogram.iterations:
        return f"not run: {histogram.reason}"
    total = rounded(histogram.iterations)
    if not histogram.target:
        return f"not seen in {total}"
    return f"{histogram.target:,} of {total}"
