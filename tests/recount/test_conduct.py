"""A page shows the text that was recounted, and does nothing beside it."""

from __future__ import annotations

import pytest
from support.published import NAME, differences, replace_once

from tallymark.recount.published import Published

PAGE = f"reports/{NAME}.html"


def added(read: Published, place: str, markup: str) -> list[str]:
    text = read.files.text(PAGE)
    return differences(read, {PAGE: replace_once(place, f"{place}{markup}")(text)})


@pytest.mark.parametrize(
    ("markup", "problem"),
    [
        ('<base href="elsewhere/">', "<base> shows the page of another place"),
        ('<meta http-equiv="Refresh" content="x;url=y">', "the page leads to another one by itself"),
        ('<script src="https://elsewhere.example/x.js"></script>', "from another place"),
        ('<script src="//elsewhere.example/x.js"></script>', "from another place"),
        ('<link rel="stylesheet" href="\\\\elsewhere.example/x.css">', "from another place"),
        ('<link rel="stylesheet" href="data:text/css,td{}">', "from another place"),
    ],
)
def test_a_page_loads_nothing_from_elsewhere(read: Published, markup: str, problem: str) -> None:
    (line,) = added(read, "<head>", markup)
    assert line.startswith(f"{PAGE}::line ")
    assert problem in line


@pytest.mark.parametrize(
    ("markup", "problem"),
    [
        ('<img src="x.png" alt="fast">', "<img> shows what cannot be recounted"),
        ('<p style="background:red">fast</p>', "attribute style"),
        ("<p hidden>slow</p>", "attribute hidden"),
        ('<a href="java&#x09;script:alert()">more</a>', "a link runs"),
        ('<a href="data:text/html,x">more</a>', "a link runs"),
        ('<ol start="99"><li>fast</li></ol>', 'the number "99" has no source'),
    ],
)
def test_the_article_hides_and_draws_nothing(read: Published, markup: str, problem: str) -> None:
    (line,) = added(read, "</h1>", markup)
    assert line.startswith(f"{PAGE}::line ")
    assert problem in line


def test_an_image_with_a_number_is_a_number_too(read: Published) -> None:
    found = added(read, "</h1>", '<img src="x.png" alt="12345 tasks a second">')
    assert [("has no source" in one, "cannot be recounted" in one) for one in found] == [
        (False, True),
        (True, False),
    ]


def test_code_in_an_attribute_of_the_body_is_named(read: Published) -> None:
    text = read.files.text(PAGE)
    (line,) = differences(read, {PAGE: text.replace("<body>", '<body onload="lie()">')})
    assert "<body> carries a script in an attribute" in line


FOUND = f'<b data-from="ledger:{NAME}/found">6</b>'


@pytest.mark.parametrize("markup", [FOUND + FOUND, f"-{FOUND}", f"about \u2212{FOUND}", f".{FOUND}"])
def test_right_numbers_that_read_as_another_one_are_named(read: Published, markup: str) -> None:
    (line,) = added(read, "</h1>", f"<p>{markup}</p>")
    assert "reads as another one" in line


@pytest.mark.parametrize(
    "markup", [f"{FOUND} {FOUND}", f"Runs: {FOUND}", f"runs-{FOUND}", f"{FOUND}, {FOUND}"]
)
def test_numbers_apart_are_numbers(read: Published, markup: str) -> None:
    assert added(read, "</h1>", f"<p>{markup}</p>") == []


@pytest.mark.parametrize("link", ["https://example.org/", "../index.html", "#table"])
def test_links_that_only_lead_somewhere_are_fine(read: Published, link: str) -> None:
    assert added(read, "</h1>", f'<a href="{link}">more</a>') == []


def test_a_page_written_by_hand_may_have_pictures_and_aligned_tables(read: Published) -> None:
    page = '<article><p><img src="x.png" alt="a worker"></p><table><tr><td style="text-align: right">a</td>'
    assert differences(read, {"about.html": f"{page}</tr></table></article>"}) == []
