"""Runs the example notebook and keeps what it shows: ``make docs``. A test fails when it would show something else."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from jupyter_client import KernelManager
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parent / "notebook.ipynb"
_SECONDS = re.compile(r"\b\d+\.\d s\b")
_TIMEOUT_S = 300


def executed(path: Path = NOTEBOOK) -> str:
    """The notebook after a run, as text. Raises ``CellExecutionError`` for a cell that fails."""
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    # Sockets in a folder of its own: nobody else on the machine can read along, and no port is taken.
    with TemporaryDirectory() as folder:
        kernel = KernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/kernel")
        try:
            NotebookClient(notebook, km=kernel, timeout=_TIMEOUT_S, record_timing=False).execute()
        finally:
            kernel.shutdown_kernel(now=True)
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"], "language_info": {"name": "python"}}
    text: str = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    # How long a solve took is the one thing that differs from run to run.
    return _SECONDS.sub("0.0 s", text) + "\n"


if __name__ == "__main__":
    NOTEBOOK.write_text(executed(), encoding="utf-8")
