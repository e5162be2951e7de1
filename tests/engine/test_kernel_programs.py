"""Programs with the primitives of <weakspot/kernel.h>, under the Linux kernel's own model. Without
it (`scripts/install-tools --kernel-model`), those tests are skipped. That executions are those of
the kernel's litmus tests is compared in tests/agreement/test_kernel.py."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from explored_programs import MODELS

from weakspot._engine import Program
from weakspot.errors import BadInput
from weakspot.generators.source.frontend import compile_source
from weakspot.harness.checkers.engine_answers import reasons_of
from weakspot.harness.corpus import models
from weakspot.harness.values.reason import sentence

if TYPE_CHECKING:
    from weakspot._engine import ExplorationDict

MAIN = """
int main(void) {
    pthread_t p, q;
    void *first, *second;
    pthread_create(&p, 0, one, 0);
    pthread_create(&q, 0, two, 0);
    pthread_join(p, &first);
    pthread_join(q, &second);
    long a = (long)first, b = (long)second;
    (void)a; (void)b;
    BUG_ON(WRONG);
}
"""


def program(folder: Path, globals_: str, one: str, two: str, wrong: str) -> Program:
    """A program of two threads; `wrong` is what must not hold of what they return, `a` and `b`."""
    text = f"""#include <weakspot/kernel.h>
{globals_}
static void *one(void *unused) {{ {one} return 0; }}
static void *two(void *unused) {{ {two} return 0; }}
"""
    path = folder / "program.c"
    path.write_text(textwrap.dedent(text) + MAIN.replace("WRONG", wrong))
    return Program(compile_source(path).text)


@pytest.fixture
def model(kernel_model: Path) -> str:
    return str(kernel_model)


def explored(found: Program, model: str) -> ExplorationDict:
    folders = [str(each) for each in models.include_folders(models.resolve(model))]
    return found.explore(model, folders=folders, jobs=1)


def answer(found: ExplorationDict) -> str:
    kinds = sorted({violation["kind"] for violation in found["violations"]})
    return ", ".join([found["result"], *kinds])


SB = "atomic_t x = ATOMIC_INIT(0), y;"
LB = "int x, y, z;"
NODE = "struct node { int value; } zero, one_; struct node *gp = &zero; int y;"
RCU = """struct node { int value; struct rcu_head rcu; } zero = {1}, one_ = {1};
struct node *gp = &zero;"""
ANSWERS = {
    "a write and a read fence": (
        "int x, y;",
        "WRITE_ONCE(x, 1); smp_wmb(); WRITE_ONCE(y, 1);",
        "long r = READ_ONCE(y); smp_rmb(); return (void *)(r && !READ_ONCE(x));",
        "b",
        "Safe",
    ),
    "a write fence alone": (
        "int x, y;",
        "WRITE_ONCE(x, 1); smp_wmb(); WRITE_ONCE(y, 1);",
        "long r = READ_ONCE(y); return (void *)(r && !READ_ONCE(x));",
        "b",
        "Violated, assertion",
    ),
    "a read fence does not order a read that returns nothing": (
        SB,
        "atomic_inc(&x); smp_rmb(); return (void *)(long)atomic_read(&y);",
        "atomic_inc(&y); smp_mb__after_atomic(); return (void *)(long)atomic_read(&x);",
        "!a && !b",
        "Violated, assertion",
    ),
    "full fences after atomic operations": (
        SB,
        "atomic_inc(&x); smp_mb__after_atomic(); return (void *)(long)atomic_read(&y);",
        "atomic_xchg(&y, 1); return (void *)(long)atomic_read(&x);",
        "!a && !b",
        "Safe",
    ),
    "a compare-exchange that fails is no fence": (
        SB,
        "atomic_set(&x, 1); atomic_cmpxchg(&y, 5, 6); return (void *)(long)atomic_read(&y);",
        "atomic_xchg(&y, 1); return (void *)(long)atomic_read(&x);",
        "!a && !b",
        "Violated, assertion",
    ),
    "a decrement that finds no positive value is no fence": (
        SB,
        "atomic_set(&x, 1); atomic_dec_if_positive(&y); return (void *)(long)atomic_read(&y);",
        "atomic_xchg(&y, -1); return (void *)(long)atomic_read(&x);",
        "!a && !b",
        "Violated, assertion",
    ),
    "a decrement of a positive value is a fence": (
        "atomic_t x, y, z = ATOMIC_INIT(1);",
        "atomic_set(&x, 1); atomic_dec_if_positive(&z); return (void *)(long)atomic_read(&y);",
        "atomic_xchg(&y, 1); return (void *)(long)atomic_read(&x);",
        "!a && !b",
        "Safe",
    ),
    "a store after an increment that fails does not depend on it": (
        SB,
        "long r = atomic_inc_unless_negative(&x); atomic_set(&y, 1); return (void *)r;",
        "long r = atomic_read(&y); if (r) atomic_set(&x, -1); return (void *)r;",
        "!a && b",
        "Violated, assertion",
    ),
    "conditional updates compare as signed numbers": (
        "atomic_t x = ATOMIC_INIT(-4), y = ATOMIC_INIT(1); atomic64_t z = ATOMIC64_INIT(0);",
        "return (void *)(long)(atomic_dec_if_positive(&x) + !atomic_dec_if_positive(&y));",
        "return (void *)(atomic64_inc_unless_negative(&z) + !atomic_inc_unless_negative(&x) + 0L);",
        "a != -4 || b != 2 || atomic_read(&y) || atomic64_read(&z) != 1",
        "Safe",
    ),
    "stores in a branch follow what decides it": (
        LB,
        "long r = READ_ONCE(x); if (r) WRITE_ONCE(y, 1); return (void *)r;",
        "long r = READ_ONCE(y); if (r) WRITE_ONCE(x, 1); return (void *)r;",
        "a && b",
        "Safe",
    ),
    "stores after a branch do not": (
        LB,
        "long r = READ_ONCE(x); if (r) WRITE_ONCE(z, 1); WRITE_ONCE(y, 1); return (void *)r;",
        "long r = READ_ONCE(y); if (r) WRITE_ONCE(x, 1); return (void *)r;",
        "a && b",
        "Violated, assertion",
    ),
    "a branch on what a branch assigns": (
        LB,
        "long r = READ_ONCE(x), s = 0; if (r) s = 1; if (s) WRITE_ONCE(y, 1); return (void *)r;",
        "long r = READ_ONCE(y); if (r) WRITE_ONCE(x, 1); return (void *)r;",
        "a && b",
        "Safe",
    ),
    "a store of what a branch assigns": (
        LB,
        "long r = READ_ONCE(x), s = 1; if (r == 2) s = 2; WRITE_ONCE(y, s); return (void *)r;",
        "long r = READ_ONCE(y); if (r) WRITE_ONCE(x, 1); return (void *)r;",
        "a && b",
        "Violated, assertion",
    ),
    "stores after a loop follow what ends it": (
        LB,
        "while (!READ_ONCE(x)) cpu_relax(); WRITE_ONCE(y, 1);",
        "long r = READ_ONCE(y); WRITE_ONCE(x, 1 + r - r); return (void *)r;",
        "b",
        "Safe",
    ),
    "an assertion orders nothing": (
        LB,
        "long r = READ_ONCE(x); BUG_ON(r > 1); WRITE_ONCE(y, 1); return (void *)r;",
        "long r = READ_ONCE(y); if (r) WRITE_ONCE(x, 1); return (void *)r;",
        "a && b",
        "Violated, assertion",
    ),
    "an address orders the access, and no later store": (
        NODE,
        """struct node *p = rcu_dereference(gp); long r = READ_ONCE(p->value); WRITE_ONCE(y, 1);
        return (void *)(long)(p == &one_ && r == 0);""",
        "if (READ_ONCE(y)) rcu_assign_pointer(gp, &one_);",
        "a",
        "Violated, assertion",
    ),
    "a pointer is published": (
        NODE,
        "struct node *p = rcu_dereference(gp); return (void *)(long)(p == &one_ && !p->value);",
        "one_.value = 1; rcu_assign_pointer(gp, &one_);",
        "a",
        "Safe",
    ),
    "values of plain accesses may come from nowhere": (
        "int x, y;",
        "long r = x; if (r) WRITE_ONCE(y, 1); return (void *)r;",
        "long r = READ_ONCE(y); if (r) x = 1; return (void *)r;",
        "a && b",
        "Violated, assertion, race",
    ),
    "a grace period": (
        "int x, y;",
        """rcu_read_lock(); long r = READ_ONCE(x); long s = READ_ONCE(y); rcu_read_unlock();
        return (void *)(r && !s);""",
        "WRITE_ONCE(y, 1); synchronize_rcu(); WRITE_ONCE(x, 1);",
        "a",
        "Safe",
    ),
    "an assertion in a critical section, before a grace period": (
        "int x, y;",
        """rcu_read_lock(); long r = READ_ONCE(x); long s = READ_ONCE(y); BUG_ON(r && !s);
        rcu_read_unlock();""",
        "WRITE_ONCE(y, 1); synchronize_rcu(); WRITE_ONCE(x, 1);",
        "0",
        "Safe",
    ),
    "an assertion in a critical section": (
        "int x, y;",
        """rcu_read_lock(); long r = READ_ONCE(x); long s = READ_ONCE(y); BUG_ON(r && !s);
        rcu_read_unlock();""",
        "WRITE_ONCE(y, 1); WRITE_ONCE(x, 1);",
        "0",
        "Violated, assertion",
    ),
    "a reader that is in no critical section": (
        "int x, y;",
        "long r = READ_ONCE(x); long s = READ_ONCE(y); return (void *)(r && !s);",
        "WRITE_ONCE(y, 1); synchronize_rcu(); WRITE_ONCE(x, 1);",
        "a",
        "Violated, assertion",
    ),
    "a critical section that is not left": (
        "int x;",
        "rcu_read_lock(); WRITE_ONCE(x, 1);",
        "",
        "0",
        "Violated, flag",
    ),
    "a lock": (
        "DEFINE_SPINLOCK(l); int x;",
        "spin_lock(&l); x++; spin_unlock(&l);",
        "spin_lock(&l); x++; spin_unlock(&l);",
        "x != 2",
        "Safe",
    ),
    "two locks": (
        "DEFINE_SPINLOCK(l); DEFINE_SPINLOCK(m); int x;",
        "spin_lock(&l); x++; spin_unlock(&l);",
        "spin_lock(&m); x++; spin_unlock(&m);",
        "0",
        "Violated, race",
    ),
    "locks in opposite orders": (
        "DEFINE_SPINLOCK(l); DEFINE_SPINLOCK(m);",
        "spin_lock(&l); spin_lock(&m); spin_unlock(&m); spin_unlock(&l);",
        "spin_lock(&m); spin_lock(&l); spin_unlock(&l); spin_unlock(&m);",
        "0",
        "Violated, hang",
    ),
    "a lock that is tried": (
        "DEFINE_SPINLOCK(l); int x;",
        "if (!spin_trylock(&l)) return (void *)1; x++; spin_unlock(&l);",
        "spin_lock(&l); x++; spin_unlock(&l);",
        "x != 2 - a",
        "Safe",
    ),
    "a failed try orders nothing": (
        "DEFINE_SPINLOCK(l); int x;",
        """if (spin_trylock(&l)) { spin_unlock(&l); return 0; }
        return (void *)(long)!READ_ONCE(x);""",
        "WRITE_ONCE(x, 1); spin_lock(&l); spin_unlock(&l);",
        "a",
        "Violated, assertion",
    ),
    "a lock that the thread holds": (
        "DEFINE_RAW_SPINLOCK(l); unsigned long f;",
        "raw_spin_lock_irqsave(&l, f); BUG_ON(!raw_spin_is_locked(&l) || raw_spin_trylock(&l));",
        "",
        "0",
        "Safe",
    ),
    "a lock that is free again": (
        "DEFINE_SPINLOCK(l); int x;",
        "spin_lock(&l); WRITE_ONCE(x, 1); spin_unlock(&l);",
        "long r = READ_ONCE(x); smp_rmb(); return (void *)(r && spin_is_locked(&l));",
        "0",
        "Safe",
    ),
    "a lock is released before it is seen to be": (
        "DEFINE_SPINLOCK(l); int x;",
        "spin_lock(&l); WRITE_ONCE(x, 1); spin_unlock(&l);",
        "long r = READ_ONCE(x); smp_rmb(); return (void *)(r && spin_is_locked(&l));",
        "b",
        "Violated, assertion",
    ),
    "a grace period of SRCU": (
        "int x, y; DEFINE_STATIC_SRCU(ss);",
        """int i = srcu_read_lock(&ss); long r = READ_ONCE(x); long s = READ_ONCE(y);
        srcu_read_unlock(&ss, i); return (void *)(r && !s);""",
        "WRITE_ONCE(y, 1); synchronize_srcu(&ss); WRITE_ONCE(x, 1);",
        "a",
        "Safe",
    ),
    "a grace period of another structure": (
        "int x, y; DEFINE_SRCU(ss); DEFINE_SRCU(other);",
        """int i = srcu_read_lock(&ss); long r = READ_ONCE(x); long s = READ_ONCE(y);
        srcu_read_unlock(&ss, i); return (void *)(r && !s);""",
        "WRITE_ONCE(y, 1); synchronize_srcu(&other); WRITE_ONCE(x, 1);",
        "a",
        "Violated, assertion",
    ),
    "an index of another critical section": (
        "DEFINE_SRCU(ss);",
        """int i = srcu_read_lock(&ss); srcu_read_unlock(&ss, i);
        srcu_read_lock(&ss); srcu_read_unlock(&ss, i);""",
        "",
        "0",
        "Violated, flag",
    ),
    "a wait for a lock in a critical section": (
        "DEFINE_SPINLOCK(l); int x;",
        "rcu_read_lock(); spin_lock(&l); x++; spin_unlock(&l); rcu_read_unlock();",
        "rcu_read_lock(); spin_lock(&l); x++; spin_unlock(&l); rcu_read_unlock();",
        "x != 2",
        "Safe",
    ),
    "a callback": (
        f"{RCU} static void ends(struct rcu_head *h) {{ zero.value = 0; }}",
        """rcu_read_lock(); struct node *p = rcu_dereference(gp); BUG_ON(!p->value);
        rcu_read_unlock();""",
        "rcu_assign_pointer(gp, &one_); call_rcu(&zero.rcu, ends);",
        "0",
        "Safe",
    ),
    "a callback without critical section": (
        f"{RCU} static void ends(struct rcu_head *h) {{ WRITE_ONCE(zero.value, 0); }}",
        "struct node *p = rcu_dereference(gp); BUG_ON(!READ_ONCE(p->value));",
        "rcu_assign_pointer(gp, &one_); call_rcu(&zero.rcu, ends);",
        "0",
        "Violated, assertion",
    ),
    "all callbacks": (
        f"{RCU} static void ends(struct rcu_head *h) {{ zero.value = 0; }}",
        "call_rcu(&zero.rcu, ends); rcu_barrier(); BUG_ON(zero.value);",
        "",
        "0",
        "Safe",
    ),
    "a callback is not waited for": (
        f"{RCU} static void ends(struct rcu_head *h) {{ WRITE_ONCE(zero.value, 0); }}",
        "call_rcu(&zero.rcu, ends); synchronize_rcu(); BUG_ON(READ_ONCE(zero.value));",
        "",
        "0",
        "Violated, assertion",
    ),
    "a free after a grace period": (
        "int one_, *gp;",
        "rcu_read_lock(); int *p = rcu_dereference(gp); if (p) (void)*p; rcu_read_unlock();",
        """int *p = kzalloc(4, GFP_KERNEL); rcu_assign_pointer(gp, p);
        rcu_assign_pointer(gp, &one_); synchronize_rcu(); kfree(p);""",
        "0",
        "Safe",
    ),
    "a free at once": (
        "int one_, *gp;",
        "rcu_read_lock(); int *p = rcu_dereference(gp); if (p) (void)*p; rcu_read_unlock();",
        """int *p = kzalloc(4, GFP_KERNEL); rcu_assign_pointer(gp, p);
        rcu_assign_pointer(gp, &one_); kfree(p);""",
        "0",
        "Violated, memory",
    ),
    "a reader and a writer": (
        "DEFINE_RWLOCK(l); int x, y;",
        "read_lock(&l); BUG_ON(x != y); read_unlock(&l);",
        "write_lock(&l); x++; y++; write_unlock(&l);",
        "0",
        "Safe",
    ),
    "a reader that writes": (
        "DEFINE_RWLOCK(l); int x;",
        "read_lock(&l); x++; read_unlock(&l);",
        "read_lock(&l); x++; read_unlock(&l);",
        "0",
        "Violated, race",
    ),
    "readers and writers in opposite orders": (
        "DEFINE_RWLOCK(l); DEFINE_RWLOCK(m);",
        "read_lock(&l); write_lock(&m); write_unlock(&m); read_unlock(&l);",
        "read_lock(&m); write_lock(&l); write_unlock(&l); read_unlock(&m);",
        "0",
        "Violated, hang",
    ),
    "a bit that is set and tested": (
        "unsigned long b[2]; int x;",
        "x = 1; smp_mb__before_atomic(); set_bit(70, b);",
        "if (test_and_clear_bit(70, b)) BUG_ON(!x);",
        "0",
        "Safe",
    ),
    "a bit that orders nothing": (
        "unsigned long b[2]; int x;",
        "WRITE_ONCE(x, 1); set_bit(70, b);",
        "return (void *)(long)(test_and_clear_bit(70, b) && !READ_ONCE(x));",
        "b",
        "Violated, assertion",
    ),
    "a sequence lock": (
        "DEFINE_SEQLOCK(l); int x, y;",
        """unsigned s; int r, q; do { s = read_seqbegin(&l); r = READ_ONCE(x); q = READ_ONCE(y); }
        while (read_seqretry(&l, s)); return (void *)(long)(r != q);""",
        "write_seqlock(&l); WRITE_ONCE(x, 1); WRITE_ONCE(y, 1); write_sequnlock(&l);",
        "a",
        "Safe",
    ),
    "a completion": (
        "DECLARE_COMPLETION(c); int x;",
        "wait_for_completion(&c); BUG_ON(!x);",
        "x = 1; complete(&c);",
        "0",
        "Safe",
    ),
    "a completion that does not come": (
        "DECLARE_COMPLETION(c);",
        "wait_for_completion(&c);",
        "",
        "0",
        "Violated, hang",
    ),
    "a wait for a flag": (
        "int x, y;",
        "x = 1; smp_store_release(&y, 1);",
        "while (!smp_load_acquire(&y)) cpu_relax(); return (void *)(long)!x;",
        "b",
        "Safe",
    ),
    "a wait after a store": (
        "int state, ready;",
        "smp_store_mb(state, 2); if (!READ_ONCE(ready)) smp_cond_load_relaxed(&state, VAL == 0);",
        "WRITE_ONCE(ready, 1); smp_mb(); WRITE_ONCE(state, 0);",
        "0",
        "Safe",
    ),
    "a wait after a store that may be overtaken": (
        "int state, ready;",
        "smp_store_mb(state, 2); if (!READ_ONCE(ready)) smp_cond_load_relaxed(&state, VAL == 0);",
        "WRITE_ONCE(ready, 1); smp_wmb(); WRITE_ONCE(state, 0);",
        "0",
        "Violated, hang",
    ),
    "a relaxed wait for a flag": (
        "int x, y;",
        "x = 1; smp_store_release(&y, 1);",
        "smp_cond_load_relaxed(&y, VAL); return (void *)(long)!x;",
        "0",
        "Violated, race",
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_programs_of_the_kernel_are_answered_as_its_model_says(
    name: str, model: str, tmp_path: Path
) -> None:
    *text, expected = ANSWERS[name]
    found = explored(program(tmp_path, *text), model)
    assert answer(found) == expected, found["reasons"]


def test_a_primitive_that_the_header_lacks_is_reported_at_its_place(tmp_path: Path) -> None:
    with pytest.raises(BadInput) as raised:
        program(tmp_path, "int x;", "wake_up_process(&x);", "", "0")
    assert raised.value.place is not None
    assert raised.value.place.endswith("program.c:3:34")
    assert "<weakspot/kernel.h> does not have it" in (raised.value.advice or "")


def test_three_threads_take_a_lock(model: str, tmp_path: Path) -> None:
    path = tmp_path / "three.c"
    path.write_text("""#include <weakspot/kernel.h>
