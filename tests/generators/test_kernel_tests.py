"""Programs with the Linux kernel's primitives give litmus tests of the kernel's. Their answers are
compared with herd7's and the programs' in tests/agreement/test_kernel_generation.py."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from weakspot import _engine
from weakspot.errors import Unsupported
from weakspot.generators.emit import isa, threads
from weakspot.generators.litmus import Test
from weakspot.generators.pipeline import generate

MAIN = """
int main(void)
{
    pthread_t p, q;
    pthread_create(&p, NULL, one, NULL);
    pthread_create(&q, NULL, two, NULL);
    pthread_join(p, NULL);
    pthread_join(q, NULL);
}
"""


def made(folder: Path, globals_: str, one: str, two: str) -> dict[str, Test]:
    """The tests of a program of two threads, by name."""
    bodies = (
        f"static void *{name}(void *unused)\n{{\n{text}\n    return NULL;\n}}\n"
        for name, text in (("one", one), ("two", two))
    )
    path = folder / "program.c"
    path.write_text("".join(["#include <weakspot/kernel.h>\n", globals_, "\n", *bodies, MAIN]))
    found = generate(path, structure="program", scenario="program")
    assert found.exhaustive
    return {test.name: test for test in found.tests}


INTS = "static int x, y;"
ATOMIC = "static int x; static atomic_t y;"
NODE = "struct node { int value; } node; static struct node *head;"
READER = "if (READ_ONCE(y)) { smp_rmb(); (void)READ_ONCE(x); }"
NAMES = {
    "barriers": (
        (INTS, "WRITE_ONCE(x, 1); smp_wmb(); WRITE_ONCE(y, 1);", READER),
        "MP+fencewmbonceonce+fencermbonceonce",
    ),
    "plain data": (
        (INTS, "x = 1; smp_store_release(&y, 1);", "if (smp_load_acquire(&y)) x;"),
        "MP+ponarelease+ctrlacquirena",
    ),
    "full barriers": (
        (INTS, "WRITE_ONCE(x, 1); smp_mb(); READ_ONCE(y);", "WRITE_ONCE(y, 1); READ_ONCE(x);"),
        "SB+fencembonceonce+poonceonce",
    ),
    "a control dependency": (
        (
            INTS,
            "if (READ_ONCE(x)) WRITE_ONCE(y, 1);",
            "int r = READ_ONCE(y); WRITE_ONCE(x, r + 1);",
        ),
        "LB+ctrlonceonces",
    ),
    "no dependency behind a branch": (
        (
            INTS,
            "if (READ_ONCE(x)) barrier();\n    WRITE_ONCE(y, 1);",
            "int r = READ_ONCE(y); WRITE_ONCE(x, 1);",
        ),
        "LB+poonceonces",
    ),
    "no dependency behind an assertion": (
        (INTS, "BUG_ON(READ_ONCE(x) > 5); WRITE_ONCE(y, 1);", "READ_ONCE(y); WRITE_ONCE(x, 1);"),
        "LB+poonceonces",
    ),
    "an update that returns nothing": (
        (
            ATOMIC,
            "WRITE_ONCE(x, 1); smp_mb__before_atomic(); atomic_inc(&y);",
            READER.replace("READ_ONCE(y)", "atomic_read(&y)"),
        ),
        "MP+fencebeforeatomiconceaddonce+fencermbonceonce",
    ),
    "updates that return values": (
        (
            ATOMIC,
            "WRITE_ONCE(x, 1); atomic_xchg_release(&y, 1);",
            "atomic_inc_return(&y); READ_ONCE(x);",
        ),
        "MP+poonceexchrelease+pofetch.addmbonce",
    ),
    "a pointer": (
        (
            NODE,
            "node.value = 1; rcu_assign_pointer(head, &node);",
            "struct node *found = rcu_dereference(head); if (found) (void)found->value;",
        ),
        "MP+ponarelease+addroncena",
    ),
    "a pointer that is exchanged": (
        (
            NODE,
            "node.value = 1; xchg(&head, &node);",
            "struct node *found = rcu_dereference(head); if (found) (void)found->value;",
        ),
        "MP+ponaexchmb+ctrloncena",
    ),
    "an index": (
        (
            "static int x, y[2];",
            "WRITE_ONCE(y[1], 1); smp_store_release(&x, 1);",
            "(void)READ_ONCE(y[READ_ONCE(x)]);",
        ),
        "MP+pooncerelease+addronceonce",
    ),
    "a grace period": (
        (
            INTS,
            "rcu_read_lock(); WRITE_ONCE(x, 1); WRITE_ONCE(y, 1); rcu_read_unlock();",
            "READ_ONCE(y); synchronize_rcu(); READ_ONCE(x);",
        ),
        "MP+rcuonceonce+fencesyncrcuonceonce",
    ),
    "a part of a critical section": (
        (
            INTS,
            "rcu_read_lock(); WRITE_ONCE(x, 1); rcu_read_unlock(); WRITE_ONCE(y, 1);",
            "READ_ONCE(y); synchronize_rcu(); READ_ONCE(x);",
        ),
        "MP+poonceonce+fencesyncrcuonceonce",
    ),
}


@pytest.mark.parametrize("program", NAMES)
def test_the_test_of_a_cycle_has_its_primitives_in_its_name(program: str, tmp_path: Path) -> None:
    sources, name = NAMES[program]
    assert list(made(tmp_path, *sources)) == [name]


def test_the_text_is_as_the_kernel_writes_it(tmp_path: Path) -> None:
    sources, name = NAMES["an update that returns nothing"]
    text = made(tmp_path, *sources)[name].text
    assert text[text.index("{") :] == textwrap.dedent(
        """\
        { atomic_t y = ATOMIC_INIT(0); }

        P0(int *x, atomic_t *y)
        {
        \tWRITE_ONCE(*x, 1);
        \tsmp_mb__before_atomic();
        \tatomic_add(1, y);
        }

        P1(atomic_t *y, int *x)
        {
        \tint r0;
        \tint r1;
        \tr0 = atomic_read(y);
        \tsmp_rmb();
        \tr1 = READ_ONCE(*x);
        }

        exists (1:r0=1 /\\ 1:r1=0 /\\ [y]=1)
        """
    )


def test_a_critical_section_and_a_branch_are_around_what_is_in_them(tmp_path: Path) -> None:
    sources, name = NAMES["a grace period"]
    text = made(tmp_path, *sources)[name].text
    assert "\trcu_read_lock();\n\tWRITE_ONCE(*x, 1);\n\tWRITE_ONCE(*y, 1);\n\trcu_read" in text
    sources, name = NAMES["plain data"]
    text = made(tmp_path, *sources)[name].text
    assert (
        "\tint r1 = -1;\n\tr0 = smp_load_acquire(y);\n\tif (r0 == 1) {\n\t\tr1 = *x;\n\t}" in text
    )


def test_a_pointer_is_one_in_the_test(tmp_path: Path) -> None:
    sources, name = NAMES["a pointer"]
    text = made(tmp_path, *sources)[name].text
    assert text[text.index("{") :] == textwrap.dedent(
        """\
        { y=other; }

        P0(int *x, int **y)
        {
        \t*x = 1;
        \tsmp_store_release(y, x);
        }

        P1(int **y)
        {
        \tint *r0;
        \tint r1;
        \tr0 = READ_ONCE(*y);
        \tr1 = *r0;
        }

        exists (1:r0=x /\\ 1:r1=0)
        """
    )


def test_sites_are_those_of_accesses_and_fences(tmp_path: Path) -> None:
    sources, name = NAMES["barriers"]
    globals_, one, two = sources
    test = made(tmp_path, globals_, one.replace("; ", ";\n"), two.replace("; ", ";\n"))[name]
    assert test.thread_sites == (
        ("program.c:5", "program.c:6", "program.c:7"),
        ("program.c:12", "program.c:12", "program.c:13"),
    )


def test_no_backend_of_c11_takes_it(tmp_path: Path) -> None:
    sources, name = NAMES["barriers"]
    test = made(tmp_path, *sources)[name]
    assert test.statements is None
    assert _engine.straight_line(test.text) is None
    with pytest.raises(Unsupported, match="primitives"):
        threads.statements(test)
    with pytest.raises(Unsupported, match="primitives"):
        isa.mapped(test, isa.target("aarch64"))
