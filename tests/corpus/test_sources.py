"""The corpus is good C: no warning from gcc, read by weakspot, and right where it should be."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

import pytest
from ended import execute

import weakspot.models
from weakspot.generators.source.build import Build
from weakspot.generators.source.frontend import compile_source
from weakspot.harness.corpus import models
from weakspot.harness.corpus.structures import Structure, structures
from weakspot.harness.values.claims import Scenario

STRUCTURES = structures()
SCENARIOS = [
    pytest.param(structure, scenario, id=f"{structure.name}-{scenario.name}")
    for structure in STRUCTURES
    for scenario in structure.scenarios
]
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-pthread", "-O2"]


@pytest.fixture(scope="module")
def gcc() -> str:
    found = shutil.which("gcc")
    if found is None:
        pytest.skip("no gcc is installed on this machine")
    return found


def build(gcc: str, structure: Structure, scenario: Scenario, program: Path, *options: str) -> None:
    defines = [f"-D{define}" for define in scenario.defines]
    source = str(structure.path(scenario))
    execute(gcc, *WARNINGS, *options, *defines, source, "-o", str(program)).printed(0)


@pytest.mark.parametrize(("structure", "scenario"), SCENARIOS)
def test_gcc_compiles_it_without_a_warning(
    gcc: str, structure: Structure, scenario: Scenario, tmp_path: Path
) -> None:
    build(gcc, structure, scenario, tmp_path / "program.s", "-S")


@pytest.mark.parametrize(("structure", "scenario"), SCENARIOS)
def test_weakspot_reads_it(structure: Structure, scenario: Scenario) -> None:
    ir = compile_source(structure.path(scenario), build=Build(defines=scenario.defines))
    assert re.search(r"\batomic\b|\batomicrmw\b|\bcmpxchg\b", ir.text)
    assert "@__assert_fail" in ir.text
    assert "@pthread_create" in ir.text
    assert scenario.file in ir.files


@pytest.mark.parametrize(
    ("structure", "scenario"),
    [each for each in SCENARIOS if not each.values[1].defines],  # type: ignore[union-attr]
)
def test_a_program_with_the_header_as_it_is_runs_without_a_failing_assertion(
    gcc: str, structure: Structure, scenario: Scenario, tmp_path: Path
) -> None:
    """But for those that are there to go wrong."""
    if any(
        claim.scenario == scenario.name and result.startswith("Violated")
        for claim in structure.claims
        for result in claim.explored.values()
    ):
        pytest.skip("it goes wrong, says a claim about it")
    program = tmp_path / "program"
    build(gcc, structure, scenario, program)
    for _ in range(20):
        execute(program, timeout=20).printed(0)


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: structure.name)
def test_every_program_of_the_folder_belongs_to_a_scenario(structure: Structure) -> None:
    used = {scenario.file for scenario in structure.scenarios}
    assert {path.name for path in structure.folder.glob("*.c")} == used


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: structure.name)
def test_every_scenario_is_claimed_about(structure: Structure) -> None:
    claimed = {claim.scenario for claim in structure.claims}
    assert {scenario.name for scenario in structure.scenarios} <= claimed


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: structure.name)
def test_every_scenario_is_explored_under_each_model_that_programs_are_explored_under(
    structure: Structure,
) -> None:
    known = models.load()
    wanted = {name for name in structure.models if known[name].acyclic == "program order"}
    for scenario in structure.scenarios:
        claims = [claim for claim in structure.claims if claim.scenario == scenario.name]
        assert wanted == {model for claim in claims for model in claim.explored}, scenario.name


@pytest.mark.parametrize("structure", STRUCTURES, ids=lambda structure: structure.name)
def test_every_macro_that_a_scenario_defines_is_one_of_its_sources(structure: Structure) -> None:
    text = "".join(path.read_text() for path in structure.folder.glob("*.[ch]"))
    for scenario in structure.scenarios:
        for define in scenario.defines:
            name = define.partition("=")[0]
            used = rf"^#\s*(ifdef|ifndef|if|elif)\b.*\b{name}\b"
            assert re.search(used, text, re.MULTILINE), name


def test_models_of_the_corpus_are_known() -> None:
    table = Path(weakspot.models.__file__).parent / "models.toml"
    known = set(tomllib.loads(table.read_text()))
    for structure in STRUCTURES:
        assert set(structure.models) <= known, structure.name
