"""The documentation site: `make docs` builds it into build/docs. Nothing is downloaded while it is built."""

from importlib.metadata import version as installed

project = "Softmark"
copyright = "the Softmark contributors"
release = version = installed("softmark")

extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["feedback.head.md"]

nitpicky = True  # every type of this project that a signature mentions must be documented
nitpick_ignore_regex = [
    (
        "py:.*",
        r".*(torch|typing|collections)\..*|softmark\.verdict\.mistakes\.Decorated|softmark\.course\.decorators\.Test",
    )
]
autodoc_typehints = "signature"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = "Softmark"
html_show_copyright = False
