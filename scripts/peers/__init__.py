"""The tests that other tools publish, and weakspot's answers to them: scripts/conformance."""
