"""A page that leaves out what its report says is found, though every number on it is right."""

from __future__ import annotations

import re

import pytest
from support.published import NAME, differences

from tallymark.recount.published import Published

PAGE = f"reports/{NAME}.html"


@pytest.mark.parametrize(
    ("part", "said"),
    [
        (r"<p><b data-from=\"claim:.*?</p>", "verdict of claim quick"),
        (r"<p><b data-from=\"claim:.*?</p>", "claim quick"),
        (r"<p data-from=\"said:[^\"]*must_not_conclude\[0\].*?</p>", "scope, must_not_conclude 1"),
        (r"<li data-from=\"spec:[^\"]*\[0\]\.rule.*?</li>", "rule of column runs"),
        (r"<p>Runs failed:.*?</p>", "ledger, failed"),
        (r"<p>Runs missing:.*?</p>", "ledger, missing"),
        (r"<p data-from=\"raw:[^\"]*runs\[2\].*?</p>", "run $.runs[2] of data/runtime-scale/1k.json"),
        (r"<p><a href=.*?</p>", "digest of data/runtime-scale/1k.json"),
        (r"<p>[^<]*<span data-from=\"constant:[^<]*</span> workers on.*?</p>", "note 1"),
        (r"<p>[^<]*<span data-from=\"constant:[^<]*</span> workers on.*?</p>", "'8 workers on 2 cores'"),
    ],
)
def test_a_part_that_is_left_out_is_named(read: Published, part: str, said: str) -> None:
    text = read.files.text(PAGE)
    after = re.sub(part, "", text, count=1, flags=re.DOTALL)
    assert after != text, "nothing was left out"
    place = f"{PAGE}::report {NAME}, {said}: is not shown on the page."
    assert any(line.startswith(place) for line in differences(read, {PAGE: after}))
