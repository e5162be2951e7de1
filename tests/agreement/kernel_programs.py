"""C programs of litmus tests of the Linux kernel: each thread a function with the test's own text,
and a main that returns a hash of the final state. One hash is excluded: it is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from random_programs import mixed, with_global

_THREAD = re.compile(r"^P(\d+)\(([^)]*)\)\s*\{(.*?)^\}", re.MULTILINE | re.DOTALL)
_REGISTER = re.compile(r"\bint\s+(\w+)\s*[;=]")
_PARAMETER = re.compile(r"\*\s*(\w+)")
# the index of a critical section is any number
_INDEX = re.compile(r"i\d*")
# what is in one statement is in no program order for herd7
_NESTED = re.compile(r"\b(?:WRITE_ONCE|atomic_add)\([^;]*\b(?:READ_ONCE|xchg_relaxed|atomic_\w+)\(")
_SRCU = re.compile(r"\b(?:synchronize_srcu|srcu_read_(?:un)?lock)\((\w+)")
_LOCK = re.compile(r"\bspin_(?:lock|trylock|is_locked|unlock)\((\w+)\)")

# the macros of the model take any pointer, those of the kernel its own types
_HEAD = """\
#include <pthread.h>
#include <weakspot/kernel.h>
#pragma clang diagnostic ignored "-Wincompatible-pointer-types"

unsigned excluded = 0;
#define MIX(hash, value) ((hash) = (hash) * 0x9e3779b1u + (unsigned)(value))
"""


class KernelThread(NamedTuple):
    number: int
    parameters: tuple[str, ...]
    registers: tuple[str, ...]
    body: str

    @property
    def results(self) -> list[str]:
        """The registers that are observed."""
        return [name for name in self.registers if not _INDEX.fullmatch(name)]


class KernelTest(NamedTuple):
    """A test whose locations are locks, structures of SRCU, and numbers that are 0 at first."""

    name: str
    threads: tuple[KernelThread, ...]

    @property
    def types(self) -> dict[str, str]:
        """The locations that are no numbers."""
        bodies = " ".join(thread.body for thread in self.threads)
        locks = dict.fromkeys(_LOCK.findall(bodies), "spinlock_t")
        return locks | dict.fromkeys(_SRCU.findall(bodies), "struct srcu_struct")

    @property
    def locations(self) -> list[str]:
        names = (name for thread in self.threads for name in thread.parameters)
        return [name for name in dict.fromkeys(names) if name not in self.types]

    def type_of(self, name: str) -> str:
        return self.types.get(name, "int")

    @property
    def observed(self) -> list[str]:
        """The names of the final state."""
        registers = (
            f"{thread.number}:{name}" for thread in self.threads for name in thread.results
        )
        return [*registers, *self.locations]

    @property
    def litmus(self) -> str:
        """The test, with the final state observed as a whole."""
        lines = [f"C {self.name}", "", "{}", ""]
        for thread in self.threads:
            parameters = ", ".join(f"{self.type_of(name)} *{name}" for name in thread.parameters)
            declared = [f"\tint {name};" for name in thread.registers]
            lines += [f"P{thread.number}({parameters})", "{", *declared, thread.body, "}", ""]
        observed = " ".join(f"{name};" for name in self.observed)
        return "\n".join([*lines, f"locations [{observed}]", f"exists ({self.observed[0]}=0)", ""])

    @property
    def source(self) -> str:
        """The program."""
        names = [*self.types, *self.locations]
        lines = [_HEAD, *(f"static {self.type_of(name)} at_{name};" for name in names)]
        for thread in self.threads:
            lines += [
                f"static void *P{thread.number}(void *unused) {{",
                *(f"  {self.type_of(name)} *{name} = &at_{name};" for name in thread.parameters),
                *(f"  int {name} = 0;" for name in thread.registers),
                thread.body,
                "  unsigned hash = 0;",
                *(f"  MIX(hash, {name});" for name in thread.results),
                "  return (void *)(unsigned long)hash;",
                "}",
            ]
        numbers = [thread.number for thread in self.threads]
        return "\n".join(
            [
                *lines,
                "int main(void) {",
                f"  pthread_t threads[{len(numbers)}];",
                f"  void *result[{len(numbers)}];",
                *(f"  pthread_create(&threads[{n}], 0, P{n}, 0);" for n in numbers),
                *(f"  pthread_join(threads[{n}], &result[{n}]);" for n in numbers),
                "  unsigned hash = 0;",
                *(f"  MIX(hash, (unsigned long)result[{n}]);" for n in numbers),
                *(f"  MIX(hash, at_{name});" for name in self.locations),
                "  BUG_ON(hash == excluded);",
                "  return (int)hash;",
                "}",
                "",
            ]
        )

    def returned(self, state: Mapping[str, str]) -> int:
        """What main returns at the end of an execution with this final state."""
        hashes = [
            mixed(int(state[f"{thread.number}:{name}"]) for name in thread.results)
            for thread in self.threads
        ]
        return mixed([*hashes, *(int(state[f"[{name}]"]) for name in self.locations)])


def excluding(ir: str, hashed: int) -> str:
    """The LLVM IR of a program in which another hash is excluded."""
    return with_global(ir, "excluded", hashed)


def kernel_program(name: str, text: str) -> KernelTest | None:
    """The test of a text, if it has no operations within others, and no locations but locks,
    structures of SRCU, and numbers that are 0 at first."""
    if re.search(r"\{\s*[^}\s][^}]*\}\s*P0", text) or re.search(r"\w\s*\*\*|int \*r", text):
        return None
    threads = []
    for number, parameters, body in _THREAD.findall(re.sub(r"\(\*.*?\*\)", "", text)):
        names: list[str] = _PARAMETER.findall(parameters)
        used = [name for name in names if re.search(rf"\b{name}\b", body)]
        if _NESTED.search(body):
            return None
        registers = tuple(dict.fromkeys(_REGISTER.findall(body)))
        body = re.sub(r"\bint\s+\w+\s*;", "", body)
        body = re.sub(r"\bint\s+(\w+)\s*=", r"\1 =", body)
        threads.append(KernelThread(int(number), tuple(used), registers, body))
    test = KernelTest(name, tuple(threads))
    return test if test.observed else None
