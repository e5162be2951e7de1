"""Answers as people and programs read them: nothing is decided here.

In: values of harness/values, and the results of the gate, relax and cost. Out: lines in a terminal,
files, and a static site (`site`). A module prints one kind of result, such as `answers` or `gate`;
`outputs` is the registry of the gate's formats, where one more output is one more file.
"""
