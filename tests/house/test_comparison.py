"""scripts/compare-answers reports what differs in answers, and separately what differs in words."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from comparison import differences, questions

VERDICT = {
    "test": "SB",
    "observation": "Never",
    "states": [{"0:r0": "1"}],
    "seconds": 0.1,
    "reason": "a limit was reached",
    "evidence": [{"kind": "exploration", "text": "Violated, 4 executions in 0.1 s"}],
    "tests": [{"text": "C SB\n(* two threads *)\nexists (x=1)\n"}],
}


def found(**changes: Any) -> list[tuple[str, str]]:
    """The kinds and fields of the differences between VERDICT and a changed one."""
    return [(d.kind, d.field) for d in differences.of_values(VERDICT, {**VERDICT, **changes})]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"seconds": 7.0}, []),
        ({"observation": "Sometimes"}, [("answer", "observation")]),
        ({"states": [{"0:r0": "0"}]}, [("answer", "states[0].0:r0")]),
        ({"states": []}, [("answer", "states")]),
        ({"reason": "interrupted"}, [("wording", "reason")]),
        ({"reasons": []}, [("new", "reasons")]),
        ({"tests": [{"text": "C SB\nexists (x=1)\n"}]}, [("wording", "tests[0].text")]),
        ({"tests": [{"text": "C SB\nexists (x=2)\n"}]}, [("answer", "tests[0].text")]),
    ],
)
def test_a_difference_is_of_its_kind(changes: Any, expected: list[tuple[str, str]]) -> None:
    assert found(**changes) == expected


def test_a_field_that_is_missing_is_a_difference() -> None:
    new = {key: value for key, value in VERDICT.items() if key != "reason"}
    assert [d.kind for d in differences.of_values(VERDICT, new)] == ["answer"]


def test_fields_and_values_that_have_another_name_since_are_compared() -> None:
    old = {"program": "mp", "cut": 1, "status": "told"}
    new = {"program": "mp", "truncated": 1, "status": "reported"}
    assert list(differences.of_values(old, new)) == []
    (found,) = differences.of_values(old, {**new, "truncated": 2})
    assert (found.kind, found.field) == ("answer", "truncated")


def test_the_times_that_evidence_names_are_not_compared() -> None:
    evidence = [{"kind": "exploration", "text": "Violated, 4 executions in 2 s"}]
    assert found(evidence=evidence) == []


def test_answers_are_paired_by_what_they_are_about() -> None:
    one, two = {"test": "SB", "model": "sc"}, {"test": "SB", "model": "tso"}
    assert differences.identified([one, two]) == {"SB sc": one, "SB tso": two}
    assert list(differences.identified([one, one])) == ["SB sc", "SB sc (2)"]


def test_lines_are_translated_where_only_comments_of_a_source_changed() -> None:
    old = "/* text */\nint x; // a\n\nint y;\n"
    new = "/* reported\n   here */\nint x;\nint y; /* b */\n"
    same, numbers = differences.line_numbers(old, new)
    assert (same, numbers) == (True, {3: 2, 4: 4})
    value = {"sites": ["a.h:3"], "other": "b.h:3", "at": {"file": "a.h", "line": 3}}
    expected = {"sites": ["a.h:2"], "other": "b.h:3", "at": {"file": "a.h", "line": 2}}
    assert differences.renumbered(value, {"a.h": numbers}) == expected


def test_a_source_whose_code_changed_is_recognised() -> None:
    same, _ = differences.line_numbers("int x;\n", 'char *x = "/* */";\n')
    assert not same


def test_each_suite_is_of_a_dialect() -> None:
    """diy7 has configurations for other uses too, which are not named for a dialect."""
    found = questions.topics_of_suites(Path(__file__).resolve().parents[2])
    assert set(found) == {"AArch64", "C", "PPC", "RISCV", "X86", "X86_64"}
    assert all(found.values())
