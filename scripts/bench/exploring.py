"""C programs that grow: the families on which explorers are usually compared.

Each is written with pthreads and C11 atomics, as a program that a person gives to `weakspot check`.
How many executions a program has is known for most of them, so that a wrong count shows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

HEAD = """#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

"""


class Family(NamedTuple):
    name: str
    sizes: Sequence[int]
    program: Callable[[int], str]
    executions: Callable[[int], int] | None = None
    """How many there are under each of the models, where one knows."""


def program(shared: str, threads: Sequence[str], check: str = "") -> str:
    """Main starts a thread for each body, waits for all, and checks."""
    functions = "".join(
        f"static void *run{i}(void *unused) {{\n    {body}\n    return 0;\n}}\n\n"
        for i, body in enumerate(threads)
    )
    n = len(threads)
    starts = "".join(f"    pthread_create(&t[{i}], 0, run{i}, 0);\n" for i in range(n))
    joins = "".join(f"    pthread_join(t[{i}], 0);\n" for i in range(n)) if check else ""
    main = (
        f"int main(void) {{\n    pthread_t t[{n}];\n{starts}{joins}    {check}\n    return 0;\n}}\n"
    )
    return HEAD + shared + "\n\n" + functions + main


def load(name: str) -> str:
    return f"atomic_load_explicit(&{name}, memory_order_acquire)"


def store(name: str, value: str) -> str:
    return f"atomic_store_explicit(&{name}, {value}, memory_order_release);"


def incrementers(n: int) -> str:
    body = "atomic_fetch_add_explicit(&x, 1, memory_order_acq_rel);"
    return program("atomic_int x;", [body] * n, f"assert({load('x')} == {n});")


def readers(n: int) -> str:
    """A writer of each of n values, and two readers."""
    writes = [store("x", str(i + 1)) for i in range(n)]
    return program("atomic_int x;", [*writes, f"(void){load('x')};", f"(void){load('x')};"])


def fibonacci(n: int) -> str:
    def body(mine: str, other: str) -> str:
        return f"for (int i = 0; i < {n}; i++) {store(mine, f'{load(mine)} + {load(other)}')}"

    return program("atomic_int x = 1, y = 1;", [body("x", "y"), body("y", "x")])


def rotation(n: int) -> str:
    """Each thread waits for its number and passes the next on by compare-exchange."""
    bodies = [
        f"int expected = {i}; atomic_compare_exchange_strong(&x, &expected, {i + 1});"
        for i in range(n)
    ]
    return program("atomic_int x;", bodies)


def last_zero(n: int) -> str:
    """One looks for the last 0 of an array while others make each entry follow the one before."""
    search = f"int i = {n}; while ({load('a[i]')} != 0) i--;"
    steps = [store(f"a[{i}]", f"{load(f'a[{i - 1}]')} + 1") for i in range(1, n + 1)]
    return program(f"atomic_int a[{n + 1}];", [search, *steps])


def indexer(n: int) -> str:
    """Threads put their numbers into a table: two begin at each index and proceed to a free one."""
    bodies = [
        f"int at = {w // 2}; int free = 0;\n"
        f"    while (!atomic_compare_exchange_strong(&table[at], &free, {w + 1})) "
        f"{{ at = (at + 1) % {n}; free = 0; }}"
        for w in range(n)
    ]
    return program(f"atomic_int table[{n}];", bodies)


def locks(n: int) -> str:
    body = "pthread_mutex_lock(&m); x++; pthread_mutex_unlock(&m);"
    shared = "static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;\nstatic int x;"
    return program(shared, [body] * n, f"assert(x == {n});")


FAMILIES = (
    Family("incrementers", range(4, 9), incrementers, math.factorial),
    Family("writers", range(3, 8), readers, lambda n: math.factorial(n) * (n + 1) ** 2),
    Family("fibonacci", range(2, 6), fibonacci),
    Family("rotation", range(3, 9), rotation),
    Family("last zero", range(3, 11), last_zero),
    Family("indexer", range(2, 6), indexer),
    Family("locks", range(3, 7), locks, math.factorial),
)
