"""A Safe answer names the assertions that no execution comes to."""

from __future__ import annotations

from pathlib import Path

import pytest

import weakspot

PROGRAM = """\
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int flag, other;
static void *thread(void *unused) {
  atomic_store(&flag, 1);
  assert(unused == 0 && atomic_load(&flag) == 1);
  return unused;
}
int main(void) {
  pthread_t id;
  assert(!other);
  pthread_create(&id, 0, thread, 0);
  if (atomic_load(&flag) == VALUE)
    assert(atomic_load(&other) == 0);
  pthread_join(id, 0);
  assert(flag == LAST);
}
"""


@pytest.mark.parametrize(
    ("value", "last", "lines"), [(1, 1, []), (2, 1, [15]), (2, 2, [])], ids=str
)
@pytest.mark.parametrize("suffix", [".c", ".cpp"])
def test_an_assertion_that_no_execution_comes_to_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    suffix: str,
    value: int,
    last: int,
    lines: list[int],
) -> None:
    monkeypatch.chdir(tmp_path)
    path = Path(f"program{suffix}")
    path.write_text(PROGRAM)
    build = weakspot.Build(defines=(f"VALUE={value}", f"LAST={last}"))
    for found in weakspot.explore(path, models=["sc", "rc20", "imm"], build=build):
        assert found.result == ("Safe" if last == 1 else "Violated")
        notes = [f"{path}:{line}: no execution comes to this assertion" for line in lines]
        assert [*found.notes] == notes
