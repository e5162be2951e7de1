"""Pages of the documentation site that are made when it is built: the first page from the README,
one page per model, structure and command, the lists of these and of the findings, and the public
names of the package.

In: README.md and the other files of the top folder, models.toml and the cat files, claims.toml of
each structure, the help of each command. A hook of MkDocs (mkdocs.yml), which fails where a link in
these pages leads nowhere.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import msgspec
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from weakspot import api
from weakspot.harness.cli import COMMANDS, weakspot
from weakspot.harness.corpus import models, structures
from weakspot.harness.corpus.models import Model
from weakspot.harness.corpus.structures import Structure
from weakspot.harness.judge.kinds import KINDS
from weakspot.harness.values.claims import Claim

ROOT = Path(__file__).resolve().parents[1]
TOP = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}
"""The files of the project's top folder that are pages."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Lists the pages of a folder where the navigation names it."""
    names = [*pages(), *(f"findings/{id}.md" for id in KINDS)]
    config["nav"] = _filled(config["nav"], names)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages."""
    for name, text in pages().items():
        files.append(File.generated(config, name, content=text))
    return files


def _filled(nav: Any, names: list[str]) -> Any:
    if isinstance(nav, list):
        return [_filled(each, names) for each in nav]
    if isinstance(nav, dict):
        return {title: _filled(each, names) for title, each in nav.items()}
    return [name for name in names if name.startswith(nav)] if nav.endswith("/") else nav


def pages() -> dict[str, str]:
    """The text of each page by its name."""
    return {
        **{name: _moved((ROOT / file).read_text("utf-8")) for file, name in TOP.items()},
        "commands/index.md": _commands(),
        **{f"commands/{name}.md": _command(name) for name in COMMANDS},
        "models/index.md": _models(models.load().values()),
        **{f"models/{name}.md": _model(each) for name, each in models.load().items()},
        "structures/index.md": _structures(structures.structures()),
        **{f"structures/{each.name}.md": _structure(each) for each in structures.structures()},
        "findings/index.md": _findings(),
        "api.md": _api(),
    }


def _moved(text: str) -> str:
    """The text of a file in the top folder with links as from a page."""
    for file, name in TOP.items():
        text = text.replace(f"]({file})", f"]({name})")
    text = text.replace("](docs/findings)", "](findings/index.md)").replace("](docs/", "](")
    return text.replace("[MIT](LICENSE)", "MIT")


# --------------------------------------------------------------------------------- commands


WIDE = "---\nhide: [toc]\n---\n"
"""Without a table of contents a page has room for the lines of a command's help."""


def _commands() -> str:
    rows = [f"| [`weakspot {name}`]({name}.md) | {about} |" for name, about in COMMANDS.items()]
    return _page(
        "Commands",
        "Every command prints this with `--help`. `scripts/build-docs` writes manual pages of them "
        "to dist/man.",
        _table("command", "purpose", rows),
    )


def _command(name: str) -> str:
    with click.Context(weakspot, info_name="weakspot") as group:
        command = weakspot.get_command(group, name)
        assert command is not None
        with click.Context(command, parent=group, info_name=name, max_content_width=100) as context:
            page = _page(f"weakspot {name}", _fenced("text", command.get_help(context)))
            return WIDE + page


# ----------------------------------------------------------------------------------- models


def _models(known: Iterable[Model]) -> str:
    rows = [f"| [`{each.name}`]({each.name}.md) | {each.title} | {each.role} |" for each in known]
    about = (
        "`weakspot models` lists them; `--model` takes their names and the path of any other cat "
        "file. A model may be a reference, what programmers expect; what the language promises; "
        "what hardware may do; or what a paper claims."
    )
    return _page("Models", about, _table("model", "title", rows, "role"))


def _model(model: Model) -> str:
    facts = {
        "Litmus tests": ", ".join(model.dialects),
        "Programs": _explored(model),
        "Machines": ", ".join(model.machines),
        "Allows no more than": ", ".join(f"[`{name}`]({name}.md)" for name in model.stronger_than),
        "Source": model.reference,
    }
    files = {model.path.name: model.path, model.of_programs.path.name: model.of_programs.path}
    return _page(
        f"{model.title} (`{model.name}`)",
        model.about,
        *(f"**{name}**: {value}" for name, value in facts.items() if value),
        *(
            f"## {name}\n\n{_fenced('ocaml', path.read_text('utf-8'))}"
            for name, path in files.items()
        ),
    )


