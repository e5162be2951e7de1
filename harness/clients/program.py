"""One program for all clients of an object.

Which client it is stands in the parameters of the program (`weakspot_parameter`), so that a source
is compiled once; or main chooses one of the clients that are listed in it, so that it can be a
scenario like any other. The first parameter says whether the operations are performed as their
specification says, one after the other.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from weakspot.harness.clients.clients import AFTER, BEFORE, Calls, Client
from weakspot.harness.clients.kinds import KindOperation
from weakspot.harness.clients.operations import MOST_ARGUMENTS, SETUP, Operation
from weakspot.harness.clients.subject import EMPTY, Subject

_CELLS = 3  # of a call: the operation, counted from 1, and two arguments


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
        arguments = (*each.arguments, 0, 0)[:MOST_ARGUMENTS]
        cells += [each.operation + 1, *arguments]
    return cells + [0] * (_CELLS * length - len(cells))


def text(
    subject: Subject,
    *,
    threads: int,
    calls: int,
    listed: Sequence[Client] = (),
    beside: Path | None = None,
) -> str:
    """The source of the program for clients of at most so many threads, with so many calls each.
    Main chooses one of those `listed`, if there are any. Files are named as seen from the folder
    `beside`, by default from anywhere."""
    return "\n".join(_Text(subject, threads, calls, listed, beside).lines()) + "\n"


_CHOICES = 1000
"""Among how many clients main chooses at once."""
_CHOICE = 63
"""The number of the call whose result is the client that was chosen: it tells the histories of
different clients apart."""


class _Text(msgspec.Struct, frozen=True):
    """The lines of the program."""

    subject: Subject
    threads: int
    calls: int
    listed: Sequence[Client]
    beside: Path | None

    def name(self, path: Path) -> str:
        if self.beside is None:
            return str(path.resolve())
        return Path(os.path.relpath(path, self.beside)).as_posix()

    def parameter(self, number: int | str) -> str:
        """What stands for a parameter of the client."""
        if self.listed:
            return f"clients[client][{number}]"
        return f"weakspot_parameter(1 + {number})"

    @property
    def client(self) -> str:
        """The parameter of functions that says which client it is, with a comma."""
        return "long client, " if self.listed else ""

    @property
    def caller(self) -> str:
        """The number of the thread that makes a call: 0 for main."""
        last = BEFORE + self.threads * self.calls
        within = f"1 + (call - {BEFORE}) / {self.calls}"
        return f"call < {BEFORE} || call >= {last} ? 0 : {within}"

    def lines(self) -> Iterator[str]:
        subject = self.subject
        yield "#ifndef WEAKSPOT_OP"
        yield "#define WEAKSPOT_OP(role)"
        yield "#endif"
        if subject.source.binding:
            yield from _declarations(subject)
        else:
            yield f'#include "{self.name(subject.source.path)}"'
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
        held = any(each.takes for each in subject.matches)
        yield f"#define WEAKSPOT_EMPTY ({EMPTY if held else subject.variation.empty}L)"
        yield f"#define WEAKSPOT_CAPACITY {subject.variation.capacity}u"
        yield f"#define WEAKSPOT_RELAXED {subject.variation.relaxed}u"
        yield f"#define WEAKSPOT_QUASI {subject.variation.quasi}u"
        yield f"#define WEAKSPOT_PER_PRODUCER {int(subject.variation.per_producer)}"
        yield "// the thread that calls an operation of the specification"
        yield "static unsigned weakspot_caller;"
        if subject.kind:
            yield subject.kind.text
        elif subject.specification is not None:
            yield f'#include "{self.name(subject.specification)}"'
        yield "static pthread_mutex_t weakspot_one_at_a_time = PTHREAD_MUTEX_INITIALIZER;"
        if subject.waits:
            yield "static pthread_cond_t weakspot_changed = PTHREAD_COND_INITIALIZER;"
        if subject.kind and subject.kind.transfers:
            yield "static long payload[64];"
        if held:
            yield "// incremented by each thread that holds the lock alone"
            yield "static volatile long weakspot_counter;"
            yield "static __thread int weakspot_holds;"
        for operation, match in zip(subject.operations, subject.matches, strict=False):
            if not match.runs:
                continue
            yield "static volatile long weakspot_runs;"
            yield f'#line {operation.line} "{self.name(operation.path)}"'
            yield "static void weakspot_run(void) { weakspot_runs = weakspot_runs + 1; }"
            break
        if self.listed:
            cells = _CELLS * (BEFORE + self.threads * self.calls + AFTER)
            yield f"// of each call: the operation, and two arguments; {BEFORE} calls before the"
            yield f"// threads, {self.calls} in each of {self.threads}, {AFTER} after them"
            yield f"static const signed char clients[{len(self.listed)}][{cells}] = {{"
            for each in self.listed:
                numbers = parameters(each, threads=self.threads, calls=self.calls)[1:]
                yield f"    // {each.text(subject.signatures)}"
                yield f"    {{{', '.join(map(str, numbers))}}},"
            yield "};"
        yield f"static void perform_once({self.client}unsigned call) {{"
        yield f"  long a = {self.parameter(f'{_CELLS} * call + 1')};"
        yield f"  long b = {self.parameter(f'{_CELLS} * call + 2')};"
        yield "  long result = 0;"
        yield f"  switch ({self.parameter(f'{_CELLS} * call')}) {{"
        for number in range(len(subject.operations)):
            operation = subject.operations[number]
            yield from _case(subject, number, self.name(operation.path), self.caller)
        yield "  }"
        yield "}"
        # called through a pointer, it is compiled once, not for each call
        yield f"static void (*const perform)({self.client}unsigned) = perform_once;"
        yield from self.functions()

    def functions(self) -> Iterator[str]:
        """The functions of the threads, and main."""
        which = "client, " if self.listed else ""
        argument = "(void *)client" if self.listed else "0"
        begin = BEFORE
        for number in range(self.threads):
            yield f"static void *thread_{number + 1}(void *given) {{"
            if self.listed:
                yield "  long client = (long)given;"
            yield from (f"  perform({which}{begin + at});" for at in range(self.calls))
            yield "  return given;"
            yield "}"
            begin += self.calls
        yield "int main(void) {"
        if self.listed:
            yield from self.choice()
        if self.subject.source.has_setup:
            yield f"  {SETUP}();"
        yield from (f"  perform({which}{at});" for at in range(BEFORE))
        yield f"  pthread_t threads[{self.threads}];"
        for number in range(self.threads):
            yield f"  if ({self.starts(number)})"
            yield f"    pthread_create(&threads[{number}], 0, thread_{number + 1}, {argument});"
        for number in range(self.threads):
            yield f"  if ({self.starts(number)})"
            yield f"    pthread_join(threads[{number}], 0);"
        for at in range(AFTER):
            yield f"  if ({self.parameter(_CELLS * (begin + at))}) {{"
            yield f"    weakspot_called({begin + at});"
            yield f"    perform({which}{begin + at});"
            yield "  }"
        yield "  return 0;"
        yield "}"

    def choice(self) -> Iterator[str]:
        """Main's choice of a client."""
        count = len(self.listed)
        if count <= _CHOICES:
            yield f"  long client = weakspot_choose({count});"
        else:
            yield f"  long client = weakspot_choose({-(-count // _CHOICES)}) * {_CHOICES};"
            yield f"  client += weakspot_choose({_CHOICES});"
            yield f"  if (client >= {count})"
            yield "    weakspot_discard();"
        yield f'  weakspot_returned({_CHOICE}, "", client);'

    def starts(self, thread: int) -> str:
        return self.parameter(_CELLS * (BEFORE + thread * self.calls))


