"""Object files of Tests: threads as C functions, and their machine code back as tests in assembly.

Nothing has to be guessed on the way back. Each thread is a function of its own: its arguments are
pointers to its locations, in a chosen order, so that the ABI says which register holds which
address, and after them a pointer to its results, where it stores what the condition asks for.
Pointers rather than globals: their addresses take no instruction, and no relocation has to be
resolved; optimisations that a compiler makes only where it knows that two locations are different
objects cannot be seen here. The object is unlinked, and its machine code is read, not the text that
the compiler would print.

The idea is that of Télétchat: L. Geeson, L. Smith, Compiler testing with relaxed memory models, CGO
2024: what a machine's model allows of the compiled test, the language has to allow of the source.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.binary.instructions import Function, functions
from weakspot.generators.binary.isa import semantics
from weakspot.generators.binary.outline import inlined
from weakspot.generators.binary.simulation import APART
from weakspot.generators.binary.slicing import ThreadCode, sliced
from weakspot.generators.emit.c11 import UNREACHED
from weakspot.generators.emit.isa import Mapped, assembled
from weakspot.generators.emit.threads import observables, statements, thread_text
from weakspot.generators.litmus import Test


class Part(msgspec.Struct, frozen=True):
    """A thread as a function: its name, the locations of its arguments in order, the registers of
    the C test that are its results."""

    function: str
    locations: tuple[str, ...]
    results: tuple[str, ...]


class Source(msgspec.Struct, frozen=True):
    """The C source of many tests: identical threads are one function. `refused` says why a test is
    not in it."""

    text: str
    parts: dict[str, tuple[Part, ...]]
    refused: dict[str, str]


class Read(msgspec.Struct, frozen=True):
    """A test read from an object file, with the assembly of its threads as it stands there."""

    made: Mapped
    assembly: str


def source(tests: Iterable[Test]) -> Source:
    """The tests' threads as C functions."""
    known: dict[tuple[str, str], str] = {}
    parts: dict[str, tuple[Part, ...]] = {}
    refused: dict[str, str] = {}
    for test in tests:
        try:
            parts[test.name] = tuple(_parts(test, known))
        except Unsupported as error:
            refused[test.name] = error.message
    text = [
        "/* Threads of litmus tests, each a function: pointers to its locations, then to its",
        "   results, which lie so far apart that no two are written at once. */",
        "#include <stdatomic.h>",
        f"#define UNREACHED ({UNREACHED})",
        *(f"void {name}({head}) {{\n{body}\n}}" for (head, body), name in known.items()),
    ]
    return Source("\n".join(text) + "\n", parts, refused)


def _parts(test: Test, known: dict[tuple[str, str], str]) -> Iterable[Part]:
    read = statements(test)
    asked = observables(read)
    for number in range(len(read.threads)):
        observed = tuple(name for thread, name in asked if thread == number)
        made = thread_text(number, read, observed, result="*out[{at}] = {reg};")
        parameters = [f"{kind} *{loc}" for _, kind, loc in made.parameters]
        width = APART // 4
        head = ", ".join([*parameters, f"int (*restrict out)[{width}]"])
        body = "\n".join(f"  {line}" for line in made.lines)
        function = known.setdefault((head, body), f"thread{len(known)}")
        yield Part(function, tuple(loc for _, _, loc in made.parameters), observed)


class Object:
    """An object file of a Source, read once for all of its tests; `outline` says which code of
    outline atomics is read, "lse" or "exclusives"."""

    def __init__(self, content: bytes, dialect: str, outline: str = "") -> None:
        self.semantics, self.outline = semantics(dialect), outline
        self.functions: dict[str, Function] = functions(content, self.semantics.capstone)
        self._sliced = lru_cache(maxsize=None)(self._slice)

    def test(self, test: Test, parts: Sequence[Part], suffix: str, title: str) -> Read:
        """The test in assembly, named with `suffix`. Raises Unsupported, with the thread and the
        instruction, for code that is not understood."""
        code: list[ThreadCode] = []
        registers: dict[tuple[int, str], str] = {}
        for number, part in enumerate(parts):
            try:
                made = self._sliced(part, number)
            except Unsupported as error:
                error.message = f"thread {number}: {error.message}"
                raise
            code.append(made)
            registers |= {
                (number, name): register
                for name, register in zip(part.results, made.results, strict=True)
            }
        made_of = assembled(
            test,
            suffix,
            self.semantics.dialect,
            title,
            [each.lines for each in code],
            [each.addresses for each in code],
            registers,
        )
        return Read(made_of, self.assembly(parts))

    def assembly(self, parts: Sequence[Part]) -> str:
        """The machine code of a test's threads, as the disassembler writes it."""
        return "\n".join(
            f"P{number}:\n{self.functions[part.function].listing()}"
            for number, part in enumerate(parts)
            if part.function in self.functions
        )

    def _slice(self, part: Part, number: int) -> ThreadCode:
        function = self.functions.get(part.function)
        if function is None:
            raise Unsupported(f"the object has no function {part.function}")
        if self.outline:
            function = inlined(function, lse=self.outline == "lse")
        return sliced(function, self.semantics, part.locations, len(part.results), number)


__all__ = ["Object", "Part", "Read", "Source", "source"]
