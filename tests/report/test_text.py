"""What a terminal shows: the worst first, in plain stable lines when it is piped."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

import msgspec
import pytest
from examples import MACHINES, histogram, judged, large, small, verdict
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from weakspot.harness.cli.output import json_lines
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.report import tables, terminal, text
from weakspot.harness.report.progress import PlainProgress, RichProgress
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.histogram import ControlTest
from weakspot.harness.values.record import MachineInfo, Record


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
    shown = piped(lambda out: text.campaign(small(), out, report="index.html"))
    assert "\x1b" not in shown
    assert not set(shown) & set("█▉▊▋▌▍▎▏─│┃━╭╮")
    assert all(line == line.rstrip() for line in shown.splitlines())


def test_a_terminal_gets_colours_and_bars() -> None:
    shown = coloured(lambda out: text.campaign(small(), out))
    assert "\x1b[" in shown
    assert "█" in shown


def test_a_report_of_a_structure_says_tests_programs_and_claims() -> None:
    shown = piped(lambda out: text.campaign(small(), out, report="results/x/index.html"))
    assert "work_queue  A work-stealing queue  3 scenarios  models sc tso rc11 clr2" in shown
    assert "7: 2 SB, 2 MP, 1 LB, 1 S, 1 2+2W" in shown
    assert "3 under sc rc11: 2 safe, 2 violated as recorded (two_thieves)" in shown
    assert "1,534 executions in 0.4 s" in shown
    assert shown.rstrip().endswith("2 findings · report: results/x/index.html")


def test_what_was_seen_and_is_forbidden_comes_first() -> None:
    shown = piped(lambda out: text.campaign(small(), out))
    tests = [line for line in shown.splitlines() if line.startswith("  SB+") or " MP+" in line[:8]]
    assert tests[0].startswith("  SB+rel-acqs  pop queue.h:16,17 ∥ steal queue.h:23,24")
    assert "allowed tso rc11   forbidden sc clr2" in tests[0]
    assert "local: seen 4,021 of 1.2·10⁷" in shown
    assert "qemu:aarch64 (emulated): seen 12 of 1.2·10⁷" in shown


def test_what_was_seen_although_it_is_forbidden_stands_above_everything() -> None:
    """Where nothing records it, it comes before the structures and all other findings."""
    record = small()
    unclaimed = tuple(msgspec.structs.replace(each, claims=()) for each in record.structures)
    record = judged(msgspec.structs.replace(record, structures=unclaimed))
    assert {"WS101", "WS201", "WS401"} <= {each.id for each in record.findings}
    assert record.findings[0].id == "WS201"
    shown = piped(lambda out: text.campaign(record, out))
    assert shown.startswith("WS201 SB+rel-acqs: the outcome was seen 4,021 times on local")
    assert shown.count("WS201 ") == sum(each.id == "WS201" for each in record.findings)
    assert shown.index("WS201") < shown.index("work_queue  A work-stealing") < shown.index("WS401")


def test_how_evenly_a_machine_ran_is_told() -> None:
    even = {"probes": 260, "throttling": 0.042, "steal": 0.0011}
    machine = MachineInfo("local", "x86_64", False, even)
    manifest = msgspec.structs.replace(small().manifest, machines=(machine,))
    record = msgspec.structs.replace(small(), manifest=manifest)
    words = "slowest of 260 probes 4 % below the fastest, 0.11 % of its time stolen"
    assert words in piped(lambda out: text.campaign(record, out))
    assert f"local: {words}\n" in piped(lambda out: tables.histograms(record, out))


def test_what_was_not_seen_is_never_called_impossible() -> None:
    shown = piped(lambda out: text.campaign(small(), out, everything=True))
    assert "not seen in 1.2·10⁷" in shown
    assert "impossible" not in shown


def both_runners(target: int) -> Record:
    """SB+rel-acqs as two runners ran it; ours with a control."""
    theirs = histogram("SB+rel-acqs", 0)
    ours = msgspec.structs.replace(
        histogram("SB+rel-acqs", target),
        runner="native",
        target_independent=target // 2,
        controls=(
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


def test_runners_stand_side_by_side_and_what_one_alone_saw_is_told() -> None:
    record = both_runners(40)
    shown = piped(lambda out: text.campaign(record, out))
    both = "local: native seen 40 of 1.2·10⁷ (independent 20) · litmus7 not seen in 1.2·10⁷"
    assert f"     {both}  forbidden by sc clr2\n" in shown
    assert "     only native saw 0:r0=0 1:r0=0 on local\n" in shown
    shown = piped(lambda out: tables.histograms(record, out))
    assert "SB+rel-acqs: only native saw 0:r0=0 1:r0=0 on local\n" in shown
    assert "only litmus7" not in shown


@pytest.mark.parametrize("show", [text.campaign, tables.histograms])
def test_silence_is_told_with_what_it_is_worth(show: Callable[[Record, Console], None]) -> None:
    worth = "a sibling (P0 without its seq_cst fence) was seen at a rate of 0.02; were this one"
    assert worth in piped(lambda out: show(both_runners(0), out))
    assert worth not in piped(lambda out: show(both_runners(1), out))


def test_a_recorded_finding_is_not_shown_as_one() -> None:
    shown = piped(lambda out: text.campaign(small(), out))
    assert "WS101" not in shown  # two_thieves is violated, as its claim says
    assert "WS401 MP+rlx+acq under tso: herd7 says Never, cbmc says Sometimes" in shown


def test_a_violation_is_shown_with_its_execution_in_source_lines() -> None:
    unclaimed = msgspec.structs.replace(small().structures[0], claims=())
    record = judged(msgspec.structs.replace(small(), structures=(unclaimed,)))
    found = [each for each in record.findings if each.id == "WS101"]
    shown = piped(lambda out: text.findings(record, found, out)).splitlines()
    assert shown == [
        "WS101 work_queue/two_thieves: assertion `taken == 1` fails  [assertion violated]",
        "  --> queue.h:22",
        "   |  Violated: assertion under sc, 326 executions (4 blocked) in 0.2 s",
        "   |  Violated: assertion under rc11, 326 executions (4 blocked) in 0.2 s",
        "   |    first_thief                               second_thief",
        "   |    a  queue.h:22 load q.head = 0 (acq)       c  queue.h:22 load q.head = 0 (acq)",
        "   |    b  queue.h:23 store q.head = 1 (rel)      d  queue.h:23 store q.head = 1 (rel)",
        "   |    a reads the initial value of q.head",
        "   |    c reads the initial value of q.head",
        "   |    q.head: b is overwritten by d",
        "   |    cycle: c ─fr→ b ─co→ d ─po→ c",
        "help: it happens under sequential consistency too: no memory order repairs it",
    ]


def test_a_table_of_explorations_has_a_row_a_program_and_a_column_a_model() -> None:
    record = small()
    cut = Exploration(
        program="work_queue/push_vs_steal",
        model="rc11",
        result="Unknown",
        complete=9,
        reasons=("a loop goes round more than 4 times at queue.h:9:3", "--loops 8 goes on"),
    )
    record = msgspec.structs.replace(record, explorations=(*record.explorations, cut))
    lines = piped(lambda out: tables.explorations(record, out)).splitlines()
    assert lines[0].split() == ["program", "sc", "rc11"]
    assert lines[1].split() == ["work_queue/pop_vs_steal", "Safe", "–"]
    assert lines[2].split() == ["work_queue/push_vs_steal", "Safe", "Unknown"]
    assert lines[3].split()[1:] == ["Violated:", "assertion", "Violated:", "assertion"]
    assert (
        "work_queue/push_vs_steal under rc11: a loop goes round more than 4 times at queue.h:9:3; "
        "--loops 8 goes on" in lines
    )


def test_the_last_line_says_how_it_went() -> None:
    record = small()
    good = msgspec.structs.replace(record, findings=())
    assert text.summary(good) == ("good", "everything as recorded in claims.toml")
    assert text.summary(msgspec.structs.replace(good, structures=()))[1] == "nothing found"
    cut = msgspec.structs.replace(record.manifest, finished="")
    assert text.summary(msgspec.structs.replace(good, manifest=cut))[0] == "open"
    unknown = msgspec.structs.replace(good, verdicts=(verdict("T", "sc", "Unknown"),))
    assert text.summary(unknown) == ("open", "1 question undecided")
    assert text.summary(record) == ("bad", "2 findings")


def test_many_tests_are_not_all_printed() -> None:
    shown = piped(lambda out: text.campaign(large(400), out))
    assert "more in the report" in shown
    assert len(shown.splitlines()) < 600


def test_a_table_of_verdicts_has_a_row_a_test_and_a_column_a_model() -> None:
    lines = piped(lambda out: tables.verdicts(small(), out)).splitlines()
    assert lines[0].split() == ["test", "sc", "tso", "rc11", "clr2"]
    assert lines[1].split() == ["SB+rel-acqs", "Never", "Sometimes", "Sometimes", "Never"]
    assert "herd7 Never / cbmc Sometimes" in lines[4]
    assert lines[1].index("Sometimes") == lines[0].index("tso")


def test_one_test_is_shown_with_its_states() -> None:
    shown = piped(lambda out: tables.verdicts(alone(small(), "SB+rel-acqs"), out))
    assert "tso  herd7  Sometimes  the condition holds  1 of 4 executions" in shown
    assert "    * 0:r0=0 1:r0=0" in shown


def test_an_unknown_verdict_says_why() -> None:
    record = msgspec.structs.replace(
        small(), verdicts=(verdict("A", "sc", "Unknown"), verdict("B", "sc", "Never"))
    )
    shown = piped(lambda out: tables.verdicts(record, out))
    assert "unknown, 1 times: herd7: time limit of 20 s (A)" in shown


def test_a_histogram_marks_the_outcome_and_what_is_not_allowed() -> None:
    shown = piped(lambda out: tables.histograms(alone(small(), "SB+rel-acqs"), out))
    assert "* 0:r0=0 1:r0=0         4,021 not allowed by sc clr2" in shown
    assert "emulated: says nothing of how weak a real one is" in shown


def test_a_test_that_did_not_run_says_why() -> None:
    none = msgspec.structs.replace(
        histogram("A", 0, MACHINES[0]), histogram=(), iterations=0, reason="it did not compile"
    )
    record = msgspec.structs.replace(small(), histograms=(none,))
    assert "not run: it did not compile" in piped(lambda out: tables.histograms(record, out))


def test_json_lines_are_one_object_a_line_with_the_agreed_names() -> None:
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


@pytest.mark.parametrize(("out", "kind"), [(io.StringIO(), PlainProgress), (Tty(), RichProgress)])
def test_a_machines_name_is_printed_as_it_is(
    out: io.StringIO, kind: type[PlainProgress | RichProgress]
) -> None:
    """`ssh:loop:` is no picture."""
    with kind(terminal.console(out)) as progress:
        progress.start(3, "running on ssh:loop")
        progress.at("ssh:loop: [dim] and further")
        progress.message("ssh:loop: gone")
    assert "running on ssh:loop" in out.getvalue()
    assert "ssh:loop: gone" in out.getvalue()
    assert "\N{DOUBLE CURLY LOOP}" not in out.getvalue()
