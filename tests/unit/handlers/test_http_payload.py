"""What an HTTP job may say: addresses, headers, statuses."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from gnomon.core.values.document import JSON, Document
from gnomon.core.values.limits import RESULT_BYTES_MAX
from gnomon.errors import InvalidInput
from gnomon.handlers.http.answer import HttpAnswer
from gnomon.handlers.http.guard import target_of
from gnomon.handlers.http.handler import HttpHandler
from gnomon.settings import HandlerSettings
from tests.attempts import a_payload

handler = HttpHandler(HandlerSettings(http_allow=("internal.example", "10.0.0.0/8")))
URL = "https://example.com/hook"

FORBIDDEN_URLS = """
    http://169.254.169.254/ http://0xa9fea9fe/ http://2852039166/ http://0251.0376.0251.0376/
    http://169.254.43518/
    http://127.0.0.1/ http://127.1/ http://127.0.1/ http://0/ http://0x7f.1/ http://0x7f000001/
    http://2130706433/
    http://017700000001/ http://0177.0.0.1/ http://127.0.0.01/ http://127.0.0.1./ http://00127.0.0.1/
    http://127.0.0.1:80/ http://0.0.0.0/ http://127.0.0.0x1/ http://1.1.1.1.1/ http://256.1.1.1/
    http://[::1]/ http://[::]/ http://[0:0:0:0:0:0:0:1]/ http://[::ffff:169.254.169.254]/
    http://[::ffff:a9fe:a9fe]/
    http://[::127.0.0.1]/ http://[64:ff9b::a9fe:a9fe]/ http://[2002:a9fe:a9fe::]/ http://[fd00:ec2::254]/
    http://[fe80::1%25eth0]/ http://[fe80::1]/ http://[::1%lo]/ http://[v1.x]/ http://[::1 http://::1/
    http://localhost/ http://LOCALHOST/ http://localhost./ http://a.localhost/
    http://metadata.google.internal/
    http://METADATA.google.internal./ http://metadata/ http://instance-data/ http://metadata.goog/
    http://192.168.0.1/ http://172.16.0.1/ http://100.100.100.200/ http://168.63.129.16/
    http://user:pw@good@evil/ http://user@example.com/ http://good#@evil/ http://example.com/#x
    http://good\\@evil/
    http://ｅxample.com http://exa\u00admple.com http://ⓔxample.com http://example。com http://bücher.example/
    http:///x http:/example.com http:example.com //example.com example.com ftp://example.com
    file:///etc/passwd
    gopher://example.com javascript:alert(1) http://example.com:0/ http://example.com:65536/ http://example.com:/
    http://example.com:8x/ http://exa%6dple.com/ http://-a.example/ http://a..example/ http://.example/
    http://*/
    http://exam|ple/ https://127.0.0.1/ HTTP://127.0.0.1/ http://[::ffff:10.0.0.1]/
