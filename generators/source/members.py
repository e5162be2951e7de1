"""The compiled part of the libraries: the functions that headers declare and a library's binary
would define.

In: the names that a module declares and does not define. Out: the modules of libc++'s and
libc++abi's own sources, as PyPI's ziglang ships these, and of `library/`, that define them. As a
linker takes members from an archive, only the sources that are needed are compiled, each once per
compiler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from weakspot.generators.source import clang
from weakspot.system import cache

_LIBRARY: Mapping[str, str] = {
    "libcxx/src/mutex.cpp": "mutex recursive_mutex timed_mutex recursive_timed_mutex",
    "libcxx/src/mutex_destructor.cpp": "mutex",
    "libcxx/src/condition_variable.cpp": "condition_variable notify_all_at_thread_exit",
    "libcxx/src/condition_variable_destructor.cpp": "condition_variable",
    "libcxx/src/shared_mutex.cpp": "__shared_mutex_base shared_timed_mutex",
    "libcxx/src/thread.cpp": "__thread_local_data __thread_struct __thread_struct_imp",
    "libcxx/src/future.cpp": "__assoc_sub_state future promise shared_future",
    "libcxx/src/memory.cpp": "__shared_count __shared_weak_count __sp_mut __get_sp_mut align",
    "libcxx/src/memory_resource.cpp": "pmr",
    "libcxx/src/barrier.cpp": "__construct_barrier_algorithm_base __arrive_barrier_algorithm_base "
    "__destroy_barrier_algorithm_base",
    "libcxx/src/chrono.cpp": "chrono",
    "libcxx/src/hash.cpp": "__next_prime",
    "libcxx/src/functional.cpp": "__hash_memory",
    "libcxx/src/string.cpp": "basic_string to_string stoi stol stoll stoul stoull",
    "libcxx/src/charconv.cpp": "__itoa to_chars",
    "libcxx/src/algorithm.cpp": "__sort",
    "libcxx/src/print.cpp": "__is_posix_terminal",
}
"""Sources, and the classes, functions and namespaces within `std` that they define."""

_EXCEPTIONS: Mapping[str, str] = {
    "libcxxabi/src/cxa_exception.cpp": r"__cxa_(throw|rethrow|begin_catch|end_catch|allocate_"
    r"(dependent_)?exception|free_(dependent_)?exception|get_exception_ptr|current_\w+|"
    r"init_primary_exception|increment_\w+|decrement_\w+|rethrow_\w+|uncaught_\w+)$",
    "libcxxabi/src/cxa_exception_storage.cpp": r"__cxa_get_globals",
    "libcxxabi/src/fallback_malloc.cpp": r"_ZN10__cxxabiv1\d+__(aligned_)?(malloc|calloc|free)\w*_"
    r"with_fallback",
    "libcxxabi/src/private_typeinfo.cpp": r"__dynamic_cast|_ZT[VIS]N10__cxxabiv1|_ZNK?10__cxxabiv1"
    r"\d+__\w*type_info",
    "libcxxabi/src/stdlib_exception.cpp": r"_ZNK?St(9exception|13bad_exception)|"
    r"_ZT[VIS]St(9exception|13bad_exception)",
    "libcxxabi/src/stdlib_new_delete.cpp": r"_ZNK?St(9bad_alloc|20bad_array_new_length)|"
    r"_ZT[VIS]St(9bad_alloc|20bad_array_new_length)",
    "libcxxabi/src/stdlib_stdexcept.cpp": r"_ZNK?St\d+\w*_error[D4]|_ZNK?St\d+(invalid_argument|"
    r"out_of_range)[D4]|_ZT[VIS]St\d+(\w*_error|invalid_argument|out_of_range)",
    "libcxxabi/src/stdlib_typeinfo.cpp": r"_ZNK?St(9type_info|8bad_cast|10bad_typeid)|"
    r"_ZT[VIS]St(9type_info|8bad_cast|10bad_typeid)",
    "libcxx/src/stdexcept.cpp": r"_ZNK?St\d+\w*_error[Ca]|_ZNSt3__121__throw_runtime_error",
    "libcxx/src/exception.cpp": r"_ZNK?St(13exception_ptr|16nested_exception)|_ZSt17current_"
    r"exception|_ZSt17rethrow_exception|_ZSt(18uncaught_exception|19uncaught_exceptions)|"
    r"_ZT[VIS]St16nested_exception",
    "libcxx/src/new_handler.cpp": r"_ZSt15get_new_handler",
    "libcxx/src/system_error.cpp": r"_ZNK?St3__1(12system_error|10error_code|15error_condition|"
    r"15system_category|16generic_category)|_ZT[VIS]NSt3__112system_error",
    "libcxx/src/error_category.cpp": r"_ZNK?St3__114error_category|_ZT[VIS]NSt3__114error_category",
    "libcxx/src/future.cpp": r"_ZNK?St3__1(12future_error|15future_category)|_ZT[VIS]NSt3__112"
    r"future_error",
    "libcxx/src/memory.cpp": r"_ZNK?St3__112bad_weak_ptr|_ZT[VIS]NSt3__112bad_weak_ptr",
    "libcxx/src/functional.cpp": r"_ZNK?St3__117bad_function_call|_ZT[VIS]NSt3__117bad_function",
    "libcxx/src/optional.cpp": r"_ZNK?St19bad_optional_access|_ZT[VIS]St19bad_optional_access",
    "libcxx/src/variant.cpp": r"_ZNK?St18bad_variant_access|_ZT[VIS]St18bad_variant_access",
    "libcxx/src/any.cpp": r"_ZNK?St12bad_any_cast|_ZT[VIS]St12bad_any_cast",
}
"""Sources that matter where an exception can be handled, and the symbols that they define. Without
a handler, an exception that is thrown ends the program, whatever it holds."""


def _within_std(names: str) -> str:
    """A pattern of the mangled names of members of `std`, and of their type information."""
    parts = "|".join(f"{len(name)}{name}" for name in names.split())
    return rf"_ZG?(?:T[VIST])?N[VK]*St3__1(?:{parts})(?![a-z_])"


_PATTERNS = tuple((source, re.compile(_within_std(names))) for source, names in _LIBRARY.items())
_HANDLING = tuple((source, re.compile(pattern)) for source, pattern in _EXCEPTIONS.items())


class Member(msgspec.Struct, frozen=True):
    """A compiled source: LLVM assembly."""

    text: str


_EXPORTED = re.compile(r"^WEAKSPOT_LIBRARY\b[^(]*?\b(\w+)\(", re.MULTILINE)


@lru_cache(maxsize=1)
def exports() -> dict[str, Path]:
    """The file of `library/` that defines each function."""
    return {
        name: path
        for path in sorted(clang.LIBRARY.glob("*.c"))
        for name in _EXPORTED.findall(path.read_text(encoding="utf-8"))
    }


def needed(missing: Iterable[str], linked: set[str], *, exceptions: bool) -> Iterator[str]:
    """The sources, among those that are not linked, that define some of the missing symbols."""
    missing = list(missing)
    for source, pattern in _PATTERNS + (_HANDLING if exceptions else ()):
        if source not in linked and any(map(pattern.match, missing)):
            linked.add(source)
            yield source
    for name in {exports()[name].name for name in missing if name in exports()} - linked:
        linked.add(name)
        yield name


def member(
    compiler: clang.Clang, source: str, version: str, prepare: Callable[[str], str]
) -> str | None:
    """The text of the compiled source as `prepare` returns it; None where the compiler comes
    without the sources of its library. `version` changes with `prepare`."""
    ours = clang.LIBRARY / source
    if not ours.is_file() and not (compiler.library and (compiler.library / source).is_file()):
        return None
    folder = cache.folder_of("library")
    place = folder and folder / f"{cache.digest(version, compiler.identity, source)}.json"
    known = cache.read(place, Member)
    if known is None:
        c = ours.is_file()
        raw = clang.run(compiler, ours, [])[0] if c else clang.compile_library(compiler, source)
        known = Member(text=prepare(raw))
        cache.write(place, known)
    return known.text
