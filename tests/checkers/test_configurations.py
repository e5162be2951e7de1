"""Configurations of herd7 as models: a cat file with the annotations of a bell file, for tests that
call the macros of a .def file."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from texts import asked, made

from weakspot.errors import BadInput
from weakspot.generators.litmus import Test
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.checkers.herd7 import Herd7
from weakspot.harness.corpus import models
from weakspot.harness.values.verdict import Verdict
from weakspot.system import kernel
from weakspot.system.tools import Tool

SMALL = Path(__file__).parent / "configuration"
WRITTEN = SMALL.with_name("as_written")

MP = """C {name}
{{}}
P0(int *x, int *y) {{ {first} }}
P1(int *x, int *y) {{ int r0 = {second}; int r1 = GET(x); }}
exists (1:r0={value} /\\ 1:r1=0)
"""
TESTS = {
    "relaxed": ("WRITE_ONCE(*x, 1); WRITE_ONCE(*y, 1);", "GET(y)", 1, "Sometimes"),
    "published": ("WRITE_ONCE(*x, 1); PUBLISH(y, 1);", "ACQUIRE(y)", 1, "Never"),
    "fenced": ("WRITE_ONCE(*x, 1); smp_mb(); WRITE_ONCE(*y, 1);", "ACQUIRE(y)", 1, "Never"),
    "nested": ("BOTH(x, y, 1 + 1);", "ACQUIRE(y)", 4, "Never"),
    "counted": ("WRITE_ONCE(*x, 1); int r2 = inc_is_two(y);", "GET(y)", 1, "Sometimes"),
    "plain": ("*x = 1; sync(); *y = 1;", "GET(y)", 1, "Sometimes"),
}


SB = """C {name}
{{}}
P0(int *x, int *y) {{ {first} int r1 = GET(y); }}
P1(int *x, int *y) {{ int r2 = xchg(y, 1); int r1 = GET(x); }}
exists (0:r1=0 /\\ 1:r1=0)
"""
OF_WRITTEN = {
    "exchanged": ("int r0 = xchg(x, 1);", "Never"),
    "exchanged-if": ("int r0 = cmpxchg(x, 0, 1);", "Never"),
    "not-exchanged": ("SET(x, 1); int r0 = cmpxchg(x, 2, 3);", "Sometimes"),
    "added": ("int r0 = add_unless(x, 1, 1);", "Never"),
    "not-added": ("SET(x, 1); int r0 = add_unless(x, 1, 1);", "Sometimes"),
    "counted": ("inc(x);", "Never"),
    "cleared": ("SET(x, 3); andnot(1, x);", "Never"),
    "section": ("SET(x, 1); int r0 = enter(z); leave(z, r0);", "Sometimes"),
    "other-section": ("SET(x, 1); int r0 = enter(z); leave(z, r0 + 1);", "Sometimes"),
}


def text(name: str) -> str:
    first, second, value, _ = TESTS[name]
    return MP.format(name=name, first=first, second=second, value=value)


def test_macros_and_annotations_mean_what_the_files_say() -> None:
    verdicts = asked(Engine(), [made(text(name)) for name in TESTS], str(SMALL))
    found = {each.test: each.observation for each in verdicts}
    assert found == {name: observation for name, (*_, observation) in TESTS.items()}
    flags = {each.test: each.flags for each in verdicts}
    assert flags.pop("plain") == ("race",)
    assert set(flags.values()) == {()}


def written() -> list[Test]:
    tests = [SB.format(name=name, first=first) for name, (first, _) in OF_WRITTEN.items()]
    return [made(each.replace("int *y)", "int *y, int *z)")) for each in tests]


def test_both_halves_of_a_read_modify_write_may_have_its_annotation() -> None:
    verdicts = asked(Engine(), written(), str(WRITTEN))
    found = {each.test: each.observation for each in verdicts}
    assert found == {name: observation for name, (_, observation) in OF_WRITTEN.items()}
    flagged = {each.test: each.flags for each in verdicts if each.flags}
    assert flagged == {"other-section": ("other-section",)}


def test_herd7_answers_the_same(need: Callable[[str], Tool]) -> None:
    need("herd7")

    def answers(verdicts: list[Verdict]) -> dict[str, object]:
        return {each.test: (each.observation, each.flags, each.states) for each in verdicts}

    for model, tests in ((SMALL, [made(text(name)) for name in TESTS]), (WRITTEN, written())):
        ours, theirs = (asked(checker, tests, str(model)) for checker in (Engine(), Herd7()))
        assert answers(ours) == answers(theirs)


REGIONS = MP.replace("exists", "regions: x:PROP, y:PROP REPLACEABLE\nexists")


def test_only_a_model_with_a_bell_file_can_use_regions_of_memory(
    need: Callable[[str], Tool],
) -> None:
    need("herd7")

    def plain(text: str, name: str) -> str:
        text = text.replace("GET(x)", "*x")
        return text.format(name=name, first="*x = 1; *y = 1;", second="*y", value=1)

    regions = made(plain(REGIONS, "regions"))
    without, ours = asked(Engine(), [made(plain(MP, "without")), regions], "sc")
    (theirs,) = asked(Herd7(), [regions], "sc")
    assert ours.states == without.states == theirs.states
    assert ours.observation == theirs.observation == "Never"
    calls = REGIONS.format(name="calls", first="WRITE_ONCE(*x, 1);", second="GET(y)", value=1)
    (refused,) = asked(Engine(), [made(calls)], str(SMALL))
    assert refused.observation == "Unknown"
    assert "regions of memory" in refused.reason


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("WRITE_ONCE(*x);", "`WRITE_ONCE` takes 2 arguments, found 1"),
        ("WRITE_ONCE(x, 1);", "the argument is not an access to memory"),
        ("smp_wmb();", "unknown function `smp_wmb`"),
    ],
)
def test_a_wrong_call_is_reported_at_its_line(statement: str, message: str) -> None:
    wrong = MP.format(name="wrong", first=f"\n  {statement}\n", second="GET(y)", value=1)
    (verdict,) = asked(Engine(), [made(wrong)], str(SMALL))
    assert verdict.observation == "Unknown"
    assert message in verdict.reason
    assert "wrong.litmus:4:3" in verdict.reason


@pytest.mark.parametrize(
    ("file", "line", "place", "message"),
    [
        ("small.cfg", "variant mixed\n", "small.cfg:6", "variant mixed"),
        ("small.def", "LOAD(X) __load{once(X)\n", "small.def:11:20", "expected `}`"),
        ("small.def", "LOAD(X) X +\n", "small.def:12:1", "expected an expression"),
        ("small.bell", "enum Wrong = once\n", "small.bell:11:14", "unexpected .once"),
    ],
)
def test_a_mistake_in_a_file_has_its_place(
    tmp_path: Path, file: str, line: str, place: str, message: str
) -> None:
    folder = tmp_path / "small"
    shutil.copytree(SMALL, folder)
    with (folder / file).open("a") as end:
        end.write(line)
    with pytest.raises(BadInput, match=message) as raised:
        asked(Engine(), [made(text("relaxed"))], str(folder))
    assert str(raised.value.place).endswith(place) or f"{place}:" in str(raised.value.place)


def test_the_digest_changes_with_every_file(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    shutil.copytree(SMALL, folder)
    digests = {models.resolve(folder / "small.cfg").digest_of_text}
    for number, file in enumerate(sorted(folder.iterdir()), start=2):
        file.write_text(file.read_text() + "\n")
        digests.add(models.resolve(folder / "small.cfg").digest_of_text)
        assert len(digests) == number, file


def test_programs_are_not_explored_under_annotations_that_they_cannot_have() -> None:
    reason = EngineExplorer().applicable(models.resolve(SMALL))
    assert "not explored under small" in reason
    assert "<weakspot/kernel.h>" in reason


def test_the_kernels_model_is_listed_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(kernel.VARIABLE, "")
    assert models.LINUX not in models.available()
    with pytest.raises(BadInput, match="not installed"):
        models.resolve(models.LINUX)
    folder = tmp_path / "linux" / "tools" / "memory-model"
    shutil.copytree(SMALL, folder)
    (folder / "small.cfg").rename(folder / kernel.CONFIGURATION)
    monkeypatch.setenv(kernel.VARIABLE, str(tmp_path / "linux"))
    model = models.resolve(models.LINUX)
    assert (model.name, model.title) == ("lkmm", "A model with annotations")
    assert models.available()["lkmm"] == model
    assert models.resolve(folder).path == model.path


def test_a_folder_without_a_configuration_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no configurations"):
        models.resolve(tmp_path)
