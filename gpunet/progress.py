"""Shows a person that long work moves, and lets them stop it at once."""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TextIO, TypeVar

T = TypeVar("T")
Tell = Callable[[str], None]
QUIET_S = 1.0
"""Seconds of work that pass without a word."""
_TICK_S = 0.1
_STDOUT = 1


@contextlib.contextmanager
def shown(what: str, stream: TextIO | None = None) -> Iterator[Tell]:
    """While the work inside takes longer than a second, say on ``stream`` (standard error) what it is at.

    The work may call what it is given to say so anew. Nothing is shown where the stream is no terminal.
    """
    stream = stream or sys.stderr
    if stream is None or not stream.isatty() or os.environ.get("TERM") == "dumb":
        yield lambda _: None
        return
    line = _Line(what, stream)
    line.start()
    try:
        yield line.say
    finally:
        line.over.set()
        line.join()


def run(what: str, work: Callable[[Tell], T], stream: TextIO | None = None, stop: threading.Event | None = None) -> T:
    """The result of ``work``, which is shown as it goes on and can be interrupted wherever it is.

    Whatever native code prints to standard output meanwhile is dropped, for only results belong there. Raises what
    ``work`` raises, and ``KeyboardInterrupt`` with the work still running: the process must then end by ``os._exit``.
    So ``work`` must not write files that matter. With ``stop``, the first Ctrl-C only sets it, for work that looks at
    it to come to an end with what it has; the second is an interrupt.
    """
    with shown(what, stream) as tell, _silence:
        worker = _Work(lambda: work(tell))
        worker.start()
        # Waiting in ticks: on some systems a wait without an end cannot be interrupted.
        while worker.is_alive():
            try:
                worker.join(_TICK_S)
            except KeyboardInterrupt:
                if stop is None or stop.is_set():
                    raise
                stop.set()
                tell("stopping after the step at work")
    if worker.error is not None:
        raise worker.error
    return worker.results[0]


class _Work(threading.Thread, Generic[T]):
    """Work in a thread of its own: a solver's native code would keep Ctrl-C from the main thread."""

    def __init__(self, work: Callable[[], T]) -> None:
        super().__init__(daemon=True, name="gpunet-work")
        self._work = work
        self.results: list[T] = []
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.results.append(self._work())
        except BaseException as error:
            # Kept for the main thread, which raises it.
            self.error = error


class _Line(threading.Thread):
    """A moving line on a terminal, from the end of the quiet second until the work is over."""

    def __init__(self, what: str, stream: TextIO) -> None:
        super().__init__(daemon=True, name="gpunet-progress")
        self._what, self._stream = what, stream
        self.over = threading.Event()

    def say(self, what: str) -> None:
        self._what = what

    def run(self) -> None:
        if self.over.wait(QUIET_S):
            return
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        console = Console(file=self._stream, highlight=False, markup=False)
        columns = (SpinnerColumn("line"), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        with Progress(*columns, console=console, transient=True) as progress:
            task = progress.add_task(self._what, total=None)
            while not self.over.wait(_TICK_S):
                progress.update(task, description=self._what)


class _Silence:
    """Sends what native code writes to the file of standard output nowhere.

    Runs that overlap share one silence, from the first that asks until the last is done. If each put back what it had
    found, the one that asked second would put back the silence of the first, for good.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._asking = 0
        self._saved: int | None = None
        """Where standard output leads; none where it is closed."""

    def __enter__(self) -> None:
        with self._lock:
            if not self._asking:
                if sys.stdout is not None:
                    sys.stdout.flush()
                with contextlib.suppress(OSError):
                    self._saved = os.dup(_STDOUT)
                if self._saved is not None:
                    with open(os.devnull, "wb") as nowhere:
                        os.dup2(nowhere.fileno(), _STDOUT)
            self._asking += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._asking -= 1
            if not self._asking and self._saved is not None:
                _flush_native()
                os.dup2(self._saved, _STDOUT)
                os.close(self._saved)
                self._saved = None


_silence = _Silence()


def _flush_native() -> None:
    """Empty the buffers of the C library, which would otherwise be written once the way is open again."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).fflush(None)
