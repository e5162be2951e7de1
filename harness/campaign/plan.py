"""From what a command is about, and what it names, the jobs to perform.

In: Material, models, an explorer, checkers, machines, runners, limits. Out: jobs in their order,
and the questions that cannot be asked, each with its reason. Programs are explored first, since
each violation makes a litmus test; then tests are checked, and compiled code compared with them;
hardware comes last.

Everything that decides what is asked is here: which models stand for one another, which questions
are skipped and why, and the limits that the jobs carry.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from weakspot.errors import BadInput
from weakspot.harness.campaign.check_jobs import Check, CheckFiles, CodeComparison, Compare
from weakspot.harness.campaign.exploration_jobs import Explore
from weakspot.harness.campaign.frontiers import Frontiers
from weakspot.harness.campaign.jobs import Job
from weakspot.harness.checkers import Checker, FileChecker, unknown, version_of
from weakspot.harness.checkers.explorer import Explorer
from weakspot.harness.corpus import models as corpus_models
from weakspot.harness.corpus.material import FolderTests, Material
from weakspot.harness.corpus.models import Model
from weakspot.harness.values.bounds import Bounds
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.reason import Reason
from weakspot.harness.values.record import Entry, digest, key, unique
from weakspot.harness.values.verdict import Verdict

Wanted = Callable[[str, Model], bool]
"""Whether a test is asked about under a model."""


class Skipped(msgspec.Struct, frozen=True):
    """A question that cannot be asked, of a program or a test under a model, and why. `answer` is
    Unknown, for those to whom an answer is due; `key` is what it is stored under."""

    about: str
    reason: str
    key: str
    answer: Exploration | Verdict

    @property
    def kind(self) -> str:
        return "exploration" if isinstance(self.answer, Exploration) else "check"


class Jobs(msgspec.Struct, frozen=True):
    """Jobs in their order, and what was left out."""

    jobs: Sequence[Job]
    skipped: Sequence[Skipped] = ()


class UnderModels(msgspec.Struct, frozen=True):
    """Models by the names that verdicts carry, with the digests that keys and the manifest have:
    of the cat file with what it includes; models of one text have different ones. `machines` are
    those that repairs must hold under too."""

    models: dict[str, Model]
    digests: dict[str, str]
    machines: tuple[Model, ...] = ()


def models(
    names: Iterable[str], resolve: Callable[[str], Model] = corpus_models.resolve
) -> list[Model]:
    """The models of these names, each once. Raises BadInput for a name that is unknown, and for two
    files of one name."""
    found: dict[str, Model] = {}
    for name in names:
        model = resolve(name)
        if found.setdefault(model.name, model) != model:
            raise BadInput(
                f"two models are called {model.name}",
                place=str(model.path),
                advice="rename one of the files",
            )
    return list(found.values())


def under(chosen: Iterable[Model], machines: Iterable[Model] = ()) -> UnderModels:
    """The models with their digests, and those of machines."""
    by_name = {model.name: model for model in chosen}
    digests: dict[str, str] = {}
    for name, model in by_name.items():
        of_text = model.digest_of_text
        digests[name] = of_text if of_text not in digests.values() else digest(of_text, name)
    return UnderModels(by_name, digests, tuple(machines))


def explorations(
    material: Material, asked: UnderModels, explorer: Explorer, limits: Bounds, frontiers: Frontiers
) -> Jobs:
    """Each program under each of its models; those of the frontiers are resumed."""
    reasons = {name: explorer.applicable(model) for name, model in asked.models.items()}
    jobs: list[Job] = []
    skipped = []
    for program in material.programs:
        for name in program.models:
            about = program.generated.program.digest, asked.digests[name]
            if reason := reasons[name]:
                skipped.append(not_explored(program.name, name, reason, *about))
                continue
            jobs.append(
                Explore(
                    key=key(*about, explorer.version, program.name),
                    program=program,
                    model=asked.models[name],
                    bounds=limits,
                    explorer=explorer,
                    frontier=frontiers.of(program.name, name),
                )
            )
    return Jobs(jobs, skipped)


def not_explored(program: str, model: str, reason: str, *about: str) -> Skipped:
    """A program that cannot be explored under a model."""
    found = Exploration(
        program=program,
        model=model,
        result="Unknown",
        incomplete=(Reason(kind="refused", message=reason),),
    )
    return Skipped(program, reason, key(*about, program, "skipped"), found)


def following(
    explored: Iterable[tuple[Model, Exploration]], machines: Iterable[Model]
) -> list[Model]:
    """The models under which a program is explored next: those of machines that are left, if it
    starts threads and is safe under the models of the language so far, which are at least one."""
    explored = list(explored)
    results = {each.result for model, each in explored if model.is_of_c and each.threads != 0}
    known = {model.name for model, _ in explored}
    return [each for each in machines if results == {"Safe"} and each.name not in known]


def repaired_under(model: Model, machines: Sequence[Model]) -> Sequence[Model]:
    """The models besides this one under which a program must be safe when it is repaired."""
    return machines if model.is_of_c else ()


def own_structures(material: Material) -> set[str]:
    """The names of the user's own structures: all but those of the corpus."""
    return {each.name for each in material.structures if not each.recorded}


