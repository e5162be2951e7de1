"""The rules by which answers about litmus tests become findings."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from records import STRONG, WEAK, claim, found, histogram, record, verdict
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.judge.findings import exit_code, judge
from weakspot.harness.values.agreement import contradicts, states_seen_by_one_runner
from weakspot.harness.values.descriptions import EMULATED, negative_result_strength
from weakspot.harness.values.histogram import ControlTest, Count
from weakspot.harness.values.numbers import scientific
from weakspot.harness.values.state import within

# --- disallowed outcomes ----------------------------------------------------------------------

ERROR, RECORDED = ("WS201", "error", False), ("WS201", "error", True)
WARNING = ("WS201", "warning", False)


@pytest.mark.parametrize(
    ("model", "arch", "more", "expected"),
    [
        ("sc", "x86_64", {}, []),  # a wish, not a promise
        ("tso", "x86_64", {}, [ERROR]),
        ("tso", "aarch64", {}, []),  # says nothing of that machine
        ("arm", "aarch64", {}, [ERROR]),
        ("arm", "aarch64", {"emulated": True}, []),  # an emulator is no such machine
        ("rc11", "x86_64", {}, [ERROR]),
        ("rc11", "aarch64", {"emulated": True}, [WARNING]),  # the emulator may be to blame
        ("clr2", "x86_64", {}, [ERROR]),
    ],
)
def test_an_outcome_contradicts_the_models_that_promise_otherwise(
    model: str, arch: str, more: dict[str, Any], expected: list[Any]
) -> None:
    assert found(verdict("Never", model), histogram(3, arch, **more)) == expected


def test_an_outcome_that_was_not_seen_contradicts_nothing() -> None:
    assert found(verdict("Never", "rc11"), histogram(0)) == []


def test_one_finding_names_every_model_that_is_contradicted(snapshot: SnapshotAssertion) -> None:
    answers = [verdict("Never", name) for name in ("sc", "tso", "rc11", "clr2")]
    (finding,) = judge(record(*answers, histogram(3)))
    assert finding.message == snapshot
    assert [each.kind for each in finding.evidence] == [
        "histogram",
        "verdict",
        "verdict",
        "verdict",
    ]


def test_a_state_that_no_checker_lists_is_disallowed_too(snapshot: SnapshotAssertion) -> None:
    strange = Count({"0:r0": "1", "1:r0": "0"}, 5)
    seen = histogram(0, histogram=(strange,))
    (finding,) = judge(record(verdict("Never", "rc11"), seen))
    assert finding.message == snapshot


def test_a_racy_program_may_do_anything() -> None:
    assert found(verdict("Undefined", "rc11"), histogram(3)) == []


def test_an_outcome_that_always_holds_must_not_fail(snapshot: SnapshotAssertion) -> None:
    always = verdict("Always", "rc11", checker="cbmc")
    (finding,) = judge(record(always, histogram(3)))
    assert finding.message == snapshot


def test_an_unknown_verdict_contradicts_nothing() -> None:
    assert found(verdict("Unknown", "rc11"), histogram(3)) == []


def test_a_machine_does_not_decide_between_checkers_that_disagree() -> None:
    answers = (verdict("Never", "rc11"), verdict("Sometimes", "rc11", "engine"))
    assert [name for name, _, _ in found(*answers, histogram(3))] == ["WS401"]


@pytest.mark.parametrize(
    ("seen", "verdicts", "expected"),
    [
        (("x86_64",), {"clr2": "Never"}, [RECORDED]),
        (("aarch64",), {"clr2": "Never"}, [ERROR]),  # seen, but not known of this machine
        ((), {"clr2": "Never"}, [ERROR]),
    ],
)
def test_a_violation_that_a_claim_records_is_no_error(
    seen: tuple[str, ...], verdicts: dict[str, Any], expected: list[Any]
) -> None:
    known = claim(test="SB", verdict=verdicts, seen=seen)
    assert found(verdict("Never", "clr2"), histogram(3), claims=(known,)) == expected


def test_a_claim_does_not_excuse_another_state() -> None:
    known = claim(test="SB", verdict={"clr2": "Never"}, seen=("x86_64",))
    strange = (Count(WEAK, 3), Count({"0:r0": "7", "1:r0": "7"}, 1))
    seen = histogram(3, histogram=strange)
    assert found(verdict("Never", "clr2"), seen, claims=(known,)) == [ERROR]


def test_an_outcome_recorded_as_seen_on_hardware_is_no_finding_on_an_emulator() -> None:
    known = claim(test="SB", verdict={"clr2": "Never"}, seen=("x86_64",))
    seen = histogram(3, "aarch64", emulated=True)
    assert found(verdict("Never", "clr2"), seen, claims=(known,)) == [("WS201", "warning", True)]


def test_an_outcome_that_only_an_emulator_shows_changes_no_exit_code_and_blames_it_first(
    snapshot: SnapshotAssertion,
) -> None:
    seen = histogram(3, "aarch64", machine="qemu:aarch64", emulated=True)
    given = record(verdict("Never", "rc11"), seen)
    (finding,) = judge(given)
    assert (finding.message, finding.fix) == snapshot
    assert exit_code(msgspec.structs.replace(given, findings=(finding,))) == 0


# --- checkers ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (("Never", "herd7"), ("Never", "engine"), False),
        (("Never", "herd7"), ("Sometimes", "engine"), True),
        (("Always", "herd7"), ("Sometimes", "engine"), True),
        (("Unknown", "herd7"), ("Sometimes", "engine"), False),
        (("Undefined", "herd7"), ("Sometimes", "engine"), True),
        (("Never", "herd7"), ("Sometimes", "cbmc"), True),
        (("Sometimes", "herd7"), ("Never", "cbmc"), True),
        (("Always", "herd7"), ("Sometimes", "cbmc"), False),  # it only says: reachable
        (("Undefined", "herd7"), ("Sometimes", "cbmc"), False),  # it knows nothing of races
        (("Unknown", "herd7"), ("Never", "cbmc"), False),
    ],
)
def test_two_answers_contradict_each_other_only_about_the_same_question(
    one: tuple[str, str], other: tuple[str, str], expected: bool
) -> None:
    first, second = verdict(one[0], "sc", one[1]), verdict(other[0], "sc", other[1])
    if one[0] == "Undefined":
        first = msgspec.structs.replace(first, states=(WEAK,))
    assert contradicts(first, second) is expected
    assert contradicts(second, first) is expected


def test_the_same_observation_with_other_states_is_a_disagreement(
    snapshot: SnapshotAssertion,
) -> None:
    more = verdict("Never", "sc", "engine", states=(STRONG, {"0:r0": "1", "1:r0": "0"}))
    (finding,) = judge(record(verdict("Never", "sc"), more))
    assert finding.id == "WS401"
    assert finding.message == snapshot


def test_a_disagreement_shows_both_answers(snapshot: SnapshotAssertion) -> None:
    (finding,) = judge(record(verdict("Never", "tso"), verdict("Sometimes", "tso", "cbmc")))
    assert finding.message == snapshot
    assert len(finding.evidence) == 2


def test_states_are_compared_by_value_and_on_what_both_name() -> None:
    assert within({"[x]": "0x1", "0:r0": "1"}, [{"x": "1"}])
    assert not within({"x": "2"}, [{"[x]": "1"}])


# --- outcomes not observed --------------------------------------------------------------------


def test_an_allowed_outcome_that_was_not_seen_is_a_note_that_counts(
    snapshot: SnapshotAssertion,
) -> None:
    (finding,) = judge(
        record(verdict("Sometimes", "tso"), verdict("Sometimes", "rc11"), histogram(0))
    )
    assert (finding.id, finding.severity) == ("WS402", "note")
    assert (finding.message, finding.evidence) == snapshot


@pytest.mark.parametrize(
    "values",
    [
        (verdict("Sometimes", "rc11"), histogram(5)),  # seen
        (verdict("Sometimes", "rc11"), verdict("Never", "tso"), histogram(0)),  # the machine's
        (verdict("Never", "rc11"), histogram(0)),  # nobody expects it
        (verdict("Sometimes", "rc11"), histogram(0, iterations=0)),  # not run
        (histogram(0),),  # nobody was asked
    ],
)
def test_an_unexpected_outcome_that_was_not_observed_is_no_finding(values: tuple[Any, ...]) -> None:
    assert found(*values) == []


# --- control tests ----------------------------------------------------------------------------


def control(**more: Any) -> ControlTest:
    given = {
        "kind": "weaker",
        "change": "P0 without its seq_cst fence",
        "target": 50,
        "target_independent": 40,
        "iterations": 1000,
        **more,
    }
    return ControlTest(**given)


FENCED = control(kind="fenced", target=0, target_independent=0)


def test_a_negative_result_without_an_observed_variant_is_a_note(
    snapshot: SnapshotAssertion,
) -> None:
    forbidden = verdict("Never", "rc11")
    unseen = control(target=0, target_independent=0)
    (finding,) = judge(record(forbidden, histogram(0, control_tests=(FENCED, unseen))))
    assert (finding.id, finding.severity) == ("WS402", "note")
    assert finding.message == snapshot
    assert not judge(record(forbidden, histogram(0, control_tests=(FENCED, control(missed=0.2)))))
    assert not judge(record(forbidden, histogram(0)))  # nobody knows
    assert "WS402" not in str(found(forbidden, histogram(3, control_tests=(FENCED,))))


def test_a_negative_result_is_as_strong_as_the_variant_most_likely_missed(
    snapshot: SnapshotAssertion,
) -> None:
    counted = histogram(0, control_tests=(FENCED, control(missed=1e-30), control(missed=0.0123)))
    assert negative_result_strength(counted) == snapshot
    assert negative_result_strength(histogram(1, control_tests=(FENCED,))) == ""
    assert negative_result_strength(histogram(0)) == ""


def test_a_failed_control_test_is_an_error(snapshot: SnapshotAssertion) -> None:
    failed = histogram(
        0, iterations=0, histogram=(), control_tests=(control(kind="fenced", wrong="x=3"),)
    )
    (finding,) = judge(record(failed))
    assert (finding.id, finding.severity) == ("WS403", "error")
    assert finding.message == snapshot


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.5, "0.5"), (0.04, "0.04"), (0.0031, "3.1·10⁻³"), (1e-5, "1·10⁻⁵"), (1e-40, "below 10⁻¹²")],
)
def test_small_numbers_are_written_out(number: float, text: str) -> None:
    assert scientific(number) == text


def test_a_negative_result_of_an_emulated_machine_is_marked() -> None:
    seen = ControlTest(
        kind="weaker", change="less", target=9, target_independent=9, iterations=10, missed=0.1
    )
    quiet = histogram(0, "aarch64", machine="qemu:aarch64", emulated=True, control_tests=(seen,))
    assert negative_result_strength(quiet).endswith(f"with probability 0.1 ({EMULATED})")
    assert EMULATED not in negative_result_strength(msgspec.structs.replace(quiet, emulated=False))
    unobserved = msgspec.structs.replace(
        quiet, control_tests=(msgspec.structs.replace(seen, missed=None),)
    )
    for answer, given in (("Sometimes", quiet), ("Never", unobserved)):
        (finding,) = judge(record(verdict(answer, "rc11"), given))
        assert finding.id == "WS402"
        assert finding.message.endswith(f"({EMULATED})")


def test_states_that_only_one_runner_observed_are_no_finding() -> None:
    ours, theirs = histogram(3, runner="native"), histogram(0)
    assert states_seen_by_one_runner([ours, theirs]) == {("local", "native"): [WEAK]}
    assert states_seen_by_one_runner([ours]) == {}
    assert states_seen_by_one_runner([ours, histogram(0, machine="qemu:aarch64")]) == {}
    assert states_seen_by_one_runner([ours, histogram(0, histogram=(), iterations=0)]) == {}
    assert not judge(record(ours, theirs))
