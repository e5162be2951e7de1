"""herd7 as a checker: what it says reaches us whole, and what it cannot read is explained."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from weakspot.errors import BadInput
from weakspot.generators.litmus import Test, read_test
from weakspot.harness import models
from weakspot.harness.checkers.herd7 import Herd7, validate
from weakspot.harness.herdlog import format_verdicts, parse_verdicts
from weakspot.harness.tools import Tool
from weakspot.harness.verdict import Verdict

SB = r"""C SB
{}
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (0:r0=0 /\ 1:r0=0)
"""
RACE = """C race
{}
P0 (int* x) {
  *x = 1;
}
P1 (int* x) {
  int r0 = *x;
}
exists (1:r0=0)
"""
LOOP = """C loop
{}
P0 (atomic_int* x) {
  int r1 = 0;
  while (r1 == 0) { r1 = atomic_load_explicit(x, memory_order_relaxed); }
}
P1 (atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
}
exists (0:r1=1)
"""
X86 = """X86_64 SBx
{}
 P0          | P1          ;
 movl $1,(x) | movl $1,(y) ;
 movl (y),%eax | movl (x),%eax ;
exists (0:rax=0)
"""


def made(text: str, name: str | None = None, path: str | None = None) -> Test:
    return Test(name=name or text.split()[1], arch=text.split()[0], text=text, path=path)


def checked(tests: Sequence[Test], model: str, seconds: float = 10.0) -> list[Verdict]:
    verdicts: list[Verdict] = []
    Herd7().check(tests, models.resolve(model), seconds=seconds, done=verdicts.append)
    return verdicts


@pytest.fixture(autouse=True)
def _tool(need: Callable[[str], Tool]) -> None:
    need("herd7")


def test_relaxed_store_buffering_is_allowed_by_rc11_and_forbidden_by_sc() -> None:
    (verdict,) = checked([made(SB)], "rc11")
    assert verdict.observation == "Sometimes"
    assert verdict.condition_holds is True
    assert len(verdict.states) == 4
    assert verdict.witnesses == (1, 3)
    assert len(verdict.hash) == 32
    (verdict,) = checked([made(SB)], "sc")
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
    condition: str, observation: str, holds: bool
) -> None:
    text = SB[: SB.index("exists")] + condition + "\n"
    (verdict,) = checked([made(text)], "rc11")
    assert (verdict.observation, verdict.condition_holds) == (observation, holds)


def test_a_data_race_makes_a_test_undefined() -> None:
    (verdict,) = checked([made(RACE)], "rc11")
    assert verdict.observation == "Undefined"
    assert verdict.condition_holds is None
    assert verdict.flags == ("*undef*",)
    (verdict,) = checked([made(RACE)], "sc")
    assert verdict.observation == "Sometimes"


def test_two_tests_of_one_name_both_get_their_verdict() -> None:
    other = SB.replace("1:r0=0", "1:r0=2")
    verdicts = checked([made(SB), made(other), made(SB)], "rc11")
    assert [v.test for v in verdicts] == ["SB"] * 3
    assert sorted(v.observation for v in verdicts) == ["Never", "Sometimes", "Sometimes"]


def test_a_loop_cut_short_is_no_answer_for_the_whole_test() -> None:
    (verdict,) = checked([made(LOOP)], "rc11")
    assert verdict.observation == "Unknown"
    assert "unrolled" in verdict.reason
    assert "Always" in verdict.reason


def test_a_test_of_another_dialect_is_not_asked() -> None:
    verdicts = checked([made(X86), made(SB)], "rc11")
    by_name = {v.test: v for v in verdicts}
    assert by_name["SBx"].observation == "Unknown"
    assert by_name["SBx"].reason == "model rc11 is for C tests, this is X86_64"
    assert by_name["SB"].observation == "Sometimes"


def test_many_tests_agree_with_herd7_asked_by_hand(
    tmp_path: Path, need: Callable[[str], Tool]
) -> None:
    """In batches or alone, in whatever order: the verdicts, written as a log, are herd7's own."""
    values = [f"{a}/\\ 1:r0={b}" for a in range(3) for b in range(3)]
    tests = []
    for number, value in enumerate(values * 3):
        text = SB.replace("C SB", f"C SB{number:02}").replace("0 /\\ 1:r0=0", value)
        tests.append(made(text))
        (tmp_path / f"{number:02}.litmus").write_text(text)
    verdicts = sorted(checked(tests, "rc11"), key=lambda v: v.test)
    files = sorted(path.name for path in tmp_path.iterdir())
    by_hand = subprocess.run(
        [need("herd7").path, "-model", str(models.resolve("rc11").path), *files],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    expected = parse_verdicts(by_hand.stdout)
    assert len(expected) == len(tests)
    assert _untimed(format_verdicts(verdicts)) == _untimed(format_verdicts(expected))


def _untimed(log: str) -> list[str]:
    return [line for line in log.splitlines() if not line.startswith("Time ")]


@pytest.mark.parametrize(
    ("line", "replacement", "place", "excerpt"),
    [
        (
            4,
            "  atomic_store_explicit(x, 1, memory_order_relese);",
            "4:31",
            "  atomic_store_explicit(x, 1, memory_order_relese);\n" + " " * 30 + "^" * 19,
        ),
        (
            3,
            "P0 (atomic_int* x, mutex* y) {",
            "3:20",
            "P0 (atomic_int* x, mutex* y) {\n" + " " * 19 + "^^^^^",
        ),
        (2, "{ x=; }", "2:5", "{ x=; }\n    ^"),
        (11, "exists (0:r0=0 /\\ )", "11:19", "exists (0:r0=0 /\\ )\n" + " " * 18 + "^"),
    ],
)
def test_a_malformed_test_is_shown_where_it_is_wrong(
    tmp_path: Path, line: int, replacement: str, place: str, excerpt: str
) -> None:
    lines = SB.splitlines()
    lines[line - 1] = replacement
    path = tmp_path / "mine.litmus"
    path.write_text("\n".join(lines) + "\n")
    for ask in (lambda test: checked([test], "rc11"), lambda test: validate([test])):
        with pytest.raises(BadInput) as caught:
            ask(read_test(path))
        assert caught.value.place == f"{path}:{place}"
        assert caught.value.excerpt == excerpt
        assert caught.value.advice


def test_tests_that_herd7_can_read_are_valid(tmp_path: Path) -> None:
    path = tmp_path / "SB.litmus"
    path.write_text(SB)
    validate([read_test(path)])
    validate([])


def test_a_generated_test_that_herd7_cannot_read_is_unknown() -> None:
    wrong = made(SB.replace("memory_order_relaxed", "memory_order_none"), name="wrong")
    verdicts = {v.test: v for v in checked([wrong, made(SB)], "rc11")}
    assert verdicts["wrong"].observation == "Unknown"
    assert "line 4: unexpected 'memory_order_none'" in verdicts["wrong"].reason
    assert verdicts["SB"].observation == "Sometimes"


@pytest.mark.parametrize(
    ("cat", "place", "message"),
    [
        ('"m"\nlet a = po |\nacyclic a\n', "3:1", "unexpected 'acyclic'"),
        ('"m"\nacyclic po | nothing as a\n', "2:14", "unbound var: nothing"),
        ('"m"\ninclude "none.cat"\n', "2:1", "Cannot find file none.cat"),
    ],
)
def test_a_malformed_model_is_shown_where_it_is_wrong(
    tmp_path: Path, cat: str, place: str, message: str
) -> None:
    path = tmp_path / "m.cat"
    path.write_text(cat)
    with pytest.raises(BadInput) as caught:
        checked([made(SB)], str(path))
    assert caught.value.place == f"{path}:{place}"
    assert message in caught.value.message
    assert caught.value.excerpt is not None
    assert caught.value.excerpt.endswith("^")


def test_a_model_of_the_users_includes_what_stands_beside_it(tmp_path: Path) -> None:
    (tmp_path / "mine.cat").write_text('"mine"\ninclude "cos.cat"\nlet mine = po\n')
    (tmp_path / "m.cat").write_text(
        '"m"\ninclude "mine.cat"\nacyclic mine | rf | co | fr as sc\nflag ~empty rf as has-rf\n'
    )
    (verdict,) = checked([made(SB)], str(tmp_path / "m.cat"))
    assert verdict.observation == "Never"
    assert verdict.flags == ("has-rf",)
