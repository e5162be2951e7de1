"""The corpus: one folder per structure, described by its `claims.toml`.

    NAME/
      claims.toml        title, source, models; the scenarios; the claims and what is true; changes
                         that no scenario notices, and why; the weakest memory orders that suffice,
                         promoted and never edited
      *.c *.h            the C11 source; a scenario is a program with a `main`
      tests/*.litmus     generated from the scenarios: golden files, never edited by hand
      hand/*.litmus      written by hand, for tests that are not generated

An unknown key is an error, and so is a claim that could never be compared: about a scenario that
does not exist, or under a model that the structure is not checked under.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.litmus import Test, read_test
from weakspot.generators.source.build import Entry
from weakspot.harness.corpus import models
from weakspot.harness.values.claims import Claim, Scenario, Survivor, Weakest
from weakspot.harness.values.record import program_name
from weakspot.system import packages, toml

CLAIMS = "claims.toml"


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    source: str
    models: tuple[str, ...]
    scenario: tuple[Scenario, ...] = ()
    claim: tuple[Claim, ...] = ()
    survivor: tuple[Survivor, ...] = ()
    weakest: tuple[Weakest, ...] = ()


class Structure(msgspec.Struct, frozen=True):
    """One folder of the corpus, or a user's own program, for which nothing is recorded; `listed`
    marks one that was not named itself, but is in a folder that was. Scenarios of a Rust crate have
    `entries`, by their names."""

    name: str
    folder: Path
    title: str
    source: str
    models: tuple[str, ...]
    scenarios: tuple[Scenario, ...]
    claims: tuple[Claim, ...]
    recorded: bool = True
    listed: bool = False
    weakest: tuple[Weakest, ...] = ()
    survivors: tuple[Survivor, ...] = ()
    entries: Mapping[str, Entry] = {}

    def path(self, scenario: Scenario) -> Path:
        """The C file of a scenario."""
        return self.folder / scenario.file

    def name_of(self, scenario: Scenario) -> str:
        """The name of a scenario's program; a file is a structure of one."""
        return program_name(self.name, scenario.name) if self.entries else self.name

    def golden(self) -> tuple[Test, ...]:
        """The tests as they were last promoted, ordered by name."""
        return _tests_in(self.folder / "tests")

    def hand_written(self) -> tuple[Test, ...]:
        """The tests written by hand, ordered by name."""
        return tuple(
            msgspec.structs.replace(test, path=f"{self.name}/hand/{Path(str(test.path)).name}")
            for test in _tests_in(self.folder / "hand")
        )


def structures(root: Path | None = None) -> tuple[Structure, ...]:
    """Every structure of the corpus, or of the folder `root`, ordered by name.

    Raises BadInput, with file and line, for an invalid `claims.toml`.
    """
    return tuple(read_structure(path.parent) for path in sorted(_root(root).glob(f"*/{CLAIMS}")))


def names(root: Path | None = None) -> list[str]:
    """The names of the structures, in order."""
    return sorted(path.parent.name for path in _root(root).glob(f"*/{CLAIMS}"))


def find(name: str, root: Path | None = None) -> Structure:
    """The structure with that name. Raises BadInput with a similar name."""
    known = names(root)
    if name in known:
        return read_structure(_root(root) / name)
    raise BadInput(
        f"unknown structure {name}",
        advice=toml.suggest(name, known) or "`weakspot structures` lists them",
    )


def read_structure(folder: Path) -> Structure:
    """Read the structure in `folder`. Raises BadInput with the line of an invalid key."""
    held, lines = toml.read(folder / CLAIMS)
    read = toml.convert(held, _File, lines)
    _check(lines, read)
    return Structure(
        name=folder.name,
        folder=folder,
        title=read.title,
        source=read.source,
        models=read.models,
        scenarios=read.scenario,
        claims=read.claim,
        weakest=read.weakest,
        survivors=read.survivor,
    )


