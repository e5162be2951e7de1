"""Sources that are linked with a program although nobody named them.

In: the sources that `definitions` found, and the folders that were searched for them. Out: Links,
which tell whether a program that was read with them would be read from the same text again.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from weakspot.generators.source.build import Build
from weakspot.generators.source.definitions import digest_of_sources
from weakspot.generators.source.frontend import question


class Links(msgspec.Struct, frozen=True):
    """Sources that nobody named, which are linked because they define what the program calls. `key`
    stands for the text that the program with them was read from, `searched` for the sources in each
    group of folders that was searched."""

    sources: tuple[str, ...]
    key: str
    searched: tuple[tuple[tuple[str, ...], str], ...]

    def __str__(self) -> str:
        return f"linked with what it calls: {', '.join(map(os.path.relpath, self.sources))}"

    def hold(self, source: Path, build: Build) -> bool:
        """Whether the program that the source is would be read again from the same text."""
        sources = [Path(each) for each in self.sources]
        if not all(each.is_file() for each in sources):
            return False
        return (
            all(
                digest_of_sources(map(Path, folders)) == digest for folders, digest in self.searched
            )
            and question(source, build=build.with_sources(sources)).key == self.key
        )
