"""A run of the gate: its work, the findings it reports, and the result of each scenario."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from weakspot.errors import Interrupted
from weakspot.harness.campaign.executor import Executor
from weakspot.harness.campaign.progress import Progress, Quiet
from weakspot.harness.gate import baseline
from weakspot.harness.gate.campaign import GateCampaign, Question
from weakspot.harness.gate.config import Config
from weakspot.harness.gate.findings import GateFindings
from weakspot.harness.gate.last_findings import store_findings
from weakspot.harness.gate.outcome import GateOutcome, Note, ScenarioResult
from weakspot.harness.values.descriptions import STARTS_NO_THREAD
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.reason import Reason, sentence


def run(
    config: Config,
    scenarios: Sequence[str],
    *,
    cached: bool = True,
    new_baseline: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> GateOutcome:
    """Explore and check the scenarios, by default on this computer, and report their findings.

    One that cannot be read or compiled is a finding. Raises BadInput for a baseline that cannot be
    read; a `new_baseline` need not be there.
    """
    begun = time.monotonic()
    accepted = baseline.read(
        config.baseline, needed=bool(config.gate.baseline) and not new_baseline
    )
    work = GateCampaign(config, cached=cached, progress=progress or Quiet(), executor=executor)
    try:
        work.ask_about(scenarios)
    except Interrupted:
        raise GateInterrupted(
            [
                _result(work, each)
                for each in work.answered
                if not each.compared and not each.interrupted
            ]
        ) from None
    reporter = GateFindings(work, accepted)
    findings = tuple(reporter.reported())
    found = {each.fingerprint for each in findings}
    shown = tuple(each for each in work.answered if not each.compared)
    unreadable = (
        ScenarioResult(file=file, model=model.name, result="Error")
        for file in work.unreadable
        for model in config.models
    )
    results = (*(_result(work, each) for each in shown), *work.refused, *unreadable)
    whole = set(config.scenarios) <= set(scenarios)
    decided = not any(each.undecided or each.result == "Error" for each in results)
    if whole and decided:
        findings += tuple(reporter.unused_suppressions())
    without_expectation = (
        Note(
            each.file,
            f" states no expected answer under {each.model.name}: use ~exists or forall, or add a "
            "comment (* Result: Never *)",
        )
        for each in shown
        if each.answer.verdict is not None and not each.expected
    )
    sequential = dict.fromkeys(
        each.file for each in shown if each.exploration is not None and each.exploration.sequential
    )
    repository = repository_of(config.root) or config.root
    outcome = GateOutcome(
        below=config.root.relative_to(repository).as_posix(),
        folder=str(config.root),
        repository=str(repository),
        scenarios=results,
        findings=findings,
        file_notes=(
            *work.notes,
            *without_expectation,
            *(Note(file, f" {STARTS_NO_THREAD}") for file in sequential),
        ),
        stale=tuple(
            each for each in accepted if whole and decided and each.fingerprint not in found
        ),
        baseline=os.path.relpath(config.baseline),
        whole=whole,
        seconds=time.monotonic() - begun,
        pages=config.gate.pages,
    )
    store_findings(config.root, outcome)
    return outcome


class GateInterrupted(Interrupted):
    """Ctrl-C; `results` are those of the scenarios so far."""

    def __init__(self, results: Sequence[ScenarioResult]) -> None:
        super().__init__(
            "interrupted; the answers so far are cached in .weakspot; run the same command to "
            "resume"
        )
        self.results = tuple(results)


def repository_of(root: Path) -> Path | None:
    """The top of the repository that the folder is in."""
    return next((each for each in (root, *root.parents) if (each / ".git").exists()), None)


def _of_budget(found: Exploration, budget: float, spent: float) -> Iterator[Reason]:
    """Why the exploration is incomplete, whose time limit is its part of the gate's budget."""
    for each in found.incomplete:
        is_time = each.kind == "limit" and each.limit == "seconds"
        yield Reason(kind="budget", number=budget, spent=spent) if is_time else each
    yield Reason(kind="raise budget", number=budget)


def _result(work: GateCampaign, question: Question) -> ScenarioResult:
    result: Literal["Safe", "Violated", "Unknown", "Ok", "No"]
    if (found := question.exploration) is not None:
        result, executions = found.result, found.executions
        reasons = found.reasons or ((work.used_up,) if result == "Unknown" else ())
        if "seconds" in found.limits:
            budget = _of_budget(found, work.config.budget, question.seconds)
            reasons = tuple(map(sentence, budget))
    else:
        verdict = question.answer.verdict
        assert verdict is not None
        result = "Ok" if question.expected in ("", verdict.observation) else "No"
        if verdict.observation == "Unknown":
            result = "Unknown"
        reasons, executions = (verdict.reason,), 0
    return ScenarioResult(
        file=question.file,
        model=question.model.name,
        result=result,
        reasons=reasons,
        executions=executions,
        seconds=question.seconds,
        unchanged=question.unchanged,
    )
