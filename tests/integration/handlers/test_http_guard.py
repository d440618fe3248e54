"""No packet reaches what is inside, whatever the job, its name server or its redirects say.

127.0.0.2 plays the public server, because the operator allows it; 127.0.0.1 is inside, with a canary on the
same port that counts who comes.
"""

from __future__ import annotations

import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gnomon.core.values.document import JSON
from gnomon.handlers.base import JobFailed
from gnomon.handlers.http.handler import HttpHandler
from gnomon.settings import HandlerSettings
from tests.attempts import a_payload, an_attempt
from tests.integration.handlers.servers import Answering, Seen, Server, reply, serving

PUBLIC, INSIDE = "127.0.0.2", "127.0.0.1"
PORT_TRIES_MAX = 10
TRUST = ssl.create_default_context()  # Takes a while to read, and is the same for all.


@dataclass
class Names:
    """A name server of our own: each question gets the next answer, and the last one for ever."""

    answers: dict[str, list[list[str]]]
    asked: list[str] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self.answers[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def to(url: str, **more: JSON) -> JSON:
    return a_payload({"url": url, **more})


def handler_with(**answers: list[list[str]]) -> HttpHandler:
    names = Names({f"{name}.example": given for name, given in answers.items()})
    return HttpHandler(HandlerSettings(http_allow=(PUBLIC,)), resolver=names, ssl_context=TRUST)


@asynccontextmanager
async def public_and_canary(answer: Answering) -> AsyncIterator[tuple[Server, Server]]:
    async with AsyncExitStack() as stack:
        public, canary = await _on_one_port(answer, stack)
        yield public, canary
        assert canary.connections == 0, "A packet arrived inside."


async def _on_one_port(answer: Answering, stack: AsyncExitStack) -> tuple[Server, Server]:
    """A port that was free outside may be taken inside, by whoever else runs on this machine."""
    for _ in range(PORT_TRIES_MAX):
        async with AsyncExitStack() as attempt:
            public = await attempt.enter_async_context(serving(answer, host=PUBLIC))
            with suppress(OSError):
                canary = await attempt.enter_async_context(serving(reply(), host=INSIDE, port=public.port))
                stack.push_async_exit(attempt.pop_all())
                return public, canary
    raise AssertionError("no port is free on both sides")


async def failure(handler: HttpHandler, payload: JSON) -> JobFailed:
    with pytest.raises(JobFailed) as failed:
        await handler.run(payload, an_attempt())
    await handler.aclose()
    return failed.value


async def test_a_name_is_connected_at_its_checked_address_and_keeps_its_name() -> None:
    handler = handler_with(good=[[PUBLIC]])
    async with public_and_canary(reply()) as (public, _):
        await handler.run(to(public.url(host="good.example")), an_attempt())
        await handler.aclose()
    assert public.seen[0].headers["host"] == f"good.example:{public.port}"


async def test_a_name_that_turns_inside_after_the_check_is_refused() -> None:
    handler = handler_with(rebinding=[[PUBLIC], [INSIDE]])
    async with public_and_canary(reply(200, b"", connection="close")) as (public, _):
        await handler.run(to(public.url(host="rebinding.example")), an_attempt())
        failed = await failure(handler, to(public.url(host="rebinding.example")))
    assert (failed.kind, failed.permanent) == ("forbidden_address", True)
    assert f"Jobs may not call rebinding.example at {INSIDE} (" in str(failed)
    assert "To allow it, set http.allow." in str(failed)


@pytest.mark.parametrize(
    "addresses",
    [[INSIDE], [PUBLIC, INSIDE], ["::1"], ["::ffff:127.0.0.1"], ["fe80::1%lo"], ["169.254.169.254"]],
)
async def test_one_address_inside_is_enough_to_refuse_a_name(addresses: list[str]) -> None:
    async with public_and_canary(reply()) as (public, _):
        failed = await failure(handler_with(mixed=[addresses]), to(public.url(host="mixed.example")))
        assert not public.connections
    assert failed.kind == "forbidden_address"


async def test_a_refusal_says_what_is_forbidden_and_what_allows_it() -> None:
    for host, shown in (("127.0.0.1", "127.0.0.1"), ("mixed.example", "mixed.example at 127.0.0.1")):
        failed = await failure(handler_with(mixed=[["127.0.0.1"]]), to(f"http://{host}/"))
        assert str(failed) == f"Jobs may not call {shown} (loopback). To allow it, set http.allow."


async def test_a_name_that_nobody_knows_may_be_known_later() -> None:
    class Nobody:
        async def resolve(self, host: str, port: int) -> Sequence[str]:
            raise OSError("Name or service not known")

    handler = HttpHandler(HandlerSettings(), resolver=Nobody())
    failed = await failure(handler, to("http://unknown.example/"))
    assert (failed.kind, failed.permanent) == ("connection", False)


@pytest.mark.parametrize(
    "host",
    [
        INSIDE,
        *("127.1", "0x7f000001", "2130706433", "0177.0.0.1", "127.0.0.1.", "0", "localhost", "x.localhost"),
        *("[::1]", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"),
    ],
)
async def test_an_address_inside_is_refused_when_it_runs_too(host: str) -> None:
    async with public_and_canary(reply()) as (public, _):
        failed = await failure(handler_with(), to(public.url(host=host)))
    assert failed.permanent
    assert failed.kind in ("forbidden_address", "bad_payload")


def redirecting(*locations: str, status: int = 302) -> Answering:
    """Each answer leads to the next place; the last place answers 200. {port} is the port of the server."""

    async def answer(seen: Seen, writer: object) -> None:
        step = int(seen.path.strip("/") or 0)
        port = seen.headers["host"].partition(":")[2]
        if step < len(locations):
            location = locations[step].replace("{port}", port)
            await reply(status, b"", location=location)(seen, writer)  # type: ignore[arg-type]
        else:
            await reply(200, b"there")(seen, writer)  # type: ignore[arg-type]

    return answer


@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize(
    "location",
    [
        "http://127.0.0.1:{port}/",
        "http://127.1:{port}/",
        "http://[::1]:{port}/",
        "http://localhost:{port}/",
        "//127.0.0.1:{port}/",
        "http://x@127.0.0.1:{port}/",
        "http://public.example\\@127.0.0.1:{port}/",
        "http://inside.example:{port}/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/",
        "http://[",
    ],
)
async def test_a_redirect_inside_is_not_followed(location: str, depth: int) -> None:
    steps = [f"/{step + 1}" for step in range(depth)]
    handler = handler_with(good=[[PUBLIC]], inside=[[INSIDE]])
    async with public_and_canary(redirecting(*steps, location)) as (public, _):
        failed = await failure(handler, to(public.url("/0", host="good.example"), follow_redirects=True))
    assert failed.permanent
    assert failed.kind in ("forbidden_redirect", "forbidden_address")


async def test_redirects_come_to_an_end() -> None:
    async with public_and_canary(redirecting(*["/0"] * 50)) as (public, _):
        failed = await failure(handler_with(), to(public.url("/0"), follow_redirects=True))
    assert failed.kind == "too_many_redirects"
    assert len(public.seen) == 6


async def test_credentials_do_not_follow_to_another_host() -> None:
    secrets: dict[str, JSON] = {
        "Authorization": "Bearer x",
        "Cookie": "a=b",
        "X-Api-Key": "k",
        "Accept": "text/x",
    }
    handler = handler_with(good=[[PUBLIC]], other=[[PUBLIC]])
    answer = redirecting("/1", "http://other.example:{port}/2", "http://good.example:{port}/3")
    async with public_and_canary(answer) as (public, _):
        payload = to(public.url("/0", host="good.example"), headers=secrets, follow_redirects=True)
        await handler.run(payload, an_attempt())
        await handler.aclose()
    assert [("authorization" in seen.headers) for seen in public.seen] == [True, True, False, False]
    assert not {"cookie", "x-api-key"} & public.seen[2].headers.keys()
    assert public.seen[2].headers["accept"] == "text/x"


@pytest.mark.parametrize("status", [302, 307])
async def test_what_names_the_execution_does_not_follow_to_another_host(status: int) -> None:
    """With the fencing token, a stranger could get ahead of us; with the key, use it up."""
    handler = handler_with(good=[[PUBLIC]], other=[[PUBLIC]])
    answer = redirecting("/1", "http://other.example:{port}/2", "http://good.example:{port}/3", status=status)
    async with public_and_canary(answer) as (public, _):
        payload = to(public.url("/0", host="good.example"), json={"a": 1}, follow_redirects=True)
        await handler.run(payload, an_attempt())
        await handler.aclose()
    ours = [
        {name for name in seen.headers if name.startswith("gnomon-") or name == "idempotency-key"}
        for seen in public.seen
    ]
    names = {"gnomon-fencing-token", "gnomon-execution-id", "gnomon-attempt", "idempotency-key"}
    assert ours == [names, names, set(), set()]
    # The type of the content goes where the content goes.
    assert [bool(seen.body) for seen in public.seen] == [
        "content-type" in seen.headers for seen in public.seen
    ]


@pytest.mark.parametrize(("status", "method"), [(302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
async def test_a_redirect_changes_the_method_as_in_browsers(status: int, method: str) -> None:
    async with public_and_canary(redirecting("/1", status=status)) as (public, _):
        handler = handler_with()
        await handler.run(to(public.url("/0"), json={"a": 1}, follow_redirects=True), an_attempt())
        await handler.aclose()
    assert [seen.method for seen in public.seen] == ["POST", method]
    assert bool(public.seen[1].body) is (method == "POST")


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("There is no openssl here to make a certificate.")
    both = tmp_path / "both.pem"
    subject = ["-subj", "/CN=good.example", "-addext", "subjectAltName=DNS:good.example"]
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"),
            *("-days", "2", "-keyout", str(both), "-out", str(tmp_path / "cert.pem"), *subject),
        ],
        check=True,
        capture_output=True,
    )
    both.write_text(both.read_text() + (tmp_path / "cert.pem").read_text())
    return both


async def test_tls_is_for_the_name_and_no_redirect_leaves_it(certificate: Path) -> None:
    named: list[str | None] = []
    server_side = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server_side.load_cert_chain(certificate)
    server_side.sni_callback = lambda _, name, __: named.append(name)
    trusting = ssl.create_default_context(cafile=str(certificate))
    names = Names({"good.example": [[PUBLIC]], "wrong.example": [[PUBLIC]]})
    handler = HttpHandler(HandlerSettings(http_allow=(PUBLIC,)), resolver=names, ssl_context=trusting)
    answer = redirecting("http://good.example:{port}/1")
    async with serving(answer, host=PUBLIC, tls=server_side) as server:
        url = f"https://good.example:{server.port}"
        assert await handler.run(to(f"{url}/1"), an_attempt())
        with pytest.raises(JobFailed) as downgraded:
            await handler.run(to(f"{url}/0", follow_redirects=True), an_attempt())
        with pytest.raises(JobFailed) as mistrusted:
            await handler.run(to(f"https://wrong.example:{server.port}/1"), an_attempt())
        await handler.aclose()
    assert downgraded.value.kind == "forbidden_redirect"
    assert mistrusted.value.kind == "connection"
    assert named[0] == "good.example"
