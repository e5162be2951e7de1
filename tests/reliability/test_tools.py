"""What is found where, and what doctor says about it."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from weakspot.errors import MissingTool
from weakspot.harness.checkers import cbmc
from weakspot.harness.cli.output import json_lines
from weakspot.harness.report import doctor
from weakspot.system import herdtools, tools


def program(folder: Path, name: str, says: str = "") -> Path:
    """A program that prints `says` whatever it is asked."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{says}\nEND\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing but what the test puts on `path/`, `own/bin/`, `.tools/bin/`."""
    (tmp_path / "path").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/bin:/usr/bin")
    monkeypatch.delenv("WEAKSPOT_TOOLS", raising=False)
    monkeypatch.setattr(tools, "_private_folders", lambda: [tmp_path / ".tools" / "bin"])
    tools.forget()
    return tmp_path


def test_path_goes_before_the_private_folder(places: Path) -> None:
    program(places / ".tools" / "bin", "a-tool")
    first = tools.find("a-tool")
    assert first is not None
    assert (first.path, first.origin) == (str(places / ".tools" / "bin" / "a-tool"), ".tools")
    tools.forget()
    program(places / "path", "a-tool")
    found = tools.find("a-tool")
    assert found is not None
    assert (found.path, found.origin) == (str(places / "path" / "a-tool"), "PATH")


def test_weakspot_tools_goes_before_path(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(places / "path", "a-tool")
    program(places / "own" / "bin", "a-tool")
    assert tools.require("a-tool").origin == "PATH"
    monkeypatch.setenv("WEAKSPOT_TOOLS", str(places / "own"))
    assert tools.require("a-tool").origin == "WEAKSPOT_TOOLS"


def test_private_folder_on_path_is_still_called_private(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = places / ".tools" / "bin"
    program(private, "a-tool")
    monkeypatch.setenv("PATH", str(private))
    assert tools.require("a-tool").origin == ".tools"


def test_a_file_that_cannot_be_executed_is_not_a_tool(places: Path) -> None:
    program(places / "path", "a-tool").chmod(0o644)
    assert tools.find("a-tool") is None


@pytest.mark.parametrize("program", [herdtools.HERD7, cbmc.PROGRAM])
def test_missing_tool_comes_with_installation_advice(
    places: Path, monkeypatch: pytest.MonkeyPatch, program: tools.Program
) -> None:
    monkeypatch.setenv("PATH", str(places / "path"))
    with pytest.raises(MissingTool) as caught:
        tools.require(program)
    assert program.name in caught.value.message
    assert caught.value.advice is not None
    assert "scripts/install-tools" in caught.value.advice


@pytest.mark.parametrize(
    ("name", "says", "version"),
    [
        ("herd7", "7.58, Rev: exported", "7.58"),
        ("cbmc", "6.6.0 (cbmc-6.6.0)", "6.6.0"),
        ("gcc", "gcc (Debian 12.2.0-14+deb12u1) 12.2.1\nCopyright 2022", "12.2.1"),
        ("clang", "Debian clang version 14.0.6", "14.0.6"),
        ("qemu-aarch64", "qemu-aarch64 version 7.2.22 (Debian 1:7.2+dfsg-7)", "7.2.22"),
        ("gcc", "no number at all", None),
    ],
)
def test_version_is_read_as_the_tool_prints_it(
    places: Path, name: str, says: str, version: str | None
) -> None:
    program(places / "path", name, says)
    known = {each.name: each for each in doctor.requirements()}
    assert tools.require(known[name]).version == version


def test_mcompare7_has_the_version_of_the_herd7_beside_it(places: Path) -> None:
    (places / "path" / "mcompare7").write_text("#!/bin/sh\nexit 2\n")
    (places / "path" / "mcompare7").chmod(0o755)
    assert tools.require(herdtools.MCOMPARE7).version is None
    program(places / "path", "herd7", "7.58, Rev: exported")
    tools.forget()
    assert tools.require(herdtools.MCOMPARE7).version == "7.58"


def test_a_tool_that_does_not_answer_has_no_version(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "_SECONDS_FOR_A_QUESTION", 0.2)
    hangs = program(places / "path", "gcc")
    hangs.write_text("#!/bin/sh\nexec sleep 60\n")
    assert tools.require("gcc").version is None


def test_herd_libdir_is_absolute_and_exists_or_is_none(places: Path) -> None:
    library = places / "lib" / "herd"
    program(places / "path", "herd7", f"{places}/path/../lib/herd")
    assert herdtools.libdir() is None
    library.mkdir(parents=True)
    herdtools.forget()
    assert herdtools.libdir() == library


def test_installed_herd7_has_its_rc11() -> None:
    tools.forget()
    if tools.find(herdtools.HERD7) is None:
        pytest.skip("herd7 is not installed")
    library = herdtools.libdir()
    assert library is not None
    assert (library / "rc11.cat").is_file()


def test_doctor_explains_what_each_missing_tool_is_needed_for(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(places / "path"))
    lines = doctor.report()
    missing = doctor.missing_required(lines)
    # the engine decides and the native runner runs without them
    assert not {"herd7", "cbmc", "litmus7"} & set(missing)
    for line in lines:
        assert line.lost
        assert line.advice
        assert (line.where is not None) == line.found


def test_any_one_clang_is_enough() -> None:
    def line(name: str, found: bool) -> doctor.DoctorLine:
        return doctor.DoctorLine(name, found, None, None, None, "lost", "advice")

    roles = {each.name: each.role for each in doctor.requirements() if each.role}
    compilers = [name for name, role in roles.items() if role == "clang"]
    assert sorted(compilers) == ["clang", "ziglang"]  # gcc does not read programs
    required = [line(name, True) for name in roles if name not in compilers]
    assert len(doctor.missing_required(required)) == 1
    for compiler in compilers:
        assert doctor.missing_required([*required, line(compiler, True)]) == []


def test_module_that_fails_to_load_counts_as_missing_with_its_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "llvmlite.py").write_text("raise OSError('no LLVM library')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "llvmlite", raising=False)
    importlib.invalidate_caches()
    line = next(line for line in doctor.report() if line.name == "llvmlite")
    monkeypatch.delitem(sys.modules, "llvmlite", raising=False)
    assert not line.found
    assert "no LLVM library" in line.advice


def test_quick_report_starts_nothing_and_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = doctor.report()
    tools.forget()
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("a program was started"))
    quick = doctor.report(versions=False)
    assert [(line.name, line.where) for line in quick] == [(line.name, line.where) for line in slow]
    assert not any(line.version for line in quick)


def test_doctor_prints_one_unwrapped_line_a_tool_into_a_pipe() -> None:
    lines = doctor.report()
    printed = list(doctor.plain(lines))
    assert len(printed) == len(lines) + 1
    for line, text in zip(lines, printed, strict=False):
        assert text.startswith(line.name)
        assert "\x1b" not in text


def test_doctor_lines_are_json_objects() -> None:
    lines = doctor.report()
    for line, text in zip(lines, json_lines(lines), strict=True):
        assert json.loads(text)["name"] == line.name