def _declarations(subject: Subject) -> Iterator[str]:
    """Those of the functions that another translation unit defines."""
    yield "#include <stdbool.h>"
    if subject.source.has_setup:
        yield f"void {SETUP}(void);"
    for each in subject.operations:
        parameters = (*each.parameters, *([each.out] if each.out else []))
        yield f"{each.returns} {each.function}({', '.join(parameters) or 'void'});"


def _case(subject: Subject, number: int, file: str, caller: str) -> Iterator[str]:
    """One operation: as specified, under a lock, or as implemented. `file` is where it is,
    `caller` the number of the thread."""
    operation = subject.operations[number]
    match = subject.matches[number] if subject.matches else None
    names = () if match and match.runs else ("a", "b")[: len(operation.parameters)]
    given = ", ".join((_shown(operation, match), "result", *names))
    returned = f"weakspot_returned(call, {given});"
    # what goes wrong is at the definition of the operation
    place = f'#line {operation.line} "{file}"'
    yield f"  case {number + 1}:"
    if match and match.gives:
        yield "    if (!weakspot_holds)"
        yield "      break;"
        yield "    weakspot_holds = 0;"
    yield "    if (weakspot_parameter(0)) {"
    yield "      pthread_mutex_lock(&weakspot_one_at_a_time);"
    yield f"      weakspot_caller = {caller};"
    yield from (f"      {line}" for line in _specified(subject, operation, match, names))
    yield f"      {returned}"
    if subject.waits:
        yield "      pthread_cond_broadcast(&weakspot_changed);"
    yield "      pthread_mutex_unlock(&weakspot_one_at_a_time);"
    yield "    } else {"
    transfers = subject.kind is not None and subject.kind.transfers
    for line in _implemented(operation, match, names, transfers=transfers):
        yield place
        yield f"      {line}"
    yield place
    yield f"      {returned}"
    yield "    }"
    if match and match.takes:
        yield "    weakspot_holds = result != WEAKSPOT_EMPTY;"
    yield "    break;"


