"""The questions: command lines of weakspot, and the files that they name.

Everything comes from the old clone, so that both sides are asked the same. The commands run in a
folder that holds the files; `{out}` in an argument is an empty folder, whose files are a part of
the answer. Only what DESIGN calls a contract is used: the commands, their options, `--json`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

HERD7 = {
    "C": ("rc11", "c11_simp", "c11_orig", "c11_partialSC", "c11_cos", "sc"),
    "X86": ("x86tso",),
    "X86_64": ("x86tso", "x86tso-mixed"),
    "PPC": ("ppc",),
    "RISCV": ("riscv",),
    "AArch64": ("aarch64",),
}
"""The cat files of herd7's library that are asked about, by dialect."""

X86_LACKS = "X86_64-fences"
"""The suite of X86 is that of X86_64 without these: diy7 has sfence and lfence in 64 bits only."""

SAMPLE = 40
"""The tests of a dialect's suite with --quick."""

LIMITS = ("--timeout", "10m")
BOUNDS = ("--seconds", "10m", *LIMITS)
"""So long that no answer depends on how busy the machine is."""


class Command(NamedTuple):
    """`label` distinguishes the commands of a question."""

    label: str
    arguments: tuple[str, ...]


class Question(NamedTuple):
    """Commands that follow one another. `structure` names the structure of the corpus that they
    are about: its sources are those of the side that is asked."""

    part: str
    name: str
    commands: tuple[Command, ...]
    structure: str = ""


Ask = Callable[..., list[dict[str, Any]]]
"""The objects that the old side prints for a command."""


def prepared(
    clone: Path, folder: Path, *, tools: dict[str, str], ask: Ask, quick: bool
) -> list[Question]:
    """Write the files of the questions into `folder`; the questions.

    `tools` are the paths of diy7 and herd7. Raises CalledProcessError when one of them fails.
    """
    structures = [each["name"] for each in ask("structures", "--json")]
    readers: dict[str, list[str]] = defaultdict(list)
    for model in ask("models", "--json"):
        for dialect in model["dialects"]:
            readers[dialect].append(model["name"])
    for dialect, paths in _cat_files(tools["herd7"], folder).items():
        readers[dialect] += paths
    sets = {**_tracked(clone), **_suites(clone, folder / "made", tools["diy7"], quick)}
    found = [
        Question("tests", name, (Command("check", _check(place, readers[dialect])),))
        for name, (dialect, place) in _copied(sets, folder).items()
        if readers[dialect]
    ]
    shutil.rmtree(folder / "made")
    for name in structures:
        (folder / "corpus" / name).mkdir(parents=True)
        for source in sources(clone / "litmus" / name):
            shutil.copy(source, folder / "corpus" / name)
        (folder / "corpus" / name / "weakspot.toml").write_text('[gate]\nscenarios = ["*.c"]\n')
        found += _of_structure(name, quick)
    return found


def sources(folder: Path) -> list[Path]:
    """The C files of a structure of the corpus."""
    return sorted([*folder.glob("*.c"), *folder.glob("*.h")])


def _check(what: str, models: Sequence[str]) -> tuple[str, ...]:
    return ("check", what, "--json", "--checker", "engine", *LIMITS, "--model", ",".join(models))


def is_folder(question: Question, folder: Path) -> bool:
    """Whether the question is about a folder of tests."""
    return question.part == "tests" and (folder / question.commands[0].arguments[1]).is_dir()


def one_by_one(question: Question, folder: Path) -> list[Question]:
    """A question about a folder of tests as one about each test, where one is malformed and the
    whole folder is refused for it."""
    ((label, (verb, what, *rest)),) = question.commands
    return [
        question._replace(
            name=f"{question.name}/{path.name}",
            commands=(Command(label, (verb, f"{what}/{path.name}", *rest)),),
        )
        for path in sorted((folder / what).iterdir())
    ]


def _of_structure(name: str, quick: bool) -> Iterable[Question]:
    """The questions about one structure of the corpus."""

    def question(part: str, *commands: tuple[str, Sequence[str]], own: bool = True) -> Question:
        labelled = tuple(Command(label, tuple(arguments)) for label, arguments in commands)
        return Question(part, name, labelled, name if own else "")

    engine = ("--checker", "engine")
    check = ("check", name, "--json", *engine, *BOUNDS)
    models = ("--model", "sc,tso,pso,rc11,clr2")
    yield question(
        "programs",
        ("own models", check),
        *([] if quick else [("loops 2", (*check, "--loops", "2", *models))]),
    )
    yield question(
        "golden tests",
        ("as promoted", ("gen", name, "--check")),
        ("C", ("gen", name, "-o", "{out}/C")),
        ("assembly", ("gen", name, "--isa", "all", "-o", "{out}/assembly")),
    )
    yield question(
        "weakest orders",
        ("as promoted", ("relax", name, "--check", *BOUNDS[:2])),
        ("orders", ("relax", name, "--json", *BOUNDS[:2])),
        *([] if quick else [("fences", ("relax", name, "--json", "--fences", *BOUNDS[:2]))]),
    )
    yield question(
        "campaigns",
        (
            "findings",
            ("test", name, "--for", "0", "-o", "{out}/campaign", "--json", *BOUNDS)
            + (engine if quick else ()),
        ),
        ("claims", ("structures", name, "--claims", "--in", "{out}/campaign", "--json")),
        ("structure", ("structures", name, "--json")),
    )
    yield question(
        "gate",
        ("gate", ("gate", "--no-cache", "--json", "--config", f"corpus/{name}/weakspot.toml")),
        own=False,
    )
    if not quick:
        yield question(
            "machine code", ("zig", ("check", name, "--compiled", "zig", "--json", *LIMITS))
        )


