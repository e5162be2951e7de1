"""C."""

from __future__ import annotations

from weakspot.generators.source.language import KERNEL, KERNEL_TREE, POSIX, Language

_INLINE = (
    "-Dinline=__inline__ __attribute__((__always_inline__))",
    *("-Xclang", "-disable-llvm-passes"),
)
"""Without optimisation, clang emits a definition that is `extern inline` only if it must inline it.
It does not inline it itself: that would fold constants, and lose dependencies."""

LANGUAGE = Language(
    name="c",
    rank=0,
    suffixes=(".c",),
    headers=(".h",),
    versions=r"[^+]*",
    example="c11",
    flags=("-x", "c", "-fgnu89-inline", *_INLINE, POSIX, KERNEL, KERNEL_TREE),
    options=("-fgnu89-inline",),
    grammar="tree_sitter_c",
    block="c",
)
