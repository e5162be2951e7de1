"""The operations of an object that a header declares, as functions: a first file for `weakspot
linearize`.

In: the declarations of a header, and a kind of object. Out: the text of a C or C++ file that
defines the object and one function per operation of the kind, guessed from names and types. Nothing
here knows whether it compiles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from weakspot.harness.clients.kinds import Kind, KindOperation, matching
from weakspot.harness.scaffold.declarations import Declarations, Function
from weakspot.harness.scaffold.subjects import NUMBER, Subject, plain, resolved, subjects

ROOM = 16
"""More items than any client puts in."""
_FUNCTION = re.compile(
    r"void\s*\(\)\s*\((?:void)?\)\s*\*|(?:const )?(?:std::)?function<void ?\((?:void)?\)>&{0,2}"
)
_OPTIONAL = re.compile(r"(?:std::)?(?:optional|expected)<.*>")


def files(
    declared: Declarations, kind: Kind, includes: Sequence[str], named: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Texts that may do, the best guess first, each with the functions of the header that it
    calls."""
    for subject in subjects(declared, named, size=ROOM):
        found: dict[str, tuple[Function, list[str]]] = {}
        for function in sorted(subject.functions, key=lambda each: bool(each.types)):
            operation = matching(kind, function.name.rpartition("::")[2])
            if operation is None or operation.name in found:
                continue
            lines = _wrapper(subject, function, operation, cpp=declared.cpp)
            if lines:
                found[operation.name] = (function, lines)
        if len(found) < min(2, len(kind.operations)):
            continue
        text = [f'#include "{each}"' for each in includes]
        if not declared.cpp:
            text.append("#include <stdbool.h>")
        text += [
            "",
            subject.declaration
            if subject.declaration.startswith("static ")
            else f"static {subject.declaration}",
        ]
        if subject.ready:
            text += ["", f"void weakspot_setup(void) {{ {subject.ready} }}"]
        for _, lines in found.values():
            text += ["", *lines]
        yield "\n".join(text) + "\n", tuple(function.name for function, _ in found.values())


def _wrapper(
    subject: Subject, function: Function, operation: KindOperation, *, cpp: bool
) -> list[str]:
    """A function around one of the header's; empty if its types are not understood."""
    given = function.needed
    types = subject.types_in(function)
    returns = resolved(function.returns, types)
    if operation.takes or operation.gives or operation.runs:
        # what a number that a try returns means differs from lock to lock
        tells = operation.takes and not operation.waits
        if len(given) != operation.runs or (tells and returns not in ("bool", "_Bool")):
            return []
        if operation.runs and not function.types and not _FUNCTION.fullmatch(given[0].type):
            return []
        call = subject.call(function, "function" if operation.runs else "")
        parameters = ["void (*function)(void)"] if operation.runs else []
        body = [f"return {call};" if tells else f"{call};"]
        return _defined("bool" if tells else "void", operation, parameters, body, cpp=cpp)
    count = len(operation.arguments)
    values, rest = given[:count], given[count:]
    if len(values) < count or len(rest) > 1:
        return []
    if not all(NUMBER.fullmatch(plain(each, types)) for each in values):
        return []
    names = ("value", "other")[:count] if count != 2 else ("key", "value")
    parameters = [f"long {name}" for name in names]
    passed = [
        f"static_cast<{plain(each, types)}>({name})" if each.type.endswith("&&") else name
        for each, name in zip(values, names, strict=True)
    ]
    if rest:
        out = rest[0].type
        if returns not in ("bool", "_Bool", "int") or not out.endswith(("&", "*")):
            return []
        type_ = resolved(out[:-1].strip(), types)
        if not NUMBER.fullmatch(type_):
            return []
        parameters.append(f"{type_} {'&' if cpp else '*'}found")
        argument = "found" if out.endswith("&") or not cpp else "&found"
        call = subject.call(function, ", ".join((*passed, argument)))
        return _defined("bool", operation, parameters, [f"return {call};"], cpp=cpp)
    call = subject.call(function, ", ".join(passed))
    if returns == "void" or (operation.must and NUMBER.fullmatch(returns)):
        tells = returns in ("bool", "_Bool")
        body = [f"return {call};" if tells else f"{call};"]
        return _defined("bool" if tells else "void", operation, parameters, body, cpp=cpp)
    if _OPTIONAL.fullmatch(returns):
        body = [f"auto item = {call};", "if (item) found = *item;", "return bool(item);"]
        return _defined("bool", operation, [*parameters, "int &found"], body, cpp=cpp)
    # a bool says whether there was a value, which is lost
    if NUMBER.fullmatch(returns) and (operation.arguments or returns not in ("bool", "_Bool")):
        return _defined(returns, operation, parameters, [f"return {call};"], cpp=cpp)
    return []


def _defined(
    returns: str,
    operation: KindOperation,
    parameters: Sequence[str],
    body: Sequence[str],
    *,
    cpp: bool,
) -> list[str]:
    listed = ", ".join(parameters) or ("" if cpp else "void")
    return [f"{returns} {operation.name}({listed}) {{", *(f"  {line}" for line in body), "}"]
