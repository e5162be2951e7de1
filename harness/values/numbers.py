"""Numbers as reports print them."""

from __future__ import annotations

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def times(count: int) -> str:
    """`once`, `twice`, `1,345 times`"""
    return {1: "once", 2: "twice"}.get(count, f"{count:,} times")


def amount(count: int, what: str) -> str:
    """`1 finding`, `1,204 findings`"""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def rounded(count: int) -> str:
    """12,000,000 as 1.2·10⁷; numbers below 10,000 are not rounded."""
    if count < 10_000:
        return f"{count:,}"
    power = len(str(count)) - 1
    head = f"{count / 10**power:.1f}".removesuffix(".0")
    if head == "10":
        head, power = "1", power + 1
    exponent = str(power).translate(_SUPERSCRIPTS)
    return f"10{exponent}" if head == "1" else f"{head}·10{exponent}"


def percent(share: float) -> str:
    """`28 %`, `0.014 %`; what is below a billionth is not distinguished."""
    if share < 1e-9:
        return "less than 10⁻⁷ %"
    return f"{float(f'{100 * share:.2g}'):.15g} %"


def scientific(number: float) -> str:
    """A probability or rate: 0.25, 1.2·10⁻³; what is below 10⁻¹² is not distinguished."""
    if number >= 0.01:
        return f"{number:.2g}"
    if number < 1e-12:
        return "below 10⁻¹²"
    head, _, power = f"{number:.1e}".partition("e")
    return f"{head.removesuffix('.0')}·10{str(int(power)).translate(_SUPERSCRIPTS)}"
