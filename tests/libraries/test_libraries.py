"""Lock-free libraries, as their packages install them, are read, explored and judged; a weakened
memory order in them is found."""

from __future__ import annotations

from pathlib import Path

import pytest
from library_drivers import Driver, changed, drivers, explored


def named(driver: Driver) -> str:
    return Path(driver.file).stem


def require(driver: Driver) -> None:
    if driver.missing:
        pytest.skip(driver.missing)


@pytest.mark.parametrize("driver", drivers(), ids=named)
def test_a_driver_is_explored_to_its_end(driver: Driver) -> None:
    require(driver)
    found = explored(driver)
    assert found.result == driver.result, (found.reasons, found.violations)
    assert found.seconds < 10


@pytest.mark.parametrize("driver", [each for each in drivers() if each.mutation], ids=named)
def test_a_weakened_order_in_the_library_is_found(driver: Driver, tmp_path: Path) -> None:
    require(driver)
    assert driver.mutation is not None
    folders = [changed(driver, driver.repair, tmp_path / "repaired")] if driver.repair else []
    if driver.repair:
        assert explored(driver, *folders).result == "Safe", "the repair is not one"
    found = explored(driver, changed(driver, driver.mutation, tmp_path / "mutated"), *folders)
    assert found.result == "Violated", found.reasons
