"""weakspot finds the weak spots in a concurrent program's memory-order annotations."""

__version__ = "0.1.0"
