"""herd7's and litmus7's logs are read as they are, and written so that their tools read them."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ended import execute
from hypothesis import given, settings
from hypothesis import strategies as st

from weakspot.harness.values.condition import KIND, proposition, quantifier
from weakspot.harness.values.herdlog import (
    LOOP,
    format_histogram,
    format_histograms,
    format_verdict,
    parse_histograms,
    parse_verdicts,
)
from weakspot.harness.values.histogram import Count, Histogram
from weakspot.harness.values.state import State
from weakspot.harness.values.verdict import Observation, Verdict
from weakspot.system.tools import Tool

HERD7 = r"""Warning: File "x.litmus": unrolling limit exceeded at While.
Test SB Allowed
States 4
0:r0=0; 1:r0=0;
0:r0=0; 1:r0=1;
0:r0=1; 1:r0=0;
0:r0=1; 1:r0=1;
Ok
Witnesses
Positive: 1 Negative: 3
Flag has-co
Flag hasrf
Condition exists (0:r0=0 /\ 1:r0=0)
Observation SB Sometimes 1 3
Time SB 0.01
Hash=236d015af8057307e57fbee5403f2ff6

Test race Allowed
States 1
1:r0=0;
Undef
Witnesses
Positive: 1 Negative: 0
Flag *undef*
Condition exists (1:r0=0)
Observation race Always 1 0
Time race 0.00
Hash=0e2daa85e84353fe6441a1ad8a1c9ff0

Test nSB Forbidden
States 2
0:r0=0; 0:r1=x; x={1,0}; [y]=-3; x[0]=1;
0:r0=2; 0:r1=x; x={1,1}; [y]=3; x[0]=1;
No
Witnesses
Positive: 3 Negative: 1
Condition ~exists (0:r0=0 /\ 1:r0=0)
Observation nSB Sometimes 1 3
Time nSB 0.00
Hash=236d015af8057307e57fbee5403f2ff6

Test none Allowed
States 1

Ok
Witnesses
Positive: 2 Negative: 0
Condition exists (true)
Observation none Always 2 0
Time none 0.00
Hash=236d015af8057307e57fbee5403f2ff6

Test loop Allowed
States 1
0:r1=1;
Loop Ok
Witnesses
Positive: 2 Negative: 0
Condition exists (0:r1=1)
Observation loop Always 2 0
Time loop 0.00
Hash=9ccab9691e117fc95b3534da4508ed11

"""

LITMUS7 = r"""%%%%%%%%%%%%%%%%%%%%%%%%%
% Results for SB.litmus %
%%%%%%%%%%%%%%%%%%%%%%%%%
C SB
{
}
P0(_Atomic int* x) {}
exists (0:r0=0 /\ 1:r0=0)
Generated assembler
#START _litmus_P1

Test SB Allowed
Histogram (4 states)
308195*>0:r0=0; 1:r0=0;
245459:>0:r0=1; 1:r0=0;
352724:>0:r0=0; 1:r0=1;
93622 :>0:r0=1; 1:r0=1;
Ok

Witnesses
Positive: 308195, Negative: 691805
Condition exists (0:r0=0 /\ 1:r0=0) is validated
Hash=236d015af8057307e57fbee5403f2ff6
Observation SB Sometimes 308195 691805
Time SB 3.97

Machine:vm
Test fa Required
Histogram (2 states)
396   :>0:r0=0; 1:r0=0; [x]=1;
689   *>0:r0=1; 1:r0=0; x=1;
No

Witnesses
Positive: 396, Negative: 689
Condition forall (0:r0=0) is NOT validated
Hash=c9bf8475a913ef0723b8db20d83210ed
Observation fa Sometimes 396 689
Time fa 0.02
Test nothing Forbidden
Histogram (0 states)
Ok

