"""The gate: a project's scenarios, explored under its models, compared with what it accepts.

In: a configuration (`config`) and the scenarios that paths select (`selection`). Out: a
`GateOutcome` (`outcome`), which every output in harness/report/outputs prints. `run` starts it;
`answers` asks about the scenarios by the jobs and the executor of harness/campaign; `scenarios`
compiles them and stores their answers; `findings` turns answers into reported findings with their
source lines; `baseline` holds the findings that the project accepts.
"""