# --- litmus tests and models ------------------------------------------------------------------

Sets = dict[str, list[Path]]


def _tracked(clone: Path) -> Sets:
    """The litmus files of the clone, by folder."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "*.litmus"], cwd=clone, capture_output=True, text=True, check=True
    )
    found: Sets = defaultdict(list)
    for name in filter(None, listed.stdout.split("\0")):
        found[str(Path(name).parent)].append(clone / name)
    return found


def topics_of_suites(clone: Path) -> dict[str, list[Path]]:
    """The configurations of diy7 for the suites, by dialect."""
    topics: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(clone.glob("tests/**/suites/*.conf")):
        dialect = path.stem.partition("-")[0]
        topics[dialect].append(path)
        if dialect == "X86_64" and path.stem != X86_LACKS:
            topics["X86"].append(path)
    return topics


def _suites(clone: Path, folder: Path, diy7: str, quick: bool) -> Sets:
    """The suites that diy7 makes: DIALECT-TOPIC.conf are one suite per dialect, in which a test
    that several topics make stands once; each .cfg of the quick tier is a suite of its own."""
    topics = topics_of_suites(clone)
    jobs = [(f"suites/{name}", name, path) for name, paths in topics.items() for path in paths]
    jobs += [(f"diy/{path.stem}", "", path) for path in sorted(clone.glob("tests/**/quick/*.cfg"))]

    # having read a configuration, diy7 starts itself again, by its name alone
    places = os.pathsep.join([str(Path(diy7).parent), os.environ.get("PATH", os.defpath)])

    def made(job: tuple[str, str, Path]) -> list[Path]:
        name, dialect, config = job
        into = folder / name / config.stem
        into.mkdir(parents=True)
        subprocess.run(
            [diy7, "-conf", str(config), *(("-arch", dialect) if dialect else ())],
            cwd=into,
            check=True,
            capture_output=True,
            env={**os.environ, "PATH": places},
        )
        return sorted(into.glob("*.litmus"))

    tests: dict[str, dict[str, Path]] = defaultdict(dict)
    with ThreadPoolExecutor(2) as pool:
        for (name, _, _), paths in zip(jobs, pool.map(made, jobs), strict=True):
            for path in paths:
                tests[name].setdefault(path.name, path)
    found = {name: [each[test] for test in sorted(each)] for name, each in tests.items()}
    if quick:
        return {name: paths[:: -(-len(paths) // SAMPLE)] for name, paths in found.items()}
    return found


def _copied(sets: Sets, folder: Path) -> dict[str, tuple[str, str]]:
    """Copy each set, divided by dialect, into `folder`; the dialect and the place, by name."""
    found = {}
    for name, paths in sets.items():
        dialects: Sets = defaultdict(list)
        for path in paths:
            dialects[path.read_text(encoding="utf-8").split(maxsplit=1)[0]].append(path)
        for dialect, those in dialects.items():
            place = f"tests/{name}/{dialect}"
            (folder / place).mkdir(parents=True)
            for path in those:
                if path.is_relative_to(folder):
                    path.rename(folder / place / path.name)
                else:
                    shutil.copy(path, folder / place)
            found[f"{name}/{dialect}" if len(dialects) > 1 else name] = (dialect, place)
    return found


def _cat_files(herd7: str, folder: Path) -> dict[str, list[str]]:
    """herd7's own cat files, under names that weakspot's do not have."""
    asked = subprocess.run([herd7, "-libdir"], capture_output=True, text=True, check=True)
    library = Path(asked.stdout.strip())
    found = {}
    for dialect, names in HERD7.items():
        (folder / "cat" / dialect).mkdir(parents=True)
        found[dialect] = [f"cat/{dialect}/herd-{name}.cat" for name in names]
        for name, path in zip(names, found[dialect], strict=True):
            text = (library / f"{name}.cat").read_text(encoding="utf-8")
            if (dialect, name) == ("X86_64", "x86tso"):
                text = text.partition("\n")[2]  # the line that restricts it to X86
            (folder / path).write_text(text, encoding="utf-8")
    return found
