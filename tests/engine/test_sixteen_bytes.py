"""cmpxchg16b reads and writes its 16 bytes as one access: no herd7 knows it, so what Intel's manual
and x86-TSO allow is written here."""

from __future__ import annotations

import pytest
from asking import answers

from weakspot.harness.corpus import models

EXCHANGE = "uint64_t {0}:rax={1}; uint64_t {0}:rdx={2}; uint64_t {0}:rbx={3}; uint64_t {0}:rcx={4};"


def states(first: str, second: str, rows: str, shown: str, model: str = "x86") -> set[str]:
    """The final states of two threads that reach x, two words of 1 and 2, through rsi."""
    test = f"""X86_64 T
{{ uint64_t x[2] = {{1,2}}; 0:rsi=x; 1:rsi=x; {first} {second} }}
 P0 | P1 ;
{rows}locations [{shown}]
"""
    (answer,) = answers([("T.litmus", test)], models.resolve(model).path)
    assert answer["reason"] == ""
    return {" ".join(state.values()) for state in answer["states"]}


def test_no_thread_sees_half_of_what_it_writes() -> None:
    rows = " lock cmpxchg16b (%rsi) | movq (%rsi),%rax ;\n | movq 8(%rsi),%rbx ;\n"
    loaded = "uint64_t 1:rax; uint64_t 1:rbx;"
    exchange = EXCHANGE.format(0, 1, 2, 3, 4)
    assert states(exchange, loaded, rows, "1:rax; 1:rbx;") == {"1 2", "1 4", "3 4"}


def test_it_reads_two_stores_in_their_order() -> None:
    rows = " movq $5,8(%rsi) | lock cmpxchg16b (%rsi) ;\n movq $6,(%rsi) | ;\n"
    fails = EXCHANGE.format(1, 9, 9, 3, 4)
    assert states("", fails, rows, "1:rax; 1:rdx;") == {"1 2", "1 5", "6 5"}


def test_of_two_exchanges_the_second_sees_the_first() -> None:
    rows = " lock cmpxchg16b (%rsi) | lock cmpxchg16b (%rsi) ;\n"
    both = [EXCHANGE.format(0, 1, 2, 3, 4), EXCHANGE.format(1, 3, 4, 7, 8)]
    assert states(both[0], both[1], rows, "1:rax; 1:rdx; x;") == {"1 2 {3,4}", "3 4 {7,8}"}


@pytest.mark.parametrize("at", ["8(%rsi)", "1(%rsi)"])
def test_an_access_that_is_not_aligned_has_no_answer(at: str) -> None:
    test = (
        f"X86_64 T\n{{ uint64_t x[4]; 0:rsi=x; }}\n P0 ;\n lock cmpxchg16b {at} ;\nforall (true)\n"
    )
    (answer,) = answers([("T.litmus", test)], models.resolve("x86").path)
    assert "is not aligned" in answer["reason"]
