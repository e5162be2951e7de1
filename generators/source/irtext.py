"""The text of LLVM IR, from clang's output to the front end's.

In: the raw text with file names that do not depend on the machine, and the clang that wrote it.
Out: the same module with calls inlined and locals in registers, verified. It follows the rules in
frontend.py.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from weakspot.errors import ToolFailed, Unsupported, excerpt, quoted
from weakspot.generators.source import inlining, members, passes
from weakspot.generators.source.clang import Clang
from weakspot.generators.source.file_names import relative_names
from weakspot.system.processors import cores
from weakspot.system.tools import Module

LLVM = Module(
    "llvmlite",
    lost="reading C and C++ programs; .litmus files still work",
    advice="pip install llvmlite",
    role="llvmlite",
)


_FILE_SCOPE = re.compile(r'^module asm "(.*)"\n', re.MULTILINE)
_DATA = re.compile(
    r"\s*(?:\.(?:section|pushsection|popsection|previous|text|data|align|balign|p2align|byte|short|hword"
    r"|word|long|int|quad|ascii|asciz|string|zero|skip|space|fill|globl|global|type|size|symver|ident)\b"
    r".*|(?P<label>[\w.$]+):\s*|#.*)?"
)
"""A statement of assembly that neither executes nor binds a symbol of the program, but a label."""


def without_data_in_assembly(text: str, path: Path) -> str:
    """The module without assembly at file scope that only defines data which it does not name, such
    as the version of a library. Raises Unsupported for other assembly outside of functions."""
    rest = _FILE_SCOPE.sub("", text)
    for line in _FILE_SCOPE.findall(text):
        for statement in re.split(r";|\\0A", line.replace("\\09", "\t")):
            match = _DATA.fullmatch(statement)
            label = match and match["label"]
            if match is None or (label and re.search(rf'@"?{re.escape(label)}\b', rest)):
                raise _refused_assembly(line, path)
    return rest


_VOLATILE = re.compile(
    r"^  (?P<to>%\S+ = )?(?P<op>load|store) volatile (?P<type>i(?:8|16|32|64)|ptr|float|double)"
    r"(?P<operands>[, ][^\n]*), align (?P<align>\d+)",
    re.MULTILINE,
)
_SIZES = {"i8": 1, "i16": 2, "i32": 4, "float": 4}
"""In bytes; 8 for other types."""


def with_relaxed_volatile(text: str) -> str:
    """The module with relaxed atomic accesses in place of volatile ones, but for those whose type
    or alignment no atomic access has."""

    def relaxed(match: re.Match[str]) -> str:
        if int(match["align"]) < _SIZES.get(match["type"], 8):
            return match[0]
        access = f"  {match['to'] or ''}{match['op']} atomic volatile {match['type']}"
        return f"{access}{match['operands']} monotonic, align {match['align']}"

    return _VOLATILE.sub(relaxed, text)


def _refused_assembly(line: str, path: Path) -> Unsupported:
    pattern = re.compile(r"\b(?:__)?asm(?:__)?\b")
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    number = next((n for n, line in enumerate(lines, 1) if pattern.match(line)), None)
    return Unsupported(
        f"assembly at file scope is not supported: {line.strip()}",
        place=f"{path}:{number}" if number else str(path),
        excerpt=excerpt(path, number, 1) if number else None,
        advice="leave it out with #ifndef WEAKSPOT, which is defined while weakspot reads a source",
    )


_ATTRIBUTES = r"^(attributes #\d+ = )\{.*\}$"
_DEFINE = re.compile(r'^define (?P<head>.*?)@(?P<name>"[^"]*"|[-\w$.]+)\(', re.MULTILINE)
_CALL = re.compile(r'\b(?:call|invoke)\b[^@\n"]*@("[^"]*"|[-\w$.]+)\(')
_LINKAGE = re.compile(
    r"\b(?:internal|private|available_externally|linkonce|weak|linkonce_odr|weak_odr|external"
    r"|dso_local|hidden|protected|default) "
)


_GIVEN = re.compile(
    r"_ZNSt3__1(?:(?:24__put_character_sequence|4endl|4ends|5flush|ls)[BI].*13basic_ostream"
    r"|13basic_ostreamI.*E(?:ls|3put|5write|5flush)"
    r"|18condition_variable(?:8wait_for|10wait_until)[BI].*9cv_status"
    r"|11this_thread(?:9sleep_for|11sleep_until)[BI])"
)
"""Functions of libc++ that the engine gives a meaning, as it does to C's: those that print, and
those that wait for some time."""


def _prepare(text: str) -> str:
    """Mark the functions to inline, and make them local to the module so that they then disappear.

    LLVM's Python binding cannot change attributes, so the text is changed. `main` and recursive
    functions stay calls. The attribute groups hold code-generation options and `noinline`, which
    contradicts `alwaysinline`; only attributes that change the meaning of a call are preserved.
    """
    if not any(match["name"] == "main" for match in _DEFINE.finditer(text)):
        return re.sub(_ATTRIBUTES, _lean_attributes, text, flags=re.MULTILINE)
    text = _MAIN.sub(lambda main: _ENDS_BEFORE_RETURN.sub("", main[0]), text)
    return _marked(_BODY.sub(lambda body: _with_indeterminate_values(body[0]), text), local=True)


def _prepare_library(text: str) -> str:
    """As `_prepare`, for a module of the C++ library, whose functions are to be linked."""
    return _marked(text, local=False)


_ALIAS = re.compile(r"^(@\S+) = .*\balias [^@\n]*\), ptr (@\S+)$", re.MULTILINE)


_TYPE = r"(?:i\d+|ptr|float|double)"
_SCALAR = re.compile(rf"^  (?P<name>%\S+) = alloca (?P<type>{_TYPE}), align \d+$", re.M)
_PROMOTED = re.compile(
    rf"^  (?:%\S+ = load {_TYPE}|store {_TYPE} [^,\n]+), ptr (?P<name>%[^,\s]+),", re.M
)


def _with_indeterminate_values(body: str) -> str:
    """The body of a function in which local variables that are promoted to registers begin with a
    value of their own, `freeze undef`. Where some paths initialise a variable, promoting it would
    take the value of these paths for all: undef may be any value."""
    found = {each["name"]: each for each in _SCALAR.finditer(body)}
    if not found:
        return body
    uses = Counter(name for name in _LOCAL.findall(body) if name in found)
    promoted = Counter(each["name"] for each in _PROMOTED.finditer(body))
    declared = Counter((*_DECLARED.findall(body), *_LIFETIME.findall(body)))

    def begun(match: re.Match[str]) -> str:
        name, kind = match["name"], match["type"]
        if uses[name] != 1 + promoted[name] + declared[name]:
            return match[0]
        value = f"%uninitialised.{match.start()}"
        return f"{match[0]}\n  {value} = freeze {kind} undef\n  store {kind} {value}, ptr {name}"

    return _SCALAR.sub(begun, body)


_BODY = re.compile(r"^define [^\n]*\{\n(?:.*\n)*?\}\n", re.M)
_LOCAL = re.compile(r"%(?:[-\w$.]+|\"[^\"]*\")")
_DECLARED = re.compile(r"^ +#dbg_declare\(ptr (%[^,\s]+),", re.M)
_MAIN = re.compile(r"^define [^\n]*@main\([^\n]*\{\n(?:.*\n)*?\}\n", re.M)
_ENDS_BEFORE_RETURN = re.compile(
    r"(?:^  call void @llvm\.lifetime\.end\.[^\n]*\n)+(?=(?:  %\S+ = load [^\n]*\n)?  ret )", re.M
)
"""Where main returns, the process ends: its local variables live until then."""
_LIFETIME = re.compile(r"^  call void @llvm\.lifetime\.\w+\.p0\(ptr (%[^,\s)]+)\)", re.M)
_FROZEN = re.compile(r"^  (?P<name>%uninitialised\.\S*) = freeze \S+ undef.*\n", re.M)


def _without_unused_values(text: str) -> str:
    """The module without the values of variables that are initialised before each use."""
    uses = Counter(re.findall(r"%uninitialised\.[-\w$.]+", text))
    return _FROZEN.sub(lambda each: each[0] if uses[each["name"]] > 1 else "", text)


def _marked(text: str, *, local: bool) -> str:
    text = re.sub(_ATTRIBUTES, _lean_attributes, text, flags=re.MULTILINE)
    for alias in _ALIAS.finditer(text):  # a call of an alias is not inlined
        text = text.replace(f"{alias[1]}(", f"{alias[2]}(")
    definitions = list(_DEFINE.finditer(text))
    calls = {match["name"]: set(_CALL.findall(_body(text, match))) for match in definitions}
    # where the library throws: often, and seldom reached
    throwing = {name for name in calls if re.match(r"_ZNK?S.*\d__throw_", name)}
    retained = _recursive(calls) | throwing | {"main"}

    parts, done = [], 0
    for match in definitions:
        if match["name"] == "main":
            continue
        parts.append(text[done : match.start()])
        end = closing(text, match.end())
        parameters = text[match.end() : end]
        if _GIVEN.match(match["name"].strip('"')):
            head = _LINKAGE.sub("", match["head"])
            parts.append(f"declare {head}@{match['name']}({parameters}\n")
            done = text.index("\n}\n", end) + 3
            continue
        head = f"internal {_LINKAGE.sub('', match['head'])}" if local else match["head"]
        parts.append(f"define {head}@{match['name']}({parameters}")
        done = end
        if match["name"] not in retained:
            address = re.compile(r" (?:local_)?unnamed_addr").match(text, end)
            done = address.end() if address else end
            start = text.index("{\n", done) + 2
            stop = text.index("\n}\n", done)
            parts.append(f"{text[end:done]} alwaysinline{text[done:start]}")
            parts.append(_hold_constants(text[start:stop]))
            done = stop
    return "".join([*parts, text[done:]])


_LABEL = re.compile(r"(?:[-\w$.]+|\"[^\"]*\"):.*\n")
_ARITHMETIC = re.compile(
    r"^  %\S+ = (?:add|sub|mul|[us]div|[us]rem|and|or|xor|shl|[al]shr|icmp)\b(?: [a-z]+)* "
    r"(?P<type>i\d+) (?:%\S+, (?P<right>-?\d+)|(?P<left>-?\d+), %\S+)(?=,|$)",
    re.MULTILINE,
)


def _hold_constants(body: str) -> str:
    """Replace constants in arithmetic by locals, until everything is inlined.

    LLVM's inliner simplifies the code that it copies: `r * 0` and `r & 0` would become 0 and lose
    the dependency on r. It does not look into locals, and promoting them restores the constants.
    """
    slots: dict[tuple[str, str], str] = {}

    def held(match: re.Match[str]) -> str:
        width, which = match["type"], "right" if match["right"] else "left"
        slot = slots.setdefault((width, match[which]), f"%constant.{len(slots)}")
        value = f"{slot}.{match.start()}"
        before = match[0][: match.start(which) - match.start()]
        after = match[0][match.end(which) - match.start() :]
        return f"  {value} = load {width}, ptr {slot}\n{before}{value}{after}"

    changed = _ARITHMETIC.sub(held, body)
    label = _LABEL.match(changed)
    start = label.end() if label else 0
    locals_ = "".join(
        f"  {slot} = alloca {width}\n  store {width} {value}, ptr {slot}\n"
        for (width, value), slot in slots.items()
    )
    return changed[:start] + locals_ + changed[start:]


def _lean_attributes(match: re.Match[str]) -> str:
    retained = re.findall(r"\b(?:noreturn|nounwind|returns_twice)\b", match[0])
    # a group must not be empty, so each holds a word that LLVM does not know
    return f'{match[1]}{{ {" ".join(retained)} "weakspot" }}'


def _body(text: str, definition: re.Match[str]) -> str:
    return text[definition.end() : text.index("\n}\n", definition.end())]


_MARK = re.compile(r'"[^"]*"|[(){}\[\]<>,]')
"""A bracket, a comma, or a quoted name, whose own brackets are no others'."""
_DEPTH = dict.fromkeys("({[<", 1) | dict.fromkeys(")}]>", -1)


