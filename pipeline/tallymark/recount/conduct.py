"""What a page does beside saying: nothing is fetched from elsewhere, run from an attribute or hidden.

A published page is complete offline. Whatever could show the reader something else than the text that was
recounted is a difference: code in an attribute, another base, a redirect, an address of another place, and in
the article of a generated page also an image, a style or a hidden part; a page written by hand may have them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from tallymark.recount.difference import Difference
from tallymark.recount.html_tree import Element
from tallymark.recount.tokens import numbers

_REBUILD = "Build the site again, or find out who edited the page"
# A browser follows or loads these by itself; href of a link only when the reader selects it.
_LOADED = ("src", "srcset", "poster", "background", "data", "action", "formaction", "xlink:href", "manifest")
_DRAWN = ("img", "picture", "video", "audio", "canvas", "image")
# White space and control characters inside a scheme are dropped by browsers.
_DROPPED = re.compile(r"[\x00-\x20]")
_INLINE = ("a", "b", "code", "em", "i", "s", "small", "span", "strong", "sub", "sup", "time", "u")
_SIGN = re.compile(r"(?:^|[\s(])[-\u2212\u2013.,]\Z")
_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")


def compare_conduct(page: str, root: Element) -> Iterator[Difference]:
    """Every element of a page that runs, loads, leads or hides what it must not."""
    for element in root.elements():
        for problem in _problems(element, generated=page.startswith("reports/") or page == "index.html"):
            yield Difference(page, f"line {element.line}", problem, _REBUILD)


def _problems(element: Element, *, generated: bool) -> Iterator[str]:
    tag, attributes = element.tag, element.attributes
    # Inside the article the reader of the markup has said so already.
    if not element.inside("article"):
        if any(name.startswith("on") for name in attributes):
            yield f"<{tag}> carries a script in an attribute"
        if tag in ("base", "iframe", "object", "embed", "frame"):
            yield f"<{tag}> shows the page of another place"
    else:
        if generated and tag in _DRAWN:
            yield f"<{tag}> shows what cannot be recounted"
        for name in ("style", "hidden"):
            if generated and name in attributes:
                yield f"<{tag}> is made to look otherwise by its attribute {name}"
        yield from _joined(element)
    if tag == "meta" and attributes.get("http-equiv", "").strip().lower() == "refresh":
        yield "the page leads to another one by itself"
    yield from _addresses(element)


def _joined(element: Element) -> Iterator[str]:
    """Right numbers that the eye reads as another one: two without a space between, or one behind a sign."""
    for before, after in itertools.pairwise(element.children):
        if not isinstance(after, Element) or after.tag not in _INLINE or after.nearest("data-from") is None:
            continue
        if after.nearest("data-from") is element.nearest("data-from"):
            continue  # digit groups of one number
        left, right = before if isinstance(before, str) else before.text(), after.text()
        if (isinstance(before, Element) and before.tag not in _INLINE) or not right[:1].isdigit():
            continue
        if (left[-1:].isdigit() and numbers(left)) or (isinstance(before, str) and _SIGN.search(left)):
            yield f"the number {right[:40]!r} stands against {left[-10:]!r} and reads as another one"


def _addresses(element: Element) -> Iterator[str]:
    loads = (*_LOADED, "href") if element.tag != "a" else _LOADED
    if element.tag == "link" and element.attributes.get("rel") == "canonical":
        loads = _LOADED
    for name in loads:
        if name in element.attributes and _elsewhere(element.attributes[name]):
            yield f"<{element.tag}> loads {element.attributes[name][:80]!r} from another place"
    if element.tag == "a" and _scheme(element.attributes.get("href", "")) not in ("", "http", "https"):
        yield f"a link runs {element.attributes['href'][:80]!r}"


def _elsewhere(address: str) -> bool:
    plain = _DROPPED.sub("", address).replace("\\", "/")
    return plain.startswith("//") or _scheme(address) != ""


def _scheme(address: str) -> str:
    match = _SCHEME.match(_DROPPED.sub("", address))
    return match[1].lower() if match else ""
