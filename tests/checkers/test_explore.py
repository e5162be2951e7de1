"""Exploring a program: what the engine says of it reaches us in words of its source."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from weakspot.generators.cycles.patterns import Habits
from weakspot.generators.litmus import Site
from weakspot.generators.pipeline import NamedProgram
from weakspot.generators.source.program import Program
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.descriptions import describe_size
from weakspot.harness.values.exploration import Audit, Exploration

SITES = tuple(
    Site("queue.h", line, 3, "push", kind, order)
    for line, kind, order in (
        (10, "W", "na"),
        (11, "W", "rlx"),
        (20, "R", "acq"),
        (21, "R", "na"),
        (30, "loop", ""),
    )
)


class Lowered:
    """A program whose exploration gives a configured result."""

    of_kernel = False
    volatile_sites: tuple[int, ...] = ()

    def __init__(self, **given: Any) -> None:
        self.given = {
            "result": "Safe",
            "reasons": [],
            "limit": None,
            "bound_sites": [],
            "limits": [],
            "violations": [],
            "warnings": [],
            "threads": 2,
            "complete": 5,
            "blocked": 1,
            "skips_calls": False,
            "mixed_sizes": None,
            "not_asserted": [],
            "evidence": {
                "reductions": ["waits"],
                "exhausted": True,
                "model": "proved",
                "audit": None,
            },
            "fails": False,
            "represented": 6,
            "truncated": 0,
            "faulty": 0,
            "seconds": 0.25,
            "departures": None,
            "rounds": None,
            "loop_bound": 4,
            "doubled": None,
            "rate": None,
            "earlier": 0,
            "estimate": None,
            "sample": None,
            **given,
        }
        self.asked: dict[str, Any] = {}

    def explore(self, model: str, **asked: Any) -> dict[str, Any]:
        self.asked = {"model": model, **asked}
        return self.given


def said(message: str) -> dict[str, Any]:
    """A reason of the engine's."""
    given = {"kind": "truncated", "limit": "", "message": message}
    return {**given, "because": "", "site": "", "number": None}


def explored(lowered: Lowered, model: str = "rc11", bounds: Bounds | None = None) -> Exploration:
    program = Program(
        source=Path("mine.c"),
        files={},
        compiler="",
        digest="",
        sites=SITES,
        lowered=lowered,  # type: ignore[arg-type]
    )
    return EngineExplorer().explore(
        NamedProgram(program, Habits(dependent=frozenset({(2, 3)})), "mine.c", "mine"),
        models.resolve(model),
        bounds or Bounds(),
    )


def event(thread: int | None, kind: str, order: str, place: str, **more: Any) -> dict[str, Any]:
    return {
        "thread": thread,
        "label": "",
        "kind": kind,
        "order": order,
        "location": place,
        "read": "",
        "written": "",
        "site": None,
        "call": "",
        **more,
    }


RACE = {
    "kind": "race",
    "message": "data race on q.slot[0]",
    "site": 3,
    "accesses": [3, 0],
    "witness": {
        "functions": ["main", "pusher", "popper"],
        "events": [
            event(None, "W", "na", "q.slot[0]", written="0"),
            event(None, "W", "na", "q.tail", written="0"),
            event(1, "W", "na", "q.slot[0]", label="a", written="7", site=0),
            event(1, "W", "rlx", "q.tail", label="b", written="1", site=1),
            event(2, "R", "acq", "q.tail", label="c", read="1", site=2),
            event(2, "R", "na", "q.slot[0]", label="d", read="0", site=3),
        ],
        "rf": [(3, 4), (0, 5)],
        "co": [(0, 2), (1, 3)],
        "fr": [(5, 2)],
        "cycle": [(2, 3, "po"), (3, 4, "rf"), (4, 5, "po"), (5, 2, "fr")],
        "conflict": (2, 5),
        "waits": [],
        "calls": None,
    },
}
HANG: dict[str, Any] = {
    "kind": "hang",
    "message": "all threads wait",
    "site": None,
    "accesses": [],
    "witness": {
        "functions": ["main", "sleeper"],
        "events": [event(1, "R", "acq", "q.tail", label="a", read="0", site=2)],
        "rf": [],
        "co": [],
        "fr": [],
        "cycle": [],
        "conflict": None,
        "waits": [{"thread": 1, "what": "another thread's write", "site": 2}],
        "calls": None,
    },
}


