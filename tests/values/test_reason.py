"""Reasons: each has a sentence, which an exploration's JSON form contains beside its fields."""

from __future__ import annotations

from typing import get_args

import msgspec

from weakspot.harness.values.estimate import Estimate, Sample
from weakspot.harness.values.exploration import Exploration
from weakspot.harness.values.reason import Reason, ReasonKind, sentence

LIMIT = Reason(kind="limit", limit="executions", number=5)


def test_every_kind_has_a_sentence_of_its_own() -> None:
    sentences = {
        sentence(
            Reason(
                kind=kind,
                limit="loops",
                number=3,
                site="a.c:1:2",
                message=f"{kind}!",
                option="--loops",
                spent=1.0,
                estimate=Estimate(executions=9.0, error=1.0, descents=4),
                sample=Sample(draws=3, distinct=2, known=0.5, seed=1),
            )
        )
        for kind in get_args(ReasonKind)
    }
    assert len(sentences) == len(get_args(ReasonKind))


def test_the_json_form_has_the_sentences_too() -> None:
    made = Exploration(program="p", model="sc", result="Unknown", incomplete=(LIMIT,))
    written = msgspec.json.decode(msgspec.json.encode(made))
    assert written["reasons"] == ["limit of 5 executions"]
    assert msgspec.convert(written, Exploration) == made


def test_an_answer_that_an_older_version_stored_keeps_its_sentences() -> None:
    stored = b'{"program": "p", "model": "sc", "result": "Unknown", "reasons": ["too late"]}'
    assert msgspec.json.decode(stored, type=Exploration).reasons == ("too late",)
