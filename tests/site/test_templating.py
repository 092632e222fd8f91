"""Templates can print finished text and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import jinja2
import pytest

from tallymark.site import templating
from tallymark.site.templating import front_matter_title, render

TEMPLATES = Path(__file__).parents[2] / "site" / "templates"


def _rendered(source: str, **values: object) -> str:
    return templating._environment().from_string(source).render(**values)


def test_everything_is_escaped() -> None:
    """In text and in attributes, whatever the name of the template."""
    hostile = "<img src=x onerror=alert(1)> \"'&"
    assert "<img" not in _rendered('<td title="{{ x }}">{{ x }}</td>', x=hostile)
    assert _rendered("{{ x }}", x=hostile).count("&lt;img") == 1


def test_layout_characters_survive_markdown_as_references() -> None:
    """Markdown expands tabs and joins lines in raw HTML; a character reference stays."""
    assert _rendered("{{ x }}", x="a\tb\nc<") == "a&#9;b&#10;c&lt;"


def test_what_is_undefined_stops_the_page() -> None:
    """An empty place would look like a value."""
    with pytest.raises(jinja2.UndefinedError):
        _rendered("{{ nothing }}")


def test_a_number_never_reaches_a_page_unformatted() -> None:
    """Rounding happens in one module, and that gives text."""
    with pytest.raises(TypeError, match="no ready text"):
        _rendered("{{ x }}", x=0.1)


def test_no_template_computes_or_rounds() -> None:
    """No arithmetic filter, no unescaped output, no unquoted attribute value."""
    for path in TEMPLATES.glob("*.j2"):
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*(round|int|float|safe|sum|abs|format)\b", source), path
        assert "autoescape" not in source, path
        assert not re.search(r"=\{\{", source), f"{path}: an attribute value without quotes"


def test_a_title_for_the_engine_cannot_be_markup() -> None:
    """mkdocs writes titles into <title> and navigation without escaping them."""
    title = front_matter_title('</title><script>alert("1")</script> & {{ x }}\n# y')
    assert not set(title) & set("<>&\"'\\{}\n")
    assert "script" in title


def test_an_unknown_template_is_our_bug() -> None:
    """It is said as one, not swallowed."""
    with pytest.raises(jinja2.TemplateNotFound):
        render("nothing.md.j2")
