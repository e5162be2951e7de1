"""A machine stays the same one when it is renamed, and another one under its name is not it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from fakes import make_test
from records import MANIFEST, histogram

from weakspot.errors import BadInput
from weakspot.harness.campaign.folder import FolderStore
from weakspot.harness.campaign.known_machines import (
    FILE,
    KnownMachine,
    ShownShape,
    clock_error,
    known,
)
from weakspot.harness.machines import NamedMachine
from weakspot.harness.values.histogram import Histogram
from weakspot.harness.values.record import FORMAT, Entry, MachineInfo
from weakspot.system.process import Ended

EPYC = {"cpu": "AMD EPYC", "identity": "a"}
XEON = {"cpu": "Intel Xeon", "identity": "b"}


def machine(name: str, profile: dict[str, Any]) -> MachineInfo:
    return MachineInfo(name, "x86_64", False, profile)


def campaign(root: Path, started: str, machines: tuple[MachineInfo, ...], *ran: Histogram) -> None:
    manifest = msgspec.structs.replace(MANIFEST, format=FORMAT, started=started, machines=machines)
    tests = {name: make_test(name) for name in ("SB", "SB2")}
    entries = [
        Entry(test=test, structures=(), models=(), digest=f"d-{name}", file=f"{name}.litmus")
        for name, test in tests.items()
    ]
    with FolderStore.create(root / started, manifest) as store:
        store.subjects(msgspec.structs.replace(store.record(), entries=tuple(entries)))
        for number, each in enumerate(ran):
            store.put(f"d-{each.test}:{each.machine}:{number}", each)


def names(found: list[KnownMachine]) -> list[tuple[str, str, tuple[str, ...], int]]:
    return [(each.name, each.address, each.aliases, each.campaigns) for each in found]


def test_a_renamed_machine_is_one_and_replaced_hardware_is_another(tmp_path: Path) -> None:
    campaign(tmp_path, "2026-01-01", (machine("local", EPYC),))
    campaign(tmp_path, "2026-02-01", (machine("ssh:10.0.0.7", XEON), machine("local", EPYC)))
    campaign(tmp_path, "2026-03-01", (machine("pi", XEON),))
    campaign(tmp_path, "2026-04-01", (machine("local", {"cpu": "Apple M1", "identity": "c"}),))
    named = {"pi": NamedMachine(address="ssh:pi.lan"), "new": NamedMachine(address="ssh:new")}
    assert names(known(tmp_path, named)) == [
        ("local", "local", (), 1),
        ("pi", "ssh:pi.lan", ("ssh:10.0.0.7",), 2),
        ("new", "ssh:new", (), 0),
        ("local", "", (), 2),
    ]


def test_an_updated_machine_is_the_same_and_an_unknown_cpu_is_no_difference(tmp_path: Path) -> None:
    campaign(tmp_path, "1", (machine("local", {**EPYC, "kernel": "6.1"}),))
    campaign(tmp_path, "2", (machine("local", {**EPYC, "kernel": "6.6", "identity": "z"}),))
    campaign(tmp_path, "3", (machine("local", {}),))
    (found,) = known(tmp_path, {})
    assert found.campaigns == 3


def test_shapes_are_those_of_tests_that_ran_with_the_text_that_they_have(tmp_path: Path) -> None:
    here = machine("local", EPYC)
    elsewhere = machine("pi", XEON)
    unseen = histogram(0, test="SB2")
    campaign(tmp_path, "1", (here, elsewhere), histogram(3), unseen, histogram(9, machine="pi"))
    campaign(tmp_path, "2", (here,), histogram(0), msgspec.structs.replace(unseen, iterations=0))
    campaign(tmp_path, "3", (here,), histogram(5, test="changed since"))
    local, pi = known(tmp_path, {})
    assert local.shapes == (ShownShape("SB", 2, 1),)
    assert pi.shapes == (ShownShape("SB", 1, 1),)


def test_a_damaged_list_of_probes_is_an_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("{")
    with pytest.raises(BadInput) as caught:
        known(tmp_path, {})
    assert caught.value.place == str(tmp_path / FILE)


@pytest.mark.parametrize(("ahead", "error"), [(0.0, 0.0), (100.0, 99.0), (-100.0, -99.0)], ids=str)
def test_a_wrong_clock_is_wrong_by_as_much_as_is_certain(ahead: float, error: float) -> None:
    class Clock:
        def shell(self, script: str, *, seconds: float = 20.0) -> Ended:  # noqa: ARG002
            return Ended(0, f"{int(time.time() + ahead)}\n", "", 0.0, False)

    found = clock_error(Clock())  # type: ignore[arg-type]
    assert found is not None
    assert found == 0.0 if not ahead else abs(found - error) <= 1.1