struct counter { spinlock_t lock; int value; };
static void *adds(void *argument) {
    struct counter *counter = argument;
    spin_lock(&counter->lock); counter->value++; spin_unlock(&counter->lock);
    return 0;
}
int main(void) {
    pthread_t threads[3];
    struct counter *counter = kmalloc(sizeof(*counter), GFP_KERNEL);
    spin_lock_init(&counter->lock);
    counter->value = 0;
    for (int n = 0; n < 3; n++) pthread_create(&threads[n], 0, adds, counter);
    for (int n = 0; n < 3; n++) pthread_join(threads[n], 0);
    BUG_ON(counter->value != 3);
}
""")
    found = explored(Program(compile_source(path).text), model)
    assert answer(found) == "Safe", found["reasons"]


def test_three_threads_increase_a_counter_twice(model: str, tmp_path: Path) -> None:
    path = tmp_path / "counter.c"
    path.write_text("""#include <weakspot/kernel.h>
static atomic_t count;
static void *adds(void *unused) {
    atomic_add_return(1, &count);
    atomic_add_return(2, &count);
    return 0;
}
int main(void) {
    pthread_t threads[3];
    for (int n = 0; n < 3; n++) pthread_create(&threads[n], 0, adds, 0);
    for (int n = 0; n < 3; n++) pthread_join(threads[n], 0);
    BUG_ON(atomic_read(&count) != 9);
}
""")
    found = explored(Program(compile_source(path).text), model)
    assert answer(found) == "Safe", found["reasons"]
    assert found["complete"] == 90  # the orders of six updates, two of each thread in turn


def test_a_conditional_update_is_one_operation(model: str, tmp_path: Path) -> None:
    path = tmp_path / "tokens.c"
    path.write_text("""#include <weakspot/kernel.h>
