"""Functions with a variable number of arguments, in the text of LLVM IR.

Such a function gets one more parameter, a pointer to the arguments that are not named: the caller
stores these one after another, eight bytes each, as the System V ABI for x86-64 does with what does
not fit into registers (section 3.5.7). The function's `va_list` says that the registers are used
up, so that clang's code for `va_arg` reads only the memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from weakspot.generators.source.irtext import closing, parts

_HEADER = re.compile(
    r'^(?P<start>(?:define|declare) [^@\n]*@(?P<name>"[^"]*"|[-\w$.]+)\([^\n]*)\.\.\.\)',
    re.MULTILINE,
)
_FUNCTION = re.compile(
    r'^define [^@\n]*@(?P<name>"[^"]*"|[-\w$.]+)\([^\n]*\{\n(?:[-\w$.]+:[^\n]*\n)?', re.MULTILINE
)
_CALL = re.compile(
    r"^(?P<indent> +)(?P<head>(?:%\S+ = )?(?:tail |notail )?(?:call|invoke) [^(\n]*?)"
    r'\((?P<types>[^()\n]+), \.\.\.\) (?P<callee>@"[^"]*"|[@%][-\w$.]+)\(',
    re.MULTILINE,
)
_START = re.compile(
    r"^ +call void @llvm\.va_start[^(]*\(ptr (?:[a-z]+ )*(?P<list>%\S+?)\)[^\n]*\n", re.MULTILINE
)
_COPY = re.compile(
    r"^ +call void @llvm\.va_copy[^(]*\(ptr (?:[a-z]+ )*(?P<to>%\S+?), "
    r"ptr (?:[a-z]+ )*(?P<source>%\S+?)\)[^\n]*\n",
    re.MULTILINE,
)
_END = re.compile(r"^ +call void @llvm\.va_end[^\n]*\n", re.MULTILINE)
_ARGUMENT = re.compile(r"(?P<type>i32|i64|ptr|double) (?:(?:noundef|nonnull|signext|zeroext) )*")
_LIST = (
    (0, "i32", "48"),
    (4, "i32", "176"),
    (8, "ptr", "%weakspot.arguments"),
    (16, "ptr", "null"),
)
"""The members of a `va_list` whose registers are used up: offset, type, value."""


def replace_variadic(texts: Sequence[str]) -> list[str]:
    """The modules of a program with a fixed number of arguments for each function that one of them
    defines. A function that is called with anything but pointers and numbers of 32 or 64 bits stays
    as it is."""
    headers = [match for text in texts for match in _HEADER.finditer(text)]
    names = {match["name"] for match in headers if match[0].startswith("define")}
    if not names:
        return list(texts)
    for call in (call for text in texts for call in _calls(text)):
        if call.rest is None:  # a pointer may lead to any of them
            names -= {call.name} if call.name else names
    return [_replaced(text, names) for text in texts]


def _replaced(text: str, names: set[str]) -> str:
    def header(match: re.Match[str]) -> str:
        if match["name"] not in names:
            return match[0]
        named = " %weakspot.arguments" if match[0].startswith("define") else ""
        return f"{match['start']}ptr{named})"

    text = _HEADER.sub(header, text)
    functions = [*_FUNCTION.finditer(text)]
    starts = [*(match.start() for match in functions), len(text)]
    pieces = [text[: starts[0]]]
    for function, end in zip(functions, starts[1:], strict=True):
        body = text[function.end() : end]
        if function["name"] in names:
            body = _START.sub(lambda match: "".join(_started(match["list"], match.start())), body)
        body = _END.sub("", _COPY.sub(lambda match: "".join(_copied(match)), body))
        pieces += [function[0], *_passed(body, names)]
    return "".join(pieces)


def _started(name: str, number: int) -> Iterator[str]:
    for offset, type_, value in _LIST:
        yield f"  %weakspot.{number}.{offset} = getelementptr i8, ptr {name}, i64 {offset}\n"
        yield f"  store {type_} {value}, ptr %weakspot.{number}.{offset}, align 4\n"


def _copied(match: re.Match[str]) -> Iterator[str]:
    for offset, type_, _ in _LIST:
        name = f"%weakspot.copy.{match.start()}.{offset}"
        yield f"  {name} = getelementptr i8, ptr {match['source']}, i64 {offset}\n"
        yield f"  {name}.to = getelementptr i8, ptr {match['to']}, i64 {offset}\n"
        yield f"  {name}.value = load {type_}, ptr {name}, align 4\n"
        yield f"  store {type_} {name}.value, ptr {name}.to, align 4\n"


class _Call(msgspec.Struct, frozen=True):
    """A call of a variadic function between two positions of a text; `name` is empty for a call
    through a pointer. `rest` are the arguments that are not named, as type and value; None if one
    is of another type."""

    start: int
    end: int
    indent: str
    head: str
    callee: str
    named: tuple[str, ...]
    rest: tuple[tuple[str, str], ...] | None

    @property
    def name(self) -> str:
        return self.callee[1:] if self.callee.startswith("@") else ""


def _calls(text: str) -> Iterator[_Call]:
    for match in _CALL.finditer(text):
        end = closing(text, match.end())
        given = parts(text[match.end() : end - 1])
        named = len(parts(match["types"]))
        rest = [_ARGUMENT.match(each) for each in given[named:]]
        yield _Call(
            match.start(),
            end,
            match["indent"],
            match["head"],
            match["callee"],
            tuple(given[:named]),
            tuple((each["type"], each.string[each.end() :]) for each in rest if each)
            if all(rest)
            else None,
        )


def _passed(body: str, names: set[str]) -> Iterator[str]:
    """The body of a function, which stores the arguments of calls. The memory for them is at the
    beginning, so that a loop does not get more of it each time."""
    calls = [
        call
        for call in _calls(body)
        if call.rest is not None and (not call.name or call.name in names)
    ]
    for call in calls:
        yield f"  %weakspot.call.{call.start} = alloca [{len(call.rest or ' ')} x i64], align 16\n"
    done = 0
    for call in calls:
        area = f"%weakspot.call.{call.start}"
        yield body[done : call.start]
        for number, (type_, value) in enumerate(call.rest or ()):
            slot = f"{area}.{number}"
            yield f"{call.indent}{slot} = getelementptr i8, ptr {area}, i64 {8 * number}\n"
            yield f"{call.indent}store {type_} {value}, ptr {slot}, align 8\n"
        yield f"{call.indent}{call.head}{call.callee}({', '.join([*call.named, f'ptr {area}'])})"
        done = call.end
    yield body[done:]
