"""A campaign: a plan whose answers are asked for, stored and judged.

In: a Plan, the tools that its names stand for, a store. Out: a Record. `folder_run` answers a plan
in a folder; the commands that print their answers use a Campaign with a store in memory. A job
whose answer is stored is not performed again, so that a campaign that was interrupted, for whatever
reason, is finished by the same command.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from weakspot import __version__
from weakspot.errors import MissingTool, ToolFailed, WeakspotError
from weakspot.harness.campaign import plan as planning
from weakspot.harness.campaign.check_jobs import CodeComparison
from weakspot.harness.campaign.executor import Executor, LocalExecutor
from weakspot.harness.campaign.folder import now
from weakspot.harness.campaign.frontiers import Frontiers
from weakspot.harness.campaign.hardware import Runs, runs
from weakspot.harness.campaign.history import History
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.plan import Jobs, Skipped
from weakspot.harness.campaign.progress import Progress, Quiet
from weakspot.harness.campaign.rounds import Rounds
from weakspot.harness.campaign.store import RecordStore
from weakspot.harness.campaign.tools import Tools
from weakspot.harness.checkers import CHECKERS, Checker, FileChecker, version_of
from weakspot.harness.corpus.material import Material, gather, joined
from weakspot.harness.corpus.models import Model
from weakspot.harness.judge.findings import judge
from weakspot.harness.machines import Machine
from weakspot.harness.runners import RunLimits, Runner
from weakspot.harness.values.descriptions import notes_of
from weakspot.harness.values.record import MachineInfo, ModelInfo, Plan, Record, Timing
from weakspot.harness.values.verdict import Verdict
from weakspot.system.durations import duration_text

if TYPE_CHECKING:
    from weakspot.harness.codegen.configurations import Configuration


class Campaign(Rounds):
    """A plan while it is carried out. Each method asks one kind of question; `record` may be asked
    for at any time, also after Stopped.

    A `printed` campaign is one whose answers a command prints: a tool that fails is an error, and a
    test that no checker takes has an Unknown verdict. Otherwise both are notes in the manifest.
    """

    def __init__(
        self,
        plan: Plan,
        store: RecordStore,
        tools: Tools,
        *,
        progress: Progress | None = None,
        executor: Executor | None = None,
        printed: bool = False,
        fresh: bool = False,
        history: History | None = None,
    ) -> None:
        super().__init__(
            store,
            executor or LocalExecutor(gauge=tools.gauge),
            progress or Quiet(),
            (history or History()).elapsed,
        )
        self.plan, self.store, self.tools = plan, store, tools
        self._timed = store.manifest.timings
        self.material = Material(structures=(), entries=(), programs=(), sources=())
        self._printed, self._fresh = printed, fresh
        self._under = planning.under(())
        self._unexplored: Material | None = None
        self._versions: dict[str, str] = {}
        self._machines: dict[str, MachineInfo] = {}
        self._notes: list[str] = []
        self._unfinished = self._checked = False

    def ask_all(self, chosen: Sequence[Model], builds: Sequence[Configuration]) -> None:
        """Ask all of the plan's questions but for those to machines."""
        self.gather(chosen)
        self.explore()
        self.check(self.checkers())
        if builds:
            self.compare_with_sources(builds)

    # --- what it is about -----------------------------------------------------------------------

    def gather(self, chosen: Sequence[Model]) -> None:
        """Generate the tests, for these models or for each structure's own."""
        self.progress.start(0, "generating")
        material = gather(
            self.plan.what,
            under=[model.name for model in chosen],
            generator=self.tools.generator,
            build=self.tools.build,
            report=lambda _: self.progress.advance(),
            root=self.tools.corpus,
        )
        self.progress.stop()
        if self.tools.priced is not None:
            material = self.tools.priced(material)
        self.take(material, chosen or planning.models(material.models, self.tools.model))

    def take(self, material: Material, chosen: Iterable[Model]) -> None:
        """Use material that is generated already, under these models."""
        self.material = material
        machines = planning.models(self.plan.machine_models, self.tools.model)
        self._under = planning.under(chosen, machines)
        self._versions.update(compiler=", ".join(material.compilers))
        for name in self._interrupted():
            self.note(
                f"{name}: the time limit was reached while its litmus tests were generated; "
                "--seconds, or --for of run, with more time generates all of them"
            )
        for name, why in material.unread.items():
            self.note(f"{name} cannot be read: {why}")
        self._subjects()

    def _subjects(self) -> None:
        self.store.subjects(self.material)
        self.describe()

    # --- questions ------------------------------------------------------------------------------

    def explore(self) -> None:
        """Explore every program under its models, and what is safe so far of the user's own under
        those of machines too. What violates something becomes a test."""
        self._checked = True
        self._unexplored = self.material
        self.ask_due()
        explorations = self.store.record().explorations
        self.material = joined(self.material, explorations)
        for program, note in notes_of((each.program, each) for each in explorations):
            self.note(f"{program}{note}")
        self._subjects()
        if self.tools.repairs is not None:
            self.ask(self.tools.repairs(self.material, explorations, self._under, self.plan.bounds))

    def due(self) -> Jobs:
        """The explorations that were not asked for yet."""
        asked = self._unexplored or self._followed()
        self._unexplored = None
        frontiers = self.store.frontiers
        if self._fresh:
            frontiers = Frontiers(frontiers.folder)
        return planning.explorations(
            asked, self._under, self.tools.explorer, self.plan.bounds, frontiers
        )

    def _followed(self) -> Material:
        """What is explored next, under models that from now on belong to the campaign."""
        asked = planning.followed(self.material, self.store.record().explorations, self._under)
        if asked.programs:
            machines = self._under.machines
            self._under = planning.under([*self._under.models.values(), *machines], machines)
            also = {each.name: each.models for each in asked.programs}
            programs = (
                msgspec.structs.replace(each, models=(*each.models, *also.get(each.name, ())))
                for each in self.material.programs
            )
            self.material = msgspec.structs.replace(self.material, programs=tuple(programs))
            self.describe()
        return asked

    def skip(self, skipped: Sequence[Skipped]) -> None:
        """Store an Unknown answer about each of the user's own programs, and about tests where
        answers are printed. Others get a note: of the corpus, the tests of a program answer what is
        asked under a model under which it cannot be explored."""
        own = planning.own_structures(self.material)
        programs = {each.name for each in self.material.programs if each.structure in own}
        noted = []
        for each in skipped:
            is_shown = self._printed if isinstance(each.answer, Verdict) else each.about in programs
            if is_shown:
                self.store.put(each.key, each.answer)
            else:
                noted.append(each)
        self._notes += planning.notes(noted)

    def checkers(self) -> list[Checker]:
        """The checkers of the plan that are installed; the others are noted."""
        found = []
        for name in self.plan.checkers:
            checker = self.tools.checker(name)
            if checker.available() is None:
                self.note(f"{name} is not installed: nothing was checked with it")
            else:
                found.append(checker)
        return found

    def check(self, checkers: Sequence[Checker], *, everything: bool = True) -> None:
        """Ask each checker, which is installed, about each test under its models; about tests of
        the user's own programs only if they matter, unless `everything` is asked."""
        self._checked = True
        explorations = self.store.record().explorations
        only = planning.relevant(self.material, explorations, self.tools.explorer)
        for checker in checkers:
            self._versions[checker.name] = version_of(checker)
        jobs = planning.checks(
            self.material,
            self._under,
            checkers,
            self.plan.seconds_check,
            None if everything else only,
        )
        self.skip(jobs.skipped)
        self.describe()
        self.ask(jobs.jobs)

    def check_files(self, checker: FileChecker, form: str) -> None:
        """Ask the checker, which is installed, about the tests of folders that have no entries, for
        answers in a form."""
        tests = self.material.files
        assert tests is not None, "material without such tests"
        seconds = self.plan.seconds_check
        self.ask(planning.file_checks(tests, self._under, checker, form, seconds))

    def compare_with_sources(self, builds: Sequence[Configuration]) -> None:
        """Compare the compiled code of every C test with its source, under the language's model."""
        from weakspot.harness.codegen.check import LANGUAGE

        comparison = CodeComparison(
            language=(self.tools.model(LANGUAGE),),
            checker=self.tools.checker(CHECKERS.default.name),
            builds=tuple(builds),
            seconds=self.plan.seconds_check,
        )
        in_c = [each for each in self.material.entries if each.test.arch == "C"]
        self.ask(planning.comparisons(in_c, comparison))

    def compare(self, comparison: CodeComparison) -> None:
        """Compare compiled code with all tests."""
        self.ask(planning.comparisons(self.material.entries, comparison))

    def run(self, reached: Sequence[Machine]) -> None:
        """Run every program and every test on every machine, by the runners of the plan."""
        for machine in reached:
            try:
                known = msgspec.to_builtins(self.tools.profile(machine), enc_hook=str)
            except (MissingTool, ToolFailed) as error:
                self._without(f"the profile of {machine.name}", error)
            else:
                self.measured(machine, known)
        self.describe()
        for machine in reached:
            self.run_on(machine, self.runs(machine, self.runners(machine)))

    def runners(self, machine: Machine) -> list[Runner]:
        """The runners of the plan that can run on the machine; the others are noted."""
        found = []
        for name in self.plan.runners:
            runner = self.tools.runner(name)
            if why := runner.available(machine):
                self.note(f"{name} on {machine.name}: {why}")
            else:
                found.append(runner)
        return found

    def run_on(self, machine: Machine, planned: Runs) -> None:
        """Run what `runs` has planned for the machine."""
        for each in planned.shares:
            if each.chosen == each.count:
                continue
            self.note(
                f"{each.count - each.chosen:,} of {each.count:,} {each.what} were not run on "
                f"{machine.name}: {duration_text(self.plan.budget)} went to more informative ones "
                "(--budget and --for give more time)"
            )
        self.ask(planned.jobs)

    def runs(
        self,
        machine: Machine,
        runners: Sequence[Runner],
        *,
        programs: bool = True,
        tests: bool = True,
        limited: bool = False,
    ) -> Runs:
        """The tests by each runner on one machine, and before that the programs as a whole if a
        runner runs these too; `limited` as for RunLimits."""
        whole = self.tools.whole if any(each.whole_programs for each in runners) else None
        limits = RunLimits(self.plan.seconds_run, limited, self.plan.budget)
        # without a budget nothing depends on the answers, which may be many
        decided = self.store.record() if limits.budget else Record(manifest=self.store.manifest)
        by, whole = (runners if tests else ()), (whole if programs else None)
        return runs(self.material, decided, machine, by, whole, limits)

    # --- what the executor reports --------------------------------------------------------------

    def failed(self, job: Job, error: WeakspotError) -> None:
        self._without(job.label, error)

    def _without(self, label: str, error: WeakspotError) -> None:
        if self._printed or not isinstance(error, MissingTool | ToolFailed):
            raise error
        self.miss(f"{label}: {error.message}")

    def measured(self, machine: Machine, facts: dict[str, Any]) -> None:
        stored = {each.name: each for each in self.store.manifest.machines}
        before = (stored | self._machines).get(machine.name)
        known = {**(before.profile if before else {}), **facts}
        note = MachineInfo(machine.name, machine.arch, machine.emulated, known)
        self._machines[machine.name] = note

    def miss(self, why: str) -> None:
        """Note, once, that questions are left for when the campaign resumes."""
        self._unfinished = True
        if why not in self._notes:
            self.note(why)
            if not self._printed:
                self.progress.message(why)

    def note(self, text: str) -> None:
        """Say this at the end, with the answers."""
        self._notes.append(text)

    # --- what is known --------------------------------------------------------------------------

    def finish(self) -> Record:
        """Judge, and mark the campaign as finished unless questions are left."""
        self.describe("" if self._unfinished else now())
        record = self.store.record()
        findings = judge(record)
        self.store.findings(findings)
        return msgspec.structs.replace(record, findings=findings)

    def record(self) -> Record:
        """All answers so far, judged."""
        self.describe()
        record = self.store.record()
        # claims are about verdicts and explorations, which a command may not ask for
        return msgspec.structs.replace(record, findings=judge(record, with_claims=self._checked))

    def describe(self, finished: str = "") -> None:
        """Bring the manifest up to date."""
        old = self.store.manifest
        met = {machine.name: machine for machine in old.machines} | self._machines
        self.store.describe(
            msgspec.structs.replace(
                old,
                weakspot=__version__,
                finished=finished,
                tools={**old.tools, **self._versions},
                models=tuple(
                    ModelInfo(
                        model.name,
                        model.title,
                        model.role,
                        model.machines,
                        self._under.digests[name],
                    )
                    for name, model in self._under.models.items()
                ),
                machines=tuple(met.values()),
                programs={
                    each.name: each.generated.program.digest for each in self.material.programs
                },
                interrupted=tuple(self._interrupted()),
                unread=self.material.unread,
                timings=self._timings(),
                notes=tuple(self._notes),
            )
        )

    def _timings(self) -> dict[str, Timing]:
        """Those of this process with those of others before it."""
        now = self.progress.timings
        names = {**self._timed, **now}
        return {name: self._timed.get(name, Timing()) + now.get(name, Timing()) for name in names}

    def _interrupted(self) -> Iterator[str]:
        """The programs for which the time limit left out litmus tests."""
        return (each.name for each in self.material.programs if each.generated.interrupted)
