"""Findings: what the answers of a campaign mean together.

In: a Record with verdicts, explorations, histograms, runs and claims. Out: Findings, the most
severe first. `findings.judge` collects them; each other module derives one kind of finding from
one source of evidence. A new kind is a function Record -> Iterator[Finding], listed in
`findings.SOURCES`, and a page in docs/findings.

Three rules hold in every module: an answer that a limit truncated contradicts nothing; an outcome
that was not observed is not called impossible; what claims.toml records is reported, marked as
recorded, and is no error.
"""