def _root(root: Path | None) -> Path:
    return root if root is not None else packages.folder("weakspot.litmus").resolve()


def _tests_in(folder: Path) -> tuple[Test, ...]:
    return tuple(read_test(path) for path in sorted(folder.glob("*.litmus")))


# --- validation of claims.toml ----------------------------------------------------------------


def _check(text: toml.Text, read: _File) -> None:
    """What the types do not check: names refer to something, and claims can be compared."""
    names: list[str] = []
    for index, scenario in enumerate(read.scenario):
        if scenario.name in names:
            message = f"duplicate scenario {scenario.name}"
            raise text.wrong(("scenario", index, "name"), message)
        names.append(scenario.name)
        if not (text.path.parent / scenario.file).is_file():
            message = f"no such file in the folder of {CLAIMS}: {scenario.file}"
            sources = [file.name for file in text.path.parent.glob("*.c")]
            raise text.wrong(
                ("scenario", index, "file"), message, toml.suggest(scenario.file, sources)
            )
    for index, claim in enumerate(read.claim):
        _check_claim(text, index, claim, names, read.models)
    for index, table in enumerate(read.weakest):
        if unknown := [name for name in table.scenarios if name not in names]:
            message = f"unknown scenario {unknown[0]!r}"
            advice = "`weakspot relax --promote` rewrites this table"
            raise text.wrong(("weakest", index, "scenarios"), message, advice)


def _check_claim(
    text: toml.Text, index: int, claim: Claim, scenarios: Sequence[str], names: Sequence[str]
) -> None:
    if (claim.scenario or not claim.test) and claim.scenario not in scenarios:
        message = f"unknown scenario {claim.scenario!r}"
        advice = f"the scenarios are {', '.join(scenarios) or 'none'}"
        advice = toml.suggest(claim.scenario, scenarios) or advice
        raise text.wrong(("claim", index, "scenario"), message, advice)
    if bool(claim.test) == bool(claim.explored):
        message = "a claim is about either one test or the explored program"
        advice = "give test and verdict, or explored"
        raise text.wrong(("claim", index, "test"), message, advice)
    if bool(claim.test) != bool(claim.verdict):
        message = "test and verdict belong together"
        advice = 'verdict = { sc = "Never", rc20 = "Sometimes" }'
        key = "verdict" if claim.verdict else "test"
        raise text.wrong(("claim", index, key), message, advice)
    for key, asked in (("verdict", claim.verdict), ("explored", claim.explored)):
        for model in asked:
            if model not in names:
                message = f"the structure is not checked under {model}"
                advice = toml.suggest(model, names) or f"add {model} to models at the top"
                raise text.wrong(("claim", index, key), message, advice)
    for model in claim.explored:
        if (known := models.load().get(model)) and known.acyclic == "none":
            message = f"programs are not explored under {model}: it allows values out of thin air"
            raise text.wrong(
                ("claim", index, "explored"), message, "claim the verdict of a test instead"
            )
    for model in claim.machines:
        if (known := models.load().get(model)) is None or known.acyclic != "dependencies":
            late = [each.name for each in models.load().values() if each.acyclic == "dependencies"]
            message = f"{model} is no model under which loads may wait for later stores"
            advice = toml.suggest(model, late) or f"these are {', '.join(late)}"
            raise text.wrong(("claim", index, "machines", model), message, advice)
    if claim.machines and not claim.explored:
        message = "machines belongs to an explored program"
        raise text.wrong(("claim", index, "machines"), message)
    for machine in claim.seen:
        from weakspot.generators.binary.isa import ISAS  # most claims name no machine

        if not claim.test:
            raise text.wrong(("claim", index, "seen"), "seen belongs to a test")
        if ISAS.find(machine) is None:
            isas = ISAS.names()
            advice = toml.suggest(machine, isas) or f"known: {', '.join(isas)}"
            message = f"unknown kind of machine: {machine}"
            raise text.wrong(("claim", index, "seen"), message, advice)
