"""The page of a test: verdicts, outcomes, the reasons, and where it comes from in the source."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from weakspot.generators.emit.kernel import value
from weakspot.generators.litmus import Test
from weakspot.harness.judge.observations import can_contradict
from weakspot.harness.report import drawing, witness
from weakspot.harness.report.measurements import runner_differences
from weakspot.harness.report.site.bars import Axis, Bar, axis, target_rate
from weakspot.harness.report.site.data import SiteData
from weakspot.harness.report.site.diagrams import Diagram, diagram
from weakspot.harness.report.site.observations import weaker_variants
from weakspot.harness.report.site.pages import Page
from weakspot.harness.report.site.reproduction import of_test
from weakspot.harness.report.site.source_excerpts import origin_threads
from weakspot.harness.report.site.writer import SiteWriter
from weakspot.harness.values.agreement import conclusive, models_by_answer
from weakspot.harness.values.condition import Proposition, proposition
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.rates import rate
from weakspot.harness.values.record import Entry, Record, unique
from weakspot.harness.values.state import normalized
from weakspot.harness.values.verdict import Verdict


class OutcomeRow(msgspec.Struct, frozen=True):
    """A final state: the models that allow it, and a bar for each run. `allowed` is None for a
    model without a list of states; `target` marks the condition's outcome. A bar is None where
    nothing ran."""

    state: str
    target: bool
    allowed: tuple[bool | None, ...]
    bars: tuple[Bar | None, ...]

    @property
    def status(self) -> str:
        """What the models answer together."""
        known = {each for each in self.allowed if each is not None}
        if not known:
            return ""
        return "some" if len(known) > 1 else "allowed" if True in known else "forbidden"


class Reason(msgspec.Struct, frozen=True, kw_only=True):
    """Why a model, or several with the same explanation, allow or forbid the outcome."""

    models: tuple[str, ...]
    explanation: tuple[str, ...]
    columns: tuple[str, ...]
    diagram: Diagram | None


def write(writer: SiteWriter) -> None:
    """Write the page of each test."""
    for entry in writer.site.record.entries:
        path = f"report/tests/{writer.site.pages[entry.name]}"
        reproduction = of_test(writer.site.record, entry, writer.folder)
        writer.write(path, "test.html.j2", reproduction=reproduction, **_values(writer.site, entry))


def _values(site: SiteData, entry: Entry) -> dict[str, object]:
    """What the template shows of a test."""
    record = site.record
    allowed, forbidden, racy = models_by_answer(record, entry)
    verdicts = [
        verdict
        for model in entry.models
        for verdict in record.verdicts_of.get((entry.name, model), ())
    ]
    checkers = unique(verdict.checker for verdict in verdicts)
    histograms = record.histograms_of.get(entry.name, ())
    scale = axis(filter(None, map(target_rate, histograms)))
    return {
        "entry": entry,
        "models": entry.models,
        "allowed": allowed,
        "forbidden": forbidden,
        "racy": racy,
        "histograms": histograms,
        "findings": site.findings.get(entry.name, ()),
        "claims": [
            (structure.name, claim)
            for structure, claim in record.claims
            if claim.test == entry.name
        ],
        "shown_by": [
            (name, page)
            for name, page in site.programs.items()
            if any(
                violation.test == entry.name
                for exploration in record.explorations_of[name]
                for violation in exploration.violations
            )
        ],
        "diagram": diagram(drawing.of_cycle(entry.test)),
        "checkers": checkers,
        "matrix": [
            (
                model,
                record.model[model].role if model in record.model else "",
                [_of(verdicts, model, checker) for checker in checkers],
            )
            for model in entry.models
        ],
        "outcomes": _outcomes(record, entry, histograms, scale),
        "axis": scale,
        "runner_differences": list(runner_differences(histograms)),
        "variants": weaker_variants(site, record, entry),
        "reasons": _reasons(verdicts),
        "compiled": record.compiled_of.get(entry.name, ()),
        "origins": [(origin, origin_threads(site, origin)) for origin in entry.test.origins],
    }


def _reasons(verdicts: Iterable[Verdict]) -> tuple[Reason, ...]:
    found: defaultdict[tuple[tuple[str, ...], tuple[str, ...]], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        texts = tuple(witness.explanation(verdict)), tuple(witness.columns(verdict.witness))
        if verdict.witness is not None or verdict.forbidden_by:
            found[texts].append(verdict)
    return tuple(
        Reason(
            models=tuple(verdict.model for verdict in given),
            explanation=explanation,
            columns=columns,
            diagram=diagram(drawing.of_witness(given[0].witness)) if given[0].witness else None,
        )
        for (explanation, columns), given in found.items()
    )


def _of(verdicts: Iterable[Verdict], model: str, checker: str) -> Verdict | None:
    return next((v for v in verdicts if v.model == model and v.checker == checker), None)


def _outcomes(
    record: Record, entry: Entry, histograms: Sequence[Histogram], scale: Axis
) -> tuple[OutcomeRow, ...]:
    """Every state that a checker lists or a machine showed, and the one that the condition asks
    for, with their common variables."""
    listed: dict[str, list[dict[str, str]] | None] = {}  # None: a race, so everything is allowed
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
    asked = _asked(entry.test)
    if all(asked.keys() >= state.keys() for state in every):
        every.append(asked)  # also if nothing lists or showed it
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
        target = _satisfied(holds, dict(zip(names, values, strict=True)))
        found.append(
            OutcomeRow(
                " ".join(f"{name}={value}" for name, value in zip(names, values, strict=True)),
                target,
                tuple(
                    (listed[model] is None or model not in forbidding) if model in allowed else None
                    for model in entry.models
                ),
                tuple(
                    _bar(record, histogram, counted[values], target, forbidding, scale)
                    for histogram, counted in zip(histograms, counts, strict=True)
                ),
            )
        )
    return tuple(sorted(found, key=lambda row: not row.target))


_Key = tuple[str, ...]


def _asked(test: Test) -> dict[str, str]:
    """The state that the condition of a generated test asks for."""
    body = test.body
    if body is None:
        return {}
    return {each.left.strip("[]"): value(each, body) for each in body.atoms}


def _satisfied(holds: Proposition | None, state: dict[str, str]) -> bool:
    """Whether the state satisfies the condition, which spells locations `[x]` instead of `x`."""
    bracketed = {(name if ":" in name else f"[{name}]"): value for name, value in state.items()}
    try:
        return holds is not None and holds({**state, **bracketed})
    except KeyError:
        return False


def _bar(
    record: Record,
    histogram: Histogram,
    count: int,
    target: bool,
    forbidding: Sequence[str],
    scale: Axis,
) -> Bar | None:
    if not histogram.iterations:
        return None
    # only hits of the condition's outcome are counted per episode
    independent = histogram.target_independent if target and count == histogram.target else None
    found = rate(count, max(histogram.iterations, count), independent)
    wrong = any(can_contradict(record.model[model], histogram) for model in forbidding)
    return scale.bar(found, is_forbidden=wrong and count > 0)


PAGE = Page("litmus", 4, "tests", write)
