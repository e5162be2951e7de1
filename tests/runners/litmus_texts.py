"""Litmus tests that the tests of runners share."""

from __future__ import annotations

from weakspot.generators.litmus import Test

FENCE = "atomic_thread_fence(memory_order_seq_cst);"


def sb(name: str = "SB", between: str = "", order: str = "relaxed") -> Test:
    """Store buffering, with something between the store and the load of each thread."""
    text = rf"""C {name}
{{}}
P0 (atomic_int* x, atomic_int* y) {{
  atomic_store_explicit(x, 1, memory_order_{order});
  {between}
  int r0 = atomic_load_explicit(y, memory_order_{order});
}}
P1 (atomic_int* x, atomic_int* y) {{
  atomic_store_explicit(y, 1, memory_order_{order});
  {between}
  int r0 = atomic_load_explicit(x, memory_order_{order});
}}
exists (0:r0=0 /\ 1:r0=0)
"""
    return Test(name=name, arch="C", text=text)


def adders(threads: int, name: str = "many") -> Test:
    """So many threads that add one to the same location."""
    text = "\n".join(
        f"P{i} (atomic_int* x) {{\n  int r0 = atomic_fetch_add_explicit(x, 1, "
        f"memory_order_relaxed);\n}}"
        for i in range(threads)
    )
    return Test(name=name, arch="C", text=f"C {name}\n{{}}\n{text}\nexists (0:r0=1)\n")