def followed(
    material: Material, explorations: Iterable[Exploration], asked: UnderModels
) -> Material:
    """The material with those of the user's own programs alone that are explored further, and the
    models under which they are."""
    own = own_structures(material)
    explored: dict[str, list[tuple[Model, Exploration]]] = {}
    for each in explorations:
        if (model := asked.models.get(each.model)) is not None:
            explored.setdefault(each.program, []).append((model, each))
    further = (
        (each, tuple(one.name for one in following(explored.get(each.name, ()), asked.machines)))
        for each in material.programs
        if each.structure in own
    )
    programs = (msgspec.structs.replace(each, models=names) for each, names in further if names)
    return msgspec.structs.replace(material, programs=tuple(programs))


def relevant(material: Material, explorations: Iterable[Exploration], explorer: Explorer) -> Wanted:
    """Which tests matter, by name and model, if those of the user's own programs are not asked for:
    these only where a violation is their cycle, or where the program cannot be explored."""
    own = own_structures(material)
    entries = {each.name: each for each in material.entries}
    violations = {test.name for each in explorations for test in each.tests}

    def wanted(test: str, model: Model) -> bool:
        structures = entries[test].structures
        if not structures or not own.issuperset(structures) or test in violations:
            return True
        return bool(explorer.applicable(model))

    return wanted


def checks(
    material: Material,
    asked: UnderModels,
    checkers: Sequence[Checker],
    seconds: float,
    wanted: Wanted | None = None,
) -> Jobs:
    """Each test, or each that is wanted, under each of its models by each checker. Skipped is what
    no checker takes."""
    jobs: list[Job] = []
    refused: dict[tuple[str, str], Skipped] = {}
    taken: set[tuple[str, str]] = set()
    for checker in checkers:
        version = version_of(checker)
        for model in asked.models.values():
            for entry in material.entries:
                if model.name not in entry.models or not (
                    wanted is None or wanted(entry.name, model)
                ):
                    continue
                question = entry.name, model.name
                # the verdict on a file that is no litmus test says so
                reason = "" if entry.test.unread else checker.applicable(entry.test, model)
                about = entry.digest, asked.digests[model.name], checker.name
                if reason:
                    verdict = unknown(entry.test, model, checker.name, reason)
                    skip = Skipped(entry.name, reason, key(*about, "skipped"), verdict)
                    refused.setdefault(question, skip)
                    continue
                taken.add(question)
                jobs.append(
                    Check(
                        key=key(*about, version),
                        test=entry.test,
                        model=model,
                        checker=checker,
                        seconds=seconds,
                    )
                )
    skipped = [each for question, each in refused.items() if question not in taken]
    return Jobs(jobs, skipped)


TESTS_PER_JOB = 2000
"""How many files of folders one job reads: the answers of that many are in memory at once."""


def file_checks(
    tests: FolderTests, asked: UnderModels, checker: FileChecker, form: str, seconds: float
) -> list[Job]:
    """The tests of folders, each under its models."""
    version = version_of(checker)
    under = {arch: tests.models_of(arch) for arch in tests.files.dialects}
    models = [
        (model, [arch for arch, names in under.items() if model.name in names])
        for model in asked.models.values()
    ]
    jobs: list[Job] = []
    for at in range(0, len(tests.files), TESTS_PER_JOB):
        files = tests.files[at : at + TESTS_PER_JOB]
        jobs.append(
            CheckFiles(
                key=key(digest(*(f.path for f in files)), *asked.digests.values(), version, form),
                files=files,
                models=models,
                checker=checker,
                form=form,
                seconds=seconds,
            )
        )
    return jobs


def comparisons(entries: Iterable[Entry], how: CodeComparison) -> list[Job]:
    """Each test with its compiled code; see Compare."""
    configurations = digest(*(f"{each.platform.name} {each.name}" for each in how.builds))
    digests = [model.digest_of_text for model in how.language]
    models_key = digests[0] if len(digests) == 1 else digest(*digests)
    return [
        Compare(
            key=key(entry.digest, models_key, "compiled", configurations),
            test=entry.test,
            comparison=how,
        )
        for entry in entries
    ]


def notes(skipped: Iterable[Skipped]) -> tuple[str, ...]:
    """What was skipped, one line for each reason."""
    counts = Counter((each.kind, each.reason) for each in skipped)
    return unique(
        f"skipped {count:,} {kind}{'' if count == 1 else 's'}: {reason}"
        for (kind, reason), count in counts.items()
    )
