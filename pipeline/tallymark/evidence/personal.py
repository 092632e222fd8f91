"""Names of people and machines in text: where they are, and what may stand in their place.

Evidence is published and never edited afterwards, so they are looked for before anything is written and
again before anything is published. What reproduces a run survives: compilers, flags, versions, digests, and
the tail of a path behind the home folder. A secret has no replacement: it must be changed, not hidden.
"""

from __future__ import annotations

import getpass
import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# Accounts and hosts that are a role, not a person or a machine: they tell nothing.
_NOBODY = re.compile(
    r"root|users?|admin|runner|ubuntu|debian|build|builder|ci|test|bench|public|shared|linuxbrew|git"
    r"|localhost|localdomain|localhost\.localdomain",
    re.IGNORECASE,
)
_NAME_END = r"(?=$|[\s/\\:;,'\"`=()|&<>])"
_AFTER_FLAG = r"(?<=-[BIL])|(?<=-isystem)"  # a compiler's flag and its folder are one word
_HOME = "a home folder"
_HOST = "an internal host"
_ADDRESS = "an internal address"
_SECRET = "<secret:"


@dataclass(frozen=True, slots=True)
class Hit:
    """One piece of personal text: ``text[start:end]``, what kind it is and its typed placeholder."""

    kind: str
    placeholder: str
    start: int
    end: int

    @property
    def secret(self) -> bool:
        """True for a credential: publication stops, and no placeholder makes it good."""
        return self.placeholder.startswith(_SECRET)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """Exact words that identify this machine or its user: the only way to catch a bare name."""

    user: str | None
    host: str | None
    home: str | None


