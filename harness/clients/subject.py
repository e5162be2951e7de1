"""An object to check, and which of its clients are generated.

In: a file with the operations of the object, and what they do in sequence. Out: a Subject.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.generators.source.language import language_of, manifest_of
from weakspot.harness.clients import rust_operations
from weakspot.harness.clients.clients import Signature
from weakspot.harness.clients.kinds import Argument, Kind, KindOperation, kind, stands_for
from weakspot.harness.clients.operations import MOST_ARGUMENTS, Operation, Source, read, with_out
from weakspot.harness.scaffold import declarations
from weakspot.harness.scaffold.project import HEADERS
from weakspot.harness.values.linearizability import Size

EMPTY = -1
"""What an operation returns that finds nothing."""


class Variation(msgspec.Struct, frozen=True):
    """How an object differs from the usual one of its kind: the `capacity` of a queue, stack or
    deque, 0 if it is never full; a `relaxed` queue or stack, which may return any of its first
    items, one more than this; a `quasi` linearizable queue, of which an item may leave at most this
    many places before or after its turn; a queue that keeps order `per_producer` only; the
    `spurious` operations, which may fail although they could succeed; the `blocking` ones, which
    wait until they can succeed; what an operation returns that finds nothing."""

    capacity: int = 0
    relaxed: int = 0
    quasi: int = 0
    per_producer: bool = False
    spurious: tuple[str, ...] = ()
    blocking: tuple[str, ...] = ()
    empty: int = EMPTY


class Subject(msgspec.Struct, frozen=True):
    """An object to check: its operations, and what they do in sequence. That is a kind, whose
    `matches` the operations are; or a file that defines, for each operation `f`, a function
    `spec_f` with the same arguments."""

    source: Source
    operations: tuple[Operation, ...]
    variation: Variation
    kind: Kind | None = None
    matches: tuple[KindOperation, ...] = ()
    specification: Path | None = None

    @property
    def signatures(self) -> tuple[Signature, ...]:
        if not self.matches:
            key: Argument = "key"
            return tuple(
                Signature(each.name, (key,) * len(each.parameters), each.role)
                for each in self.operations
            )
        # one unlock for both ways to hold a lock, unless there is another for the shared one
        two = {match.gives for match in self.matches} >= {"alone", "shared"}
        return tuple(
            Signature(
                each.name,
                match.arguments,
                each.role,
                takes=match.takes,
                gives=match.gives if two or not match.gives else "either",
            )
            for each, match in zip(self.operations, self.matches, strict=True)
        )

    @property
    def waits(self) -> bool:
        """Whether an operation waits until it can succeed."""
        return bool(self.variation.blocking) or any(each.waits for each in self.matches)

    @property
    def behaviour(self) -> str:
        """What it is said to behave as."""
        return self.kind.name if self.kind else str(self.specification)


class ClientChoice(msgspec.Struct, frozen=True):
    """Which clients of an object are generated: those of at most so many `calls` in so many
    `threads` at once. `behaves_as` is a kind of object, such as "queue", or a file with a
    sequential implementation of each operation `f`, called `spec_f`. `operations` are those of the
    functions of the object's file, by default all that are not static. All calls of the operations
    of one of the `roles` are made by one thread. `meanings` say which operation of the kind a
    function is, where its name does not tell, `variation` how the object differs from the usual one
    of its kind."""

    behaves_as: str
    calls: int = 4
    threads: int = 3
    operations: tuple[str, ...] = ()
    roles: Mapping[str, Sequence[str]] = {}
    meanings: Mapping[str, str] = {}
    variation: Variation = Variation()

    @property
    def size(self) -> Size:
        return Size(self.calls, self.threads)

    def subject(self, path: str | os.PathLike[str]) -> Subject:
        """The object whose operations a file defines. Raises BadInput."""
        file, known = Path(path), kind(self.behaves_as)
        if file.suffix in HEADERS and file.is_file():
            name = known.name if known else "KIND"
            raise BadInput(
                "a header, not the operations of an object",
                place=str(file),
                advice=f"weakspot new {name} {file} writes a C or C++ file that includes it, with "
                "one function for each operation, and prints how to name that file instead",
            )
        if manifest_of(file) is not None:
            raise BadInput(
                "a crate, not a file with the operations of an object",
                place=str(file),
                advice="name the file that defines the object, if it needs no other file or crate",
            )
        if language_of(file).compiler == "rustc":
            source = rust_operations.read(
                file,
                known,
                names=self.operations,
                roles=self.roles,
                meanings=self.meanings,
                capacity=self.variation.capacity,
                empty=self.variation.empty,
            )
        else:
            source = read(file, self.operations, self.roles)
        return subject_of(source, known or Path(self.behaves_as), self.variation, self.meanings)


def subject_of(
    source: Source, behaves_as: Kind | Path, variation: Variation, meanings: Mapping[str, str]
) -> Subject:
    """The object whose operations are in the source. `meanings` say which operation of the kind a
    function is, by its name. Raises BadInput."""
    named = {each.name for each in source.operations}
    for name in (*meanings, *variation.spurious, *variation.blocking):
        if name not in named:
            raise BadInput(
                f"no operation {name}",
                place=str(source.path),
                advice=f"the operations are {', '.join(sorted(named))}",
            )
    if isinstance(behaves_as, Kind):
        matches = tuple(
            stands_for(behaves_as, each, meanings.get(each.name, "")) for each in source.operations
        )
        operations = tuple(
            with_out(each, 1 if match.runs else len(match.arguments))
            for each, match in zip(source.operations, matches, strict=True)
        )
        _check_variation(behaves_as, variation)
        for each, match in zip(operations, matches, strict=True):
            if each.out and (match.takes or match.gives):
                raise BadInput(
                    f"{each.name} has an argument",
                    place=each.place,
                    advice="write a function around it that has none: a node of a queue of "
                    "threads can be thread-local",
                )
        return Subject(source, operations, variation, behaves_as, matches)
    _check_specification(source, behaves_as)
    for each in source.operations:
        if len(each.parameters) > MOST_ARGUMENTS:
            raise BadInput(
                f"{each.name} has more than {MOST_ARGUMENTS} arguments",
                place=each.place,
                advice="write a function around it that has fewer",
            )
    return Subject(source, source.operations, variation, specification=behaves_as)


def _check_variation(kind: Kind, variation: Variation) -> None:
    """Raises BadInput for a variation that the kind has no meaning for."""
    numbers = ("capacity", "relaxed", "quasi", "per_producer")
    chosen = [name for name in numbers if getattr(variation, name)]
    for name in chosen:
        if name not in kind.varies:
            raise BadInput(
                f"a {kind.name} has no variation {name}",
                advice="write what it does instead as a sequential implementation, and name its "
                "file with --as",
            )
    orders = [name for name in chosen if name != "capacity"]
    if len(orders) > 1:
        raise BadInput(
            f"{orders[0]} and {orders[1]} at once",
            advice="choose one of them, the one that the object promises",
        )


def _check_specification(source: Source, file: Path) -> None:
    """Raises BadInput for a specification that lacks an operation."""
    try:
        declared = declarations.read_text(str(file), file.read_bytes())
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from error
    defined = {each.name for each in declared.functions if each.defined}
    for each in source.operations:
        if f"spec_{each.name}" not in defined:
            raise BadInput(
                f"{file} does not define spec_{each.name}",
                advice=f"define what {each.name} does in sequence, with the same arguments: "
                f"{each.returns} spec_{each.name}(…)",
            )
