"""A program's own operations, as a compiler made them: back to litmus tests in assembly.

A Test names the sites that it is made from. In the traces of the program's threads, an access of a
site is an instruction that the debug information places on its line and that accesses the address
of its location: both have to agree, and the locations of all threads of the test have to fit
together. From the first of a thread's accesses to the last, what orders them stays as the compiler
wrote it: the accesses themselves, barriers, and which access depends on which read by address, data
or control. Other code between them is left out, as in the test, with the barriers that the compiler
added for it. Where the machine code continues only if a read returned what it did, only those
outcomes of the test are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.binary.assembly import Match, MatchedAccess, Thread
from weakspot.generators.binary.image import Image, SourceLocation
from weakspot.generators.binary.semantics import Access, Copy, NotUnderstood, Semantics
from weakspot.generators.binary.trace import ExecutedInstruction
from weakspot.generators.emit.isa import Mapped, assembled
from weakspot.generators.litmus import Atom, Body, Cas, Fence, Guard, Load, Origin, Rmw, Store, Test

_MOST, _TRIED = 4, 64
"""The number of codes of a test that are compared, and of combinations of matches that are tried.
"""


class WantedAccess(msgspec.Struct, frozen=True):
    """An access of a test: the statement, its line, the program's name of its location, and the
    lines of the fences before it."""

    statement: Load | Store | Rmw | Cas
    source: SourceLocation
    location: str
    fences: tuple[SourceLocation, ...] = ()


class _Trace:
    """The trace of a thread, also by line."""

    def __init__(self, trace: tuple[ExecutedInstruction, ...]) -> None:
        self.all = trace
        self.lines: dict[SourceLocation, list[tuple[int, ExecutedInstruction]]] = {}
        for at, each in enumerate(trace):
            if each.source is not None:
                self.lines.setdefault(each.source, []).append((at, each))


class OperationTest(msgspec.Struct, frozen=True):
    """A test in the program's own code. `taken` are the values with which execution follows the
    trace; `assembly` is what was executed."""

    made: Mapped
    taken: tuple[Atom, ...]
    assembly: str


class Program:
    """The traces of a compiled program. `others` are the lines of its accesses, without fences;
    `before` says whether some execution of the source has an access of the first line before one of
    the second."""

    def __init__(
        self,
        image: Image,
        semantics: Semantics,
        others: frozenset[SourceLocation],
        before: Callable[[SourceLocation, SourceLocation], bool],
    ) -> None:
        self.image, self.semantics, self.others, self.before = image, semantics, others, before
        self.traces: list[_Trace] = []
        self._known: set[tuple[tuple[int, int | None], ...]] = set()

    def add(self, traces: Iterable[tuple[ExecutedInstruction, ...]]) -> None:
        """Add traces."""
        for trace in traces:
            key = tuple((each.instruction.at, each.at) for each in trace)
            if key not in self._known:
                self._known.add(key)
                self.traces.append(_Trace(trace))

    def sharing(self, trace: Sequence[ExecutedInstruction]) -> list[int]:
        """The instructions that made accesses of the program's sites, each once."""
        return list(
            dict.fromkeys(
                each.instruction.at
                for each in trace
                if each.at is not None and each.source in self.others
            )
        )

    def tests(
        self, test: Test, sought: Sequence[Sequence[WantedAccess]], suffix: str, title: str
    ) -> list[OperationTest]:
        """The test for each combination of matches. Raises Unsupported, with the site, where there
        is none."""
        body = test.statements
        assert body is not None
        matches = [self._ways(number, each) for number, each in enumerate(sought)]
        found: dict[tuple[tuple[str, ...], ...], OperationTest] = {}
        fitting = islice(_fitting(matches, sought), _TRIED)
        while len(found) < _MOST and (chosen := next(fitting, None)) is not None:
            label = f"{suffix}-{len(found) + 1}" if found else suffix
            threads = self._threads(body, sought, chosen)
            lines = tuple(tuple(thread.lines) for thread in threads)
            if lines not in found:
                found[lines] = self._code(test, threads, chosen, label, title)
        if not found:
            raise Unsupported("the threads were not executed on the same locations")
        return list(found.values())

    def _ways(self, number: int, sought: Sequence[WantedAccess]) -> list[Match]:
        known: dict[tuple[object, ...], Match] = {}
        for trace in self.traces:
            for accesses in self._found(trace, sought) or self._moved(trace, sought):
                if not _fenced(trace, sought, accesses):
                    continue
                match = Match(trace.all, accesses)
                known.setdefault((match.code, tuple(each.at for each in accesses)), match)
        if not known:
            raise Unsupported(f"thread {number}: {self._missing(sought)}")
        return list(known.values())

    def _missing(self, sought: Sequence[WantedAccess]) -> str:
        for each in sought:
            if not any(list(self._accesses(trace, each)) for trace in self.traces):
                line = f"{each.source.file.name}:{each.source.line}"
                if not any(each.source in trace.lines for trace in self.traces):
                    return f"{line} was not executed"
                return f"no access of {each.location} is seen in the code of {line}"
        return "its accesses were not executed together"

    def _accesses(self, trace: _Trace, sought: WantedAccess) -> Iterator[MatchedAccess]:
        address = self.image.address(sought.location)
        reserved: dict[int, int] = {}
        for at, each in trace.lines.get(sought.source, ()):
            if each.at is None or address not in (None, each.at):
                continue
            match each.step, sought.statement:
                case Access(kind="reserves"), Load():
                    yield MatchedAccess(at, at, each.at)
                case Access(kind="reserves"), _:
                    reserved[each.at] = at
                case Access(kind="conditional"), Rmw() | Cas() if each.at in reserved:
                    yield MatchedAccess(reserved[each.at], at, each.at)
                case Access(kind=""), Rmw() | Cas() | Store():
                    yield MatchedAccess(at, at, each.at)
                case Copy(to=str()), Load():
                    yield MatchedAccess(at, at, each.at)
                case Copy(of=str() | int()), Store() if not isinstance(each.step.to, str):
                    yield MatchedAccess(at, at, each.at)

    def _found(
        self, trace: _Trace, sought: Sequence[WantedAccess]
    ) -> list[tuple[MatchedAccess, ...]]:
        """Where a thread made the accesses, in their order and as close together as possible."""
        chains: list[tuple[MatchedAccess, ...]] = [
            (each,) for each in self._accesses(trace, sought[0])
        ]
        for each in sought[1:]:
            nearest: dict[int, tuple[MatchedAccess, ...]] = {}
            candidates = list(self._accesses(trace, each))
            for chain in chains:
                after = next((one for one in candidates if one.first > chain[-1].last), None)
                if after is not None:
                    nearest[after.first] = (*chain, after)
            chains = list(nearest.values())
        return chains

    def _moved(
        self, trace: _Trace, sought: Sequence[WantedAccess]
    ) -> list[tuple[MatchedAccess, ...]]:
        """Where a thread made each access once, in an order that the source never has: the compiler
        has reordered them."""
        once: list[MatchedAccess] = []
        for each in sought:
            accesses = list(self._accesses(trace, each))
            if len(accesses) != 1:
                return []
            once += accesses
        for at, one in enumerate(once):
            for other, later in zip(once[at + 1 :], sought[at + 1 :], strict=True):
                turned = other.last < one.first
                if not turned and other.first <= one.last:
                    return []
                if turned and self.before(later.source, sought[at].source):
                    return []
        return [tuple(once)]

    def _threads(
        self, body: Body, sought: Sequence[Sequence[WantedAccess]], matches: Sequence[Match]
    ) -> list[Thread]:
        threads: list[Thread] = []
        for number, match in enumerate(matches):
            thread = Thread(self.semantics, number, body.threads[number])
            own = frozenset(each.source for each in sought[number])
            try:
                thread.write(match, own, self.others)
            except NotUnderstood as why:
                raise Unsupported(f"thread {number}: {why}") from None
            threads.append(thread)
        return threads

    def _code(
        self,
        test: Test,
        threads: Sequence[Thread],
        matches: Sequence[Match],
        suffix: str,
        title: str,
    ) -> OperationTest:
        registers = {
            (number, name): self.semantics.state_name(register)
            for number, thread in enumerate(threads)
            for name, register in thread.results.items()
        }
        made = assembled(
            test,
            suffix,
            self.semantics.dialect,
            title,
            [thread.lines for thread in threads],
            [thread.initial for thread in threads],
            registers,
        )
        taken = tuple(atom for thread in threads for atom in thread.taken)
        return OperationTest(made, taken, "\n".join(map(_listing, range(len(matches)), matches)))


