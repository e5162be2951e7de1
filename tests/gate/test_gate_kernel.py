"""The gate speaks the Linux kernel's words about programs with its primitives. Without the kernel's
model (`scripts/install-tools --kernel-model`), these tests are skipped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from projects import Project

WRITER = "data = 42;\n    WRITE_ONCE(ready, 1);"
READER = "if (READ_ONCE(ready)) {\n        smp_rmb();\n        BUG_ON(data != 42);\n    }"
PROGRAM = """\
#include <weakspot/kernel.h>
static int data, ready;
static void *writer(void *unused)
{
    WRITER
    return NULL;
}
static void *reader(void *unused)
{
    READER
    return NULL;
}
int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&other, NULL, reader, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}
"""
CONFIG = 'models = ["lkmm"]\n[gate]\nscenarios = ["*.c"]\n'


@pytest.fixture
def mp(project: Project, kernel_model: Path) -> Project:  # noqa: ARG001
    """A project whose one scenario lacks a write barrier."""
    project.write("weakspot.toml", CONFIG)
    write(project, WRITER, READER)
    return project


def write(project: Project, writer: str, reader: str) -> None:
    project.write("mp.c", PROGRAM.replace("WRITER", writer).replace("READER", reader))


def test_the_text_names_the_primitive_that_is_needed(mp: Project) -> None:
    printed = mp.gate().printed(1)
    assert "needs at least smp_store_release under lkmm" in printed
    assert "smp_store_release at mp.c:6 suffices" in printed
    assert "or smp_wmb() before mp.c:6 suffices" in printed
    assert "store ready = 1 (once)" in printed
    assert "fence (rmb)" in printed
    assert "memory_order" not in printed


def test_json_and_sarif_name_it_too_and_sarif_writes_it(mp: Project) -> None:
    findings = [json.loads(line) for line in mp.gate("--json").out.splitlines()]
    assert {each["id"] for each in findings} == {"WS101", "WS102"}
    for each in findings:
        (need,) = each["needs"]
        assert need["asks"] == "needs at least smp_store_release under lkmm"
        assert need["place"]["does"] == "WRITE_ONCE"
    assert mp.gate("--sarif", "out.sarif").code == 1
    results = json.loads((mp.folder / "out.sarif").read_text())["runs"][0]["results"]
    assert "needs at least smp_store_release" in results[0]["message"]["text"]
    (change,) = results[0]["fixes"][0]["artifactChanges"]
    (replaced,) = change["replacements"]
    assert replaced["insertedContent"]["text"].strip() == "smp_store_release(&ready, 1);"


def test_a_read_barrier_is_proposed_beside_the_load(mp: Project) -> None:
    write(
        mp,
        "data = 42;\n    smp_wmb();\n    WRITE_ONCE(ready, 1);",
        READER.replace("smp_rmb();", ""),
    )
    ended = mp.gate()
    assert "needs at least smp_load_acquire under lkmm" in ended.out
    assert "or smp_rmb() after mp.c:12" in ended.out


def test_a_full_barrier_is_asked_for_where_nothing_less_suffices(mp: Project) -> None:
    write(
        mp,
        "WRITE_ONCE(data, 1);\n    if (!READ_ONCE(ready))\n        xchg_relaxed(&left, 1);",
        "WRITE_ONCE(ready, 1);\n    smp_mb();\n    if (!READ_ONCE(data))\n"
        "        BUG_ON(xchg_relaxed(&left, 1));",
    )
    text = (mp.folder / "mp.c").read_text().replace("data, ready;", "data, ready, left;")
    mp.write("mp.c", text)
    ended = mp.gate()
    assert "needs smp_mb() before it under lkmm" in ended.out


def test_what_is_ordered_is_safe_without_the_models_of_machines(mp: Project) -> None:
    write(mp, "data = 42;\n    smp_wmb();\n    WRITE_ONCE(ready, 1);", READER)
    assert "undecided" not in mp.gate().printed(0)


def test_what_the_model_flags_of_srcu_is_at_its_line(mp: Project) -> None:
    write(mp, "int i = srcu_read_lock(&ss);\n    srcu_read_unlock(&ss, i + 1);", READER)
    text = (
        (mp.folder / "mp.c")
        .read_text()
        .replace("static int", "DEFINE_STATIC_SRCU(ss);\nstatic int", 1)
    )
    mp.write("mp.c", text)
    printed = mp.gate().printed(1)
    assert (
        "srcu" in printed
    )  # srcu-bad-nesting, srcu-bad-value-match: the name depends on the version
    assert "mp.c:7" in printed


def test_a_race_of_plain_accesses_names_the_marked_ones(mp: Project) -> None:
    write(mp, "ready = 1;", "data = ready;")
    ended = mp.gate()
    assert "mark both accesses, with READ_ONCE or WRITE_ONCE" in ended.out


def test_an_interleaving_needs_no_order(mp: Project) -> None:
    write(mp, "smp_wmb();\n    WRITE_ONCE(ready, 1);", "BUG_ON(READ_ONCE(ready));")
    assert "threads that merely take turns do this" in mp.gate().out
