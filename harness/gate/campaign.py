"""The campaign of the gate: the scenarios of a project under its models, within a budget of time.

In: a configuration, the names of scenarios. Out: the answers that findings are made from. What is
asked: each scenario under each configured model; what is safe, under the models of machines; what
is violated, under the models that show where that happens; and how it is repaired.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from weakspot import __version__
from weakspot.errors import BadInput, LimitReached, WeakspotError
from weakspot.harness.campaign import plan
from weakspot.harness.campaign.check_jobs import Check
from weakspot.harness.campaign.executor import Executor, LocalExecutor, stoppable
from weakspot.harness.campaign.frontiers import Frontiers
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.plan import Jobs, Skipped
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.campaign.rounds import Rounds
from weakspot.harness.checkers.engine import Engine
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.corpus import models
from weakspot.harness.corpus.models import Model, default_models
from weakspot.harness.gate.config import Config
from weakspot.harness.gate.expectations import expectation
from weakspot.harness.gate.outcome import Note, ScenarioResult
from weakspot.harness.gate.repairs import FindRepair
from weakspot.harness.gate.scenarios import ExploreScenario, Scenario, read
from weakspot.harness.gate.store import Answer, CacheStore, project_folder
from weakspot.harness.values.descriptions import notes_of
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.reason import Reason
from weakspot.harness.values.repair import SuggestedRepair
from weakspot.system.deadline import ending

COMPARED = ("sc", "tso")
"""A program that violates something is explored under these too, to show where it happens: sc is
what memory orders cannot repair, tso is x86."""

_SHORTEST_ROUND = 0.1
"""Seconds for which it is worth asking again."""


class Question(msgspec.Struct, eq=False, kw_only=True):
    """A scenario under a model, and its answer once there is one. `compared` marks one whose answer
    only shows under which models a violation happens; `unchanged`, one that an earlier run has
    answered. `seconds` is the time that its answers took."""

    key: str
    scenario: Scenario
    model: Model
    compared: bool
    is_asked: bool = False
    answer: Answer = Answer()
    unchanged: bool = False
    seconds: float = 0.0

    @property
    def file(self) -> str:
        return self.scenario.name

    @property
    def exploration(self) -> Exploration | None:
        return self.answer.exploration

    @property
    def violated(self) -> bool:
        return self.exploration is not None and bool(self.exploration.violations)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the exploration."""
        return self.exploration is not None and "stopped" in self.exploration.limits

    @property
    def expected(self) -> str:
        """The observation that a litmus file expects under the model; empty if none."""
        test = self.scenario.test
        return expectation(test, self.model.name) if test is not None else ""


