"""pytest runs a project's scenarios; a failure shows what the gate shows."""

from __future__ import annotations

import subprocess
import sys

from projects import SB, WEAK_SB, Project


def pytest(project: Project, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--tb=short", *arguments],
        cwd=project.folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_scenarios_are_tests_and_a_failure_shows_the_execution(project: Project) -> None:
    project.write("tests/test_own.py", "def test_own(): pass\n")
    done = pytest(project)
    assert done.returncode == 0, done.stdout
    assert "3 passed" in done.stdout
    project.weaken()
    done = pytest(project)
    assert done.returncode == 1
    assert "1 failed, 2 passed" in done.stdout
    assert "WS101 assertion failed: *value == 42" in done.stdout
    assert "needs at least release under rc20" in done.stdout
    assert "─rf→" in done.stdout
    assert "Traceback" not in done.stdout


def test_one_scenario_is_run_by_its_name(project: Project) -> None:
    done = pytest(project, "tests/SB.litmus::gate", "-v")
    assert "tests/SB.litmus::gate PASSED" in done.stdout, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_without_a_configuration_nothing_is_collected_unless_asked(project: Project) -> None:
    (project.folder / "weakspot.toml").unlink()
    project.write("tests/SB.litmus", WEAK_SB)
    project.write("tests/test_own.py", "def test_own(): pass\n")
    assert "1 passed" in pytest(project).stdout
    done = pytest(project, "--weakspot")
    assert "1 failed, 1 passed" in done.stdout
    assert "the file expects Never, engine answers Sometimes" in done.stdout


def test_a_scenario_that_does_not_compile_shows_its_line(project: Project) -> None:
    project.write("tests/push_pop.cpp", "int main() { return nothing; }\n")
    done = pytest(project, "tests/push_pop.cpp")
    assert done.returncode == 1
    assert "use of undeclared identifier 'nothing'" in done.stdout
    assert "Traceback" not in done.stdout


def test_an_invalid_configuration_is_reported_with_its_line(project: Project) -> None:
    path = project.write("weakspot.toml", "[gate]\nscenariox = []\n")
    done = pytest(project)
    assert done.returncode == 2
    assert f"--> {path.name}:2" in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


def test_it_costs_nothing_at_start_up_where_nothing_is_asked(project: Project) -> None:
    (project.folder / "weakspot.toml").unlink()
    project.write("tests/SB.litmus", SB)
    project.write(
        "tests/test_own.py",
        "import sys\n"
        "def test_own():\n"
        "    loaded = [name for name in sys.modules if name.startswith('weakspot.')]\n"
        "    assert 'weakspot.errors' not in loaded, loaded\n",
    )
    done = pytest(project)
    assert done.returncode == 0, done.stdout