def sought(test: Test, origin: Origin, file: Callable[[str], Path]) -> list[list[WantedAccess]]:
    """The accesses of each thread of a test, as one of its origins has them; `file` finds a source
    file by its name."""
    body = test.statements
    assert body is not None
    found: list[list[WantedAccess]] = []
    for statements, sites in zip(body.threads, origin.sites, strict=True):
        placed = [each for each in statements if not isinstance(each, Guard)]
        thread: list[WantedAccess] = []
        fences: list[SourceLocation] = []
        for each, site in zip(placed, sites, strict=True):
            source = SourceLocation(file(site.file), site.line)
            if isinstance(each, Fence):
                fences.append(source)
            else:
                thread.append(WantedAccess(each, source, origin.locations[each.loc], tuple(fences)))
                fences.clear()
        found.append(thread)
    return found


def _fenced(
    trace: _Trace, sought: Sequence[WantedAccess], accesses: Sequence[MatchedAccess]
) -> bool:
    """Whether the trace executed the test's fences between its accesses: another path may have no
    fence."""
    first = min(each.first for each in accesses)
    last = max(each.last for each in accesses)
    return all(
        any(first < at < last for at, _ in trace.lines.get(source, ()))
        for each in sought
        for source in each.fences
    )


def _fitting(
    matches: Sequence[Sequence[Match]],
    sought: Sequence[Sequence[WantedAccess]],
    addresses: Mapping[str, int] | None = None,
) -> Iterator[tuple[Match, ...]]:
    """The combinations of one match per thread in which each location has one address, and each
    address one location."""
    if not matches:
        yield ()
        return
    for match in matches[0]:
        found = dict(addresses or {})
        fits = all(
            found.setdefault(wanted.statement.loc, access.at) == access.at
            for access, wanted in zip(match.accesses, sought[0], strict=True)
        )
        if fits and len(set(found.values())) == len(found):
            for rest in _fitting(matches[1:], sought[1:], found):
                yield (match, *rest)


def _listing(number: int, match: Match) -> str:
    lines = []
    for each in match.window:
        where = f"{each.source.file.name}:{each.source.line}" if each.source else ""
        lines.append(f"{each.instruction.at:8x}: {each.instruction!s:<44} ; {where}".rstrip(" ;"))
    return "\n".join([f"P{number}:", *lines])
