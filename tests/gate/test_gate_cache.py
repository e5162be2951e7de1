"""What is unchanged costs nothing, and whatever changed is asked again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from projects import CONFIG, PUSH_POP, QUEUE, Project

from weakspot import _engine
from weakspot.generators.source import clang
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.gate.repairs import FindRepair
from weakspot.harness.gate.scenarios import Scenario
from weakspot.system.deadline import Deadline


@pytest.fixture
def idle(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project whose answers are known; compiling, exploring or checking again fails."""
    assert project.gate().code == 0
    for owner, name in ((clang, "run"), (EngineExplorer, "explore"), (Engine, "check")):
        monkeypatch.setattr(owner, name, None)
    return project


def test_a_second_run_compiles_explores_and_checks_nothing(idle: Project) -> None:
    ended = idle.gate()
    assert (ended.code, ended.err) == (0, "")
    assert "2 unchanged" in ended.out


CHANGES: dict[str, Callable[[Project], object]] = {
    "the source": lambda project: project.write("tests/push_pop.cpp", f"{PUSH_POP}//\n"),
    "a header": lambda project: project.write("include/queue.hpp", f"{QUEUE}//\n"),
    "a header that hides another": lambda project: project.write("tests/queue.hpp", QUEUE),
    "a macro": lambda project: project.write("weakspot.toml", f'build.defines = ["X=1"]\n{CONFIG}'),
    "a bound": lambda project: project.write("weakspot.toml", f"{CONFIG}unroll = 7\n"),
    "the model": lambda project: project.write("weakspot.toml", f'models = ["sc"]\n{CONFIG}'),
    "what is cached": lambda project: [
        path.write_bytes(path.read_bytes()[:-9])
        for path in (project.folder / ".weakspot").rglob("*.json")
    ],
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_question_whose_input_changed_is_asked_again(idle: Project, what: str) -> None:
    CHANGES[what](idle)
    assert "not callable" in idle.gate().reported(2)


def test_an_edit_while_a_scenario_is_explored_is_asked_about(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    explore = EngineExplorer.explore
    safe = (project.folder / "include/queue.hpp").read_text()

    def edited(*arguments: Any, **options: Any) -> Any:
        project.weaken()
        return explore(*arguments, **options)

    monkeypatch.setattr(EngineExplorer, "explore", edited)
    assert project.gate().code == 0
    monkeypatch.setattr(EngineExplorer, "explore", explore)
    assert project.gate().code == 1, "this text was not explored"
    project.write("include/queue.hpp", safe)
    assert "2 unchanged" in project.gate().out


def test_an_edit_before_a_scenario_is_compiled_is_not_stored_for_the_old_text(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    safe = f"// not compiled before\n{QUEUE}"
    project.write("include/queue.hpp", safe)
    generated = Scenario.generated

    def edited(*arguments: Any, **options: Any) -> Any:
        project.weaken()
        return generated(*arguments, **options)

    monkeypatch.setattr(Scenario, "generated", edited)
    assert project.gate().code == 1
    monkeypatch.setattr(Scenario, "generated", generated)
    project.write("include/queue.hpp", safe)
    assert project.gate().code == 0


def test_another_engine_is_asked_again(idle: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_engine, "__version__", f"{_engine.__version__}0")
    assert "not callable" in idle.gate().err


def test_another_engine_resumes_no_exploration(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def explored(executions: int) -> str:
        project.write("weakspot.toml", f"{CONFIG}executions = {executions}\n")
        return project.gate("tests/push_pop.cpp").out

    explored(1)
    assert "explored before" in explored(2)
    monkeypatch.setattr(_engine, "__version__", f"{_engine.__version__}0")
    assert "explored before" not in explored(3)


def test_a_users_model_is_read_again_with_what_it_includes(project: Project) -> None:
    project.write("base.cat", 'include "cos.cat"\nacyclic po | rf | co | fr as sc\n')
    project.write("own.cat", '"OWN"\ninclude "base.cat"\n')
    project.write("weakspot.toml", f'models = ["own.cat"]\n{CONFIG}')
    assert project.gate("tests/SB.litmus").code == 0
    project.write("base.cat", 'include "cos.cat"\nacyclic po-loc | rf | co | fr as coherence\n')
    assert project.gate("tests/SB.litmus").code == 1


def test_an_edit_of_a_model_while_it_is_used_is_asked_about(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    strong = 'include "cos.cat"\nacyclic po | rf | co | fr as sc\n'
    project.write("base.cat", strong)
    project.write("own.cat", '"OWN"\ninclude "base.cat"\n')
    project.write("weakspot.toml", f'models = ["own.cat"]\n{CONFIG}')
    check = Engine.check

    def edited(*arguments: Any, **options: Any) -> Any:
        project.write("base.cat", 'include "cos.cat"\nacyclic po-loc | rf | co | fr as coherence\n')
        return check(*arguments, **options)

    monkeypatch.setattr(Engine, "check", edited)
    assert project.gate("tests/SB.litmus").code == 1
    monkeypatch.setattr(Engine, "check", check)
    project.write("base.cat", strong)
    assert project.gate("tests/SB.litmus").code == 0, "the other text's answer was not stored"


def test_a_program_is_preprocessed_once_for_its_key_and_once_after_it_was_compiled(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    read_text = clang.read_text

    def counted(*arguments: Any) -> Any:
        read.append(arguments[1].name)
        return read_text(*arguments)

    monkeypatch.setattr(clang, "read_text", counted)
    project.write("tests/push_pop.cpp", f"// not compiled before\n{PUSH_POP}")
    assert project.gate("tests/push_pop.cpp").code == 0
    assert len(read) == 2
    read.clear()
    project.gate("tests/push_pop.cpp")
    assert len(read) == 1


def test_a_program_that_the_budget_leaves_no_time_to_read_is_not_decided(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_text = clang.read_text
    monkeypatch.setattr(
        clang, "read_text", lambda found, *rest: read_text(replace(found, end=Deadline(0)), *rest)
    )
    printed = project.gate("tests/push_pop.cpp").printed(3)
    assert "undecided: tests/push_pop.cpp under rc20: the budget of" in printed


def test_a_violation_and_its_repair_are_stored_too(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.weaken()
    first = project.gate()
    for owner, name in ((clang, "run"), (EngineExplorer, "explore")):
        monkeypatch.setattr(owner, name, None)
    second = project.gate()
    assert first.code == second.code == 1
    assert first.out.splitlines()[:-1] == second.out.splitlines()[:-1]


@pytest.mark.parametrize("moment", ["program", "answer"])
def test_an_edit_while_a_repair_is_searched_is_asked_about(
    project: Project, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    project.weaken()
    weak = (project.folder / "include/queue.hpp").read_text()
    searched = getattr(FindRepair, moment)

    def edited(*arguments: Any, **options: Any) -> Any:
        project.write("include/queue.hpp", f"// a line more\n{weak}")
        return searched(*arguments, **options)

    monkeypatch.setattr(FindRepair, moment, edited)
    assert project.gate().code == 1
    monkeypatch.setattr(FindRepair, moment, searched)
    project.write("include/queue.hpp", weak)
    after = project.gate().out
    assert after.splitlines()[:-1] == project.gate("--no-cache").out.splitlines()[:-1]


def test_git_leaves_the_cache_out(idle: Project) -> None:
    assert (idle.folder / ".weakspot/.gitignore").read_text() == "*\n"


def test_without_a_folder_that_can_be_written_it_works(project: Project) -> None:
    project.write(".weakspot", "a file in the way\n")
    assert project.gate().code == 0
    assert project.gate().code == 0


def test_no_cache_asks_everything_anew(project: Project) -> None:
    project.gate()
    assert "unchanged" not in project.gate("--no-cache").out


def test_a_second_run_takes_less_than_a_second_of_a_processor(project: Project) -> None:
    """Python's start included, in a process of its own."""
    program = Path(sys.executable).with_name("weakspot")
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    spent = []
    for _ in range(4):
        before = os.times()
        subprocess.run([program, "gate"], cwd=project.folder, env=environment, check=True)
        after = os.times()
        spent.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
    assert min(spent[1:]) < 1.0, spent


def test_a_heavy_library_is_not_imported_for_what_is_known(project: Project) -> None:
    project.gate()
    script = (
        "import sys; from weakspot.harness.cli import weakspot; "
        "from weakspot.harness.cli.errors import guarded; code = guarded(weakspot, ['gate']); "
        "sys.exit(code or ('llvmlite' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=project.folder, check=False)
    assert done.returncode == 0


def test_ctrl_c_keeps_what_was_answered(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(EngineExplorer, "explore", interrupted)
        ended = project.gate()
    assert ended.code == 130
    assert "cached in .weakspot" in ended.err
    monkeypatch.setattr(Engine, "check", None)
    assert "1 unchanged" in project.gate().printed(0)


def test_ctrl_c_while_a_repair_is_searched_prints_the_answers(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    project.weaken()
    monkeypatch.setattr(FindRepair, "program", interrupted)
    assert "tests/push_pop.cpp under rc20: Violated" in project.gate().printed(130)


LINKED = {
    "src/box.h": "int box_get(void);\n",
    "src/box.c": '#include "box.h"\nint box_get(void) { return 0; }\n',
    "tests/box.c": '#include "../src/box.h"\nint main(void) { return box_get(); }\n',
}
LINKED_CHANGES = {
    "what is linked": ("src/box.c", LINKED["src/box.c"] + "//\n"),
    "another that defines it": ("src/other.c", LINKED["src/box.c"]),
    "nothing": ("tests/box.c", LINKED["tests/box.c"]),
}


@pytest.mark.parametrize("what", LINKED_CHANGES)
def test_an_answer_depends_on_the_sources_that_nobody_named(project: Project, what: str) -> None:
    for name, text in LINKED.items():
        project.write(name, text)
    project.write("weakspot.toml", 'build.include = ["src"]\ngate.scenarios = ["tests/*.c"]\n')
    assert project.gate().err == ""
    project.write(*LINKED_CHANGES[what])
    assert ("1 unchanged" in project.gate().out) == (what == "nothing")


def test_a_note_names_the_models_that_it_is_about(project: Project) -> None:
    for name, text in LINKED.items():
        project.write(name, text)
    config = 'models = ["rc11", "rc20"]\nbuild.include = ["src"]\ngate.scenarios = ["tests/*.c"]\n'
    project.write("weakspot.toml", config)
    printed = project.gate().out
    assert printed.count("linked with what it calls") == 1
    assert "tests/box.c under rc11, rc20" in printed
