"""Changes of shards: merge, delete, columns, compact, split, relocate, versions, collect."""

from __future__ import annotations

import datetime
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import same

import amudai
from amudai import _command

ROWS = 1_000
TABLE = pa.table(
    {
        "id": pa.array(range(ROWS), pa.int64()),
        "n": pa.array([i % 7 for i in range(ROWS)], pa.int32()),
        "s": [None if i % 11 == 5 else f"text {i % 13}" for i in range(ROWS)],
        "q": pa.array([{"m": i % 3, "t": "x"} for i in range(ROWS)]),
    }
)


@pytest.fixture
def opened(folder: Path) -> amudai.Table:
    """A shard of four stripes, with indexes."""
    amudai.write(TABLE, "t.amudai.shard", stripe_rows=300, index=["s"])
    _command.run(["index", "add", "t.amudai.shard", "--type=hash", "--columns=id", "-q"])
    return amudai.open("t.amudai.shard")


def ids(table: amudai.Table, where: Any = None) -> list[int]:
    rows: list[int] = table.to_arrow(["id"], where)["id"].to_pylist()
    return rows


def ids_of(text: str) -> list[int]:
    return [i for i in range(ROWS) if TABLE["s"][i].as_py() == text]


def test_indexes(opened: amudai.Table) -> None:
    assert [(i.type, i.columns, i.together, i.stripe, i.state) for i in opened.indexes()] == [
        ("amudai-go-terms-v1", ["s"], False, None, "ready"),
        ("amudai-go-hash-v1", ["id"], False, None, "ready"),
    ]
    added = opened.add_index(key=["n", "q.m"], type="hash")[-1]
    assert (added.columns, added.together, added.bytes > 0) == (["n", "q.m"], True, True)
    added = opened.add_index(["q.t"], per_stripe=True, tokenizer="trivial")[-1]
    assert (added.stripe, added.properties["tokenizers"]) == (3, ["trivial"])
    assert ids(opened, "s = 'text 3'") == ids_of("text 3")  # the table is the new version
    with pytest.raises(amudai.AmudaiError, match="already"):
        opened.add_index(["s"])
    with pytest.raises(TypeError):
        opened.add_index("s")
    assert len(opened.drop_indexes(["q.t", "s"])) == 2
    assert opened.drop_indexes() == opened.indexes() == []
    with pytest.raises(amudai.AmudaiError, match="has no index"):
        opened.drop_indexes()


def test_search(opened: amudai.Table) -> None:
    with pytest.raises(ValueError, match="without options"):
        amudai.open("t.amudai.shard", schema="id:int32").search("text")
    with pytest.raises(TypeError, match="count"):
        opened.search("text", count=True)
    with pytest.raises(amudai.AmudaiError, match="empty"):
        opened.search("")
    for index in (True, False):
        found = opened.search("3 AND text", ["id", "s"], in_=["s"])
        assert [m.row for m in found] == [m.values["id"] for m in found] == ids_of("text 3")
        assert {(m.location, m.values["s"], m.context) for m in found} == {("t.amudai.shard", "text 3", False)}
        assert opened.search("nothing") == opened.search("--") == []
        if index:
            opened.drop_indexes()
    opened.delete(rows=[2, 4])
    assert [(m.row, m.context) for m in opened.search('"text 3"', context=1, limit=1, in_=["s"])] == [
        (1, True),
        (3, False),
        (5, True),
    ]
    other = amudai.open("t.amudai.shard")
    opened.delete("id > 900")
    with pytest.raises(amudai.ChangedError):
        other.search("text")


