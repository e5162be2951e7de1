"""The memory orders that repair the user's own programs, for `check` and `test`.

In: programs and their explorations. Out: one question per violated program, whose answer is a
SuggestedRepair. A program that is violated under sequential consistency has none, since no memory
order prevents that; one whose exploration under it was not finished may have one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weakspot.generators.source.program import Program
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.plan import UnderModels, repaired_under
from weakspot.harness.corpus.material import Material
from weakspot.harness.corpus.models import LANGUAGE
from weakspot.harness.orders.repair_search import SECONDS, SearchRepair
from weakspot.harness.orders.repairs import Repair
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.record import key
from weakspot.harness.values.repair import Need, SuggestedRepair


class RepairProgram(SearchRepair, frozen=True, kw_only=True):
    """A repair of a program, without harm to the others of the `group`. The answer is a
    SuggestedRepair."""

    group: dict[str, Program]

    def program(self, name: str) -> Program:
        return self.group[name]

    def answer(self, found: Sequence[Repair], *, out_of_time: bool) -> SuggestedRepair:
        return SuggestedRepair(
            program=self.violated,
            model=self.model.name,
            fix="; or ".join(map(str, found)),
            changes=tuple(
                Need(str(change.annotation), self.needed(change))
                for change in (found[0].changes if found else ())
            ),
            executions=found[0].executions if found else (),
            out_of_time=out_of_time,
        )


def jobs(
    material: Material, explorations: Iterable[Exploration], under: UnderModels, bounds: Bounds
) -> list[Job]:
    """One question per program of the user's own that a memory order may repair."""
    own = {each.name for each in material.structures if not each.recorded}
    programs = {
        each.name: each.generated.program for each in material.programs if each.structure in own
    }
    results: dict[str, dict[str, Exploration]] = {name: {} for name in programs}
    for each in explorations:
        if each.program in results:
            results[each.program][each.model] = each
    found: list[Job] = []
    for name, by_model in results.items():
        violated = [model for model, each in by_model.items() if each.result == "Violated"]
        if not violated or "sc" in violated:
            continue
        model = LANGUAGE if LANGUAGE in violated else violated[-1]
        group = {other: each for other, each in programs.items() if model in results[other]}
        also = tuple(repaired_under(under.models[model], under.machines))
        digests = " ".join(
            (
                *(program.digest for program in group.values()),
                *(each.of_programs.digest_of_text for each in also),
            )
        )
        found.append(
            RepairProgram(
                key=key(programs[name].digest, under.digests[model], "repair", digests),
                violated=name,
                group=group,
                costs={other: results[other][model].seconds for other in group},
                model=under.models[model],
                also=also,
                bounds=bounds,
                seconds=min(2 * SECONDS, bounds.seconds),
            )
        )
    return found