def _explored(model: Model) -> str:
    if model.acyclic in (None, "none"):
        return "not explored: it allows values out of thin air"
    return f"explored: it forbids cycles of {model.acyclic} and rf"


# ------------------------------------------------------------------------------- structures


def _structures(known: Iterable[Structure]) -> str:
    rows = [
        f"| [`{each.name}`]({each.name}.md) | {_cell(each.title)} | {_cell(each.source)} |"
        for each in known
    ]
    return _page(
        "Structures",
        "The corpus: published concurrent algorithms with their authors' claims, and what is true. "
        "`weakspot test NAME` checks one, `weakspot structures --claims` lists every claim.",
        _table("structure", "title", rows, "source"),
    )


def _structure(structure: Structure) -> str:
    scenarios = [
        f"| `{each.name}` | {_cell(each.about)} | {' '.join(f'`{d}`' for d in each.defines)} |"
        for each in structure.scenarios
    ]
    claims = [
        f"| {_cell(each.says)} | {_cell(each.where)} | {_truth(each)} |"
        for each in structure.claims
    ]
    sources = sorted(each for each in structure.folder.rglob("*") if each.suffix in (".h", ".c"))
    return _page(
        f"{structure.title} (`{structure.name}`)",
        f"**Source**: {structure.source}",
        f"**Models**: {', '.join(f'[`{name}`](../models/{name}.md)' for name in structure.models)}",
        "## Scenarios\n\n" + _table("scenario", "about", scenarios, "defines"),
        "## Claims\n\n" + _table("claim", "where", claims, "what is true"),
        *(
            f"## {path.relative_to(structure.folder)}\n\n{_fenced('c', path.read_text('utf-8'))}"
            for path in sources
        ),
    )


def _truth(claim: Claim) -> str:
    """What is true about the test or the scenario, by model."""
    answers = {**claim.verdict, **claim.explored}
    about = claim.test or claim.scenario
    return f"`{about}`: " + ", ".join(f"{model} {answer}" for model, answer in answers.items())


# --------------------------------------------------------------------------------- findings


def _findings() -> str:
    rows = [f"| [{id}]({id}.md) | {each.title} | {each.meaning} |" for id, each in KINDS.items()]
    return _page(
        "Findings",
        "`weakspot explain ID` shows the page of a finding.",
        _table("id", "finding", rows, "meaning"),
    )


# -------------------------------------------------------------------------------------- API


def _api() -> str:
    """Every public name with its signature and its docstring."""
    named = {name: getattr(api, name) for name in api.__all__}
    functions = {name: each for name, each in named.items() if inspect.isfunction(each)}
    classes = {name: each for name, each in named.items() if inspect.isclass(each)}
    about = "Each name of the package `weakspot`; [python.md](python.md) shows them in use."
    return _page(
        "API reference",
        about,
        "## Functions",
        *(_documented(name, each) for name, each in functions.items()),
        "## Values and errors",
        *(_documented(name, each) for name, each in classes.items()),
    )


def _documented(name: str, each: Any) -> str:
    lines = [
        f"    {_shown(parameter)}," for parameter in inspect.signature(each).parameters.values()
    ]
    shown = "\n".join([f"{name}(", *lines, ")"]) if lines else f"{name}()"
    text = inspect.getdoc(each) or ""
    return f"### {name}\n\n{_fenced('python', shown)}\n\n{_fenced('text', text)}"


def _shown(parameter: inspect.Parameter) -> str:
    """A parameter as in the source: types without quotes, defaults of weakspot's types by name."""
    default = parameter.default
    if isinstance(default, msgspec.Struct):
        default = f"{type(default).__name__}()"
    elif isinstance(default, Path):
        default = f'"{default}"'
    elif default is not inspect.Parameter.empty:
        default = repr(default)
    annotation = parameter.annotation
    if not isinstance(annotation, str):
        annotation = inspect.formatannotation(annotation)
    rest = "" if default is inspect.Parameter.empty else f" = {default}"
    return f"{parameter.name}: {annotation}{rest}"


# ------------------------------------------------------------------------------------- text


def _page(title: str, *parts: str) -> str:
    return "\n\n".join([f"# {title}", *filter(None, parts)]) + "\n"


def _table(first: str, second: str, rows: list[str], third: str = "") -> str:
    heads = [first, second, *filter(None, [third])]
    return (
        "\n".join([f"| {' | '.join(heads)} |", "|---" * len(heads) + "|", *rows])
        if rows
        else "none"
    )


def _cell(text: str) -> str:
    return re.sub(r"([|<*_\[\]])", r"\\\1", " ".join(text.split()))


def _fenced(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"
