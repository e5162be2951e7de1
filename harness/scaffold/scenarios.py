"""First programs for a header: two threads that use what it declares, and an assertion.

In: the declarations of a header. Out: `Scenario` values, the most informative first, written from
names: a value that one thread puts in and another takes out, a lock around a plain counter, or two
calls at once. Nothing here knows whether a scenario compiles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from weakspot.harness.scaffold.declarations import Declarations, Function, Parameter
from weakspot.harness.scaffold.subjects import (
    NUMBER,
    Subject,
    declared_room,
    distance,
    plain,
    resolved,
    room_for,
    subjects,
)

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
        (distance(subject.name.partition("<")[0], named), not scenario.asserts, scenario)
        for subject in subjects(declared, named)
        for scenario in _of_subject(subject, lambda *parts: frame(includes, *parts))
    ]
    yield from (each for *_, each in sorted(found, key=lambda ranked: ranked[:2]))


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
            own = declared_room([*room, *_divided(take)[0]], 2)
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
    room = [each for each in function.needed if room_for(each)] if function.needed[1:] else []
    return room, [each for each in function.needed if each not in room]


def _arguments(function: Function, value: str) -> str:
    """The arguments of a call: the value, and room where the function takes it."""
    room, _ = _divided(function)
    return ", ".join(room_for(each) if each in room else value for each in function.needed)


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
    return _program(("cassert", "thread"), includes, "\n".join(lines))


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
    parts = (f"{declaration}\n", functions, "\n".join(lines))
    return _program(("assert.h", "pthread.h"), includes, *parts)


def _program(headers: Sequence[str], includes: Sequence[str], *parts: str) -> str:
    system = "".join(f"#include <{each}>\n" for each in headers)
    own = "".join(f'#include "{each}"\n' for each in includes)
    return "\n".join(filter(None, (system, own, *parts))) + "\n"


def _indented(body: str, by: str) -> str:
    """The statements, whose own lines after the first are indented by two."""
    first, *rest = body.split("\n")
    return "\n".join([by + first, *(by + line.removeprefix("  ") for line in rest)])
