"""What differs between two campaigns, or between two logs.

In: two records. Out: a Comparison. Answers are compared if both records have one for the same
question: the program or test, the model and the checker, or the machine and the runner. A log of
herd7 or litmus7 names neither, so that its answers are those to a question without these names. As
mcompare7 does, states observed on a machine are compared with the states that a model allows, if
one record has the ones and the other one the others.

A rate is how often the outcome of a test's condition was observed. Two rates are compared by the
test in `values.rates`, on the hits of different episodes if the runner counts them; the p-values
are corrected for their number (Holm, Scandinavian Journal of Statistics 6, 1979). Two runs on one
machine differ more than independent hits would, with its load, frequency and placement of memory;
so a rate is reported as changed only if it is at least twice the other one, too. That the rate of a
whole program differs is only noted: its instances are not independent, and the runner chooses how
to start them while it runs. Of two campaigns in succession on a loaded machine, four of six
programs had rates that differed by factors of 2 to 9, and of twelve tests none.

A machine that has another name in the second record than in the first is the same one if
MachineInfo.is_same says so. If one name leads to other hardware in the second record, its rates are
compared nevertheless, but that they differ is only noted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

import msgspec

from weakspot.harness.values.agreement import contradicts
from weakspot.harness.values.codegen import CodegenComparison
from weakspot.harness.values.descriptions import describe_machine, exploration_outcome
from weakspot.harness.values.difference import Comparison, Difference, DifferenceKind, Weight
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.numbers import amount, rounded
from weakspot.harness.values.program_run import ProgramRun
from weakspot.harness.values.rates import equal_rates_p
from weakspot.harness.values.record import Record
from weakspot.harness.values.state import State, within
from weakspot.harness.values.verdict import Verdict

SIGNIFICANCE = 0.01
FACTOR = 2.0
"""How many times as large the larger of two rates has to be."""

T = TypeVar("T")
D = TypeVar("D")
Question = tuple[str, str]
"""What is asked about, and how: `("SB", "rc20 engine")`."""


def compare(
    before: Record, after: Record, names: tuple[str, str] = ("before", "after")
) -> Comparison:
    """Everything in which two records differ, the most important first."""
    renamed = _renamed(before, after)
    after = _with_names(after, renamed)
    both = _Both()
    histograms = [*both.compare("rate", before.histograms, after.histograms, _Pair)]
    runs = both.compare("run", before.runs, after.runs, _failed)
    differences = [
        *_findings(before, after),
        *both.compare("exploration", before.explorations, after.explorations, _explored),
        *both.compare("verdict", before.verdicts, after.verdicts, _decided),
        *both.compare("code", before.compiled, after.compiled, _compiled),
        *_disallowed(before, after, both),
        *_changed([*filter(None, map(_target, histograms)), *runs], _replaced(before, after)),
        *filter(None, map(_observed, histograms)),
        *_texts(before, after),
        *_settings(before, after),
        *(_note("setting", f"machine {name}", name, now) for now, name in renamed.items()),
    ]
    weights: tuple[Weight, ...] = ("changed", "open", "note")
    return Comparison(
        before=names[0],
        after=names[1],
        differences=tuple(sorted(differences, key=lambda each: weights.index(each.weight))),
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

    def compare(
        self,
        kind: DifferenceKind,
        before: Iterable[T],
        after: Iterable[T],
        difference: Callable[[Question, T, T], D | None],
    ) -> Iterator[D]:
        one = {_question(each): each for each in before}
        other = {_question(each): each for each in after}
        one, other = _alone(one, other)
        if one or other:
            self.compared[kind] = len(one.keys() & other.keys())
        if one.keys() != other.keys():
            self.missing[kind] = (_only(one, other), _only(other, one))
        for key in one:
            if key in other and (found := difference(key, one[key], other[key])) is not None:
                yield found


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
    return one.sites == other.sites or one.message == other.message


def _described(finding: Finding) -> str:
    sites = f" ({', '.join(finding.sites)})" if finding.sites else ""
    return f"{finding.message.removeprefix(f'{finding.subject}: ')}{sites}"


def _finding(finding: Finding, before: str, after: str) -> Difference:
    return Difference(
        kind="finding",
        subject=finding.subject,
        under=finding.id,
        before=before,
        after=after,
        weight="note" if finding.severity == "note" else "changed",
    )


def _explored(asked: Question, one: Exploration, other: Exploration) -> Difference | None:
    outcomes = exploration_outcome(one), exploration_outcome(other)
    if outcomes[0] == outcomes[1]:
        return None
    return _answer("exploration", asked, outcomes, (one.result, other.result))


def _decided(asked: Question, one: Verdict, other: Verdict) -> Difference | None:
    answers = _observation(one), _observation(other)
    if answers[0] == answers[1] and not contradicts(one, other):
        return None
    only_one, only_other = _apart(one.states, other.states)
    return _answer(
        "verdict", asked, answers, (one.observation, other.observation), only_one, only_other
    )


def _observation(verdict: Verdict) -> str:
    flags = f" ({', '.join(sorted(verdict.flags))})" if verdict.flags else ""
    return f"{verdict.observation}{flags}"


def _compiled(
    asked: Question, one: CodegenComparison, other: CodegenComparison
) -> Difference | None:
    only_one, only_other = _apart(one.beyond, other.beyond)
    if one.result == other.result and not only_one and not only_other:
        return None
    results = one.result, other.result
    return _answer("code", asked, results, results, only_one, only_other)


def _answer(
    kind: DifferenceKind,
    asked: Question,
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
        subject=asked[0],
        under=asked[1],
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


class _Pair(NamedTuple):
    """Two histograms of a test."""

    asked: Question
    one: Histogram
    other: Histogram


class _Rates(msgspec.Struct, frozen=True):
    """How often something happened in so many runs, in both records."""

    kind: DifferenceKind
    asked: Question
    hits: tuple[int, int]
    runs: tuple[int, int]
    machine: str

    @property
    def p(self) -> float:
        """The probability of hits that differ at least as much, if the rates are equal."""
        return equal_rates_p(self.hits, self.runs)

    @property
    def factor(self) -> float:
        """How many times as large the larger rate is."""
        low, high = sorted(hits / runs for hits, runs in zip(self.hits, self.runs, strict=True))
        return high / low if low else math.inf if high else 1.0


def _target(pair: _Pair) -> _Rates | None:
    """Of the target; of its hits in different episodes, if both runners count them."""
    asked, one, other = pair
    if not one.iterations or not other.iterations:
        return None
    hits = one.target, other.target
    if one.target_independent is not None and other.target_independent is not None:
        hits = one.target_independent, other.target_independent
    return _Rates("rate", asked, hits, (one.iterations, other.iterations), one.machine)


def _failed(asked: Question, one: ProgramRun, other: ProgramRun) -> _Rates | None:
    if not one.instances or not other.instances:
        return None
    instances = one.instances, other.instances
    return _Rates("run", asked, (one.failed, other.failed), instances, one.machine)


def _changed(rates: Iterable[_Rates], replaced: Collection[str]) -> Iterator[Difference]:
    """The rates that differ by more than noise. For programs, and on machines that were `replaced`,
    that is a note."""
    ordered = sorted(rates, key=lambda each: each.p)
    highest = 0.0
    for rank, each in enumerate(ordered):
        highest = max(highest, min(1.0, each.p * (len(ordered) - rank)))
        if highest > SIGNIFICANCE:
            return
        if each.factor >= FACTOR:
            before, after = (
                f"{rounded(hits) if hits else 'not observed'} in {rounded(runs)}"
                for hits, runs in zip(each.hits, each.runs, strict=True)
            )
            yield Difference(
                kind=each.kind,
                subject=each.asked[0],
                under=each.asked[1],
                before=before,
                after=after,
                weight="note" if each.kind == "run" or each.machine in replaced else "changed",
                p=highest,
                hits=each.hits,
                runs=each.runs,
            )


def _observed(pair: _Pair) -> Difference | None:
    """The states that only one of the two has observed: rare ones differ from run to run."""
    asked, one, other = pair
    states = ([c.state for c in each.histogram if c.count] for each in (one, other))
    only_one, only_other = _apart(*states)
    if not only_one and not only_other:
        return None
    return Difference(
        kind="outcome",
        subject=asked[0],
        under=asked[1],
        before=amount(len(one.histogram), "state"),
        after=amount(len(other.histogram), "state"),
        weight="note",
        only_before=only_one,
        only_after=only_other,
    )


# --- what may explain a difference ---------------------------------------------------------------


def _texts(before: Record, after: Record) -> Iterator[Difference]:
    """Tests and programs of one name whose texts differ."""
    one, other = _digests(before), _digests(after)
    for name in one:
        if name in other and one[name] != other[name]:
            yield _note("text", name, one[name], other[name])


def _digests(record: Record) -> dict[str, str]:
    hashed = {each.test: each.hash for each in record.verdicts if each.hash}
    hashed |= {each.test: each.hash for each in record.histograms if each.hash}
    written = {each.name: each.digest for each in record.entries}
    return {**hashed, **written, **record.manifest.programs}


def _settings(before: Record, after: Record) -> Iterator[Difference]:
    """Tools, models, machines and options."""
    one, other = before.manifest, after.manifest
    if not one.started or not other.started:
        return
    yield from _different("weakspot", {"": one.weakspot}, {"": other.weakspot})
    names = {**one.tools, **other.tools}
    tools = ({name: which.tools.get(name) or "absent" for name in names} for which in (one, other))
    yield from _different("tool", *tools)
    digests = ({each.name: each.digest for each in which.models} for which in (one, other))
    yield from _different("model", *digests)
    for name in {**before.machine, **after.machine}:
        if name not in after.machine or name not in before.machine:
            here = ("described" if name in each.machine else "absent" for each in (before, after))
            yield _note("setting", f"machine {name}", *here)
    for name, machine in before.machine.items():
        if name in after.machine:
            now = after.machine[name]
            if not machine.is_same(now):
                described = describe_machine(machine), describe_machine(now)
                yield _note("setting", f"machine {name} is another one", *described)
            profiles = machine.profile, now.profile
            yield from _different(f"machine {name}", *map(_steady, profiles))
    yield from _different("option", *(msgspec.to_builtins(each.plan) for each in (one, other)))


def _steady(profile: Mapping[str, object]) -> dict[str, object]:
    """What does not change from one measurement to the next."""
    return {name: value for name, value in profile.items() if not isinstance(value, float | list)}


def _different(
    what: str, before: Mapping[str, object], after: Mapping[str, object]
) -> Iterator[Difference]:
    for name in before:
        if name in after and before[name] != after[name]:
            subject = f"{what} {name}".strip()
            yield _note("setting", subject, _shown(before[name]), _shown(after[name]))


def _shown(value: object) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(str, value)) or "none"
    return str(value)


def _note(kind: DifferenceKind, subject: str, before: str, after: str) -> Difference:
    return Difference(kind=kind, subject=subject, before=before, after=after, weight="note")
