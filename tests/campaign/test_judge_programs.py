"""The rules by which explorations and runs of programs become findings."""

from __future__ import annotations

import msgspec
import pytest
from records import claim, code, exploration, found, record
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.judge.findings import exit_code, judge
from weakspot.harness.judge.violations import violations_of
from weakspot.harness.values.exploration import Exploration, Violation
from weakspot.harness.values.histogram import Count
from weakspot.harness.values.program_run import Failure, ProgramRun

# --- explorations ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("assertion", "WS101"),
        ("race", "WS102"),
        ("hang", "WS103"),
        ("uninitialised", "WS104"),
        ("memory", "WS104"),
        ("lock", "WS105"),
        ("missed", "WS404"),
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


def test_a_finding_names_its_violation_whatever_its_message_says() -> None:
    (violation,) = exploration("Violated").violations
    one, other = (
        msgspec.structs.replace(violation, identity=f"assertion both.c:7:{at}") for at in (3, 9)
    )
    reworded = msgspec.structs.replace(one, message="thread 2 differs")
    of_sc = msgspec.structs.replace(exploration("Violated"), violations=(one, other))
    of_tso = exploration("Violated", model="tso")
    of_tso = msgspec.structs.replace(of_tso, violations=(reworded,))
    held = record(of_sc, of_tso)
    first, second = judge(held)
    assert (first.violation, first.models) == (one.identity, ("sc", "tso"))
    assert (second.violation, second.models) == (other.identity, ("sc",))
    assert [each for _, each in violations_of(held, first)] == [one, reworded]
    assert [each for _, each in violations_of(held, second)] == [other]


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