class GateCampaign(Rounds):
    """The answers about scenarios, within the configured budget. `refused` are questions that
    cannot be asked: a program under a model under which none can be explored; `unreadable` are the
    scenarios that cannot be read or compiled, about which nothing more is asked. `repairs` are by
    scenario."""

    def __init__(
        self, config: Config, *, cached: bool, progress: Progress, executor: Executor | None = None
    ) -> None:
        known = project_folder(config.root) if cached else None
        self._store = CacheStore(known and known / "answers")
        self._frontiers = Frontiers(known and known / "frontiers")
        super().__init__(self._store, executor or LocalExecutor(), progress)
        self.config = config
        self.end = ending(config.budget)
        self.notes: list[Note] = []
        self.refused: list[ScenarioResult] = []
        self.unreadable: dict[str, WeakspotError] = {}
        self.repairs: dict[str, SuggestedRepair] = {}
        self._questions: dict[Scenario, list[Question]] = {}
        self._by_key: dict[str, Question] = {}
        self._skipped: list[Skipped] = []
        self._explored: list[tuple[str, Exploration]] = []  # in this run
        self._digests: dict[Path, str] = {}
        self._later = 0
        self._explorer = EngineExplorer(part=config.explore.part)
        self._checker = Engine()

    def ask_about(self, files: Sequence[str]) -> None:
        """Answer every question about the scenarios. Raises Stopped on Ctrl-C.

        Each gets a share of the budget. What the others leave of it goes to what follows from their
        answers, and to those that it did not suffice for, which resume, until all is answered or no
        time is left.
        """
        with stoppable(self._store):
            scenarios, wrong = read(self.config, files, self.end)
            for file, error in wrong.items():
                if isinstance(error, LimitReached):
                    self._refuse(file, self.config.models, self.used_up)
                else:
                    self.unreadable[file] = error
            for each in scenarios:
                try:
                    self._questions[each] = list(self._first(each))
                except BadInput as error:
                    self.unreadable[each.name] = error
            self.ask_due()
            self.notes += [Note(file, note) for file, note in notes_of(self._explored)]
            self._ask_repairs()

    @property
    def answered(self) -> list[Question]:
        """The questions that are answered so far, in the order of the scenarios."""
        asked = (each for questions in self._questions.values() for each in questions)
        return [each for each in asked if each.answer.is_known]

    @property
    def used_up(self) -> str:
        """Why a question was not asked."""
        return f"the budget of {self.config.budget:g} s was used up before"

    # --- rounds ---------------------------------------------------------------------------------

    def due(self) -> Jobs:
        """The questions that were not asked yet, or whose share of the budget did not suffice."""
        skipped: list[Skipped] = []
        due = []
        for scenario, questions in self._questions.items():
            if scenario.name not in self.unreadable:
                questions += list(self._following(scenario, questions, skipped))
                due += [each for each in questions if self._is_due(each)]
        self._later = self._expected(due)
        for each in due:
            each.is_asked = True
            self._by_key[each.key] = each
            self._store.scenarios[each.key] = each.scenario
        unread = {each.scenario for each in due if each.scenario.compiled is None}
        reading = self.end.left / max(1, len(unread))
        return Jobs([self._job(each, reading) for each in due], skipped)

    def skip(self, skipped: Sequence[Skipped]) -> None:
        """A model of machines that does not apply leaves nothing undecided."""
        self._skipped += skipped
        self.notes += [Note(each.about, f": {each.reason}") for each in skipped]

    def ask_round(self, jobs: Sequence[Job]) -> None:
        """Ask a round of questions, and leave time for those that may follow."""
        share = len(jobs) / (len(jobs) + self._later) if jobs else 0.0
        try:
            self.ask(jobs, end=ending(self.end.left * share))
        finally:
            self._take(self._by_key[job.key] for job in jobs)

    def failed(self, job: Job, error: WeakspotError) -> None:
        """See Events. There was no time for the question, or its scenario cannot be compiled."""
        if (question := self._by_key.get(job.key)) is None:
            raise error
        if not isinstance(error, LimitReached):
            self.unreadable.setdefault(question.file, error)
            return
        found = Exploration(
            program=question.scenario.program_name,
            model=question.model.name,
            result="Unknown",
            incomplete=(Reason(kind="refused", message=error.message),),
        )
        self._store.put(question.key, found, final=False)

    def _is_due(self, question: Question) -> bool:
        """Whether the question was not asked yet, or its share of the budget did not suffice and
        there is more."""
        return not question.is_asked or (
            question.answer.is_known
            and question.answer.unknown
            and not question.compared
            and not self._store.has(question.key)
            and question.scenario.is_current
            and self.end.left > _SHORTEST_ROUND
        )

    def _expected(self, due: Sequence[Question]) -> int:
        """How many questions may follow from the answers: a repair where something is violated, and
        further models; a scenario that is asked about again, alone, gets all of the time."""
        asked = [each for each in due if not each.compared]
        alone = all(each.answer.is_known for each in asked)
        further = max(len(self.config.machine_models), len(COMPARED))
        repairs = len({each.file for each in self.answered if each.violated})
        scenarios = len({each.scenario for each in asked})
        return repairs + further * max(0, scenarios - alone)

    def _take(self, questions: Iterable[Question]) -> None:
        """The answers that are known after the questions were asked."""
        for each in questions:
            answer = self._store.get(each.key)
            if answer is None or each.file in self.unreadable:
                continue
            each.unchanged = each.key in self._store.stored
            if answer.exploration and not each.unchanged and not each.answer.is_known:
                self._explored.append((each.file, answer.exploration))
            each.answer = answer
            each.seconds += answer.seconds

    # --- questions ------------------------------------------------------------------------------

    def _first(self, scenario: Scenario) -> Iterator[Question]:
        """The scenario under the configured models; a litmus test of another dialect under those
        that read it."""
        asked = self.config.models
        if (test := scenario.test) is not None:
            asked = tuple(each for each in asked if not self._checker.applicable(test, each))
            asked = asked or tuple(map(models.resolve, default_models(test)))
            reasons = [self._checker.applicable(test, each) for each in asked]
        else:
            reasons = [self._explorer.applicable(each) for each in asked]
        if asked and all(reasons):
            place = str(scenario.path)
            raise BadInput(f"nothing decides {scenario.name}: {reasons[0]}", place=place)
        for model, why in zip(asked, reasons, strict=True):
            if why:
                self._refuse(scenario.name, (model,), why)
            else:
                yield self._question(scenario, model)

    def _refuse(self, file: str, asked: Iterable[Model], why: str) -> None:
        self.refused += [
            ScenarioResult(file=file, model=model.name, result="Unknown", reasons=(why,))
            for model in asked
        ]

    def _following(
        self, scenario: Scenario, questions: Sequence[Question], skipped: list[Skipped]
    ) -> Iterator[Question]:
        """What follows from the answers to these questions about the scenario."""
        asked = {each.model.name for each in questions}
        explored = [(each.model, each.exploration) for each in questions if each.exploration]
        for model in plan.following(explored, self.config.machine_models):
            if why := self._explorer.applicable(model):
                found = plan.not_explored(scenario.name, model.name, why)
                skipped += [found] if found not in self._skipped else []
            elif model.name not in asked:
                yield self._question(scenario, model)
                asked.add(model.name)
        if any(each.violated for each in questions):
            for name in COMPARED:
                if name not in asked:
                    yield self._question(scenario, models.resolve(name), compared=True)

    def _question(self, scenario: Scenario, model: Model, *, compared: bool = False) -> Question:
        parts = __version__, self._explorer.version, scenario.name, model.name
        key = " ".join((*parts, self._digest(model), scenario.identity))
        return Question(key=key, scenario=scenario, model=model, compared=compared)

    def _digest(self, model: Model) -> str:
        """The digest of the model's text, as it was when it was first asked for."""
        if model.path not in self._digests:
            self._digests[model.path] = model.digest_of_text
        return self._digests[model.path]

    def _job(self, question: Question, reading: float) -> Job:
        scenario, model = question.scenario, question.model
        if scenario.test is not None:
            return Check(
                key=question.key,
                test=scenario.test,
                model=model,
                checker=self._checker,
                seconds=self.config.budget,
            )
        return ExploreScenario(
            key=question.key,
            scenario=scenario,
            model=model,
            explorer=self._explorer,
            frontier=self._frontiers.of(scenario.name, model.name),
            reading=reading,
            too_late=self.used_up,
            report=self.progress.at,
        )

    # --- repairs --------------------------------------------------------------------------------

    def _ask_repairs(self) -> None:
        """Search for a repair of each violated scenario, under the first model that shows it."""
        jobs: dict[str, FindRepair] = {}
        for violated in self.answered:
            file, model = violated.file, violated.model
            if not violated.violated or violated.compared or file in jobs:
                continue
            together = [
                each
                for each in self.answered
                if each.exploration is not None and each.model == model
            ]
            also = tuple(plan.repaired_under(model, self.config.machine_models))
            parts = [each.key for each in together]
            parts += [each.of_programs.digest_of_text for each in also]
            jobs[file] = FindRepair(
                key=f"repair {violated.key} {' '.join(parts)}",
                violated=file,
                costs={each.file: each.answer.seconds for each in together},
                model=model,
                also=also,
                bounds=self.config.bounds,
                root=self.config.root,
                scenarios={each.file: each.scenario for each in together},
            )
        # they read the files of the project
        self.ask(list(jobs.values()), LocalExecutor(), end=self.end)
        for file, job in jobs.items():
            if (found := self._store.get(job.key)) is not None and found.repair is not None:
                self.repairs[file] = found.repair
                if found.repair.out_of_time:
                    self.notes.append(Note(file, ": no repair found within the time budget"))
