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
import random
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from weakspot.errors import Unsupported, WeakspotError
from weakspot.generators.binary.isa import ISAS
from weakspot.generators.emit import isa
from weakspot.generators.litmus import Test
from weakspot.harness.campaign import plan as planning
from weakspot.harness.campaign.campaign import Campaign
from weakspot.harness.campaign.check_jobs import TESTS_PER_COMPILATION, Check, Compare
from weakspot.harness.campaign.executor import Receiver
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.folder import answers_in, latest_unfinished, new_manifest
from weakspot.harness.campaign.frontiers import Frontier
from weakspot.harness.campaign.hardware import Share, runs
from weakspot.harness.campaign.history import History
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.campaign.machine_jobs import RunProgram, RunTest
from weakspot.harness.campaign.progress import Progress
from weakspot.harness.campaign.store import MemoryStore
from weakspot.harness.campaign.tools import Tools
from weakspot.harness.checkers.explorer import EngineExplorer
from weakspot.harness.codegen.configurations import configurations
from weakspot.harness.machines import Lost, Machine
from weakspot.harness.runners import RunLimits
from weakspot.harness.values.bounds import Part
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.record import Entry, Plan, unique
from weakspot.harness.values.verdict import Verdict
from weakspot.system.deadline import Deadline, ending

SAMPLE = 5
"""How many tests are checked to find out how long the others take."""

_ESTIMATE, _CHECK = 1.0, 2.0
"""Seconds for the estimate of one exploration, and for one test of a sample."""

_PART = 0.8
"""How much of the time for estimates explorations get."""

_BUILDS = 2
"""How many compiler configurations the comparisons of a sample are made with."""

