"""Runs the steps of action.yml as GitHub does, but for those that are other actions."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import yaml
from ended import Ended, execute

ROOT = Path(__file__).resolve().parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]


class Job(msgspec.Struct):
    """A job on a runner: the checked-out repository, the runner's folder for temporary files, the
    inputs of the action, the outputs of the steps that were run, and where the action's sources
    are."""

    repository: Path
    temporary: Path
    inputs: dict[str, str] = msgspec.field(default_factory=dict)
    outputs: dict[str, dict[str, str]] = msgspec.field(default_factory=dict)
    sources: Path = ROOT

    @property
    def summary(self) -> str:
        return (self.temporary / "summary").read_text(encoding="utf-8")

    def with_weakspot(self) -> Job:
        """As after the first step, with the weakspot of the tests."""
        programs = self.temporary / "weakspot" / "bin"
        programs.mkdir(parents=True)
        (programs / "weakspot").symlink_to(Path(sys.executable).with_name("weakspot"))
        self.outputs["install"] = {"version": "0"}
        return self

    def step(self, name: str) -> Ended:
        """Runs a step, as `shell: bash` is documented to."""
        (step,) = [each for each in STEPS if each["name"] == name]
        script, output = self.temporary / "step.sh", self.temporary / "output"
        script.write_text(step["run"])
        output.write_text("")
        given = {key: self.evaluated(value) for key, value in step.get("env", {}).items()}
        ended = execute(
            *("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script),
            cwd=self.repository / self.evaluated(step.get("working-directory", ".")),
            env={
                **os.environ,
                **given,
                "CI": "true",
                "GITHUB_ACTIONS": "true",
                "GITHUB_WORKSPACE": str(self.repository),
                "GITHUB_OUTPUT": str(output),
                "GITHUB_STEP_SUMMARY": str(self.temporary / "summary"),
                "RUNNER_TEMP": str(self.temporary),
            },
        )
        pairs = (line.partition("=") for line in output.read_text().splitlines())
        self.outputs[step.get("id", name)] = {key: value for key, _, value in pairs}
        return ended

    def evaluated(self, text: str) -> str:
        """The text with its expressions replaced by their values."""
        given = {key: each.get("default", "") for key, each in ACTION["inputs"].items()}
        given |= self.inputs

        def value(match: re.Match[str]) -> str:
            path = match[1].split(".")
            known: Mapping[str, Any] = {
                "inputs": given,
                "github": {"action_path": str(self.sources)},
                "steps": {key: {"outputs": each} for key, each in self.outputs.items()},
            }
            for part in path:
                known = known[part]
            return str(known)

        return re.sub(r"\$\{\{ ([\w.-]+) \}\}", value, text)
