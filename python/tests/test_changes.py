"""Files that change: a table never has the schema of one version and the rows of another, and no rows are missing."""

from __future__ import annotations

import contextlib
import os
import pickle
import platform
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import same

import amudai
from amudai import _duckdb

BEFORE = pa.table({"a": range(1000), "s": ["x", "y"] * 500})
AFTER = pa.table({"b": [float(n) for n in range(1000)], "s": ["z", None] * 500})

NAMES = ["t.amudai.shard", "t.csv", "t.parquet", "t.arrow", "t.jsonl", "t.csv.gz"]


def replace(path: str, table: pa.Table = AFTER) -> None:
    """Puts another file in the place of one, as most programs do."""
    amudai.write(table, "new-" + path)
    Path("new-" + path).replace(path)


def rewrite(path: str) -> None:
    """Writes into the same file."""
    amudai.write(AFTER, "new-" + path)
    Path(path).write_bytes(Path("new-" + path).read_bytes())


def truncate(path: str) -> None:
    os.truncate(path, Path(path).stat().st_size // 2)


def reads(table: amudai.Table, path: str) -> list[Callable[[], Any]]:
    """All that reads the rows or metadata of a file after it was opened."""
    con = duckdb.connect()
    con.register("t", _duckdb.dataset(table))
    return [
        lambda: table.to_arrow(),
        lambda: table.to_arrow(limit=1),
        lambda: table.to_arrow(where="s = 'x'"),
        lambda: table.to_arrow(where=pc.utf8_length(pc.field("s")) == 1),
        lambda: table.take([3]),
        table.plan,
        table.to_polars,
        lambda: pa.table(table),
        lambda: table.scan_part(path, None).read_all(),
        lambda: con.sql("select count(s) from t").fetchall(),
        lambda: pickle.loads(pickle.dumps(table)).to_arrow(),
    ]


@pytest.mark.parametrize("change", [replace, rewrite, truncate], ids=lambda f: f.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_changed(folder: Path, name: str, change: Callable[[str], None]) -> None:
    amudai.write(BEFORE, name)
    opened = amudai.open(name)
    lazy = amudai.scan_polars(name).select(pl.len(), pl.col("s").min())
    asked = reads(opened, name)
    for read in asked:
        read()
    change(name)
    asked.append(lambda: lazy.collect())
    for read in asked:
        with pytest.raises((amudai.AmudaiError, duckdb.Error, pl.exceptions.ComputeError), match=f"{name} has changed"):
            read()
    if opened._plan["rows"] is None:
        with pytest.raises(amudai.AmudaiError, match=f"{name} has changed"):
            print(opened.num_rows)
    if change is not truncate:
        assert amudai.open(name).to_arrow().column_names == AFTER.column_names


def test_removed(folder: Path) -> None:
    amudai.write(BEFORE, "t.csv")
    opened = amudai.open("t.csv")
    Path("t.csv").unlink()
    with pytest.raises(amudai.AmudaiError, match=r"t\.csv does not exist"):
        opened.to_arrow()


def test_dask(folder: Path) -> None:
    amudai.write(BEFORE, "t.amudai.shard", stripe_rows=300)
    frame = amudai.read_dask("t.amudai.shard")
    replace("t.amudai.shard")
    with pytest.raises(amudai.AmudaiError, match="has changed"):
        frame.compute(scheduler="sync")


def test_several(folder: Path) -> None:
    """A table of a folder stays the table of the files that were there."""
    Path("in").mkdir()
    for i in range(3):
        amudai.write(BEFORE.slice(i * 100, 100), f"in/{i}[1].csv")
    for locations in ("in", "in/*.csv", ["in/0[1].csv", "in/1[1].csv", "in/2[1].csv"]):
        opened = amudai.open(locations)
        amudai.write(BEFORE, "in/9.csv")
        assert same(opened.to_arrow(), BEFORE.slice(0, 300))
        assert opened.num_rows == 300
        assert [s.location for s in opened.plan()] == [f"in/{i}[1].csv" for i in range(3)]
        assert opened.take([299]).to_pylist() == [{"a": 299, "s": "y"}]
        Path("in/9.csv").unlink()
    amudai.write(AFTER, "in/1[1].csv", force=True)
    with pytest.raises(amudai.AmudaiError, match=r"in/1\[1\]\.csv has changed"):
        opened.to_arrow()
    assert opened.scan_part("in/0[1].csv", None).read_all().num_rows == 100


def test_another_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path means another file in another folder."""
    for name, table in (("one", BEFORE), ("two", AFTER)):
        Path(name).mkdir()
        amudai.write(table, f"{name}/t.csv")
    monkeypatch.chdir("one")
    opened = amudai.open("t.csv")
    monkeypatch.chdir("../two")
    with pytest.raises(amudai.AmudaiError, match=r"t\.csv has changed"):
        opened.to_arrow()
    monkeypatch.chdir("../one")
    assert same(opened.to_arrow(), BEFORE)


def test_another_machine(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy of a file on another machine has an inode of its own."""
    amudai.write(BEFORE, "t.csv")
    sent = pickle.dumps(amudai.open("t.csv"))
    replace("t.csv", BEFORE)
    with pytest.raises(amudai.AmudaiError, match="has changed"):
        pickle.loads(sent).to_arrow()
    monkeypatch.setattr(platform, "node", lambda: "another")
    assert same(pickle.loads(sent).to_arrow(), BEFORE)


def test_empty(folder: Path) -> None:
    Path("t.csv").write_text("")
    with contextlib.suppress(amudai.AmudaiError):  # a table without columns, or none
        opened = amudai.open("t.csv")
        Path("t.csv").write_text("a\n1\n")
        with pytest.raises(amudai.AmudaiError, match="has changed"):
            opened.to_arrow()


@pytest.mark.parametrize("name", NAMES)
def test_while_it_is_read(folder: Path, name: str) -> None:
    """A file that is replaced stays as it is for those who read it. One that becomes shorter is an error, never the end."""
    rows = 300_000
    table = pa.table({"a": [n * 7919 % 1_000_003 for n in range(rows)], "s": [f"{n * 31 % 65_537} {n}" for n in range(rows)]})
    amudai.write(table, name)
    reader = amudai.open(name).scan()
    got = reader.read_next_batch().num_rows
    replace(name)
    assert got + sum(b.num_rows for b in reader) == rows
    amudai.write(table, name, force=True)
    reader = amudai.open(name).scan()
    got = reader.read_next_batch().num_rows
    size = Path(name).stat().st_size
    os.truncate(name, size // 20)
    try:
        got += sum(b.num_rows for b in reader)
    except (amudai.AmudaiError, pa.ArrowInvalid) as e:
        assert name in str(e)  # noqa: PT017 - what was read already is right
    else:
        assert got == rows


@pytest.fixture
def server() -> Iterator[tuple[dict[str, bytes], str]]:
    """Files by HTTP, with entity tags."""
    files: dict[str, bytes] = {}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self, head: bool) -> None:
            data = files[self.path[1:]]
            first, last = 0, len(data) - 1
            self.send_response(206 if (ranges := self.headers.get("Range")) else 200)
            if ranges:
                begin, end = ranges.removeprefix("bytes=").split("-")
                first, last = (int(begin), min(int(end or last), last)) if begin else (max(0, len(data) - int(end)), last)
                self.send_header("Content-Range", f"bytes {first}-{last}/{len(data)}")
            self.send_header("ETag", f'"{hash(data)}"')
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(last - first + 1))
            self.end_headers()
            if not head:
                self.wfile.write(data[first : last + 1])

        def do_GET(self) -> None:  # noqa: N802
            self.answer(False)

        def do_HEAD(self) -> None:  # noqa: N802
            self.answer(True)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as s:
        thread = threading.Thread(target=s.serve_forever)
        thread.start()
        yield files, f"http://127.0.0.1:{s.server_address[1]}"
        s.shutdown()
        thread.join()


@pytest.mark.parametrize("name", ["t.amudai.shard", "t.csv"])
def test_http(folder: Path, server: tuple[dict[str, bytes], str], name: str) -> None:
    files, url = server
    for i, table in enumerate((BEFORE, AFTER)):
        amudai.write(table, f"{i}{name}")
    files[name] = Path(f"0{name}").read_bytes()
    opened = amudai.open(f"{url}/{name}")
    assert opened.to_arrow().num_rows == 1000
    files[name] = Path(f"1{name}").read_bytes()
    for read in (opened.to_arrow, opened.plan, partial(opened.take, [1])):
        with pytest.raises(amudai.AmudaiError, match="has changed"):
            read()
