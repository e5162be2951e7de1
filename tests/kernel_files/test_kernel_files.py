"""Files of the Linux kernel, unmodified, are read and explored under the kernel's own model; an
order that is removed is found, and so are mistakes that the kernel has corrected. Without a kernel
tree (`scripts/install-tools --kernel-tree`), these tests are skipped."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from kernel_drivers import (
    ADVICE,
    FEW,
    TABLE,
    Bug,
    Driver,
    explored,
    orders,
    part,
    removals,
    shows,
    tree,
)

import weakspot
from weakspot.system import kernel

SECONDS = 60.0


@pytest.fixture(scope="module")
def linux() -> Path:
    found = tree()
    if found is None or kernel.folder() is None:
        pytest.skip(f"there is no kernel tree, or no model: {ADVICE}; {kernel.ADVICE}")
    return found


def named(driver: Driver | Bug) -> str:
    return Path(driver.file).stem if isinstance(driver, Driver) else driver.title


@pytest.mark.parametrize("driver", TABLE.driver, ids=named)
def test_a_file_of_the_kernel_is_explored(driver: Driver, linux: Path, tmp_path: Path) -> None:
    assert driver.path.read_text().count("\n") <= 30
    seconds = FEW if driver.result == "Unknown" else SECONDS
    found = explored(driver, linux, tmp_path / "own", seconds=seconds)
    assert found.result == driver.result, (found.reasons, found.violations)


@pytest.mark.full
@pytest.mark.parametrize("driver", TABLE.driver, ids=named)
def test_each_order_is_found_when_it_is_removed_or_not_needed(
    driver: Driver, linux: Path, tmp_path: Path
) -> None:
    made = removals(driver, linux, tmp_path, seconds=SECONDS)
    assert {each.order: each.result for each in made} == driver.orders


@pytest.mark.parametrize("bug", TABLE.bug, ids=named)
def test_a_mistake_that_the_kernel_has_corrected_is_found_at_its_line(
    bug: Bug, linux: Path, tmp_path: Path
) -> None:
    driver = next(each for each in TABLE.driver if each.file == bug.driver)
    found = explored(driver, linux, tmp_path / "own", *bug.edits, seconds=SECONDS)
    assert found.result == "Violated", found.reasons
    file, text = bug.at
    edited = driver.texts(linux, bug.edits).get(file) or (linux / file).read_text()
    line = edited[: edited.index(text)].count("\n") + 1
    assert shows(found, file, line), found.violations


def test_the_program_of_the_page_is_safe(linux: Path, tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/linux-kernel.md").read_text()
    shown = page[page.index("    #include <weakspot/kernel_tree.h>") :]
    path = tmp_path / "page.c"
    path.write_text(textwrap.dedent(shown[: shown.index("The header stands for")]))
    build = weakspot.Build(include=(linux / "include",))
    (found,) = weakspot.explore([path], models=["lkmm"], build=build)
    assert found.result == "Safe", found.reasons


def test_orders_are_removed_from_the_text_of_a_function() -> None:
    text = """/* smp_mb() in a comment */
static int get(struct box *b)
{
	smp_wmb();
	smp_store_release(&b->x, f(1, 2));
	if (atomic_dec_and_test(&b->count) || cmpxchg_acquire(&b->y, 0, 1))
		smp_wmb();
}
"""
    found = list(orders(text, "box.c"))
    assert [(each.name, each.line) for each in found] == [
        ("get: smp_wmb", 4),
        ("get: smp_store_release", 5),
        ("get: atomic_dec_and_test", 6),
        ("get: cmpxchg_acquire", 6),
        ("get: smp_wmb 2", 7),
    ]
    weaker = [
        "((void)0);",
        "WRITE_ONCE(*(&b->x), f(1, 2));",
        "(atomic_dec_return_relaxed(&b->count) == 0) ||",
        "cmpxchg_relaxed(&b->y, 0, 1)",
        "((void)0);",
    ]
    for order, shown in zip(found, weaker, strict=True):
        assert shown in order.removed.new.split("\n")[order.line - 1]


def test_a_part_of_a_file_is_at_its_lines() -> None:
    text = "int a;\nstatic int f(void)\n{\n\treturn 1;\n}\n#define g(x) \\\n\tx\nint h(void);\n"
    assert part(text, ("f", "g")).split("\n") == ["", *text.split("\n")[1:7], "", ""]
