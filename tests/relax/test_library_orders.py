"""Memory orders of the compiler's own library are not the user's to change."""

from __future__ import annotations

from pathlib import Path

import pytest

from weakspot import projects

SHARED = """\
#include <atomic>
#include <cassert>
#include <memory>
#include <thread>
std::atomic<int> flag;
int main() {
  auto shared = std::make_shared<int>(1);
  std::thread t([shared] { flag.store(*shared, std::memory_order_release); });
  int got = flag.load(std::memory_order_acquire);
  shared.reset();
  assert(got < 2);
  t.join();
}
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shared.cpp").write_text(SHARED)
    return Path("shared.cpp")


def test_they_are_not_relaxed(source: Path) -> None:
    (found,) = projects.relax(source, machine_models=())
    assert [str(each) for each in found.annotations] == ["shared.cpp:8", "shared.cpp:9"]


def test_they_are_not_mutated(source: Path) -> None:
    (found,) = projects.mutate(source, machine_models=())
    assert {each.place for each in found.mutants} == {"shared.cpp:8", "shared.cpp:9"}


def test_they_are_not_measured(source: Path) -> None:
    (found,) = projects.cost(source, seconds=0.2)
    assert {each.annotation.file for each in found.sites} == {"shared.cpp"}
