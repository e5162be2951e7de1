"""Rust, whose versions are editions. What only cargo knows is not read: dependencies, features."""

from __future__ import annotations

from weakspot.generators.source.language import Language

LANGUAGE = Language(
    name="rust",
    rank=2,
    suffixes=(".rs",),
    headers=(),
    versions=r"20\d\d",
    example="2024",
    standard="2021",
    flags=(
        *("--crate-type", "bin"),
        *("-C", "panic=abort"),
        *("-C", "lto=fat"),  # the module has std's code in it
        *("-C", "codegen-units=1"),
        *("-C", "opt-level=0"),
        *("-C", "debuginfo=1"),
        *("-C", "overflow-checks=on"),
        *("-C", "symbol-mangling-version=v0"),
        *("--cfg", "weakspot"),
        *("--check-cfg", "cfg(weakspot)"),
    ),
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
