"""`check --graph` draws the executions that explain an answer."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from samples import SB, Run

from weakspot.harness.report.graph import Graph
from weakspot.harness.values.witness import Witness, WitnessEvent
from weakspot.system.tools import Tool

RACE = """\
#include <pthread.h>
#include <stdatomic.h>
atomic_int flag;
int data;
void *writer(void *a) {
  data = 1;
  atomic_store_explicit(&flag, 1, memory_order_relaxed);
  return 0;
}
int main() {
  pthread_t t;
  pthread_create(&t, 0, writer, 0);
  int seen = atomic_load_explicit(&flag, memory_order_relaxed) ? data : 0;
  pthread_join(t, 0);
  return seen;
}
"""

EDGE = re.compile(r'^  (\w+) -> (\w+) \[label="(\w+)", color="([^"]+)"', re.MULTILINE)


def test_the_cycle_that_a_model_forbids_has_a_colour_of_its_own(run: Run, folder: Path) -> None:
    (folder / "SB.litmus").write_text(SB)
    assert run("check", "SB.litmus", "-m", "sc", "--graph", "out.dot").code == 0
    text = (folder / "out.dot").read_text()
    assert "under sc: a candidate execution that axiom `sc` forbids" in text
    edges = EDGE.findall(text)
    cycle = {(one, other, kind) for one, other, kind, colour in edges if colour == "#008020"}
    assert sorted(kind for _, _, kind in cycle) == ["fr", "fr", "po", "po"]
    at = start = next(iter(cycle))[0]
    for _ in cycle:
        at = next(other for one, other, _ in cycle if one == at)
    assert at == start
    assert all(colour == "#008020" for *_, colour in edges)
    assert text.count(r"\nthe initial value") == 2


def test_threads_are_columns_from_left_to_right_and_colours_are_explained(
    run: Run, folder: Path
) -> None:
    (folder / "race.c").write_text(RACE)
    run("check", "race.c", "-m", "rc20", "--graph", "out.dot")
    text = (folder / "out.dot").read_text()
    assert "{ rank=same; t0 -> t1 [style=invis]; }" in text
    assert '<FONT COLOR="red">rf</FONT> reads from' in text


def test_a_program_is_drawn_with_its_threads_sites_and_race(run: Run, folder: Path) -> None:
    (folder / "race.c").write_text(RACE)
    errors = run("check", "race.c", "-m", "rc20", "--graph", "out.dot").reported(1)
    assert "out.dot: race.c/race under rc20: race: data-race on data" in errors
    text = (folder / "out.dot").read_text()
    assert 'label="main"' in text
    assert 'label="writer"' in text
    assert r"store data = 1 (na)\nrace.c:6" in text
    assert "race" in [kind for *_, kind, _ in EDGE.findall(text)]


def test_several_executions_are_numbered_and_each_file_is_named(run: Run, folder: Path) -> None:
    (folder / "SB.litmus").write_text(SB)
    ended = run("check", "SB.litmus", "-m", "sc,rc20", "--graph", "out.dot")
    assert sorted(path.name for path in folder.glob("*.dot")) == ["out-1.dot", "out-2.dot"]
    assert "out-1.dot: SB under sc:" in ended.err
    assert "out-2.dot: SB under rc20:" in ended.err


def test_without_an_execution_nothing_is_drawn(run: Run, folder: Path) -> None:
    (folder / "safe.c").write_text(RACE.replace("pthread_create(&t, 0, writer, 0);", "return 0;"))
    errors = run("check", "safe.c", "-m", "rc20", "--graph", "out.dot").reported(0)
    assert "out.dot is not written: no program is violated" in errors
    assert not (folder / "out.dot").exists()


def test_a_picture_needs_no_other_program(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "SB.litmus").write_text(SB)
    (folder / "bin").mkdir()
    monkeypatch.setenv("PATH", str(folder / "bin"))
    assert run("check", "SB.litmus", "-m", "sc", "--graph", "out.svg").code == 0
    text = (folder / "out.svg").read_text()
    ElementTree.fromstring(text)
    assert "<title>SB under sc: a candidate execution that axiom `sc` forbids</title>" in text
    assert text.count('">fr</text>') == 2
    xs = [float(re.findall(rf'x="([-\d.]+)"[^>]*>{name}</text>', text)[0]) for name in ("P0", "P1")]
    assert xs == sorted(xs)


def test_a_picture_is_well_formed_whatever_names_hold() -> None:
    event = WitnessEvent(0, "a", "W", "rlx", "<x>&\x01", "", "1")
    ElementTree.fromstring(Graph('a < "b" & \x02', Witness(events=(event,))).svg)


def test_graphviz_draws_a_graph(run: Run, folder: Path, need: Callable[[str], Tool]) -> None:
    dot = need("dot").path
    (folder / "SB.litmus").write_text(SB)
    run("check", "SB.litmus", "-m", "sc", "--graph", "out.dot")
    drawn = subprocess.run(
        [dot, "-Tsvg", folder / "out.dot"], capture_output=True, text=True, check=True
    )
    assert ">thick</text>" in drawn.stdout


@pytest.mark.parametrize("file", ["out.png", "missing/out.dot"])
def test_a_graph_that_cannot_be_written_is_refused(run: Run, folder: Path, file: str) -> None:
    (folder / "SB.litmus").write_text(SB)
    before = sorted(folder.iterdir())
    errors = run("check", "SB.litmus", "-m", "sc", "--graph", file).reported(2)
    assert file.partition("/")[0] in errors
    assert sorted(folder.iterdir()) == before


def test_labels_are_escaped() -> None:
    event = WitnessEvent(0, "a", "W", "rlx", 'x\\"]; b', "", "1")
    text = Graph('a "b"\\n', Witness(events=(event,))).dot
    assert r'label="a \"b\"\\n"' in text
    assert r'[label="a: store x\\\"]; b = 1 (rlx)"' in text
