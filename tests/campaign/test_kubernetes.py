"""docs/kubernetes.yaml fits together, and what it starts is in the image of the Containerfile."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from weakspot import __version__

ROOT = Path(__file__).resolve().parents[2]
CLUSTER, AUTOSCALER = yaml.safe_load_all((ROOT / "docs" / "kubernetes.yaml").read_text())
SCHEDULER, WORKER = (CLUSTER["spec"][part]["spec"] for part in ("scheduler", "worker"))
PAGE = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("pod", [SCHEDULER, WORKER], ids=["scheduler", "worker"])
def test_pod_starts_a_command_of_dask_that_takes_its_options(pod: Any) -> None:
    (container,) = pod["containers"]
    dask, name, *options = container["command"]
    assert (dask, name) == ("dask", container["name"])
    # Click reads the options without running the command, and raises for one that does not exist
    importlib.import_module(f"distributed.cli.dask_{name}").main.make_context(name, options)


def test_image_is_that_of_this_version_and_has_dask() -> None:
    """Workers have to be of the version of the command."""
    images = {pod["containers"][0]["image"] for pod in (SCHEDULER, WORKER)}
    assert images == {f"registry.example/weakspot:{__version__}"}
    (image,) = images
    assert f"podman build -t {image} ." in PAGE
    assert f"podman push {image}" in PAGE
    extras = re.search(r"\.whl\)\[(.+)\]", (ROOT / "Containerfile").read_text())
    assert extras
    assert "cluster" in extras[1].split(",")


def test_service_leads_to_the_scheduler() -> None:
    name, service = CLUSTER["metadata"]["name"], CLUSTER["spec"]["scheduler"]["service"]
    assert service["selector"] == {
        # what the operator labels the pod of the scheduler with
        "dask.org/cluster-name": name,
        "dask.org/component": "scheduler",
    }
    ports = {each["name"]: each["containerPort"] for each in SCHEDULER["containers"][0]["ports"]}
    assert {each["targetPort"]: each["port"] for each in service["ports"]} == ports
    assert SCHEDULER["containers"][0]["readinessProbe"]["httpGet"]["port"] in ports
    # where workers look for the scheduler, and what the page has forwarded
    assert ports["tcp-comm"] == 8786
    assert f"kubectl port-forward service/{name}-scheduler 8786" in PAGE


def test_autoscaler_is_for_the_cluster() -> None:
    assert AUTOSCALER["spec"]["cluster"] == CLUSTER["metadata"]["name"]
    assert 0 < AUTOSCALER["spec"]["minimum"] < AUTOSCALER["spec"]["maximum"]
