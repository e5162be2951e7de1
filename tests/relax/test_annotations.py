"""Annotations are places in the source; their orders have a strength."""

from __future__ import annotations

from pathlib import Path

import pytest

from weakspot.errors import BadInput
from weakspot.generators.source.build import Build
from weakspot.generators.source.program import Program, read_program
from weakspot.harness.edits.annotations import annotate
from weakspot.harness.edits.strength import (
    allowed,
    at_most,
    just_below,
    stronger,
    strongest,
    weaker,
)

HEADER = """\
#include <stdatomic.h>
#include <pthread.h>
atomic_int flag;
static int look(void) { return atomic_load_explicit(&flag, memory_order_acquire); }
"""
MAIN = """\
#include "flag.h"
static void *set(void *unused) { atomic_store(&flag, 1); return unused; }
int main(void) {
    pthread_t t;
    pthread_create(&t, 0, set, 0);
    int seen = LOOKS;
    int expected = 1;
    atomic_compare_exchange_strong_explicit(&flag, &expected, 2, memory_order_acq_rel,
                                            memory_order_relaxed);
    pthread_join(t, 0);
    return seen;
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "flag.h").write_text(HEADER)
    (tmp_path / "main.c").write_text(MAIN)
    return read_program(tmp_path / "main.c", build=Build(defines=("LOOKS=look() + look()",)))


def test_calls_of_one_place_are_one_annotation(program: Program) -> None:
    annotations, (annotated,) = annotate([program])
    described = [(str(each), each.kind, each.order) for each in annotations]
    assert described == [
        ("flag.h:4", "R", "acq"),
        ("main.c:2", "W", "sc"),
        ("main.c:8", "CAS", "acq_rel/rlx"),
    ]
    assert [len(sites) for _, sites in sorted(annotated.sites.items())] == [2, 1, 1]


def test_programs_that_include_a_header_share_its_annotations(program: Program) -> None:
    other = program.source.with_name("other.c")
    other.write_text(program.source.read_text())
    more = read_program(other, build=Build(defines=("LOOKS=look()",)))
    annotations, (one, two) = annotate([program, more])
    assert [str(each) for each in annotations].count("flag.h:4") == 1
    assert one.sites.keys() & two.sites.keys() == {0}


def test_all_sites_of_an_annotation_change_together(program: Program) -> None:
    annotations, (annotated,) = annotate([program])
    weak = annotated.under(tuple(weaker(each.kind, each.order)[0] for each in annotations))
    assert sorted(filter(None, weak.orders)) == ["rlx", "rlx", "rlx", "rlx/rlx"]
    assert weak.digest != program.digest
    again, _ = annotate([weak])
    assert [each.order for each in again] == ["rlx", "rlx", "rlx/rlx"]


def test_an_order_that_c_does_not_allow_is_an_error_at_its_line(program: Program) -> None:
    site = next(n for n, site in enumerate(program.sites) if site.kind == "W" and program.orders[n])
    with pytest.raises(BadInput) as refused:
        program.with_orders({site: "acq"})
    message = str(refused.value)
    assert "main.c:2:" in message
    assert "of a store: rlx, rel or sc" in message
    assert "atomic_store(&flag, 1)" in message


def test_in_c_a_failed_exchange_is_never_ordered_more_than_one_that_succeeds() -> None:
    assert allowed("C CAS")[0] == "rlx/rlx"
    assert "rel/rlx" in allowed("C CAS")
    assert "rel/acq" not in allowed("C CAS")
    assert just_below("acq/acq", allowed("C CAS")) == ("acq/rlx",)
    assert stronger("C CAS", "acq_rel/rlx")[-1] == "sc/sc"


def test_elsewhere_a_failed_exchange_may_be_ordered_more_than_one_that_succeeds() -> None:
    assert set(allowed("C CAS")) < set(allowed("CAS"))
    assert set(just_below("acq_rel/acq", allowed("CAS"))) == {"acq/acq", "rel/acq", "acq_rel/rlx"}
    assert set(stronger("CAS", "rlx/acq")[:5]) >= {"rlx/acq", "acq/acq", "rel/acq"}
    assert stronger("CAS", "rlx/rlx")[-1] == "sc/sc"


def test_strength_is_what_an_order_gives() -> None:
    assert not at_most("acq", "rel")
    assert at_most("rel", "acq_rel")
    assert at_most("acq_rel", "sc")
    assert set(just_below("acq_rel", allowed("RMW"))) == {"acq", "rel"}
    assert just_below("rel", allowed("F")) == ("none",)
    assert strongest("RMW", ("acq", "rel")) == "acq_rel"
    assert strongest("CAS", ("rel/rlx", "acq/acq")) == "acq_rel/acq"
