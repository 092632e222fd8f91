"""The command line, called in a test as its console script calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallymark import cli


class Console:
    """Runs commands in one folder; it is the working directory from then on."""

    def __init__(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(folder)
        self._capsys = capsys

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, standard output and standard error of ``tallymark ARGUMENTS``."""
        with pytest.raises(SystemExit) as stopped:
            cli.main(list(arguments))
        code = stopped.value.code
        assert isinstance(code, int)
        captured = self._capsys.readouterr()
        return code, captured.out, captured.err
