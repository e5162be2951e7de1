"""First programs for a header: two threads that use what it declares, and an assertion.

In: the declarations of a header. Out: `Scenario` values, the most informative first, written from
names: a value that one thread puts in and another takes out, a lock around a plain counter, or two
calls at once. Nothing here knows whether a scenario compiles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from weakspot.harness.scaffold.declarations import Class, Declarations, Function, Parameter

_PART = (
    r"(?:_?(?:back|front|bottom|top|head|tail|left|right|item|value|one))?"
    r"(?:_(?:[sm]p|[sm]c|[usm]p[sm]c))?"
)
PUTS = re.compile(
    rf"(?:.*_)?(?:try_?)?(?:push|enqueue|emplace|put|send|write|offer|add|insert|produce|publish|store"
    rf"|set|append){_PART}",
    re.IGNORECASE,
)
TAKES = re.compile(
    rf"(?:.*_)?(?:try_?)?(?:pop|dequeue|get|recv|receive|read|poll|take|consume|steal|fetch|load"
    rf"|remove){_PART}",
    re.IGNORECASE,
)
LOCKS = (("lock", "unlock"), ("acquire", "release"), ("enter", "leave"), ("enter", "exit"))
STARTS = re.compile(r"(?:.*_)?(?:init|initialize|setup|reset|create)", re.IGNORECASE)
_ENDS = re.compile(r"(?:.*_)?(?:destroy|free|delete|deinit|fini|close|init|create)", re.IGNORECASE)
NUMBER = re.compile(
    r"(?:const )?(?:std::)?(?:(?:unsigned|signed) ?)?(?:int|long|long long|short|char|bool|_Bool"
    r"|size_t|size_type|u?int(?:8|16|32|64|ptr)?_t|unsigned)|unsigned|uint\d+|u?int"
)
_CAPACITY = re.compile(r"(?:.*_)?(?:n|.*(?:capacity|size|slots|elements?(?:_?count)?))_?", re.I)


class Scenario(msgspec.Struct, frozen=True):
    """The text of a program, and a phrase that says what it does. `asserts`: it states something
    that must hold."""

    text: str
    does: str
    asserts: bool = True


def scenarios(
    declared: Declarations, includes: Sequence[str], named: str = ""
) -> Iterator[Scenario]:
    """Programs for a header, which is included as written in `includes`. `named` is the header's
    name without suffix: what has a similar name comes first, then what asserts something."""
    frame = _cpp if declared.cpp else _c
    found = [
        (_distance(subject.name.partition("<")[0], named), not scenario.asserts, scenario)
        for subject in subjects(declared, named)
        for scenario in _of_subject(subject, lambda *parts: frame(includes, *parts))
    ]
    yield from (each for *_, each in sorted(found, key=lambda ranked: ranked[:2]))


def subjects(declared: Declarations, named: str = "", *, size: int = 2) -> Iterator[Subject]:
    """The objects that two threads may use, what has a similar name first. A number that one needs
    to be made, such as a capacity, is `size`."""
    found: list[Subject | None] = []
    if declared.cpp:
        classes = sorted(declared.classes, key=lambda each: _distance(each.name, named))
        found += [_of_class(each, size) for each in classes]
    found += _of_functions(declared.functions, size)
    yield from (each for each in found if each is not None)


def template(includes: Sequence[str], *, cpp: bool) -> str:
    """A program that says what to fill in, and does not compile until it is."""
    note = (
        "#error fill in the object, one operation per thread and what must hold, then remove "
        "this line"
    )
    make, example, calls = (
        (_cpp, "Queue<int, 2> object;", ("object.push(42);", "assert(object.pop() == 42);"))
        if cpp
        else (_c, "static struct queue object;", ("push(&object, 42);", "pop(&object);"))
    )
    declared = f"// the object that both threads use, for example: {example}"
    after = ("// assert here what must hold when both threads have ended",)
    one, other = (f"// for example: {each}" for each in calls)
    text = make(includes, declared, "", one, other, after)
    return f"{note}\n{text}"


def _distance(name: str, named: str) -> int:
    """0 for the same name, 1 for one that is part of the other, 2 for any other."""
    plain = name.rpartition("::")[2].replace("_", "").lower()
    other = named.replace("_", "").replace("-", "").lower()
    if not other or (other not in plain and plain not in other):
        return 2
    return int(plain != other)


# --- what both threads use -----------------------------------------------------------------------


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
                str(size) if NUMBER.fullmatch(each.type) else _room_for(each)
                for each in start.needed[1:]
            ]
            if not all(given):
                continue
            ready = f"{start.name}({', '.join(['&object', *given])});"
        room = _declared_room(start.needed[1:] if start is not None else (), size)
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


def _room_for(parameter: Parameter) -> str:
    """The address of room that the caller gives, of the parameter's name; empty for another
    parameter."""
    found = _ROOM.fullmatch(parameter.type)
    if found is None or not parameter.name or NUMBER.fullmatch(found[1]):
        return ""
    if found[1] in ("void", "char", "float", "double"):
        return ""
    return parameter.name if _SEVERAL.fullmatch(parameter.name) else f"&{parameter.name}"


def _declared_room(parameters: Sequence[Parameter], size: int) -> str:
    """The definitions of what `_room_for` names, each in a line of its own."""
    lines = []
    for each in parameters:
        if (found := _ROOM.fullmatch(each.type)) is not None and (given := _room_for(each)):
            count = "" if given.startswith("&") else f"[{size}]"
            lines.append(f"static {found[1]} {each.name}{count};\n")
    return "".join(dict.fromkeys(lines))


# --- what the threads do -------------------------------------------------------------------------

_Frame = Callable[..., str]


def _of_subject(subject: Subject, frame: _Frame) -> Iterator[Scenario]:
    yield from _passing(subject, frame)
    yield from _locking(subject, frame)
    yield from _calling(subject, frame)


def _passing(subject: Subject, frame: _Frame) -> Iterator[Scenario]:
    """A value that one thread puts in and the other takes out."""
    for put in subject.functions:
        room, rest = _divided(put)
        if not PUTS.fullmatch(put.name) or len(rest) != 1:
            continue
        value = plain(rest[0], subject.types_in(put))
        pointed = value.removesuffix("*") if value.endswith("*") else ""
        if pointed in ("void", "int"):
            item, given, first = "static int item;\n", "&item", "item = 42;\n  "
        elif NUMBER.fullmatch(value):
            item, given, first = "", "42", ""
        else:
            continue
        for take in subject.functions:
            if take is put or not TAKES.fullmatch(take.name):
                continue
            body = _taking(subject, take, value, bool(pointed))
            own = _declared_room([*room, *_divided(take)[0]], 2)
            lines = f"{item}{own}{subject.declaration}".split("\n")
            if body:
                yield Scenario(
                    frame(
                        "\n".join(dict.fromkeys(lines)),
                        subject.ready,
                        f"{first}{subject.call(put, _arguments(put, given))};",
                        body,
                        (),
                    ),
                    f"{subject.name}: {put.name} in one thread, {take.name} in the other",
                )


def _divided(function: Function) -> tuple[list[Parameter], list[Parameter]]:
    """The parameters for room that the caller gives, beside a value, and the other parameters."""
    room = [each for each in function.needed if _room_for(each)] if function.needed[1:] else []
    return room, [each for each in function.needed if each not in room]


def _arguments(function: Function, value: str) -> str:
    """The arguments of a call: the value, and room where the function takes it."""
    room, _ = _divided(function)
    return ", ".join(_room_for(each) if each in room else value for each in function.needed)


def _taking(subject: Subject, take: Function, value: str, by_pointer: bool) -> str:
    """Statements that take a value out and assert that it is the one put in; empty if what the
    function returns is not understood."""
    types = subject.types_in(take)
    returns = resolved(take.returns, types)
    is_42 = "*(int *)value == 42" if by_pointer else "value == 42"
    _, rest = _divided(take)
    if len(rest) == 1:
        out = rest[0].type
        if not out.endswith(("&", "*")) or out.startswith("const") or out.endswith("&&"):
            return ""
        untyped = out == value == "void*"  # the address of a pointer
        if resolved(out[:-1], types) != value and not untyped:
            return ""
        call = subject.call(take, _arguments(take, "value" if out.endswith("&") else "&value"))
        checked = f"if ({call})\n    assert({is_42});"
        return f"{value} value = 0;\n  " + (
            f"{call};\n  assert({is_42});" if returns == "void" else checked
        )
    if rest:
        return ""
    call = subject.call(take, _arguments(take, ""))
    if re.search(r"\b(?:optional|unique_ptr|shared_ptr)\b", returns):
        return f"if (auto value = {call})\n    assert(*value == 42);"
    if returns.endswith("*"):
        is_42 = is_42 if by_pointer else "*value == 42"
        return f"{returns} value = {call};\n  if (value)\n    assert({is_42});"
    if returns == value:
        return (
            f"{value} value = {call};\n  assert({is_42} || value == 0);  "
            "// 0: nothing was there yet"
        )
    return ""


def _locking(subject: Subject, frame: _Frame) -> Iterator[Scenario]:
    """A plain counter that both threads increment with the lock held."""
    names = {each.name.lower(): each for each in subject.functions if not each.needed}
    pairs = (
        (lock, f"{lock.removesuffix(_last(lock))}{other}")
        for lock in sorted(names, key=len)
        for one, other in LOCKS
        if _last(lock) == one and not re.search("read|shared", lock)
    )
    for lock, unlock in pairs:
        if unlock not in names:
            continue
        inside = "\n  ".join(
            f"{line};"
            for line in (
                subject.call(names[lock], ""),
                "counter = counter + 1",
                subject.call(names[unlock], ""),
            )
        )
        yield Scenario(
            frame(
                f"static int counter;\n{subject.declaration}",
                subject.ready,
                inside,
                inside,
                ("assert(counter == 2);",),
            ),
            f"{subject.name}: {names[lock].name} and {names[unlock].name} in two threads",
        )


def _calling(subject: Subject, frame: _Frame) -> Iterator[Scenario]:
    """Two calls at once, without a statement of what must hold."""
    simple = [
        each
        for each in subject.functions
        if all(
            NUMBER.fullmatch(plain(one, subject.types_in(each)))
            and (not one.type.endswith("&") or one.type.startswith("const "))
            for one in each.needed
        )
        and not each.name.startswith("operator")
    ]
    if not simple:
        return
    one, other = simple[0], simple[1 % len(simple)]
    bodies = (
        f"{subject.call(each, ', '.join('1' for _ in each.needed))};" for each in (one, other)
    )
    yield Scenario(
        frame(
            subject.declaration,
            subject.ready,
            *bodies,
            ("// assert here what must hold when both threads have ended",),
        ),
        f"{subject.name}: {one.name} in one thread, {other.name} in the other",
        asserts=False,
    )


def _last(name: str) -> str:
    return re.split(r"_|::", name)[-1]


def plain(parameter: Parameter, types: dict[str, str]) -> str:
    """The type of the value that is passed, without const and references."""
    bare = parameter.type.removesuffix("&&").removesuffix("&").removeprefix("const ")
    return resolved(bare, types)


def resolved(type_: str, types: dict[str, str]) -> str:
    return re.sub(r"\w+", lambda word: types.get(word[0], word[0]), type_.strip())


# --- the program around it -----------------------------------------------------------------------


def _cpp(
    includes: Sequence[str],
    declaration: str,
    ready: str,
    one: str,
    other: str,
    after: Sequence[str],
) -> str:
    *items, object_ = declaration.split("\n")
    lines = [
        *(f"{each}\n" for each in items),
        "int main() {",
        f"  {object_}",
        *([f"  {ready}"] if ready else []),
        f"  std::thread one([&] {{\n{_indented(one, '    ')}\n  }});",
        f"  std::thread other([&] {{\n{_indented(other, '    ')}\n  }});",
        "  one.join();",
        "  other.join();",
        *(f"  {each}" for each in after),
        "}",
    ]
    headers = "#include <cassert>\n#include <thread>\n"
    own = "".join(f'#include "{each}"\n' for each in includes)
    return "\n".join(filter(None, (headers, own, "\n".join(lines)))) + "\n"


def _c(
    includes: Sequence[str],
    declaration: str,
    ready: str,
    one: str,
    other: str,
    after: Sequence[str],
) -> str:
    functions = "\n".join(
        f"static void *{name}(void *unused) {{\n{_indented(body, '  ')}\n  return unused;\n}}\n"
        for name, body in (("run_one", one), ("run_other", other))
    )
    lines = [
        "int main(void) {",
        "  pthread_t one, other;",
        *([f"  {ready}"] if ready else []),
        "  pthread_create(&one, 0, run_one, 0);",
        "  pthread_create(&other, 0, run_other, 0);",
        "  pthread_join(one, 0);",
        "  pthread_join(other, 0);",
        *(f"  {each}" for each in after),
        "  return 0;",
        "}",
    ]
    headers = "#include <assert.h>\n#include <pthread.h>\n"
    own = "".join(f'#include "{each}"\n' for each in includes)
    parts = (headers, own, f"{declaration}\n", functions, "\n".join(lines))
    return "\n".join(filter(None, parts)) + "\n"


def _indented(body: str, by: str) -> str:
    """The statements, whose own lines after the first are indented by two."""
    first, *rest = body.split("\n")
    return "\n".join([by + first, *(by + line.removeprefix("  ") for line in rest)])
