"""Names of people and machines: found, replaced once and for good, and never in what reproduces a run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallymark.evidence.personal import KnownNames, known_here, personal, replaced

NOBODY = KnownNames(user=None, host=None, home=None)
FOUND = [
    ("/home/zhang.wei/src/build/bench", "<home>/src/build/bench"),
    ("cc -ffile-prefix-map=/home/zw/src=. -o b", "cc -ffile-prefix-map=<home>/src=. -o b"),
    ("cc -O2 -I/home/zw/include -L/root/lib", "cc -O2 -I<home>/include -L<home>/lib"),
    ("ls /Users/jane", "ls <home>"),
    ("C:\\Users\\Jane Doe\\bench\\run.json", "<home>\\bench\\run.json"),
    ("/mnt/c/Users/bob/proj", "/mnt/c<home>/proj"),
    ("cat /root/x /srv/root/x", "cat <home>/x /srv/root/x"),
    ("~bob/x", "<home>/x"),
    ("/var/folders/x1/abc123/T/t.json", "<tmp>/T/t.json"),
    ("\\\\fileserver01\\share\\q3", "<unc-share>\\q3"),
    ("mail li.lei@acme.cn", "mail <email>"),
    ("rsync zw@node17:/scratch/r", "rsync <user>@<host>:/scratch/r"),
    ("host perry-macos.fritz.box", "host <host>"),
    ("connect 10.0.19.1:8080, 172.31.0.5", "connect <ip:private>:8080, <ip:private>"),
    ("fd12:3456:789a::1 fe80::1%eth0", "<ip:private> <ip:private>"),
    ("eth0 00:1A:2b:3c:4d:5e up", "eth0 <mac> up"),
    ("serial_number: PF3ABC12", "serial_number: <serial>"),
    (
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKx bob@laptop",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKx <ssh-comment>",
    ),
]
LEFT_ALONE = [
    "/usr/bin/x86_64-linux-gnu-gcc-13 -O2",
    "/home/linuxbrew/.linuxbrew/bin/gcc-13",
    "/home/runner/work/x",
    "C:\\Program Files\\LLVM\\bin\\clang.exe",
    "Windows 10.0.26200.1",
    "driver 10.0.19.1 loaded",
    "listen 127.0.0.1:0 and ::1",
    "elapsed 12:30:45, ratio 1:2",
    "std::chrono::steady_clock",
    "sha256:3f:a1:07:bb:90:12:44:5c:aa:01",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "git@github.com:owner/repo.git",
    "12345+bob@users.noreply.github.com",
    "max_tokens=100000000 token_count: 123456789",
    "schema.corp.json",
    "172.32.0.5",
]
# Shaped like keys, made of one repeated letter: none of them ever opened anything.
SECRETS = [
    "https://bob:s3cr3tpw@git.example.org/p.git",
    "HF_TOKEN=hf_" + "a" * 34,
    "ghp_" + "a" * 36,
    "AKIA" + "A" * 16,
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "DB_PASSWORD=correcthorse",
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_personal_text_becomes_a_typed_placeholder(text: str, expected: str) -> None:
    assert replaced(text, personal(text, NOBODY)) == expected


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_reproduces_a_run_survives(text: str) -> None:
    assert personal(text, NOBODY) == ()


@pytest.mark.parametrize("text", SECRETS)
def test_a_credential_is_marked_as_one(text: str) -> None:
    assert any(hit.secret for hit in personal(text, NOBODY))


@pytest.mark.parametrize("text", [text for text, _ in FOUND] + SECRETS)
def test_a_second_pass_finds_nothing(text: str) -> None:
    assert personal(replaced(text, personal(text, NOBODY)), NOBODY) == ()


def test_hits_say_where_they_are_in_order_without_overlap() -> None:
    hits = personal("cp /home/li/a wu@node17:/b", NOBODY)
    assert [(hit.start, hit.end) for hit in hits] == [(3, 11), (14, 23)]


def test_a_name_that_is_a_role_is_not_personal() -> None:
    """In a container the user is root and the host often localhost: words of half of all commands."""
    known = KnownNames(user="root", host="localhost", home="/root")
    assert personal("curl localhost; chown root:root x", known) == ()


def test_the_home_of_this_machine_is_known() -> None:
    assert known_here().home is not None


@given(st.lists(st.sampled_from([*(text for text, _ in FOUND), *LEFT_ALONE, " ", "/", "@", ":", "=", "."])))
def test_replacing_is_idempotent_whatever_stands_beside_it(pieces: list[str]) -> None:
    text = " ".join(pieces)
    once = replaced(text, personal(text, NOBODY))
    assert replaced(once, personal(once, NOBODY)) == once
