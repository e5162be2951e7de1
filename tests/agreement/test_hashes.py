"""Our hash of a test is that of herdtools7, or there is none: a wrong one would keep mcompare7 and
msum7 from taking our log and that of herd7 to be about the same test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from ended import execute
from suites import TOPICS

from weakspot.generators.litmus import Test, read_test
from weakspot.system.tools import Tool

ROOT = Path(__file__).resolve().parents[2]
OWN = sorted(ROOT.glob("litmus/*/tests/*.litmus"))
HAND_WRITTEN = sorted((ROOT / "tests" / "agreement" / "litmus").rglob("*.litmus"))

Suite = Callable[[str, int | None], list[Path]]
Hashes = Callable[[Sequence[Path]], dict[Path, str]]

PROGRAM = """C made
%s
{ %s }
P0 (%s) {
  int r0 = 1;
}
%s
"""
SPELLINGS = [
    ("", "", "atomic_int* x", "exists (0:r0=1)"),
    ("", "int x=1;", "int* x, atomic_int* y", "exists (x=1)"),
    ("", "", "volatile int* x", "exists (x=1)"),
    ("", "", "long* x", "exists (x=1)"),
    ("", "", "uint64_t* x, int** y", "forall (x=1)"),
    ("", "", "  int  *  x ,atomic_int *y", "exists ([x]=1)"),
    ("", "int* x = y;", "int** x", "exists (0:r0=1)"),
    ("", "int a[2]={0,1}; x=1", "int* a", "exists (0:r0=1)"),
    ("", "atomic_int x=3;", "atomic_int* x", "exists (x=1)"),
    ("", "[x]=1; 0:r3=2; 0:r12=3;", "int* x", "~exists (not (x=1 \\/ [y]=2))"),
    ("", "(* a *) x = -1;", "int* x", "exists (* b *) (x=1)"),
    ("", "", "int* x, int* y", "locations [x; 0:r0; y;]\nexists (x=1)"),
    ("", "", "int* x, int* y", "filter (y=1)\nexists (x=1)"),
    ('"a text"\nCycle=x', "", "int* x, int* y", "exists (x=1 /\\ 0:r0=1)"),
    ("Hash=0e2daa85e84353fe6441a1ad8a1c9ff0", "", "int* x", "exists (x=1)"),
]


@pytest.fixture(scope="session")
def hashes(need: Callable[[str], Tool]) -> Hashes:
    """What mshowhashes7, which comes with mcompare7, says of files."""
    tool = Path(need("mcompare7").path).with_name("mshowhashes7")
    if not tool.is_file():
        need("mshowhashes7")

    def shown(paths: Sequence[Path]) -> dict[Path, str]:
        printed = execute(tool, *paths).printed(0)
        found = dict(line.split() for line in printed.splitlines())
        return {path: found.get(read_test(path).name, "") for path in paths}

    return shown


def wrong(paths: Sequence[Path], hashes: Hashes) -> list[Path]:
    """Those for which weakspot computes another hash than herdtools7."""
    theirs = hashes(paths)
    return [path for path in paths if read_test(path).herd_hash not in ("", theirs[path])]


@pytest.mark.parametrize("dialect", TOPICS)
@pytest.mark.parametrize(
    "limit", [80, pytest.param(None, marks=pytest.mark.full)], ids=["sample", "all"]
)
def test_every_test_of_a_suite_has_herds_hash(
    dialect: str, limit: int | None, tests_of: Suite, hashes: Hashes
) -> None:
    paths = tests_of(dialect, limit)
    assert wrong(paths, hashes) == []
    hashed = [path for path in paths if read_test(path).herd_hash]
    assert len(hashed) > len(paths) * 9 // 10


def test_every_golden_test_has_herds_hash(hashes: Hashes) -> None:
    theirs: dict[Path, str] = {}
    for folder in sorted({path.parent for path in OWN}):  # within a folder, names differ
        theirs |= hashes([path for path in OWN if path.parent == folder])
    assert {path: read_test(path).herd_hash for path in OWN} == theirs


def test_no_hand_written_test_has_another_hash_than_herds(hashes: Hashes) -> None:
    folders = sorted({path.parent for path in HAND_WRITTEN})
    for folder in folders:
        assert wrong([path for path in HAND_WRITTEN if path.parent == folder], hashes) == []


@pytest.mark.parametrize("spelling", SPELLINGS, ids=lambda spelling: " ".join(spelling)[:40])
def test_however_it_is_spelt(
    spelling: tuple[str, str, str, str], hashes: Hashes, tmp_path: Path
) -> None:
    path = tmp_path / "made.litmus"
    path.write_text(PROGRAM % spelling)
    (theirs,) = hashes([path]).values()
    assert theirs
    assert read_test(path).herd_hash in ("", theirs)


def test_a_hash_in_the_metadata_is_used_and_a_doubtful_one_omitted() -> None:
    def hash_of(text: str, arch: str = "C") -> str:
        return Test(name="made", arch=arch, text=text).herd_hash

    given = PROGRAM % SPELLINGS[-1]
    assert hash_of(given) == "0e2daa85e84353fe6441a1ad8a1c9ff0"
    plain = PROGRAM % SPELLINGS[0]
    assert len(hash_of(plain)) == 32
    assert hash_of(plain.replace("int r0", "/* } */ int r0")) == ""
    assert hash_of(plain.replace("C made\n", "C made\nTTHM=Ha\n")) == ""
    assert hash_of("PPC t\n{}\n P0 ;\n lwz r1,0(r2) ;\nexists (0:r1=0)\n", "PPC") == ""