static atomic_t tokens = ATOMIC_INIT(2);
static void *takes(void *unused) { return (void *)(long)(atomic_dec_if_positive(&tokens) >= 0); }
int main(void) {
    pthread_t threads[3];
    void *taken;
    long sum = 0;
    for (int n = 0; n < 3; n++) pthread_create(&threads[n], 0, takes, 0);
    for (int n = 0; n < 3; n++) pthread_join(threads[n], &taken), sum += (long)taken;
    BUG_ON(sum != 2 || atomic_read(&tokens));
}
""")
    found = explored(Program(compile_source(path).text), model)
    assert answer(found) == "Safe", found["reasons"]
    assert found["complete"] == 6  # the orders of the threads; a loop has 48


def test_a_fence_of_main_is_part_of_the_initial_state(model: str, tmp_path: Path) -> None:
    path = tmp_path / "fence.c"
    path.write_text("""#include <weakspot/kernel.h>
static spinlock_t lock;
static atomic_t count;
static void *adds(void *unused) { spin_lock(&lock); spin_unlock(&lock); return 0; }
int main(void) {
    pthread_t thread;
    smp_mb__before_atomic(); atomic_inc(&count); smp_mb__after_atomic();
    smp_rmb(); barrier(); smp_wmb();
    spin_lock_init(&lock);
    pthread_create(&thread, 0, adds, 0);
    pthread_join(thread, 0);
}
""")
    found = explored(Program(compile_source(path).text), model)
    assert answer(found) == "Safe", found["reasons"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("spin_lock(&l);", "spin_unlock(&l);", "Safe"),
        ("rcu_read_lock();", "rcu_read_unlock();", "Safe"),
        ("rcu_read_lock();", "", "Violated, flag"),
        ("int i = srcu_read_lock(&ss);", "srcu_read_unlock(&ss, i);", "Safe"),
    ],
)
def test_main_may_start_a_thread_in_a_critical_section(
    before: str, after: str, expected: str, model: str, tmp_path: Path
) -> None:
    path = tmp_path / "started.c"
    path.write_text(f"""#include <weakspot/kernel.h>
