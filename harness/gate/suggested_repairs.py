"""The memory orders that repair violated scenarios, and for how many scenarios they were confirmed.

Repairs are stored in the project's cache like the answers of the gate.
"""

from __future__ import annotations

from functools import cached_property

from weakspot.generators.source.program import Program, read_program
from weakspot.harness.campaign.cache import CacheStore
from weakspot.harness.campaign.executor import LocalExecutor, ask
from weakspot.harness.campaign.plan import repaired_under
from weakspot.harness.gate.answers import Answers
from weakspot.harness.gate.outcome import Note
from weakspot.harness.gate.scenarios import Scenario
from weakspot.harness.orders.repair_jobs import SearchRepair
from weakspot.harness.values.repair import SuggestedRepair


class FindRepair(SearchRepair, frozen=True, kw_only=True, dict=True):
    """A repair of a scenario, without harm to the other scenarios."""

    scenarios: dict[str, Scenario]

    def program(self, name: str) -> Program:
        scenario = self.scenarios[name]
        program = read_program(scenario.path, build=scenario.build, asked=scenario.question)
        self._read[name] = program.key
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


def suggested_repairs(answers: Answers) -> dict[str, SuggestedRepair]:
    """By scenario, a repair under the first model that shows a violation."""
    jobs: dict[str, FindRepair] = {}
    for answered in answers.answered:
        file, model = answered.file, answered.model
        if not answered.violated or answered.question.compared or file in jobs:
            continue
        together = [
            each
            for each in answers.answered
            if each.answer.exploration is not None and each.model == model
        ]
        also = tuple(repaired_under(model, answers.config.machine_models))
        parts = [each.question.key for each in together]
        parts += [each.of_programs.digest_of_text for each in also]
        jobs[file] = FindRepair(
            key=f"repair {answered.question.key} {' '.join(parts)}",
            violated=file,
            costs={each.file: each.answer.seconds for each in together},
            model=model,
            also=also,
            bounds=answers.config.bounds,
            root=answers.config.root,
            scenarios={each.file: each.question.scenario for each in together},
        )
    store = CacheStore(answers.folder, SuggestedRepair)
    executor = LocalExecutor(ends=answers.ends)
    ask(jobs.values(), store, executor, progress=answers.progress)
    found = {file: repair for file, job in jobs.items() if (repair := store.get(job.key))}
    answers.notes += [
        Note(file, ": no repair found within the time budget")
        for file, repair in found.items()
        if repair.out_of_time
    ]
    return found