def test_delete(opened: amudai.Table) -> None:
    left = set(range(ROWS))
    keys = pa.table({"id": pa.array([1, 2, 2, 5_000], pa.int64())})
    changes: list[tuple[dict[str, Any], set[int]]] = [
        ({"where": "n = 3 and id < 500"}, {i for i in range(500) if i % 7 == 3}),
        ({"where": (pc.field("n") == 4) & (pc.field("id") >= 900)}, {i for i in range(900, ROWS) if i % 7 == 4}),
        ({"rows": range(10, 20)}, set(range(10, 20))),
        ({"rows": slice(990, None)}, set(range(990, ROWS))),
        ({"rows": [700, 7, 701, 7]}, {7, 700, 701}),
        ({"rows": [0, 1, 2], "where": "id = 1"}, {1}),
        ({"rows": []}, set()),
        ({"matching": keys, "on": "id"}, {1, 2}),
        ({"matching": keys.to_pandas().assign(id=[100, 101, 102, 103]), "on": ["id"]}, {100, 101, 102, 103}),
        ({"matching": pl.DataFrame({"s": ["text 7", None], "x": [1, 2]}), "on": ["s"]}, set(ids_of("text 7"))),
    ]  # fmt: skip
    for arguments, rows in changes:
        gone = rows & left
        assert opened.delete(**arguments, dry_run=True) == len(gone), arguments
        assert ids(opened) == sorted(left)
        assert opened.delete(**arguments) == len(gone), arguments
        left -= gone
        assert ids(opened) == sorted(left)
    assert opened.num_rows == len(left)
    amudai.verify("t.amudai.shard")
    assert opened.undelete(where="id >= 990") == 10
    assert opened.undelete("true") == ROWS - len(left) - 10
    assert same(opened.to_arrow(), TABLE)


def test_matching_of_tables(opened: amudai.Table) -> None:
    amudai.write(TABLE.slice(0, 10).select(["n", "id"]), "keys.csv")
    assert opened.delete(matching="keys.csv", on=["id"]) == 10
    assert opened.delete(matching=amudai.open("t.amudai.shard"), on=["id"], dry_run=True) == 990
    assert opened.undelete(matching=Path("keys.csv"), on="id") == 10


def test_rows_that_are_not_said(opened: amudai.Table) -> None:
    wrong: list[dict[str, Any]] = [
        {},
        {"where": ""},
        {"where": pc.field("n") * 2 == 4},
        {"where": (pc.field("n") * 2 == 4) & (pc.field("id") == 1)},
        {"matching": TABLE},
        {"on": "id", "where": "n = 1"},
        {"rows": [-1]},
        {"rows": range(0, 10, 2)},
    ]
    for arguments in wrong:
        with pytest.raises(ValueError):
            opened.delete(**arguments)
    with pytest.raises(TypeError):
        opened.delete(where=3)
    assert opened.delete(rows=[ROWS]) == 0
    for arguments, message in (({"where": "nothing = 1"}, "nothing"), ({"matching": TABLE, "on": "x"}, "x")):
        with pytest.raises(amudai.AmudaiError, match=message):
            opened.delete(**arguments)
    assert same(opened.to_arrow(), TABLE)


def test_columns(opened: amudai.Table) -> None:
    report = opened.add_columns({"twice": "n * 2", "q.both": "concat(s, q.t)"}, dry_run=True)
    assert isinstance(report, amudai.EditReport)
    assert report.kept_bytes > 0 and report.read_bytes > 0 and report.written_bytes == 0
    assert opened.schema == TABLE.schema
    assert opened.add_columns({"twice": "n * 2", "q.both": "concat(s, q.t)"}).written_bytes > 0
    assert opened.schema.names == ["id", "n", "s", "q", "twice"]
    assert opened.to_arrow(["twice"])["twice"].to_pylist() == [i % 7 * 2 for i in range(ROWS)]
    assert opened.to_arrow(["q.both"], limit=1).to_pylist() == [{"q": {"both": "text 0x"}}]
    opened.add_columns(pa.table({"a,b": range(ROWS), "-c": range(ROWS)}))
    opened.add_columns(pd.DataFrame({"d": range(ROWS)}))
    assert opened.schema.names == ["id", "n", "s", "q", "twice", "a,b", "-c", "d"]
    opened.order_columns(["-c", "a,b"])
    assert opened.schema.names[:2] == ["-c", "a,b"]
    opened.rename_columns({"-c": "c", "a,b": "-", "q.m": "M"})
    assert opened.schema.names[:3] == ["c", "-", "id"]
    assert opened.schema.field("q").type.field(0).name == "M"
    dropped = opened.drop_columns(["-", "c", "s"])
    assert [i["columns"] for i in dropped.dropped_indexes] == [["s"]]
    opened.drop_columns(["d", "twice", "q.both"])
    opened.set_properties({"comment": "a number", "unit": "EUR"}, "n")
    opened.set_properties({"unit": None, "more": "1 = 1"}, "n")
    opened.set_properties({"owner": "sales"})
    assert opened.properties("n") == {"comment": "a number", "more": "1 = 1"}
    assert opened.properties() == {"owner": "sales"}
    for wrong in ({}, {"a=b": "1"}):
        with pytest.raises(ValueError):
            opened.set_properties(wrong)
    opened.cast({"n": pa.int8(), "id": "decimal128(12, 2)", "q.M": pa.string()})
    types = [pa.decimal128(12, 2), pa.int8(), pa.struct([("M", pa.string()), ("t", pa.string())])]
    assert [f.type for f in opened.schema] == types
    with pytest.raises(amudai.AmudaiError, match="row 2"):
        opened.add_columns({"x": "9223372036854775807 + n"})
    amudai.verify("t.amudai.shard")


