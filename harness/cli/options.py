"""Arguments and options that several commands share, and how their values are read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from weakspot.harness.cli import completion
from weakspot.system.durations import seconds_of

if TYPE_CHECKING:
    from weakspot.harness.gate.config import ProjectFile
    from weakspot.harness.machines import Named

Text = Callable[[], str]


class Listing(click.Option):
    """An option whose help or metavar lists what registries hold: looked up when help is shown."""

    def __init__(self, *args: Any, help: Text, metavar: Text | str | None = None, **kwargs: Any):
        super().__init__(*args, metavar=metavar if isinstance(metavar, str) else None, **kwargs)
        self._help, self._metavar = help, metavar

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        self.help = self._help()
        return super().get_help_record(ctx)

    def make_metavar(self, ctx: click.Context) -> str:
        return self._metavar() if callable(self._metavar) else super().make_metavar(ctx)


class Registered(click.Choice):  # type: ignore[type-arg,unused-ignore]
    """Names of a registry, separated by commas, or `all`: looked up when names are given."""

    def __init__(self, names: Callable[[], tuple[str, ...]]) -> None:
        self._names, self.case_sensitive = names, True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        return (*self._names(), "all")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        names = [super(Registered, self).convert(each, param, ctx) for each in value.split(",")]
        return "all" if "all" in names else ",".join(dict.fromkeys(names))


def checkers() -> tuple[str, ...]:
    """The names of the checkers, the default first."""
    from weakspot.harness.checkers import CHECKERS

    return CHECKERS.names()


def runners() -> tuple[str, ...]:
    """The names of the runners, the default first."""
    from weakspot.harness.runners import RUNNERS

    return RUNNERS.names()


def object_kinds() -> str:
    """The kinds of object, for help: `queue, stack or deque`."""
    from weakspot.harness.clients.kinds import KINDS

    *names, last = KINDS.names()
    return f"{', '.join(names)} or {last}"


def machine_forms() -> str:
    """How machines are named, for help: `local|ssh:HOST`."""
    from weakspot.harness.machines import KINDS

    return "|".join(kind.form for kind in KINDS)


Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
"""Adds options to a command."""

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per line."
)

unfold_option = click.option(
    "--unfold",
    is_flag=True,
    help="Show what happens inside library calls; an execution shows each call as one line.",
)


def output_option(what: Literal["DIR", "FILE"], text: str) -> Decorator:
    """`-o`, which the command gets as `output`."""
    return click.option("-o", "--output", metavar=what, type=click.Path(path_type=Path), help=text)


def checker_option(name: str, **given: Any) -> Decorator:
    """`--checker`; without a `default` the help names that of the registry."""
    return click.option(
        *("--checker", "-c", name),
        cls=Listing,
        type=Registered(checkers),
        help=lambda: (
            "Checker to use." + ("" if "default" in given else f"  [default: {checkers()[0]}]")
        ),
        **given,
    )


def machine_option(name: str, text: str, **given: Any) -> Decorator:
    """`--on`, a machine or, with `multiple`, several."""
    if given.get("multiple"):
        given["callback"] = listed
    return click.option(
        "--on", name, cls=Listing, metavar=machine_forms, help=lambda: text, **given
    )


def runner_option(**given: Any) -> Decorator:
    """`--runner`; without a `default` the help names that of the registry."""
    return click.option(
        "--runner",
        cls=Listing,
        type=Registered(runners),
        help=lambda: (
            "Runner to use." + ("" if "default" in given else f"  [default: {runners()[0]}]")
        ),
        **given,
    )


def duration(ctx: click.Context, param: click.Parameter, given: str) -> float:
    """A duration as `seconds_of` reads it."""
    seconds = seconds_of(given)
    if seconds is None:
        raise click.BadParameter(
            f"{given!r} is not a duration; write 500ms, 10s, 2m or 1h.", ctx, param
        )
    return seconds


def some_time(ctx: click.Context, param: click.Parameter, given: str) -> float:
    """A duration greater than zero."""
    seconds = duration(ctx, param, given)
    if not seconds:
        raise click.BadParameter(f"{given!r} is too short; write for example 10s.", ctx, param)
    return seconds


def optional_time(ctx: click.Context, param: click.Parameter, given: str | None) -> float | None:
    """As `some_time`, for an option that need not be given."""
    return None if given is None else some_time(ctx, param, given)


def is_given(parameter: str) -> bool:
    """Whether the user gave this parameter of the command on the command line."""
    from click.core import ParameterSource

    return (
        click.get_current_context().get_parameter_source(parameter) is ParameterSource.COMMANDLINE
    )


def listed(_ctx: click.Context, _param: click.Parameter, given: tuple[str, ...]) -> tuple[str, ...]:
    """`--model a,b --model c` as a, b, c, each once."""
    names = (name.strip() for words in given for name in words.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def machine_models() -> tuple[str, ...]:
    """The models that the command's safe programs are explored under too: none where the user names
    models; else those of the project's configuration, or the defaults."""
    from weakspot.harness.corpus.models import MACHINES

    if is_given("models"):
        return ()
    own = project()
    return MACHINES if own is None else own.machine_models


