"""What differs between two campaigns, or between two logs.

In: two records. Out: a Comparison. Answers are compared if both records have one for the same
question: the program or test, the model and the checker, or the machine and the runner. A log of
herd7 or litmus7 names neither, so that its answers are those to a question without these names. As
mcompare7 does, states observed on a machine are compared with the states that a model allows, if
one record has the ones and the other one the others.

A machine that has another name in the second record than in the first is the same one if
MachineInfo.is_same says so. If one name leads to other hardware in the second record, its rates are
compared nevertheless, but that they differ is only noted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import TypeVar

import msgspec

from weakspot.harness.judge.rate_differences import changed_rates, failure_rates, target_rates
from weakspot.harness.judge.setting_differences import note, setting_differences, text_differences
from weakspot.harness.values.agreement import contradicts
from weakspot.harness.values.codegen import CodegenComparison
from weakspot.harness.values.descriptions import exploration_outcome
from weakspot.harness.values.difference import (
    Comparison,
    Difference,
    DifferenceKind,
    Question,
    Weight,
)
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import amount
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.record import Record
from weakspot.harness.values.state import State, within
from weakspot.harness.values.verdict import Verdict

T = TypeVar("T")


def compare(
    before: Record, after: Record, names: tuple[str, str] = ("before", "after")
) -> Comparison:
    """Everything in which two records differ, the most important first."""
    renamed = _renamed(before, after)
    after = _with_names(after, renamed)
    both = _Both()
    histograms = [*both.pairs("rate", before.histograms, after.histograms)]
    rates = [
        *(target_rates(*pair) for pair in histograms),
        *(failure_rates(*pair) for pair in both.pairs("run", before.runs, after.runs)),
    ]
    differences = [
        *_findings(before, after),
        *starmap(_explored, both.pairs("exploration", before.explorations, after.explorations)),
        *starmap(_decided, both.pairs("verdict", before.verdicts, after.verdicts)),
        *starmap(_compiled, both.pairs("code", before.compiled, after.compiled)),
        *_disallowed(before, after, both),
        *changed_rates(filter(None, rates), _replaced(before, after)),
        *starmap(_observed, histograms),
        *text_differences(before, after),
        *setting_differences(before, after),
        *(note("setting", f"machine {name}", name, now) for now, name in renamed.items()),
    ]
    weights: tuple[Weight, ...] = ("changed", "open", "note")
    return Comparison(
        before=names[0],
        after=names[1],
        differences=tuple(
            sorted(filter(None, differences), key=lambda each: weights.index(each.weight))
        ),
        compared=both.compared,
        missing=both.missing,
        notes=(*before.notes, *after.notes),
    )


def _renamed(before: Record, after: Record) -> dict[str, str]:
    """The machines that only one record has by that name, and that are the same: the name in the
    first by that in the second. One that could be several is left out."""
    gone = [each for name, each in before.machine.items() if name not in after.machine]
    new = [each for name, each in after.machine.items() if name not in before.machine]
    pairs = [(one.name, other.name) for one in gone for other in new if other.is_same(one)]
    ones, others = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    return {other: one for one, other in pairs if ones[one] == others[other] == 1}


def _with_names(record: Record, names: Mapping[str, str]) -> Record:
    """The record with other names of machines."""
    if not names:
        return record
    machines = tuple(
        msgspec.structs.replace(each, name=names.get(each.name, each.name))
        for each in record.manifest.machines
    )
    return msgspec.structs.replace(
        record,
        manifest=msgspec.structs.replace(record.manifest, machines=machines),
        histograms=tuple(_on(each, names) for each in record.histograms),
        runs=tuple(_on(each, names) for each in record.runs),
    )


M = TypeVar("M", Histogram, ProgramRun)


def _on(each: M, names: Mapping[str, str]) -> M:
    return msgspec.structs.replace(each, machine=names.get(each.machine, each.machine))


def _replaced(before: Record, after: Record) -> frozenset[str]:
    """The names that lead to other hardware in the second record."""
    return frozenset(
        name
        for name, machine in before.machine.items()
        if name in after.machine and not machine.is_same(after.machine[name])
    )


class _Both:
    """Answers to questions that both records have, and the questions that only one has."""

    def __init__(self) -> None:
        self.compared: dict[DifferenceKind, int] = {}
        self.missing: dict[DifferenceKind, tuple[tuple[str, ...], tuple[str, ...]]] = {}

    def pairs(
        self, kind: DifferenceKind, before: Iterable[T], after: Iterable[T]
    ) -> Iterator[tuple[Question, T, T]]:
        """The questions that both records answer, with the two answers."""
        one, other = _alone(
            {_question(each): each for each in before}, {_question(each): each for each in after}
        )
        if one or other:
            self.compared[kind] = len(one.keys() & other.keys())
        if one.keys() != other.keys():
            self.missing[kind] = (_only(one, other), _only(other, one))
        for question in one:
            if question in other:
                yield question, one[question], other[question]


def _alone(one: dict[Question, T], other: dict[Question, T]) -> tuple[dict[Question, T], ...]:
    """If each record asks in one way only, and these differ: both ways as one, so that two models,
    checkers or machines are compared."""
    ways = [{under for _, under in each} for each in (one, other)]
    if any(len(each) != 1 for each in ways) or ways[0] == ways[1]:
        return one, other
    both = " → ".join(way for each in ways for way in each)
    return tuple(
        {(about, both): each for (about, _), each in those.items()} for those in (one, other)
    )


def _only(these: Iterable[Question], those: Iterable[Question]) -> tuple[str, ...]:
    known = set(those)
    return tuple(" ".join(filter(None, each)) for each in these if each not in known)


def _question(answer: object) -> Question:
    match answer:
        case Exploration():
            return answer.program, answer.model
        case Verdict():
            return answer.test, f"{answer.model} {answer.checker}".strip()
        case CodegenComparison():
            return answer.source, " ".join(
                (answer.model, answer.target, answer.code, *answer.builds)
            )
        case Histogram():
            return answer.test, f"{answer.machine} {answer.runner}".strip()
        case ProgramRun():
            return answer.program, f"{answer.machine} {answer.runner}".strip()
        case _:
            raise TypeError(type(answer))


# --- findings and answers -----------------------------------------------------------------------


def _findings(before: Record, after: Record) -> Iterator[Difference]:
    """The findings that only one record has. A finding whose line has moved is the same one."""
    gone = [each for each in before.findings if not each.recorded]
    new = []
    for finding in after.findings:
        same = next((each for each in gone if _is_same(each, finding)), None)
        if same is not None:
            gone.remove(same)
        elif not finding.recorded:
            new.append(finding)
    for finding in new:
        yield _finding(finding, "", _described(finding))
    for finding in gone:
        yield _finding(finding, _described(finding), "")


def _is_same(one: Finding, other: Finding) -> bool:
    if (one.id, one.subject) != (other.id, other.subject):
        return False
    if one.violation and other.violation:
        return one.violation == other.violation or one.message == other.message
    return one.sites == other.sites or one.message == other.message


def _described(finding: Finding) -> str:
    sites = f" ({', '.join(finding.sites)})" if finding.sites else ""
    return f"{finding.what}{sites}"


def _finding(finding: Finding, before: str, after: str) -> Difference:
    return Difference(
        kind="finding",
        subject=finding.subject,
        under=finding.id,
        before=before,
        after=after,
        weight="note" if finding.severity == "note" else "changed",
    )


def _explored(question: Question, one: Exploration, other: Exploration) -> Difference | None:
    if _outcome(one) == _outcome(other):
        return None
    outcomes = exploration_outcome(one), exploration_outcome(other)
    return _answer("exploration", question, outcomes, (one.result, other.result))


def _outcome(exploration: Exploration) -> tuple[object, ...]:
    """What was found, or else up to where nothing was. How much was drawn at random differs from
    run to run."""
    if exploration.violations:
        return exploration.result, {each.kind for each in exploration.violations}
    return (
        exploration.result,
        None if exploration.truncated else exploration.departures,
        exploration.iterations,
        exploration.sample is not None,
    )


def _decided(question: Question, one: Verdict, other: Verdict) -> Difference | None:
    answers = _observation(one), _observation(other)
    if answers[0] == answers[1] and not contradicts(one, other):
        return None
    only_one, only_other = _apart(one.states, other.states)
    return _answer(
        "verdict", question, answers, (one.observation, other.observation), only_one, only_other
    )


def _observation(verdict: Verdict) -> str:
    flags = f" ({', '.join(sorted(verdict.flags))})" if verdict.flags else ""
    return f"{verdict.observation}{flags}"


def _compiled(
    question: Question, one: CodegenComparison, other: CodegenComparison
) -> Difference | None:
    only_one, only_other = _apart(one.beyond, other.beyond)
    if one.result == other.result and not only_one and not only_other:
        return None
    results = one.result, other.result
    return _answer("code", question, results, results, only_one, only_other)


def _answer(
    kind: DifferenceKind,
    question: Question,
    answers: tuple[str, str],
    results: tuple[str, str],
    only_before: tuple[State, ...] = (),
    only_after: tuple[State, ...] = (),
) -> Difference:
    """A question with two answers; the result Unknown is no answer."""
    weight: Weight = "changed"
    if "Unknown" in results:
        weight = "open" if results[1] == "Unknown" else "note"
    return Difference(
        kind=kind,
        subject=question[0],
        under=question[1],
        before=answers[0],
        after=answers[1],
        weight=weight,
        only_before=only_before,
        only_after=only_after,
    )


def _apart(
    one: Sequence[State], other: Sequence[State]
) -> tuple[tuple[State, ...], tuple[State, ...]]:
    """The states that only one list has; none if one of the lists is empty."""
    if not one or not other:
        return (), ()
    return (
        tuple(state for state in one if not within(state, other)),
        tuple(state for state in other if not within(state, one)),
    )


# --- observations -------------------------------------------------------------------------------


def _disallowed(before: Record, after: Record, both: _Both) -> Iterator[Difference]:
    """The states that one record has observed of a test, and the other one, which has only checked
    it, does not allow."""
    for allowing, observing, reverse in ((before, after, False), (after, before, True)):
        checked = {each.test for each in observing.verdicts}
        states = {each.test: each for each in allowing.verdicts if each.states}
        for each in observing.histograms:
            verdict = states.get(each.test)
            if verdict is None or each.test in checked or verdict.observation == "Undefined":
                continue
            both.compared["outcome"] = both.compared.get("outcome", 0) + 1
            seen = [count.state for count in each.histogram if count.count]
            beyond = tuple(state for state in seen if not within(state, verdict.states))
            if not beyond:
                continue
            texts = [f"allowed {verdict.model}".strip(), f"observed {each.machine}".strip()]
            first, second = reversed(texts) if reverse else texts
            yield Difference(
                kind="outcome",
                subject=each.test,
                before=first,
                after=second,
                only_before=beyond if reverse else (),
                only_after=() if reverse else beyond,
            )


def _observed(question: Question, one: Histogram, other: Histogram) -> Difference | None:
    """The states that only one of the two has observed: rare ones differ from run to run."""
    states = ([c.state for c in each.histogram if c.count] for each in (one, other))
    only_one, only_other = _apart(*states)
    if not only_one and not only_other:
        return None
    return Difference(
        kind="outcome",
        subject=question[0],
        under=question[1],
        before=amount(len(one.histogram), "state"),
        after=amount(len(other.histogram), "state"),
        weight="note",
        only_before=only_one,
        only_after=only_other,
    )
