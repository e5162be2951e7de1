"""One program for all clients of an object.

Which client it is stands in the parameters of the program (`weakspot_parameter`), so that a source
is compiled once. The first parameter says whether the operations are performed as their
specification says, one after the other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.clients.clients import AFTER, BEFORE, Calls, Client, Signature
from weakspot.harness.clients.kinds import Argument, Kind, KindOperation, stands_for
from weakspot.harness.clients.operations import SETUP, Operation, Source, with_out
from weakspot.harness.scaffold import declarations

EMPTY = -1
"""What an operation returns that finds nothing."""
_CELLS = 3  # of a call: the operation, counted from 1, and two arguments
_MOST_ARGUMENTS = 2


class Variation(msgspec.Struct, frozen=True):
    """How an object differs from the usual one of its kind: the `capacity` of a queue, stack or
    deque, 0 if it is never full; a `relaxed` queue, which may return any of its first items, one
    more than this; the `spurious` operations, which may fail although they could succeed; the
    `blocking` ones, which wait until they can succeed; what an operation returns that finds
    nothing."""

    capacity: int = 0
    relaxed: int = 0
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
        if self.matches:
            arguments = [each.arguments for each in self.matches]
        else:
            key: Argument = "key"
            arguments = [(key,) * len(each.parameters) for each in self.operations]
        return tuple(
            Signature(each.name, of, each.role)
            for each, of in zip(self.operations, arguments, strict=True)
        )

    @property
    def behaviour(self) -> str:
        """What it is said to behave as."""
        return self.kind.name if self.kind else str(self.specification)


def subject(
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
            with_out(each, len(match.arguments))
            for each, match in zip(source.operations, matches, strict=True)
        )
        return Subject(source, operations, variation, behaves_as, matches)
    _check_specification(source, behaves_as)
    for each in source.operations:
        if len(each.parameters) > _MOST_ARGUMENTS:
            raise BadInput(
                f"{each.name} has more than {_MOST_ARGUMENTS} arguments",
                place=each.place,
                advice="write a function around it that has fewer",
            )
    return Subject(source, source.operations, variation, specification=behaves_as)


def _check_specification(source: Source, file: Path) -> None:
    """Raises BadInput for a specification that lacks an operation."""
    try:
        defined = {each.name for each in declarations.read(file).functions if each.defined}
    except OSError as error:
        raise BadInput(f"cannot read {file}: {error.strerror}") from error
    for each in source.operations:
        if f"spec_{each.name}" not in defined:
            raise BadInput(
                f"{file} does not define spec_{each.name}",
                advice=f"define what {each.name} does in sequence, with the same arguments: "
                f"{each.returns} spec_{each.name}(…)",
            )


def parameters(client: Client, *, threads: int, calls: int) -> list[int]:
    """The parameters of the program for a client of at most so many threads and calls."""
    rows = [_padded(client.before, BEFORE)]
    rows += [_padded(each, calls) for each in client.threads]
    rows += [_padded((), calls)] * (threads - len(client.threads))
    rows.append(_padded(client.after, AFTER))
    return [0, *(number for row in rows for number in row)]


def _padded(calls: Calls, length: int) -> list[int]:
    assert len(calls) <= length, "the program was made for fewer calls"
    cells: list[int] = []
    for each in calls:
        arguments = (*each.arguments, 0, 0)[:_MOST_ARGUMENTS]
        cells += [each.operation + 1, *arguments]
    return cells + [0] * (_CELLS * length - len(cells))


def text(subject: Subject, *, threads: int, calls: int) -> str:
    """The source of the program for clients of at most so many threads, with so many calls each."""
    return "\n".join(_lines(subject, threads, calls)) + "\n"


def _lines(subject: Subject, threads: int, calls: int) -> Iterator[str]:
    yield f'#include "{subject.source.path.resolve()}"'
    yield "#include <pthread.h>"
    yield "#ifdef __cplusplus"
    yield 'extern "C" {'
    yield "#endif"
    yield "long weakspot_parameter(unsigned);"
    yield "unsigned weakspot_choose(unsigned);"
    yield "void weakspot_called(unsigned);"
    yield "void weakspot_returned(unsigned, const char *, long, ...);"
    yield "void weakspot_discard(void);"
    yield "#ifdef __cplusplus"
    yield "}"
    yield "#endif"
    yield f"#define WEAKSPOT_EMPTY ({subject.variation.empty}L)"
    yield f"#define WEAKSPOT_CAPACITY {subject.variation.capacity}u"
    yield f"#define WEAKSPOT_RELAXED {subject.variation.relaxed}u"
    yield subject.kind.text if subject.kind else f'#include "{_resolved(subject.specification)}"'
    yield "static pthread_mutex_t weakspot_one_at_a_time = PTHREAD_MUTEX_INITIALIZER;"
    if subject.variation.blocking:
        yield "static pthread_cond_t weakspot_changed = PTHREAD_COND_INITIALIZER;"
    if subject.kind and subject.kind.transfers:
        yield "static long payload[64];"
    yield "static void perform_once(unsigned call) {"
    yield f"  long a = weakspot_parameter(1 + {_CELLS} * call + 1);"
    yield f"  long b = weakspot_parameter(1 + {_CELLS} * call + 2);"
    yield "  long result = 0;"
    yield f"  switch (weakspot_parameter(1 + {_CELLS} * call)) {{"
    for number in range(len(subject.operations)):
        yield from _case(subject, number)
    yield "  }"
    yield "}"
    # called through a pointer, it is compiled once, not for each call
    yield "static void (*const perform)(unsigned) = perform_once;"
    begin = BEFORE
    for number in range(threads):
        yield f"static void *thread_{number + 1}(void *unused) {{"
        yield from (f"  perform({begin + at});" for at in range(calls))
        yield "  return unused;"
        yield "}"
        begin += calls
    yield "int main(void) {"
    if subject.source.has_setup:
        yield f"  {SETUP}();"
    yield from (f"  perform({at});" for at in range(BEFORE))
    yield f"  pthread_t threads[{threads}];"
    for number in range(threads):
        yield f"  if ({_starts(number, calls)})"
        yield f"    pthread_create(&threads[{number}], 0, thread_{number + 1}, 0);"
    for number in range(threads):
        yield f"  if ({_starts(number, calls)})"
        yield f"    pthread_join(threads[{number}], 0);"
    for at in range(AFTER):
        yield f"  if (weakspot_parameter({1 + _CELLS * (begin + at)})) {{"
        yield f"    weakspot_called({begin + at});"
        yield f"    perform({begin + at});"
        yield "  }"
    yield "  return 0;"
    yield "}"


def _resolved(path: Path | None) -> Path:
    assert path is not None
    return path.resolve()


def _starts(thread: int, calls: int) -> str:
    return f"weakspot_parameter({1 + _CELLS * (BEFORE + thread * calls)})"


def _case(subject: Subject, number: int) -> Iterator[str]:
    """One operation: as specified, under a lock, or as implemented."""
    operation = subject.operations[number]
    match = subject.matches[number] if subject.matches else None
    names = ("a", "b")[: len(operation.parameters)]
    equals = " =" if operation.returns != "void" or operation.out else ""
    shown = f'"{operation.name}({", ".join("%" * len(names))}){equals}"'
    returned = f"weakspot_returned(call, {', '.join((shown, 'result', *names))});"
    # what goes wrong is at the definition of the operation
    place = f'#line {operation.line} "{operation.path.resolve()}"'
    yield f"  case {number + 1}:"
    yield "    if (weakspot_parameter(0)) {"
    yield "      pthread_mutex_lock(&weakspot_one_at_a_time);"
    failed = "0" if match and match.must else "WEAKSPOT_EMPTY"
    if operation.name in subject.variation.spurious:
        yield "      if (weakspot_choose(2))"
        yield f"        result = {failed};"
        yield "      else"
    if match is None:
        yield f"      {_performed(operation, f'spec_{operation.name}', names)}"
    elif operation.name in subject.variation.blocking:
        yield f"      while ((result = weakspot_{match.name}({', '.join(names)})) == {failed})"
        yield "        pthread_cond_wait(&weakspot_changed, &weakspot_one_at_a_time);"
    else:
        yield f"      result = weakspot_{match.name}({', '.join(names)});"
        if operation.returns == "void" and not operation.out and match.must:
            yield "      if (!result) weakspot_discard();"
    if operation.returns == "void" and not operation.out:
        yield "      result = 0;"
    yield f"      {returned}"
    if subject.variation.blocking:
        yield "      pthread_cond_broadcast(&weakspot_changed);"
    yield "      pthread_mutex_unlock(&weakspot_one_at_a_time);"
    yield "    } else {"
    transfers = subject.kind is not None and subject.kind.transfers
    yield place
    if transfers and match is not None and match.arguments:
        yield "      payload[a] = 1;"
        yield place
    yield f"      {_performed(operation, operation.name, names)}"
    if transfers and match is not None and not match.arguments:
        yield place
        yield "      if (result > 0 && result < 64) (void)*(volatile long *)&payload[result];"
    yield place
    yield f"      {returned}"
    yield "    }"
    yield "    break;"


def _performed(operation: Operation, function: str, names: Sequence[str]) -> str:
    """Statements that call a function and set the result."""
    given = [
        f"({type_})(__INTPTR_TYPE__){name}" if type_.endswith("*") else f"({type_}){name}"
        for type_, name in zip(operation.parameters, names, strict=True)
    ]
    if operation.out:
        plain = operation.out[:-1].strip()
        own = "&value" if operation.out.endswith("*") else "value"
        call = f"{function}({', '.join((*given, own))})"
        value = "(long)(__INTPTR_TYPE__)value" if plain.endswith("*") else "(long)value"
        if operation.returns == "void":
            return f"{{ {plain} value = {{}}; {call}; result = {value}; }}"
        return f"{{ {plain} value; result = {call} ? {value} : WEAKSPOT_EMPTY; }}"
    call = f"{function}({', '.join(given)})"
    if operation.returns == "void":
        return f"{call};"
    if operation.returns.endswith("*"):
        return (
            f"{{ void *value = (void *){call}; "
            "result = value ? (long)(__INTPTR_TYPE__)value : WEAKSPOT_EMPTY; }"
        )
    return f"result = (long){call};"
