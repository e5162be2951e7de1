"""Litmus tests that every checker is asked about."""

from __future__ import annotations

from collections.abc import Sequence

from weakspot.generators.litmus import Test
from weakspot.harness.checkers import Checker
from weakspot.harness.corpus import models
from weakspot.harness.values.verdict import Verdict

SB = r"""C SB
{}
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(y, memory_order_relaxed);
}
P1 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(y, 1, memory_order_relaxed);
  int r0 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (0:r0=0 /\ 1:r0=0)
"""
MP = r"""C MP
{}
P0 (atomic_int* x, atomic_int* y) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
  atomic_store_explicit(y, 1, memory_order_release);
}
P1 (atomic_int* x, atomic_int* y) {
  int r0 = atomic_load_explicit(y, memory_order_acquire);
  int r1 = atomic_load_explicit(x, memory_order_relaxed);
}
exists (1:r0=1 /\ 1:r1=0)
"""
RACE = """C race
{}
P0 (int* x) {
  *x = 1;
}
P1 (int* x) {
  int r0 = *x;
}
exists (1:r0=0)
"""
LOOP = """C loop
{}
P0 (atomic_int* x) {
  int r1 = 0;
  while (r1 == 0) { r1 = atomic_load_explicit(x, memory_order_relaxed); }
}
P1 (atomic_int* x) {
  atomic_store_explicit(x, 1, memory_order_relaxed);
}
exists (0:r1=1)
"""
X86 = """X86_64 SBx
{}
 P0          | P1          ;
 movl $1,(x) | movl $1,(y) ;
 movl (y),%eax | movl (x),%eax ;
exists (0:rax=0)
"""


def made(text: str, name: str | None = None, path: str | None = None) -> Test:
    return Test(name=name or text.split()[1], arch=text.split()[0], text=text, path=path)


def asked(
    checker: Checker, tests: Sequence[Test], model: str, seconds: float = 10.0
) -> list[Verdict]:
    verdicts: list[Verdict] = []
    checker.check(tests, models.resolve(model), seconds=seconds, done=verdicts.append)
    return verdicts
