"""A lock, held alone or shared."""

from __future__ import annotations

from pathlib import Path

from weakspot.harness.clients.kinds import Kind, KindOperation
from weakspot.harness.clients.kinds.words import LOCK, SHARED, UNLOCK

KIND = Kind(
    name="lock",
    rank=7,
    header=Path(__file__).with_suffix(".h"),
    operations=(
        KindOperation("lock", rf"{LOCK}(?:_write)?|write_{LOCK}", waits=True, takes="alone"),
        KindOperation("try_lock", rf"try_?{LOCK}|try_write_{LOCK}", takes="alone"),
        KindOperation("unlock", rf"{UNLOCK}(?:_write)?|write_{UNLOCK}", gives="alone"),
        KindOperation(
            "lock_shared", rf"{LOCK}_{SHARED}|{SHARED}_{LOCK}", waits=True, takes="shared"
        ),
        KindOperation(
            "try_lock_shared", rf"try_?{LOCK}_{SHARED}|try_{SHARED}_{LOCK}", takes="shared"
        ),
        KindOperation("unlock_shared", rf"{UNLOCK}_{SHARED}|{SHARED}_{UNLOCK}", gives="shared"),
    ),
)
