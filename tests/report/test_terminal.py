"""What a terminal shows: the most severe first; plain stable lines in a pipe."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Callable

import msgspec
import pytest
from examples import MACHINES, histogram, judged, large, small, verdict
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from snapshots import steady
from syrupy.assertion import SnapshotAssertion

from weakspot.harness.campaign.progress import Log, TimeLeft
from weakspot.harness.cli.output import json_lines
from weakspot.harness.judge.claims import standing
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.report import answers, campaign, findings, measurements, terminal, witness
from weakspot.harness.report.progress import RichProgress
from weakspot.harness.values.claims import Claim
from weakspot.harness.values.codegen import CodegenComparison
from weakspot.harness.values.descriptions import describe_steadiness, negative_result_strength
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import ControlTest
from weakspot.harness.values.record import MachineInfo, Record, StructureInfo
from weakspot.harness.values.witness import Execution, Wait, WitnessEvent


def piped(show: Callable[[Console], None]) -> str:
    out = io.StringIO()
    show(terminal.console(out))
    return out.getvalue()


def coloured(show: Callable[[Console], None]) -> str:
    out = io.StringIO()
    show(Console(file=out, force_terminal=True, width=100, soft_wrap=True, highlight=False))
    return out.getvalue()


def alone(record: Record, *names: str) -> Record:
    """The record with only these tests' answers."""
    return msgspec.structs.replace(
        record,
        verdicts=tuple(each for each in record.verdicts if each.test in names),
        histograms=tuple(each for each in record.histograms if each.test in names),
    )


def test_a_piped_report_has_no_colours_and_no_drawings() -> None:
    shown = piped(lambda out: campaign.campaign(small(), out, report="index.html"))
    assert "\x1b" not in shown
    assert not set(shown) & set("█▉▊▋▌▍▎▏─│┃━╭╮")
    assert all(line == line.rstrip() for line in shown.splitlines())


def test_a_terminal_gets_colours_and_bars() -> None:
    shown = coloured(lambda out: campaign.campaign(small(), out))
    assert "\x1b[" in shown
    assert "█" in shown


def test_the_report_of_a_structure(snapshot: SnapshotAssertion) -> None:
    """Tests, programs and claims; what was observed and is forbidden comes first."""
    shown = piped(lambda out: campaign.campaign(small(), out, report="results/x/index.html"))
    assert steady(shown) == snapshot


def test_an_observed_forbidden_outcome_is_printed_above_everything_else(
    snapshot: SnapshotAssertion,
) -> None:
    """Unless a claim records it, it comes before the structures and all other findings."""
    record = small()
    unclaimed = tuple(msgspec.structs.replace(each, claims=()) for each in record.structures)
    record = judged(msgspec.structs.replace(record, structures=unclaimed))
    assert {"WS101", "WS201", "WS401"} <= {each.id for each in record.findings}
    assert record.findings[0].id == "WS201"
    assert steady(piped(lambda out: campaign.campaign(record, out))) == snapshot


def test_how_evenly_a_machine_ran_is_printed(snapshot: SnapshotAssertion) -> None:
    even = {"probes": 260, "throttling": 0.042, "steal": 0.0011}
    machine = MachineInfo("local", "x86_64", False, even)
    manifest = msgspec.structs.replace(small().manifest, machines=(machine,))
    record = msgspec.structs.replace(small(), manifest=manifest)
    words = describe_steadiness(even)
    assert words == snapshot
    assert words in piped(lambda out: campaign.campaign(record, out))
    assert f"local: {words}\n" in piped(lambda out: measurements.histograms(record, out))


def test_an_outcome_that_was_not_observed_is_not_called_impossible() -> None:
    shown = piped(lambda out: campaign.campaign(small(), out, everything=True))
    assert "not observed in 1.2·10⁷" in shown
    assert "impossible" not in shown