def _shown(operation: Operation, match: KindOperation | None) -> str:
    """How a call is written: what it does beside, and `=` before its result if it has one."""
    if match and match.runs:
        return f'"{operation.name}(run); runs ="'
    if match and match.takes:
        count = "counter++" if match.takes == "alone" else "counter"
        if match.waits:
            return f'"{operation.name}(); {count} ="'
        return f'"{operation.name}() ? {count} : {EMPTY} ="'
    if match and match.gives:
        return f'"{operation.name}()"'
    equals = " =" if operation.returns != "void" or operation.out else ""
    return f'"{operation.name}({", ".join("%" * len(operation.parameters))}){equals}"'


def _specified(
    subject: Subject, operation: Operation, match: KindOperation | None, names: Sequence[str]
) -> Iterator[str]:
    """Statements that set the result to what the operation returns as specified."""
    if match is None:
        yield from _spurious(subject, operation, "WEAKSPOT_EMPTY")
        yield _performed(operation, f"spec_{operation.name}", names)
        return
    failed = "0" if match.must else "WEAKSPOT_EMPTY"
    yield from _spurious(subject, operation, failed)
    call = f"weakspot_{match.name}({', '.join(names)})"
    silent = operation.returns == "void" and not operation.out and not match.takes
    if operation.name in subject.variation.blocking or match.waits:
        yield f"while ((result = {call}) == {failed})"
        yield "  pthread_cond_wait(&weakspot_changed, &weakspot_one_at_a_time);"
    else:
        yield f"result = {call};"
        if silent and match.must:
            yield "if (!result) weakspot_discard();"
    if silent and not match.runs:
        yield "result = 0;"


def _spurious(subject: Subject, operation: Operation, failed: str) -> Iterator[str]:
    if operation.name in subject.variation.spurious:
        yield "if (weakspot_choose(2))"
        yield f"  result = {failed};"
        yield "else"


def _implemented(
    operation: Operation, match: KindOperation | None, names: Sequence[str], *, transfers: bool
) -> Iterator[str]:
    """Statements that perform the operation and set the result."""
    if match is None:
        yield _performed(operation, operation.function, names)
    elif match.runs:
        yield f"{operation.function}(weakspot_run);"
        yield "result = weakspot_runs;"
    elif match.takes:
        if match.waits:
            yield f"{operation.function}();"
            yield "result = weakspot_counter;"
        else:
            yield f"result = {operation.function}() ? weakspot_counter : WEAKSPOT_EMPTY;"
        if match.takes == "alone":
            counted = "weakspot_counter = result + 1;"
            yield counted if match.waits else f"if (result != WEAKSPOT_EMPTY) {counted}"
    elif match.gives:
        yield f"{operation.function}();"
    else:
        if transfers and match.arguments:
            yield "payload[a] = 1;"
        yield _performed(operation, operation.function, names)
        if transfers and not match.arguments:
            yield "if (result > 0 && result < 64) (void)*(volatile long *)&payload[result];"


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
