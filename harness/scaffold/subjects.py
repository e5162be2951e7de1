"""The objects of a header that two threads may use: how each is declared, made ready and called."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from weakspot.harness.scaffold.declarations import Class, Declarations, Function, Parameter

STARTS = re.compile(r"(?:.*_)?(?:init|initialize|setup|reset|create)", re.IGNORECASE)
_ENDS = re.compile(r"(?:.*_)?(?:destroy|free|delete|deinit|fini|close|init|create)", re.IGNORECASE)
NUMBER = re.compile(
    r"(?:const )?(?:std::)?(?:(?:unsigned|signed) ?)?(?:int|long|long long|short|char|bool|_Bool"
    r"|size_t|size_type|u?int(?:8|16|32|64|ptr)?_t|unsigned)|unsigned|uint\d+|u?int"
)
_CAPACITY = re.compile(r"(?:.*_)?(?:n|.*(?:capacity|size|slots|elements?(?:_?count)?))_?", re.I)


def subjects(declared: Declarations, named: str = "", *, size: int = 2) -> Iterator[Subject]:
    """The objects that two threads may use, what has a similar name first. A number that one needs
    to be made, such as a capacity, is `size`."""
    found: list[Subject | None] = []
    if declared.cpp:
        classes = sorted(declared.classes, key=lambda each: distance(each.name, named))
        found += [_of_class(each, size) for each in classes]
    found += _of_functions(declared.functions, size)
    yield from (each for each in found if each is not None)


def plain(parameter: Parameter, types: dict[str, str]) -> str:
    """The type of the value that is passed, without const and references."""
    bare = parameter.type.removesuffix("&&").removesuffix("&").removeprefix("const ")
    return resolved(bare, types)


def resolved(type_: str, types: dict[str, str]) -> str:
    return re.sub(r"\w+", lambda word: types.get(word[0], word[0]), type_.strip())


def distance(name: str, named: str) -> int:
    """0 for the same name, 1 for one that is part of the other, 2 for any other."""
    plain = name.rpartition("::")[2].replace("_", "").lower()
    other = named.replace("_", "").replace("-", "").lower()
    if not other or (other not in plain and plain not in other):
        return 2
    return int(plain != other)


class Subject(msgspec.Struct, frozen=True):
    """An object that both threads use: how it is declared, made ready and called. `functions` have
    only the parameters that a caller gives; `types` are what its template's parameters stand
    for."""

    name: str
    declaration: str
    ready: str
    functions: tuple[Function, ...]
    call: Callable[[Function, str], str]
    types: dict[str, str]

    def types_in(self, function: Function) -> dict[str, str]:
        """What the names of types in a function's declaration stand for."""
        return {**self.types, **dict.fromkeys(function.types, "int")}


def _of_class(found: Class, size: int) -> Subject | None:
    needed = [each for each in found.template if not each.default]
    if found.base or any(each.kind == "other" for each in needed):
        return None
    given = ", ".join("int" if each.kind == "type" else str(size) for each in needed)
    name = f"{found.name}<{given}>" if found.template else found.name
    arguments = ""
    numbers = [
        each
        for each in found.constructors
        if each.needed and all(NUMBER.fullmatch(one.type) for one in each.needed)
    ]
    # one without arguments may leave a container without room
    if any(not each.needed for each in found.constructors):
        numbers = [each for each in numbers if _CAPACITY.fullmatch(each.needed[0].name)]
    elif found.constructors and not numbers:
        return None
    if numbers:
        fewest = min(len(each.needed) for each in numbers)
        arguments = f"({', '.join([str(size)] * fewest)})"
    types = {each.name: "int" for each in needed if each.kind == "type"}
    return Subject(
        name=name,
        declaration=f"{name} object{arguments};",
        ready="",
        functions=tuple(each for each in found.functions if not each.static),
        call=lambda function, arguments: f"object.{function.name}({arguments})",
        types=types,
    )


def _of_functions(functions: Sequence[Function], size: int) -> Iterator[Subject | None]:
    """One subject per type that functions take a pointer to."""
    types: dict[str, list[Function]] = {}
    for each in functions:
        if each.name.startswith("_"):  # not for users
            continue
        if each.parameters and re.fullmatch(r"(?:struct )?\w+\*", each.parameters[0].type):
            types.setdefault(each.parameters[0].type[:-1], []).append(each)
    for type_, found in types.items():
        if NUMBER.fullmatch(type_) or type_ in ("void", "char"):
            continue
        start = next((each for each in found if STARTS.fullmatch(each.name)), None)
        ready = ""
        if start is not None:
            given = [
                str(size) if NUMBER.fullmatch(each.type) else room_for(each)
                for each in start.needed[1:]
            ]
            if not all(given):
                continue
            ready = f"{start.name}({', '.join(['&object', *given])});"
        room = declared_room(start.needed[1:] if start is not None else (), size)
        yield Subject(
            name=type_,
            declaration=f"{room}static {type_} object;",
            ready=ready,
            functions=tuple(
                msgspec.structs.replace(each, parameters=each.parameters[1:])
                for each in found
                if each is not start and not _ENDS.fullmatch(each.name)
            ),
            call=lambda function, arguments: (
                f"{function.name}({', '.join(filter(None, ('&object', arguments)))})"
            ),
            types={},
        )


_ROOM = re.compile(r"(?:const )?((?:struct )?[a-z]\w*)\*")
_SEVERAL = re.compile(r".*(?:buffer|array|slots|storage|ring)", re.IGNORECASE)


def room_for(parameter: Parameter) -> str:
    """The address of room that the caller gives, of the parameter's name; empty for another
    parameter."""
    found = _ROOM.fullmatch(parameter.type)
    if found is None or not parameter.name or NUMBER.fullmatch(found[1]):
        return ""
    if found[1] in ("void", "char", "float", "double"):
        return ""
    return parameter.name if _SEVERAL.fullmatch(parameter.name) else f"&{parameter.name}"


def declared_room(parameters: Sequence[Parameter], size: int) -> str:
    """The definitions of what `room_for` names, each in a line of its own."""
    lines = []
    for each in parameters:
        if (found := _ROOM.fullmatch(each.type)) is not None and (given := room_for(each)):
            count = "" if given.startswith("&") else f"[{size}]"
            lines.append(f"static {found[1]} {each.name}{count};\n")
    return "".join(dict.fromkeys(lines))
