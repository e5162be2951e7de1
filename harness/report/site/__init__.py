"""A campaign as a static site, which opens from a file and needs no network and no server.

In: a Record. Out: a folder of pages. `data` holds what all pages need, each `*_page` module what
one page shows, `build` writes them with the templates in templates/. One more page is a module and
a template.
"""
