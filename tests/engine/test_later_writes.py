"""A read waits for a later write that is seen in other executions only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from explored_programs import MODELS, kinds, program

if TYPE_CHECKING:
    from pathlib import Path

    from weakspot._engine import Acyclic

EXCHANGES = """
atomic_int x; int seen;
void *take(void *unused) { atomic_fetch_or_explicit(&x, 2, memory_order_relaxed); return 0; }
void *start(void *unused) {
    int none = 0;
    seen = atomic_compare_exchange_strong_explicit(
        &x, &none, 1, memory_order_acquire, memory_order_acquire);
    return 0;
}
"""


@pytest.mark.parametrize("model", ["sc", "rc20", "imm", "aarch64-programs", "power-programs"])
def test_an_exchange_that_fails_elsewhere_may_come_first(tmp_path: Path, model: str) -> None:
    """The write of a compare-exchange is seen in executions in which it succeeds."""
    for result in (0, 1):
        both = program(tmp_path, EXCHANGES, "take", "start", after=f"assert(seen != {result});")
        how: Acyclic = "program order" if model in {"sc", "rc20"} else "dependencies"
        found = both.explore(str(MODELS / f"{model}.cat"), folders=[str(MODELS)], acyclic=how)
        assert kinds(found) == {"assertion"}