def known_here() -> KnownNames:
    """The names of this machine and its user; they are compared and never written."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user id without an entry in the user table
        user = None
    return KnownNames(user, socket.gethostname() or None, str(Path("~").expanduser()))


def personal(text: str, known: KnownNames) -> tuple[Hit, ...]:
    """Every hit in ``text``, in order, none overlapping; where two kinds overlap the graver one is kept."""
    hits: list[Hit] = []
    for kind, placeholder, pattern in (*_PATTERNS, *_known_patterns(known)):
        for match in pattern.finditer(text):
            groups = match.groupdict()
            if groups.get("name") and _NOBODY.fullmatch(groups["name"]):
                continue
            start, end = match.span("hit" if "hit" in groups else 0)
            if all(end <= hit.start or start >= hit.end for hit in hits):
                hits.append(Hit(kind, placeholder, start, end))
    return tuple(sorted(hits, key=lambda hit: hit.start))


def replaced(text: str, hits: Iterable[Hit]) -> str:
    """``text`` with each hit (in order) replaced by its placeholder; a second pass finds nothing."""
    return "".join(_pieces(text, hits))


def _pieces(text: str, hits: Iterable[Hit]) -> Iterator[str]:
    position = 0
    for hit in hits:
        yield text[position : hit.start]
        yield hit.placeholder
        position = hit.end
    yield text[position:]


def _known_patterns(known: KnownNames) -> list[tuple[str, str, re.Pattern[str]]]:
    """Exact home, host and user name as whole words, in any case; names of nobody are left alone."""
    patterns = []
    if known.home is not None and known.home not in ("/", "/root"):
        patterns.append((_HOME, "<home>", re.compile(re.escape(known.home) + _NAME_END)))
    for kind, placeholder, word in (
        ("this machine's host name", "<host>", known.host),
        ("the user's name", "<user>", known.user),
    ):
        if word is not None and len(word) > 2 and not _NOBODY.fullmatch(word):
            whole = rf"(?<![\w-]){re.escape(word)}(?![\w-])"
            patterns.append((kind, placeholder, re.compile(whole, re.IGNORECASE)))
    return patterns


def _secret(name: str, pattern: str) -> tuple[str, str, re.Pattern[str]]:
    return f"a credential ({name})", f"{_SECRET}{name}>", re.compile(pattern)


# (kind, placeholder, pattern), gravest first. The group "hit" narrows what is replaced; the group "name" is
# exempt when it belongs to nobody. Every repetition is bounded: the text is untrusted.
_PATTERNS: tuple[tuple[str, str, re.Pattern[str]], ...] = (
    _secret("url-credential", r"(?<=://)(?:[^\s/@:<>]{1,99}:[^\s/@<>]{1,99}|[^\s/@:<>]{20,199})(?=@)"),
    _secret("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,255}|github_pat_\w{20,255})"),
    _secret("aws-access-key-id", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    _secret("huggingface-token", r"\bhf_[A-Za-z0-9]{20,99}"),
    _secret("api-key", r"\bsk-[A-Za-z0-9_-]{20,199}"),
    _secret("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,199}"),
    _secret("jwt", r"\beyJ[\w-]{10,999}\.eyJ[\w-]{10,999}\.[\w-]{10,999}"),
    _secret("private-key", r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"),
    _secret("environment", r"\b[A-Z_]{0,40}(?:TOKEN|SECRET|PASSWORD|API_KEY)=(?P<hit>[^\s'\"<>&|;]{8,199})"),
    (
        _HOME,
        "<home>",
        re.compile(
            rf"(?:(?<![\w.-])|{_AFTER_FLAG})(?:/export|/data)?(?:/home|/Users)/"
            r"(?P<name>[^\s/:;,'\"`=()|&<>]{1,64})"
        ),
    ),
    (
        _HOME,
        "<home>",
        re.compile(r"(?<=/mnt/[a-z])/Users/[^\s/:;,'\"]{1,64}|(?<=/cygdrive/[a-z])/Users/[^\s/:;,'\"]{1,64}"),
    ),
    (
        _HOME,
        "<home>",
        re.compile(r"\b[A-Za-z]:[\\/]{1,4}Users[\\/]{1,4}(?P<name>[^\\/:'\"<>|\r\n]{1,64})"),
    ),
    (_HOME, "<home>", re.compile(rf"(?:(?<![\w./>-])|{_AFTER_FLAG})/root{_NAME_END}")),
    (_HOME, "<home>", re.compile(r"(?<![\w./-])~(?P<name>[A-Za-z_][\w.-]{0,63})(?=/)")),
    (
        "a user's temporary folder",
        "<tmp>",
        re.compile(r"/var/folders/[^\s/]{1,64}/[^\s/]{1,64}|/run/user/\d{1,10}"),
    ),
    ("a network share", "<unc-share>", re.compile(r"(?<![\w\\>:])\\\\[\w.-]{1,64}\\[\w$.-]{1,64}")),
    (
        "an e-mail address",
        "<email>",
        re.compile(
            r"\b[\w.+-]{1,64}@(?!users\.noreply\.)[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.[A-Za-z]{2,24}\b(?![:.]\w)"
        ),
    ),
    (
        "a key's comment",
        "<ssh-comment>",
        re.compile(r"\bssh-(?:ed25519|rsa) [\w+/=]{20,999} (?P<hit>[\w.-]{1,64}@[\w.-]{1,64})"),
    ),
    (
        "a user on a host",
        "<user>@<host>",
        re.compile(r"(?<![\w.])(?P<name>[\w.-]{1,64})@[\w.-]{1,64}(?=:[~/\w])"),
    ),
    (
        _HOST,
        "<host>",
        re.compile(
            r"(?<![\w.-])(?:[\w-]{1,63}\.){1,5}(?:local|lan|internal|corp|home\.arpa|fritz\.box)\b(?![.-]?\w)"
        ),
    ),
    (
        _ADDRESS,
        "<ip:private>",
        re.compile(
            r"(?<![\w.])(?<!driver )(?<!version )"
            r"(?:10(?:\.\d{1,3}){3}|192\.168(?:\.\d{1,3}){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d{1,3}){2})(?!\.?\w)"
        ),
    ),
    (
        _ADDRESS,
        "<ip:private>",
        re.compile(r"(?<![\w:])(?:f[cd][0-9a-f]{2}|fe80):[0-9a-f:]{2,38}(?:%\w{1,15})?"),
    ),
    (
        "a network card's address",
        "<mac>",
        re.compile(r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:-])"),
    ),
    (
        "a device's serial number",
        "<serial>",
        re.compile(
            r"\bserial(?:[_ ]?(?:number|no))?[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?P<hit>[A-Z0-9-]{4,40})\b",
            re.IGNORECASE,
        ),
    ),
    (
        "a device's serial number",
        "<gpu-uuid>",
        re.compile(r"\bGPU-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"),
    ),
)
