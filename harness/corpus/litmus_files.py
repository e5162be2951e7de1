"""The litmus tests of folders, found by their headers alone.

In: what the user named. Out: FolderTests, whose threads are read when they are asked about, so that
the memory that a folder takes hardly depends on how many tests are in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weakspot import _engine
from weakspot.generators.litmus import ARCHITECTURES, LitmusFile, Test
from weakspot.harness.corpus.material import FolderTests, below, distinguished

STORED = 16 << 20
"""The texts of so many bytes of files of a folder are not read again when they are asked about:
some 20,000 tests of diy7."""


def folder_tests(what: Sequence[str | Test], under: Sequence[str]) -> FolderTests | None:
    """The litmus tests below folders, each text once. None if anything else is named too, if there
    are programs in the folders, or a single test, which is shown in full, or if names clash: then
    `material.gather` reads them."""
    found: dict[str, list[LitmusFile]] = {}
    for word in what:
        if isinstance(word, Test) or word == "all" or not Path(word).is_dir():
            return None
        files = below(Path(word))
        if not files or not all(file.endswith(".litmus") for file in files):
            return None
        headers = _engine.headers(files, stored=STORED)
        for file, header in zip(files, headers, strict=True):
            arch, name, text = header or ("", "", None)
            if arch not in ARCHITECTURES:
                arch, name = "", Path(file).stem
            found.setdefault(name, []).append(LitmusFile(name, arch, file, word, text))
    chosen: dict[str, LitmusFile] = {}
    for same in found.values():
        for test in same if len(same) == 1 else _distinguished(same):
            if chosen.setdefault(test.name, test) is not test:
                return None
    if len(chosen) == 1:
        return None
    return FolderTests(tuple(chosen[name] for name in sorted(chosen)), tuple(under))


def _distinguished(files: Sequence[LitmusFile]) -> list[LitmusFile]:
    """The first of several files of one test; or all, under their paths, if their texts differ."""
    names = [test.name for test in distinguished([file.test for file in files])]
    if len(set(names)) == 1:
        return [files[0]]
    return [file._replace(name=name) for file, name in zip(files, names, strict=True)]
