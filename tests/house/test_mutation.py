"""scripts/mutate-reductions can switch off each condition of a source."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from mutation import schemata


def rewritten(folder: Path, body: str) -> tuple[str, list[str]]:
    """The body of a function with switches, and what they switch off."""
    source = f"fn decide() {{ {body} }}\n#[cfg(test)] mod tests {{ fn of() {{ a && b }} }}\n"
    (folder / "lib.rs").write_text(source, encoding="utf-8")
    mutants = schemata.rewrite(folder, {"lib.rs": ()})
    text = (folder / "lib.rs").read_text(encoding="utf-8").splitlines()[0]
    text = text.removeprefix("fn decide() { ").removesuffix(" }").replace("crate::mutants::", "")
    assert {(mutant.file, mutant.line, mutant.function) for mutant in mutants} <= {
        ("lib.rs", 1, "decide")
    }
    assert [mutant.number for mutant in mutants] == list(range(len(mutants)))
    return text, [mutant.text for mutant in mutants]


@pytest.mark.parametrize(
    ("body", "expected", "deleted"),
    [
        ("a && b", "(a || off(0)) && (b || off(1))", ["a", "b"]),
        ("a && a", "(a || off(0)) && (a || off(1))", ["a", "a (2)"]),
        ("a || b", "((a) && !off(0)) || ((b) && !off(1))", ["a", "b"]),
        ("if a { return; }", "if ((a) && !off(0)) { return; }", ["a"]),
        ("if a { b } else { c }", "if a { b } else { c }", []),
        (
            "if let Some(a) = b { return; }",
            "if let Some(a) = b { if !off(0) { return; } }",
            ["let Some(a) = b"],
        ),
        ("match a { b if c => 1 }", "match a { b if (c || off(0)) => 1 }", ["c"]),
        (
            "matches!(a, b if c && d)",
            "matches!(a, b if (c || off(0)) && (d || off(1)))",
            ["c", "d"],
        ),
        ("a.filter(|b| c)", "a.filter(|b| (c || off(0)))", ["c"]),
        ("a.any(|b| c)", "a.any(|b| ((c) && !off(0)))", ["c"]),
        ("a.map(|b| c)", "a.map(|b| c)", []),
        ("(a > b).then(c)", "((a > b) || off(0)).then(c)", ["(a > b)"]),
        ("(a, b) == (c, d)", "((a == c || off(0)) && (b == d || off(1)))", ["a", "b"]),
        (
            "HeaderState { a: b }",
            "HeaderState { a: if off(0) { Default::default() } else { b } }",
            ["a: b"],
        ),
        ("on.has(Reduction::Waits) && a", "on.has(Reduction::Waits) && (a || off(0))", ["a"]),
    ],
)
def test_each_condition_gets_a_switch(
    tmp_path: Path, body: str, expected: str, deleted: list[str]
) -> None:
    text, found = rewritten(tmp_path, body)
    assert (text, found) == (expected, deleted)
