"""The steps of a study: independent, in a fixed order, in as many processes as wanted, kept in a journal.

The answer is the same for every number of processes, because every step is the same exact question asked of an equal
workbench, and results are put together in the order of the steps.
"""

from __future__ import annotations

import gc
import hashlib
import json
import multiprocessing
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from gpunet.models.case import Case
from gpunet.models.parts import Catalog
from gpunet.solver.workbench import Workbench

Tell = Callable[[str], None]
Step = Callable[..., Any]
"""A function of a module, called with the workbench and the task's arguments; it returns data for JSON."""


class Task(NamedTuple):
    """One step of a study."""

    name: str
    """What it is about, in words; unlike that of every other step."""
    step: Step
    args: tuple[Any, ...] = ()


class Finished(NamedTuple):
    """What a step found, and how many questions it asked."""

    data: Any
    solves: int


class JournalError(ValueError):
    """A journal that belongs to another study, or cannot be read."""


@dataclass
class Plan:
    """How the steps of a study are to be run."""

    jobs: int = 1
    """Processes."""
    journal: Path | None = None
    """File that keeps finished steps; those found there are not run again."""
    stop: threading.Event = field(default_factory=threading.Event)
    """Set to stop after the steps at work."""
    tell: Tell = lambda _: None


def run_tasks(bench: Workbench, study: str, tasks: Sequence[Task], plan: Plan) -> dict[str, Finished]:
    """Run every step and return the finished ones by name, in the order of the tasks.

    Some are missing when the plan was stopped. Raises JournalError, and whatever a step raises.
    """
    journal = _Journal(plan.journal, _fingerprint(bench, study))
    done = {name: found for name, found in journal.read() if any(name == t.name for t in tasks)}
    left = [task for task in tasks if task.name not in done]
    run = _here(bench, left, plan) if plan.jobs == 1 or len(left) < 2 else _in_processes(bench, left, plan)
    plan.tell(f"{study}: {len(done)} of {len(tasks)} steps")
    for name, found in run:
        done[name] = found
        journal.add(name, found)
        plan.tell(f"{study}: {len(done)} of {len(tasks)} steps, last: {name}")
    return {task.name: done[task.name] for task in tasks if task.name in done}


def _here(bench: Workbench, tasks: Sequence[Task], plan: Plan) -> Iterator[tuple[str, Finished]]:
    for task in tasks:
        if plan.stop.is_set():
            return
        yield task.name, _do(bench, task)


def _do(bench: Workbench, task: Task) -> Finished:
    bench.begin_task()
    before = bench.solves
    data = task.step(bench, *task.args)
    return Finished(data, bench.solves - before)


_own: Workbench | None = None


def _start(case: Case, catalog: Catalog, engine: str) -> None:
    global _own
    # What came with the case stays for good: the collector need not look at it again and again.
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
    _own = Workbench(case, catalog, engine)


def _do_there(task: Task) -> Finished:
    assert _own is not None
    return _do(_own, task)


def _in_processes(bench: Workbench, tasks: Sequence[Task], plan: Plan) -> Iterator[tuple[str, Finished]]:
    # A fresh interpreter each: forking a process with threads in it is not safe.
    context = multiprocessing.get_context("spawn")
    jobs = min(plan.jobs, len(tasks))
    arguments = (bench.case, bench.catalog, bench.engine.value)
    with ProcessPoolExecutor(jobs, context, initializer=_start, initargs=arguments) as pool:
        waiting = list(reversed(tasks))
        running: dict[Future[Finished], str] = {}
        while waiting or running:
            while waiting and len(running) < jobs and not plan.stop.is_set():
                task = waiting.pop()
                running[pool.submit(_do_there, task)] = task.name
            if not running:
                return
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                yield running.pop(future), future.result()


def _fingerprint(bench: Workbench, study: str) -> str:
    """What a journal must agree on to be used again: study, case, catalogue and engine."""
    text = "\n".join([study, bench.case.model_dump_json(), bench.catalog.version, bench.engine.value])
    return hashlib.sha256(text.encode()).hexdigest()


class _Journal:
    """One line of JSON per finished step, after a line that says what they belong to."""

    def __init__(self, path: Path | None, fingerprint: str) -> None:
        self._path, self._fingerprint = path, fingerprint

    def read(self) -> Iterator[tuple[str, Finished]]:
        if self._path is None:
            return
        if not self._path.exists():
            self._path.write_text(json.dumps({"study": self._fingerprint}) + "\n", encoding="utf-8")
            return
        lines = self._path.read_text(encoding="utf-8").splitlines()
        try:
            belongs = json.loads(lines[0])["study"] if lines else None
        except (ValueError, TypeError, KeyError):
            belongs = None
        if belongs != self._fingerprint:
            raise JournalError(
                f"{self._path}: not a journal of this study of this case with this catalogue and engine; "
                "name a new file, or leave --resume out"
            )
        for line in lines[1:]:
            try:
                name, data, solves = json.loads(line)
            except ValueError:
                # The last line of a run that was killed while writing it: that step is run again.
                return
            yield name, Finished(data, solves)

    def add(self, name: str, found: Finished) -> None:
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, *found]) + "\n")
