"""Programs of C in which atomic accesses of 4 and 8 bytes overlap, explored under tso and the model
of AArch64, against enumeration of the assembly that compilers map them to. The engine enumerates
such tests as herd7 does (test_mixed_accesses.py)."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest
from asking import answers

from weakspot import _engine
from weakspot.generators.source.frontend import compile_source
from weakspot.harness.corpus import models

ONES = 2**32 + 1
"""Times a number: that number in both halves."""


class Step(msgspec.Struct, frozen=True):
    """A load, a store of `value` or an exchange, of `size` bytes from an `offset` in x; or a
    seq_cst fence, of no bytes."""

    kind: str
    size: int = 0
    offset: int = 0
    order: str = "relaxed"
    value: int = 0

    @property
    def reads(self) -> bool:
        return self.kind in ("load", "exchange")


Threads = Sequence[Sequence[Step]]


class Machine(msgspec.Struct, frozen=True):
    """How a machine's litmus test is written. `model` is that of its tests, `programs` that of
    programs; `base` holds the address of x, and `registers` what is loaded and stored."""

    model: str
    programs: str
    dialect: str
    base: str
    registers: tuple[str, ...]

    def line(self, step: Step, register: str) -> list[str]:
        if self.dialect == "X86_64":
            suffix, name = ("q", f"%{register}") if step.size == 8 else ("l", f"%e{register[1:]}")
            at = f"{step.offset or ''}(%{self.base})"
            return {
                "load": [f"mov{suffix} {at},{name}"],
                "store": [f"mov{suffix} {name},{at}"],
                "exchange": [f"xchg{suffix} {name},{at}"],
                "fence": ["mfence"],
            }[step.kind]
        name, at = f"{'X' if step.size == 8 else 'W'}{register[1:]}", "[X10]"
        place = [f"ADD X10,X9,#{step.offset}"]
        load = "LDR" if step.order == "relaxed" else "LDAR"
        store = "STR" if step.order == "relaxed" else "STLR"
        return {
            "load": [*place, f"{load} {name},{at}"],
            "store": [*place, f"{store} {name},{at}"],
            "exchange": [*place, f"SWP {name},{name},{at}"],
            "fence": ["DMB SY"],
        }[step.kind]


X86 = Machine("x86", "tso", "X86_64", "r8", ("rax", "rbx", "rcx", "rdx", "rsi"))
ARM = Machine("aarch64", "aarch64", "AArch64", "X9", ("X0", "X1", "X2", "X3", "X4"))


def random_threads(chance: random.Random) -> Threads:
    """Two or three threads, at least two accesses of which have different sizes."""
    while True:
        count = chance.choice([2, 2, 2, 3])
        threads = [
            [_step(chance, 5 * thread + number + 1) for number in range(chance.choice([2, 3]))]
            for thread in range(count)
        ]
        if len({step.size for thread in threads for step in thread} - {0}) == 2:
            return threads


def _step(chance: random.Random, value: int) -> Step:
    kind = chance.choice(["load", "load", "load", "store", "store", "store", "exchange", "fence"])
    if kind == "fence":
        return Step("fence")
    size = chance.choice([8, 4, 4])
    order = chance.choice(["relaxed", "relaxed", "acquire" if kind == "load" else "release"])
    if kind == "exchange":
        order = "relaxed"
    return Step(kind, size, chance.choice([0, 4]) if size == 4 else 0, order, value)


def source(threads: Threads) -> str:
    """The program in C; main returns a hash of what was loaded, and of x."""
    text = [
        "#include <pthread.h>\n#include <stdatomic.h>\n#include <stdint.h>",
        "static union { _Atomic uint64_t whole; _Atomic uint32_t half[2]; } x;",
        "static uint64_t r[3][3];",
    ]
    for number, thread in enumerate(threads):
        text.append(f"static void *thread{number}(void *unused) {{")
        for at, step in enumerate(thread):
            place = "x.whole" if step.size == 8 else f"x.half[{step.offset // 4}]"
            value = f"{step.value * (ONES if step.size == 8 else 1)}u"
            order = f"memory_order_{step.order}"
            text.append(
                {
                    "load": f"  r[{number}][{at}] = atomic_load_explicit(&{place}, {order});",
                    "store": f"  atomic_store_explicit(&{place}, {value}, {order});",
                    "exchange": f"  r[{number}][{at}] = "
                    f"atomic_exchange_explicit(&{place}, {value}, {order});",
                    "fence": "  atomic_thread_fence(memory_order_seq_cst);",
                }[step.kind]
            )
        text.append("  return 0;\n}")
    text.append("int main(void) {\n  pthread_t t[3];")
    text += [f"  pthread_create(&t[{at}], 0, thread{at}, 0);" for at in range(len(threads))]
    text += [f"  pthread_join(t[{at}], 0);" for at in range(len(threads))]
    text.append("  uint64_t hash = x.whole;")
    text += [
        f"  hash = hash * 31 + r[{number}][{at}];"
        for number, thread in enumerate(threads)
        for at, step in enumerate(thread)
        if step.reads
    ]
    return "\n".join([*text, "  return (int)((hash ^ hash >> 32) & 0x7fffffff);\n}", ""])


def litmus(threads: Threads, to: Machine) -> str:
    """The program as the machine's assembly."""
    initial, columns, shown = ["uint64_t x=0;"], [], []
    for number, thread in enumerate(threads):
        lines = [f"P{number}"]
        initial.append(f"{number}:{to.base}=x;")
        for register, step in zip(to.registers, thread, strict=False):
            value = step.value * (ONES if step.size == 8 else 1)
            initial.append(f"uint64_t {number}:{register}={value if step.kind != 'load' else 0};")
            lines += to.line(step, register)
            shown += [f"{number}:{register};"] if step.reads else []
        columns.append(lines)
    rows = max(map(len, columns))
    table = [
        " | ".join(line[at : at + 1][0] if at < len(line) else "" for line in columns) + " ;"
        for at in range(rows)
    ]
    locations = f"locations [x; {' '.join(shown)}]"
    return "\n".join(
        [f"{to.dialect} mixed", "{", *initial, "}", *table, locations, "exists (x=0)", ""]
    )


