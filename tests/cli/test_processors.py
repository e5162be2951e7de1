"""`-j` limits how many processors a command uses at a time, and leaves to the operating system
which these are: two commands with `-j 1` run side by side."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from weakspot.harness.checkers.explorer import asked
from weakspot.harness.corpus import models
from weakspot.harness.values.bounds import Bounds
from weakspot.system import processors

ENDLESS = """
#include <stdatomic.h>
#include <threads.h>
atomic_int x[4];
static int run(void *none) {
  for (int i = 0; i < 4; i++)
    for (int k = 0; k < 4; k++) atomic_fetch_add(&x[k], atomic_load(&x[i]) + k);
  return 0;
}
int main(void) {
  thrd_t t[4];
  for (int i = 0; i < 4; i++) thrd_create(&t[i], run, 0);
  for (int i = 0; i < 4; i++) thrd_join(t[i], 0);
}
"""


def _allowed(status: str) -> list[str]:
    return [line for line in status.splitlines() if line.startswith("Cpus_allowed_list")]


def _threads(process: int) -> list[Path]:
    return [each / "status" for each in Path(f"/proc/{process}/task").iterdir()]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_two_commands_on_one_processor_are_not_bound_to_the_same_one(tmp_path: Path) -> None:
    (tmp_path / "endless.c").write_text(ENDLESS)
    program = "from weakspot.harness.cli import main; main()"
    command = [sys.executable, "-c", program, "check", "endless.c", "-j", "1", "-m", "rc20"]
    running = [
        subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for _ in range(2)
    ]
    ours = _allowed(Path("/proc/self/status").read_text())
    try:
        end = time.monotonic() + 60
        while any(len(_threads(each.pid)) < 2 for each in running):  # until they explore
            assert time.monotonic() < end
            assert all(each.poll() is None for each in running)
            time.sleep(0.05)
        for each in running:
            for status in _threads(each.pid):
                assert _allowed(status.read_text()) == ours
    finally:
        for each in running:
            each.kill()
            each.communicate()


def test_inside_the_limit_an_exploration_uses_so_many_threads() -> None:
    before = processors.cores()
    numbers: list[int] = []

    class Explored:
        def explore(self, *_: object, jobs: int, **__: Any) -> None:
            numbers.append(jobs)

    program: Any = Explored()
    with processors.at_most(1):
        assert processors.cores() == 1
        asked(program, models.resolve("sc"), Bounds())
    asked(program, models.resolve("sc"), Bounds())
    asked(program, models.resolve("sc"), Bounds(), jobs=1)
    assert numbers == [1, 0, 1]
    assert processors.cores() == before
