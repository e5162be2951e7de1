"""docs/build.md's projects with CMake, Meson and Bazel, run with the real tools."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from samples import Run

from weakspot import __version__
from weakspot.system.tools import Tool

PAGE = Path(__file__).resolve().parents[2] / "docs" / "build.md"
QUEUE = """\
#include <atomic>
class Queue {
public:
  void push(int value) { slot_ = value; full_.store(true, std::memory_order_ORDER); }
  bool pop(int &value) {
    if (!full_.load(std::memory_order_acquire)) return false;
    value = slot_;
    return true;
  }
private:
  std::atomic<bool> full_{false};
  int slot_ = 0;
};
"""
PUSH_POP = """\
#include <cassert>
#include <thread>
#include "queue.hpp"
int main() {
  Queue queue;
  std::thread one([&] { queue.push(42); });
  std::thread other([&] {
    int value;
    if (queue.pop(value)) assert(value == 42);
  });
  one.join();
  other.join();
}
"""

Ran = subprocess.CompletedProcess[str]
Build = Callable[..., Ran]


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    return str(found)


@pytest.fixture
def project(folder: Path) -> Path:
    (folder / "include").mkdir()
    (folder / "tests").mkdir()
    (folder / "include" / "queue.hpp").write_text(QUEUE.replace("ORDER", "release"))
    (folder / "tests" / "push_pop.cpp").write_text(PUSH_POP)
    return folder


@pytest.fixture
def build(project: Path) -> Build:
    def ran(*command: str | Path) -> Ran:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return subprocess.run(
            command,
            cwd=project,
            env={**os.environ, "PATH": path, "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )

    return ran


@pytest.fixture
def weaken(project: Path) -> Callable[[], object]:
    header = project / "include" / "queue.hpp"
    return lambda: header.write_text(QUEUE.replace("ORDER", "relaxed"))


def test_the_version_of_the_cmake_package_is_that_of_the_python_package(run: Run) -> None:
    folder = Path(run("--cmake-dir").out.strip())
    text = (folder / "weakspot-config-version.cmake").read_text()
    assert f'set(PACKAGE_VERSION "{__version__}")' in text


def test_ctest_fails_when_an_order_is_weakened(
    need: Callable[[str], Tool], project: Path, build: Build, run: Run, weaken: Callable[[], object]
) -> None:
    need("cmake")
    need("ctest")
    (project / "CMakeLists.txt").write_text(block("cmake"))
    folder = run("--cmake-dir").out.strip()
    made = build("cmake", "-B", "build", f"-Dweakspot_DIR={folder}")
    assert made.returncode == 0, made.stdout + made.stderr
    test = ("ctest", "--test-dir", "build", "--output-on-failure")
    passed = build(*test)
    assert passed.returncode == 0, passed.stdout
    assert "1 tests passed" in passed.stdout or "100% tests passed" in passed.stdout
    weaken()
    failed = build(*test)
    assert failed.returncode != 0
    assert "WS102" in failed.stdout
    assert "include/queue.hpp:4" in failed.stdout


def test_cmake_passes_definitions_options_and_the_standard(
    need: Callable[[str], Tool], project: Path, build: Build, run: Run
) -> None:
    need("cmake")
    (project / "tests" / "own.c").write_text(
        "#include <assert.h>\nint main(void) { assert(N == 3 && __STDC_VERSION__ == 201112L"
        " && (char)-1 > 0); return 0; }\n"
    )
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.20)\nproject(own C)\nenable_testing()\n"
        "set(CMAKE_C_STANDARD 11)\nfind_package(weakspot 0.1 REQUIRED)\n"
        'add_library(n INTERFACE)\ntarget_compile_definitions(n INTERFACE N=3 "S=a b")\n'
        "target_compile_options(n INTERFACE -O2 -funsigned-char)\n"
        "weakspot_add_test(NAME own SOURCES tests/own.c MODELS sc rc20 LINK_LIBRARIES n "
        "OPTIONS --seconds 30s)\n"
    )
    folder = run("--cmake-dir").out.strip()
    made = build("cmake", "-B", "build", f"-Dweakspot_DIR={folder}")
    assert made.returncode == 0, made.stdout + made.stderr
    passed = build("ctest", "--test-dir", "build", "--output-on-failure")
    assert passed.returncode == 0, passed.stdout


def test_meson_fails_when_an_order_is_weakened(
    need: Callable[[str], Tool], project: Path, build: Build, weaken: Callable[[], object]
) -> None:
    need("meson")
    need("ninja")
    (project / "meson.build").write_text(block("meson"))
    made = build("meson", "setup", "build")
    assert made.returncode == 0, made.stdout + made.stderr
    assert build("meson", "test", "-C", "build").returncode == 0
    weaken()
    failed = build("meson", "test", "-C", "build", "--print-errorlogs")
    assert failed.returncode != 0
    assert "WS102" in failed.stdout


def test_bazel_fails_when_an_order_is_weakened(
    need: Callable[[str], Tool],
    project: Path,
    build: Build,
    weaken: Callable[[], object],
    tmp_path: Path,
) -> None:
    need("bazel")
    (project / "WORKSPACE").write_text('workspace(name = "queue")\n')
    (project / "weakspot.bzl").write_text(block("bzl"))
    (project / "BUILD").write_text(block("starlark"))
    # what Bazel would fetch for reports on coverage
    coverage = tmp_path / "coverage"
    coverage.mkdir()
    (coverage / "WORKSPACE").touch()
    (coverage / "BUILD").write_text(
        'filegroup(name = "coverage_report_generator", visibility = ["//visibility:public"])\n'
    )
    bazel = ("bazel", f"--output_user_root={tmp_path / 'bazel'}", "--batch", "test", "//:push_pop")
    test = (
        *bazel,
        "--test_env=PATH",
        "--test_output=errors",
        "--spawn_strategy=local",
        f"--override_repository=remote_coverage_tools={coverage}",
    )
    passed = build(*test)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    weaken()
    failed = build(*test)
    assert failed.returncode == 3  # a test has failed
    assert "WS102" in failed.stdout
    assert "include/queue.hpp:4" in failed.stdout
