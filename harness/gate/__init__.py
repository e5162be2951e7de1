"""The gate: scenarios of a project, explored under models, against what the project accepts."""
