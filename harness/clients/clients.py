"""Every client up to a size, the smallest first.

A client calls operations in up to so many threads at once; main may call some before these start,
and some after they have ended. Values are numbers from 1 on. Of the clients that differ only in
which thread does what, or in which number stands for which value, there is one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from weakspot.harness.clients.kinds import Argument

BEFORE = AFTER = 2
"""How many calls main makes at most before the threads start, and after they have ended."""


class Signature(msgspec.Struct, frozen=True):
    """What a client has to know of an operation: its name, what its arguments stand for, its
    role; how its thread holds the object afterwards, or has to hold it before."""

    name: str
    arguments: tuple[Argument, ...]
    role: str = ""
    takes: Literal["", "alone", "shared"] = ""
    gives: Literal["", "alone", "shared", "either"] = ""


class Call(msgspec.Struct, frozen=True, order=True):
    """A call of an operation, by its number."""

    operation: int
    arguments: tuple[int, ...] = ()


Calls = tuple[Call, ...]


class Client(msgspec.Struct, frozen=True):
    before: Calls
    threads: tuple[Calls, ...]
    after: Calls

    @property
    def size(self) -> int:
        """The number of calls."""
        return len(self.before) + sum(map(len, self.threads)) + len(self.after)

    def text(self, operations: Sequence[Signature]) -> str:
        """`put(1); put(2) take() | take(); take()`: what main calls before the threads, what each
        thread calls, what main calls after them."""

        def line(calls: Calls) -> str:
            return " ".join(
                f"{operations[each.operation].name}({', '.join(map(str, each.arguments))})"
                for each in calls
            )

        parts = [" | ".join(map(line, self.threads))]
        if self.before:
            parts.insert(0, f"first {line(self.before)}")
        if self.after:
            parts.append(f"then {line(self.after)}")
        return "; ".join(parts)


_Shape = tuple[tuple[int, ...], tuple[tuple[int, ...], ...], tuple[int, ...]]


def clients(operations: Sequence[Signature], *, calls: int, threads: int) -> Iterator[Client]:
    """The clients with exactly so many calls, in at most so many threads at once."""
    for shape in _shapes(operations, calls, threads):
        yield from _with_arguments(operations, shape)


def _shapes(operations: Sequence[Signature], calls: int, threads: int) -> Iterator[_Shape]:
    """Which operations are called where."""
    numbers = range(len(operations))
    for each in itertools.product(numbers, repeat=calls):
        if _holds_what_it_gives(operations, each):
            yield (), (each,), ()
    for before in range(min(BEFORE, calls - 2) + 1):
        for after in range(min(AFTER, calls - before - 2) + 1):
            within = calls - before - after
            for count in range(2, min(threads, within) + 1):
                for sizes in _partitions(within, count):
                    for parts in _threads(numbers, sizes):
                        if not _keeps_roles(operations, parts):
                            continue
                        if not all(_holds_what_it_gives(operations, each) for each in parts):
                            continue
                        for first in itertools.product(numbers, repeat=before):
                            for last in itertools.product(numbers, repeat=after):
                                if _holds_what_it_gives(operations, (*first, *last)):
                                    yield first, parts, last


def _partitions(total: int, count: int, least: int = 1) -> Iterator[tuple[int, ...]]:
    """The ways to write a number as a sum of so many others, in ascending order."""
    if count == 1:
        yield (total,)
        return
    for first in range(least, total // count + 1):
        for rest in _partitions(total - first, count - 1, first):
            yield first, *rest


def _threads(
    numbers: Sequence[int], sizes: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """What threads call, which make so many calls each: one order of threads that call as much."""
    groups = [
        itertools.combinations_with_replacement(
            list(itertools.product(numbers, repeat=size)), len(list(same))
        )
        for size, same in itertools.groupby(sizes)
    ]
    for chosen in itertools.product(*groups):
        yield tuple(itertools.chain.from_iterable(chosen))


def _keeps_roles(operations: Sequence[Signature], threads: tuple[tuple[int, ...], ...]) -> bool:
    """Whether one thread makes all calls of a role."""
    roles = [{operations[each].role for each in thread} - {""} for thread in threads]
    return sum(map(len, roles)) == len(set[str]().union(*roles))


def _holds_what_it_gives(operations: Sequence[Signature], calls: Sequence[int]) -> bool:
    """Whether a thread that makes these calls takes an object only while it does not hold it, and
    gives it back only while it does. Each call that takes the object may have succeeded."""
    held = ""
    for each in calls:
        operation = operations[each]
        if operation.takes:
            if held:
                return False
            held = operation.takes
        elif operation.gives:
            if not held or operation.gives not in (held, "either"):
                return False
            held = ""
    return True


def _with_arguments(operations: Sequence[Signature], shape: _Shape) -> Iterator[Client]:
    """The clients of a shape. Values are numbered in the order of the calls; a key is a number that
    an earlier call has, or the next one."""
    first, threads, last = shape
    order = [*first, *itertools.chain.from_iterable(threads), *last]
    wanted = [argument for each in order for argument in operations[each].arguments]
    values = wanted.count("value")
    seen: set[Client] = set()
    for numbers in _numbers(wanted, values):
        left = iter(numbers)

        def made(of: Sequence[int], left: Iterator[int] = left) -> Calls:
            return tuple(
                Call(each, tuple(next(left) for _ in operations[each].arguments)) for each in of
            )

        client = Client(made(first), tuple(map(made, threads)), made(last))
        same = _canonical(client, [operations[each].arguments for each in range(len(operations))])
        if same not in seen:
            seen.add(same)
            yield client


def _numbers(wanted: Sequence[Argument], values: int) -> Iterator[tuple[int, ...]]:
    """Numbers for arguments in their order."""

    def after(at: int, fresh: int, keys: int) -> Iterator[tuple[int, ...]]:
        if at == len(wanted):
            yield ()
        elif wanted[at] == "value":
            for rest in after(at + 1, fresh + 1, keys):
                yield fresh, *rest
        elif wanted[at] == "known":
            for number in range(values + 1):
                for rest in after(at + 1, fresh, keys):
                    yield number, *rest
        else:
            for key in range(1, keys + 2):
                for rest in after(at + 1, fresh, max(keys, key)):
                    yield key, *rest

    return after(0, 1, 0)


def _canonical(client: Client, arguments: Sequence[Sequence[Argument]]) -> Client:
    """The least of the clients that this one is if its threads are exchanged, with numbers in the
    order in which they come."""

    def renumbered(threads: tuple[Calls, ...]) -> Client:
        values: dict[int, int] = {0: 0}
        keys: dict[int, int] = {}

        def calls(of: Calls) -> Calls:
            made = []
            for each in of:
                pairs = zip(arguments[each.operation], each.arguments, strict=True)
                made.append(
                    Call(
                        each.operation,
                        tuple(
                            keys.setdefault(number, len(keys) + 1)
                            if argument == "key"
                            else values.setdefault(number, len(values))
                            for argument, number in pairs
                        ),
                    )
                )
            return tuple(made)

        return Client(calls(client.before), tuple(map(calls, threads)), calls(client.after))

    alike = itertools.permutations(client.threads)
    return min(
        (renumbered(each) for each in alike),
        key=lambda each: (each.before, each.threads, each.after),
    )
