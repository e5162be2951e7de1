"""Ten programs in Rust, among them four of the corpus's structures: right, and each with one
mistake, whose repair is at its line."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from weakspot.harness.cli import weakspot as commands
from weakspot.harness.cli.errors import guarded

PROGRAMS = Path(__file__).parent / "rust"

pytestmark = pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is not installed")


@pytest.mark.parametrize(
    ("name", "finding", "repair", "at"),
    [
        ("load_buffering", "WS101", "Ordering::Release at", "1.store(1, ANSWER)"),
        ("lost_wakeup", "WS103", "", "while !self.open.load"),
        ("message_passing", "WS101", "Ordering::Release at", "store(true, PUBLISH)"),
        ("rw_lock", "WS102", "Ordering::Release at", "fetch_sub(1, LEAVE)"),
        ("seqlock", "WS101", "fence(Ordering::Acquire) after", "let pair = ("),
        ("spin_lock", "WS101", "Ordering::Release at", "store(false, UNLOCK)"),
        ("spsc_ring", "WS101", "Ordering::Release at", "store(tail + 1, FILL)"),
        ("store_buffering", "WS101", "Ordering::SeqCst at", "load(LOOK)"),
        ("treiber_stack", "WS101", "Ordering::Release on success", "node, LINK"),
        ("work_stealing_deque", "WS101", "fence(Ordering::SeqCst) before", "let top = self.top"),
    ],
)
def test_programs(
    name: str, finding: str, repair: str, at: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = PROGRAMS / f"{name}.rs"
    check = ("check", str(file), "--model", "rc20,imm")
    assert guarded(commands, check) == 0
    assert "Violated" not in capsys.readouterr().out
    assert guarded(commands, (*check, "-D", "weakened")) == 1
    printed = capsys.readouterr().out
    assert f"\n{finding} " in printed
    line = 1 + next(n for n, line in enumerate(file.read_text().splitlines()) if at in line)
    if not repair:
        assert f"{name}.rs:{line}" in printed
        return
    repairs = printed[printed.index(f"\n{finding} ") :].partition("help: ")[2].split("; ")
    assert any(repair in each and f"{name}.rs:{line} suffices" in each for each in repairs)
