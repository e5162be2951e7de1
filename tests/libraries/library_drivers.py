"""The drivers of libraries.toml: what is asked about each, and where its headers are."""

from __future__ import annotations

from pathlib import Path

import msgspec

import weakspot
from weakspot.generators.source.clang import PACKAGED

HERE = Path(__file__).parent
SECONDS = 20.0


class Driver(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A program that uses a library. `package` is Debian's, "" for the C++ library of the compiler;
    `header` is one that has to be installed. `mutation` is a header, a text in it, and the text
    that replaces it everywhere; a `repair` is the same for a mistake of the library's own, without
    which the mutation is tested. `loops` is the bound for loops, where the default is too low.
    `unsupported` is part of the message where it cannot be read."""

    file: str
    package: str = ""
    header: str = ""
    model: str = "rc20"
    loops: int = 0
    result: str = ""
    mutation: tuple[str, str, str] | None = None
    repair: tuple[str, str, str] | None = None
    unsupported: str = ""

    @property
    def path(self) -> Path:
        return HERE / "drivers" / self.file

    @property
    def installed(self) -> bool:
        return not self.header or _header(self.header) is not None


def drivers() -> list[Driver]:
    text = (HERE / "libraries.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=dict[str, list[Driver]])["driver"]


def changed(change: tuple[str, str, str], folder: Path) -> Path:
    """A folder of headers, to be searched before all others, with a mutation or repair made."""
    name, old, new = change
    original = _header(name)
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
    """Under the driver's model, with folders that are searched for headers before all others."""
    (exploration,) = weakspot.explore(
        driver.path,
        models=[driver.model],
        bounds=weakspot.Bounds(loops=driver.loops or 4, seconds=SECONDS),
        build=weakspot.Build(flags=tuple(f"-isystem{folder}" for folder in folders)),
    )
    return exploration


def _header(name: str) -> Path | None:
    return next((found for each in PACKAGED if (found := Path(each) / name).is_file()), None)
