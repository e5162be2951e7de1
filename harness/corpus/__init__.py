"""The structures and models that weakspot knows, and what a user names, as tests and programs.

In: folders of litmus/ and models/, paths given on the command line. Out: Structure, Model,
Material. One more structure is one more folder in litmus/, one more model an entry in
models/models.toml.
"""
