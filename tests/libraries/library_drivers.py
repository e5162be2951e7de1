"""The drivers of libraries.toml: what is asked about each, and where its headers are."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

import weakspot
from weakspot.generators.source.clang import PACKAGED

HERE = Path(__file__).parent
SECONDS = 20.0
ARCHIVES = Path(os.environ.get("WEAKSPOT_TOOLS", HERE.parents[1] / ".tools")) / "sources"
"""Where scripts/library-sources unpacks the archives of archives.sha256."""


class Driver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program that uses a library. `package` is Debian's, "" for the C++ library of the compiler;
    `header` is one that has to be installed. `archive` is a folder of ARCHIVES, of which `sources`
    are read with the program. `include` are searched for headers: folders of the archive, or of
    where packages install headers. `flags` are the compiler's. `mutation` is a header or a file of
    the archive, a text in it, and the text that replaces it everywhere; a `repair` is the same for
    a mistake of the library's own, without which the mutation is tested. `loops` is the bound for
    loops, where the default is too low."""

    file: str
    package: str = ""
    header: str = ""
    archive: str = ""
    sources: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    model: str = "rc20"
    loops: int = 0
    result: str = ""
    mutation: tuple[str, str, str] | None = None
    repair: tuple[str, str, str] | None = None

    @property
    def path(self) -> Path:
        return HERE / "drivers" / self.file

    @property
    def missing(self) -> str:
        """What has to be installed or fetched first."""
        if self.header and _header(self.header) is None:
            return f"{self.package} is not installed"
        if self.archive and not (ARCHIVES / self.archive).is_dir():
            return f"{self.archive} is not there: scripts/library-sources fetches it"
        return ""


def drivers() -> list[Driver]:
    text = (HERE / "libraries.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=dict[str, list[Driver]])["driver"]


def changed(driver: Driver, change: tuple[str, str, str], folder: Path) -> Path:
    """A folder that is used before all others, with a mutation or repair made."""
    name, old, new = change
    archived = ARCHIVES / driver.archive / name
    original = archived if driver.archive and archived.is_file() else _header(name)
    assert original is not None, f"{name} is not installed"
    text = original.read_text(encoding="utf-8")
    assert old in text, f"{name} of this version does not contain {old!r}"
    target = folder / name
    target.parent.mkdir(parents=True)
    for beside in original.parent.iterdir():  # headers include one another by their names alone
        target.with_name(beside.name).symlink_to(beside)
    target.unlink()
    target.write_text(text.replace(old, new), encoding="utf-8")
    return folder


def explored(driver: Driver, *folders: Path) -> weakspot.Exploration:
    """Under the driver's model, with folders that are used before all others."""
    installed = [ARCHIVES / driver.archive] if driver.archive else map(Path, PACKAGED)
    searched = [*folders, *installed]
    sources = [
        next(path for each in searched if (path := each / source).is_file())
        for source in driver.sources
    ]
    include = [*folders, *(each / part for part in driver.include for each in searched)]
    flags = (*driver.flags, *(f"-isystem{each}" for each in include))
    (exploration,) = weakspot.explore(
        [driver.path, *sources],
        models=[driver.model],
        bounds=weakspot.Bounds(loops=driver.loops or 4, seconds=SECONDS),
        build=weakspot.Build(flags=flags),
    )
    return exploration


def _header(name: str) -> Path | None:
    return next((found for each in PACKAGED if (found := Path(each) / name).is_file()), None)
