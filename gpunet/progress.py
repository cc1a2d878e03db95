"""Runs long work so that a person sees it move and can stop it at once."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TextIO, TypeVar

T = TypeVar("T")
Tell = Callable[[str], None]
QUIET_S = 1.0
"""Seconds of work that pass without a word."""
_TICK_S = 0.1
_STDOUT = 1


class _Work(threading.Thread):
    """The work in a thread of its own: a solver's native code would keep Ctrl-C from the main thread."""

    def __init__(self, work: Callable[[Tell], object]) -> None:
        super().__init__(daemon=True, name="gpunet-work")
        self._do = work
        self.said = "working"
        self.done = threading.Event()
        self.result: object = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self._do(self.say)
        except BaseException as error:
            # Kept for the main thread, which raises it.
            self.error = error
        finally:
            self.done.set()

    def say(self, text: str) -> None:
        self.said = text


def run(work: Callable[[Tell], T], stream: TextIO | None = None) -> T:
    """The result of ``work``, which is given a function to tell what it is at.

    After a second a line on ``stream`` (standard error) says so, if that is a terminal. Whatever native code prints to
    standard output meanwhile is dropped, for only results belong there. Raises what ``work`` raises, and
    ``KeyboardInterrupt`` at once, with the work still running: the process must then end by ``os._exit``.
    """
    stream = stream or sys.stderr
    worker = _Work(work)
    with _silent_stdout():
        worker.start()
        # Waiting in ticks: on some systems a wait without an end cannot be interrupted.
        finished = _wait(worker, QUIET_S)
        if not finished:
            with _shown(worker, stream) as tick:
                while not _wait(worker, _TICK_S):
                    tick()
    worker.join()
    if worker.error is not None:
        raise worker.error
    return worker.result  # type: ignore[return-value]


def _wait(worker: _Work, seconds: float) -> bool:
    return any(worker.done.wait(_TICK_S) for _ in range(max(1, round(seconds / _TICK_S))))


@contextlib.contextmanager
def _shown(worker: _Work, stream: TextIO | None) -> Iterator[Callable[[], None]]:
    """A moving line on a terminal; nothing elsewhere."""
    if stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(file=stream, highlight=False, markup=False)
    columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(worker.said, total=None)
        yield lambda: progress.update(task, description=worker.said)


@contextlib.contextmanager
def _silent_stdout() -> Iterator[None]:
    """Send what native code writes to the file of standard output nowhere."""
    try:
        saved = os.dup(_STDOUT)
    except OSError:  # standard output is closed
        yield
        return
    if sys.stdout is not None:
        sys.stdout.flush()
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), _STDOUT)
        yield
    finally:
        _flush_native()
        os.dup2(saved, _STDOUT)
        os.close(saved)


def _flush_native() -> None:
    """Empty the buffers of the C library, which would otherwise be written once the way is open again."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).fflush(None)
