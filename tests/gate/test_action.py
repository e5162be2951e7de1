"""action.yml, docs/gitlab.yml and the sample's workflows are what GitHub and GitLab accept, and
their steps do what docs/ci.md says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from ended import execute
from workflow import ACTION, ROOT, STEPS, Job

SAMPLE = ROOT / "docs" / "sample"
QUEUE = "include/spsc/queue.hpp"
STRONG, WEAK = "tail + 1, std::memory_order_release", "tail + 1, std::memory_order_relaxed"
LINE = (SAMPLE / QUEUE).read_text().splitlines().index(f"    tail_.store({STRONG});") + 1


def weaken(sample: Path) -> None:
    queue = sample / QUEUE
    queue.write_text(queue.read_text().replace(STRONG, WEAK))


@pytest.fixture
def job(tmp_path: Path, cache: Path) -> Job:  # noqa: ARG001
    """A job on the sample repository."""
    repository, temporary = tmp_path / "repository", tmp_path / "temporary"
    shutil.copytree(SAMPLE, repository)
    temporary.mkdir()
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    return Job(repository, temporary)


@pytest.mark.parametrize(
    ("schema", "file"),
    [
        ("github-actions", "action.yml"),
        ("github-workflows", "docs/sample/.github/workflows/memory-orders.yml"),
        ("gitlab-ci", "docs/gitlab.yml"),
        ("gitlab-ci", "docs/sample/.gitlab-ci.yml"),
        ("citation-file-format", "CITATION.cff"),
    ],
)
def test_file_follows_its_published_schema(schema: str, file: str) -> None:
    check = ("-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", file)
    execute(sys.executable, *check, cwd=ROOT).printed(0)


def test_scripts_get_inputs_as_variables_only() -> None:
    """An input that a script contained would be run as a part of it."""
    for step in STEPS:
        assert "${{" not in step.get("run", "")


def test_every_input_is_used_and_described_on_the_page() -> None:
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    assert set(re.findall(r"inputs\.([\w-]+)", text)) == set(ACTION["inputs"])
    for name in (*ACTION["inputs"], *ACTION["outputs"]):
        assert f"`{name}`" in page


def test_sample_passes(job: Job) -> None:
    job.with_weakspot()
    assert job.step("Check the memory orders").code == 0
    assert job.outputs["gate"]["exit-code"] == "0"
    assert job.step("Fail if something was found").code == 0
    assert "1 scenario" in job.summary
    assert (job.repository / ".weakspot").is_dir()


def test_weakened_order_is_annotated_at_its_line(job: Job) -> None:
    weaken(job.with_weakspot().repository)
    gate = job.step("Check the memory orders")
    assert gate.code == 0, gate.err  # so that the findings are uploaded
    assert f"::error file={QUEUE},line={LINE},col=11" in gate.out
    assert job.outputs["gate"]["exit-code"] == "1"
    assert "needs at least release" in job.summary
    (run,) = json.loads(Path(job.outputs["gate"]["sarif"]).read_text())["runs"]
    (place,) = run["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == QUEUE
    assert place["physicalLocation"]["region"]["startLine"] == LINE
    assert job.step("Fail if something was found").code == 1


def test_project_in_a_folder_is_annotated_at_its_path_in_the_repository(job: Job) -> None:
    weaken(job.with_weakspot().repository)
    below = job.repository / "libs" / "queue"
    below.parent.mkdir()
    below.mkdir()
    for each in ("include", "tests", "weakspot.toml"):
        (job.repository / each).rename(below / each)
    job.inputs = {"working-directory": "libs/queue", "paths": "tests/weakspot/full.cpp tests"}
    assert f"::error file=libs/queue/{QUEUE},line={LINE}" in job.step("Check the memory orders").out


def test_job_fails_with_bad_input(job: Job) -> None:
    job.with_weakspot()
    (job.repository / QUEUE).write_text("#error unfinished\n")
    gate = job.step("Check the memory orders")
    assert job.outputs["gate"]["exit-code"] == "2"
    assert f"::error file={QUEUE},line=1" in gate.out
    assert "unfinished" in job.summary
    assert job.step("Fail if something was found").code == 2


@pytest.mark.parametrize(("allowed", "code"), [("true", 0), ("false", 3)])
def test_inconclusive_job_passes_where_that_is_allowed(job: Job, allowed: str, code: int) -> None:
    job.with_weakspot().inputs = {"allow-inconclusive": allowed}
    with (job.repository / "weakspot.toml").open("a") as file:
        file.write("executions = 1\n")
    job.step("Check the memory orders")
    assert job.outputs["gate"]["exit-code"] == "3"
    assert job.step("Fail if something was found").code == code


def test_unknown_compiler_is_refused_before_anything_is_installed(job: Job) -> None:
    job.inputs = {"compiler": "gcc"}
    refused = job.step("Install weakspot")
    assert refused.code == 2
    assert "::error" in refused.out
    assert list(job.temporary.glob("weakspot")) == []


def test_wheel_is_identified_by_the_content_of_the_sources(job: Job, tmp_path: Path) -> None:
    job.sources = tmp_path / "sources"
    source = job.sources / "engine" / "lib.rs"
    source.parent.mkdir(parents=True)

    def key() -> str:
        assert job.step("Identify the sources").code == 0
        return job.outputs["sources"]["key"]

    source.write_text("one")
    first = key()
    (job.sources / "engine" / "target").mkdir()
    (job.sources / "engine" / "target" / "built").write_text("what is built is no source")
    assert key() == first
    source.write_text("two")
    assert key() != first
    source.write_text("one")
    assert key() == first
    source.rename(source.with_name("main.rs"))
    assert key() != first


PYTHON = """\
#!/bin/bash
echo "$*" >>"$RUNNER_TEMP/calls"
case "$*" in
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && cp "$0" "$3/bin/weakspot" ;;
  *" wheel "*) cd "$RUNNER_TEMP" && mkdir -p weakspot-wheel && touch weakspot-wheel/w.whl ;;
  --version) echo "weakspot 0.1.0" ;;
