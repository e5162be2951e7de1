"""What the scenarios of the corpus generate, once per process."""

from __future__ import annotations

from functools import cache

from weakspot.generators.pipeline import Generated, generate
from weakspot.generators.source.build import Build
from weakspot.harness.corpus import structures


@cache
def generated(structure: str, scenario: str) -> Generated:
    found = structures.find(structure)
    (wanted,) = [each for each in found.scenarios if each.name == scenario]
    return generate(
        found.path(wanted),
        structure=structure,
        scenario=scenario,
        build=Build(defines=wanted.defines),
    )
