"""A C test that is read from a file says what a generated one does: its statements."""

from __future__ import annotations

import msgspec
import pytest

from weakspot.generators.emit.text import litmus_text
from weakspot.generators.litmus import Cas, Guard, Load, Rmw, Test
from weakspot.harness.corpus.structures import Structure, structures


def _program(text: str) -> tuple[list[str], str]:
    """The initial values of a test, in any order, and the rest of its text."""
    init, _, rest = text[text.index("{") :].partition("\n")
    return sorted(init.split()), rest


def _test(body: str, condition: str = "exists (0:r0=1)", init: str = "{}") -> Test:
    return Test(
        name="t",
        arch="C",
        text=f"C t\n{init}\nP0 (atomic_int* x, int* e) {{ {body} }}\n{condition}\n",
    )


@pytest.mark.parametrize("structure", structures(), ids=lambda structure: structure.name)
def test_golden_tests_are_read_as_they_were_made(structure: Structure) -> None:
    assert structure.golden() or not any(each.cycles for each in structure.scenarios)
    for test in structure.golden():
        assert test.statements is not None, test.name
        assert _program(litmus_text(test.name, "", test.statements)) == _program(test.text)


def test_a_compare_exchange_takes_its_expected_value_from_its_cell() -> None:
    body = _test(
        "int r0 = atomic_compare_exchange_weak_explicit"
        "(x,e,5,memory_order_acq_rel,memory_order_acquire);",
        init="{ [e]=3; }",
    ).statements
    assert body is not None
    assert body.threads == ((Cas("r0", "x", 3, 5, "acq_rel", "acq", weak=True),),)
    assert body.locations == ("x",)
    assert body.init == {}


def test_results_that_nobody_keeps_get_a_register() -> None:
    body = _test("atomic_exchange(x,1);", "exists ([x]=1)").statements
    assert body is not None
    first = body.threads[0][0]
    assert isinstance(first, Load | Rmw | Cas)
    assert first.reg == "u0"


def test_statements_after_an_if_are_guarded() -> None:
    body = _test(
        "int r1 = -1; int r0 = atomic_load(x); if (r0 == 1) { r1 = atomic_load(x); }"
    ).statements
    assert body is not None
    assert body.threads == ((Load("r0", "x", "sc"), Guard("r0", 1), Load("r1", "x", "sc")),)


@pytest.mark.parametrize(
    "test",
    [
        _test("int r0 = atomic_load(x); while (r0) { r0 = atomic_load(x); }"),
        _test("int r0 = atomic_load(x); atomic_store(x, r0 + 1);"),
        _test("int r0 = atomic_load(x); if (r0 == 1) { int r1 = atomic_load(x); }"),
        _test("int r0 = atomic_load(x); int r1 = *x;"),
        _test("int r0 = atomic_load_explicit(x,memory_order_consume);"),
        _test("int r0 = atomic_load(x);", "forall (0:r0=1)"),
        _test("int r0 = atomic_load(x);", "exists (0:r1=1)"),
        _test("int r0 = atomic_load(x);", "exists (0:r0=1 \\/ 0:r0=2)"),
        _test("int r0 = 1"),
        msgspec.structs.replace(_test("int r0 = atomic_load(x);"), arch="PPC"),
    ],
    ids=[
        "loop",
        "computed value",
        "register unknown before its guard",
        "plain and atomic",
        "consume",
        "forall",
        "register never written",
        "disjunction",
        "malformed",
        "not C",
    ],
)
def test_a_test_outside_the_supported_c_has_no_statements(test: Test) -> None:
    assert test.statements is None
