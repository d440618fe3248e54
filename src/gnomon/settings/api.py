"""The settings of the API."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from gnomon.settings.kinds import INTERFACE, FilePath, Maybe, Seconds, Switch, Whole
from gnomon.settings.table import setting


def in_url(host: str, port: int) -> str:
    """An address as it stands in a URL: of IPv6, in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


@dataclass(frozen=True, slots=True)
class ApiSettings:
    host: str = setting(
        INTERFACE,
        "127.0.0.1",
        "Where the API listens. Anything but this machine itself needs TLS, or api.insecure.",
        option="--host",
    )
    port: int | None = setting(
        Maybe("off", Whole(1, 65_535)),
        8484,
        "The port of the API. With off, `gnomon up` runs without an API.",
        option="--port",
    )
    tls_certificate: Path | None = setting(
        Maybe("off", FilePath()), None, "The certificate of the API, in PEM, with all that leads to its root."
    )
    tls_key: Path | None = setting(Maybe("off", FilePath()), None, "The private key of that certificate.")
    insecure: bool = setting(
        Switch(),
        False,
        "Listen beyond this machine without TLS: keys and payloads go over the network in the clear.",
        option="--insecure-ack",
    )
    body_bytes_max: int = setting(
        Whole(1024, 1 << 30), 1024 * 1024, "The largest request that is read; batches may be 16 times that."
    )
    submissions_per_minute: int | None = setting(
        Maybe("off", Whole(1, 10**9)), 1000, "How many calls that change something a tenant may make."
    )
    queries_per_minute: int | None = setting(
        Maybe("off", Whole(1, 10**9)), 10_000, "How many calls that only read a tenant may make."
    )
    heartbeats_per_minute: int | None = setting(
        Maybe("off", Whole(1, 10**9)), 60_000, "How many calls of the worker protocol a tenant may make."
    )
    key_calls_per_minute: int | None = setting(
        Maybe("off", Whole(1, 10**9)),
        120,
        "How many calls of /v1/keys an admin key may make. They do not count as submissions of its tenant.",
    )
    refusals_per_minute: int | None = setting(
        Maybe("off", Whole(1, 10**9)),
        300,
        "How many calls of one key, and of one address, are refused with 401 or 403 before they get 429.",
    )
    streams_per_key: int | None = setting(
        Maybe("off", Whole(1, 10**6)), 50, "How many streams of events and logs one key may hold open."
    )
    streams_per_tenant: int | None = setting(
        Maybe("off", Whole(1, 10**6)), 200, "How many streams all keys of a tenant may hold open together."
    )
    answer_bytes_per_key: int | None = setting(
        Maybe("off", Whole(1024, 1_000_000_000_000)),
        64 * 1024 * 1024,
        "How many bytes of large answers a key may have under way on a node.",
    )
    first_byte: timedelta = setting(
        Seconds(0.1, 3600),
        timedelta(seconds=10),
        "How long a new connection may stay silent.",
        key="first_byte_seconds",
    )
    head: timedelta = setting(
        Seconds(0.1, 3600),
        timedelta(seconds=30),
        "How long the head of a request may take, from its first byte. With TLS, the handshake counts.",
        key="head_seconds",
    )
    body: timedelta = setting(
        Seconds(0.1, 3600),
        timedelta(seconds=30),
        "How long the body of a request may take, from the end of its head.",
        key="body_seconds",
    )
    idle: timedelta = setting(
        Seconds(0.1, 3600),
        timedelta(seconds=60),
        "How long a connection is kept open for its next request.",
        key="idle_seconds",
    )
    connections_per_address: int | None = setting(
        Maybe("off", Whole(1, 10**6)),
        512,
        "How many connections one address may hold (of IPv6: one /64 network).",
    )
    connections_max: int = setting(
        Whole(16, 10**6),
        10_000,
        "How many connections all addresses may hold together. The limit of open files may lower it.",
    )
