"""A campaign whose answers are in a folder, from its beginning to its end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weakspot.harness.campaign import plan as planning
from weakspot.harness.campaign.campaign import Campaign
from weakspot.harness.campaign.executor import Executor, Stopped, stoppable
from weakspot.harness.campaign.folder import (
    RESULTS,
    latest_unfinished,
    new_folder,
    resume_or_create,
)
from weakspot.harness.campaign.history import History
from weakspot.harness.campaign.progress import Progress, Quiet
from weakspot.harness.campaign.tools import Tools, installed
from weakspot.harness.machines import Lost, Machine
from weakspot.harness.values.record import Plan, Record

if TYPE_CHECKING:
    from weakspot.harness.codegen.configurations import Configuration


def run(
    plan: Plan,
    *,
    folder: Path | None = None,
    root: Path = RESULTS,
    fresh: bool = False,
    tools: Tools | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> tuple[Path, Record]:
    """Answer every question of the plan that its folder does not answer yet; the folder, and all
    that is in it.

    Without `folder` this resumes the newest unfinished campaign below `root` that has this plan, or
    starts a new one. Explorations that ended early in this campaign, and unless `fresh` in others
    beside it, are resumed.

    Raises Stopped on Ctrl-C, BadInput for a plan that makes no sense, and what the generators raise
    for a source that does not compile. A tool that is missing or fails is noted in the campaign,
    and all other questions are asked.
    """
    tools = tools or installed()
    progress = progress or Quiet()
    chosen = planning.models(plan.models, tools.model)
    builds: Sequence[Configuration] = ()
    if plan.compiled:
        from weakspot.harness.codegen.configurations import configurations

        builds = configurations(plan.compiled)
    reached, unreached = _machines(plan.machines, tools)
    folder = folder or latest_unfinished(root, plan) or new_folder(root)
    with resume_or_create(folder, plan) as store:
        if store.count:
            progress.message(f"resuming {folder}: {store.count:,} answers are stored")
        for note in store.notes:
            progress.message(note)
        campaign = Campaign(
            plan,
            store,
            tools,
            progress=progress,
            executor=executor,
            fresh=fresh,
            history=History.beside(folder),
        )
        for error in unreached:
            campaign.miss(error.message)
        with stoppable(store):
            try:
                campaign.ask_all(chosen, builds)
                campaign.run(reached)
                record = campaign.finish()
            except (KeyboardInterrupt, Stopped):
                campaign.describe()
                raise
    return folder, record


def _machines(names: Sequence[str], tools: Tools) -> tuple[list[Machine], list[Lost]]:
    """The machines, and why others cannot be reached: their tests run when the campaign resumes."""
    found, lost = [], []
    for name in names:
        try:
            found.append(tools.machine(name))
        except Lost as error:
            lost.append(error)
    return found, lost
