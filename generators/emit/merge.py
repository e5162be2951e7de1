"""Tests that several programs give: one Test per name, which names the origins of all."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from weakspot.generators.emit.text import litmus_text
from weakspot.generators.litmus import Origin, Test


def merge(tests: Iterable[Test]) -> tuple[Test, ...]:
    """Tests of one name become one, with the origins of all; sorted by name."""
    named: dict[str, tuple[Test, dict[str, Origin]]] = {}
    for test in tests:
        _, origins = named.setdefault(test.name, (test, {}))
        origins.update((str(origin), origin) for origin in test.origins)
    return tuple(
        _described(test, tuple(origins[key] for key in sorted(origins)))
        for _, (test, origins) in sorted(named.items())
    )


def _described(test: Test, origins: tuple[Origin, ...]) -> Test:
    """The test with these origins, its text made anew to name them."""
    if test.body is None:
        return msgspec.structs.replace(test, origins=origins)
    # herd7 wants the keys of metadata distinct
    named = ((f"Origin{number}", str(origin)) for number, origin in enumerate(origins, 1))
    metadata = [("Shape", test.shape), *named]
    text = litmus_text(test.name, test.cycle, test.body, metadata)
    return msgspec.structs.replace(test, origins=origins, text=text)
