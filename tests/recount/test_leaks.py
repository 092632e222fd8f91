"""Names of people and machines, and credentials, stop a publication."""

from __future__ import annotations

import pytest

from tallymark.evidence.personal import KnownNames
from tallymark.recount.files import from_memory
from tallymark.recount.leaks import find_leaks

HERE = KnownNames(user="mallory", host="quietbox", home="/srv/people/mallory")


def leaks(name: str, text: str) -> list[str]:
    return [one.line() for one in find_leaks(from_memory("site", {name: text.encode()}), HERE)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("-ffile-prefix-map=/home/alice/src=.", "a home folder"),
        ("built in /root/project", "a home folder"),
        ("C:\\Users\\bob\\x", "a home folder"),
        ("rsync alice@node17:/scratch/r.json", "a user on a host"),
        ("mail alice@example.org", "an e-mail address"),
        ("connect 10.0.19.1:8080", "an internal address"),
        ("ran on quietbox", "this machine's host name"),
        ("run by Mallory", "the user's name"),
        ("/srv/people/mallory/x", "a home folder"),
        ("https://bob:s3cr3tpw@git.example.org/p.git", "a credential (url-credential)"),
        ("AKIA" + "Q" * 16, "a credential (aws-access-key-id)"),
    ],
)
def test_a_leak_is_named_by_file_line_and_kind_and_never_repeated(text: str, kind: str) -> None:
    (line,) = leaks("reports/x.html", f"<p>first</p>\n<p>{text}</p>")
    assert line.startswith(f"reports/x.html::line 2: holds {kind}. ")
    assert text not in line


@pytest.mark.parametrize(
    "text",
    [
        "/usr/bin/x86_64-linux-gnu-gcc-13",
        "git@github.com:owner/repo.git",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "Linux 6.1.0 #1 SMP",
        "max_tokens=100000000",
    ],
)
def test_what_reproduces_a_run_survives(text: str) -> None:
    assert leaks("reports/x.html", text) == []


def test_a_name_in_a_file_name_is_a_leak() -> None:
    (line,) = leaks("data/quietbox.json", "{}")
    assert line.startswith("data/quietbox.json::file name: holds this machine's host name")


def test_a_value_in_evidence_is_found_at_its_line() -> None:
    (line,) = leaks("data/x.json", '{\n "rows": [\n  1,\n  2\n ],\n "host": "quietbox"\n}\n')
    assert line.startswith("data/x.json::line 6: ")


def test_bundled_code_of_others_may_name_its_authors() -> None:
    assert leaks("assets/javascripts/bundle.js", "// by alice@example.org") == []
    assert leaks("assets/logo.png", "alice@example.org") == []


def test_a_user_or_host_called_like_a_word_of_ours_stops_no_publication() -> None:
    page = from_memory("site", {"index.html": b"<p>max of 3 runs on one machine, quietbox</p>"})
    (leak,) = find_leaks(page, KnownNames(user="Max", host="quietbox", home=None))
    assert "host name" in leak.problem
    assert list(find_leaks(page, KnownNames(user="runs", host="machine", home=None))) == []
