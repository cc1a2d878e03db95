"""Results are written all or not at all, and nothing of the user's is lost."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gpunet import files
from gpunet.files import OutputError, write_all, write_new


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every path under a folder with its bytes; none for a directory."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture
def used(tmp_path: Path) -> Path:
    """A directory with a result of an earlier run and a file of the user's."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "bom.csv").write_text("old bill")
    (folder / "racks.csv").write_text("old racks")
    (folder / "notes.txt").write_text("mine")
    return folder


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """The operating system refuses to let any file grow past a size, as a quota or a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_all_files_are_written_and_others_left_alone(used: Path) -> None:
    """Text, bytes and functions are written; replaced files are new, the user's file is as it was."""
    paths = write_all(
        used, {"bom.csv": "new é\n", "racks.csv": b"\x00\r\n", "c.csv": lambda path: path.write_text("c")}
    )
    assert paths == [used / "bom.csv", used / "racks.csv", used / "c.csv"]
    assert snapshot(used) == {
        "bom.csv": "new é\n".encode(),
        "racks.csv": b"\x00\r\n",
        "c.csv": b"c",
        "notes.txt": b"mine",
    }


def test_a_file_in_a_folder_is_written_and_one_elsewhere_is_not(used: Path) -> None:
    """One folder deep and no further; where a file cannot be written, no folder is left behind."""
    assert write_all(used, {"2027/x": "1", "y": "2"}) == [used / "2027" / "x", used / "y"]
    before = snapshot(used)
    for name in ("a/b/c", "../x", "/x", "a/..", "./x", "a/"):
        with pytest.raises(OutputError, match="no plain file name"):
            write_all(used, {name: "1"})

    def broken(path: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with pytest.raises(OutputError, match="no space left"):
        write_all(used, {"2027/x": "new", "2028/x": "new", "2028/z": broken})
    assert snapshot(used) == before


def test_a_missing_directory_is_made(tmp_path: Path) -> None:
    """Parents too."""
    write_all(tmp_path / "a" / "b", {"x": "1"})
    assert snapshot(tmp_path) == {"a": None, "a/b": None, "a/b/x": b"1"}


def test_written_files_have_ordinary_permissions(tmp_path: Path) -> None:
    """Colleagues may read a result: the private workspace leaves no private files."""
    before = os.umask(0o022)
    try:
        write_all(tmp_path, {"x": "1"})
    finally:
        os.umask(before)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o644


def test_a_disk_that_fills_changes_nothing(used: Path) -> None:
    """The second file does not fit: the first is not replaced either."""
    before = snapshot(used)
    with largest_file(1000), pytest.raises(OutputError) as caught:
        write_all(used, {"bom.csv": "new", "racks.csv": "x" * 5000})
    assert caught.value.render() == f"{used}/racks.csv: cannot be written: file too large; nothing was changed"
    assert snapshot(used) == before


def test_a_disk_that_is_full_only_at_the_flush_changes_nothing(used: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Delayed allocation tells of a full disk at fsync."""

    def full(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    before = snapshot(used)
    with pytest.raises(OutputError, match=r"bom\.csv: cannot be written: no space left on device; nothing was changed"):
        write_all(used, {"bom.csv": "new"})
    with pytest.raises(OutputError, match="no space left on device"):
        write_new(used / "case.yaml", "cluster: {}")
    assert snapshot(used) == before


@pytest.mark.parametrize("failing", ["bom.csv", "fresh.csv", "racks.csv"])
@pytest.mark.parametrize("hard_links", [True, False])
def test_a_failure_while_moving_puts_everything_back(
    used: Path, monkeypatch: pytest.MonkeyPatch, failing: str, hard_links: bool
) -> None:
    """Whichever rename is refused, the old files come back and new ones go, with and without hard links."""
    replace = os.replace

    def refuse(source: Path, target: Path) -> None:
        if Path(target).name == failing and Path(source).parent.name == "new":
            raise PermissionError(errno.EACCES, "Permission denied")
        replace(source, target)

    def no_links(*_paths: Path, follow_symlinks: bool) -> None:  # noqa: ARG001
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(files.os, "replace", refuse)
    if not hard_links:
        monkeypatch.setattr(files.os, "link", no_links)
    before = snapshot(used)
    with pytest.raises(OutputError, match=rf"{failing}: cannot be written: permission denied; nothing was changed"):
        write_all(used, {"bom.csv": "new", "fresh.csv": "new", "racks.csv": "new"})
    assert snapshot(used) == before


def test_an_interrupt_changes_nothing(tmp_path: Path, used: Path) -> None:
    """Ctrl-C while a report is written leaves no trace, not even the directory that was made for it."""

    def interrupted(path: Path) -> None:
        path.write_text("half")
        raise KeyboardInterrupt

    before = snapshot(tmp_path)
    for folder in (used, tmp_path / "fresh" / "deep"):
        with pytest.raises(KeyboardInterrupt):
            write_all(folder, {"bom.csv": "new", "racks.csv": interrupted})
    assert snapshot(tmp_path) == before


def test_a_file_in_the_way_of_the_directory(used: Path) -> None:
    """``-o notes.txt`` is refused, and so is a directory below a file."""
    before = snapshot(used)
    with pytest.raises(OutputError, match=r"notes\.txt: a file stands where the directory should go; nothing"):
        write_all(used / "notes.txt", {"x": "1"})
    with pytest.raises(OutputError, match=r"notes\.txt/deep: cannot be written: not a directory; nothing"):
        write_all(used / "notes.txt" / "deep", {"x": "1"})
    assert snapshot(used) == before


def test_a_directory_in_the_way_of_a_file(used: Path) -> None:
    """A directory named like a result is never replaced."""
    (used / "design.json").mkdir()
    before = snapshot(used)
    with pytest.raises(OutputError, match=r"design\.json: a directory stands where the file should go; nothing"):
        write_all(used, {"bom.csv": "new", "design.json": "{}"})
    assert snapshot(used) == before


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b/c", "/tmp/x"])
def test_only_plain_names_are_taken(used: Path, name: str) -> None:
    """No result leaves its directory."""
    before = snapshot(used.parent)
    with pytest.raises(OutputError, match="is no plain file name"):
        write_all(used, {name: "x"})
    assert snapshot(used.parent) == before


def test_names_that_the_system_refuses(tmp_path: Path) -> None:
    """A null character or an endless name is a message, not a traceback."""
    for folder in (tmp_path / "a\0b", tmp_path / ("a" * 5000), Path("/proc/gpunet")):
        with pytest.raises(OutputError, match="cannot be written"):
            write_all(folder, {"x": "1"})
        with pytest.raises(OutputError, match="cannot be written"):
            write_new(folder / "x", "1")


def test_a_mistake_in_a_writer_is_not_hidden(used: Path) -> None:
    """An error that is no matter of files comes out as it is, and still nothing is changed."""

    def broken(_path: Path) -> None:
        raise ZeroDivisionError

    before = snapshot(used)
    with pytest.raises(ZeroDivisionError):
        write_all(used, {"bom.csv": "new", "racks.csv": broken})
    assert snapshot(used) == before


def test_a_new_file_never_overwrites(used: Path) -> None:
    """``gpunet init`` writes where nothing is, and refuses where something is, be it a dangling link."""
    assert write_new(used / "case.yaml", "a: é\n").read_bytes() == "a: é\n".encode()
    (used / "dangling.yaml").symlink_to(used / "nowhere")
    before = snapshot(used)
    for name in ("case.yaml", "dangling.yaml", "notes.txt"):
        with pytest.raises(OutputError, match=f"{name}: exists already; give another name or remove it first; nothing"):
            write_new(used / name, "b: 2\n")
    with pytest.raises(OutputError, match=r"missing/case\.yaml: cannot be written: no such file or directory"):
        write_new(used / "missing" / "case.yaml", "b: 2\n")
    assert snapshot(used) == before
