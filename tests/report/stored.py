"""Campaigns made of paper, written to folders."""

from __future__ import annotations

from pathlib import Path

import msgspec

from weakspot.harness.campaign.folder import FolderStore
from weakspot.harness.values.record import Record, key


def store(record: Record, folder: Path) -> Path:
    """Write the campaign's folder."""
    programs = {
        **{each.program: each.program for each in record.explorations},
        **{each.program: each.program for each in record.runs},
    }
    manifest = msgspec.structs.replace(record.manifest, programs=programs)
    tests = {entry.name: entry.digest for entry in record.entries}
    models = {model.name: model.digest for model in manifest.models}
    with FolderStore.create(folder, manifest) as written:
        written.subjects(record)
        for verdict in record.verdicts:
            question = key(tests[verdict.test], models[verdict.model], verdict.checker)
            written.put(question, verdict)
        for exploration in record.explorations:
            written.put(key(exploration.program, models[exploration.model]), exploration)
        for histogram in record.histograms:
            written.put(key(tests[histogram.test], histogram.machine, histogram.runner), histogram)
        for run in record.runs:
            written.put(key(run.program, run.machine, run.runner), run)
        written.findings(record.findings)
    return folder