def closing(text: str, position: int) -> int:
    """The position after the parenthesis that closes the one before `position`."""
    depth = 1
    for mark in _MARK.finditer(text, position):
        depth += {"(": 1, ")": -1}.get(mark[0], 0)
        if depth == 0:
            return mark.end()
    return len(text)


def parts(text: str) -> list[str]:
    """Parts between commas that are in no bracket."""
    found, depth, start = [], 0, 0
    for mark in _MARK.finditer(text):
        depth += _DEPTH.get(mark[0], 0)
        if mark[0] == "," and depth == 0:
            found.append(text[start : mark.start()].strip())
            start = mark.end()
    found.append(text[start:].strip())
    return [each for each in found if each]


def _recursive(calls: Mapping[str, set[str]]) -> set[str]:
    """The functions that can reach themselves."""

    def reachable(start: str) -> Iterator[str]:
        seen: set[str] = set()
        waiting = [start]
        while waiting:
            for callee in calls.get(waiting.pop(), ()):
                if callee not in seen:
                    seen.add(callee)
                    waiting.append(callee)
                    yield callee

    return {name for name in calls if name in reachable(name)}


def parsed(llvm: Any, text: str, clang: Clang, context: Any) -> Any:
    """The module of a text, in an LLVM context. Raises ToolFailed."""
    try:
        return llvm.parse_assembly(text, context=context)
    except RuntimeError as error:
        lines = str(error).splitlines()
        raise ToolFailed(
            f"LLVM cannot read what {clang.describe(text)} wrote",
            excerpt=quoted(lines[1:4]),
            advice="use the clang in ziglang, which fits: pip install ziglang, and unset "
            "WEAKSPOT_CLANG",
        ) from error


