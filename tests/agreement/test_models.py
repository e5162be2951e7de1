"""The models say what their papers say: measured with herd7 on generated and on hand-written tests,
and with the engine where many models are asked about the same tests.

The hand-written tests stand in litmus/, what is known of them in verdicts.txt; the generated
ones come from the diy7 configurations in diy/.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from engine_answers import engine
from herdtools import Answer, ask, generate

from weakspot.errors import BadInput
from weakspot.harness.corpus import models
from weakspot.system import herdtools
from weakspot.system.tools import Tool

HERE = Path(__file__).parent
LITMUS = sorted((HERE / "litmus").glob("*.litmus"))
MODELS = {
    name: model
    for name, model in models.load().items()
    if "C" in model.dialects and model.acyclic != "dependencies"
}
"""Those that read C. The others are measured in test_isa_models.py and test_program_models.py: for
herd7 a read-modify-write of C is one event, for models that order by dependencies it is two."""

SUITES = [
    pytest.param(config, id=f"{config.parent.name}-{config.stem}", marks=marks)
    for tier, marks in (("quick", ()), ("full", (pytest.mark.full,)))
    for config in sorted((HERE / "diy" / tier).glob("*.cfg"))
]

Need = Callable[[str], Tool]
Suite = Callable[[Path], list[Path]]


@pytest.fixture(scope="session")
def suite(need: Need, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The tests of a diy7 configuration, generated once."""
    made: dict[Path, list[Path]] = {}

    def tests(config: Path) -> list[Path]:
        if config not in made:
            made[config] = generate(need("diy7"), config, tmp_path_factory.mktemp(config.stem))
        return made[config]

    return tests


@cache
def answers(herd7: Tool, model: str, tests: tuple[Path, ...]) -> dict[str, Answer]:
    """Under one of our models by its name."""
    return ask(herd7, MODELS[model].path, tests)


@cache
def engine_answers(model: str, tests: tuple[Path, ...]) -> dict[str, Answer]:
    """As herd7 answers; test_engine_and_herd7.py compares the two under each of these models."""
    return engine(MODELS[model].path, tests)


def differing(ours: dict[str, Answer], theirs: dict[str, Answer]) -> list[str]:
    return [name for name, answer in ours.items() if answer != theirs[name]]


# What herd7 has in its own library, ours must agree with: states, observation and flags. Ours are
# asked of the engine, which answers about them as herd7 does (test_engine_and_herd7.py).


@pytest.mark.parametrize("model", ["rc11", "sc"])
@pytest.mark.parametrize("config", SUITES)
def test_a_model_agrees_with_the_packaged_one(
    herd7: Tool, suite: Suite, config: Path, model: str
) -> None:
    tests = suite(config)
    ours = engine_answers(model, tuple(tests))
    assert differing(ours, ask(herd7, f"{model}.cat", tests)) == []
    print(f"{model}: {len(tests)} tests, no difference")


@pytest.mark.parametrize("config", SUITES)
def test_c11_without_seq_cst_agrees_with_the_packaged_one(
    herd7: Tool, suite: Suite, config: Path
) -> None:
    """With seq_cst ours has the repaired rules, herd7's those of POPL 2016."""
    tests = suite(config)
    answered = engine_answers("c11", tuple(tests))
    tests = [test for test in tests if "seq_cst" not in test.read_text()]
    ours = {test.stem: answered[test.stem] for test in tests}
    assert differing(ours, ask(herd7, "c11_simp.cat", tests)) == []
    print(f"c11: {len(tests)} tests, no difference")


def test_locks_agree_with_the_packaged_c11(herd7: Tool) -> None:
    tests = [test for test in LITMUS if "seq_cst" not in test.read_text()]
    assert any("mtx_t" in test.read_text() for test in tests)
    ours = ask(herd7, MODELS["c11"].path, tests)
    assert differing(ours, ask(herd7, "c11_simp.cat", tests)) == []


