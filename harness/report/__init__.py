"""Findings, verdicts and histograms as people and programs read them."""