def both_runners(target: int) -> Record:
    """SB+rel-acqs as two runners ran it; ours with a control."""
    theirs = histogram("SB+rel-acqs", 0)
    ours = msgspec.structs.replace(
        histogram("SB+rel-acqs", target),
        runner="native",
        target_independent=target // 2,
        control_tests=(
            ControlTest(
                kind="weaker",
                change="P0 without its seq_cst fence",
                target=30,
                target_independent=20,
                iterations=1000,
                missed=0.25,
            ),
        ),
    )
    return msgspec.structs.replace(small(), histograms=(ours, theirs))


def test_runners_are_printed_side_by_side_with_what_only_one_observed(
    snapshot: SnapshotAssertion,
) -> None:
    record = both_runners(40)
    assert steady(piped(lambda out: campaign.campaign(record, out))) == snapshot
    assert steady(piped(lambda out: measurements.histograms(record, out))) == snapshot


@pytest.mark.parametrize("show", [campaign.campaign, measurements.histograms])
def test_a_negative_result_is_printed_with_its_strength(
    show: Callable[[Record, Console], None],
) -> None:
    strength = negative_result_strength(both_runners(0).histograms[0])
    assert strength
    assert strength in piped(lambda out: show(both_runners(0), out))
    assert strength not in piped(lambda out: show(both_runners(1), out))


def test_a_recorded_finding_is_not_printed_as_one() -> None:
    shown = piped(lambda out: campaign.campaign(small(), out))
    assert "WS101" not in shown  # two_thieves is violated, as its claim says
    assert "WS401" in shown


def test_a_violation_is_printed_with_its_execution_in_source_lines(
    snapshot: SnapshotAssertion,
) -> None:
    unclaimed = msgspec.structs.replace(small().structures[0], claims=())
    record = judged(msgspec.structs.replace(small(), structures=(unclaimed,)))
    found = [each for each in record.findings if each.id == "WS101"]
    assert steady(piped(lambda out: findings.findings(record, found, out))) == snapshot


def test_a_table_of_explorations_has_a_row_per_program_and_a_column_per_model(
    snapshot: SnapshotAssertion,
) -> None:
    record = small()
    limited = Exploration(
        program="work_queue/push_vs_steal",
        model="rc11",
        result="Unknown",
        complete=9,
        reasons=("loop bound of 4 reached at queue.h:9:3", "--loops 8 raises it"),
    )
    record = msgspec.structs.replace(record, explorations=(*record.explorations, limited))
    assert steady(piped(lambda out: answers.explorations(record, out))) == snapshot


def stands(structure: StructureInfo, claim: Claim) -> str:
    return standing(small(), [msgspec.structs.replace(structure, claims=(claim,))])


def test_the_last_line_summarises_the_campaign(snapshot: SnapshotAssertion) -> None:
    record = small()
    confirmed = tuple(
        msgspec.structs.replace(
            each, claims=tuple(one for one in each.claims if "differs" not in stands(each, one))
        )
        for each in record.structures
    )
    good = msgspec.structs.replace(record, findings=(), structures=confirmed)
    warned = (msgspec.structs.replace(record.findings[0], severity="warning", recorded=False),)
    unfinished = msgspec.structs.replace(record.manifest, finished="")
    unknown = msgspec.structs.replace(good, verdicts=(verdict("T", "sc", "Unknown"),))
    assert {
        "as recorded": campaign.summary(good),
        "without claims": campaign.summary(msgspec.structs.replace(good, structures=())),
        "not finished": campaign.summary(msgspec.structs.replace(good, manifest=unfinished)),
        "warnings": campaign.summary(msgspec.structs.replace(good, findings=warned)),
        "undecided": campaign.summary(unknown),
        "findings": campaign.summary(record),
    } == snapshot


def test_claims_that_were_not_confirmed_leave_the_campaign_open() -> None:
    record = small()
    (structure,) = record.structures
    observed = msgspec.structs.replace(structure, claims=structure.claims[:1])
    found = msgspec.structs.replace(record, findings=(), structures=(observed,))
    assert campaign.summary(found) == ("good", "1 of 1 claim confirmed")
    silent = tuple(msgspec.structs.replace(each, target=0) for each in record.histograms)
    state, text = campaign.summary(msgspec.structs.replace(found, histograms=silent))
    assert (state, text) == ("open", "0 of 1 claim confirmed; 1 not observed this time")


