"""The operations of a concurrent object: functions of a C or C++ file; for Rust, see
`rust_operations`.

In: a file, and which of its functions are operations; without that, those that are marked with
`WEAKSPOT_OP(ROLE)`, or else all that are not static. Out: Operations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.scaffold.declarations import Function, Parameter, read_text

SETUP = "weakspot_setup"
"""A function of this name is called before any operation."""
MOST_ARGUMENTS = 2
"""How many arguments an operation has at most."""
MARK = re.compile(r"\bWEAKSPOT_OP\s*\(([^()]*)\)")


class Operation(msgspec.Struct, frozen=True):
    """A function that is an operation: the types that it returns and takes, as written; `out` is
    the type of a last parameter through which it returns a value beside a bool, with `*` or `&`.
    All calls of the operations of one `role` are made by one thread. `symbol` is the function that
    clients call, if it has another name."""

    name: str
    returns: str
    parameters: tuple[str, ...]
    out: str
    role: str
    path: Path
    line: int
    symbol: str = ""

    @property
    def function(self) -> str:
        """The function that clients call."""
        return self.symbol or self.name

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"


class Source(msgspec.Struct, frozen=True):
    """The operations in a file, and whether it has a function that prepares the object. `binding`
    is a Rust crate that defines these as functions of C, if the file is a crate that it uses."""

    path: Path
    operations: tuple[Operation, ...]
    has_setup: bool
    binding: str = ""


def read(
    path: Path, names: Sequence[str] = (), roles: Mapping[str, Sequence[str]] | None = None
) -> Source:
    """The operations in a file; those of these names, if any are given. `roles` are the names of
    operations by their role. Raises BadInput."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from error
    role_of = {name: role for role, of in (roles or {}).items() for name in of}
    blank = MARK.sub(lambda found: " " * len(found[0]), text)
    source = blank.encode()
    declared = read_text(str(path), source)
    marks: dict[str, str] = {}
    for found in MARK.finditer(text):
        at = len(text[: found.start()].encode())
        marked = next((each for each in declared.functions if each.at > at), None)
        if marked is not None and b"}" not in source[at : marked.at]:  # of nothing in between
            marks[marked.name] = found[1].strip()
    defined = {each.name: each for each in declared.functions if each.defined}
    setup = defined.pop(SETUP, None)
    if "main" in defined:
        raise BadInput(
            "a program, not the operations of an object: it defines main",
            place=str(path),
            advice="name a file that defines the operations only: each is called by programs that "
            "are generated",
        )
    chosen = names or [name for name in defined if name in marks]
    if not chosen:
        chosen = [each.name for each in defined.values() if not each.static]
    for name in (*chosen, *role_of):
        if name not in defined:
            raise BadInput(
                f"{path} does not define {name}",
                advice=f"it defines {', '.join(defined) or 'no functions'}",
            )
    if not chosen:
        raise BadInput(
            "no operations in this file",
            place=str(path),
            advice="define a function for each operation of the object, with numbers or pointers "
            "as arguments: void put(int value) { queue.push(value); }",
        )
    operations = tuple(
        _operation(defined[name], path, source, role_of.get(name, marks.get(name, "")))
        for name in dict.fromkeys(chosen)
    )
    return Source(path, operations, setup is not None)


def _operation(found: Function, path: Path, source: bytes, role: str) -> Operation:
    line = 1 + source.count(b"\n", 0, found.at)
    parameters = [_plain(each) for each in found.parameters]
    out = ""
    last = found.parameters[-1].type if found.parameters else ""
    if last.endswith("&") and not last.endswith("&&") and not last.startswith("const "):
        out = last
        parameters.pop()
    return Operation(found.name, found.returns, tuple(parameters), out, role, path, line)


def _plain(parameter: Parameter) -> str:
    bare = parameter.type.removesuffix("&&").removesuffix("&")
    return bare.removeprefix("const ") if not bare.endswith("*") else bare


def with_out(operation: Operation, arguments: int) -> Operation:
    """The operation with so many arguments: a pointer beyond them is one through which it returns a
    value. Raises BadInput for another number of them."""
    given = operation.parameters
    if not operation.out and len(given) == arguments + 1 and given[-1].endswith("*"):
        return msgspec.structs.replace(operation, parameters=given[:-1], out=given[-1])
    if len(given) == arguments:
        return operation
    raise BadInput(
        f"{operation.name} has {len(given)} arguments, not {arguments}",
        place=operation.place,
        advice="write a function around it that has them",
    )
