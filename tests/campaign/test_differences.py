"""Two campaigns compared: what has changed is reported, noise and moved lines are not."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from records import MANIFEST, STRONG, WEAK, histogram, verdict

from weakspot.harness.judge.differences import compare
from weakspot.harness.values.difference import Difference
from weakspot.harness.values.estimate import Sample
from weakspot.harness.values.exploration import Exploration, Result, Violation
from weakspot.harness.values.finding import Finding
from weakspot.harness.values.program_run import Failure, ProgramRun
from weakspot.harness.values.record import MachineInfo, Record


def record(**answers: Any) -> Record:
    return Record(manifest=msgspec.structs.replace(MANIFEST, started="yes"), **answers)


def differences(before: Record, after: Record) -> list[Difference]:
    return list(compare(before, after).differences)


def kinds(before: Record, after: Record) -> list[tuple[str, str]]:
    return [(each.kind, each.weight) for each in differences(before, after)]


def finding(line: int, message: str = "failed", **more: Any) -> Finding:
    return Finding(
        id="WS101",
        severity="error",
        message=f"q: {message}",
        subject="q",
        sites=(f"q.c:{line}",),
        **more,
    )


def explored(result: Result, **more: Any) -> Exploration:
    return Exploration(program="q", model="rc20", result=result, **more)


def ran(failed: int, instances: int = 100_000) -> ProgramRun:
    failures = (Failure(kind="assertion", message="a", count=failed),) if failed else ()
    return ProgramRun(
        program="q", machine="local", runner="native", instances=instances, failures=failures
    )


def test_equal_records_do_not_differ() -> None:
    one = record(
        findings=(finding(1),),
        explorations=(explored("Safe"),),
        verdicts=(verdict("Never", "sc"),),
        histograms=(histogram(3),),
        runs=(ran(2),),
    )
    found = compare(one, one)
    assert (found.differences, found.missing) == ((), {})
    assert found.compared == {"exploration": 1, "verdict": 1, "rate": 1, "run": 1}


def test_findings_are_new_or_gone_unless_their_line_has_only_moved() -> None:
    before = record(findings=(finding(1), finding(7, "other")))
    after = record(findings=(finding(2), finding(3, "new")))
    new, gone = differences(before, after)
    assert (new.before, new.after) == ("", "new (q.c:3)")
    assert (gone.before, gone.after) == ("other (q.c:7)", "")


def test_two_violations_at_one_line_are_two() -> None:
    one = finding(1, violation="assertion q.c:1:3", message="assertion failed: x")
    other = finding(1, violation="assertion q.c:1:9", message="assertion failed: y")
    found = differences(record(findings=(one,)), record(findings=(other,)))
    assert [(each.before, each.after) for each in found] == [
        ("", "assertion failed: y (q.c:1)"),
        ("assertion failed: x (q.c:1)", ""),
    ]


def test_a_finding_that_is_recorded_now_is_not_gone() -> None:
    assert (
        kinds(record(findings=(finding(1),)), record(findings=(finding(1, recorded=True),))) == []
    )


def test_an_answer_that_changes_a_question_that_opens_and_one_that_closes() -> None:
    race = Violation(kind="race", message="m")
    safe, bad = record(explorations=(explored("Safe"),)), explored("Violated", violations=(race,))
    assert kinds(safe, record(explorations=(bad,))) == [("exploration", "changed")]
    unknown = record(explorations=(explored("Unknown"),))
    assert kinds(safe, unknown) == [("exploration", "open")]
    assert kinds(unknown, safe) == [("exploration", "note")]


def test_neither_the_order_of_violations_nor_the_number_of_draws_is_a_difference() -> None:
    kinds_ = [Violation(kind=kind, message="m") for kind in ("race", "assertion")]
    one = explored("Violated", violations=tuple(kinds_))
    other = explored("Violated", violations=tuple(reversed(kinds_)))
    assert kinds(record(explorations=(one,)), record(explorations=(other,))) == []
    drawn = [
        explored("Unknown", sample=Sample(draws=draws, distinct=2, known=0.9, seed=1))
        for draws in (10_000, 20_000)
    ]
    assert kinds(*(record(explorations=(each,)) for each in drawn)) == []


def test_verdicts_differ_in_their_states_too() -> None:
    one = record(verdicts=(verdict("Sometimes", "tso"),))
    other = record(verdicts=(verdict("Sometimes", "tso", states=(WEAK,)),))
    (found,) = differences(one, other)
    assert (found.only_before, found.only_after) == ((STRONG,), ())


def test_two_models_are_compared_if_each_side_has_one() -> None:
    one, other = record(verdicts=(verdict("Sometimes", "tso"),)), verdict("Never", "sc")
    (found,) = differences(one, record(verdicts=(other,)))
    assert (found.under, found.before, found.after) == (
        "tso herd7 → sc herd7",
        "Sometimes",
        "Never",
    )
    more = verdict("Never", "arm")
    compared = compare(one, record(verdicts=(other, more)))
    assert (compared.differences, compared.compared["verdict"]) == ((), 0)


def test_a_rate_changes_if_it_does_by_more_than_noise() -> None:
    def changed(one: int, other: int) -> bool:
        before, after = record(histograms=(histogram(one),)), record(histograms=(histogram(other),))
        return ("rate", "changed") in kinds(before, after)

    assert changed(0, 50)
    assert changed(500, 30)
    assert not changed(0, 3)
    assert not changed(400, 500)  # significant if hits are independent, but less than twice


def test_that_the_rate_of_a_program_changes_is_noted_only() -> None:
    one, other = record(runs=(ran(10, 1000),)), record(runs=(ran(500, 1000),))
    assert kinds(one, other) == [("run", "note")]


def test_one_of_many_rates_has_to_differ_more() -> None:
    def found(tests: int) -> list[tuple[str, str]]:
        def those(first: int) -> Record:
            others = (histogram(10, test=f"T{number}") for number in range(tests))
            return record(histograms=(histogram(first), *others))

        return kinds(those(1), those(14))

    assert found(0) == [("rate", "changed")]
    assert found(50) == []


@given(st.integers(0, 200), st.integers(0, 200), st.integers(1, 5))
def test_comparing_the_other_way_round_finds_the_same(one: int, other: int, runs: int) -> None:
    before = record(runs=(ran(one, 1000),))
    after = record(runs=(ran(other, 1000 * runs),))
    forward, backward = differences(before, after), differences(after, before)
    assert [(each.before, each.after) for each in forward] == [
        (each.after, each.before) for each in backward
    ]


def test_what_is_observed_is_compared_with_what_is_allowed() -> None:
    allowed = record(verdicts=(verdict("Never", "sc"),))
    observed = record(histograms=(histogram(4),))
    (found,) = differences(allowed, observed)
    assert (found.kind, found.before, found.after) == ("outcome", "allowed sc", "observed local")
    assert (found.only_before, found.only_after) == ((), (WEAK,))
    (found,) = differences(observed, allowed)
    assert (found.only_before, found.only_after) == ((WEAK,), ())
    assert differences(allowed, record(histograms=(histogram(0),))) == []


def test_settings_that_may_explain_a_difference_are_notes() -> None:
    def with_kernel(kernel: str) -> Record:
        profile = {"kernel": kernel, "probes": [1.0, 2.0]}
        machine = MachineInfo("local", "x86_64", False, profile)
        return Record(
            manifest=msgspec.structs.replace(MANIFEST, started="yes", machines=(machine,))
        )

    (found,) = differences(with_kernel("6.1"), with_kernel("6.6"))
    assert (found.subject, found.before, found.after) == ("machine local kernel", "6.1", "6.6")
    assert found.weight == "note"


def test_machines_and_tools_of_one_record_alone_are_notes() -> None:
    def with_setting(machine: str, tools: dict[str, str]) -> Record:
        machines = (MachineInfo(machine, "x86_64", False),)
        return Record(
            manifest=msgspec.structs.replace(
                MANIFEST, started="yes", machines=machines, tools=tools
            )
        )

    one = with_setting("local", {"gcc": "12", "herd7": "7.58"})
    other = with_setting("ssh:pi", {"gcc": "14"})
    assert [(each.subject, each.before, each.after) for each in differences(one, other)] == [
        ("tool gcc", "12", "14"),
        ("tool herd7", "7.58", "absent"),
        ("machine local", "described", "absent"),
        ("machine ssh:pi", "absent", "described"),
    ]


def on(name: str, cpu: str, target: int, identity: str = "a") -> Record:
    profile = {"cpu": cpu, "identity": identity}
    machines = (MachineInfo(name, "x86_64", False, profile),)
    return Record(
        manifest=msgspec.structs.replace(MANIFEST, started="yes", machines=machines),
        histograms=(
            histogram(target, machine=name, iterations=1_000_000),
            histogram(5, machine="pi", iterations=1_000_000),
        ),
    )


def test_a_machine_that_was_renamed_is_compared_with_itself() -> None:
    found = compare(on("ssh:10.0.0.7", "EPYC", 10_000), on("server", "EPYC", 10))
    rate, renamed = (each for each in found.differences if each.kind in ("rate", "setting"))
    assert (rate.under, rate.weight) == ("ssh:10.0.0.7 litmus7", "changed")
    assert (renamed.subject, renamed.before, renamed.after) == (
        "machine ssh:10.0.0.7",
        "ssh:10.0.0.7",
        "server",
    )
    assert found.missing == {}
    apart = compare(on("ssh:10.0.0.7", "EPYC", 10_000), on("server", "EPYC", 10, identity="b"))
    assert apart.missing, "two machines of one kind are two"


def test_rates_of_other_hardware_under_one_name_are_notes() -> None:
    found = compare(on("local", "EPYC", 10_000), on("local", "Xeon", 10))
    (rate,) = (each for each in found.differences if each.kind == "rate")
    assert rate.weight == "note"
    settings = {each.subject: (each.before, each.after) for each in found.differences}
    assert settings["machine local is another one"] == ("x86_64, EPYC", "x86_64, Xeon")


def test_a_rate_that_changed_has_its_hits_and_runs() -> None:
    before, after = record(histograms=(histogram(900),)), record(histograms=(histogram(3),))
    (found,) = (each for each in differences(before, after) if each.kind == "rate")
    assert found.hits == (900, 3)
    assert found.runs == tuple(each.histograms[0].iterations for each in (before, after))
