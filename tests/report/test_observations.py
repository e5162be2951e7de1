"""What machines showed, as the tables of the site have it."""

from __future__ import annotations

import msgspec
from examples import MACHINES, entry, histogram, small

from weakspot.generators.litmus import Test
from weakspot.harness.report.site.data import site_data
from weakspot.harness.report.site.observations import families, shape_table
from weakspot.harness.values.record import Record


def observed(**targets: int) -> Record:
    """The small campaign, in which these tests of the shape MP ran too, on the first machine."""
    record = small()
    entries = (*record.entries, *(entry(name, "MP") for name in targets))
    ran = (histogram(name, count, MACHINES[0]) for name, count in targets.items())
    return msgspec.structs.replace(record, entries=entries, histograms=(*record.histograms, *ran))


def test_a_shape_is_hatched_only_if_its_highest_rate_is_forbidden() -> None:
    record = observed(rare=10, frequent=1000)
    for forbidden, is_hatched in (("rare", False), ("frequent", True)):
        site = msgspec.structs.replace(
            site_data(record), contradicted=frozenset({(forbidden, MACHINES[0].name)})
        )
        table = shape_table(site, record.entries)
        assert table is not None
        (cell,) = (row.cells[0] for row in table.rows if row.shape == "MP")
        assert cell is not None
        assert cell.bar is not None
        assert (cell.contradicting, cell.bar.is_forbidden) == (1, is_hatched)


def test_families_are_those_of_the_structure_alone() -> None:
    record = observed(one=10, other=20)

    def shared(test: Test) -> Test:
        other = msgspec.structs.replace(
            test.origins[0], structure="else", operations=("lock", "unlock")
        )
        return msgspec.structs.replace(test, origins=(*test.origins, other))

    entries = tuple(
        msgspec.structs.replace(each, test=shared(each.test)) for each in record.entries
    )
    record = msgspec.structs.replace(record, entries=entries)
    titles = [family.title for family in families(site_data(record), "work_queue")]
    assert any(title.startswith("MP: ") for title in titles)
    assert not any("lock" in title for title in titles)
