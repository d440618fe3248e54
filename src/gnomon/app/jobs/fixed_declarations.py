"""The part of an app that declares HTTP calls and scripts as jobs."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

import msgspec

from gnomon.app.jobs.declaration import Declaration, JobOptions
from gnomon.app.jobs.fixed_job import FixedJob
from gnomon.app.jobs.fixed_work import FixedWork, http_work, script_work
from gnomon.app.jobs.job_call import JobConnector
from gnomon.errors import GnomonError


class DeclaresCalls(JobConnector):
    """Jobs that call no function of the app."""

    @abstractmethod
    def add_fixed(self, job: FixedJob) -> None:
        """Keep a job that was declared. Raises InvalidInput if its name is taken."""

    def http_job(
        self,
        name: str,
        url: str,
        *,
        method: str | None = None,
        headers: Mapping[str, str] | None = None,
        body: str | None = None,
        json: Any = msgspec.UNSET,
        expected_status: Sequence[int | str] | None = None,
        follow_redirects: bool = False,
        **options: Unpack[JobOptions],
    ) -> FixedJob:
        """Declare a call of an HTTP endpoint as a job. Raises InvalidInput for what cannot be.

        Arguments of a run go over `json`. `timeout` is for the whole call. The other options are those of
        `@app.job`; docs/reference/python.md describes each of them.
        """

        def work() -> FixedWork:
            return http_work(
                url,
                method=method,
                headers=headers,
                body=body,
                json=json,
                expected_status=expected_status,
                follow_redirects=follow_redirects,
                timeout=options.get("timeout"),
            )

        return self._add(name, work, options)

    def script_job(
        self,
        name: str,
        script: str | None = None,
        *,
        command: Sequence[str] | None = None,
        interpreter: str | Sequence[str] | None = None,
        env: Mapping[str, str] | None = None,
        arguments: Mapping[str, Any] | None = None,
        **options: Unpack[JobOptions],
    ) -> FixedJob:
        """Declare a script, or a program and its words (`command`), as a job.

        Without an `interpreter`, a script is run by `sh -eu`. Arguments of a run go over `arguments`. The
        other options are those of `@app.job`. Raises InvalidInput for what cannot be.
        """

        def work() -> FixedWork:
            return script_work(script, command=command, interpreter=interpreter, env=env, arguments=arguments)

        return self._add(name, work, options)

    def _add(self, name: str, work: Callable[[], FixedWork], options: JobOptions) -> FixedJob:
        try:
            job = FixedJob(self, name, work(), Declaration(**options))
            self.add_fixed(job)
        except GnomonError as error:
            error.add_note(f"That is about the job {name!r} in {sys._getframe(2).f_globals['__name__']!r}.")
            raise
        return job
