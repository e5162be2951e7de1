"""What control tests and unobserved outcomes say about a machine: WS402 and WS403."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.judge.observations import models_that
from weakspot.harness.values.agreement import agreed_observation
from weakspot.harness.values.descriptions import EMULATED, has_no_observed_variant
from weakspot.harness.values.finding import Evidence, Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import amount, rounded
from weakspot.harness.values.record import Record


def allowed_but_not_observed(record: Record) -> Iterator[Finding]:
    """WS402, one note per machine: how many outcomes that all models allow were not observed."""
    for machine, histograms in _by_machine(
        each for each in record.histograms if each.iterations and _all_models_allow(record, each)
    ):
        observed = {each.test for each in histograms if each.target}
        tests = {each.test for each in histograms}
        if observed == tests:
            continue
        runs = min(each.iterations for each in histograms)
        yield Finding(
            id="WS402",
            severity="note",
            message=f"{machine}: {len(tests) - len(observed)} of {len(tests)} outcomes that every "
            f"model allows were not observed, in at least {rounded(runs)} iterations each"
            f"{_emulated(histograms)}",
            subject=machine,
            evidence=_by_shape(record, tests, observed, "observed"),
            fix=KINDS["WS402"].advice,
        )


def without_observed_variant(record: Record) -> Iterator[Finding]:
    """WS402, one note per machine: how many negative results prove nothing.

    These are outcomes that a model forbids, that were not observed, and of which no weaker variant
    was observed either.
    """
    for machine, histograms in _by_machine(
        each
        for each in record.histograms
        if each.control_tests
        and each.iterations
        and not each.target
        and models_that(record, each.test, forbid=True)
    ):
        without = {each.test for each in histograms if has_no_observed_variant(each)}
        tests = {each.test for each in histograms}
        if without:
            yield Finding(
                id="WS402",
                severity="note",
                message=f"{machine}: for {len(without)} of {len(tests)} forbidden outcomes that "
                "were not observed, no weaker variant was observed either, so this is no evidence"
                f"{_emulated(histograms)}",
                subject=machine,
                evidence=_by_shape(record, tests, tests - without, "with an observed variant"),
                fix=KINDS["WS402"].advice,
            )


def failed_controls(record: Record) -> Iterator[Finding]:
    """WS403, one finding per machine and runner whose fenced control tests were weakly ordered."""
    failed: defaultdict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for histogram in record.histograms:
        for control in histogram.control_tests:
            if control.wrong:
                failed[histogram.machine, histogram.runner][histogram.test] = control.wrong
    for (machine, runner), tests in failed.items():
        first = next(iter(tests))
        yield Finding(
            id="WS403",
            severity="error",
            message=f"{runner} on {machine}: {amount(len(tests), 'control test')} failed: "
            f"{first} with all fences showed {tests[first]}",
            subject=machine,
            evidence=tuple(
                Evidence("histogram", f"{test}, fenced: {wrong}") for test, wrong in tests.items()
            ),
            fix=KINDS["WS403"].advice,
        )


def _emulated(histograms: Sequence[Histogram]) -> str:
    return f" ({EMULATED})" if any(each.emulated for each in histograms) else ""


def _by_machine(histograms: Iterable[Histogram]) -> Iterator[tuple[str, list[Histogram]]]:
    found: defaultdict[str, list[Histogram]] = defaultdict(list)
    for histogram in histograms:
        found[histogram.machine].append(histogram)
    yield from found.items()


def _by_shape(
    record: Record, tests: Iterable[str], chosen: Collection[str], what: str
) -> tuple[Evidence, ...]:
    """How many of the tests of each shape are among the chosen ones."""
    shapes: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    for test in tests:
        entry = record.entry.get(test)
        shapes[(entry.test.shape if entry else "") or "other"][test in chosen] += 1
    return tuple(
        Evidence("histogram", f"{shape}: {count[True]} of {count.total()} {what}")
        for shape, count in sorted(shapes.items())
    )


def _all_models_allow(record: Record, histogram: Histogram) -> bool:
    """Whether at least one model applies to this machine, and all that do allow the outcome."""
    observations = [
        agreed_observation(record, histogram.test, model.name)
        for model in record.model.values()
        if model.role == "language"
        or (model.role == "hardware" and model.applies_to(histogram.arch))
    ]
    decided = [each for each in observations if each is not None]
    return bool(decided) and all(each in ("Sometimes", "Always", "Undefined") for each in decided)
