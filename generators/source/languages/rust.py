"""Rust, whose versions are editions."""

from __future__ import annotations

from weakspot.generators.source.language import Language

MEANING = (
    "-Cembed-bitcode=yes",
    "-Ccodegen-units=1",
    "-Copt-level=0",
    "-Cdebuginfo=1",
    "-Coverflow-checks=on",
    "-Csymbol-mangling-version=v0",
    "--cfg=weakspot",
    "--check-cfg=cfg(weakspot)",
)
"""The flags of every crate that a program is made of."""

LANGUAGE = Language(
    name="rust",
    rank=2,
    suffixes=(".rs",),
    headers=(),
    versions=r"20\d\d",
    example="2024",
    standard="2021",
    flags=("-Cpanic=abort", *MEANING),
    grammar="tree_sitter_rust",
    block="rust",
    compiler="rustc",
    orders={
        "rlx": "Ordering::Relaxed",
        "acq": "Ordering::Acquire",
        "rel": "Ordering::Release",
        "acq_rel": "Ordering::AcqRel",
        "sc": "Ordering::SeqCst",
    },
    fence="fence",
)
