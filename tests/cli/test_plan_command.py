"""The plan of a campaign says before what the campaign does."""

from __future__ import annotations

import json

from samples import Run


def test_a_plan_counts_what_a_campaign_asks_and_then_knows_its_time(run: Run) -> None:
    words = ("mp.c", "SB.litmus", "-m", "rc20", "--for", "0", "-c", "engine")
    before = run("plan", *words, "--json")
    assert before.code == 0, before.err
    found = json.loads(before.out)
    jobs = {each["name"]: each["jobs"] for each in found["phases"]}
    assert (found["programs"], found["machines"], found["campaigns"]) == (1, [], 0)
    done = run("test", *words, "-o", "results/one", "--json")
    assert done.code in (0, 1, 3), done.err
    after = json.loads(run("plan", *words, "--json").out)
    assert after["campaigns"] == 1
    del jobs["generating"]
    assert after["answered"] == {**jobs, "searching for repairs": 1}, "known with the violation"
    shown = run("plan", *words).out
    assert "What adds nothing" in shown
    assert "based on 1 earlier campaign" in shown
