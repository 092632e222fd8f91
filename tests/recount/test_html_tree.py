"""A page is read so that it can mean one thing only."""

from __future__ import annotations

import pytest

from tallymark.recount.html_tree import Element, parse


def article(inside: str) -> Element:
    page = parse(f"<html><body><article>{inside}</article></body></html>")
    found = page.article()
    assert found is not None
    return found


def problems(inside: str) -> list[str]:
    return [problem for _, problem in parse(f"<article>{inside}</article>").ambiguous]


def test_text_is_what_a_browser_calls_the_text_content() -> None:
    cell = article("<td>≤ <i>1</i><i>234</i>.5&nbsp;ms</td>").all("td")[0]
    assert cell.text() == "≤ 1234.5\xa0ms"


def test_the_nearest_attribute_is_looked_up_outwards() -> None:
    cell = article('<table data-base="a"><tr data-base="b"><td><i>1</i></td></tr></table>').all("i")[0]
    base = cell.nearest("data-base")
    assert base is not None
    assert base.attributes["data-base"] == "b"


def test_void_elements_and_closed_svg_shapes_need_no_end_tag() -> None:
    assert problems('<p>a<br>b</p><svg><circle cx="1"/><g><path d=""/></g></svg>') == []


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("<p>1<b>2</p>", "<b> is not closed before </p>"),
        ("<p>1</p></i>", "</i> closes nothing"),
        ('<td data-from="a" data-from="b">1</td>', "attribute data-from stands twice on <td>"),
        ("<span/>", "<span/> does not close itself in HTML"),
        ("<!-- <td>1</td> -->", "a comment holds markup"),
        ("<!--> 5 -->", "a comment holds markup"),
        ("<svg><![CDATA[5]]></svg>", "a CDATA section"),
        ("<script>document.write(5)</script>", "a script stands in the page itself"),
        ("<style>td::after{content:'5'}</style>", "<style> cannot be read as plain markup"),
        ('<iframe src="x"></iframe>', "<iframe> cannot be read as plain markup"),
        ("<template><p>5</p></template>", "<template> cannot be read as plain markup"),
        ('<td onclick="x()">1</td>', "<td> carries a script in an attribute"),
    ],
)
def test_what_can_be_read_in_two_ways_is_reported(inside: str, said: str) -> None:
    assert any(said in problem for problem in problems(inside))


def test_an_article_that_is_never_closed_is_reported() -> None:
    assert parse("<article><p>5").ambiguous[-1][1] == "<article> is never closed"


def test_the_theme_outside_the_article_may_be_sloppy() -> None:
    assert parse("<header><p>1<b></header><article><p>2</p></article>").ambiguous == ()


def test_two_articles_are_none() -> None:
    assert parse("<article>1</article><article>2</article>").article() is None


def test_nesting_without_end_is_reported_and_does_not_exhaust_the_stack() -> None:
    page = parse("<article>" + "<b>" * 5000 + "5" + "</b>" * 5000 + "</article>")
    assert any("nested too deeply" in problem for _, problem in page.ambiguous)
    found = page.article()
    assert found is not None
    assert found.text() == "5"
