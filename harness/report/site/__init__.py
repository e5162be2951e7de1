"""A campaign as a static site, which opens from a file and needs no network and no server.

In: a Record. Out: a folder of pages. `data` holds what all pages need, `pages` is the registry of
the kinds of pages, where one more is one more file, and `writer` writes them with the templates in
templates/. `comparison_page` and `results_page` stand alone.
"""