@pytest.mark.parametrize("model", MODELS)
def test_our_cos_and_c11_los_mean_what_the_packaged_ones_mean(
    herd7: Tool, model: str, tmp_path: Path
) -> None:
    """herd7 takes these from its library: here from one that holds ours alone."""
    library = herdtools.libdir()
    assert library is not None
    for name in ("stdlib.cat", "c11.def"):
        shutil.copy(library / name, tmp_path)
    for name in ("cos.cat", "cross.cat", "c11_los.cat"):
        shutil.copy(models.folder() / name, tmp_path)
    ours = ask(herd7, MODELS[model].path, LITMUS, "-set-libdir", str(tmp_path))
    assert differing(ours, answers(herd7, model, tuple(LITMUS))) == []


# What is known of the hand-written tests.


def known() -> dict[str, dict[str, str]]:
    """verdicts.txt: test, then model, then yes, no or undef."""
    text = (HERE / "verdicts.txt").read_text(encoding="utf-8")
    names = next(line for line in text.splitlines() if "rc11" in line and line[0] == "#")
    columns = names.lstrip("#").split()
    rows = (line.split() for line in text.splitlines() if line and line[0] != "#")
    return {test: dict(zip(columns, row, strict=True)) for test, *row in rows}


def verdict(answer: Answer) -> str:
    if answer.undefined:
        return "undef"
    return "no" if answer.observation == "Never" else "yes"


KNOWN = known()


def test_every_hand_written_test_stands_in_the_table() -> None:
    assert sorted(KNOWN) == sorted(test.stem for test in LITMUS)
    assert all(list(row) == list(MODELS) for row in KNOWN.values())


@pytest.mark.parametrize("test", KNOWN)
def test_every_model_answers_as_the_literature_does(herd7: Tool, test: str) -> None:
    found = {m: verdict(answers(herd7, m, tuple(LITMUS))[test]) for m in MODELS}
    assert found == KNOWN[test]


@pytest.mark.parametrize(
    ("test", "forbidding", "allowing"),
    [
        pytest.param("SB+rfis", "clr2", "tso", id="Duffy's rules know no store forwarding"),
        pytest.param("IRIW+rel-acqs", "clr2", "rc11", id="Duffy's sequence is one for all"),
        pytest.param("MP+rel-coi.rlx+acq", "c11", "c20", id="C++20 shortens release sequences"),
        pytest.param("MP+rel-coi.rlx+acq", "rc11", "rc20", id="and so does rc20"),
        pytest.param("LB+rlxs", "rc20", "c20", id="which forbids load buffering, too"),
        pytest.param("MP+rel-gap-rlx+acq", "rc11", "c11", id="RC11 lets sequences skip a store"),
        pytest.param("Dekker+two-locks", "openmp3", "c11", id="an OpenMP unlock is a full fence"),
        pytest.param("MP+rel+acq", "c11", "openmp3", id="OpenMP has no acquire and release"),
        pytest.param("LB+rlxs", "rc11", "c11", id="only RC11 forbids load buffering"),
        pytest.param("SB+rfi.scs", "clr2", "c20", id="C++20 as LWG 3941 wants it"),
        pytest.param("SB+xchg.rlx-rlxs", "tso", "rc11", id="every exchange is a fence on x86"),
        pytest.param("MP+rlxs", "tso", "pso", id="stores pass one another in PSO"),
    ],
)
def test_models_differ_where_their_papers_do(
    herd7: Tool, test: str, forbidding: str, allowing: str
) -> None:
    assert verdict(answers(herd7, forbidding, tuple(LITMUS))[test]) == "no"
    assert verdict(answers(herd7, allowing, tuple(LITMUS))[test]) == "yes"


# What models.toml says of the models.


PAIRS = [
    pytest.param(model.name, weaker, id=f"{model.name}-in-{weaker}")
    for model in MODELS.values()
    for weaker in model.stronger_than
    if weaker in MODELS
]


