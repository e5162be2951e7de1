"""Caches of a test's own, but for what takes long to compile."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the compiled parts of the C++ library are cached, for all tests."""
    return tmp_path_factory.mktemp("library")


@pytest.fixture
def cache_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, library: Path
) -> None:
    """An empty cache, but for the C++ library."""
    place = tmp_path_factory.mktemp("cache")
    (place / "weakspot").mkdir()
    (place / "weakspot" / "library").symlink_to(library)
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    monkeypatch.delenv("WEAKSPOT_CLANG", raising=False)