esac
"""


def test_wheel_is_built_once_and_then_installed_from_the_cache(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python3").write_text(PYTHON)
    (programs / "python3").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    calls = job.temporary / "calls"

    def installed() -> list[str]:
        calls.write_text("")
        done = job.step("Install weakspot")
        assert done.code == 0, done.err
        shutil.rmtree(job.temporary / "weakspot")  # a fresh runner; the wheel is restored
        return [line for line in calls.read_text().splitlines() if "pip" in line]

    wheels = job.temporary / "weakspot-wheel"
    install = f"-m pip --quiet install {wheels}/w.whl ziglang"
    assert installed() == [f"-m pip --quiet wheel --no-deps --wheel-dir {wheels} {ROOT}", install]
    assert installed() == [install]
    job.inputs = {"package": "weakspot==0.1.0"}
    assert installed() == ["-m pip --quiet install weakspot==0.1.0 ziglang"]


def test_gitlab_job_leaves_what_it_declares(job: Job) -> None:
    template = yaml.safe_load((ROOT / "docs" / "gitlab.yml").read_text())[".weakspot-gate"]
    programs = job.repository / ".cache" / "weakspot" / "bin"
    programs.mkdir(parents=True)
    (programs / "weakspot").symlink_to(Path(sys.executable).with_name("weakspot"))
    weaken(job.repository)
    (gate,) = [each for each in template["script"] if "weakspot gate" in each]
    variables = {key: value for key, value in template["variables"].items() if "$" not in value}
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", gate],
        cwd=job.repository,
        env={**os.environ, **variables},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1, done.stderr
    artifacts = template["artifacts"]
    for name in (*artifacts["paths"], artifacts["reports"]["junit"]):
        assert (job.repository / name).is_file()
