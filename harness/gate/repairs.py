"""The questions about memory orders that repair violated scenarios, without harm to the others."""

from __future__ import annotations

from functools import cached_property

from weakspot.generators.source.program import Program, read_program
from weakspot.harness.gate.scenarios import Scenario
from weakspot.harness.orders.repair_jobs import SearchRepair


class FindRepair(SearchRepair, frozen=True, kw_only=True, dict=True):
    """A repair of a scenario, without harm to the other scenarios."""

    scenarios: dict[str, Scenario]

    def program(self, name: str) -> Program:
        scenario = self.scenarios[name]
        program = read_program(scenario.path, build=scenario.build, asked=scenario.question)
        # what is linked is not part of the question
        self._read[name] = "" if program.links else program.key
        return program

    @cached_property
    def _read(self) -> dict[str, str]:
        """The keys of the programs that were read."""
        return {}

    @property
    def is_current(self) -> bool:
        return super().is_current and all(
            self.scenarios[name].is_unchanged(compiled) for name, compiled in self._read.items()
        )
