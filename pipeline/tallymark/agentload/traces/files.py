"""A trace file as its formats read it: lines and rows one at a time, or one document within the limits.

Nothing here holds more than one line of a file that is read by lines.
"""

from __future__ import annotations

import csv
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

from tallymark.agentload.traces.entry import Entry, shown
from tallymark.errors import FindingsError, UnreadableError, UsageError
from tallymark.evidence import documents, strict_json
from tallymark.evidence.strict_json import JsonValue

MAX_LINE_BYTES: Final = 16 << 20
_BOM: Final = b"\xef\xbb\xbf"
_MOST_COLUMNS: Final = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a CSV file, read by the names of its columns."""

    file: str
    line: int
    values: dict[str, str]

    def where(self, column: str) -> str:
        """``file:line::$.column``."""
        return Entry({}, f"{self.file}:{self.line}", "$").where(column)


class TraceFile:
    """One regular file. ``name`` is what is published of its path, ``shown`` what messages say."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = path.name
        self.shown = documents.shown_path(path)

    def sha256(self) -> str:
        """The digest of its bytes. UnreadableError, UsageError: it cannot be read."""
        with self._opened() as file:
            digest = hashlib.sha256()
            while piece := file.read(1 << 20):
                digest.update(piece)
            return digest.hexdigest()

    def first_line(self) -> bytes:
        """The first line that is not blank, without its end, cut at the limit; empty when there is none."""
        return next((line for _, line in self._numbered(cut=True)), b"").rstrip(b"\r\n")

    def document(self) -> JsonValue:
        """The one JSON document in it. UnreadableError: it is none, or it is too large."""
        return strict_json.parse(documents.read_bytes(self.path, self.shown, follow=True), self.shown)

    def json_lines(self) -> Iterator[tuple[str, JsonValue]]:
        """(``file:line``, value) of each line that is not blank. UnreadableError: one is not strict JSON."""
        for number, line in self._numbered():
            place = f"{self.shown}:{number}"
            try:
                yield place, strict_json.parse(line.rstrip(b"\r\n"), place)
            except UnreadableError as error:
                if line.endswith(b"\n"):
                    raise
                do = "remove the last line, or take the file again when it is finished"
                raise UnreadableError(
                    error.where, f"the last line is cut off ({error.problem})", do
                ) from None

    def columns(self, delimiter: str = ",") -> list[str]:
        """The names in the header of a CSV file; empty when the first line is no header of one."""
        try:
            text = self.first_line().decode("utf-8")
            return [name.strip() for name in next(csv.reader([text], delimiter=delimiter, strict=True), [])]
        except (UnicodeDecodeError, csv.Error):
            return []

    def rows(self, needed: Sequence[str], delimiter: str = ",") -> Iterator[Row]:
        """Each row by its columns' names. FindingsError: a column is missing or twice, or a row is cut."""
        reader = csv.reader(self._text_lines(), delimiter=delimiter, strict=True)
        header = [name.strip() for name in self._next(reader) or []]
        _require_columns(f"{self.shown}:1::$", header, needed)
        while (fields := self._next(reader)) is not None:
            if not fields:
                continue
            if len(fields) != len(header):
                problem = f"the row has {len(fields)} fields, the header has {len(header)}"
                where = f"{self.shown}:{reader.line_num}::$"
                raise FindingsError(where, problem, "complete or remove the row; the file may be cut off")
            yield Row(self.shown, reader.line_num, dict(zip(header, fields, strict=True)))

    def _next(self, reader: Iterator[list[str]]) -> list[str] | None:
        try:
            return next(reader, None)
        except csv.Error as error:
            line = getattr(reader, "line_num", 0)
            raise UnreadableError(
                f"{self.shown}:{line}::$", f"not CSV ({error})", "close the quotes or remove the row"
            ) from None

    def _text_lines(self) -> Iterator[str]:
        for number, line in self._numbered(blank=True):
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError as error:
                problem = f"byte {error.start} of the line is not UTF-8"
                raise UnreadableError(f"{self.shown}:{number}::$", problem, "save it as UTF-8") from None

    def _numbered(self, *, blank: bool = False, cut: bool = False) -> Iterator[tuple[int, bytes]]:
        with self._opened() as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(line) > MAX_LINE_BYTES and not cut:
                    problem = f"the line is longer than {MAX_LINE_BYTES >> 20} MiB"
                    raise UnreadableError(f"{self.shown}:{number}::$", problem, "write one record a line")
                if number == 1 and line.startswith(_BOM):
                    problem = "the file starts with a byte order mark"
                    raise UnreadableError(f"{self.shown}:1::$", problem, "save it as UTF-8 without BOM")
                if blank or not line.isspace():
                    yield number, line

    def _opened(self) -> BinaryIO:
        try:
            if not stat.S_ISREG(self.path.stat().st_mode):
                raise UnreadableError(f"{self.shown}::$", "it is not a regular file", "name a file of traces")
            return os.fdopen(os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
        except FileNotFoundError:
            raise UsageError(self.shown, "there is no such file", "check the path") from None
        except OSError as error:
            raise UnreadableError(
                f"{self.shown}::$", f"cannot be read ({error.strerror})", "check the file"
            ) from None
        except ValueError:
            raise UsageError(self.shown, "the path holds a NUL character", "check the path") from None


def _require_columns(where: str, header: Sequence[str], needed: Iterable[str]) -> None:
    if len(header) > _MOST_COLUMNS:
        raise FindingsError(where, f"more than {_MOST_COLUMNS} columns", "keep the columns of the trace")
    twice = next((name for index, name in enumerate(header) if name in header[:index]), None)
    if twice is not None:
        raise FindingsError(where, f"the column {shown(twice)} is there twice", "rename one of the two")
    missing = next((name for name in needed if name not in header), None)
    if missing is not None:
        raise FindingsError(where, f"the column {shown(missing)} is missing", "export it with this column")


def parsed_first_line(file: TraceFile) -> JsonValue:
    """The first line as a JSON value; None when it is only the beginning of one.

    UnreadableError: it looks like a whole object and is none.
    """
    line = file.first_line()
    try:
        return strict_json.parse(line, f"{file.shown}:1")
    except UnreadableError:
        if line.endswith(b"}"):
            raise
        return None
