"""The module of a Rust crate with what it needs of std, as rustc links them, to the text of a
program.

In: bitcode that rustc or cargo has built, and `main`, a test there, or what it exports. Out: the
text of a module with `main` or these, without what they do not reach. std is executed as it is,
down to what it asks of the system, but for what it does around main and what it prints (`_GIVEN`).
A panic is a failed assertion where it happens, unless a `catch_unwind` that is not one of std's own
gets it: then the program unwinds.

std's files are named `<core/src/…>`, those of packages `<NAME-VERSION/src/…>`, as headers of the C
library are.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from weakspot.errors import Unsupported
from weakspot.generators.source import overlay

_PERSONALITY = "rust_eh_personality"
_STD = r"_R\w*?s?[0-9A-Za-z]*_3std"
_RAISES = rf"(?:{_STD}9panicking\w*panic_with_hook|_R\w*10rust_panic)"
"""Functions through which each panic unwinds."""
_PANICS = re.compile(
    r"_RI?(?:N\w)+Cs[0-9A-Za-z]+_(?:4core|5alloc)\d\w*"
    rf"|_R\w*(?:17rust_begin_unwind|26___rust_alloc_error_handler)|{_RAISES}"
)
"""Functions that panic, if they do not return. What they would print is left out."""
_ENDS = re.compile(
    r"_R\w*_4core9panicking\d+panic_(?:nounwind|cannot_unwind|in_cleanup)\w*"
    r"|_R\w*26___rust_alloc_error_handler"
)
"""Those of them that never unwind."""
_PANIC = """
  call void @__assert_fail(ptr @weakspot.panic, ptr null, i32 0, ptr null)
  unreachable"""
_GIVEN = {
    # what surrounds main: a handler for the stack's end, the name of the thread
    re.compile(rf"{_STD}2rt19lang_start_internal"): """
  %place = getelementptr i8, ptr {1}, i64 40
  %main = load ptr, ptr %place
  %code = call i32 %main(ptr {0})
  %wide = sext i32 %code to i64
  ret i64 %wide""",
    re.compile(rf"{_STD}3sys3pal4unix14stack_overflow3imp12make_handler"): "\n  ret ptr null",
    re.compile(rf"{_STD}3sys3pal4unix14stack_overflow3imp12drop_handler"): "\n  ret void",
    re.compile(_PERSONALITY): "\n  ret i32 0",
    # the keys of HashMap's hashes, which are random
    re.compile(rf"{_STD}3sys6random\w*19hashmap_random_keys"): """
  ret {{ i64, i64 }} {{ i64 1, i64 2 }}""",
    # it reads files of the system
    re.compile(rf"{_STD}6thread9functions21available_parallelism"): """
  ret {{ i64, ptr }} {{ i64 0, ptr inttoptr (i64 2 to ptr) }}""",
    # how a thread waits for a Mutex: std's spins, sleeps, and asks the owner to wake it. All that
    # ends with a read-modify-write that acquires the lock from the owner's release, as this does
    re.compile(rf"{_STD}3sys4sync5mutex5futex\w*14lock_contended"): """
  br label %tries
tries:
  %read = cmpxchg ptr {0}, i32 0, i32 1 acquire monotonic
  %locks = extractvalue {{ i32, i1 }} %read, 1
  br i1 %locks, label %returns, label %tries
returns:
  ret void""",
    re.compile(rf"{_STD}(?:2io5stdio(?:6__print|7__eprint)|9panicking12default_hook)"): """
  ret void""",
}
"""Functions of std with what they do here, in terms of their parameters."""

RESULT = "_4test18assert_test_result"
"""In the name of libtest's function that judges what a test returns."""
_REPORTS = "11Termination6report"
_REPORT = re.compile(rf"call i8 @(?P<name>\w+{_REPORTS}\w+)\(")

_SUPPLIED = """
@weakspot.panic = private constant [6 x i8] c"panic\\00"
declare void @__assert_fail(ptr, ptr, i32, ptr) noreturn
declare i32 @__cxa_thread_atexit(ptr, ptr, ptr)
define i32 @__cxa_thread_atexit_impl(ptr %run, ptr %argument, ptr %library) {
  %result = call i32 @__cxa_thread_atexit(ptr %run, ptr %argument, ptr %library)
  ret i32 %result
}
define ptr @dlsym(ptr %library, ptr %name) {
  ret ptr null
}
"""
"""What std looks up while it runs: destructors of thread-local values; it finds no function of a
newer C library."""


def text_of(bitcode: bytes) -> str:
    """The text of a whole module."""
    import llvmlite.binding as llvm  # type: ignore[import-untyped]  # here: a cached answer needs no LLVM

    context = llvm.create_context()
    with llvm.parse_bitcode(bitcode, context=context) as module:
        return str(module)


