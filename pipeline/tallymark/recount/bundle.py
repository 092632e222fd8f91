"""One zip with all that a recount of one report needs: spec, report, raw files, script, digests.

The same report gives the same bytes everywhere: sorted names, one fixed time, and no compression, whose
output differs between versions of zlib.
"""

from __future__ import annotations

import io
import zipfile

from tallymark.errors import UsageError
from tallymark.evidence.canonical import sha256_hex
from tallymark.recount.digests import SUMS, sums_text
from tallymark.recount.published import Published, Report
from tallymark.recount.status import SCRIPT

_TIME = (1980, 1, 1, 0, 0, 0)
_README = """\
{title}
Report {name}, version {version}, digest {digest}

Recount it with any Python from 3.8, nothing to install, nothing is fetched:

    python3 recount.py THIS.zip

It prints the SHA-256 of each raw file, the keys that make the rows, the rule and the rounding of each column
and the table, and compares every cell with the published report. Unpacked, the files can be checked with

    sha256sum --strict -c SHA256SUMS

spec.json    the rules of the table
report.json  the table as published, with the lineage of every cell
data/        the raw files
recount.py   the script; it shares no code with the program that made the table
"""


def members(published: Published, report: Report) -> dict[str, bytes]:
    """The files of the bundle by name, from a site or a bundle. UsageError: it lacks the script."""
    if SCRIPT not in published.files:
        raise UsageError(published.files.shown, f"has no {SCRIPT}", "build the site again")
    held = {document.path: document.data for document in report.data}
    for name, on_site in (("spec.json", "spec.json"), ("report.json", "json")):
        place = f"reports/{report.name}.{on_site}"
        held[name] = published.files.read(
            place if place in published.files or name not in published.files else name
        )
    held[SCRIPT] = published.files.read(SCRIPT)
    held["README.txt"] = _README.format(
        title=" ".join(report.spec["title"].split()),
        name=report.name,
        version=report.spec["version"],
        digest=report.table["digest"],
    ).encode("utf-8")
    held[SUMS] = sums_text({name: sha256_hex(data) for name, data in held.items()})
    return held


def packed(held: dict[str, bytes]) -> bytes:
    """The zip of these files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(held):
            member = zipfile.ZipInfo(name, _TIME)
            member.create_system = 3  # Unix: the default differs between systems
            member.external_attr = 0o100644 << 16
            archive.writestr(member, held[name])
    return out.getvalue()