DEFINE_SPINLOCK(l); DEFINE_SRCU(ss); int x;
static void *one(void *unused) {{
    spin_lock(&l); WRITE_ONCE(x, x + 1); spin_unlock(&l); return 0;
}}
int main(void) {{
    pthread_t p;
    x = 1;
    {before} pthread_create(&p, 0, one, 0); {after}
    pthread_join(p, 0);
    BUG_ON(x != 2);
}}
""")
    found = explored(Program(compile_source(path).text), model)
    assert answer(found) == expected, found["reasons"]


@pytest.mark.parametrize(
    "operation",
    [
        "__atomic_store_n(&x, 1, __ATOMIC_SEQ_CST);",
        "__atomic_exchange_n(&x, 1, __ATOMIC_ACQ_REL);",
        "__atomic_thread_fence(__ATOMIC_RELEASE);",
        "spin_lock_init(&l);",
    ],
)
def test_what_the_kernel_has_not_is_reported(operation: str, model: str, tmp_path: Path) -> None:
    globals_ = "int x; DEFINE_SPINLOCK(l);"
    found = explored(program(tmp_path, globals_, operation, "spin_lock(&l);", "0"), model)
    assert "program.c:3:" in found["reasons"][0]["site"]
    assert "gives no meaning to" in found["reasons"][0]["message"]
    assert found["result"] != "Safe"


@pytest.mark.parametrize("operation", ["smp_wmb();", "synchronize_rcu();", "atomic_inc(&x);"])
def test_other_models_say_which_model_to_name(operation: str, tmp_path: Path) -> None:
    made = program(tmp_path, SB, operation, "atomic_read(&x);", "0")
    for name, acyclic in (("rc20", "program order"), ("imm", "dependencies")):
        found = made.explore(str(MODELS / f"{name}.cat"), acyclic=acyclic)  # type: ignore[arg-type]
        assert found["result"] == "Unknown"
        assert "-m lkmm" in sentence(reasons_of(found)[0])


def test_accesses_and_full_fences_mean_what_those_of_c_do_under_other_models(
    tmp_path: Path,
) -> None:
    one = "WRITE_ONCE(x, 1); smp_mb(); return (void *)(long)READ_ONCE(y);"
    two = "WRITE_ONCE(y, 1); smp_mb(); return (void *)(long)READ_ONCE(x);"
    for text, result in ((one, "Safe"), (one.replace("smp_mb();", ""), "Violated")):
        made = program(tmp_path, "int x, y;", text, two, "!a && !b")
        found = made.explore(str(MODELS / "rc20.cat"), acyclic="program order")
        assert found["result"] == result
