"""What README.md and docs/ show is what weakspot prints, and the files that they name exist."""

from __future__ import annotations

import itertools
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import click
import pages
import pytest
from samples import Run
from tracked import tracked

from weakspot.harness.cli import weakspot

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: a command on a page, and the lines that are shown below it
SESSION = re.compile(r"```console\n\$ weakspot (.+)\n((?s:.*?))```")
SESSIONS = [
    pytest.param(page, command, shown, id=f"{page.name}: {command}")
    for page in PAGES
    # tests follow these as a whole
    if page.name not in ("first-project.md", "ci.md", "crates.md", "linux-kernel.md")
    for command, shown in SESSION.findall(page.read_text(encoding="utf-8"))
]


def program(page: str) -> str:
    """The program that the page begins with."""
    found = re.search(r"```c\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.S)
    assert found
    return found[1]


@pytest.fixture
def programs(folder: Path) -> Path:
    """The programs that the pages refer to."""
    flags = program("docs/tutorial.md")
    (folder / "flags.c").write_text(flags)
    fixed = re.sub("memory_order_(release|acquire)", "memory_order_seq_cst", flags)
    (folder / "fixed.c").write_text(fixed)
    (folder / "wrong.c").write_text(flags.replace("int inside;", "int inside = 1;"))
    (folder / "queue.c").write_text(program("README.md"))
    (folder / "box.c").write_text(program("docs/linearizability.md"))
    message = program("docs/weak-memory.md")
    (folder / "message.c").write_text(message)
    (folder / "strong.c").write_text(
        message.replace("memory_order_relaxed", "memory_order_seq_cst")
    )
    for page in ("research.md", "comparison.md", "linearizability.md", "rust.md"):
        for name, text in pages.files(ROOT / "docs" / page).items():
            (folder / name).write_text(text)
    return folder


def test_readme_and_tutorial_show_sessions() -> None:
    pages = [str(each.values[0]) for each in SESSIONS]
    assert pages.count(str(ROOT / "README.md")) >= 1
    assert pages.count(str(ROOT / "docs" / "tutorial.md")) >= 4


@pytest.mark.usefixtures("programs")
@pytest.mark.parametrize(("page", "command", "shown"), SESSIONS)
def test_command_prints_what_the_page_shows(run: Run, page: Path, command: str, shown: str) -> None:
    """Every line shown is printed, in this order; `…` stands for lines left out."""
    ended = run(*command.split())
    assert ended.code == (1 if re.search(r"^WS\d", shown, re.M) else 0), ended.err
    printed = iter(ended.out.splitlines())
    for line in shown.splitlines():
        assert line == "…" or line in printed, (
            f"{page.name}: not printed in its place: {line}\n{ended.out}"
        )


def files() -> set[str]:
    """The project's files and folders, by their paths from its root."""
    names = map(Path, tracked())
    return {str(each) for file in names for each in (file, *file.parents)}


def paths(text: str) -> set[str]:
    """The project's own files and folders that a page names in code or in links."""
    words = {word for code in re.findall(r"`([^`\n]+)`", text) for word in code.split()}
    words |= set(re.findall(r"\]\((?!https?:)([^)#]+)", text))
    words |= {line.split()[0] for line in re.findall(r"^ {4}(\S.*)$", text, re.M)}
    tops = "docs|engine|generators|harness|litmus|models|results|scripts|tests|weakspot"
    ours = re.compile(rf"(?:{tops})/[\w./*-]*|[\w./-]+\.(?:py|rs|j2)|findings/\S+|[\w-]+\.md")
    return {word for word in words if ours.fullmatch(word)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    known = files()
    names = {Path(each).name for each in known}
    beside = page.parent.relative_to(ROOT)
    sample = beside / "sample"
    names |= pages.files(page).keys()
    missing = [
        path
        for path in sorted(paths(page.read_text(encoding="utf-8")))
        if not any(mark in path for mark in ("NAME", "*", "tests/weakspot", "results/20"))
        and str(Path(path)) not in known
        and str(beside / path) not in known
        and str(sample / path) not in known
        and path not in names
    ]
    assert missing == []


def test_compilers_remove_the_control_dependency_that_the_page_shows(tmp_path: Path) -> None:
    source, assembly = tmp_path / "thread.c", tmp_path / "thread.s"
    source.write_text(program("docs/dependencies.md"))
    clang = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-gnu", "-O2", "-S"]
    subprocess.run([*clang, "-o", assembly, source], check=True, capture_output=True)
    code = assembly.read_text().partition("\nthread:")[2].partition("\tret")[0]
    assert len(re.findall(r"\tstr\t", code)) == 2
    assert "csel" in code
    assert not re.findall(r"\t(b|b\..*|cbn?z|tbn?z)\t", code)


@pytest.mark.usefixtures("programs")
def test_problem_matcher_of_the_editor_reads_the_gate(run: Run) -> None:
    page = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```json\n(.*?)```", page, re.S)
    (task,) = json.loads(block)["tasks"]
    first, second = task["problemMatcher"]["pattern"]
    lines = run("gate", "queue.c").out.splitlines()
    (found,) = [
        (heading, place)
        for heading, place in itertools.pairwise(lines)
        if re.search(first["regexp"], heading) and re.search(second["regexp"], place)
    ]
    place = re.search(second["regexp"], found[1])
    assert place
    assert place.groups() == ("queue.c", "12", "3")


RUN = [
    pytest.param(
        page,
        [each.commands for each in blocks],
        marks=[pytest.mark.full] if mark == "slow" else [],
        id=f"{page.name}{mark and f' ({mark})'}",
    )
    for page in PAGES
    for mark in ("", "slow")
    if (blocks := [each for each in pages.blocks(page) if each.mark == mark])
]


@pytest.mark.parametrize(("page", "blocks"), RUN)
def test_commands_without_output_run_in_the_order_of_the_page(
    run: Run, programs: Path, page: Path, blocks: list[tuple[str, ...]]
) -> None:
    """In one folder with the files that the page shows, unless an invisible `<!-- not run: … -->`
    before them says why not."""
    for name, text in pages.files(page).items():
        (programs / name).parent.mkdir(parents=True, exist_ok=True)
        (programs / name).write_text(text)
    for command in itertools.chain(*blocks):
        program, *words = shlex.split(command)
        assert program == "weakspot", f"mark this as not run, or run it here: {command}"
        ended = run(*words)
        assert ended.code == (1 if re.search(r"^WS[12]", ended.out, re.M) else 0), (
            f"{command}\n{ended.out}{ended.err}"
        )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_in_the_text_exist_and_have_the_options_that_it_names(page: Path) -> None:
    for line in pages.named(page):
        words = re.split(r" (?:\||>|2>|&&|\|\|) | -- ", line)[0].replace("[", "").replace("]", "")
        _, name, *rest = [each.rstrip("\")'") for each in words.split()]
        if name.startswith("-"):
            assert name in ("--cmake-dir", "--version", "--help"), line
            continue
        command = weakspot.get_command(click.Context(weakspot), name)
        assert command, f"{page.name}: there is no command {name}: {line}"
        context = click.Context(command)
        known = {option: each for each in command.get_params(context) for option in each.opts}
        for option, value in itertools.pairwise((*rest, "")):
            if not re.match(r"--\w|-\w$", option):
                continue
            option, _, given = option.partition("=")
            assert option in known, f"{page.name}: {name} has no option {option}: {line}"
            if isinstance(known[option].type, click.Choice) and not value.isupper():
                known[option].type.convert(given or value, known[option], context)


def test_configuration_of_the_tutorial_is_accepted_as_printed(run: Run, programs: Path) -> None:
    page = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```toml\n(models.*?)```", page, re.S)
    (programs / "weakspot.toml").write_text(text)
    (programs / "include").mkdir()
    scenarios = programs / "tests" / "weakspot"
    scenarios.mkdir(parents=True)
    (scenarios / "nothing.cpp").write_text("int main() {}\n")
    never = (programs / "SB.litmus").read_text().replace("exists (0:r0=0", "~exists (0:r0=2")
    (scenarios / "SB.litmus").write_text(never)
    assert run("gate", "--write-baseline").code == 0
    ended = run("gate")
    assert ended.code == 0, ended.err


@pytest.mark.full
def test_program_for_a_cluster_runs_and_needs_its_main_guard(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    page = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"```python\n(from weakspot.*?)```", page, re.S)
    (tmp_path / "guarded.py").write_text(text)
    (tmp_path / "bare.py").write_text(re.sub(r"if __name__.*", "if True:", text))
    run = [
        subprocess.run([sys.executable, name], cwd=tmp_path, capture_output=True, text=True)
        for name in ("guarded.py", "bare.py")
    ]
    assert [each.returncode for each in run] == [0, 1], run[0].stderr
    assert 'connect below `if __name__ == "__main__":`' in run[1].stderr
    assert len(run[1].stderr.splitlines()) < 20
