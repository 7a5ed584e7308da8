"""Copies of a process (os.fork, multiprocessing): none changes, takes or waits for what belongs to another one."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys

import pyarrow as pa
import pytest

import amudai

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")

ROWS = 200_000

BEGIN = """
import gc, multiprocessing, os, sys, threading, time
import pyarrow as pa
import amudai
from amudai import _session

table = amudai.open([sys.argv[1]] * 3)
ROWS = 3 * int(sys.argv[2])

def right(got, first=0):
    '''Whether rows have their values: the numbers from first on, and their sevenfolds.'''
    numbers = pa.array(range(first, first + got.num_rows)).to_numpy() % (ROWS // 3)
    row, seven = (got.column(n).to_numpy() for n in ("row", "seven"))
    return bool((row == numbers).all() and (seven == 7 * numbers).all())

def fork(child):
    '''Runs a function in a copy, and exits with 1 if it fails.'''
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        status = 0 if child() else 1
    finally:
        os._exit(status)

def ended(pid):
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("fork") / "numbers.amudai.shard"
    amudai.write(pa.table({"row": range(ROWS), "seven": range(0, 7 * ROWS, 7)}), path)
    return str(path)


def run(script: str, *arguments: str) -> str:
    """Runs a script, which must not take longer than a minute, and leaves no process behind."""
    with subprocess.Popen(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", BEGIN + script, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        try:
            out, err = process.communicate(timeout=60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, err
    return out + err


SCRIPTS = {
    # The batches that a copy has do not change while the other process reads on and lets go of its own.
    "batches": """
reader = table.scan()
kept = [reader.read_next_batch() for _ in range(3)]
begin, go = os.pipe()
def child():
    os.read(begin, 1)
    return right(pa.Table.from_batches(kept))
pid = fork(child)
del kept
gc.collect()
rest = [b for b in reader]
del rest
amudai.open(sys.argv[1]).to_arrow()
os.write(go, b"x")
ended(pid)
""",
    # The same of a table whose process waits for requests, or has ended.
    "tables": """
for wait in (False, True):
    kept = table.to_arrow()
    if wait:
        _session.idle.clear()
    begin, go = os.pipe()
    def child():
        os.read(begin, 1)
        return right(kept) and right(table.to_arrow()) and right(kept)
    pid = fork(child)
    del kept
    gc.collect()
    for _ in range(3):
        assert right(table.to_arrow())
    os.write(go, b"x")
    ended(pid)
""",
    # What a copy reads, keeps and ends changes nothing of the process that it is a copy of, nor of its own copy.
    "the other way": """
kept = table.to_arrow()
reader = table.scan()
first = reader.read_next_batch()
def grandchild(own):
    return right(own) and right(kept) and right(table.to_arrow())
def child():
    global kept, reader, first
    own = table.to_arrow()
    pid = fork(lambda: grandchild(own))
    del kept, reader, first
    gc.collect()
    good = right(table.to_arrow())
    ended(pid)
    return good and right(own)
ended(fork(child))
assert right(kept) and right(first)
assert first.num_rows + sum(b.num_rows for b in reader) == ROWS
""",
    # A reader is that of its process: a copy that uses it gets an error, and takes no rows away.
    "readers": """
from pyarrow import compute as pc
def readers():
    return [table.scan(), table.scan(where=pc.field("row") * 2 >= 0), table.scan(limit=ROWS - 1)]
for reader in readers():
    first = reader.read_next_batch()
    def child():
        try:
            reader.read_next_batch()
        except amudai.AmudaiError as e:
            return "scan again" in str(e)
    ended(fork(child))
    assert first.num_rows + sum(b.num_rows for b in reader) >= ROWS - 1
""",
    # Processes of multiprocessing read tables of their own, by a table that they have copied or that was sent to them.
    "multiprocessing": """
def count(numbers):
    first, rows = numbers
    return table.to_arrow(rows=slice(first, first + rows)).column("row").to_pylist() == [
        n % (ROWS // 3) for n in range(first, first + rows)]
def send(t):
    return right(t.to_arrow())
if __name__ == "__main__":
    reader = table.scan()
    reader.read_next_batch()
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert all(pool.map(count, [(i * 50_000, 20_000) for i in range(12)]))
        assert all(pool.map(send, [table] * 3))
    from concurrent.futures import ProcessPoolExecutor
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        assert all(pool.map(count, [(0, 1000)] * 4))
    assert right(table.to_arrow())
""",
    # Copies are made while threads begin, read and end scans.
    "threads": """
assert right(table.to_arrow(limit=10))  # so that pyarrow has imported all that it needs: a copy would wait for a lock of imports
wrong, done = [], threading.Event()
def scan():
    while not done.is_set():
        if not right(table.to_arrow(limit=50_000)):
            wrong.append("other rows")
        table.scan()
threads = [threading.Thread(target=scan) for _ in range(3)]
for t in threads:
    t.start()
kept = table.to_arrow()
def child():
    return right(kept) and amudai.open(sys.argv[1]).num_rows == ROWS // 3
for _ in range(10):
    ended(fork(child))
done.set()
for t in threads:
    t.join()
assert not wrong and right(kept)
""",
    # A copy that lives on keeps no process of the other one alive, nor its end waiting.
    "copies that live on": """
reader = table.scan()
reader.read_next_batch()
table.plan()
running = [_session.idle._session._process, *[p for p in amudai._process._forked if isinstance(p, amudai._process.Process)]]
stop, go = os.pipe()
def child():
    os.close(go)
    return os.read(stop, 1) == b""
pid = fork(child)
begin = time.monotonic()
del reader
_session.idle.clear()
assert time.monotonic() - begin < 1.5, time.monotonic() - begin
assert all(p.poll() is not None for p in running)
os.close(go)
ended(pid)
""",
    # Data that are made by copies, while they are written.
    "write": """
import tempfile
folder = tempfile.mkdtemp()
left = []
def batches():
    for i in range(40):
        stop, go = os.pipe()
        def child():
            os.close(go)
            os.read(stop, 1)
            return True
        left.append((fork(child), go))
        os.close(stop)
        yield pa.record_batch({"a": pa.array(range(i * 10_000, (i + 1) * 10_000))})
path = os.path.join(folder, "t.amudai.shard")
amudai.write(pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches()), path)
for pid, go in left:
    os.close(go)
for pid, go in left:
    ended(pid)
assert amudai.open(path).to_arrow().column("a").to_pylist() == list(range(400_000))
def failing():
    yield pa.record_batch({"a": pa.array([1, 2, 3])})
    pid = os.fork()
    if pid == 0:
        raise KeyError("of the copy")  # which goes on with all of the other one's stack
    os.waitpid(pid, 0)
    yield pa.record_batch({"a": pa.array([4])})
path = os.path.join(folder, "u.amudai.shard")
try:
    amudai.write(pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), failing()), path)
except KeyError:
    os._exit(3)
assert amudai.open(path).to_arrow().column("a").to_pylist() == [1, 2, 3, 4]
""",
    # A copy warns of nothing that is the other one's, and ends without a word.
    "silent ends": """
import warnings
warnings.simplefilter("always")
kept, reader = table.to_arrow(), table.scan()
reader.read_next_batch()
if os.fork() == 0:
    assert table.to_arrow(limit=3).num_rows == 3
    sys.exit(0)  # with all that runs at the end of Python
assert os.wait()[1] == 0
assert sum(b.num_rows for b in reader) < ROWS
del reader
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_fork(numbers: str, name: str) -> None:
    assert run(SCRIPTS[name], numbers, str(ROWS)) == ""


def test_many_copies(numbers: str) -> None:
    """Each copy of a long scan keeps what there was at its time, and all is given back at the end."""
    script = """
sizes = []
for _ in range(5):
    for batch in table.scan():
        ended(fork(lambda: True))
    del batch
    gc.collect()
    _session.idle.clear()
    sizes.append(sum("memfd:amudai" in line for line in open("/proc/self/maps")))
assert sizes == [0] * 5, sizes
"""
    assert run(script, numbers, str(ROWS)) == ""
