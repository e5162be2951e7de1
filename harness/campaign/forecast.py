"""What a campaign will cost, without running it.

In: a Plan, the tools that its names stand for, the folder of earlier campaigns. Out: a Forecast:
how many questions of each kind there are, how long they will take and from what that is known,
which tests add nothing, and how the time on each machine is divided.

The campaign is planned as it would be run, with an executor that performs no job: where an earlier
campaign has answered the same question, it gives that answer, so that the tests of violations, and
the order in which tests run on hardware, are those of the campaign. Tests are generated.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import Unsupported
from weakspot.generators.binary.isa import ISAS
from weakspot.generators.emit import isa
from weakspot.generators.litmus import Test
from weakspot.harness.campaign import plan as planning
from weakspot.harness.campaign.campaign import Campaign
from weakspot.harness.campaign.check_jobs import Check
from weakspot.harness.campaign.estimates import predicted
from weakspot.harness.campaign.executor import Receiver
from weakspot.harness.campaign.folder import answers_in, latest_unfinished, new_manifest
from weakspot.harness.campaign.hardware import Share
from weakspot.harness.campaign.history import History
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.campaign.tools import Tools
from weakspot.harness.codegen.configurations import configurations
from weakspot.harness.machines import Lost, Machine
from weakspot.harness.values.record import Entry, Plan, unique
from weakspot.system.deadline import ending


class Phase(msgspec.Struct, frozen=True, kw_only=True):
    """Questions of one kind. Of `jobs`, `stored` are answered in the campaign that will be resumed.
    `seconds` is the prediction for the others, but for those that nothing is known of; `sources`
    counts from what it comes: "repeated" (the same question in earlier campaigns), "similar" (an
    older text, tool or limit), "estimated" (the explorer's random descents), "sampled" (some checks
    now), "usual" (the mean of the checker's answers, or of the estimates), "given" (the options),
    "unknown"."""

    name: str
    jobs: int
    stored: int
    seconds: float
    sources: dict[str, int]


class Repetition(msgspec.Struct, frozen=True):
    """Tests that add nothing where another of them is answered: they are equal but for their names,
    or are one assembly on `arch`."""

    tests: tuple[str, ...]
    arch: str = ""


class Division(msgspec.Struct, frozen=True):
    """How the time on a machine is shared."""

    machine: str
    budget: float
    shares: tuple[Share, ...]


class WorkerShare(msgspec.Struct, frozen=True):
    """What a worker of the cluster takes, as far as all threads of all workers are equally fast."""

    worker: str
    threads: int
    questions: int


class Forecast(msgspec.Struct, frozen=True, kw_only=True):
    """See the module. `seconds` is for all phases; `answered` counts the tests for each phase of
    checks or runs whose question an earlier campaign has answered; `workers` are those of the
    cluster, if there is one."""

    what: tuple[str, ...]
    programs: int
    tests: int
    models: tuple[str, ...]
    checkers: tuple[str, ...]
    machines: tuple[str, ...]
    campaigns: int
    phases: tuple[Phase, ...]
    repetitions: tuple[Repetition, ...]
    answered: dict[str, int]
    divisions: tuple[Division, ...]
    notes: tuple[str, ...]
    workers: tuple[WorkerShare, ...] = ()
    seconds: float = 0.0

    @property
    def unknown(self) -> int:
        """How many questions are not in `seconds`."""
        return sum(phase.sources.get("unknown", 0) for phase in self.phases)


def forecast(
    plan: Plan,
    tools: Tools,
    root: Path,
    *,
    seconds: float,
    progress: Progress | None = None,
    workers: Mapping[str, int] | None = None,
) -> Forecast:
    """The Forecast of a plan. At most `seconds` are spent on estimates and samples. `workers` are
    the addresses of a cluster's workers with their threads, None without a cluster.

    Raises what `campaign.run` raises for names that are unknown and sources that do not compile.
    """
    chosen = planning.models(plan.models, tools.model)
    builds = configurations(plan.compiled) if plan.compiled else ()
    history = History.below(root)
    begun = latest_unfinished(root, plan)
    stored = {key for key, _ in answers_in(begun)} if begun else set()
    replay = _Replay(history)
    store = MemoryStore(new_manifest(plan))
    campaign = Campaign(plan, store, tools, progress=progress, executor=replay)
    campaign.ask_all(chosen, builds)
    generating = campaign.progress.timings["generating"].seconds
    divisions = list(_divided(campaign, replay))
    if workers is not None and not workers:
        campaign.note("no worker has joined the cluster: the times are those of one thread")
    campaign.describe()
    end = ending(seconds)
    tests = len(campaign.material.entries)
    sources = {"sampled": tests}
    phases = [Phase(name="generating", jobs=tests, stored=0, seconds=generating, sources=sources)]
    threads = None if workers is None else max(1, sum(workers.values()))
    sent = 0
    for name, jobs in replay.phases.items():
        campaign.progress.start(len(jobs), f"estimating: {name}")
        left = [job for job in jobs if job.key not in stored]
        limit = replay.limits.get(name, 0.0)
        taken, known = predicted(left, history, limit, end, threads)
        sent += sum(job.machine is None for job in left)
        phases.append(
            Phase(
                name=name,
                jobs=len(jobs),
                stored=len(jobs) - len(left),
                seconds=round(taken, 3),
                sources=dict(known),
            )
        )
        campaign.progress.stop()
    entries = campaign.material.entries
    archs = unique(each.arch for each in replay.machines)
    manifest = store.manifest
    return Forecast(
        what=plan.what,
        programs=len(campaign.material.programs),
        tests=tests,
        models=tuple(each.name for each in manifest.models),
        checkers=tuple(name for name in plan.checkers if name in manifest.tools),
        machines=tuple(each.name for each in replay.machines),
        campaigns=history.campaigns,
        phases=tuple(phases),
        repetitions=tuple(_repetitions(entries, archs)),
        answered={
            name: sum(job.key in history.answers for job in jobs)
            for name, jobs in replay.phases.items()
        },
        divisions=tuple(divisions),
        notes=manifest.notes,
        workers=tuple(
            WorkerShare(worker, count, round(sent * count / (threads or 1)))
            for worker, count in (workers or {}).items()
        ),
        seconds=round(sum(each.seconds for each in phases), 3),
    )


class _Replay:
    """The executor that performs no job."""

    def __init__(self, history: History) -> None:
        self._history = history
        self.phases: dict[str, list[Job]] = {}
        self.machines: list[Machine] = []
        self.limits: dict[str, float] = {}

    def run(self, jobs: Sequence[Job], to: Receiver) -> None:
        for job in jobs:
            self.phases.setdefault(_name(job), []).append(job)
            if (answer := self._history.answers.get(job.key)) is not None:
                to.answered(job, answer)


def _name(job: Job) -> str:
    """The phase as a forecast has it: checks are by checker."""
    return f"checking with {job.checker.name}" if isinstance(job, Check) else job.phase


def _divided(campaign: Campaign, replay: _Replay) -> Iterator[Division]:
    """The runs on each machine that can be reached, in the order of a campaign."""
    for name in campaign.plan.machines:
        try:
            machine = campaign.tools.machine(name)
        except (Lost, Unsupported) as error:
            campaign.note(f"{error.message}: what would run there is not counted")
            continue
        found = campaign.runs(machine, campaign.runners(machine))
        waiting = iter(found.jobs)
        for share in found.shares:
            jobs = list(itertools.islice(waiting, share.chosen))
            if jobs:
                replay.phases[_name(jobs[0])] = jobs
                replay.limits[_name(jobs[0])] = share.seconds
        replay.machines.append(machine)
        yield Division(machine.name, campaign.plan.budget, tuple(found.shares))


def _repetitions(entries: Iterable[Entry], archs: Iterable[str]) -> Iterator[Repetition]:
    """The tests that are equal but for their names, and those of different texts that are one
    assembly on a machine."""
    texts: defaultdict[str, list[Test]] = defaultdict(list)
    for entry in entries:
        texts[_body(entry.test)].append(entry.test)
    for tests in texts.values():
        if len(tests) > 1:
            yield Repetition(tuple(each.name for each in tests))
    for arch in archs:
        mappings = ISAS.get(arch).mappings
        if not mappings:
            continue
        to = isa.target(mappings[0].name)
        codes: defaultdict[str, list[str]] = defaultdict(list)
        for tests in texts.values():
            try:
                codes[_body(isa.mapped(tests[0], to).test)].append(tests[0].name)
            except Unsupported:
                continue
        for names in codes.values():
            if len(names) > 1:
                yield Repetition(tuple(names), arch)


def _body(test: Test) -> str:
    """The text without the name, the cycle and the fields that describe it, which come first."""
    _, opens, rest = test.text.partition("\n{")
    return rest if opens else test.text