def project() -> ProjectFile | None:
    """The configuration of the project that the user is in; None without one."""
    from weakspot.system import project_file

    file = project_file.find(Path.cwd())
    if file is None:
        return None
    from weakspot.harness.gate.config import ProjectFile

    return ProjectFile.of(file)


def what_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.argument(
        "what", nargs=-1, required=True, metavar="WHAT…", shell_complete=completion.what
    )(command)


def jobs_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`-j`: the command uses so many processors at a time at most."""

    @functools.wraps(command)
    def with_jobs(*args: Any, jobs: int | None, **rest: Any) -> Any:
        from weakspot.system import processors

        with processors.at_most(jobs or 0):
            return command(*args, **rest)

    return click.option(
        "--jobs",
        "-j",
        type=click.IntRange(min=1),
        metavar="N",
        help="Use at most N processors.  [default: all]",
    )(with_jobs)


def compiled_option(under: str) -> Decorator:
    return click.option(
        "--compiled",
        "configs",
        multiple=True,
        callback=listed,
        cls=Listing,
        metavar="CONFIG[,…]",
        help=lambda: (
            f"Compile the tests and compare the machine code with its source, {under}. CONFIG is "
            f"a compiler ({_compilers()}), a level (O0 to O3), a target ({_targets()}), or all. "
            "Without a compiler, level or target, every one is used."
        ),
    )


def _compilers() -> str:
    from weakspot.system.compilers import FAMILIES

    return ", ".join(FAMILIES.names())


def _targets() -> str:
    from weakspot.harness.codegen.configurations import platforms

    return ", ".join(platforms())


strict_option = click.option(
    "--strict",
    is_flag=True,
    help="Exit with code 2 if a test or a program of a folder cannot be read.",
)


def model_option(command: Callable[..., Any]) -> Callable[..., Any]:
    text = (
        "Names of models (`weakspot models` lists them) or paths of cat files.  "
        "[default: the structure's own, else those that apply to the test]"
    )
    return _models(text)(project_models(command))


def language_models(text: str) -> Decorator:
    """`--model` of a command that explores programs; by default the model of the language."""
    from weakspot.harness.corpus.models import LANGUAGE

    return _models(text, default=(LANGUAGE,), show_default=True)


def _models(text: str, **given: Any) -> Decorator:
    return click.option(
        *("--model", "-m", "models"),
        multiple=True,
        callback=listed,
        shell_complete=completion.models,
        metavar="M[,M…]",
        help=text,
        **given,
    )


def project_models(command: Callable[..., Any]) -> Callable[..., Any]:
    """Without `--model`, the user's own sources are checked under the models that the project's
    configuration names."""

    @functools.wraps(command)
    def with_models(what: tuple[str, ...], models: tuple[str, ...], **rest: Any) -> Any:
        from weakspot.generators.source.language import is_source

        if not is_given("models") and all(is_source(Path(word)) for word in what):
            own = project()
            models = (own and own.models) or models
        return command(what=what, models=models, **rest)

    return with_models


def timeout_option(command: Callable[..., Any]) -> Callable[..., Any]:
    return click.option(
        "--timeout",
        callback=some_time,
        metavar="DURATION",
        default="20s",
        show_default=True,
        help="Time limit per litmus test and model.",
    )(command)


def named_machines() -> Named:
    """The machines that the project's configuration names."""
    own = project()
    return {} if own is None else own.machines


def configured(key: Literal["machines", "seconds"]) -> Callable[[], Any]:
    """The default of an option of runs: what [run] of the project's configuration says."""

    def wanted() -> Any:
        from weakspot.harness.gate import config, tables
        from weakspot.system import project_file

        file = project_file.find(Path.cwd())
        run = config.read(file).run if file is not None else tables.Run()
        return str(run.seconds) if key == "seconds" else run.machines

    return wanted


def cluster_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--cluster`, which the command gets as its `executor`; None without."""

    @functools.wraps(command)
    def with_executor(cluster: str | None, **rest: Any) -> Any:
        if cluster is None:
            return command(executor=None, **rest)
        from weakspot.harness.campaign.cluster import ClusterExecutor
        from weakspot.harness.campaign.connection import connected

        with connected(cluster) as client:
            return command(executor=ClusterExecutor(client), **rest)

    return click.option(
        "--cluster",
        metavar="ADDRESS|local:N",
        help="Distribute the work over the workers of the Dask scheduler at this address, or over "
        "N workers that are started on this computer.",
    )(with_executor)


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in (
        click.option(
            "form", "--format", type=click.Choice(["text", "json", "herd"]), help="Output format."
        ),
        click.option("form", "--json", flag_value="json", help="Print one JSON object per line."),
    ):
        command = option(command)
    return command
