"""What the scenarios of the corpus generate, once per process."""

from __future__ import annotations

from functools import cache

from weakspot.generators.pipeline import Generated
from weakspot.harness.corpus import structures
from weakspot.harness.corpus.material import from_source


@cache
def generated(structure: str, scenario: str) -> Generated:
    found = structures.find(structure)
    (wanted,) = [each for each in found.scenarios if each.name == scenario]
    return from_source(found, wanted)
