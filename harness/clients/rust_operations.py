"""The operations of a concurrent object in Rust, and functions by which C calls them.

In: a Rust file, and the kind of object. The operations are the `pub` functions outside `impl`
blocks whose names are those of operations of the kind, or else such methods of one type. Out:
Operations, whose types are those of C, and the text of a crate that defines them: it makes the
object, with i64 for its type parameters, and casts arguments and results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from weakspot.errors import BadInput
from weakspot.harness.clients import rust_items
from weakspot.harness.clients.kinds import Kind, KindOperation, matching, stands_for
from weakspot.harness.clients.operations import MOST_ARGUMENTS, SETUP, Operation, Source
from weakspot.harness.clients.rust_items import Function, Items, Type
from weakspot.harness.clients.wrappers import ROOM

WRAPPERS = "write a function for each operation: pub fn push(value: i64) { QUEUE.push(value); }"
_PRELUDE = Path(__file__).with_name("binding.rs")
_SUCCESS = re.compile(r"bool|(?:\w+::)*(?:Result<\(\).*|Option<\(\)>)")
_UNLOCK = "unlock"
_LINE = " // line "


def read(
    path: Path,
    kind: Kind | None,
    *,
    names: Sequence[str] = (),
    roles: Mapping[str, Sequence[str]] | None = None,
    meanings: Mapping[str, str] | None = None,
    capacity: int = 0,
    empty: int = -1,
) -> Source:
    """The operations in a file; those of these names, if any are given. `meanings` say which
    operation of the kind a function is. The object is made for `capacity` items, where it is to
    know how many. `empty` is what C is given for None and an error. Raises BadInput."""
    items = rust_items.read(path)
    role_of = {name: role for role, of in (roles or {}).items() for name in of}
    chosen = _chosen(path, items, kind, names, meanings or {})
    binding = _Binding(path, items, kind, capacity or ROOM, empty)
    binding.add(chosen, meanings or {}, role_of)
    defined = {each.name for each in binding.operations}
    for name in (*names, *role_of):
        if name not in defined:
            raise BadInput(
                f"{path} does not define {name}",
                advice=f"the operations are {', '.join(sorted(defined))}",
            )
    return binding.source(chosen[0].owner)


def _chosen(
    path: Path, items: Items, kind: Kind | None, names: Sequence[str], meanings: Mapping[str, str]
) -> list[Function]:
    """The functions that are operations. Raises BadInput."""

    def is_one(function: Function) -> bool:
        if function.name in ("main", SETUP) or (function.owner and not function.receiver):
            return False
        if names:
            return function.name in names
        return not kind or function.name in meanings or bool(matching(kind, function.name))

    found = [each for each in items.functions if is_one(each)]
    # the first of several alternatives, of which a configuration has one
    public = list({(each.owner, each.name): each for each in found[::-1] if each.public}.values())
    public.reverse()
    what = f"operations of a {kind.name}" if kind else "operations"
    if not public and found:
        raise BadInput(
            f"{found[0].name} is not pub",
            place=f"{path}:{found[0].line}",
            advice="the programs that call the operations are another crate: make these and the "
            "type pub",
        )
    if not public:
        raise BadInput(
            f"no {what} in this file",
            place=str(path),
            advice="the operations are pub functions, or pub methods that take &self; --operations "
            f"names them, or {WRAPPERS}",
        )
    owners = list(dict.fromkeys(each.owner for each in public))
    if "" in owners:
        return [each for each in public if not each.owner]
    if len(owners) > 1:
        second = next(each for each in public if each.owner == owners[1])
        raise BadInput(
            f"the {what} are of several types: {', '.join(owners)}",
            place=f"{path}:{second.line}",
            advice=f"--operations names those of one; or {WRAPPERS}",
        )
    for each in public:
        if each.receiver != "&self":
            raise BadInput(
                f"{each.name} takes {each.receiver}, which several threads cannot have at once",
                place=f"{path}:{each.line}",
                advice=f"--operations names those that take &self; or {WRAPPERS}",
            )
    return public


class _Binding:
    """The crate by which C calls the operations. Each line of it that depends on the file ends in
    a comment that says on which of its lines."""

    def __init__(self, path: Path, items: Items, kind: Kind | None, room: int, empty: int) -> None:
        self.path, self.items, self.kind, self.room = path, items, kind, room
        self.crate = re.sub(r"\W", "_", path.stem)
        self.operations: list[Operation] = []
        self.lines = [f"{_PRELUDE.read_text(encoding='utf-8')}const EMPTY: i64 = {empty};"]

    def add(
        self, functions: Sequence[Function], meanings: Mapping[str, str], roles: Mapping[str, str]
    ) -> None:
        """Define the operations as functions of C. Raises BadInput."""
        matches = [self._match(each, meanings.get(each.name, "")) for each in functions]
        pairs = list(zip(functions, matches, strict=True))
        guards = [each for each, match in pairs if match and match.takes and _is_guard(each)]
        for each, match in pairs:
            if not (guards and match and match.gives):
                self._add(each, match, roles.get(each.name, ""))
        if guards:
            drops = (
                line
                for name, line in self.items.drops.items()
                if re.search(rf"\b{name}\b", guards[0].returns)
            )
            line = next(drops, guards[0].line)
            self._define(_UNLOCK, (), "", "release()", line)

    def _match(self, function: Function, meaning: str) -> KindOperation | None:
        operation = Operation(function.name, "", (), "", "", self.path, function.line)
        return stands_for(self.kind, operation, meaning) if self.kind else None

    def _add(self, function: Function, match: KindOperation | None, role: str) -> None:
        place = f"{self.path}:{function.line}"
        if function.asynchronous:
            raise BadInput(f"{function.name} is async", place=place, advice=WRAPPERS)
        if len(function.parameters) > MOST_ARGUMENTS:
            raise BadInput(
                f"{function.name} has {len(function.parameters)} arguments",
                place=place,
                advice=f"there are at most {MOST_ARGUMENTS}; {WRAPPERS}",
            )
        values = "ab"[: len(function.parameters)]
        given = ", ".join(
            _argument(type_, value, function.types)
            for type_, value in zip(function.parameters, values, strict=True)
        )
        parameters = [(f"{value}: i64", "long") for value in values]
        if match and match.runs:
            given, parameters = "|| run()", [('run: extern "C" fn()', "void (*)(void)")]
        target = f"{self.object(function.owner)}." if function.owner else f"{self.crate}::"
        call = f"unsafe {{ {target}{function.name}({given}) }}"
        if not function.returns or (match and match.runs):
            returns, body = "", f"{call};"
        elif match and match.takes and _is_guard(function):
            returns, body = _guarded(function, match, call)
        elif _SUCCESS.fullmatch(function.returns) if match is None else not match.finds:
            returns, body = "bool", f"Success::success({call})"
        else:
            returns, body = "i64", f"found({call})"
        self._define(function.name, parameters, returns, body, function.line, role)

    def _define(
        self,
        name: str,
        parameters: Sequence[tuple[str, str]],
        returns: str,
        body: str,
        line: int,
        role: str = "",
    ) -> None:
        """An operation as a function: its parameters in Rust and their types in C."""
        symbol, taken = f"object_{name}", ", ".join(each for each, _ in parameters)
        self._exported(f"fn {symbol}({taken}) -> {returns or '()'} {{ {body} }}", line)
        types = tuple(each for _, each in parameters)
        result = {"": "void", "i64": "long"}.get(returns, returns)
        self.operations.append(Operation(name, result, types, "", role, self.path, line, symbol))

    def _exported(self, text: str, line: int) -> None:
        self._line(f'#[unsafe(no_mangle)] unsafe extern "C" {text}', line)

    def _line(self, text: str, line: int) -> None:
        self.lines.append(f"{text}{_LINE}{line}")

    def source(self, owner: str) -> Source:
        """The source, once the operations are added, which are of a type if it has an `owner`.
        Raises BadInput."""
        setup = [each for each in self.items.functions if each.name == SETUP and each.public]
        has_setup = self._object(owner) if owner else bool(setup)
        if setup and not owner:
            self._exported(f"fn {SETUP}() {{ {self.crate}::{SETUP}() }}", setup[0].line)
        text = "\n".join(self.lines) + "\n"
        return Source(self.path, tuple(self.operations), has_setup, text)

    def object(self, owner: str) -> str:
        """What stands for the object: the only static of the type, or a function."""
        statics = [
            each.name
            for each in self.items.statics
            if each.public and rust_items.base(each.type) == owner
        ]
        return f"{self.crate}::{statics[0]}" if len(statics) == 1 else "object()"

    def _object(self, owner: str) -> bool:
        """Define the object; whether it is made by the function SETUP."""
        type_ = self.items.types.get(owner)
        if type_ is None or not type_.public:
            line = next(each.line for each in self.items.functions if each.owner == owner)
            raise BadInput(
                f"{owner} is not a pub struct or enum of this file",
                place=f"{self.path}:{type_.line if type_ else line}",
                advice="the programs that call the operations are another crate: make it pub",
            )
        if self.object(owner) != "object()":
            return False
        arguments = ", ".join(self._arguments(type_))
        named = f"{self.crate}::{owner}" + (f"<{arguments}>" if arguments else "")
        self._line(f"type Object = {named};", type_.line)
        self._line("const _: () = is_shared::<Object>();", type_.line)
        self.lines.append(
            "static mut OBJECT: MaybeUninit<Object> = MaybeUninit::uninit();\n"
            "fn object() -> &'static Object { unsafe { (*&raw const OBJECT).assume_init_ref() } }"
        )
        made, line = self._constructed(type_)
        self._exported(f"fn {SETUP}() {{ unsafe {{ (*&raw mut OBJECT).write({made}); }} }}", line)
        return True

    def _arguments(self, type_: Type) -> Iterator[str]:
        """What the object's type has for its parameters."""
        for each in type_.parameters:
            if each.startswith("'"):
                raise BadInput(
                    f"{type_.name} has a lifetime",
                    place=f"{self.path}:{type_.line}",
                    advice=WRAPPERS,
                )
            yield str(self.room) if each.startswith("const ") else "i64"

    def _constructed(self, type_: Type) -> tuple[str, int]:
        """An expression that makes an object, and the line that it refers to. Raises BadInput."""
        found = [
            each
            for each in self.items.functions
            if each.owner == type_.name and each.public and not each.receiver
            if each.returns == "Self" or rust_items.base(each.returns) == type_.name
        ]
        found.sort(key=lambda each: (each.name != "new", len(each.parameters)))
        if not found and type_.has_default:
            return "Object::default()", type_.line
        if not found:
            raise BadInput(
                f"{type_.name} has no constructor that is understood",
                place=f"{self.path}:{type_.line}",
                advice="a pub function that returns Self, such as new, Default, or a pub static of "
                f"the type; or {WRAPPERS}",
            )
        sized = self.kind is not None and "capacity" in self.kind.varies
        numbers = [
            str(self.room) if sized and each == "usize" else "0" for each in found[0].parameters
        ]
        given = ", ".join(f"given({each})" for each in numbers)
        return f"Object::{found[0].name}({given})", found[0].line


def _is_guard(function: Function) -> bool:
    """Whether a function that takes a lock returns what unlocks it."""
    return function.returns not in ("", "bool")


def _argument(type_: str, value: str, types: Sequence[str]) -> str:
    """An argument of this type, in a function that is generic in the `types`."""
    inner = type_.removeprefix("&").strip()
    number = value if inner in types else f"given({value})"
    return f"&{number}" if inner != type_ else number


def _guarded(function: Function, match: KindOperation, call: str) -> tuple[str, str]:
    """What a function of C returns that takes a lock and holds its guard, and its body."""
    kind = rust_items.base(function.returns)
    if match.waits:
        unwrapped = ".unwrap()" if kind.endswith("Result") else ""
        return "", f"hold({call}{unwrapped});"
    option = call if kind == "Option" else f"{call}.ok()"
    return "bool", f"{option}.is_some_and(hold)"


def line_of(place: str, binding: str) -> int | None:
    """The line of the file that a place in the binding is about, if there is one."""
    found = re.search(r"\.rs:(\d+)", place)
    written = binding.splitlines()[int(found[1]) - 1] if found and binding else ""
    line = written.rpartition(_LINE)[2]
    return int(line) if line.isdigit() else None
