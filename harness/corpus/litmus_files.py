"""The litmus tests of folders, found by their headers alone.

In: what the user named. Out: FolderTests, whose threads are read when they are asked about. The
engine holds the names and paths: less than 100 bytes per test remain in memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from weakspot import _engine
from weakspot.generators.litmus import ARCHITECTURES, Test, found_test
from weakspot.harness.corpus.material import FolderTests
from weakspot.harness.corpus.resolution import distinguished, is_entered, is_program
from weakspot.system import processors

STORED = 16 << 20
"""The texts of so many bytes of files of a folder are not read again when they are asked about:
some 20,000 tests of diy7."""


def folder_tests(what: Sequence[str | Test], under: Sequence[str]) -> FolderTests | None:
    """The litmus tests below folders, each text once. None if anything else is named too, if there
    are programs in the folders, or a single test, which is shown in full, or if names clash: then
    `material.gather` reads them."""
    folders = [word for word in what if isinstance(word, str) and Path(word).is_dir()]
    if len(folders) < len(what) or "all" in folders:
        return None
    files = _engine.litmus_files(
        [str(Path(folder)) for folder in folders],
        is_entered=is_entered,
        is_program=is_program,
        dialects=ARCHITECTURES,
        distinguish=_names,
        stored=STORED,
        jobs=processors.most(),
    )
    if files is None or len(files) == 1:
        return None
    return FolderTests(files, tuple(under))


def _names(name: str, files: Sequence[tuple[str, str]]) -> list[str]:
    """The names of files of tests of one name: their paths if their texts differ."""
    tests = [found_test(Path(path), Path(folder)) for path, folder in files]
    named = [msgspec.structs.replace(test, name=name) for test in tests]
    return [test.name for test in distinguished(named)]
