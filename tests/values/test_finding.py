"""What a finding's message names is not repeated beside it."""

from __future__ import annotations

from weakspot.harness.values.finding import Finding, unnamed


def test_places_that_a_message_names_are_not_repeated() -> None:
    message = "data-race on x between q.c:11:15 and lib/q.c:19:12"
    assert unnamed(["q.c:11:15", "q.c:11", "lib/q.c:19"], message) == []
    others = ["q.c:1", "q.c:11:1", "q.c:19:12", "c:11:15", "q.c:2"]
    assert unnamed(others, message) == others
    finding = Finding(
        id="WS102", severity="error", message=message, subject="s", sites=("q.c:11", "p.c:3")
    )
    assert finding.unnamed_sites == ["p.c:3"]