def program_of(
    bitcode: bytes, symbol: str, root: Path, unwinding: Callable[[], bytes] | None = None
) -> str:
    """The text of the program whose main is `symbol`, "main" or a test's closure in a module with
    libtest, which was compiled below a mirror's root; without a symbol, of the functions that the
    module exports to C. `unwinding` makes its bitcode with panics that unwind, if this is
    another."""
    import llvmlite.binding as llvm

    text = _reduced(llvm, bitcode, symbol)
    if any(_OWN_CATCH.match(each) is None for each in _CATCHES.findall(text)):
        bitcode = unwinding() if unwinding else bitcode
        text = _unwinding(_reduced(llvm, bitcode, symbol, unwinds=True))
    return _uninitialised(_FILE.sub(partial(_renamed, root), text))


_CATCHES = re.compile(r"^define [^@\n]*@(_R\w*12catch_unwind7do_call\w*)\(", re.M)
"""Functions that call what `catch_unwind` is given."""
_OWN_CATCH = re.compile(
    r"_R\w*12catch_unwind7do_call(?:INtNtNtC\w+?_4core5panic11unwind_safe16AssertUnwindSafe)?"
    r"(?:N[Cvt]|I|Xs\d*_)+B"
)
"""Those of std, for threads and scopes: of closures whose paths refer back to std."""
_OWN_TRY = re.compile(rf"@__rust_try(?:\.\d+)?(?=\(ptr @{_OWN_CATCH.pattern})")
_RAISE = re.compile(
    rf"^define internal void @(?P<name>{_RAISES})\((?P<given>.*)\)(?P<rest>[^()\n]*\{{)$", re.M
)
_UNWINDING = """
declare i32 @weakspot_is_handled()
define internal i32 @weakspot.try(ptr %0, ptr %1, ptr %2) personality ptr @rust_eh_personality {
  invoke void %0(ptr %1) to label %returns unwind label %unwinds
returns:
  ret i32 0
unwinds:
  %exception = landingpad { ptr, i32 } cleanup
  %header = extractvalue { ptr, i32 } %exception, 0
  call void %2(ptr %1, ptr %header)
  ret i32 1
}
"""


def _unwinding(text: str) -> str:
    """The text in which panics unwind if a `catch_unwind` handles them, which std's own do not.
    Raises Unsupported for a std in which that of threads is not found."""

    def checked(match: re.Match[str]) -> str:
        name, given = match["name"], match["given"]
        return f"""define internal void @{name}({given}) {{
  %weakspot.handled = call i32 @weakspot_is_handled()
  %weakspot.ends = icmp eq i32 %weakspot.handled, 0
  br i1 %weakspot.ends, label %ends, label %unwinds
ends:{_PANIC}
unwinds:
  call void @{name}.unwinds({given})
  unreachable
}}
define internal void @{name}.unwinds({given}){match["rest"]}"""

    text, own = _OWN_TRY.subn("@weakspot.try", text)
    if "@pthread_create(" in text and not own:
        raise Unsupported("catch_unwind of this version of Rust is not known")
    return _RAISE.sub(checked, text) + _UNWINDING


_MEMCPY = "@llvm.memcpy.p0.p0.i64"
_UNDEFINED = re.compile(
    r"@llvm\.memset\.p0\.i64\((?P<to>ptr [^,\n]*), i8 (?:undef|poison), "
    r"i64 (?P<size>\d+), i1 false\)"
)
_ENTRY = re.compile(r"\{\n(?:[-\w.$\"]+:[^\n]*\n)?")


def _uninitialised(text: str) -> str:
    """The text in which memory that is filled with an undefined value, as an array of MaybeUninit
    is, gets that of a local variable that is not initialised."""
    if not _UNDEFINED.search(text):
        return text
    functions = re.split(r"^(?=define )", text, flags=re.M)
    for number, function in enumerate(functions):
        sizes: list[str] = []

        def copied(match: re.Match[str], sizes: list[str] = sizes) -> str:
            sizes.append(match["size"])
            source = f"ptr %weakspot.undefined.{len(sizes)}"
            return f"{_MEMCPY}({match['to']}, {source}, i64 {sizes[-1]}, i1 false)"

        changed = _UNDEFINED.sub(copied, function)
        entry = _ENTRY.search(changed)
        if sizes and entry:
            locals_ = "".join(
                f"  %weakspot.undefined.{at} = alloca [{size} x i8], align 8\n"
                for at, size in enumerate(sizes, start=1)
            )
            functions[number] = changed[: entry.end()] + locals_ + changed[entry.end() :]
    declared = f"declare void {_MEMCPY}("
    return "".join((*functions, "" if declared in text else f"{declared}ptr, ptr, i64, i1)\n"))


