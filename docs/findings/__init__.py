"""A page for each kind of finding, as `weakspot explain` shows it."""
