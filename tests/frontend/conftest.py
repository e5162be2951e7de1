"""Caches of a test's own, but for what takes long to compile."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def cache_of_its_own(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, compiled_once: Path
) -> None:
    """An empty cache, but for the C++ library."""
    place = tmp_path_factory.mktemp("cache")
    (place / "weakspot").mkdir()
    (place / "weakspot" / "library").symlink_to(compiled_once / "library")
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
    monkeypatch.delenv("WEAKSPOT_CLANG", raising=False)
