"""Processes end with what they were started for, and leave nothing."""

from __future__ import annotations

import errno
import gc
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import Mock

import pyarrow as pa
import pytest
from conftest import same

import amudai
from amudai import _command, _process, _session


def children(of: int = 0) -> list[str]:
    """The processes that one has started, with those that nobody has waited for."""
    command = ["ps", "-o", "pid=,stat=,comm=", "--ppid", str(of or os.getpid())]
    listed = subprocess.run(command, capture_output=True, text=True).stdout
    return [line for line in listed.splitlines() if "amudai" in line]


@pytest.fixture(autouse=True)
def nothing_left(folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    temp = tmp_path_factory.mktemp("temp")  # that of the machine is of others, too
    monkeypatch.setenv("TMPDIR", str(temp))
    monkeypatch.setattr(tempfile, "tempdir", str(temp))
    _session.idle.clear()
    yield
    gc.collect()
    _session.idle.clear()
    assert children() == []
    assert list(temp.iterdir()) == []


def test_readers_that_are_left(shard: str) -> None:
    """Batches of one row keep the process in the middle of its work."""
    opened = amudai.open([shard] * 50)
    reader = opened.scan()
    reader.read_next_batch()
    assert len(children()) == 1
    reader.close()
    del reader
    gc.collect()
    assert children() == []
    opened.scan()  # nobody looks at it
    gc.collect()
    assert children() == []
    for _ in opened.scan():
        break
    gc.collect()


def test_killed(shard: str) -> None:
    reader = amudai.open([shard] * 50).scan()
    reader.read_next_batch()
    (child,) = children()
    os.kill(int(child.split()[0]), signal.SIGKILL)
    with pytest.raises((amudai.AmudaiError, pa.ArrowInvalid, OSError)):
        reader.read_all()


def test_data_that_fail() -> None:
    def batches(n: int) -> Iterator[pa.RecordBatch]:
        for _ in range(n):
            yield pa.record_batch({"a": pa.array(range(100_000))})
        raise KeyError("broken")

    for n in (0, 1, 5):
        reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches(n))
        with pytest.raises(KeyError, match="broken"):
            amudai.write(reader, "t.amudai.shard")
        assert list(Path.cwd().iterdir()) == []


def test_write_that_is_refused(shard: str) -> None:
    with pytest.raises(amudai.AmudaiError, match="no-such"):
        amudai.write(amudai.open(shard).scan(), "t.amudai.shard", profile="no-such")
    with pytest.raises(amudai.AmudaiError):
        amudai.write(amudai.open(shard).scan(), "no/such/folder/t.amudai.shard")
    assert list(Path.cwd().iterdir()) == []


def test_full_disk(shard: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with pytest.raises(amudai.AmudaiError, match="no space left"):
        amudai.write(amudai.open(shard).scan(), "/dev/full", to="csv")


@pytest.mark.skipif(not _session.shares, reason="no shared memory")
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM, errno.EMFILE])
def test_memory_that_is_refused(shard: str, table: pa.Table, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Where files in memory are forbidden, batches come through a pipe."""
    monkeypatch.setattr(os, "memfd_create", Mock(side_effect=OSError(number, os.strerror(number))))
    opened = amudai.open(shard)
    assert same(opened.to_arrow(), table)
    assert opened.take([5, 1]).column("row").to_pylist() == [5, 1]
    _session.idle.clear()


def test_no_temporary_folder(shard: str, table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/no/such/folder")
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/no/such/folder"])
    with pytest.raises(FileNotFoundError):
        tempfile.gettempdir()
    assert same(amudai.open(shard).to_arrow(), table)
    amudai.write(table, "t.amudai.shard", index=["s"])
    assert same(amudai.open("t.amudai.shard").to_arrow(), table)
    with pytest.raises(amudai.AmudaiError, match="no-such"):
        amudai.write(table, "u.amudai.shard", profile="no-such")


@pytest.mark.skipif(os.name != "posix", reason="descriptors of Unix")
@pytest.mark.parametrize("closed", [[0], [0, 1, 2]])
def test_closed_descriptors(shard: str, closed: list[int]) -> None:
    """The numbers of stdin, stdout and stderr may be those of pipes and files in memory."""
    code = f"import os\nfor n in {closed}:\n    os.close(n)\n"
    code += f"import amudai\nt = amudai.open({shard!r})\ngot = t.to_arrow()\n"
    code += "amudai.write(got, 'copy.amudai.shard')\namudai.write(t.scan(), 'again.amudai.shard')\n"
    subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=60, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    for name in ("copy", "again"):
        assert same(amudai.open(f"{name}.amudai.shard").to_arrow(), amudai.open(shard).to_arrow())


def test_no_working_folder(shard: str, table: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert same(amudai.open(shard).to_arrow(), table)
    monkeypatch.chdir(tmp_path)


def test_threads(shard: str, table: pa.Table) -> None:
    opened = amudai.open(shard)
    wrong: list[object] = []

    def scan() -> None:
        if not same(opened.to_arrow(), table):
            wrong.append("other rows")

    threads = [threading.Thread(target=scan) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_interrupt(shard: str) -> None:
    """Ctrl-C in the middle of a scan ends both processes."""
    code = f"import amudai\nr = amudai.open([{shard!r}] * 50).scan()\n"
    code += "import time\nprint(r.read_next_batch().num_rows, flush=True)\ntime.sleep(60)"
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout
    assert int(process.stdout.readline()) > 0
    (child,) = children(process.pid)
    os.killpg(process.pid, signal.SIGINT)
    assert process.wait(20) != 0
    process.stdout.close()
    deadline = time.monotonic() + 10
    while subprocess.run(["ps", "--pid", child.split()[0]], capture_output=True).returncode == 0:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_program(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _command.run(["version"]).startswith(b"amudai ")
    Path("plain").write_text("")
    Path("other").write_bytes(b"\x7fELF of no machine")
    Path("other").chmod(0o755)
    try:
        reasons = {"/no/such/program": "No such file", "./plain": "Permission denied", "./other": "Exec format error"}
        for path, why in reasons.items():
            _process.program.cache_clear()
            monkeypatch.setenv("AMUDAI_PROGRAM", path)
            with pytest.raises(amudai.AmudaiError, match=f"{path} cannot be run: {why}.*AMUDAI_PROGRAM"):
                _command.run(["version"])
    finally:
        _process.program.cache_clear()


def test_program_of_a_wheel_without_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that is read-only keeps a program from becoming one. The start says so."""
    packed = Path("amudai/bin/amudai").absolute()
    packed.parent.mkdir(parents=True)
    packed.write_text("")
    monkeypatch.delenv("AMUDAI_PROGRAM", raising=False)
    monkeypatch.setattr(_process, "__file__", str(packed.parent.parent / "_process.py"))
    monkeypatch.setattr(Path, "chmod", Mock(side_effect=OSError(errno.EROFS, "Read-only file system")))
    try:
        _process.program.cache_clear()
        with pytest.raises(amudai.AmudaiError, match="cannot be run: Permission denied"):
            _command.run(["version"])
    finally:
        _process.program.cache_clear()