@pytest.mark.parametrize(
    "kind",
    [pa.float16(), pa.float32(), pa.float64(), pa.large_string(), pa.string_view(), pa.uint64(), pa.decimal256(50, 3),
     pa.dictionary(pa.int32(), pa.string())],
    ids=str,
)  # fmt: skip
def test_types_of_pyarrow(opened: amudai.Table, kind: pa.DataType) -> None:
    opened.cast({"n": kind})
    assert opened.schema.field("n").type == kind
    assert opened.to_arrow(["n"])["n"].cast(pa.string()).to_pylist()[8] in ("1", "1.0", "1.000")


def test_mistakes_in_columns(opened: amudai.Table) -> None:
    for columns in ({"a=b": "1"}, {" a": "1"}, {"": "1"}):
        with pytest.raises(ValueError):
            opened.add_columns(columns)
    with pytest.raises(TypeError):
        opened.drop_columns("n")
    with pytest.raises(amudai.AmudaiError, match="unknown type"):
        opened.cast({"n": "number"})
    with pytest.raises(amudai.AmudaiError, match="deleted rows count"):
        opened.add_columns(pa.table({"x": [1]}))
    with pytest.raises(amudai.AmudaiError, match="x"):
        opened.rename_columns({"n": "m", "x": "y"})
    assert same(opened.to_arrow(), TABLE)


def test_merge_and_split(opened: amudai.Table) -> None:
    parts = opened.split("part-{}.amudai.shard", rows=600)
    assert [(p.rows, p.stripes_referred) for p in parts] == [(600, 2), (400, 2)]
    assert opened.split("by-{}.amudai.shard", by="n", dry_run=True)
    assert sorted(p.name for p in Path().glob("by-*")) == []
    values = opened.split("by-{}.amudai.shard", by="n")
    assert [p.rows for p in values] == [sum(i % 7 == k for i in range(ROWS)) for k in range(7)]
    names = [p.location for p in parts]
    dry = amudai.merge(names, "all.amudai.shard", dry_run=True)
    assert (dry.shards, dry.rows, dry.written_bytes) == (2, ROWS, 0)
    assert not Path("all.amudai.shard").exists()
    report = amudai.merge(names, "all.amudai.shard")
    assert (report.shards, report.stripes, report.rows) == (2, 4, ROWS)
    assert same(amudai.open("all.amudai.shard").to_arrow(), TABLE)
    with pytest.raises(amudai.AmudaiError, match="exists"):
        amudai.merge(names, "all.amudai.shard")
    amudai.merge("part-*.amudai.shard", "all.amudai.shard", force=True)
    assert same(opened.to_arrow(), TABLE)


def test_compact(opened: amudai.Table) -> None:
    opened.delete("n = 2")
    report = opened.compact(sort=["-n", "id"], dry_run=True)
    assert (report.stripes, report.before, report.written_bytes) == ([0, 1, 2, 3], 4, 0)
    report = opened.compact(sort=["-n", "id"])
    assert (report.rows, report.deleted, report.after) == (857, 143, 1)
    assert opened.num_rows == 857
    assert same(opened.to_arrow(), TABLE.filter(pc.field("n") != 2).sort_by([("n", "descending"), ("id", "ascending")]))
    assert opened.compact().stripes == []


