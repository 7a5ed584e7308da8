"""The process that answers requests, and batches in memory that it writes."""

from __future__ import annotations

import gc
import os
import random
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from conftest import same

import amudai
from amudai import _process, _session


def test_batches_that_are_kept(shard: str, table: pa.Table) -> None:
    """What is kept does not change while others come, whoever ends them, and stays after the reader."""
    draw = random.Random(3)
    opened = amudai.open([shard] * 10)
    kept: dict[int, pa.RecordBatch] = {}
    first = 0
    for batch in opened.scan():
        kept[first] = batch
        first += batch.num_rows
        if len(kept) > 4:
            ended = kept.pop(draw.choice(list(kept)))
            thread = threading.Thread(target=ended.__class__.slice, args=(ended, 0))
            thread.start()
            thread.join()
    assert first == 10 * table.num_rows
    del opened
    gc.collect()
    for first, batch in kept.items():
        at = first % table.num_rows
        assert same(pa.Table.from_batches([batch]), table.slice(at, batch.num_rows))


@pytest.mark.skipif(not _session.shares, reason="no shared memory")
def test_pipe(shard: str, table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """On other systems, batches come through a pipe."""
    _session.idle.clear()
    monkeypatch.setattr(_session, "shares", False)
    opened = amudai.open(shard)
    assert same(opened.to_arrow(), table)
    assert opened.take([5, 1]).column("row").to_pylist() == [5, 1]
    with pytest.raises(amudai.AmudaiError, match="nothing"):
        opened.to_arrow(where="nothing = 1")
    _session.idle.clear()


@pytest.mark.skipif(not _session.shares, reason="no shared memory")
def test_descriptors(shard: str) -> None:
    """Scans leave no descriptor open, and no memory mapped."""

    def state() -> tuple[int, int]:
        _session.idle.clear()
        gc.collect()
        with open("/proc/self/maps") as maps:  # noqa: PTH123
            return len(os.listdir("/proc/self/fd")), sum("memfd:amudai" in line for line in maps)  # noqa: PTH208

    opened = amudai.open(shard)
    before = state()
    for _ in range(3):
        opened.to_arrow()
        opened.scan().close()
        with pytest.raises(amudai.AmudaiError):
            opened.scan(where="nothing = 1")
    assert state() == before


def pid() -> int | None:
    """The process that waits for requests."""
    return _session.idle._session._process.pid if _session.idle._session else None


def test_requests_share_a_process(shard: str, table: pa.Table) -> None:
    opened = amudai.open(shard)
    first = pid()
    assert first is not None
    assert same(opened.to_arrow(), table)
    with pytest.raises(amudai.AmudaiError, match="nothing"):
        opened.scan(where="nothing = 1")
    with pytest.raises(amudai.AmudaiError, match="5000"):
        opened.take([5000])
    assert opened.take([7]).column("row").to_pylist() == [7]
    assert pid() == first


def test_two_scans_at_once(shard: str, table: pa.Table) -> None:
    opened = amudai.open([shard] * 3)
    one, other = opened.scan(), opened.scan()
    rows = [0, 0]
    for a, b in zip(one, other, strict=True):
        rows[0] += a.num_rows
        rows[1] += b.num_rows
    assert rows == [3 * table.num_rows] * 2


def test_idle_process_ends(shard: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _session.idle.clear()
    monkeypatch.setattr(_session, "IDLE", 0.05)
    amudai.open(shard)
    deadline = time.monotonic() + 20
    while pid() is not None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert amudai.open(shard).to_arrow(limit=1).num_rows == 1


def test_killed_while_idle(shard: str, table: pa.Table) -> None:
    opened = amudai.open(shard)
    idle = pid()
    assert idle is not None
    os.kill(idle, signal.SIGKILL)
    assert _session.idle._session
    _session.idle._session._process.wait()
    assert same(opened.to_arrow(), table)


def test_environment(shard: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request sees the variables and the working directory of its time."""
    assert amudai.open(shard).num_rows
    monkeypatch.setenv("AMUDAI_PARALLEL", "none")
    with pytest.raises(amudai.AmudaiError, match="AMUDAI_PARALLEL"):
        amudai.open(shard)
    monkeypatch.delenv("AMUDAI_PARALLEL")
    (tmp_path / "here.csv").write_text("a\n1\n")
    with pytest.raises(amudai.AmudaiError, match="here"):
        amudai.open("here.csv")
    monkeypatch.chdir(tmp_path)
    assert amudai.open("here.csv").num_rows == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork(shard: str, table: pa.Table) -> None:
    """The copy of a process has sessions of its own, and ends none of the other's."""
    opened = amudai.open([shard] * 20)
    reader = opened.scan()
    kept = reader.read_next_batch()
    amudai.open(shard)  # a session that is idle
    before = pid()
    child = os.fork()
    if child == 0:
        ok = pid() is None and amudai.open(shard).to_arrow(limit=10).num_rows == 10
        del reader, kept
        gc.collect()
        _session.idle.clear()
        os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert pid() == before
    assert kept.num_rows + sum(b.num_rows for b in reader) == 20 * table.num_rows


def test_older_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "amudai"
    program.write_text("#!/bin/sh\necho 'amudai: unknown command \"session\"' >&2\nexit 2\n")
    program.chmod(0o755)
    _process.program.cache_clear()
    monkeypatch.setenv("AMUDAI_PROGRAM", str(program))
    with pytest.raises(amudai.AmudaiError, match="one version"):
        amudai.open("x.csv")
    _process.program.cache_clear()


def test_error_of_shared_session(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread takes the session, and makes a request, as soon as it is idle: the error of the one before is not lost."""
    put = _session.idle.put

    def taken(session: _session.Session, of: Any) -> None:
        session.request(["help"])
        session.read_all()
        put(session, of)

    amudai.write(pa.table({"a": [1, 2]}), "t.amudai.shard")
    table = amudai.open("t.amudai.shard")
    assert table.delete("a = 1") == 1
    stale = amudai.open("t.amudai.shard")
    assert table.undelete(where="true") == 1
    monkeypatch.setattr(_session.idle, "put", taken)
    with pytest.raises(amudai.ChangedError):
        stale.to_arrow()
    with pytest.raises(amudai.AmudaiError, match="does not exist"):
        amudai.open("none.amudai.shard")
