"""Litmus tests of folders: which files are found, in which order, under which names, and how much
memory they take."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from ended import execute

from weakspot.harness.corpus.litmus_files import folder_tests
from weakspot.harness.corpus.resolution import below

TEST = "C {0}\n{{}}\nP0 (atomic_int* x) {{ *x = {1}; }}\nexists (x=1)\n"


def written(folder: Path, files: Mapping[str, str]) -> list[str]:
    """The argument for a folder with these files."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [str(folder)]


def listed(what: list[str]) -> list[tuple[str, str, str]] | None:
    """The name, the architecture and the path below its folder of each test."""
    tests = folder_tests(what, ())
    if tests is None:
        return None
    return [(f.name, f.arch, os.path.relpath(f.path, f.folder)) for f in tests.files]


def test_tests_are_sorted_by_their_names_not_by_those_of_their_files(tmp_path: Path) -> None:
    files = {"b.litmus": TEST.format("A", 1), "a.litmus": TEST.format("B", 2), "x.litmus": "none"}
    assert listed(written(tmp_path, files)) == [
        ("A", "C", "b.litmus"),
        ("B", "C", "a.litmus"),
        ("x", "", "x.litmus"),
    ]


def test_a_part_of_the_files_is_a_sequence_too(tmp_path: Path) -> None:
    tests = folder_tests(written(tmp_path, {f"{name}.litmus": "none" for name in "abcde"}), ())
    assert tests is not None
    part = tests.files[1:4][1:]
    assert [file.name for file in part] == ["c", "d"]
    assert (len(part), part[-1].name, tests.files[-5].name, len(part[2:])) == (2, "d", "a", 0)
    for at in (2, -3):
        with pytest.raises(IndexError):
            part[at]
    with pytest.raises(ValueError, match="gaps"):
        tests.files[::2]


def test_links_to_folders_hidden_folders_and_builds_are_left_out(tmp_path: Path) -> None:
    files = ["a/1", ".hidden/2", "build/3", "b.litmus/4", "5"]
    written(tmp_path, {f"{name}.litmus": "none" for name in files})
    written(tmp_path, {"build/CMakeCache.txt": "", ".litmus": "", "no.c": "int f();", "README": ""})
    (tmp_path / "link").symlink_to("a")
    (tmp_path / "c.litmus").symlink_to("a/1.litmus")
    (tmp_path / "gone.litmus").symlink_to("nowhere")
    found = ["5.litmus", "a/1.litmus", "b.litmus/4.litmus", "c.litmus", "gone.litmus"]
    assert [os.path.relpath(file, tmp_path) for file in below(tmp_path)] == found
    assert sorted(path for _, _, path in listed([str(tmp_path)]) or ()) == found


def test_equal_tests_are_one_and_different_ones_have_their_paths_as_names(tmp_path: Path) -> None:
    same, other = TEST.format("T", 1), TEST.format("T", 2)
    words = written(tmp_path / "1", {"b/T.litmus": same, "a.litmus": TEST.format("A", 1)})
    words += written(tmp_path / "0", {"T.litmus": same.replace("{}", "Orig=X\n{}")})
    assert listed(words) == [("A", "C", "a.litmus"), ("T", "C", "b/T.litmus")]
    words = written(tmp_path / "0", {"z/T.litmus": other})
    assert listed([str(tmp_path / "1"), *words]) == [
        ("A", "C", "a.litmus"),
        ("T", "C", "T.litmus"),
        ("b/T", "C", "b/T.litmus"),
        ("z/T", "C", "z/T.litmus"),
    ]
    # a name that is taken
    written(tmp_path / "1", {"other.litmus": TEST.format("z/T", 1)})
    assert listed([str(tmp_path / "1"), *words]) is None


def test_folders_with_programs_and_empty_folders_are_for_others(tmp_path: Path) -> None:
    tests = written(tmp_path / "tests", {"a.litmus": "none", "b.litmus": "none"})
    assert listed(tests) is not None
    (tmp_path / "empty").mkdir()
    assert listed([*tests, str(tmp_path / "empty")]) is None
    assert listed([*tests, *written(tmp_path / "c", {"m.c": "int main() {}"})]) is None


NAMES = (b"\xfe.litmus", b"\xff.litmus")


def test_a_file_name_need_not_be_text(tmp_path: Path) -> None:
    for name in NAMES:
        (tmp_path / os.fsdecode(name)).write_text(TEST.format("T", name[0]))
    (tmp_path / os.fsdecode(b"\xfd.litmus")).write_text("none")
    assert listed([str(tmp_path)]) == [
        ("\N{REPLACEMENT CHARACTER}", "", os.fsdecode(b"\xfd.litmus")),
        *(("\N{REPLACEMENT CHARACTER}", "C", os.fsdecode(name)) for name in NAMES),
    ]


FEW, MANY = 10_000, 50_000
GROWTH = """
import sys
from weakspot.harness.corpus.litmus_files import folder_tests

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

def listed(folder):
    tests = folder_tests([folder], ())
    return len(tests.files), peak()

print(*listed(sys.argv[1]), *listed(sys.argv[2]))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="measured with /proc")
def test_a_test_in_a_folder_takes_little_memory(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("none")
    folders = [tmp_path / "few", tmp_path / "many"]
    for folder, count in zip(folders, (FEW, MANY), strict=True):
        folder.mkdir()
        for number in range(count):
            os.link(text, folder / f"a-name-as-long-as-those-of-diy7-{number}.litmus")
    command = [sys.executable, "-c", GROWTH, *map(str, folders)]
    found = execute(*command).printed(0)
    few, before, many, after = map(int, found.split())
    assert (few, many) == (FEW, MANY)
    # file names of 46 bytes, and as much beside them; lists of Python would take 600
    assert (after - before) * 1024 < 200 * MANY
