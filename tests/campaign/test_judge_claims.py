"""Claims against answers, and what all findings amount to: exit code, order, what is undecided."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from records import claim, code, exploration, found, histogram, record, verdict
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.judge.claims import standing
from weakspot.harness.judge.findings import judge, undecided
from weakspot.harness.judge.observations import observed_outcomes
from weakspot.harness.values.claims import Claim
from weakspot.harness.values.finding import Finding, by_cause
from weakspot.harness.values.numbers import rounded
from weakspot.harness.values.record import GoldenDifference
from weakspot.harness.values.repair import Need, SuggestedRepair

# --- claims -----------------------------------------------------------------------------------


def messages(*values: Any, **more: Any) -> list[str]:
    return [f"{each.severity}: {each.message}" for each in judge(record(*values, **more))]


def test_a_confirmed_claim_is_not_reported() -> None:
    known = claim(test="SB", verdict={"tso": "Sometimes"})
    assert messages(verdict("Sometimes", "tso"), claims=(known,)) == []


def test_a_false_claim_reports_expected_found_and_where(snapshot: SnapshotAssertion) -> None:
    known = claim(test="SB", verdict={"tso": "Sometimes"})
    (finding,) = judge(record(verdict("Never", "tso"), claims=(known,)))
    assert (finding.message, finding.evidence) == snapshot


def test_a_less_precise_answer_does_not_contradict_a_claim() -> None:
    for recorded, answer in (("Always", "Sometimes"), ("Undefined", "Never")):
        known = claim(test="SB", verdict={"tso": recorded})
        assert messages(verdict(answer, "tso", "cbmc"), claims=(known,)) == []


def test_a_claim_about_a_test_that_is_not_generated_is_an_error(
    snapshot: SnapshotAssertion,
) -> None:
    known = claim(test="SB+gone", verdict={"tso": "Never"})
    assert messages(claims=(known,)) == snapshot


def test_a_claim_about_a_test_of_another_scenario_is_an_error(snapshot: SnapshotAssertion) -> None:
    known = claim(test="SB", scenario="other", verdict={"tso": "Never"})
    assert messages(verdict("Never", "tso"), claims=(known,)) == snapshot


def test_a_model_that_was_not_checked_is_reported_once(snapshot: SnapshotAssertion) -> None:
    known = claim(test="SB", verdict={"tso": "Never", "clr2": "Never"})
    assert messages(verdict("Never", "tso"), claims=(known, known)) == snapshot


def test_a_recorded_observation_that_did_not_happen_again_is_a_note(
    snapshot: SnapshotAssertion,
) -> None:
    known = claim(test="SB", verdict={"clr2": "Never"}, seen=("x86_64",))
    assert messages(verdict("Never", "clr2"), histogram(0), claims=(known,)) == snapshot


def test_the_standing_of_claims_is_what_was_compared() -> None:
    some = claim(test="SB", verdict={"rc11": "Never", "sc": "Never"})
    both = (verdict("Never", "rc11"), verdict("Never", "sc"))
    seen = claim(test="SB", verdict={"rc11": "Never"}, seen=("x86_64",))

    def stands(*answers: Any, of: Claim = some) -> str:
        made = record(*answers, claims=(of,))
        return standing(made, made.structures)

    assert stands() == "0 of 1 claim confirmed; 1 not checked"
    assert stands(both[0]) == "0 of 1 claim confirmed; 1 confirmed in part"
    assert stands(*both) == "1 of 1 claim confirmed"
    assert stands(both[0], verdict("Sometimes", "sc")) == "0 of 1 claim confirmed; 1 differs"
    unobserved = "0 of 1 claim confirmed; 1 not observed this time"
    assert stands(both[0], histogram(0), of=seen) == unobserved
    assert stands(both[0], histogram(1), of=seen) == "1 of 1 claim confirmed"


def test_a_claim_about_models_of_machines_is_compared_where_they_were_asked_for() -> None:
    known = claim(scenario="both", explored={"rc11": "Safe"}, machines={"imm": "Safe"})
    safe = exploration("Safe", model="rc11")
    made = record(safe, claims=(known,))
    assert [*messages(safe, claims=(known,)), standing(made, made.structures)] == [
        "1 of 1 claim confirmed"
    ]
    found = messages(safe, exploration("Violated", model="imm"), claims=(known,))
    assert "error: flags/both under imm: recorded as Safe, found Violated: assertion" in found


def test_violations_that_one_change_mends_have_one_cause() -> None:
    made = record(exploration("Violated"), exploration("Violated", "race", "rc11"))
    assert [each.cause for each in judge(made)] == ["", ""]
    repair = SuggestedRepair(
        program="flags/both", model="rc11", fix="so", changes=(Need("q.h:5", "at least release"),)
    )
    made = msgspec.structs.replace(made, repairs=(repair,))
    found = judge(made)
    assert [each.cause for each in found] == ["", "q.h:5"]  # one is not under that model
    assert [len(each) for each in by_cause(found)] == [1, 1]
    test = record(*(exploration("Violated", kind, test="SB") for kind in ("assertion", "race")))
    assert [len(each) for each in by_cause(judge(test))] == [2]


def test_generated_tests_that_differ_from_the_golden_files_are_an_error() -> None:
    (finding,) = judge(record(drift=GoldenDifference(changed=("SB",), added=("MP", "LB"))))
    assert (finding.id, finding.severity) == ("WS001", "error")
    assert [each.text for each in finding.evidence] == ["new: MP, LB", "changed: SB"]
    assert "weakspot gen flags --promote" in finding.fix


# --- the whole --------------------------------------------------------------------------------


def test_the_exit_code_is_that_of_the_most_severe_finding() -> None:
    unknown = verdict("Unknown", "tso", reason="time limit")
    finding = (verdict("Never", "rc11"), histogram(3))
    known = claim(test="SB", verdict={"rc11": "Never"}, seen=("x86_64",))
    assert code(verdict("Never", "rc11")) == 0
    assert code(*finding) == 1
    assert code(unknown) == 3
    assert code(unknown, *finding) == 1
    assert code(*finding, claims=(known,)) == 0
    assert code(verdict("Sometimes", "rc11"), histogram(0)) == 0  # a note is no finding


def test_a_question_that_one_checker_answered_is_decided() -> None:
    answers = (verdict("Unknown", "tso"), verdict("Never", "tso", "cbmc"))
    assert undecided(record(*answers)) == ()


def test_an_unfinished_exploration_is_undecided_only_where_it_was_asked_for() -> None:
    known = claim(explored={"sc": "Safe"})
    assert code(exploration("Unknown")) == 0
    assert code(exploration("Unknown"), claims=(known,)) == 3
    left = undecided(record(exploration("Unknown"), claims=(known,)))
    assert left == ("flags/both under sc: the loop at both.c:5 iterates more than 4 times",)


def test_a_test_of_the_users_that_did_not_run_is_undecided() -> None:
    lost = histogram(0, iterations=0, reason="the compiler failed")
    made = record(verdict("Never", "sc"), lost)
    assert undecided(made) == ()
    (structure,) = made.structures
    own = msgspec.structs.replace(structure, recorded=False)
    made = msgspec.structs.replace(made, structures=(own,))
    assert undecided(made) == ("SB on local: the compiler failed",)
    ran = (*made.histograms, histogram(0, runner="native"))
    assert undecided(msgspec.structs.replace(made, histograms=ran)) == ()


def test_a_claim_recorded_as_unknown_is_not_inconclusive() -> None:
    known = claim(explored={"sc": "Unknown"})
    assert code(exploration("Unknown"), claims=(known,)) == 0
    assert found(exploration("Safe"), claims=(known,)) == [("WS001", "error", False)]


def test_weak_behaviour_that_only_sc_forbids_is_no_finding() -> None:
    made = record(verdict("Never", "sc"), verdict("Sometimes", "tso"), histogram(3))
    assert judge(made) == ()
    (sighting,) = observed_outcomes(made)
    assert (sighting.forbidden, sighting.allowed, sighting.contradicted) == (("sc",), ("tso",), ())


def test_errors_come_before_notes_and_what_is_recorded_comes_last() -> None:
    known = claim(test="SB", verdict={"clr2": "Never"}, seen=("x86_64",))
    findings: tuple[Finding, ...] = judge(
        record(
            verdict("Never", "clr2"),
            verdict("Never", "rc11"),
            histogram(3),
            claims=(known, claim(test="no", verdict={"sc": "Never"})),
        )
    )
    assert [(each.id, each.recorded) for each in findings] == [
        ("WS201", False),  # what is seen and forbidden is what people look for
        ("WS001", False),
        ("WS201", True),
    ]


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0"), (9999, "9,999"), (10_000, "10⁴"), (12_345_678, "1.2·10⁷"), (99_999_999, "10⁸")],
)
def test_large_counts_are_rounded_not_misread(count: int, text: str) -> None:
    assert rounded(count) == text
