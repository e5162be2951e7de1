"""weakspot finds the weak spots in a concurrent program's memory-order annotations.

The names in `weakspot.api.__all__` are attributes of this package. They are imported when one of
them is first used, so that importing the package costs nothing.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weakspot.api import *  # noqa: F403

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if not name.startswith("_") and importlib.util.find_spec(f"weakspot.{name}") is None:
        api = importlib.import_module("weakspot.api")
        if name in api.__all__:
            return getattr(api, name)
    raise AttributeError(f"module 'weakspot' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *importlib.import_module("weakspot.api").__all__})
