"""The golden files of a structure: its generated tests as they were last promoted.

Never edited by hand: `weakspot gen NAME --check` compares them with what the source gives now,
`weakspot gen NAME --promote` replaces them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from weakspot.errors import BadInput
from weakspot.generators.litmus import Test
from weakspot.harness.corpus.material import drift, gather
from weakspot.harness.corpus.resolution import resolve
from weakspot.harness.values.record import GoldenDifference
from weakspot.system.files import disk, file_names

INDEX = "@all"
"""diy7's name for the list of a folder's tests; herd7 and litmus7 take it as an argument."""


def drifts(what: Sequence[str], *, promoted: bool) -> dict[str, GoldenDifference]:
    """How the golden files of each structure, by its name, differ from what its source gives now;
    with `promoted` they are replaced.

    Raises BadInput for a name that is not a structure of the corpus, and the generators' errors.
    """
    named, tests = resolve(what)
    foreign = [str(each.folder / each.scenarios[0].file) for each in named if not each.recorded]
    if foreign := [*foreign, *(str(test.path) for test in tests)]:
        raise BadInput(
            "golden tests belong to a structure of the corpus",
            place=foreign[0],
            advice="name a structure, or all; `weakspot structures` lists them",
        )
    found = {}
    for structure in named:
        # one by one, since a test that two structures share has the origins of each in each
        entries = gather([structure.name]).entries
        made = [entry.test for entry in entries if entry.test.path is None]
        found[structure.name] = drift(structure.golden(), made)
        if promoted:
            promote(structure.folder / "tests", made)
    return found


def promote(folder: Path, tests: Sequence[Test]) -> None:
    """Replace the golden files in `folder` by these tests."""
    names = write(folder, tests)
    with disk(folder):
        for path in folder.glob("*.litmus"):
            if path.name not in names:
                path.unlink()


def write(folder: Path, tests: Iterable[Test], *, index: bool = False) -> list[str]:
    """Write each test to a file in `folder`, which is created if needed. Returns the file names.

    A file that already has this content is not written. With `index` the list of the files is
    written too.
    """
    tests = tuple(tests)
    names = list(file_names(test.name for test in tests))
    with disk(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for name, test in zip(names, tests, strict=True):
        path = folder / name
        with disk(path):
            if not path.is_file() or path.read_text(encoding="utf-8") != test.text:
                path.write_text(test.text, encoding="utf-8")
    if index:
        with disk(folder / INDEX):
            (folder / INDEX).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    return names