def test_relocate(opened: amudai.Table) -> None:
    opened.delete("n = 2")
    Path("other").mkdir()
    planned = opened.relocate("other/", layout="two-level", dry_run=True)
    assert planned[0].from_.endswith("t.amudai.shard") and planned[0].to.endswith("other/t.amudai.shard")
    assert list(Path("other").iterdir()) == []
    before = opened.to_arrow()
    opened.relocate("other/", layout="two-level")
    assert same(amudai.open("other/t.amudai.shard").to_arrow(), before)
    assert opened.locations == ["t.amudai.shard"]
    files = opened.relocate("moved.amudai.shard", layout="single", move=True)
    assert any(f.removed for f in files)
    assert not Path("t.amudai.shard").exists()
    assert [Path(p).name for p in opened.locations] == ["moved.amudai.shard"]
    assert same(opened.to_arrow(), before)
    opened.undelete("true")
    assert opened.to_arrow().num_rows == ROWS
    for choice in ({"columns": ["s"]}, {"stripes": "1"}, {"where": pc.field("id") < 300}):
        moved = opened.relocate("cold", **choice)
        assert sum(f.moved_bytes for f in moved) > 0
        assert [Path(p).name for p in opened.locations] == ["moved.amudai.shard"]
        assert same(opened.to_arrow(), TABLE)


def test_versions(opened: amudai.Table) -> None:
    assert [v.version for v in opened.history()] == [1]
    opened.keep_versions(10, age=datetime.timedelta(days=1))
    first = opened.history()[0].version
    opened.delete("n = 2")
    opened.drop_columns(["s"])
    history = opened.history()
    assert [v.rows for v in history] == [857, 857, ROWS, ROWS]
    assert [v.deleted for v in history] == [143, 143, 0, 0]
    assert history[0].change == "drop s"
    assert all(v.time.utcoffset() == datetime.timedelta(0) for v in history)
    assert sorted((v.time for v in history), reverse=True) == [v.time for v in history]
    for at in (first, str(first), history[2].time, history[2].time.astimezone(datetime.timezone(datetime.timedelta(hours=9)))):
        assert same(amudai.open("t.amudai.shard", version=at).to_arrow(), TABLE), at
    assert amudai.scan_polars("t.amudai.shard", version=first).collect().height == ROWS
    with pytest.raises(amudai.AmudaiError, match="no such version"):
        amudai.open("t.amudai.shard", version=99)
    old = amudai.open("t.amudai.shard", version=first)
    with pytest.raises(ValueError, match="newest version"):
        old.delete("n = 1")
    assert same(old.to_arrow(), TABLE)
    recent = amudai.open("t.amudai.shard", version=history[0].version)
    opened.restore(first)
    assert same(old.to_arrow(), TABLE)
    assert recent.to_arrow().num_rows == recent.num_rows == 857
    assert recent.take([0]).column_names == ["id", "n", "q"]
    assert [s.rows for s in recent.plan()] == [300, 300, 300, 100]
    assert same(opened.to_arrow(), TABLE)
    opened.restore(history[0].time)
    assert opened.schema.names == ["id", "n", "q"]


def test_collect(opened: amudai.Table) -> None:
    opened.delete("n = 2")
    opened.compact(stripes="0-3")
    now = datetime.timedelta(0)
    found = amudai.collect(".", older_than=now)
    assert [Path(p).name for p in found.roots] == ["t.amudai.shard"]
    assert found.unreferenced and found.removed == 0
    assert all(Path(f.location).stat().st_size == f.bytes for f in found.unreferenced)
    assert amudai.collect(".").unreferenced == []  # younger than 24 hours
    removed = amudai.collect(".", dry_run=False, older_than=now, roots=["."])
    assert removed.removed == len(found.unreferenced)
    assert not any(Path(f.location).exists() for f in found.unreferenced)
    assert opened.to_arrow().num_rows == 857


