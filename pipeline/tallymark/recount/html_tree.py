"""A page as a tree, read so that it can mean one thing only.

Browsers repair broken HTML; what they repair differs from what any parser here would make of it. So inside
the article nothing is repaired: mis-nesting, a repeated attribute, markup hidden in a comment and elements
whose content is not plain markup are reported, and the page fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset(
    ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
)
_MAX_DEPTH = 200
_UNREADABLE = frozenset(
    [
        "base",
        "embed",
        "foreignobject",
        "frameset",
        "iframe",
        "math",
        "noembed",
        "noframes",
        "object",
        "plaintext",
        "style",
        "template",
        "textarea",
        "title",
        "xmp",
    ]
)


@dataclass(slots=True, eq=False)
class Element:
    """One element: tag in lower case, attributes, children in order, its parent and the line it starts on."""

    tag: str
    attributes: dict[str, str]
    parent: Element | None
    line: int
    children: list[Element | str] = field(default_factory=list)

    def text(self) -> str:
        """The text inside, as a browser's ``textContent`` gives it."""
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)

    def elements(self) -> Iterator[Element]:
        """The element itself and everything inside, in document order."""
        yield self
        for child in self.children:
            if isinstance(child, Element):
                yield from child.elements()

    def all(self, *tags: str) -> list[Element]:
        """The elements of these tags at or below this one, in document order."""
        return [element for element in self.elements() if element.tag in tags]

    def nearest(self, attribute: str) -> Element | None:
        """This element or its closest ancestor that carries ``attribute``."""
        element: Element | None = self
        while element is not None and attribute not in element.attributes:
            element = element.parent
        return element

    def inside(self, tag: str) -> bool:
        """Whether this element is, or stands inside, an element of ``tag``."""
        element: Element | None = self
        while element is not None and element.tag != tag:
            element = element.parent
        return element is not None


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed page and the places where it could be read in two ways: (line, problem)."""

    root: Element
    ambiguous: tuple[tuple[int, str], ...]

    def article(self) -> Element | None:
        """What the project writes; everything else is the theme's. None: there is not exactly one."""
        found = self.root.all("article")
        return found[0] if len(found) == 1 else None


def parse(text: str) -> Page:
    """The tree of a page."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.finish()
    return Page(reader.root, tuple(reader.ambiguous))


class _Reader(HTMLParser):
    """Builds the tree; inside <article> it records whatever is not well-formed."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {}, None, 1)
        self.open = self.root
        self.depth = 0
        self.ambiguous: list[tuple[int, str]] = []

    def _report(self, problem: str) -> None:
        if self.open.inside("article") or "<article" in problem:
            self.ambiguous.append((self.getpos()[0], problem))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element; void ones are closed at once."""
        element = self._add(tag, attrs)
        if tag in _VOID:
            return
        if self.depth < _MAX_DEPTH:
            self.open, self.depth = element, self.depth + 1
        else:
            self._report(f"<{tag}> is nested too deeply")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """``<x/>`` closes itself in SVG only; elsewhere a browser ignores the slash."""
        if tag in _VOID or self.open.inside("svg"):
            self._add(tag, attrs)
        else:
            self._report(f"<{tag}/> does not close itself in HTML")
            self.handle_starttag(tag, attrs)

    def _add(self, tag: str, attrs: list[tuple[str, str | None]]) -> Element:
        attributes: dict[str, str] = {}
        for name, value in attrs:
            if name in attributes:
                self._report(f"attribute {name} stands twice on <{tag}>")
            attributes.setdefault(name, value or "")
        if tag in _UNREADABLE and not (tag == "title" and self.open.inside("svg")):
            self._report(f"<{tag}> cannot be read as plain markup")
        if any(name.startswith("on") for name in attributes):
            self._report(f"<{tag}> carries a script in an attribute")
        element = Element(tag, attributes, self.open, self.getpos()[0])
        self.open.children.append(element)
        return element

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element of this tag; anything else that was open was left open."""
        if not self.open.inside(tag) or tag in _VOID:
            self._report(f"</{tag}> closes nothing")
            return
        while self.open.tag != tag:
            self._report(f"<{self.open.tag}> is not closed before </{tag}>")
            self._up()
        self._up()

    def _up(self) -> None:
        assert self.open.parent is not None
        self.open, self.depth = self.open.parent, self.depth - 1

    def handle_data(self, data: str) -> None:
        """Text, with character references already resolved."""
        if self.open.tag == "script" and data.strip():
            self._report("a script stands in the page itself")
        self.open.children.append(data)

    def handle_comment(self, data: str) -> None:
        """Browsers and parsers end comments at different places when they hold markup."""
        if "<" in data or ">" in data:
            self._report("a comment holds markup")

    def unknown_decl(self, data: str) -> None:
        """``<![CDATA[``: text in SVG, a comment in HTML."""
        self._report("a CDATA section")

    def handle_pi(self, data: str) -> None:
        """``<?…>``: a comment to browsers."""
        self._report("a processing instruction")

    def finish(self) -> None:
        """At the end of the page the article must be closed."""
        if self.open.inside("article"):
            self._report("<article> is never closed")