def _reduced(llvm: Any, bitcode: bytes, symbol: str, *, unwinds: bool = False) -> str:
    """The module's text without what the program does not reach, and with our meanings in it. A
    panic is a failed assertion there, or, if it `unwinds`, what it is in std."""
    from weakspot.generators.source import passes

    # a module must not outlive its context, which garbage collection does not know
    context = llvm.create_context()
    with llvm.parse_bitcode(bitcode, context=context) as module:
        given = []
        roots = {symbol} & {"main"}
        if not symbol:
            exported = (each for each in module.functions if each.linkage == llvm.Linkage.external)
            roots = {each.name for each in exported if not each.is_declaration} - {_PERSONALITY}
        for each in module.functions:
            if each.is_declaration or each.name in roots:
                continue
            body = _body(each, symbol, _ENDS if unwinds else _PANICS)
            called = symbol != "main" and (each.name == symbol or _REPORTS in each.name)
            if body is not None:
                given.append(_definition(each, body))
            elif called:  # by what is given
                given.append(_declaration(each))
            each.linkage = "internal" if body is None and not called else "weak_any"
        for each in module.global_variables:
            if not each.is_declaration and not each.name.startswith("llvm."):
                each.linkage = "internal"
        text = "\n".join((_SUPPLIED, *given))
        module.link_in(llvm.parse_assembly(text, context=context))
        for each in module.functions:
            if each.linkage != llvm.Linkage.internal and not each.is_declaration:
                each.linkage = "external" if each.name in (roots or {"main"}) else "internal"
        unused = llvm.create_new_module_pass_manager()
        unused.add_global_dead_code_eliminate_pass()
        unused.add_strip_dead_debug_info_pass()
        unused.run(module, passes.builder_of(llvm))
        return str(module)


def _body(function: Any, symbol: str, panics: re.Pattern[str]) -> str | None:
    """What a function does here, where it does not do what it is defined to do; see `_GIVEN`."""
    name = function.name
    if name == "main":
        return f"""
  %result = alloca [8 x i64]
  call void @{symbol}(ptr %result, ptr %result)
  ret i32 0"""
    if RESULT in name and symbol != "main":
        # what a test returns is a failure where main's exit code would be
        report = _REPORT.search(str(function))
        if report is None:
            raise Unsupported(f"this version of Rust's libtest is not known: {name}")
        kinds = [str(each.type) for each in function.arguments]
        arguments = ", ".join(f"{kind} {{{at}}}" for at, kind in enumerate(kinds) if at)
        return f"""
  %code = call i8 @{report["name"]}({arguments})
  %good = icmp eq i8 %code, 0
  br i1 %good, label %returns, label %fails
returns:
  ret void
fails:{_PANIC}"""
    if b"noreturn" in b" ".join(function.attributes) and panics.fullmatch(name):
        return _PANIC
    return next((body for each, body in _GIVEN.items() if each.fullmatch(name)), None)


def _declaration(function: Any) -> str:
    result, _, parameters = str(function.global_value_type).partition(" (")
    return f"declare {result} @{function.name}({parameters}"


def _definition(function: Any, body: str) -> str:
    """A function of the same type with another body."""
    kinds = [str(each.type) for each in function.arguments]
    result = str(function.global_value_type).partition(" (")[0]
    parameters = [f"%p{number}" for number in range(len(kinds))]
    signature = ", ".join(f"{kind} {name}" for kind, name in zip(kinds, parameters, strict=True))
    return f"define {result} @{function.name}({signature}) {{{body.format(*parameters)}\n}}"


_FILE = re.compile(r'!DIFile\(filename: "([^"]*)", directory: "([^"]*)"')
_LIBRARY = re.compile(r"(?:/rustc/[0-9a-f]+/|.*/lib/rustlib/src/rust/)library/(?P<name>.*)")
_DEPENDENCY = re.compile(
    r"(?:/rust/deps|.*/registry/src/[^/]+|.*/git/checkouts/[^/]+/[^/]+"
    rf"|{re.escape(str(Path(__file__).parent))})/(?P<name>.*)"
)


def _renamed(root: Path, match: re.Match[str]) -> str:
    """A file's name; in std and the crates that it is made of, `<name>`."""
    path = Path(match[2], match[1])
    for where in (_LIBRARY, _DEPENDENCY):
        if library := where.fullmatch(str(path)):
            return f'!DIFile(filename: "<{library["name"]}>", directory: ""'
    if path.is_relative_to(root) and path.is_absolute():
        return f'!DIFile(filename: "{overlay.original(root, path)}", directory: ""'
    return match[0]
