"""A fuzz of the whole API: calls drawn from its own description, good ones and bad ones, to a real node.

Judged is what may never be: a 500, a trace, an answer that is not what the description says, an error out of
its envelope.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any
from zlib import crc32

import httpx
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# The node has no scheduler. Once a job that a call made is overdue, it says so.
OVERDUE = ("GET /readyz", 503, "SCHEDULER_UNAVAILABLE")
SECRETS = ("Traceback", "asyncpg", "sqlite3", "SELECT ", "INSERT ", '.py"')
PATIENCE_SECONDS = 20.0
KNOWN_SHARE = 0.6  # How often an id is one that exists.
# What the path or the method brings before any call is known.
OF_NO_CALL = {"NOT_FOUND", "METHOD_NOT_ALLOWED", "UPGRADE_REQUIRED"}
# A stream of an execution that waits has no end. tests/integration/api fuzzes them, where they can be ended.
STREAMS = r"/stream$"


@dataclass
class Fuzz:
    """`api` is where a node with an API is; `key` opens all of it. No worker runs what it makes."""

    api: str
    key: str
    seed: int
    examples: int = 12  # Of one operation and one kind of call, before the next one has its turn.
    calls: Counter[str] = field(default_factory=Counter)
    answers: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._known = self._furnish()
        document = _without_security(httpx.get(f"{self.api}/openapi.json").json())
        self._schema: Any = schemathesis.openapi.from_dict(document).exclude(path_regex=STREAMS)
        self._schema.config.update(base_url=self.api)
        self._strategies: dict[tuple[str, GenerationMode], Any] = {}
        self._session = requests.Session()
        self._headers = {"Authorization": f"Bearer {self.key}"}

    def run(self, *, until: Callable[[], bool]) -> None:
        """Round after round over all operations. Raises what a check found, with the call made small."""
        operations = [result.ok() for result in self._schema.get_all_operations()]
        rounds = 0
        while True:
            self._random.shuffle(operations)
            for operation in operations:
                for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                    if until():
                        return
                    self._fuzz(operation, mode, rounds)
            rounds += 1

    def _fuzz(self, operation: Any, mode: GenerationMode, rounds: int) -> None:
        @seed(crc32(f"{self.seed} {operation.label} {mode} {rounds}".encode()))
        @settings(
            max_examples=self.examples,
            deadline=None,
            database=None,
            phases=[Phase.explicit, Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=self._strategy(operation, mode))
        def call(case: Any) -> None:
            self._furnished(case)
            answer = case.call(session=self._session, headers=self._headers, timeout=PATIENCE_SECONDS)
            self.calls[operation.label] += 1
            self.answers[answer.status_code] += 1
            case.validate_response(
                answer, checks=[one for one in CHECKS if self._counts(one, answer, operation)]
            )
            self._judge(answer, operation)

        with suppress(Unsatisfiable):  # There is no wrong way to call something without parameters.
            call()

    @staticmethod
    def _counts(check: Any, answer: Any, operation: Any) -> bool:
        if check is not not_a_server_error or answer.status_code != OVERDUE[1]:
            return True
        return (operation.label, answer.status_code, answer.json()["error"]["code"]) != OVERDUE

    def _strategy(self, operation: Any, mode: GenerationMode) -> Any:
        """Kept, since to make one takes longer than to call."""
        key = (operation.label, mode)
        if key not in self._strategies:
            self._strategies[key] = operation.as_strategy(generation_mode=mode)
        return self._strategies[key]

    def _furnished(self, case: Any) -> None:
        """Ids that exist, most of the time: else nearly every call would end with a 404."""
        for name in case.path_parameters or {}:
            if name in self._known and self._random.random() < KNOWN_SHARE:
                case.path_parameters[name] = self._random.choice(self._known[name])
        if isinstance(case.body, dict):
            for name, ids in self._known.items():
                if name in case.body and self._random.random() < KNOWN_SHARE:
                    case.body[name] = self._random.choice(ids)
            if case.body.get("wait_seconds"):
                case.body["wait_seconds"] = 0  # Nothing is learnt by waiting.

    def _judge(self, answer: Any, operation: Any) -> None:
        text = answer.text
        for secret in SECRETS:
            assert secret not in text, f"an answer tells too much: {text[:500]}"
        if answer.status_code >= 400:
            error = answer.json()["error"]
            assert error.keys() == {"code", "message", "details", "request_id"}
            is_named = str(answer.status_code) in operation.definition.raw["responses"]
            assert is_named or error["code"] in OF_NO_CALL, f"{operation.label} may answer {error}, unsaid"
            assert error["request_id"] == answer.headers["x-request-id"][0]

    def _furnish(self) -> dict[str, list[str]]:
        with httpx.Client(base_url=self.api, headers={"Authorization": f"Bearer {self.key}"}) as http:
            schedules: list[dict[str, object]] = [{}, {"cron": "0 9 * * *"}, {"interval_seconds": 60}]
            jobs = [
                http.post("/v1/jobs", json={"name": f"fuzz {number}", "kind": "dummy", **more}).json()
                for number, more in enumerate(schedules)
            ]
            runs = [http.post(f"/v1/jobs/{job['job_id']}/trigger").json() for job in jobs]
            ada = {"worker_id": "ada", "kinds": ["dummy"], "capacity": 10}
            http.post("/v1/workers", json=ada).raise_for_status()
            return {
                "job_id": [job["job_id"] for job in jobs],
                "execution_id": [run["execution_id"] for run in runs],
                "worker_id": ["ada"],
            }


def _without_security(document: dict[str, Any]) -> dict[str, Any]:
    """A call without a good key is not worth much. tests/integration/api/test_access.py makes those."""
    del document["components"]["securitySchemes"]
    for item in document["paths"].values():
        for operation in item.values():
            operation.pop("security", None)
    return document


def after(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() >= end
