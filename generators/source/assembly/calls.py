"""Calls of inline assembly in LLVM IR, and the C functions that take their place.

An assembly call is replaced by a call of a wrapper with the same types, written in IR; the wrapper
calls the C function, which returns results through pointers, so that no calling convention matters.
Both are inlined later, and the site of what they do is the statement in the user's code.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from weakspot.generators.source.assembly.instructions import statements
from weakspot.generators.source.assembly.meaning import WRAPPER, Meaning
from weakspot.generators.source.assembly.operands import (
    Argument,
    NotUnderstood,
    Operands,
    c_type,
    read_operands,
)
from weakspot.generators.source.irtext import closing, parts

_CALL = re.compile(
    r"^(?P<indent> +)(?:(?P<result>%\S+) = )?(?:tail |notail )?call (?P<type>\{[^}]*\}|\S+) asm"
    r"(?: sideeffect| alignstack| unwind)*(?P<intel> inteldialect)?(?: unwind)?"
    r' "(?P<template>[^"]*)", "(?P<constraints>[^"]*)"\(',
    re.MULTILINE,
)

_ELEMENT = re.compile(r' elementtype\(((?:"[^"]*"|[^)"])*)\)')


def replace_assembly(text: str, meanings: Sequence[Meaning] = ()) -> tuple[str, dict[str, str]]:
    """The IR with its understood assembly replaced, and the C functions by name."""
    functions: dict[str, str] = {}
    wrappers: dict[str, str] = {}
    pieces: list[str] = []
    done = 0
    for match in _CALL.finditer(text):
        end = closing(text, match.end())
        given = parts(text[match.end() : end - 1])
        results = parts(match["type"].strip("{} ")) if match["type"] != "void" else []
        arguments = tuple(map(_argument, given))
        try:
            made = _function(
                match["template"],
                match["constraints"],
                tuple(results),
                arguments,
                meanings,
                intel=match["intel"] is not None,
            )
        except NotUnderstood:
            continue
        name, function = made
        functions[name] = function
        wrappers[name] = _wrapper(name, match["type"], results, arguments)
        values = ", ".join(_ELEMENT.sub("", each) for each in given)
        result = f"{match['result']} = " if match["result"] else ""
        pieces.append(text[done : match.start()])
        pieces.append(f"{match['indent']}{result}call {match['type']} @{name}({values})")
        # attributes and !srcloc belong to the assembly
        rest = re.compile(r"[^\n]*").match(text, end)
        done = rest.end() if rest else end
        if rest and (place := re.search(r", !dbg !\d+", rest[0])):
            pieces.append(place[0])
    if not functions:
        return text, {}
    pieces.append(text[done:])
    return "".join(pieces) + "\n" + "\n".join(wrappers.values()), functions


def source(functions: dict[str, str]) -> str:
    """A C file with the functions."""
    return "\n".join(
        [
            '#include <stdint.h>\n#line 1 "<weakspot/assembly>"',
            *(functions[name] for name in sorted(functions)),
        ]
    )


def _function(
    template: str,
    constraints: str,
    results: tuple[str, ...],
    arguments: tuple[Argument, ...],
    meanings: Sequence[Meaning],
    *,
    intel: bool,
) -> tuple[str, str]:
    """The name of the wrapper, and the C function. Raises NotUnderstood."""
    operands = read_operands(constraints, results, arguments)
    given = _given(template, operands, meanings)
    body = statements(template, operands, intel=intel) if given is None else [given]
    lines = [
        f"{c_type(type_)} {name}{f' = {initial}' if initial else ''};"
        for name, (type_, initial) in operands.variables.items()
    ]
    lines += ["int zf = 0, cf = 0, sf = 0;", *body]
    lines += [
        f"*r{n} = ({c_type(t)})v;".replace("v;", f"{v};")
        for n, (t, v) in enumerate(zip(results, operands.results, strict=True))
    ]
    parameters = [f"{c_type(type_)} *r{n}" for n, type_ in enumerate(results)]
    parameters += [f"{c_type(each.type)} a{n}" for n, each in enumerate(arguments)]
    text = "\n  ".join(lines)
    digest = hashlib.sha256(f"{constraints}{results}{parameters}{text}".encode()).hexdigest()[:16]
    name = f"{WRAPPER}{digest}"
    return name, f"void {name}_body({', '.join(parameters) or 'void'}) {{\n  {text}\n}}"


def _given(template: str, operands: Operands, meanings: Sequence[Meaning]) -> str | None:
    """The user's C body for the assembly, in terms of the variables."""
    text = written(template)
    for meaning in meanings:
        if not fnmatchcase(text, " ".join(meaning.pattern.split())):
            continue

        def operand(match: re.Match[str]) -> str:
            number = int(match[1])
            if number >= len(operands.by_number):
                raise NotUnderstood(match[0])
            return operands.by_number[number].text

        return re.sub(r"%(\d+)", operand, meaning.body)
    return None


def written(template: str) -> str:
    """A template as it stands in the source: $0 is %0, ${0:b} is %b0."""
    text = re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), template)
    text = text.replace("%", "%%")
    text = re.sub(r"\$\{(\d+):(\w)\}", r"%\2\1", text)
    text = re.sub(r"\$(\d)", r"%\1", text.replace("$$", "\0")).replace("\0", "$")
    return " ".join(text.split())


def _wrapper(name: str, type_: str, results: Sequence[str], arguments: Sequence[Argument]) -> str:
    parameters = ", ".join(f"{each.type} %a{n}" for n, each in enumerate(arguments))
    pointers = [f"ptr %r{n}" for n, _ in enumerate(results)]
    passed = ", ".join(filter(None, [*pointers, parameters]))
    declared = ", ".join(["ptr"] * len(results) + [each.type for each in arguments])
    lines = [f"define internal {type_} @{name}({parameters}) {{"]
    lines += [f"  %r{n} = alloca {each}" for n, each in enumerate(results)]
    lines.append(f"  call void @{name}_body({passed})")
    lines += [f"  %v{n} = load {each}, ptr %r{n}" for n, each in enumerate(results)]
    if type_.startswith("{"):
        whole = "poison"
        for n, each in enumerate(results):
            lines.append(f"  %w{n} = insertvalue {type_} {whole}, {each} %v{n}, {n}")
            whole = f"%w{n}"
        lines.append(f"  ret {type_} {whole}")
    else:
        lines.append(f"  ret {type_} %v0" if results else "  ret void")
    return "\n".join([*lines, "}", "", f"declare void @{name}_body({declared})", ""])


def _argument(text: str) -> Argument:
    element = _ELEMENT.search(text)
    return Argument(text.split(" ", 1)[0], element[1] if element else None)
