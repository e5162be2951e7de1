"""Litmus tests that grow: families whose executions multiply with each thread, by size.

Each is a known hard case of enumeration: many writes of one location, whose orders multiply;
read-modify-writes, of which most orders are impossible; loops that are unrolled; and rings and
chains, where the threads multiply.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

RELAXED = "memory_order_relaxed"


class Series(NamedTuple):
    name: str
    model: str
    """A cat file of herd7's library."""
    sizes: range
    """From the smallest that says something; herd7 gives up long before the last."""
    test: Callable[[int], str]


def c(name: str, threads: Sequence[Sequence[str]], locations: Sequence[str], asked: str) -> str:
    """A C test; a thread `i` may name a location of its own `e{i}`."""
    parameters = ", ".join(f"atomic_int* {location}" for location in locations)
    functions = [
        f"P{i} ({parameters}, int* e{i}) {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"
        for i, lines in enumerate(threads)
    ]
    return "\n".join([f"C {name}", "{}", "", *functions, f"exists ({asked})\n"])


def assembly(
    dialect: str, name: str, pointer: str, threads: Sequence[Sequence[str]], asked: str
) -> str:
    """A test in assembly; each thread's register `pointer` holds the address of x."""
    init = " ".join(f"{i}:{pointer}=x;" for i in range(len(threads)))
    rows = [[f"P{i}" for i in range(len(threads))], *zip(*threads, strict=True)]
    table = "\n".join(" " + " | ".join(row) + " ;" for row in rows)
    return f"{dialect} {name}\n{{ {init} }}\n{table}\nexists ({asked})\n"


def store(location: str, value: int) -> str:
    return f"atomic_store_explicit({location}, {value}, {RELAXED});"


def load(register: str, location: str) -> str:
    return f"int {register} = atomic_load_explicit({location}, {RELAXED});"


def cas(i: int, strength: str = "strong") -> str:
    return f"atomic_compare_exchange_{strength}_explicit(x, e{i}, {i + 1}, {RELAXED}, {RELAXED})"


def each(n: int, lines: Callable[[int], list[str]], asked: str, name: str) -> str:
    """`n` threads, alike, on one location."""
    return c(f"{name}{n}", [lines(i) for i in range(n)], ["x"], asked)


def ring(n: int) -> str:
    """SB of n threads: each stores to its location and reads the next one's."""
    places = [f"x{i}" for i in range(n)]
    threads = [[store(places[i], 1), load("r0", places[(i + 1) % n])] for i in range(n)]
    return c(f"ring{n}", threads, places, " /\\ ".join(f"{i}:r0=0" for i in range(n)))


def chain(n: int) -> str:
    """MP through n threads: the first sends, each forwards, the last reads."""
    places = ["x", *(f"y{i}" for i in range(1, n))]
    threads = [[store("x", 1), store("y1", 1)]]
    threads += [[load("r0", f"y{i}"), store(f"y{i + 1}", 1)] for i in range(1, n - 1)]
    threads += [[load("r0", f"y{n - 1}"), load("r1", "x")]]
    received = " /\\ ".join(f"{i}:r0=1" for i in range(1, n))
    return c(f"chain{n}", threads, places, f"{received} /\\ {n - 1}:r1=0")


def readers(n: int) -> str:
    """Two writers of one location and n threads that read it twice."""
    writers = [[store("x", 1)], [store("x", 2)]]
    reading = [[load("r0", "x"), load("r1", "x")] for _ in range(n)]
    return c(f"readers{n}", [*writers, *reading], ["x"], "2:r0=1 /\\ 2:r1=2")


def stored_then_read(n: int) -> str:
    """In AArch64: each thread stores to x, then reads it."""
    threads = [[f"MOV W0,#{i + 1}", "STR W0,[X1]", "LDR W2,[X1]"] for i in range(n)]
    return assembly("AArch64", f"store-read{n}", "X1", threads, "0:X2=2")


def exclusives(dialect: str, pointer: str, loop: Sequence[str]) -> Callable[[int], str]:
    """n threads that increment x; `{i}` in the loop is the thread."""

    def test(n: int) -> str:
        threads = [[line.format(i=i) for line in loop] for i in range(n)]
        return assembly(dialect, f"increments{n}", pointer, threads, f"[x]={n}")

    return test


SERIES = (
    Series(
        "store, then read",
        "rc11.cat",
        range(2, 9),
        lambda n: each(n, lambda i: [store("x", i + 1), load("r0", "x")], "0:r0=2", "store-read"),
    ),
    Series("store, then read, AArch64", "aarch64.cat", range(2, 7), stored_then_read),
    Series(
        "3 stores per thread",
        "rc11.cat",
        range(1, 6),
        lambda n: each(n, lambda i: [store("x", 3 * i + k) for k in (1, 2, 3)], "x=1", "stores"),
    ),
    Series(
        "exchanges",
        "rc11.cat",
        range(2, 9),
        lambda n: each(
            n,
            lambda i: [f"int r0 = atomic_exchange_explicit(x, {i + 1}, {RELAXED});"],
            "0:r0=0",
            "exchange",
        ),
    ),
    Series(
        "fetch_adds",
        "rc11.cat",
        range(2, 10),
        lambda n: each(
            n, lambda _: [f"int r0 = atomic_fetch_add_explicit(x, 1, {RELAXED});"], "0:r0=0", "add"
        ),
    ),
    Series(
        "compare-exchanges",
        "rc11.cat",
        range(2, 11),
        lambda n: each(n, lambda i: [f"int r0 = {cas(i)};"], "0:r0=1", "cas"),
    ),
    Series(
        "compare-exchange loops",
        "rc11.cat",
        range(2, 5),
        lambda n: each(
            n,
            lambda i: ["int r0 = 0;", f"while (r0 == 0) {{ r0 = {cas(i, 'weak')}; }}"],
            "x=1",
            "cas-loop",
        ),
    ),
    Series(
        "exclusive loops, AArch64",
        "aarch64.cat",
        range(2, 5),
        exclusives(
            "AArch64",
            "X1",
            ["L{i}: LDXR W0,[X1]", "ADD W2,W0,#1", "STXR W3,W2,[X1]", "CBNZ W3,L{i}"],
        ),
    ),
    Series(
        "exclusive loops, PPC",
        "ppc.cat",
        range(2, 5),
        exclusives(
            "PPC", "r2", ["L{i}: lwarx r1,r0,r2", "addi r3,r1,1", "stwcx. r3,r0,r2", "bne L{i}"]
        ),
    ),
    Series(
        "exclusive loops, RISCV",
        "riscv.cat",
        range(2, 5),
        exclusives(
            "RISCV",
            "x6",
            ["L{i}: lr.w x5,0(x6)", "addi x7,x5,1", "sc.w x8,x7,0(x6)", "bne x8,x0,L{i}"],
        ),
    ),
    Series("SB rings", "rc11.cat", range(2, 11), ring),
    Series("MP chains", "rc11.cat", range(2, 11), chain),
    Series("2 writers and readers", "rc11.cat", range(1, 8), readers),
)