_SENT = 0.003
"""Seconds that it takes to send a question to a worker and to receive the answer."""


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
    campaign.gather(chosen)
    generating = campaign.progress.timings["generating"].seconds
    campaign.explore()
    campaign.check(campaign.checkers())
    if builds:
        campaign.compare_with_sources(builds)
    divisions = list(_divided(campaign, replay))
    if workers is not None and not workers:
        campaign.note("no worker has joined the cluster: the times are those of one thread")
    campaign.describe()
    end = ending(seconds)
    phases = [_generating(generating, len(campaign.material.entries))]
    threads = None if workers is None else max(1, sum(workers.values()))
    sent = 0
    for name, jobs in replay.phases.items():
        campaign.progress.start(len(jobs), f"estimating: {name}")
        left = [job for job in jobs if job.key not in stored]
        limit = replay.limits.get(name, 0.0)
        taken, sources = _predicted(name, left, history, limit, end, threads)
        sent += sum(job.machine is None for job in left)
        phases.append(
            Phase(
                name=name,
                jobs=len(jobs),
                stored=len(jobs) - len(left),
                seconds=round(taken, 3),
                sources=dict(sources),
            )
        )
        campaign.progress.stop()
    entries = campaign.material.entries
    archs = unique(each.arch for each in replay.machines)
    manifest = store.manifest
    return Forecast(
        what=plan.what,
        programs=len(campaign.material.programs),
        tests=len(entries),
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
    plan, tools = campaign.plan, campaign.tools
    for name in plan.machines:
        try:
            machine = tools.machine(name)
        except (Lost, Unsupported) as error:
            campaign.note(f"{error.message}: what would run there is not counted")
            continue
        runners = [tools.runner(each) for each in plan.runners]
        for runner in runners:
            if why := runner.available(machine):
                campaign.note(f"{runner.name} on {machine.name}: {why}")
        runners = [each for each in runners if not each.available(machine)]
        whole = tools.whole if any(each.whole_programs for each in runners) else None
        limits = RunLimits(plan.seconds_run, budget=plan.budget)
        found = runs(campaign.material, campaign.store.record(), machine, runners, whole, limits)
        waiting = iter(found.jobs)
        for share in found.shares:
            jobs = list(itertools.islice(waiting, share.chosen))
            if jobs:
                replay.phases[_name(jobs[0])] = jobs
                replay.limits[_name(jobs[0])] = share.seconds
        replay.machines.append(machine)
        yield Division(machine.name, plan.budget, tuple(found.shares))


def _generating(seconds: float, tests: int) -> Phase:
    sources = {"sampled": tests}
    return Phase(name="generating", jobs=tests, stored=0, seconds=seconds, sources=sources)


def _predicted(
    name: str,
    jobs: Sequence[Job],
    history: History,
    limit: float,
    end: Deadline,
    threads: int | None,
) -> tuple[float, Counter[str]]:
    """The seconds of the jobs of a phase, and from what they are known. All runs
    together take no more than a `limit` that is not 0.
    `threads` are those of a cluster, which does what no machine has to itself.
    """
    phase = jobs[0].phase if jobs else name
    if jobs and all(isinstance(job, RunTest | RunProgram) for job in jobs):
        known = [each for job in jobs if (each := history.expected(job)) is not None]
        spent = sum(each.seconds for each in known)
        return min(spent, limit or float("inf")), Counter(each.source for each in known)
    if all(isinstance(job, Explore | Check) for job in jobs):
        found, sources = _answering(jobs, history, end)
        spent, factor = sum(found), history.factor(phase)
    else:
        rate, source = _rate(jobs, history, end)
        spent, factor = len(jobs) * (rate or 0.0), None
        sources = Counter({source: len(jobs)})
    if threads is not None:
        return max(spent / threads, _SENT * sources.total()), sources
    return spent * (1.0 if factor is None else factor), sources


def _rate(jobs: Sequence[Job], history: History, end: Deadline) -> tuple[float | None, str]:
    """The seconds of each of some other jobs, and from what they are known."""
    if (known := history.expected(jobs[0])) is not None:
        return known.seconds, known.source
    comparisons = [job for job in jobs if isinstance(job, Compare)]
    rate = _compared(comparisons, end) if comparisons else None
    return rate, "unknown" if rate is None else "sampled"


def _compared(jobs: Sequence[Compare], end: Deadline) -> float | None:
    """The time of a comparison, by comparing some of the tests with the code of some of the
    configurations; None without time for them."""
    if not end.left:
        return None
    how = jobs[0].comparison
    chosen = how.builds[:: max(1, len(how.builds) // _BUILDS)][:_BUILDS]
    some = msgspec.structs.replace(how, builds=chosen, seconds=min(how.seconds, _CHECK))
    sample = [
        msgspec.structs.replace(job, comparison=some)
        for job in jobs[:: max(1, len(jobs) // TESTS_PER_COMPILATION)][:TESTS_PER_COMPILATION]
    ]
    begun = time.monotonic()
    try:
        Compare.perform(sample, _Seconds())
    except WeakspotError:
        return None
    return (time.monotonic() - begun) / len(sample) * len(how.builds) / len(chosen)


def _answering(
    jobs: Sequence[Job], history: History, end: Deadline
) -> tuple[list[float], Counter[str]]:
    """The seconds of each answer that something is known of, and from what."""
    sources: Counter[str] = Counter()
    found: list[float] = []
    new: defaultdict[object, list[Job]] = defaultdict(list)
    for job in jobs:
        known = history.expected(job)
        if known is None or known.source == "usual":
            new[job.batch].append(job)
        else:
            found.append(known.seconds)
            sources[known.source] += 1
    for batch in new.values():
        for source, seconds in _new(batch, history, end):
            if seconds is not None:
                found.append(seconds)
            sources[source] += 1
    return found, sources


def _new(
    jobs: Sequence[Job], history: History, end: Deadline
) -> Iterator[tuple[str, float | None]]:
    """What is known of each of some questions that no campaign has answered."""
    if isinstance(jobs[0], Check):
        checks = [job for job in jobs if isinstance(job, Check)]
        sampled = _sampled(checks, end)
        usual = history.usual(jobs[0])
        source, seconds = ("usual", usual) if sampled is None else ("sampled", sampled)
        yield from ((source if seconds is not None else "unknown", seconds) for _ in jobs)
        return
    explorations = [job for job in jobs if isinstance(job, Explore)]
    known: list[float] = []
    end = ending(_PART * end.left)  # the rest is for samples of checks
    # those that the time suffices for are spread over all
    random.Random(len(explorations)).shuffle(explorations)
    for job in explorations:
        if (seconds := _estimated(job, end)) is not None:
            known.append(seconds)
            yield "estimated", seconds
        else:
            yield ("usual", statistics.fmean(known)) if known else ("unknown", None)


def _sampled(jobs: Sequence[Check], end: Deadline) -> float | None:
    """The mean time of some of the checks; None without time for them."""
    if not end.left:
        return None
    sample = [
        msgspec.structs.replace(job, seconds=min(job.seconds, _CHECK))
        for job in jobs[:: max(1, len(jobs) // SAMPLE)][:SAMPLE]
    ]
    sink = _Seconds()
    try:
        Check.perform(sample, sink)
    except WeakspotError:
        return None
    return statistics.fmean(sink.seconds) if sink.seconds else None


class _Seconds:
    """The Sink of a sample."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def answered(self, job: Job, answer: object, *, final: bool = True) -> None:  # noqa: ARG002
        if isinstance(answer, Verdict):
            self.seconds.append(answer.seconds)

    def at(self, text: str) -> None: ...


def _estimated(job: Explore, end: Deadline) -> float | None:
    """How long the exploration takes by an estimate, or at most by its limit; None if it failed."""
    if end.passed or not isinstance(job.explorer, EngineExplorer):
        return None
    limit = job.bounds.seconds
    given = msgspec.structs.replace(job.bounds, seconds=min(limit, _ESTIMATE, end.left))
    explorer = msgspec.structs.replace(job.explorer, part=Part(estimate=True))
    asked = msgspec.structs.replace(job, bounds=given, frontier=Frontier(), explorer=explorer)
    try:
        found: Exploration = asked.explored(explorer, lambda *_: None)
    except WeakspotError:
        return None
    if found.estimate is None:
        return None if found.incomplete else found.seconds
    return None if found.estimate.seconds is None else min(limit, found.estimate.seconds)


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