def hash_of(threads: Threads, to: Machine, state: dict[str, str]) -> int:
    """What main returns at the end of an execution with this final state."""
    found = int(state["[x]"]) % 2**64
    for number, thread in enumerate(threads):
        for register, step in zip(to.registers, thread, strict=False):
            if step.reads:
                found = (found * 31 + int(state[f"{number}:{register}"])) % 2**64
    return (found ^ found >> 32) & 0x7FFFFFFF


def check(threads: Threads, machine: Machine, folder: Path) -> None:
    """The program ends in the states of its assembly."""
    known = models.load()
    file = folder / "mixed.c"
    file.write_text(source(threads), encoding="utf-8")
    text = litmus(threads, machine)
    (answer,) = answers([("mixed.litmus", text)], known[machine.model].path)
    assert not answer["reason"], (answer["reason"], text)
    expected = {hash_of(threads, machine, state) for state in answer["states"]}
    model = known[machine.programs].of_programs
    assert model.acyclic != "none"
    found = _engine.Program(compile_source(file).text).explore(
        str(model.path), acyclic=model.acyclic, jobs=1, results=True
    )
    assert found["result"] == "Safe", (found["reasons"], found["violations"])
    assert set(found["results"]) == expected, (source(threads), text)


@pytest.mark.parametrize("machine", [X86, ARM], ids=["x86", "aarch64"])
def test_programs_of_mixed_sizes_end_as_their_assembly_does(
    machine: Machine, pytestconfig: pytest.Config, tmp_path: Path
) -> None:
    asked: int | None = pytestconfig.getoption("--programs")
    chance = random.Random(f"mixed {machine.model}")
    for _ in range(asked or (300 if pytestconfig.getoption("--full") else 12)):
        check(random_threads(chance), machine, tmp_path)


@pytest.mark.parametrize("machine", [X86, ARM], ids=["x86", "aarch64"])
def test_a_load_is_forwarded_a_half_and_reads_the_other_before(
    machine: Machine, tmp_path: Path
) -> None:
    """Armv8 orders the half that was forwarded after the exchange, and not the other."""
    first = [Step("exchange", 4, 4, "relaxed", 1), Step("load", 8, 0, "acquire")]
    second = [Step("load", 4, 4, "acquire"), Step("store", 8, 0, "relaxed", 7)]
    check([first, second], machine, tmp_path)
