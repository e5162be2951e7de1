"""A campaign that is interrupted anywhere is finished by the same command."""

from __future__ import annotations

import contextlib
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from weakspot.harness.campaign.folder import load, read_manifest

SCRIPT = Path(__file__).with_name("slow_campaign.py")
JOBS = 80  # forty tests under two models


def start(folder: Path, log: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder), str(log)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def lines(path: Path) -> list[str]:
    with contextlib.suppress(FileNotFoundError):
        return path.read_text().splitlines()
    return []


def kill_after(count: int, folder: Path, log: Path, how: signal.Signals) -> bytes:
    """Start the campaign, and stop it once `count` more answers are in its folder."""
    process = start(folder, log)
    wanted = len(lines(folder / "verdicts.jsonl")) + count
    while process.poll() is None and len(lines(folder / "verdicts.jsonl")) < wanted:
        time.sleep(0.005)
    process.send_signal(how)
    output, _ = process.communicate(timeout=30)
    return output


@pytest.mark.parametrize("seed", range(3))
def test_killed_campaign_resumes_without_repeating_jobs(tmp_path: Path, seed: int) -> None:
    folder, log = tmp_path / "campaign", tmp_path / "log"
    chance = random.Random(seed)
    kills = 3
    for _ in range(kills):
        kill_after(chance.randrange(1, 20), folder, log, signal.SIGKILL)
        assert not read_manifest(folder).finished
    process = start(folder, log)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output.decode()
    asked = Counter(lines(log))
    assert len(asked) == JOBS
    # a job may be asked for twice only when the kill came between its question and its answer
    assert sum(asked.values()) - JOBS <= kills
    record = load(folder)
    assert record.manifest.finished
    assert len(record.verdicts) == JOBS
    assert len((folder / "verdicts.jsonl").read_text().splitlines()) == JOBS


def test_a_campaign_killed_before_its_first_answer_is_finished_too(tmp_path: Path) -> None:
    folder, log = tmp_path / "campaign", tmp_path / "log"
    process = start(folder, log)
    while not (folder / "campaign.json").exists():
        time.sleep(0.001)
    process.kill()
    process.communicate()
    process = start(folder, log)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0, output.decode()
    assert len(load(folder).verdicts) == JOBS


def test_ctrl_c_preserves_results_and_prints_how_to_resume(tmp_path: Path) -> None:
    folder, log = tmp_path / "campaign", tmp_path / "log"
    output = kill_after(10, folder, log, signal.SIGINT).decode()
    assert "run the same command again to resume" in output
    stored = len(load(folder).verdicts)
    assert 10 <= stored < JOBS
    assert str(stored) in output
    process = start(folder, log)
    process.communicate(timeout=60)
    assert len(load(folder).verdicts) == JOBS
    assert sum(Counter(lines(log)).values()) <= JOBS + 1


def test_a_second_process_on_the_same_folder_is_refused(tmp_path: Path) -> None:
    folder, log = tmp_path / "campaign", tmp_path / "log"
    first = start(folder, log)
    while len(lines(folder / "verdicts.jsonl")) < 2:
        time.sleep(0.005)
    first.send_signal(signal.SIGSTOP)  # it still writes the campaign, however long the next starts
    second = start(folder, log)
    output, _ = second.communicate(timeout=30)
    first.kill()
    first.communicate()
    assert second.returncode != 0
    assert "another weakspot is writing to this campaign" in output.decode()
