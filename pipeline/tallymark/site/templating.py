"""Jinja as the pages need it: everything escaped, nothing undefined, no way to compute in a template."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from tallymark.site.shown import Shown

if TYPE_CHECKING:
    from jinja2 import Environment

# A tab or a line end inside a text must survive Markdown, which rewrites both in raw HTML.
_REFERENCES = {"\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}


def render(template: str, **values: Any) -> str:
    """A template of ``site/templates`` filled with ready texts.

    jinja2.UndefinedError: the view model lacks what the template asks for, which is a bug.
    """
    return str(_environment().get_template(template).render(**values))


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("tallymark", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_kept,
        comment_start_string="{*",  # {# starts the id of a Markdown heading
        comment_end_string="*}",
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _kept(value: Any) -> Any:
    """Control characters of layout as character references; a number or None never reaches a page."""
    from jinja2 import Undefined
    from markupsafe import Markup, escape

    if isinstance(value, Markup | Undefined):
        return value
    if not isinstance(value, str):
        raise TypeError(f"a template printed {value!r}, which is no ready text")
    if not any(character in value for character in _REFERENCES):
        return value
    text = str(escape(value))
    for character, reference in _REFERENCES.items():
        text = text.replace(character, reference)
    return Markup(text)


def front_matter_title(title: Shown | str) -> str:
    """A title for places where the page engine writes text into HTML unescaped: markup is made harmless."""
    text = title.text if isinstance(title, Shown) else title
    harmless = str.maketrans(
        {"<": "‹", ">": "›", "&": "+", '"': "”", "'": "’", "\\": "/", "{": "(", "}": ")"}
    )
    return " ".join(text.translate(harmless).split())