def test_other_tables(opened: amudai.Table) -> None:
    """A table is the new version after its own change, and raises ChangedError after that of others. Readers go on."""
    other = amudai.open("t.amudai.shard")
    reader = other.scan(rows=slice(0, None))
    opened.delete("n = 2")
    assert reader.read_all().num_rows == ROWS
    for read in (other.to_arrow, other.plan, lambda: other.take([1])):
        with pytest.raises(amudai.ChangedError, match="has changed"):
            read()
    assert other.delete("n = 3") == 143  # a condition is that of any version
    assert 2 not in other.to_arrow(["n"])["n"].to_pylist()
    stale = opened
    for change in (
        lambda: stale.delete(rows=[1]),
        lambda: stale.undelete(rows=[2]),
        lambda: stale.add_columns(pa.table({"x": range(ROWS)})),
    ):
        with pytest.raises(amudai.ChangedError):
            change()
    assert stale.drop_columns(["s"]).kept_bytes > 0
    assert stale.schema.names == ["id", "n", "q"]


def test_what_is_no_shard(folder: Path) -> None:
    amudai.write(TABLE.select(["id"]), "t.csv")
    with pytest.raises(amudai.AmudaiError, match=r"t\.csv"):
        amudai.open("t.csv").delete("id = 1")
    amudai.write(TABLE, "1.amudai.shard")
    amudai.write(TABLE, "2.amudai.shard")
    for table in (amudai.open("*.amudai.shard"), amudai.open("1.amudai.shard", default_types=True)):
        with pytest.raises(ValueError, match="one shard"):
            table.delete("id = 1")
        with pytest.raises(ValueError, match="one shard"):
            table.history()
    assert amudai.open("1.*").delete("id = 1") == 1


def test_threads(opened: amudai.Table) -> None:
    """Deletes by conditions of many threads, by tables of their own, all happen; readers see a whole version or an error."""
    wrong: list[object] = []

    def delete(k: int) -> None:
        table = amudai.open("t.amudai.shard")
        for _ in range(100):
            try:
                if table.delete(f"id % 4 = {k}") != ROWS // 4:
                    wrong.append(k)
                return
            except amudai.ChangedError:
                time.sleep(0.01)
        wrong.append("no end")

    def read() -> None:
        for _ in range(10):
            try:
                n = opened.to_arrow(["n"]).num_rows
            except amudai.ChangedError:
                return
            if n % 250:
                wrong.append(n)

    threads = [threading.Thread(target=delete, args=(k,)) for k in range(3)] + [threading.Thread(target=read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert ids(amudai.open("t.amudai.shard")) == [i for i in range(ROWS) if i % 4 == 3]
    amudai.verify("t.amudai.shard")


def _child(table: amudai.Table) -> None:
    assert table.delete("n = 1") == 143
    os._exit(0 if table.to_arrow().num_rows == ROWS - 143 else 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork(opened: amudai.Table) -> None:
    child = multiprocessing.get_context("fork").Process(target=_child, args=(opened,))
    child.start()
    child.join()
    assert child.exitcode == 0
    with pytest.raises(amudai.ChangedError):
        opened.to_arrow()
    assert opened.delete("n = 2") == 143
    assert opened.to_arrow().num_rows == ROWS - 286


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_interrupt(folder: Path) -> None:
    """Ctrl-C in a compaction leaves the old shard, and no temporary file."""
    amudai.write(pa.table({"a": [n * 7919 % 1_000_003 for n in range(2_000_000)]}), "t.amudai.shard", stripe_rows=100_000)
    before = sorted(p.name for p in folder.iterdir())
    code = """
        import amudai
        table = amudai.open("t.amudai.shard")
        print("begin", flush=True)
        try:
            while True:
                table.compact(sort="a", memory="32MiB")
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    temporary = folder / "tmp"
    temporary.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": os.pathsep.join(sys.path)},
    ) as process:
        assert process.stdout and process.stdout.readline() == b"begin\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == b"interrupted\n"
        assert process.wait(20) == 0
    assert list(temporary.iterdir()) == []
    names = sorted(p.name for p in folder.iterdir() if p != temporary)
    assert [n for n in names if n not in before and not n.endswith((".amudai.data", ".amudai.stripe"))] == []
    assert amudai.open("t.amudai.shard").num_rows == 2_000_000
    amudai.verify("t.amudai.shard")