def test_a_safe_program_is_safe_under_every_execution() -> None:
    found = explored(Lowered())
    assert (found.program, found.model, found.result) == ("mine.c/mine", "rc11", "Safe")
    assert (found.complete, found.blocked, found.seconds) == (5, 1, 0.25)


def test_the_bounds_and_the_models_promise_reach_the_engine() -> None:
    lowered = Lowered()
    explored(lowered, bounds=Bounds(loops=7, executions=9, seconds=3.0))
    assert lowered.asked["model"].endswith("rc11.cat")
    assert lowered.asked["acyclic"] == "program order"
    assert lowered.asked["bounds"] == Bounds(loops=7, executions=9, seconds=3.0)


@pytest.mark.parametrize(
    ("what", "reason", "advice"),
    [
        ({"limits": ["loops"]}, "a loop iterates for long", "--loops 8 explores further"),
        ({"limits": ["events"]}, "too many events", "--events 8192 explores further"),
        (
            {"limits": [""]},
            "too many threads",
            "have the threads of the program do less: this limit is fixed",
        ),
        ({"limit": "seconds"}, "too late", "--seconds 40 explores further"),
        ({"limit": "executions"}, "too many", "--executions 18 explores further"),
    ],
)
def test_a_limit_that_was_reached_comes_with_advice(
    what: dict[str, Any], reason: str, advice: str
) -> None:
    lowered = Lowered(result="Unknown", reasons=[said(reason), said(reason)], **what)
    assert explored(lowered, bounds=Bounds(executions=9)).reasons == (reason, advice)


def test_limits_are_named_in_the_answer() -> None:
    lowered = Lowered(
        result="Unknown", reasons=[said("too late")], limits=["loops"], limit="seconds"
    )
    assert explored(lowered).limits == ("loops", "seconds")
    assert explored(Lowered()).limits == ()


def test_an_estimate_that_met_no_execution_is_not_reported_as_a_number() -> None:
    lowered = Lowered(result="Unknown", reasons=[said("too late")], estimate=(0.0, 0.0, 2))
    assert explored(lowered, bounds=Bounds()).reasons == ("too late",)
    estimated = explored(lowered, bounds=Bounds())
    assert describe_size(estimated) == "no random descent ended in an execution"


def test_an_estimate_that_was_exceeded_is_not_reported_as_the_number() -> None:
    few = Lowered(result="Unknown", reasons=[said("too late")], estimate=(4.0, 1.0, 2))
    more = "there are more than the estimated 4 executions (standard error 25 %)"
    assert explored(few, bounds=Bounds()).reasons == ("too late", more)
    many = Lowered(result="Unknown", reasons=[said("too late")], estimate=(400.0, 100.0, 2))
    (_, about) = explored(many, bounds=Bounds()).reasons
    assert about.startswith("there are about 400 executions (standard error 25 %)")


def test_a_race_names_both_places_and_the_test_of_its_cycle() -> None:
    found = explored(Lowered(result="Violated", violations=[RACE]))
    (violation,) = found.violations
    assert violation.sites == ("queue.h:21", "queue.h:10")
    one, other = violation.accesses
    assert one.startswith("queue.h:21:")
    assert other.startswith("queue.h:10:")
    assert violation.message == f"data race on q.slot[0] between {one} and {other}"
    assert violation.test == "MP+ponarlx+ctrlacqna"
    (test,) = found.tests
    assert test.name == violation.test
    assert test.sites == ("queue.h:10", "queue.h:11", "queue.h:20", "queue.h:21")
    assert violation.witness is not None
    assert violation.witness.events[2].site == "queue.h:10"
    assert violation.witness.functions == ("main", "pusher", "popper")


