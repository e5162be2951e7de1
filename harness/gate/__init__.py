"""The gate: a project's scenarios, explored under its models, compared with what it accepts.

In: a configuration (`config`) and the scenarios that paths select (`selection`). Out: a
`GateOutcome` (`outcome`), which every output in harness/report/outputs prints. `run` starts it;
`campaign` asks about the scenarios, round by round, as every campaign does; `scenarios` reads and
compiles them; `store` holds their answers between runs; `findings` turns answers into reported
findings with their source lines; `baseline` holds the findings that the project accepts.
"""
