"""scripts/record.py records what a terminal shows, and shows it as text."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ended import execute

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "record.py"


def record(*arguments: str | Path) -> tuple[int, str]:
    done = execute(sys.executable, SCRIPT, *arguments)
    assert not done.err
    return done.code, done.out


def test_record_runs_commands_in_a_terminal_and_returns_the_code_of_the_last(
    tmp_path: Path,
) -> None:
    file = tmp_path / "session.cast"
    code, _ = record("-o", file, "--columns", "72", "test -t 1 && stty size", "exit 3")
    assert code == 3
    header, *events = (json.loads(line) for line in file.read_text().splitlines())
    assert (header["version"], header["width"]) == (2, 72)
    assert (
        "".join(text for _, _, text in events)
        == "$ test -t 1 && stty size\r\n40 72\r\n$ exit 3\r\n"
    )
    _, shown = record("--show", file)
    assert [line.partition("  ")[2] for line in shown.splitlines()] == [
        "$ test -t 1 && stty size",
        "40 72",
        "$ exit 3",
        "",
    ]


def test_a_line_that_counts_is_shown_once_in_a_while(tmp_path: Path) -> None:
    file = tmp_path / "session.cast"
    counting = [[second, "o", f"\rworking {second} of 60"] for second in range(60)]
    done = [[60.0, "o", "\r\x1b[Kdone\r\n"]]
    lines = [{"version": 2, "width": 80, "height": 40}, [0, "o", "$ work\r\n"], *counting, *done]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    assert record("--show", file)[1].splitlines() == [
        "0:00  $ work",
        "0:09  working 9 of 60",
        "0:29  working 29 of 60",
        "0:49  working 49 of 60",
        "1:00  done",
        "1:00",
    ]
