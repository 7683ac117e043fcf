"""The book as a site with search: `make book`. Pages are CommonMark, as a repository shows them."""

project = "Weft"
copyright = "the Weft authors, Apache-2.0"
html_title = "Weft"
extensions = ["myst_parser", "sphinx_external_toc"]
external_toc_path = "site/toc.yml"
exclude_patterns = ["site"]
# Anchors of headings, as links between pages name them.
myst_heading_anchors = 4
html_theme = "furo"
html_show_sphinx = False
highlight_language = "none"