def test_many_tests_are_not_all_printed() -> None:
    shown = piped(lambda out: campaign.campaign(large(400), out))
    assert "more in the report" in shown
    assert len(shown.splitlines()) < 600


def test_many_structures_have_a_row_each(snapshot: SnapshotAssertion) -> None:
    record = small()
    (structure,) = record.structures
    many = [msgspec.structs.replace(structure, name=f"structure_{n}") for n in range(10)]
    record = msgspec.structs.replace(record, structures=(structure, *many))
    assert piped(lambda out: campaign.campaign(record, out)) == snapshot
    shown = piped(lambda out: campaign.campaign(record, out, everything=True))
    assert "structure_9  " in shown
    assert len(shown.splitlines()) > 60


def test_a_table_of_verdicts_has_a_row_per_test_and_a_column_per_model(
    snapshot: SnapshotAssertion,
) -> None:
    assert steady(piped(lambda out: answers.verdicts(small(), out))) == snapshot


def test_one_test_is_printed_with_its_states(snapshot: SnapshotAssertion) -> None:
    shown = piped(lambda out: answers.verdicts(alone(small(), "SB+rel-acqs"), out))
    assert steady(shown) == snapshot


def test_an_unknown_verdict_is_printed_with_its_reason(snapshot: SnapshotAssertion) -> None:
    record = msgspec.structs.replace(
        small(), verdicts=(verdict("A", "sc", "Unknown"), verdict("B", "sc", "Never"))
    )
    assert steady(piped(lambda out: answers.verdicts(record, out))) == snapshot


def test_an_instruction_that_is_not_supported_is_one_reason_wherever_it_stands() -> None:
    one = CodegenComparison(
        source="A",
        model="c11",
        target="power",
        builds=("gcc-12 -O2",),
        machine="power",
        result="Unknown",
        reason="thread 0: instruction at 0x8, cntlzw r3, r3",
        unread="cntlzw",
    )
    reason = "thread 1: instruction at 0x14, cntlzw r4, r4"
    other = msgspec.structs.replace(one, source="B", reason=reason)
    failed = msgspec.structs.replace(one, source="C", reason="the compiler failed", unread="")
    record = msgspec.structs.replace(small(), compiled=(one, other, failed))
    shown = piped(lambda out: answers.codegen(record, out))
    assert "Unknown for 2 questions: cntlzw (A by gcc-12 -O2; B by gcc-12 -O2)" in shown
    assert "Unknown for 1 question: the compiler failed (C by gcc-12 -O2)" in shown


def test_a_histogram_marks_the_outcome_and_what_is_not_allowed(snapshot: SnapshotAssertion) -> None:
    shown = piped(lambda out: measurements.histograms(alone(small(), "SB+rel-acqs"), out))
    assert steady(shown) == snapshot


def test_a_test_that_did_not_run_is_printed_with_the_reason() -> None:
    none = msgspec.structs.replace(
        histogram("A", 0, MACHINES[0]), histogram=(), iterations=0, reason="it did not compile"
    )
    record = msgspec.structs.replace(small(), histograms=(none,))
    assert "not run: it did not compile" in piped(lambda out: measurements.histograms(record, out))


def test_json_lines_are_one_object_per_line_with_the_agreed_names() -> None:
    record = small()
    found = [json.loads(line) for line in json_lines(record.verdicts)]
    assert {"test", "model", "checker", "observation", "condition_holds", "states", "flags"} <= set(
        found[0]
    )
    (first, *_) = (json.loads(line) for line in json_lines(record.histograms))
    assert {"test", "machine", "runner", "histogram", "target", "target_independent"} <= set(first)
    assert set(first["histogram"][0]) == {"state", "count"}
    found = [json.loads(line) for line in json_lines(record.explorations)]
    names = {"program", "model", "result", "violations", "complete", "blocked", "seconds"}
    assert names <= set(found[-1])
    assert {"kind", "message", "sites", "test"} <= set(found[-1]["violations"][0])
    (finding, *_) = (json.loads(line) for line in json_lines(record.findings))
    assert {"id", "severity", "message", "sites", "evidence", "fix"} <= set(finding)


