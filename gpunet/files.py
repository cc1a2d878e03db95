"""Writes results: all files of a set or none, and nothing of the user's lost on the way."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

Content = str | bytes | Callable[[Path], object]
"""Text, bytes, or a function that writes a file at the path it is given."""


class OutputError(Exception):
    """A file that could not be written. Whatever stood there before stands there still."""

    def __init__(self, path: Path, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(self.render())

    def render(self) -> str:
        """One line that says which file, why, and that nothing was changed."""
        return f"{self.path}: {self.reason}; nothing was changed"


def write_all(directory: str | Path, contents: Mapping[str, Content]) -> list[Path]:
    """Write files by name into a directory, which is made where it is missing; give back their paths.

    A name may begin with one folder, as in ``2027Q1/design.json``, which is made as well. Everything is written and
    flushed to disk beside the targets first and takes its place only then, so either all files are new or all are as
    before. Other files in the directory are left alone. Raises ``OutputError``.
    """
    folder = Path(directory)
    targets = {name: folder / name for name in contents}
    for name, target in targets.items():
        if not _is_plain(name):
            raise OutputError(target, f"{name!r} is no plain file name")
    with contextlib.ExitStack() as made:
        for place in dict.fromkeys((folder, *(target.parent for target in targets.values()))):
            made.enter_context(_made(place))
        for target in targets.values():
            if target.is_dir():
                raise OutputError(target, "a directory stands where the file should go")
        with _workspace(folder) as workspace:
            for name, content in contents.items():
                with _told(targets[name]):
                    _write(workspace / "new" / name, content)
            _replace(targets, workspace)
    return list(targets.values())


def _is_plain(name: str) -> bool:
    """Whether a name is that of a file, or of a file in one folder."""
    *folders, last = name.split("/")
    return len(folders) <= 1 and all(x not in {"", ".", ".."} and Path(x).name == x for x in (*folders, last))


def write_new(path: str | Path, text: str) -> Path:
    """Write a text file that must not exist yet. Raises ``OutputError``."""
    target = Path(path)
    with _told(target):
        try:
            stream = target.open("xb")
        except FileExistsError:
            raise OutputError(target, "exists already; give another name or remove it first") from None
        try:
            with stream:
                _write_through(stream, text.encode())
        except BaseException:
            target.unlink(missing_ok=True)
            raise
    return target


@contextlib.contextmanager
def _told(target: Path) -> Iterator[None]:
    """Turn an error of the operating system into one for people."""
    if "\0" in str(target):
        raise OutputError(Path(str(target).replace("\0", "?")), "cannot be written: a null character in the name")
    try:
        yield
    except OSError as error:
        raise OutputError(target, f"cannot be written: {(error.strerror or str(error)).lower()}") from error


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[None]:
    """The directory with its parents, removed again where the work inside fails and it was not there before."""
    missing: list[Path] = []
    try:
        with _told(folder):
            if folder.exists() and not folder.is_dir():
                raise OutputError(folder, "a file stands where the directory should go")
            missing = [path for path in (folder, *folder.parents) if not path.exists()]
            folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for path in missing:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


@contextlib.contextmanager
def _workspace(folder: Path) -> Iterator[Path]:
    # Inside the directory, not in its parent: the directory may be a mount of its own, and renaming needs one disk.
    with _told(folder):
        workspace = Path(tempfile.mkdtemp(prefix=".gpunet-", dir=folder))
    try:
        with _told(folder):
            (workspace / "new").mkdir()
            (workspace / "old").mkdir()
        yield workspace
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


def _write(path: Path, content: Content) -> None:
    path.parent.mkdir(exist_ok=True)
    if callable(content):
        content(path)
        with path.open("r+b") as stream:
            os.fsync(stream.fileno())
    else:
        with path.open("wb") as stream:
            _write_through(stream, content.encode() if isinstance(content, str) else content)


def _write_through(stream: BinaryIO, content: bytes) -> None:
    """Write and wait for the disk: a full disk may say so only then."""
    stream.write(content)
    stream.flush()
    os.fsync(stream.fileno())


def _replace(targets: Mapping[str, Path], workspace: Path) -> None:
    """Move every new file into its place; on a failure put back what was there."""
    replaced: list[str] = []
    try:
        for name, target in targets.items():
            with _told(target):
                if target.is_symlink() or target.exists():
                    (workspace / "old" / name).parent.mkdir(exist_ok=True)
                    _keep(target, workspace / "old" / name)
                replaced.append(name)
                os.replace(workspace / "new" / name, target)
    except BaseException:
        for name in reversed(replaced):
            with contextlib.suppress(OSError):
                if os.path.lexists(workspace / "old" / name):
                    os.replace(workspace / "old" / name, targets[name])
                elif not (workspace / "new" / name).exists():
                    targets[name].unlink(missing_ok=True)
        raise


def _keep(target: Path, backup: Path) -> None:
    try:
        os.link(target, backup, follow_symlinks=False)
    except OSError:  # file systems without hard links
        shutil.copy2(target, backup, follow_symlinks=False)
