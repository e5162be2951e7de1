"""C++. Older versions are read as C++20, which our headers for threads and locks need."""

from __future__ import annotations

from weakspot.generators.source.language import HEADERS, POSIX, Language

_REMOVED = (
    *(f"17_REMOVED_{each}" for each in ("AUTO_PTR", "BINDERS", "RANDOM_SHUFFLE")),
    *(f"17_REMOVED_{each}" for each in ("UNARY_BINARY_FUNCTION", "UNEXPECTED_FUNCTIONS")),
    *(f"20_REMOVED_{each}" for each in ("BINDER_TYPEDEFS", "NEGATORS", "RAW_STORAGE_ITERATOR")),
    *(f"20_REMOVED_{each}" for each in ("SHARED_PTR_UNIQUE", "TEMPORARY_BUFFER", "TYPE_TRAITS")),
    "20_REMOVED_UNCAUGHT_EXCEPTION",
)
"""What older standards have and C++20 has not, in the macros of libc++ 22; sources whose build
names no standard have it too."""

LEAN = "-D_LIBCPP_REMOVE_TRANSITIVE_INCLUDES"
"""libc++'s headers without optional includes: at most half the time."""

LANGUAGE = Language(
    name="c++",
    rank=1,
    suffixes=(".cpp", ".cc", ".cxx", ".c++", ".C"),
    headers=(".h", ".hh", ".hpp", ".hxx"),
    versions=r".*\+\+.*",
    example="c++17",
    standard="gnu++20",
    old=r"(?:c|gnu)\+\+(?:98|03|0x|11|1y|14|1z|17)",
    of_old=tuple(f"-D_LIBCPP_ENABLE_CXX{each}" for each in _REMOVED),
    only_old=("-DWEAKSPOT_OLD_STANDARD",),  # for <version>
    flags=("-x", "c++", f"-I{HEADERS}", POSIX, "-include", "weakspot_runtime.h"),
    quick=(LEAN,),
    grammar="tree_sitter_cpp",
    block="cpp",
)
