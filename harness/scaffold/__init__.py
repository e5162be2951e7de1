"""The first files of a user's project: weakspot.toml and a scenario for a header.

In: a header. Out: files with text that the user completes. `declarations` reads what the header
declares, `scenarios` writes programs that use it, `project` tries them and writes the files. A new
kind of data structure is an entry in the tables of `scenarios`.
"""
