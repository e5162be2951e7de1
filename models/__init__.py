"""Memory models as cat files, and what is known of each (models.toml)."""
