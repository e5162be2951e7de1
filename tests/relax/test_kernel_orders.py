"""What relax and mutate say of programs with the Linux kernel's primitives, in the kernel's words.
Those that explore are skipped without the kernel's model (`scripts/install-tools --kernel-model`).
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from relaxings import ran
from test_relax import sufficient

import weakspot
from weakspot.generators.source.program import read_program
from weakspot.harness.corpus.models import LINUX
from weakspot.harness.edits import kernel_primitives
from weakspot.harness.edits.annotations import Annotation, annotate
from weakspot.harness.edits.rewrite import rewrite
from weakspot.harness.edits.strength import at_most, below, stronger, weaker
from weakspot.harness.orders.relaxation import Relaxed, findings
from weakspot.harness.report.mutants import change

MAIN = """
int main(void)
{
    pthread_t p, q;
    pthread_create(&p, NULL, one, NULL);
    pthread_create(&q, NULL, two, NULL);
    pthread_join(p, NULL);
    pthread_join(q, NULL);
    BUG_ON(WRONG);
}
"""


def program(folder: Path, globals_: str, one: str, two: str) -> Path:
    threads = (
        f"static void *{name}(void *unused)\n{{\n{textwrap.indent(text, '    ')}\n"
        "    return NULL;\n}\n"
        for name, text in (("one", one), ("two", two))
    )
    head = f"#include <weakspot/kernel.h>\n{globals_}\n"
    head += "" if "WRONG" in globals_ else "#define WRONG wrong\nstatic int wrong;\n"
    path = folder / "program.c"
    path.write_text(head + "".join(threads) + MAIN)
    return path


PLAIN = "static int x, y;"
ATOMIC = "static int x;\nstatic atomic_t y;"
NODE = "struct node { int value; };\nstatic struct node node;\nstatic struct node __rcu *head;"
TAKE = "if (READ_ONCE(y)) {\n    smp_rmb();\n    wrong = !x;\n}"
WEAKEST = {
    "a full fence between two stores": (
        (PLAIN, "x = 1;\nsmp_mb();\nWRITE_ONCE(y, 1);", TAKE),
        ["smp_wmb in place of smp_mb"],
    ),
    "a full fence after a load": (
        (
            PLAIN,
            "x = 1;\nsmp_store_release(&y, 1);",
            "if (READ_ONCE(y)) {\n    smp_mb();\n    wrong = !x;\n}",
        ),
        ["smp_rmb in place of smp_mb"],
    ),
    "store buffering": (
        (
            PLAIN + "\nstatic int a, b;\n#define WRONG (!a && !b)",
            "WRITE_ONCE(x, 1);\nsmp_mb();\na = READ_ONCE(y);",
            "WRITE_ONCE(y, 1);\nsmp_mb();\nb = READ_ONCE(x);",
        ),
        [],
    ),
    "an exchange": (
        (
            ATOMIC,
            "x = 1;\natomic_xchg(&y, 1);",
            "if (atomic_cmpxchg(&y, 1, 2) == 1)\n    wrong = !x;",
        ),
        [
            "atomic_xchg_release in place of atomic_xchg",
            "atomic_cmpxchg_acquire in place of atomic_cmpxchg",
        ],
    ),
    "a release of nothing": (
        (PLAIN, "smp_store_release(&y, 1);", "wrong = smp_load_acquire(&y) > 1;\nREAD_ONCE(x);"),
        ["WRITE_ONCE in place of smp_store_release", "READ_ONCE in place of smp_load_acquire"],
    ),
    "a pointer": (
        (
            NODE,
            "node.value = 1;\nrcu_assign_pointer(head, &node);",
            "struct node *found = smp_load_acquire(&head);\nif (found)\n    wrong = !found->value;",
        ),
        ["READ_ONCE in place of smp_load_acquire"],
    ),
}


def changes(found: Relaxed) -> list[str]:
    best = found.best
    assert best is not None
    pairs = zip(found.annotations, best.orders, strict=True)
    return [
        f"{each.named(order)} in place of {each.named(each.order)}"
        for each, order in pairs
        if order != each.order
    ]


@pytest.mark.usefixtures("kernel_model")
@pytest.mark.parametrize("name", WEAKEST)
def test_the_weakest_primitives_are_those_that_trying_each_gives(name: str, tmp_path: Path) -> None:
    sources, expected = WEAKEST[name]
    work = ran(program(tmp_path, *sources), model=LINUX)
    found = work.result()
    assert found.decided, found.notes
    assert changes(found) == expected
    enough = sufficient(work, LINUX)
    assert {each.orders for each in found.weakest} == {
        each for each in enough if not any(one != each and below(one, each) for one in enough)
    }


@pytest.mark.usefixtures("kernel_model")
def test_a_primitive_that_is_stronger_than_needed_is_a_finding(tmp_path: Path) -> None:
    (sources, _) = WEAKEST["an exchange"]
    found = findings(ran(program(tmp_path, *sources), model=LINUX).result())
    assert [(each.message.partition(" (")[0], each.fix) for each in found] == [
        ("atomic_xchg in one: atomic_xchg_release suffices", "write atomic_xchg_release"),
        ("atomic_cmpxchg in two: atomic_cmpxchg_acquire suffices", "write atomic_cmpxchg_acquire"),
    ]


@pytest.mark.usefixtures("kernel_model")
def test_what_is_needed_has_an_execution_that_shows_why(tmp_path: Path) -> None:
    (sources, _) = WEAKEST["a full fence between two stores"]
    found = ran(program(tmp_path, *sources), model=LINUX).result()
    (weakest,) = found.weakest
    needs = dict(zip([each.called for each in found.annotations], weakest.needs, strict=True))
    (why,) = needs["smp_rmb"]
    assert (why.below, why.violation.kind) == ("none", "race")
    assert why.violation.witness is not None


@pytest.mark.usefixtures("kernel_model")
def test_the_change_is_made_in_the_source(tmp_path: Path) -> None:
    for name, (sources, _) in WEAKEST.items():
        path = program(tmp_path, *sources)
        relaxations = weakspot.relax([path], models=[LINUX])
        (found,) = relaxations
        if not findings(found):
            continue
        relaxations.apply(found)
        (again,) = weakspot.relax([path], models=[LINUX])
        assert again.suffices, name
        assert not findings(again), name


@pytest.mark.usefixtures("kernel_model")
@pytest.mark.parametrize(
    ("one", "two", "line"),
    [
        ("x = 1;\nWRITE_ONCE(y, 1);", TAKE, "smp_store_release(&y, 1);"),
        (
            "x = 1;\nsmp_wmb();\nWRITE_ONCE(y, 1);",
            "if (READ_ONCE(y))\n    wrong = !x;",
            "if (smp_load_acquire(&y))",
        ),
    ],
)
def test_a_program_that_is_too_weak_is_repaired(
    one: str, two: str, line: str, tmp_path: Path
) -> None:
    path = program(tmp_path, PLAIN, one, two)
    relaxations = weakspot.relax([path], models=[LINUX])
    (found,) = relaxations
    assert not found.suffices
    relaxations.apply(found)
    assert line in [each.strip() for each in path.read_text().splitlines()]
    (exploration,) = weakspot.explore([path], models=[LINUX])
    assert exploration.result == "Safe"


@pytest.mark.usefixtures("kernel_model")
def test_mutants_lack_one_primitive(tmp_path: Path) -> None:
    (sources, _) = WEAKEST["a full fence between two stores"]
    (found,) = weakspot.mutate([program(tmp_path, *sources)], models=[LINUX])
    assert {(change(each), each.result) for each in found.mutants} == {
        ("smp_mb → smp_wmb", "survives"),
        ("smp_mb → smp_rmb", "noticed"),
        ("left out", "noticed"),
    }


WRITTEN = {
    ("smp_store_release(&x, 1);", "rlx"): "WRITE_ONCE(x, 1);",
    ("smp_store_release(px, 1);", "rlx"): "WRITE_ONCE(*px, 1);",
    ("WRITE_ONCE(x, 1);", "rel"): "smp_store_release(&x, 1);",
    ("WRITE_ONCE(*px, 1);", "rel"): "smp_store_release(px, 1);",
    ("WRITE_ONCE(*(px + 0), 1);", "rel"): "smp_store_release((px + 0), 1);",
    ("return (void *)(long)READ_ONCE(x);", "acq"): "return (void *)(long)smp_load_acquire(&x);",
    ("rcu_assign_pointer(px, &x);", "rlx"): "WRITE_ONCE(px, &x);",
    ("if (READ_ONCE(px) == &x) x = 1;", "acq"): "if (smp_load_acquire(&px) == &x) x = 1;",
    ("xchg(&x, 2);", "rel"): "xchg_release(&x, 2);",
    ("cmpxchg_acquire(&x, 0, 2);", "rlx/rlx"): "cmpxchg_relaxed(&x, 0, 2);",
    ("atomic_fetch_add(1, &v);", "acq"): "atomic_fetch_add_acquire(1, &v);",
    ("atomic_inc_return_relaxed(&v);", "sc"): "atomic_inc_return(&v);",
    ("atomic_set_release(&v, 1);", "rlx"): "atomic_set(&v, 1);",
    ("atomic_read(&v);", "acq"): "atomic_read_acquire(&v);",
    ("smp_mb();", "rmb"): "smp_rmb();",
    ("smp_wmb();", "sc"): "smp_mb();",
    ("smp_mb__before_atomic();", "none"): "",
}
BY_HAND = {
    ("PUBLISH(x, 1);", "rlx"): "it is inside PUBLISH",
    ("if (atomic_dec_and_test(&v)) x = 1;", "rel"): "tests its result",
}


def rewritten(folder: Path, line: str, order: str) -> tuple[list[str], tuple[str, ...]]:
    """The lines of a program after its one annotation gets another memory order, and why it is left
    to be done by hand."""
    head = "static int x, *px = &x;\nstatic atomic_t v;\n"
    head += "#define PUBLISH(x, v) smp_store_release(&(x), (v))"
    path = program(folder, head, line, "")
    (annotation,), _ = annotate([read_program(path)])
    change = rewrite([annotation], (order,))
    text = change.after.get(str(path), path.read_bytes()).decode()
    return [each.strip() for each in text.splitlines()], tuple(each.why for each in change.by_hand)


@pytest.mark.parametrize(("line", "order"), WRITTEN)
def test_another_primitive_is_written_in_its_place(line: str, order: str, tmp_path: Path) -> None:
    lines, by_hand = rewritten(tmp_path, line, order)
    assert not by_hand
    assert line not in lines
    if expected := WRITTEN[line, order]:
        assert expected in lines
        path = tmp_path / "program.c"
        path.write_text("\n".join(lines))
        (again,), _ = annotate([read_program(path)])
        assert again.order == order


@pytest.mark.parametrize(("line", "order"), BY_HAND)
def test_what_is_no_call_of_a_primitive_is_left_to_the_user(
    line: str, order: str, tmp_path: Path
) -> None:
    lines, (why,) = rewritten(tmp_path, line, order)
    assert line in lines
    assert BY_HAND[line, order] in why


def test_the_parts_of_an_operation_that_is_several_are_not_chosen(tmp_path: Path) -> None:
    path = program(
        tmp_path,
        ATOMIC,
        "atomic_dec_if_positive(&y); atomic_add_unless(&y, 1, 2);",
        "atomic_inc(&y);",
    )
    annotations, _ = annotate([read_program(path)])
    assert annotations == ()


def test_a_program_of_c_has_the_names_of_c(tmp_path: Path) -> None:
    path = tmp_path / "c.c"
    path.write_text(
        "#include <stdatomic.h>\nstatic atomic_int x;\nint main(void) { return atomic_load(&x); }"
    )
    (annotation,), _ = annotate([read_program(path)])
    assert not annotation.kernel
    assert annotation.named("acq") == "acq"
    assert annotation.spelled("acq") == "memory_order_acquire"


@pytest.mark.parametrize("kind", ["R", "W", "RMW", "CAS", "F"])
def test_every_strength_has_a_primitive(kind: str) -> None:
    of_kernel = Annotation(
        path="", file="", line=1, column=1, function="", kind=kind, order="", kernel=True
    )
    bottom = {"CAS": "rlx/rlx", "F": "none"}.get(kind, "rlx")
    orders = stronger(of_kernel.scale, bottom)
    assert len(orders) >= 2
    names = {of_kernel.named(order) for order in orders}
    assert len(names) == len(orders)
    assert not names & {"rlx", "acq", "rel", "sc"}
    assert all(at_most(bottom, order) for order in orders)


def test_a_fence_for_other_operations_is_needed_or_not() -> None:
    assert weaker("kernel F", "before-atomic") == ("none", "before-atomic")
    assert weaker("kernel F", "sync-rcu") == ("none", "rmb", "wmb", "sc", "sync-rcu")
    assert kernel_primitives.fence("before-atomic") == "smp_mb__before_atomic"