def test_one_line_that_several_calls_lead_to_is_one_violation() -> None:
    found = explored(Lowered(result="Violated", violations=[RACE, RACE, HANG]))
    assert [violation.kind for violation in found.violations] == ["race", "hang"]


def test_a_violation_is_identified_by_its_kind_and_the_operations() -> None:
    (race, hang) = explored(Lowered(result="Violated", violations=[RACE, HANG])).violations
    assert (race.identity, hang.identity) == ("race queue.h:21:3 queue.h:10:3", "hang")
    shown: dict[str, Any] = RACE["witness"]  # type: ignore[assignment]
    events = [{**each, "site": 4} if each["site"] == 0 else each for each in shown["events"]]
    elsewhere = {**RACE, "witness": {**shown, "events": events}}
    both = explored(Lowered(result="Violated", violations=[RACE, elsewhere])).violations
    assert len({each.identity for each in both}) == 2
    reworded = {**HANG, "message": "nobody ends"}
    (again,) = explored(Lowered(result="Violated", violations=[reworded])).violations
    assert again.identity == hang.identity


def test_the_smallest_of_the_executions_that_go_wrong_at_one_line_is_shown() -> None:
    turns: dict[str, Any] = {**RACE["witness"], "cycle": []}  # type: ignore[dict-item]
    longer = [*turns["events"], event(1, "F", "sc", "", site=1)]
    executions = [RACE["witness"], {**turns, "events": longer}, turns, {**turns, "events": longer}]
    for given in (executions, executions[::-1]):
        violations = [{**RACE, "witness": each} for each in given]
        (violation,) = explored(Lowered(result="Violated", violations=violations)).violations
        assert violation.witness is not None
        assert violation.witness.cycle == ()
        assert len(violation.witness.events) == len(turns["events"])


def test_a_hang_names_where_everybody_waits_and_makes_no_test() -> None:
    found = explored(Lowered(result="Violated", violations=[HANG]))
    (violation,) = found.violations
    assert violation.sites == ("queue.h:20",)
    assert (violation.test, found.tests) == ("", ())
    assert violation.witness is not None
    assert violation.witness.waits[0].what == "another thread's write"


@pytest.mark.parametrize(
    ("model", "why"),
    [
        ("rc11", ""),
        ("c20", "programs are not explored under c20, which allows values out of thin air"),
        ("aarch64", ""),
        ("imm", ""),
    ],
)
def test_a_model_that_cannot_be_explored_is_explained(model: str, why: str) -> None:
    reason = EngineExplorer().applicable(models.resolve(model))
    assert reason.startswith(why)
    assert bool(reason) == bool(why)


@pytest.mark.parametrize(
    ("axiom", "why"),
    [("acyclic po | rf | co | fr as sc", ""), ("acyclic po-loc | rf | co | fr as one", "cycle")],
)
def test_a_model_of_the_users_is_explored_if_it_shows_that_it_can_be(
    tmp_path: Path, axiom: str, why: str
) -> None:
    path = tmp_path / "mine.cat"
    path.write_text(f'"mine"\ninclude "cos.cat"\n{axiom}\n', encoding="utf-8")
    reason = EngineExplorer().applicable(models.resolve(path))
    assert bool(reason) == bool(why)
    assert why in reason


def test_what_an_audit_finds_and_the_search_does_not_is_a_violation() -> None:
    given = Lowered()
    given.given["result"] = "Unknown"
    given.given["evidence"]["audit"] = {
        "descents": 7,
        "seconds": 0.25,
        "refused": "",
        "missed": [("assertion", "assertion failed: x == 1", 3)],
    }
    found = explored(given)
    (violation,) = found.violations
    assert (found.result, violation.kind) == ("Violated", "missed")
    assert "assertion failed: x == 1" in violation.message
    assert violation.sites == (str(SITES[3]),)
    assert found.evidence is not None
    assert found.evidence.audit == Audit(descents=7, seconds=0.25)
