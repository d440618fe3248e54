"""Orders that are sent to a partner over HTTP: calls with retries, and a dead letter for what is refused.

The partner is in this file, too. It is down for the first two calls, and refuses order 13 until it is told to
take it. Start the partner, and Gnomon with this app, in this folder, each in its own terminal. Jobs may not
call addresses of this machine unless a setting allows it:

    python http_orders.py
    GNOMON_HTTP_ALLOW=127.0.0.1 gnomon up --app http_orders:app

In another terminal, send an order. The third attempt succeeds:

    gnomon job trigger order --input '{"number": 12}' --wait

A 422 is not tried again, since the next answer would be the same. The run fails, and becomes a dead letter:

    gnomon job trigger order --input '{"number": 13}' --wait || echo "It failed."
    gnomon dlq list

Tell the partner to take it, and send the dead letter again:

    curl --silent --request PUT http://127.0.0.1:8099/orders/13
    gnomon dlq redrive --job order
    gnomon run list --job order
"""

from __future__ import annotations

import json
import os
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import ClassVar

from gnomon import Backoff, Gnomon, RetryPolicy

PORT = int(os.environ.get("PARTNER_PORT", "8099"))

app = Gnomon()

order = app.http_job(
    "order",
    f"http://127.0.0.1:{PORT}/orders",
    json={"number": 0},
    retry=RetryPolicy(max_attempts=5, backoff=Backoff.FIXED, backoff_base=timedelta(seconds=1)),
    timeout=5,
)


class Partner(BaseHTTPRequestHandler):
    """Answers 503 twice, then takes every order but those that it refuses."""

    calls_until_up: ClassVar = 2
    refused: ClassVar = {13}

    def do_POST(self) -> None:
        number = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["number"]
        if Partner.calls_until_up > 0:
            Partner.calls_until_up -= 1
            self._answer(503, error="down for maintenance")
        elif number in Partner.refused:
            self._answer(422, error=f"order {number} is not complete")
        else:
            self._answer(201, taken=number)

    def do_PUT(self) -> None:
        number = int(self.path.rpartition("/")[2])
        Partner.refused.discard(number)
        self._answer(200, takes=number)

    def _answer(self, status: int, **fields: object) -> None:
        body = json.dumps(fields).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    with HTTPServer(("127.0.0.1", PORT), Partner) as partner:
        print(f"The partner listens at port {PORT}.", flush=True)
        partner.serve_forever()