"""


@pytest.mark.parametrize(
    "url", [*FORBIDDEN_URLS.split(), "http://a b/", "http://a/\r\nHost: b", "http://a/\0", "", "/"]
)
def test_an_address_that_is_inside_or_odd_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        handler.check({"url": url})
    assert refused.value.field == "payload.url"


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "http://example.com",
        "http://example.com?a=1&b={x}",
        "https://8.8.8.8:8443/x",
        "http://[2606:4700::1111]/",
        "http://xn--bcher-kva.example/a%20b",
        "http://internal.example/",
        "http://10.1.2.3/",
        "http://a_b.example/",
    ],
)
def test_an_address_that_is_public_or_allowed_is_taken(url: str) -> None:
    handler.check({"url": url})


def test_an_address_is_taken_apart_once() -> None:
    target = target_of("HTTPS://Example.COM.:8443?q=1")
    assert (target.origin, target.path) == (("https", "example.com", 8443), "/?q=1")
    assert target.host_header == "example.com:8443"
    assert target_of("http://[2606:4700:0::1]:80/x").host_header == "[2606:4700::1]"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"headers": {"X": "a\r\nHost: b"}}, "payload.headers.X"),
        ({"headers": {"X": "a\n"}}, "payload.headers.X"),
        ({"headers": {"X": "é"}}, "payload.headers.X"),
        ({"headers": {"X": " a"}}, "payload.headers.X"),
        ({"headers": {"X": "a" * 9000}}, "payload.headers.X"),
        ({"headers": {"X\r\nY": "a"}}, "payload.headers"),
        ({"headers": {"": "a"}}, "payload.headers"),
        ({"headers": {"X:": "a"}}, "payload.headers"),
        ({"headers": {"host": "b"}}, "payload.headers.host"),
        ({"headers": {"Content-Length": "1"}}, "payload.headers.Content-Length"),
        ({"headers": {"Transfer-Encoding": "chunked"}}, "payload.headers.Transfer-Encoding"),
        ({"headers": {"Gnomon-Attempt": "9"}}, "payload.headers.Gnomon-Attempt"),
        ({"headers": {"Proxy-Authorization": "x"}}, "payload.headers.Proxy-Authorization"),
        ({"headers": {f"X-{n}": "" for n in range(101)}}, "payload.headers"),
        ({"method": "TRACE"}, "payload.method"),
        ({"method": "fetch"}, "payload.method"),
        ({"body": "a", "json": None}, "payload.json"),
        ({"timeout_seconds": 0}, "payload.timeout_seconds"),
        ({"timeout_seconds": 1e9}, "payload.timeout_seconds"),
        ({"expected_status": []}, "payload.expected_status"),
        ({"expected_status": [99]}, "payload.expected_status[0]"),
        ({"expected_status": [200, "9xx"]}, "payload.expected_status[1]"),
        ({"verify": False}, "payload.verify"),
    ],
)
def test_a_bad_payload_is_refused_by_field(change: dict[str, JSON], field: str) -> None:
    a_payload({"url": URL, **change})  # It could be kept: the handler is who refuses it.
    with pytest.raises(InvalidInput) as refused:
        handler.check({"url": URL, **change})
    assert refused.value.field == field


def test_a_full_payload_is_taken() -> None:
    handler.check(
        {
            "url": URL,
            "method": "PUT",
            "headers": {"Authorization": "Bearer x", "X-Empty": ""},
            "json": {"a": [1]},
            "expected_status": [200, "3xx", "400-404"],
            "timeout_seconds": 2.5,
            "follow_redirects": True,
        }
    )


def answer(body: bytes = b"", *, truncated: bool = False, **headers: str) -> HttpAnswer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return HttpAnswer(200, named, body, truncated)


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"retry_after": "120"}, timedelta(minutes=2)),
        ({"retry_after": "9" * 500}, timedelta(days=1)),
        (
            {"retry_after": "Mon, 01 Jun 2026 12:01:30 GMT", "date": "Mon, 01 Jun 2026 12:00:00 GMT"},
            timedelta(seconds=90),
        ),
        (
            {"retry_after": "Mon, 01 Jun 2026 11:00:00 GMT", "date": "Mon, 01 Jun 2026 12:00:00 GMT"},
            timedelta(0),
        ),
        ({"retry_after": "Mon, 01 Jun 2026 12:01:30 GMT"}, None),
        ({"retry_after": "-5"}, None),
        ({"retry_after": "soon", "date": "Mon, 01 Jun 2026 12:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_a_server_may_say_when_to_come_back(headers: dict[str, Any], wait: timedelta | None) -> None:
    assert answer(**headers).retry_after() == wait


@pytest.mark.parametrize(
    ("body", "kind", "expected"),
    [
        (b'{"a": 1}', "application/json; charset=utf-8", {"json": {"a": 1}}),
        (b'{"a": 1}', "application/problem+json", {"json": {"a": 1}}),
        (b"null", "application/json", {"json": None}),
        (b"{", "application/json", {"body": "{"}),
        (b"[" * 100_000, "application/json", {"body": "[" * 100_000}),
        (b'"\\u0000"', "application/json", {"body": '"\\u0000"'}),
        (b"9" * 5000, "application/json", {"body": "9" * 5000}),
        (b"a\0\xff", "text/plain", {"body": "a\ufffd\ufffd"}),
        (b"\xe9", "text/plain; charset=ISO-8859-1", {"body": "é"}),
        (b"x", "text/plain; charset=punycode", {"body": "x"}),
    ],
)
def test_a_body_is_json_if_it_says_so_and_is(body: bytes, kind: str, expected: dict[str, JSON]) -> None:
    result = answer(body, content_type=kind).result()
    assert result == {"status": 200, "headers": {"content-type": kind}, "truncated": False, **expected}


def test_a_body_that_grows_as_json_still_fits() -> None:
    result = answer(b"\x01" * 900_000, content_type="text/plain").result()
    assert isinstance(result, dict)
    assert result["truncated"] is True
    assert len(a_result(result)) <= RESULT_BYTES_MAX


def a_result(result: JSON) -> bytes:
    return Document.of(result, field="result", bytes_max=RESULT_BYTES_MAX).text.encode()
