"""Writes down what happens to workflows and their runs, from the notes that their transactions leave."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from gnomon.core.access.tenants import DEFAULT_TENANT
from gnomon.core.runs.events import name_of
from gnomon.core.workflows.dag import Dag, DagChange, NewDag, task_revision
from gnomon.core.workflows.document import read_workflow
from gnomon.core.workflows.workflow import Execute, Task
from proof.checker.history import events
from proof.simulator.recording.notes import Note
from proof.simulator.recording.told import work_of

if TYPE_CHECKING:
    from proof.simulator.recording.recorder import Recorder
    from proof.simulator.world.network import Call


class FlowRecorder:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._names: dict[tuple[UUID, int], list[str]] = {}  # By workflow and revision, its tasks.
        self._tasks: dict[tuple[UUID, int], tuple[int, str]] = {}  # By what it runs: revision and name.
        self._begun: dict[UUID, list[str]] = {}  # By run, the names of its tasks.
        self._ended: set[UUID] = set()
        self._ends: dict[UUID, int] = {}  # By execution, the transaction that ended it.
        self._cancels: set[tuple[UUID, int]] = set()

    # Definitions ---------------------------------------------------------------------------------------

    def defined(self, call: Call, dag: Dag) -> None:
        """A revision was accepted. What it is stands in the definition; only what tasks run, in the plan."""
        kept: NewDag | DagChange = call.args[0]
        written: Mapping[str, Any] = kept.definition.value  # type: ignore[assignment]
        job, rev = dag.job.id, dag.job.revision
        workflow = read_workflow(written)
        self._names[job, rev] = [task["name"] for task in written["tasks"]]
        self._recorder.stored(
            events.DagNew,
            job=str(job),
            rev=rev,
            strategy=str(workflow.failure_strategy),
            partial=workflow.allow_partial_completion,
        )
        for place, task in enumerate(written["tasks"]):
            self._task_defined(job, rev, task, workflow.tasks[place])
            work = kept.plan.task(place).work
            if isinstance(work, Execute):
                name = task["name"]
                self._tasks[job, task_revision(rev, place)] = (rev, name)
                fields = work_of(work.definition)
                self._recorder.stored(
                    events.SchedSet, job=f"{job}/{name}", rev=rev, since=call.kwargs["now"], **fields
                )

    def _task_defined(self, job: UUID, rev: int, task: Mapping[str, Any], meant: Task) -> None:
        does = next((word for word in ("fan_out", "dag", "approval", "event") if word in task), "run")
        self._recorder.stored(
            events.DagEdge,
            job=str(job),
            rev=rev,
            node=task["name"],
            parents=meant.depends_on,
            rule=str(meant.rule),
            does=does,
            conditional="condition" in task,
        )

    # Acts ------------------------------------------------------------------------------------------------

    def hear(self, call: Call, notes: Sequence[Note], error: Exception | None) -> None:
        """What a verb did, and then what its transactions noted."""
        match call.noun, call.verb:
            case "runs", "act" if error is None:
                self._acted(call, notes)
            case "executions", "cancel" if error is None:
                self._cancelled(call.args[1], notes)
            case _:
                pass
        self._tell(notes, now=call.kwargs.get("now"))

    def _acted(self, call: Call, notes: Sequence[Note]) -> None:
        _, run_id, event = call.args
        names = self._begun[run_id]
        task = getattr(event, "task", None)
        self._act(run_id, name_of(event), notes, None if task is None else names[task])

    def _cancelled(self, wanted: Collection[UUID], notes: Sequence[Note]) -> None:
        for run_id in wanted:
            if run_id in self._begun and run_id not in self._ended:
                tx = self._act(run_id, "cancel", notes)
                if tx is not None:
                    self._cancels.add((run_id, tx))

    def _act(self, run_id: UUID, act: str, notes: Sequence[Note], node: str | None = None) -> int | None:
        tx = next((note.tx for note in notes if note.dag == run_id), None)
        self._recorder.stored(events.DagAct, dag=str(run_id), act=act, node=node, tx=tx)
        return tx

    # Notes -----------------------------------------------------------------------------------------------

    def look(self, notes: Sequence[Note]) -> None:
        """Before what a verb did is written down: which transactions ended what."""
        self._ends |= {note.run: note.tx for note in notes if note.what == "ending" and note.run is not None}

    def tx_of(self, run_id: UUID) -> int | None:
        return self._ends.get(run_id)

    def _tell(self, notes: Sequence[Note], *, now: datetime | None) -> None:
        for note in notes:
            match note.what:
                case "start":
                    self._started(note)
                case "release":
                    self._released(note, now)
                case "node":
                    self._moved(note)
                case "stopped":
                    self._stopped(note)
                case _:
                    self._changed(note)

    def _started(self, note: Note) -> None:
        assert note.run is not None
        assert note.job is not None
        assert note.rev is not None
        self._begun[note.run] = self._names[note.job, note.rev]
        self._recorder.changed(events.DagStart, note.run, job=str(note.job), rev=note.rev, tx=note.tx)

    def _released(self, note: Note, now: datetime | None) -> None:
        assert note.run is not None
        assert note.dag is not None
        assert note.task is not None
        assert note.job is not None
        assert note.rev is not None
        job, rev = str(note.job), note.rev
        if (note.job, note.rev) in self._tasks:
            rev, name = self._tasks[note.job, note.rev]
            job = f"{note.job}/{name}"
        self._recorder.born(note.run, note.job, DEFAULT_TENANT, note.rev, is_noted=True)
        self._recorder.stored(
            events.DagRelease,
            run=str(note.run),
            job=job,
            rev=rev,
            dag=str(note.dag),
            node=self._begun[note.dag][note.task],
            round=note.round,
            item=note.item,
            tx=note.tx,
            run_at=now,
        )

    def _moved(self, note: Note) -> None:
        assert note.dag is not None
        assert note.task is not None
        self._recorder.stored(
            events.DagNode,
            dag=str(note.dag),
            node=self._begun[note.dag][note.task],
            state=note.word,
            round=note.round,
            tx=note.tx,
        )

    def _stopped(self, note: Note) -> None:
        """Cancelled by whoever: its workflow is gone, a newer run replaces it, or it is inside of another."""
        assert note.run is not None
        if note.word == "CANCELLED" and (note.run, note.tx) not in self._cancels:
            self._recorder.stored(events.DagAct, dag=str(note.run), act="cancel", tx=note.tx)

    def _changed(self, note: Note) -> None:
        """What a waiting run, or one of a workflow, came to. All else is told by the verb that did it."""
        run_id = note.run
        assert run_id is not None
        run = self._recorder.runs.get(run_id)
        if run is None or not run.is_noted:
            return
        if note.what == "again":
            self._ended.discard(run_id)
            run.is_over = False
            self._recorder.changed(events.DagAgain, run_id, tx=note.tx)
        elif note.what == "stop":
            run.is_cancelling = True
            self._recorder.changed(events.CancelOk, run_id)
        elif run_id in self._begun:
            self._ended.add(run_id)
            self._recorder.changed(events.DagEnd, run_id, state=note.word, tx=note.tx)
            self._recorder.over(run_id)
        elif note.item:
            self._recorder.changed(events.Cancelled, run_id, tx=note.tx)
            self._recorder.over(run_id)
