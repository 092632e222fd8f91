"""Personal text in a foreign file: refused with its place, or replaced when the user asks."""

from __future__ import annotations

import pytest
from support.hyperfine import entry, imported

from tallymark.errors import FindingsError
from tallymark.evidence.personal import KnownNames
from tallymark.importers import privacy

ANNA = KnownNames(user="anna", host="node17", home="/srv/people/anna")


def test_a_home_folder_in_a_command_is_refused_with_its_place_and_without_its_text() -> None:
    with pytest.raises(FindingsError) as caught:
        imported(entry("true"), entry("/home/zhang.wei/bin/x --fast"))
    assert caught.value.where == "h.json::$.results[1].command"
    assert "zhang" not in caught.value.line()
    assert "--redact" in caught.value.do


def test_redaction_replaces_the_folder_keeps_the_rest_and_is_listed_as_a_loss() -> None:
    found = imported(entry("/home/zhang.wei/bin/x --fast"), redact=True)
    assert {run.benchmark for run in found.runs} == {"<home>/bin/x --fast"}
    assert found.reported[0].benchmark == "<home>/bin/x --fast"
    assert ("$.results[0].command", "a home folder was replaced by <home>") in [
        (loss.pointer, loss.reason) for loss in found.loss
    ]


def test_the_names_of_this_machine_are_found_as_whole_words_in_any_case() -> None:
    found = imported(
        entry("ping NODE17; ls /srv/people/anna/x; su anna; echo annabel"), known=ANNA, redact=True
    )
    assert found.runs[0].benchmark == "ping <host>; ls <home>/x; su <user>; echo annabel"


def test_a_parameter_value_is_searched_too() -> None:
    with pytest.raises(FindingsError) as caught:
        imported(entry(parameters={"file": "/Users/jane/x"}))
    assert caught.value.where == "h.json::$.results[0].parameters.file"


def test_a_parameter_name_is_refused_even_with_redaction() -> None:
    with pytest.raises(FindingsError, match="the name holds the user's name"):
        imported(entry(parameters={"anna": "1"}), known=ANNA, redact=True)


def test_a_credential_is_refused_even_with_redaction() -> None:
    command = "git fetch https://bob:s3cr3tpw@example.org/p.git"
    with pytest.raises(FindingsError, match="it has leaked") as caught:
        imported(entry(command), redact=True)
    assert "s3cr3tpw" not in caught.value.line()


def test_two_commands_that_redaction_makes_one_are_refused() -> None:
    with pytest.raises(FindingsError, match="same command and parameters"):
        imported(entry("/home/li/x"), entry("/home/wu/x"), redact=True)


def test_nothing_is_reported_as_redacted_when_nothing_was() -> None:
    plain, redacted = imported(entry()), imported(entry(), redact=True)
    assert plain == redacted


def test_a_chosen_name_with_personal_text_is_refused_where_it_was_given() -> None:
    with pytest.raises(FindingsError, match="--label: the name holds the user's name"):
        privacy.verify_name("run-by anna", ANNA, "--label")
