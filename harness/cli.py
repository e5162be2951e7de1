"""The command line; one function a command."""

import click


@click.group()
def main() -> None:
    """weakspot finds the weak spots in memory-order annotations."""
