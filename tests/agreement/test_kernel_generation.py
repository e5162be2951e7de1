"""Litmus tests that are generated from programs of the Linux kernel's: herd7 and the engine agree
on them, klitmus7 reads them, and they forbid nothing that the programs allow. Without the kernel's
model (`scripts/install-tools --kernel-model`), these tests are skipped."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import random_kernel
from asking import answers
from ended import execute
from engine_answers import agree, engine
from figures import Keep
from herdtools import ask
from kernel_programs import KernelTest, kernel_program

from weakspot.generators.litmus import Fence, Guard, Test
from weakspot.generators.pipeline import generate
from weakspot.harness.corpus import models

if TYPE_CHECKING:
    from collections.abc import Callable

    from weakspot._engine import AnswerDict
    from weakspot.system.tools import Tool

PROGRAMS = 25
ALL_PROGRAMS = 500

READS = ("{r} = READ_ONCE(*{at});", "{r} = smp_load_acquire({at});")
WRITES = (
    "WRITE_ONCE(*{at}, {v});",
    "smp_store_release({at}, {v});",
    "smp_store_mb(*{at}, {v});",
    "{t} = xchg({at}, {v});",
    "{t} = xchg_release({at}, {v});",
)
CYCLES = {
    "MP": "1:r0=1 /\\ 1:r1=0",
    "SB": "0:r1=0 /\\ 1:r1=0",
    "LB": "0:r0=1 /\\ 1:r0=1",
    "S": "1:r0=1 /\\ x=1",
    "R": "y=2 /\\ 1:r1=0",
    "2+2W": "x=1 /\\ y=2",
    "WRC": "1:r0=1 /\\ 2:r0=1 /\\ 2:r1=0",
    "RWC": "1:r0=1 /\\ 1:r1=0 /\\ 2:r1=0",
    "ISA2": "1:r0=1 /\\ 2:r0=1 /\\ 2:r1=0",
    "Z6.0": "y=2 /\\ 1:r1=0 /\\ 2:r1=0",
    "3.LB": "0:r0=1 /\\ 1:r0=1 /\\ 2:r0=1",
}
"""The states that show that the cycle of each shape has happened, where each write has its own
value."""


@pytest.fixture
def drawn(
    monkeypatch: pytest.MonkeyPatch, pytestconfig: pytest.Config, kernel_model: Path
) -> Iterator[tuple[KernelTest, str]]:
    """Programs of a critical cycle each, and its state."""
    assert kernel_model
    shapes = {name: random_kernel.SHAPES[name] for name in CYCLES}
    monkeypatch.setattr(random_kernel, "SHAPES", shapes)
    monkeypatch.setattr(random_kernel, "_READS", READS)
    monkeypatch.setattr(random_kernel, "_WRITES", WRITES)
    count = ALL_PROGRAMS if pytestconfig.getoption("--full") else PROGRAMS

    def programs() -> Iterator[tuple[KernelTest, str]]:
        for seed in range(count):
            shape = random.Random(seed).choice(sorted(shapes))
            text = random_kernel.kernel_cycle(random.Random(seed), f"t{seed}")
            program = kernel_program(f"t{seed}", text)
            if program is not None:
                yield program, CYCLES[shape]

    return programs()


def generated(program: KernelTest, folder: Path) -> tuple[Test, ...]:
    path = folder / f"{program.name}.c"
    path.write_text(program.source, encoding="utf-8")
    return generate(path, structure="", scenario=program.name).tests


def is_whole(test: Test, threads: int, accesses: int) -> bool:
    """Whether a test has all accesses of its program: it asks for the program's cycle."""
    assert test.body is not None
    found = [
        each
        for thread in test.body.threads
        for each in thread
        if not isinstance(each, Fence | Guard)
    ]
    return (len(test.body.threads), len(found)) == (threads, accesses)


def test_a_test_forbids_no_cycle_that_its_program_allows(
    drawn: Iterator[tuple[KernelTest, str]], kernel_model: Path, tmp_path: Path
) -> None:
    folders = [str(each) for each in models.include_folders(models.resolve(kernel_model))]

    def observed(name: str, text: str) -> str:
        answer: AnswerDict
        (answer,) = answers([(name, text)], kernel_model, folders=folders)
        assert not answer["reason"], text
        assert not answer["malformed"], text
        return answer["observation"]

    both: list[tuple[str, str]] = []
    for program, state in drawn:
        text = f"{program.litmus.partition('exists')[0]}exists ({state})"
        expected = observed(program.name, text)
        accesses = sum(
            len(re.findall(r"READ_ONCE|WRITE_ONCE|smp_(?:load|store)|xchg", thread.body))
            for thread in program.threads
        )
        for test in generated(program, tmp_path):
            if is_whole(test, len(program.threads), accesses):
                found = observed(test.name, test.text)
                assert (expected, found) != ("Sometimes", "Never"), (program.source, test.text)
                both.append((expected, found))
    assert len(both) > PROGRAMS // 2
    # what is left out weakens few of them
    assert sum(one == other for one, other in both) > 0.8 * len(both)


POINTER = """
#include <weakspot/kernel.h>
static struct node { int value; } node;
static struct node *head;
static void *writer(void *unused)
{
    node.value = 1;
    PUBLISH
    return NULL;
}
static void *reader(void *unused)
{
    struct node *found = rcu_dereference(head);
    if (found)
        BUG_ON(found->value != 1);
    return NULL;
}
int main(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&other, NULL, reader, NULL);
}
"""


@pytest.mark.parametrize(
    ("publish", "observation"),
    [("rcu_assign_pointer(head, &node);", "Never"), ("WRITE_ONCE(head, &node);", "Sometimes")],
)
def test_the_address_of_a_load_may_depend_on_a_pointer(
    publish: str, observation: str, kernel_model: Path, herd7: Tool, tmp_path: Path
) -> None:
    program, file = tmp_path / "pointer.c", tmp_path / "pointer.litmus"
    program.write_text(POINTER.replace("PUBLISH", publish))
    (test,) = generate(program, structure="", scenario="pointer").tests
    assert "+addr" in test.name
    file.write_text(test.text)
    (theirs,) = ask(herd7, kernel_model, [file]).values()
    (ours,) = engine(kernel_model, [file]).values()
    assert theirs == ours
    assert ours.observation == observation


def test_herd7_and_klitmus7_take_them(
    drawn: Iterator[tuple[KernelTest, str]],
    kernel_model: Path,
    herd7: Tool,
    need: Callable[[str], Tool],
    figures: Keep,
    tmp_path: Path,
) -> None:
    klitmus7 = need("klitmus7")
    files: dict[str, Path] = {}
    for program, _ in drawn:
        for test in generated(program, tmp_path):
            files[test.name] = tmp_path / f"{test.name}.litmus"
            files[test.name].write_text(test.text)
    tests = list(files.values())
    assert len(tests) > PROGRAMS // 2
    theirs, ours = ask(herd7, kernel_model, tests), engine(kernel_model, tests)
    agree(theirs, ours, figures, dialect="C", model="linux-kernel", material="generated")
    made = tmp_path / "module.tar"
    ended = execute(klitmus7.path, "-o", str(made), *map(str, tests), timeout=300).reported(0)
    assert not ended
