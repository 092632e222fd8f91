"""Every number on a page has a source, and its text is what that source gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.published import NAME, differences, replace_once

from tallymark.recount.published import Published
from tallymark.recount.verify import verify

PAGE = f"reports/{NAME}.html"


def edited(read: Published, change: Callable[[str], str]) -> list[str]:
    before = read.files.text(PAGE)
    after = change(before)
    assert after != before, "the edit changed nothing"
    return differences(read, {PAGE: after})


def test_a_site_as_built_has_no_difference(site: Path) -> None:
    outcome = verify(site)
    assert outcome.differences == ()
    # 2 rows of 5 columns; nothing else on the hand-written pages is a <td>
    assert outcome.summary() == f"10 cells, {outcome.prose} prose numbers, 0 differences"
    assert outcome.illustrations == 2


@pytest.mark.parametrize(
    "text",
    [
        "<p>It ran for 12345 ms.</p>",
        "<p>12345ms</p>",
        "<p>耗时12345毫秒</p>",
        "<p>about ½ of it</p>",
        "<ul><li>１２３</li></ul>",
        '<p title="12345 ms">fast</p>',
        '<abbr title="12345 tasks a second">fast</abbr>',
        '<p aria-label="12345">fast</p>',
        "<pre><code>--workers 8</code></pre>",
        "<h2>Since 2019</h2>",
    ],
)
def test_a_number_without_a_source_is_named(read: Published, text: str) -> None:
    (line,) = edited(read, replace_once("<p>Runs found", f"{text}<p>Runs found"))
    assert line.startswith(f"{PAGE}::line ")
    assert "has no source" in line


def test_a_number_split_over_elements_is_still_a_number(read: Published) -> None:
    assert len(edited(read, replace_once("<p>Runs found", "<p>1<b>2</b></p><p>Runs found"))) == 2


def test_a_number_in_prose_is_compared(read: Published) -> None:
    (line,) = edited(read, replace_once('/found">6<', '/found">7<'))
    assert f'ledger:{NAME}/found: shown "7", recomputed "6"' in line


def test_a_changed_word_of_a_claim_is_compared(read: Published) -> None:
    (line,) = edited(read, replace_once("More roles take longer", "More roles take no longer"))
    assert f"said:{NAME}/$.claims[0].text" in line


def test_the_verdict_of_a_claim_is_compared(read: Published) -> None:
    (line,) = edited(read, replace_once(">holds<", ">fails<"))
    assert f'claim:{NAME}/quick: shown "fails", recomputed "holds"' in line


def test_the_exact_value_is_compared(read: Published) -> None:
    (line,) = edited(read, replace_once('data-exact="3"', 'data-exact="4"'))
    assert 'column runs, exact value: shown "4", recomputed "3"' in line


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("made-up:runs", "a scheme that recount does not know"),
        ("cell:other/tasks=1:runs", "no report 'other' is published"),
        (f"cell:{NAME}/tasks=7,agents=100:runs", "has no row 'tasks=7,agents=100'"),
        (f"cell:{NAME}/tasks=1000,agents=100:speed", "has no column 'speed'"),
        (f"ledger:{NAME}/lost", "the ledger has no 'lost'"),
        (f"spec:{NAME}/$.nothing", "nothing is at $.nothing"),
        (f"report:{NAME}/$.rows[0].cells.runs.text", "quotes the report JSON where a recount is due"),
        ("raw:" + "a" * 64 + "/$.runs[0].tasks", "has the SHA-256 aaaaaaaaaaaa"),
        ("file:secret.txt|bytes", "secret.txt is not published"),
        ("count:people", "counts what recount does not know"),
        ("cell:~:runs", "continues a data-base that is not there"),
        ("axis", "stands outside a chart"),
        ("status:by", "recount-status.json is not published"),
        ("illustration", "called an illustration"),
    ],
)
def test_a_source_that_leads_to_nothing_is_named(read: Published, reference: str, said: str) -> None:
    text = f'<p data-from="{reference}">5</p><p>Runs found'
    (line,) = edited(read, replace_once("<p>Runs found", text))
    assert said in line


def test_numbers_that_fail_for_one_cause_are_said_once(read: Published) -> None:
    lost = "".join(f'<p data-from="raw:{"a" * 64}/$.runs[{at}].tasks">5</p>' for at in range(3))
    (line,) = edited(read, replace_once("<p>Runs found", f"{lost}<p>Runs found"))
    assert "(2 more numbers on this page)" in line


def test_an_attribute_that_says_another_number_than_the_text_is_named(read: Published) -> None:
    (line,) = edited(read, replace_once("<td data-from", '<td title="99 runs" data-from'))
    assert 'the attribute title says "99"' in line


def test_navigation_may_repeat_headings_and_nothing_else(read: Published) -> None:
    (line,) = edited(read, replace_once("<nav>", "<nav>15000 tasks/s "))
    assert 'the number "15000" outside the article repeats no heading' in line


def test_a_page_of_foreign_names_cannot_steer_the_terminal(read: Published) -> None:
    (line,) = edited(read, replace_once("<p>Runs found", "<p>\x1b[J 5</p><p>Runs found"))
    assert "\x1b" not in line
    assert "\\u001b[J 5" in line


def test_a_second_article_is_named_and_its_numbers_do_not_hide(read: Published) -> None:
    found = edited(read, replace_once("</article>", "</article><article>15000</article>"))
    assert f"{PAGE}: has more than one <article>. Write one article a page." in found


def test_a_page_without_an_article_hides_nothing(read: Published) -> None:
    (line,) = differences(read, {"extra.html": "<html><body><p>15000 tasks/s</p></body></html>"})
    assert line.startswith('extra.html::line 1: the number "15000" outside the article')
