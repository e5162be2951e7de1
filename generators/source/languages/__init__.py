"""One file per language of sources, which defines LANGUAGE; see language.py."""