def clean(raw: str, clang: Clang, version: str, source: Path) -> str:
    """Link what is needed of the C++ library, inline calls, remove unused functions, promote locals
    to registers, verify. `version` changes with the front end; errors name the `source`."""
    import llvmlite.binding as llvm  # type: ignore[import-untyped]  # here: a cached answer needs no LLVM

    # each call has a context of its own, without remains of an earlier module; a module must not
    # outlive it, which garbage collection does not know
    context = llvm.create_context()
    with parsed(llvm, _prepare(raw), clang, context) as module:
        builder = passes.builder_of(llvm)
        handled = _link_library(llvm, (module, context), builder, clang, version)
        known = inlining.bounded(str(module))
        if known.lines <= passes.LITTLE:
            cleaned = passes.apply(llvm, module, builder, handled=handled)
            return _without_unused_values(cleaned)
    text = passes.run(known.text, known.lines, handled=handled, clang=clang, source=source)
    return _without_unused_values(text)


def _link_library(
    llvm: Any, program: tuple[Any, Any], builder: Any, clang: Clang, version: str
) -> bool:
    """Link the sources of the C++ library that define what the module only declares, and what they
    need in turn. Returns whether the program handles exceptions: otherwise what is thrown ends it,
    and what only matters to handlers is left out."""

    def prepare(text: str) -> str:
        return _prepare_library(relative_names(text, clang, Path("/")))

    module, context = program
    linked: set[str] = set()
    handled = False
    if not any(each.name == "main" and not each.is_declaration for each in module.functions):
        return handled
    # the program's own, which sources of the library that are linked later may call
    runtime = [each.name for each in module.functions if each.name.startswith("__cxa_guard_")]
    _set_linkage(module, runtime, "external")
    while True:
        _remove_unused(llvm, module, builder)
        symbols = (*module.functions, *module.global_variables)
        missing = [each.name for each in symbols if each.is_declaration]
        handled = handled or "_Unwind_RaiseException" in missing  # a panic of Rust's
        if not any(name.startswith("_Z") or name.startswith("__cxa_") for name in missing):
            break
        # an exception that is stored may be thrown again elsewhere
        handled = handled or any("13exception_ptr" in name for name in missing)
        handled = handled or ("__cxa_begin_catch" in missing and _handles(str(module)))
        sources = list(members.needed(missing, linked, exceptions=handled))
        # each is a process of its own
        with ThreadPoolExecutor(max_workers=cores()) as pool:
            texts = list(pool.map(lambda s: members.member(clang, s, version, prepare), sources))
        for text in texts:
            if text is not None:
                module.link_in(parsed(llvm, text, clang, context))
        if not any(texts):
            break
        for each in (*module.functions, *module.global_variables):
            local = each.is_declaration or each.name == "main" or each.name.startswith("llvm.")
            if not local and each.name not in runtime:
                each.linkage = "internal"
    _set_linkage(module, runtime, "internal")
    _remove_unused(llvm, module, builder)
    return handled


def _set_linkage(module: Any, names: Sequence[str], linkage: str) -> None:
    """Of the functions of these names that the module defines."""
    for each in module.functions:
        if each.name in names and not each.is_declaration:
            each.linkage = linkage


def _remove_unused(llvm: Any, module: Any, builder: Any) -> None:
    unused = llvm.create_new_module_pass_manager()
    unused.add_global_dead_code_eliminate_pass()
    unused.run(module, builder)


def _handles(text: str) -> bool:
    """Whether an exception can be handled: caught by something that does not just terminate."""
    for match in _DEFINE.finditer(text):
        terminates = match["name"].startswith("__clang_call_terminate")
        if not terminates and "@__cxa_begin_catch(" in _body(text, match):
            return True
    return False