Witnesses
Positive: 0, Negative: 0
Condition ~exists (0:r0=0) is validated
Observation nothing Never 0 0
Time nothing 0.00
"""


def test_the_log_of_herd7_is_read() -> None:
    sb, race, n_sb, none, loop = parse_verdicts(HERD7, model="m")
    assert (sb.test, sb.model, sb.checker) == ("SB", "m", "herd7")
    assert sb.observation == "Sometimes"
    assert sb.condition_holds is True
    assert sb.states[1] == {"0:r0": "0", "1:r0": "1"}
    assert sb.flags == ("has-co", "hasrf")
    assert sb.witnesses == (1, 3)
    assert sb.condition == r"exists (0:r0=0 /\ 1:r0=0)"
    assert sb.seconds == 0.01
    assert race.observation == "Undefined"
    assert race.condition_holds is None
    assert race.flags == ("*undef*",)
    assert n_sb.condition_holds is False
    assert n_sb.witnesses == (1, 3), "of the proposition, not of the condition"
    assert n_sb.states[0] == {"0:r0": "0", "0:r1": "x", "x": "{1,0}", "[y]": "-3", "x[0]": "1"}
    assert none.states == ({},)
    assert loop.reason == LOOP


def test_the_log_of_litmus7_is_read() -> None:
    sb, fa, nothing = parse_histograms(LITMUS7, machine="local")
    assert (sb.test, sb.machine, sb.runner) == ("SB", "local", "litmus7")
    assert sb.iterations == 1_000_000
    assert sb.target == 308_195
    assert sb.histogram[3] == Count({"0:r0": "1", "1:r0": "1"}, 93_622)
    assert sb.seconds == 3.97
    assert sb.condition == r"exists (0:r0=0 /\ 1:r0=0)"
    assert fa.target == 396, "litmus7 marks what refutes a forall; target is what satisfies it"
    assert fa.histogram[1].state["[x]"] == "1"
    assert (nothing.histogram, nothing.iterations) == ((), 0)


def test_logs_of_checkers_and_runners_do_not_mix() -> None:
    assert [v.test for v in parse_verdicts(LITMUS7 + HERD7)] == [
        v.test for v in parse_verdicts(HERD7)
    ]
    assert [h.test for h in parse_histograms(HERD7 + LITMUS7)] == ["SB", "fa", "nothing"]


@pytest.mark.parametrize("lines", [1, 3, 5])
def test_a_truncated_log_gives_no_answer_for_the_last_test(lines: int) -> None:
    truncated = "\n".join(HERD7.splitlines()[1:][:lines])
    assert parse_verdicts(truncated) == []


def test_a_verdict_without_an_answer_is_no_block() -> None:
    verdict = Verdict(
        test="SB",
        model="rc11",
        checker="herd7",
        observation="Unknown",
        condition_holds=None,
        reason="time limit\nof 5 s",
    )
    assert format_verdict(verdict) == "# SB rc11: unknown: time limit of 5 s\n\n"
    assert parse_verdicts(format_verdict(verdict) + HERD7) == parse_verdicts(HERD7)


names = st.from_regex(r"[A-Z][A-Za-z0-9+.\-]{0,20}", fullmatch=True)
keys = st.one_of(
    st.from_regex(r"[0-7]:[rRX][0-9]{1,2}", fullmatch=True),
    st.from_regex(r"\[[a-z][a-z0-9_]{0,5}\]", fullmatch=True),
    st.from_regex(r"[a-z]{1,3}\[[0-9]\]", fullmatch=True),
)
values = st.one_of(
    st.integers(-(2**31), 2**31 - 1).map(str), st.from_regex(r"[a-z]{1,4}", fullmatch=True)
)


@st.composite
def state_lists(draw: st.DrawFn) -> list[State]:
    """States of one test: the same keys in each, no state twice."""
    columns = draw(st.lists(keys, min_size=1, max_size=5, unique=True))
    rows = st.tuples(*(values for _ in columns))
    return [
        dict(zip(columns, row, strict=True))
        for row in draw(st.lists(rows, max_size=6, unique=True))
    ]


quantifiers = st.sampled_from(sorted(KIND))


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    asked = draw(quantifiers)
    states = draw(state_lists())
    undefined = draw(st.booleans())
    pos = draw(st.integers(0, 5))
    neg = draw(st.integers(0, 5))
    observation: Observation = "Never" if not pos else "Always" if not neg else "Sometimes"
    holds = observation == "Always" if asked == "forall" else (pos > 0) == (asked == "exists")
    flags = draw(st.lists(st.from_regex(r"[a-z][a-z-]{1,8}", fullmatch=True), max_size=2))
    is_loop = draw(st.booleans())
    return Verdict(
        test=draw(names),
        model="m",
        checker="herd7",
        observation="Undefined" if undefined else observation,
        condition_holds=None if undefined else holds,
        states=tuple(states),
        flags=("*undef*", *flags) if undefined else tuple(flags),
        seconds=draw(st.integers(0, 10_000)) / 100,
        condition=rf"{asked} (0:r0=1 /\ [x]=2)",
        witnesses=(pos, neg),
        reason=LOOP if is_loop else "",
        reason_kind="loop" if is_loop else "",
    )


@st.composite
def histograms(draw: st.DrawFn) -> Histogram:
    states = draw(state_lists())
    counts = tuple(Count(state, draw(st.integers(1, 10**12))) for state in states)
    total = sum(count.count for count in counts)
    return Histogram(
        test=draw(names),
        machine="local",
        runner="litmus7",
        histogram=counts,
        target=draw(st.integers(0, total)),
        hash=draw(st.sampled_from(["", "0e2daa85e84353fe6441a1ad8a1c9ff0"])),
        iterations=total,
        seconds=draw(st.integers(0, 10_000)) / 100,
        condition=f"{draw(quantifiers)} (0:r0=1)",
    )


@settings(deadline=None)  # the first example pays for the imports
@given(st.lists(verdicts(), max_size=4))
def test_verdicts_survive_writing_and_reading(them: list[Verdict]) -> None:
    assert parse_verdicts("".join(map(format_verdict, them)), model="m") == them


@settings(deadline=None)  # the first example pays for the imports
@given(st.lists(histograms(), max_size=4))
def test_histograms_survive_writing_and_reading(them: list[Histogram]) -> None:
    assert parse_histograms(format_histograms(them), machine="local") == them


def test_the_states_that_litmus7_marks_are_marked() -> None:
    for text in LITMUS7.split("\nTest ")[1:]:
        original = "Test " + text
        marked = [line for line in original.splitlines() if "*>" in line]
        written = format_histogram(parse_histograms(original)[0])
        assert [line for line in written.splitlines() if "*>" in line] == [
            line.replace(" x=", " [x]=") for line in marked
        ]


STATE = {"0:r0": "1", "1:X3": "0x10", "[x]": "2", "y[0]": "1", "0:r1": "x"}


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (r"exists (0:r0=1 /\ x=2)", True),
        (r"exists ([x]=1 \/ 1:X3=16)", True),
        (r"~exists (not (0:r0=1))", False),
        (r"forall (0:r0=1 => x=3)", False),
        (r"exists (0:r0=0 /\ x=2 \/ y[0]=1)", True),
        (r"exists (0:r0=1 /\ (x=3 \/ 0:r1=x))", True),
        (r"exists (~(x=2) \/ x!=3)", True),
        ("exists (true)", True),
        ("exists (0:r1=y)", False),
    ],
)
def test_a_condition_holds_of_a_state_or_not(condition: str, expected: bool) -> None:
    holds = proposition(condition)
    assert holds is not None
    assert holds(STATE) is expected


@pytest.mark.parametrize("condition", ["exists (fault(P0,x))", "exists (0:r0=", "exists ()"])
def test_a_condition_that_is_not_understood_is_not_guessed(condition: str) -> None:
    assert proposition(condition) is None


def test_a_condition_names_its_quantifier() -> None:
    assert quantifier("~ exists (x=1)") == "~exists"
    assert quantifier("forall (x=1)") == "forall"
    assert quantifier(r"exists (0:exists=1)") == "exists"


@pytest.mark.parametrize("tool", ["mcompare7", "msum7"])
def test_herdtools_read_what_is_written(
    tool: str, need: Callable[[str], Tool], tmp_path: Path
) -> None:
    """herd7's log and the one written from what was read of it do not differ."""
    program = need(tool)
    log = HERD7.partition("\n")[2]
    (tmp_path / "herd7.log").write_text(log)
    ours = "".join(map(format_verdict, parse_verdicts(log)))
    (tmp_path / "ours.log").write_text(ours)
    answer = execute(program.path, "herd7.log", "ours.log", cwd=tmp_path)
    assert answer.code == 0, answer.err
    printed = answer.out + answer.err
    assert "error" not in printed.lower().replace("stderr", "")
    assert "!!!" not in printed, "the mark of a difference"
    for verdict in parse_verdicts(log):
        assert verdict.test in answer.out


def test_a_log_without_hashes_is_compared_too(need: Callable[[str], Tool], tmp_path: Path) -> None:
    log = HERD7.partition("\n")[2]
    (tmp_path / "herd7.log").write_text(log)
    (tmp_path / "ours.log").write_text("".join(map(format_verdict, parse_verdicts(log))))
    answer = subprocess.run(
        [need("mcompare7").path, "herd7.log", "ours.log"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.count("==") == len(parse_verdicts(log))
    assert "!!!" not in answer.stdout + answer.stderr


def test_herdtools_add_up_what_is_written(need: Callable[[str], Tool], tmp_path: Path) -> None:
    """msum7 adds litmus7's log and ours: every count doubles."""
    program = need("msum7")
    log = LITMUS7[LITMUS7.index("Test SB") : LITMUS7.index("Test fa")]
    (tmp_path / "litmus7.log").write_text(log)
    (tmp_path / "ours.log").write_text(format_histograms(parse_histograms(log)))
    answer = execute(program.path, "litmus7.log", "ours.log", cwd=tmp_path).printed(0)
    summed = {histogram.test: histogram for histogram in parse_histograms(answer)}
    assert summed["SB"].iterations == 2_000_000
    assert summed["SB"].target == 2 * 308_195
