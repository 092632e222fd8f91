"""SHA256SUMS against the files: nothing missing, nothing changed, nothing unlisted, nothing twice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from tallymark.errors import UsageError
from tallymark.recount.difference import Difference, mismatch
from tallymark.recount.files import Files
from tallymark.recount.published import Published

SUMS = "SHA256SUMS"
# The text form of coreutils; its escaped form (a leading backslash) needs names that no site has.
_LINE = re.compile(r"([0-9a-f]{64})  ([^\x00-\x1f\x7f\\]+)")
_CITED = re.compile(r"[0-9a-f]{12,64}")
_CITED_DO = "What was cited is not what is here: ask for the cited version"


def compare_sums(files: Files) -> list[Difference]:
    """Every way in which SHA256SUMS is not the exact list of the other files."""
    if SUMS not in files:
        return [Difference(SUMS, "", "is missing", "Build the site again")]
    data = files.read(SUMS)
    found: list[Difference] = []
    listed: dict[str, str] = {}
    for number, raw in enumerate(data.split(b"\n")[:-1], start=1):
        digest, name, problem = _line(raw)
        if not problem and name in listed:
            problem = f"{name} is listed twice"
        if problem:
            found.append(Difference(SUMS, f"line {number}", problem, "Build the site again"))
        else:
            listed[name] = digest
    if data and not data.endswith(b"\n"):
        found.append(Difference(SUMS, "", "its last line has no end", "Build the site again"))
    if list(listed) != sorted(listed):
        found.append(Difference(SUMS, "", "its lines are not sorted by name", "Build the site again"))
    return found + _against(files, listed)


def _line(raw: bytes) -> tuple[str, str, str]:
    """(digest, name, "") of a line, or ("", "", what is wrong)."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return "", "", "is not UTF-8"
    if text.endswith("\r"):
        return "", "", "ends with a carriage return, which sha256sum -c takes for a part of the name"
    match = _LINE.fullmatch(text)
    if match is None:
        return "", "", f'is not "DIGEST  NAME": {text[:80]!r}'
    digest, name = match.groups()
    if name.startswith("/") or any(part in ("", ".", "..") for part in name.split("/")):
        return "", "", f"{name} leaves the site"
    return digest, name, ""


def _against(files: Files, listed: dict[str, str]) -> list[Difference]:
    found = []
    for name, digest in listed.items():
        if name == SUMS or name not in files:
            found.append(Difference(name, "", f"is listed in {SUMS} and not there", "Restore the file"))
        elif files.sha256(name) != digest:
            do = "Restore the published file, or build the site again"
            found.append(mismatch(name, "SHA-256", digest, files.sha256(name), do))
    for name in files.names:
        if name != SUMS and name not in listed:
            problem = f"is there and not listed in {SUMS}"
            found.append(Difference(name, "", problem, "Remove it, or build the site again"))
    return found


def sums_text(digest_of: Mapping[str, str]) -> bytes:
    """The text of a SHA256SUMS: name → digest, sorted by name."""
    return "".join(f"{digest_of[name]}  {name}\n" for name in sorted(digest_of)).encode("utf-8")


def compare_expected(published: Published, expect: Iterable[str]) -> Iterator[Difference]:
    """Digests cited elsewhere (whole, or the first 12 or more digits) that nothing here has."""
    known = {report.table["digest"] for report in published.reports.values()}
    known |= {published.files.sha256(name) for name in published.files.names}
    for digest in expect:
        cited = digest.lower().removeprefix("sha256:")
        if not _CITED.fullmatch(cited):
            do = "give 64 hexadecimal digits, or at least the first 12"
            raise UsageError("--expect", f"{digest!r} is no SHA-256", do)
        if not any(one.startswith(cited) for one in known):
            problem = "no recounted report and no published file has this digest"
            yield Difference(published.files.shown, f"--expect {cited}", problem, _CITED_DO)
