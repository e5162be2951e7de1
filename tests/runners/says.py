"""A program that says what it was given, for tests of machines that are elsewhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from weakspot.harness import machines
from weakspot.harness.machines import Machine, compilers, local

SAYS = """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + t.tv_nsec / 1e9;
}
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "abort")) abort();
  if (argc > 1 && !strcmp(argv[1], "sleep")) for (;;) sleep(1);
  if (argc > 1 && !strcmp(argv[1], "nap")) {
    double begin = now();
    usleep(200000);
    printf("%f %f", begin, now());
    return 0;
  }
  for (int i = 1; i < argc; i++) printf("[%s]", argv[i]);
  fprintf(stderr, "and this\\n");
  return 3;
}
"""


def program(machine: Machine, folder: Path, source: str = SAYS) -> Path:
    """The program, compiled for a machine; the test is skipped without a compiler."""
    if compilers.find(machine) is None:
        pytest.skip("no compiler")
    (folder / "says.c").write_text(source)
    made = folder / "says"
    command = [*compilers.require(machine).command, *machine.flags, "says.c", "-o", made.name]
    subprocess.run(command, cwd=folder, check=True)
    return made


def assert_runs_as_here(machine: Machine, folder: Path) -> None:
    """What a program is given, prints and ends with is the same as on this computer."""
    made = program(machine, folder)
    words = ["a b", "it's", "$HOME", "*", ""]
    for where in (local.machine(), machine):
        with machines.opened(where) as at:
            ended = at.run(made, words, seconds=5)
            assert (ended.code, ended.timed_out) == (3, False)
            assert ended.out == "".join(f"[{word}]" for word in words)
            assert ended.err == "and this\n"
            assert at.run(made, ["abort"], seconds=5).code == -6
            late = at.run(made, ["sleep"], seconds=1)
            assert late.timed_out
            assert at.run(made, ["still"], seconds=5).out == "[still]", "the machine still works"