@given(st.lists(st.lists(st.text(st.characters(categories=["L", "N"]), max_size=8), max_size=5)))
def test_columns_align_whatever_stands_in_them(rows: list[list[str]]) -> None:
    lines = [line.plain for line in terminal.columns(rows)]
    assert len(lines) == len(rows)
    for at in range(1, max(map(len, rows), default=0)):
        starts = {
            cell_len(line[: len(line) - len(line.split(row[at])[-1]) - len(row[at])])
            for line, row in zip(lines, rows, strict=True)
            if at == len(row) - 1 and row[at] and line.count(row[at]) == 1
        }
        assert len(starts) <= 1


@pytest.mark.parametrize(
    ("part", "drawn"), [(0.0, ""), (1e-9, "▏"), (0.5, "█" * 4), (1.0, "█" * 8), (7.0, "█" * 8)]
)
def test_a_bar_shows_what_is_not_nothing(part: float, drawn: str) -> None:
    assert terminal.bar(part, 8) == drawn


def test_every_finding_of_the_example_has_a_kind() -> None:
    assert {each.id for each in judged(small()).findings} <= set(KINDS)


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_name_of_a_machine_is_not_read_as_markup() -> None:
    """`ssh:loop:` is no emoji."""
    out = Tty()
    with RichProgress(terminal.console(out)) as progress:
        progress.start(3, "running on ssh:loop")
        progress.at("ssh:loop: [dim] and further")
        progress.message("ssh:loop: gone")
    assert "running on ssh:loop" in out.getvalue()
    assert "ssh:loop: gone" in out.getvalue()
    assert "\N{DOUBLE CURLY LOOP}" not in out.getvalue()


def test_a_terminal_shows_how_long_an_exploration_takes_at_eighty_columns() -> None:
    pace = (
        "rw_lock/three_readers under rc20: 59,956 executions, 1,159 per second, about 8.3·10⁴ "
        "executions (standard error 31 %), 20 s left"
    )
    out = io.StringIO()
    narrow = Console(file=out, force_terminal=True, width=80, soft_wrap=True)
    with RichProgress(narrow) as progress:
        progress.start(7, "exploring")
        progress.at(pace)
    shown = " ".join(re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue()).split())
    assert pace in shown
    assert "exploring" in shown
    assert "0/7" in shown


def test_a_log_says_now_and_then_how_far_a_phase_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = iter([0.0, 1.0, 31.0, 32.0, 62.0, 92.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    left = iter([TimeLeft(30.0, complete=True), TimeLeft(600.0, complete=False), None])
    log = Log(phases=True)
    log.message("resuming")
    log.start(4, "running", lambda: next(left))
    log.advance()
    log.at("SB seen 12 times")
    log.advance()
    log.advance()
    log.advance()
    assert capsys.readouterr().err.splitlines() == [
        "resuming",
        "running: 4",
        "running: 1 of 4, about 30 s left; SB seen 12 times",
        "running: 3 of 4, more than 10 min left; SB seen 12 times",
        "running: 4 of 4; SB seen 12 times",
    ]


def test_a_witness_has_file_names_where_they_are_unambiguous() -> None:
    events = tuple(
        WitnessEvent(thread=0, label=label, kind="R", location="x", read="0", site=site)
        for label, site in (("a", "lib/q.h:3"), ("b", "a/x.h:4"), ("c", "b/x.h:5"), ("d", ""))
    )
    found = witness.shortened(Execution(events=events, waits=(Wait(0, "a lock", "lib/q.h:9"),)))
    assert isinstance(found, Execution)
    assert [each.site for each in found.events] == ["q.h:3", "a/x.h:4", "b/x.h:5", ""]
    assert found.waits[0].site == "q.h:9"
