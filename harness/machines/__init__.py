"""Machines that Tests run on, and their profiles."""
