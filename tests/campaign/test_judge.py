"""The rules by which answers become findings."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from fakes import make_test
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.judge.claims import standing
from weakspot.harness.judge.findings import exit_code, judge, undecided
from weakspot.harness.judge.observed import observed_outcomes
from weakspot.harness.values.agreement import contradicts, states_seen_by_one_runner
from weakspot.harness.values.claims import Claim, Scenario
from weakspot.harness.values.descriptions import EMULATED, negative_result_strength
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.finding import Finding, by_cause
from weakspot.harness.values.histogram import ControlTest, Count, Histogram
from weakspot.harness.values.numbers import rounded, scientific
from weakspot.harness.values.program_run import Failure, ProgramRun
from weakspot.harness.values.record import (
    Entry,
    GoldenDifference,
    MachineInfo,
    Manifest,
    ModelInfo,
    Plan,
    Record,
    StructureInfo,
)
from weakspot.harness.values.repair import SuggestedRepair
from weakspot.harness.values.state import within
from weakspot.harness.values.verdict import Verdict

MODELS = (
    ModelInfo("sc", "SC", "reference"),
    ModelInfo("tso", "TSO", "hardware", ("x86_64",)),
    ModelInfo("arm", "ARM", "hardware", ("aarch64",)),
    ModelInfo("rc11", "RC11", "language"),
    ModelInfo("clr2", "CLR", "paper"),
)
MANIFEST = Manifest(
    format=1,
    weakspot="0",
    plan=Plan(what=("flags",)),
    started="",
    finished="yes",
    models=MODELS,
    machines=(MachineInfo("local", "x86_64", False),),
)
NO_DRIFT = GoldenDifference()
WEAK = {"0:r0": "0", "1:r0": "0"}
STRONG = {"0:r0": "1", "1:r0": "1"}


def verdict(observation: str, model: str, checker: str = "herd7", **more: Any) -> Verdict:
    states = {"Never": (STRONG,), "Sometimes": (WEAK, STRONG), "Always": (WEAK,)}
    given = {
        "test": "SB",
        "condition_holds": None,
        "states": () if checker == "cbmc" else states.get(observation, ()),
        **more,
    }
    return Verdict(model=model, checker=checker, observation=observation, **given)  # type: ignore[arg-type]


def histogram(target: int, arch: str = "x86_64", **more: Any) -> Histogram:
    given = {
        "test": "SB",
        "machine": "local",
        "runner": "litmus7",
        "histogram": tuple(
            Count(state, count) for state, count in ((WEAK, target), (STRONG, 1000)) if count
        ),
        "target": target,
        "iterations": 1000 + target,
        "seconds": 1.0,
        "arch": arch,
        **more,
    }
    return Histogram(**given)


def claim(**more: Any) -> Claim:
    given = {"scenario": "both", "where": "page 1", "says": "so", **more}
    return Claim(**given)


def record(
    *values: Any, claims: tuple[Claim, ...] = (), drift: GoldenDifference = NO_DRIFT
) -> Record:
    """A record of one structure with one test, SB, and the given answers."""
    structure = StructureInfo(
        name="flags",
        title="Flags",
        models=tuple(model.name for model in MODELS),
        scenarios=(Scenario("both", "both.c"),),
        claims=claims,
        drift=drift,
    )
    entry = Entry(
        test=make_test("SB"), structures=("flags",), models=(), digest="", file="SB.litmus"
    )
    return Record(
        manifest=MANIFEST,
        structures=(structure,),
        entries=(entry,),
        verdicts=tuple(each for each in values if isinstance(each, Verdict)),
        histograms=tuple(each for each in values if isinstance(each, Histogram)),
        explorations=tuple(each for each in values if isinstance(each, Exploration)),
        runs=tuple(each for each in values if isinstance(each, ProgramRun)),
    )


def found(*values: Any, **more: Any) -> list[tuple[str, str, bool]]:
    return [(each.id, each.severity, each.recorded) for each in judge(record(*values, **more))]


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


# --- programs ---------------------------------------------------------------------------------


def exploration(
    result: str, kind: str = "assertion", model: str = "sc", test: str = ""
) -> Exploration:
    bad = Violation(
        kind=kind,  # type: ignore[arg-type]
        message="`x == 1` fails",
        sites=("both.c:2",),
        test=test,
    )
    return Exploration(
        program="flags/both",
        model=model,
        result=result,  # type: ignore[arg-type]
        violations=(bad,) if result == "Violated" else (),
        complete=6,
        reasons=("the loop at both.c:5 iterates more than 4 times",) if result == "Unknown" else (),
    )


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("assertion", "WS101"),
        ("race", "WS102"),
        ("hang", "WS103"),
        ("uninitialised", "WS104"),
        ("memory", "WS104"),
        ("lock", "WS105"),
    ],
)
def test_a_violation_is_an_error_of_its_kind(kind: str, name: str) -> None:
    assert found(exploration("Violated", kind)) == [(name, "error", False)]


def test_what_is_no_error_by_itself_is_a_warning_and_leaves_the_program_safe() -> None:
    left = exploration("Violated", "unjoined")
    safe = msgspec.structs.replace(left, result="Safe", violations=(), warnings=left.violations)
    assert found(safe) == [("WS106", "warning", False)]
    assert code(safe) == 0


def test_a_recorded_violation_is_marked_as_recorded() -> None:
    known = claim(explored={"sc": "Violated: assertion"})
    assert found(exploration("Violated"), claims=(known,)) == [("WS101", "error", True)]


def test_a_violation_of_another_kind_or_model_is_not_the_recorded_one() -> None:
    known = claim(explored={"sc": "Violated: assertion"})
    race = exploration("Violated", "race")
    assert found(race, claims=(known,)) == [("WS001", "error", False), ("WS102", "error", False)]
    both = exploration("Violated"), exploration("Violated", model="tso")
    assert found(*both, claims=(known,)) == [("WS101", "error", False), ("WS101", "error", True)]


def test_violations_beside_the_recorded_one_are_recorded_with_it() -> None:
    known = claim(explored={"sc": "Violated: assertion"})
    both = exploration("Violated"), exploration("Violated", "race")
    violations = tuple(violation for each in both for violation in each.violations)
    made = msgspec.structs.replace(both[0], violations=violations)
    assert found(made, claims=(known,)) == [("WS101", "error", True), ("WS102", "error", True)]


def test_one_violation_under_several_models_is_one_finding(snapshot: SnapshotAssertion) -> None:
    under = [exploration("Violated", model=model, test="SB") for model in ("tso", "rc11")]
    (finding,) = judge(record(exploration("Safe"), *under))
    assert finding.message == "flags/both: `x == 1` fails"
    assert [each.text.partition(",")[0] for each in finding.evidence] == [
        "Violated: assertion under tso",
        "Violated: assertion under rc11",
    ]
    assert finding.fix == snapshot


def test_a_violation_under_sc_is_not_blamed_on_memory_orders(snapshot: SnapshotAssertion) -> None:
    (finding,) = judge(record(exploration("Violated"), exploration("Violated", model="rc11")))
    assert finding.fix == snapshot


def test_the_fix_of_a_race_is_an_order_even_if_sc_has_it(snapshot: SnapshotAssertion) -> None:
    found = exploration("Violated", "race", model="rc11", test="MP")
    (finding,) = judge(record(exploration("Safe"), found))
    assert finding.fix == snapshot


def test_a_violation_that_is_recorded_and_gone_is_an_error() -> None:
    known = claim(explored={"sc": "Violated: assertion"})
    assert found(exploration("Safe"), claims=(known,)) == [("WS001", "error", False)]


def test_a_claim_of_safety_is_not_met_by_a_violation() -> None:
    known = claim(explored={"sc": "Safe"})
    ids = {name for name, _, _ in found(exploration("Violated"), claims=(known,))}
    assert ids == {"WS001", "WS101"}


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


def test_violations_that_one_change_mends_have_one_cause() -> None:
    made = record(exploration("Violated"), exploration("Violated", "race", "rc11"))
    assert [each.cause for each in judge(made)] == ["", ""]
    repair = SuggestedRepair(
        program="flags/both", model="rc11", fix="so", needs=("q.h:5 needs at least release",)
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


def code(*values: Any, **more: Any) -> int:
    made = record(*values, **more)
    return exit_code(msgspec.structs.replace(made, findings=judge(made)))


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
    (finding,) = judge(record(forbidden, histogram(0, controls=(FENCED, unseen))))
    assert (finding.id, finding.severity) == ("WS402", "note")
    assert finding.message == snapshot
    assert not judge(record(forbidden, histogram(0, controls=(FENCED, control(missed=0.2)))))
    assert not judge(record(forbidden, histogram(0)))  # nobody knows
    assert "WS402" not in str(found(forbidden, histogram(3, controls=(FENCED,))))


def test_a_negative_result_is_as_strong_as_the_variant_most_likely_missed(
    snapshot: SnapshotAssertion,
) -> None:
    counted = histogram(0, controls=(FENCED, control(missed=1e-30), control(missed=0.0123)))
    assert negative_result_strength(counted) == snapshot
    assert negative_result_strength(histogram(1, controls=(FENCED,))) == ""
    assert negative_result_strength(histogram(0)) == ""


def test_a_failed_control_test_is_an_error(snapshot: SnapshotAssertion) -> None:
    failed = histogram(
        0, iterations=0, histogram=(), controls=(control(kind="fenced", wrong="x=3"),)
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
    quiet = histogram(0, "aarch64", machine="qemu:aarch64", emulated=True, controls=(seen,))
    assert negative_result_strength(quiet).endswith(f"with probability 0.1 ({EMULATED})")
    assert EMULATED not in negative_result_strength(msgspec.structs.replace(quiet, emulated=False))
    unobserved = msgspec.structs.replace(
        quiet, controls=(msgspec.structs.replace(seen, missed=None),)
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


# --- programs on a machine --------------------------------------------------------------------


def program_run(count: int = 3, kind: str = "assertion", site: str = "both.c:7") -> ProgramRun:
    values = (Count({"n": "2"}, count),) if kind == "assertion" else ()
    failure = Failure(
        kind=kind,  # type: ignore[arg-type]
        message="n == 1",
        count=count,
        site=site if kind == "assertion" else "",
        values=values,
    )
    return ProgramRun(
        program="flags/both",
        machine="local",
        runner="native",
        instances=100,
        failures=(failure,) if count else (),
        arch="x86_64",
    )


def explored(result: str, model: str, kind: str = "assertion") -> Exploration:
    violation = Violation(kind=kind, message="failed: n == 1", sites=("both.c:7",))  # type: ignore[arg-type]
    return Exploration(
        program="flags/both",
        model=model,
        result=result,  # type: ignore[arg-type]
        violations=(violation,) if result == "Violated" else (),
        complete=4,
    )


@pytest.mark.parametrize(
    ("kind", "name"), [("assertion", "WS101"), ("hang", "WS103"), ("crash", "WS104")]
)
def test_a_failure_on_a_machine_is_an_error_with_machine_and_count(
    kind: str, name: str, snapshot: SnapshotAssertion
) -> None:
    (found,) = judge(record(program_run(kind=kind)))
    assert (found.id, found.severity, found.recorded) == (name, "error", False)
    assert (found.message, found.evidence) == snapshot
    assert not judge(record(program_run(0)))


def test_a_failure_on_a_machine_under_whose_model_the_program_is_safe_is_a_disallowed_outcome() -> (
    None
):
    given = record(program_run(), explored("Safe", "sc"), explored("Safe", "rc11"))
    (found,) = judge(given)
    assert (found.id, found.severity) == ("WS201", "error")
    assert found.message.endswith("on local, Safe under rc11"), "sc makes no promise"
    assert exit_code(given) == 0
    assert exit_code(msgspec.structs.replace(given, findings=judge(given))) == 1


def test_a_violation_that_a_machine_shows_too_is_one_finding(snapshot: SnapshotAssertion) -> None:
    (found,) = judge(record(program_run(), explored("Violated", "rc11"), explored("Safe", "sc")))
    assert found.id == "WS101"
    assert (found.message, found.evidence) == snapshot


def test_a_failure_that_no_exploration_found_is_a_finding_of_its_own() -> None:
    found = judge(record(program_run(site="both.c:9"), explored("Violated", "rc11")))
    assert [each.id for each in found] == ["WS101", "WS101"]
    found = judge(record(program_run(), explored("Violated", "rc11"), explored("Safe", "tso")))
    assert sorted(each.id for each in found) == ["WS101", "WS201"], "tso applies to this machine"


@pytest.mark.parametrize(
    ("expected", "recorded"),
    [
        ({"rc11": "Violated: assertion", "clr2": "Safe"}, True),
        ({"arm": "Violated: assertion", "clr2": "Safe"}, False),  # no model of this machine
        ({"rc11": "Violated: assertion"}, False),  # no finding claims that clr2 is wrong
        ({"rc11": "Safe", "clr2": "Safe"}, False),
    ],
)
def test_a_machine_may_agree_with_one_of_two_models_that_are_recorded_to_differ(
    expected: dict[str, str], recorded: bool
) -> None:
    given = [program_run(), explored("Violated", "rc11"), explored("Safe", "clr2")]
    findings = judge(record(*given, claims=(claim(explored=expected),)))
    assert [each.recorded for each in findings if each.id == "WS201"] == [recorded]


def test_a_recorded_violation_that_a_machine_shows_is_no_fault() -> None:
    known = claim(explored={"sc": "Safe", "rc11": "Violated: assertion"})
    found = judge(record(program_run(), claims=(known,)), with_claims=False)
    assert [(each.id, each.recorded) for each in found] == [("WS101", True)]
    known = claim(explored={"sc": "Safe", "rc11": "Safe"})
    found = judge(record(program_run(), claims=(known,)), with_claims=False)
    assert [(each.id, each.recorded) for each in found] == [("WS101", False)]
