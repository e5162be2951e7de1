"""What the engine and herd7 promise alike: the answer, its limits, the place of what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from texts import LOOP, MP, RACE, SB, X86, asked, made

from weakspot.errors import BadInput
from weakspot.generators.litmus import read_test
from weakspot.harness.checkers import Checker, engine, herd7
from weakspot.system.tools import Tool


@pytest.fixture(params=["engine", "herd7"])
def checker(request: pytest.FixtureRequest, need: Callable[[str], Tool]) -> Checker:
    if request.param == "engine":
        return engine.Engine()
    need("herd7")
    return herd7.Herd7()


def test_relaxed_store_buffering_is_allowed_by_rc11_and_forbidden_by_sc(checker: Checker) -> None:
    (verdict,) = asked(checker, [made(SB)], "rc11")
    assert verdict.observation == "Sometimes"
    assert verdict.condition_holds is True
    assert len(verdict.states) == 4
    assert verdict.witnesses == (1, 3)
    (verdict,) = asked(checker, [made(SB)], "sc")
    assert verdict.observation == "Never"
    assert verdict.condition_holds is False
    assert {"0:r0": "0", "1:r0": "0"} not in verdict.states


@pytest.mark.parametrize(
    ("condition", "observation", "holds"),
    [
        (r"exists (0:r0=0 /\ 1:r0=0)", "Sometimes", True),
        (r"~exists (0:r0=0 /\ 1:r0=0)", "Sometimes", False),
        (r"forall (0:r0=0 /\ 1:r0=0)", "Sometimes", False),
        (r"forall (0:r0=0 \/ 0:r0=1)", "Always", True),
        (r"~exists (0:r0=2)", "Never", True),
    ],
)
def test_the_observation_is_of_the_proposition(
    checker: Checker, condition: str, observation: str, holds: bool
) -> None:
    text = SB[: SB.index("exists")] + condition + "\n"
    (verdict,) = asked(checker, [made(text)], "rc11")
    assert (verdict.observation, verdict.condition_holds) == (observation, holds)


def test_a_data_race_makes_a_test_undefined(checker: Checker) -> None:
    (verdict,) = asked(checker, [made(RACE)], "rc11")
    assert verdict.observation == "Undefined"
    assert verdict.condition_holds is None
    assert verdict.flags == ("*undef*",)
    (verdict,) = asked(checker, [made(RACE)], "sc")
    assert verdict.observation == "Sometimes"


def test_two_tests_of_one_name_both_get_their_verdict(checker: Checker) -> None:
    other = SB.replace("1:r0=0", "1:r0=2")
    verdicts = asked(checker, [made(SB), made(other), made(SB)], "rc11")
    assert [v.test for v in verdicts] == ["SB"] * 3
    assert sorted(v.observation for v in verdicts) == ["Never", "Sometimes", "Sometimes"]


def test_a_truncated_loop_gives_no_answer_for_the_whole_test(checker: Checker) -> None:
    (verdict,) = asked(checker, [made(LOOP)], "rc11")
    assert verdict.observation == "Unknown"
    assert "unrolled" in verdict.reason
    assert f"within that limit {_said(checker)} says Always" in verdict.reason


def test_a_test_of_another_dialect_is_not_asked(checker: Checker) -> None:
    verdicts = asked(checker, [made(X86), made(SB)], "rc11")
    by_name = {v.test: v for v in verdicts}
    assert by_name["SBx"].observation == "Unknown"
    assert by_name["SBx"].reason == "model rc11 applies to C tests, not to X86_64 tests"
    assert by_name["SB"].observation == "Sometimes"


def test_a_c_test_is_mapped_before_a_machines_model_is_asked(checker: Checker) -> None:
    (verdict,) = asked(checker, [made(SB)], "aarch64")
    assert verdict.observation == "Unknown"
    assert "not to C tests: compilers map C to instructions in several ways" in verdict.reason
    assert "--isa aarch64" in verdict.reason


@pytest.mark.parametrize(
    ("line", "replacement", "place", "marked"),
    [
        (4, "  atomic_store_explicit(x, 1, memory_order_relese);", "4:31", "memory_order_relese"),
        (3, "P0 (atomic_int* x, 7 y) {", "3:20", "7"),
        (2, "{ x=; }", "2:5", ";"),
        (11, "exists (0:r0=0 /\\ )", "11:19", ")"),
    ],
)
def test_a_malformed_test_is_shown_where_it_is_wrong(
    checker: Checker, tmp_path: Path, line: int, replacement: str, place: str, marked: str
) -> None:
    lines = SB.splitlines()
    lines[line - 1] = replacement
    path = tmp_path / "mine.litmus"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(BadInput) as caught:
        asked(checker, [made(SB), read_test(path)], "rc11")
    assert caught.value.place == f"{path}:{place}"
    assert caught.value.excerpt is not None
    _, shown, marks = caught.value.excerpt.splitlines()
    assert shown == f"{line:>2} | {replacement}"
    assert shown[marks.index("^") :].startswith(marked)
    assert marks.count("^") == len(marked)
    assert caught.value.advice


def test_a_malformed_test_of_our_own_costs_only_itself(checker: Checker) -> None:
    wrong = made(SB.replace("memory_order_relaxed", "memory_order_none"), name="wrong")
    verdicts = {v.test: v for v in asked(checker, [wrong, made(SB), made(MP)], "rc11")}
    assert verdicts["wrong"].observation == "Unknown"
    assert f"{_said(checker)} cannot read it" in verdicts["wrong"].reason
    assert "memory_order_none" in verdicts["wrong"].reason
    assert verdicts["SB"].observation == "Sometimes"
    assert verdicts["MP"].observation == "Never"


@pytest.mark.parametrize(
    ("cat", "line"),
    [
        ('"m"\nlet a = po |\nacyclic a\n', 3),
        ('"m"\nacyclic po | nothing as a\n', 2),
        ('"m"\ninclude "none.cat"\n', 2),
    ],
)
def test_a_malformed_model_is_shown_where_it_is_wrong(
    checker: Checker, tmp_path: Path, cat: str, line: int
) -> None:
    path = tmp_path / "m.cat"
    path.write_text(cat)
    with pytest.raises(BadInput) as caught:
        asked(checker, [made(SB)], str(path))
    assert caught.value.place is not None
    assert caught.value.place.startswith(f"{path}:{line}:")
    assert caught.value.excerpt is not None
    assert caught.value.excerpt.endswith("^")


def test_a_model_of_the_users_includes_what_stands_beside_it(
    checker: Checker, tmp_path: Path
) -> None:
    (tmp_path / "mine.cat").write_text('"mine"\ninclude "cos.cat"\nlet mine = po\n')
    (tmp_path / "m.cat").write_text(
        '"m"\ninclude "mine.cat"\nacyclic mine | rf | co | fr as sc\nflag ~empty rf as has-rf\n'
    )
    (verdict,) = asked(checker, [made(SB)], str(tmp_path / "m.cat"))
    assert verdict.observation == "Never"
    assert verdict.flags == ("has-rf",)


def _said(checker: Checker) -> str:
    return "the engine" if checker.name == "engine" else checker.name