@pytest.mark.parametrize("config", SUITES)
@pytest.mark.parametrize(("stronger", "weaker"), PAIRS)
def test_a_stronger_model_allows_no_more(
    suite: Suite, config: Path, stronger: str, weaker: str
) -> None:
    """Every state of the stronger model is one of the weaker, or the weaker says undefined."""
    tests = tuple(suite(config))
    less, more = engine_answers(stronger, tests), engine_answers(weaker, tests)
    assert len(less) == len(more) == len(tests)
    assert [t for t in less if not (less[t].states <= more[t].states or more[t].undefined)] == []


@pytest.mark.parametrize(("stronger", "weaker"), PAIRS)
def test_a_stronger_model_allows_no_more_of_the_hand_written_tests(
    herd7: Tool, stronger: str, weaker: str
) -> None:
    tests = tuple(LITMUS)
    less, more = answers(herd7, stronger, tests), answers(herd7, weaker, tests)
    assert [t for t in less if not (less[t].states <= more[t].states or more[t].undefined)] == []


@pytest.mark.parametrize(
    "config",
    [
        pytest.param(None, id="hand-written"),
        *(pytest.param(s.values[0], id=s.id, marks=pytest.mark.full) for s in SUITES),
    ],
)
@pytest.mark.parametrize("model", MODELS)
def test_acyclic_is_what_the_axioms_imply(
    herd7: Tool, suite: Suite, config: Path | None, model: str, tmp_path: Path
) -> None:
    cat = tmp_path / "porf.cat"
    cat.write_text(f'"porf"\ninclude "{model}.cat"\nflag ~acyclic po | rf as cycle\n')
    tests = LITMUS if config is None else suite(config)
    found = ask(herd7, cat, tests, "-I", str(models.folder()))
    cyclic = [name for name, answer in found.items() if "cycle" in answer.flags]
    if MODELS[model].acyclic == "program order":
        assert cyclic == []
    elif config is None:
        assert "LB+rlxs" in cyclic


AXIOM = re.compile(
    r"(?:undefined_unless |flag ~?)?(?:acyclic|irreflexive|empty) "
    r"\S.* as (?P<name>[a-z][a-z0-9-]*) +\(\* (?P<source>[^*]+) \*\)"
)


@pytest.mark.parametrize("model", MODELS)
def test_every_axiom_is_one_line_with_a_name_and_a_source(model: str) -> None:
    text = MODELS[model].path.read_text(encoding="utf-8")
    code = re.sub(r"\(\*.*?\*\)", lambda c: re.sub(r"\S", " ", c[0]), text, flags=re.DOTALL)
    lines = [
        line
        for line, bare in zip(text.splitlines(), code.splitlines(), strict=True)
        if re.search(r"\b(acyclic|irreflexive|empty|flag|undefined_unless)\b", bare)
    ]
    matches = [AXIOM.fullmatch(line) for line in lines]
    assert lines
    assert [line for line, match in zip(lines, matches, strict=True) if match is None] == []
    names = [match["name"] for match in matches if match]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("model", models.load().values(), ids=models.load())
def test_the_table_of_models_is_complete(model: models.Model) -> None:
    assert model.path.is_file()
    assert model.path.read_text(encoding="utf-8").startswith(('"', 'C "'))
    assert model.about
    assert model.reference
    assert model.dialects
    assert set(model.stronger_than) <= set(models.load())
    assert bool(model.machines) == (model.role == "hardware")


def test_a_model_is_found_by_name_and_by_path(tmp_path: Path) -> None:
    own = tmp_path / "mine.cat"
    own.write_text('(* a note *)\nC "My model"\nacyclic po | rf as x\n')
    assert models.resolve("rc11").path == models.folder() / "rc11.cat"
    mine = models.resolve(own)
    assert (mine.name, mine.title, mine.role, mine.path) == ("mine", "My model", "language", own)
    assert mine.acyclic is None


def test_a_misspelt_model_gets_the_name_that_was_meant() -> None:
    with pytest.raises(BadInput, match="did you mean rc11"):
        models.resolve("RC-11")
    with pytest.raises(BadInput, match="cannot read the model"):
        models.resolve("missing.cat")
