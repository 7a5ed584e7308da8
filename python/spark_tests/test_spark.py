from __future__ import annotations

import datetime
import math
import os
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import ENGINE
from tpch import QUERIES

import amudai

TABLES = ["customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier"]
SCALE = os.environ.get("AMUDAI_TPCH_SCALE", "0.1")


@pytest.fixture(scope="session")
def tpch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tables of TPC-H as Parquet and shards; those of lineitem and orders are several, with several stripes."""
    folder = tmp_path_factory.mktemp("tpch")
    subprocess.run(["tpchgen-cli", "parquet", "-s", SCALE, f"--output-dir={folder}"], check=True)
    for name in TABLES:
        table = amudai.open(folder / f"{name}.parquet")
        half = table.num_rows // 2 if name in ("lineitem", "orders") else table.num_rows
        (folder / name).mkdir()
        amudai.write(table.scan(rows=range(half)), str(folder / name / "1.amudai.shard"), stripe_rows=100_000)
        if half < table.num_rows:
            amudai.write(table.scan(rows=slice(half, None)), str(folder / name / "2.amudai.shard"), stripe_rows=100_000)
    return folder


def close(a: Any, b: Any) -> bool:
    """Whether two results are equal; engines round averages of decimals to other digits."""
    if isinstance(b, float | Decimal) and a is not None:
        return math.isclose(float(a), float(b), rel_tol=1e-9, abs_tol=1e-6)
    return bool(a == b)


@pytest.mark.parametrize("number", QUERIES)
def test_tpch(spark: Any, tpch: Path, number: int) -> None:
    con = duckdb.connect()
    for name in TABLES:
        spark.read.format("amudai").option("partitions", "3").load(str(tpch / name)).createOrReplaceTempView(name)
        con.sql(f"create view {name} as from '{tpch / name}.parquet'")
    got = [tuple(row) for row in spark.sql(QUERIES[number]).collect()]
    expected = con.sql(QUERIES[number]).fetchall()
    assert len(got) == len(expected) > 0
    for a, b in zip(got, expected, strict=True):
        assert all(close(x, y) for x, y in zip(a, b, strict=True)), (a, b)


def table() -> pa.Table:
    day = datetime.datetime(2001, 1, 1)
    rows = 1_000

    def every(values: list[Any]) -> list[Any]:
        return [values[i % len(values)] for i in range(rows)]

    return pa.table(
        {
            "row": pa.array(range(rows), pa.int64()),
            "i": pa.array(every([1, None, -3]), pa.int32()),
            "u": pa.array(every([0, 200]), pa.uint8()),
            "f": pa.array(every([0.0, -0.0, 1.5, math.nan, math.inf, None, -math.inf]), pa.float64()),
            "s": pa.array(every(["", "it's", "äöü", None, "abc"]), pa.string_view()),
            "b": pa.array(every([True, False, None]), pa.bool_()),
            "d": pa.array(every([day.date(), None, day.date() + datetime.timedelta(30)]), pa.date32()),
            "t": pa.array(every([day, None, day + datetime.timedelta(hours=5)]), pa.timestamp("us")),
            "z": pa.array(every([day, None, day + datetime.timedelta(hours=5)]), pa.timestamp("ns", "UTC")),
            "p": pa.array(every([Decimal("1.25"), None, Decimal("-3.00")]), pa.decimal128(12, 2)),
            "x": pa.array(every([b"", b"\x00\xff", None]), pa.binary()),
            "l": pa.array(every([[1, None], [], None]), pa.list_(pa.int64())),
            "q": pa.array(every([{"n": 1, "m": "a"}, None]), pa.struct([("n", pa.int64()), ("m", pa.string())])),
        }
    )


@pytest.fixture(scope="session")
def values(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("values") / "values.amudai.shard")
    amudai.write(table(), path, stripe_rows=300)
    return path


CONDITIONS = [
    "i = 1", "i <=> null", "i <=> 1", "not (i = 1)", "i in (1, 5)", "u > 100", "f > 1", "f >= 1.5D", "f < 0", "f = 0", "isnan(f)",
    "f <=> 1.5D", "not (f > 1)", "f in (1.5D, 0D)", "s = 'it''s'", "s like 'a%'", "s like '%c'", "s like '%b%'", "s > 'b'", "b",
    "not b", "d = date '2001-01-31'", "d is null",
    "t >= timestamp_ntz '2001-01-01 01:00:00'", "z > timestamp '2001-01-01 01:00:00'",
    "p < 0.5", "p between -3 and 1", "x = X'00ff'", "q.n = 1", "i = 1 and s = 'abc' or b", "row > 900 and row % 7 = 0", "true",
    "f <= double('infinity')", "f = double('-infinity')", "f <> double('infinity')", "f > double('nan')",
    "f between double('-infinity') and 1.5D", "f in (double('nan'), 0D)", "not (f >= double('nan'))", "f = -0D",
    "row < 9223372036854775807", "i > -2147483648", "u <= 255", "s in ('', 'äöü')", "s >= ''", "d < date '9999-12-31'",
    "d > date '0001-01-01'", "t <= timestamp_ntz '9999-12-31 23:59:59.999999'", "z > timestamp '0001-01-01 00:00:00'",
    "p = 1.250", "p < 99999999999999999999", "x >= X''", "not (i in (1, null))",
]  # fmt: skip


@pytest.fixture(scope="session")
def plain(spark: Any, values: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The same rows by the engine's own reader of Parquet, with the types that they have there."""
    path = str(tmp_path_factory.mktemp("plain") / "values.parquet")
    frame = table()
    types = {"u": pa.int16(), "s": pa.string(), "z": pa.timestamp("us", "UTC")}
    pq.write_table(frame.cast(pa.schema([f.with_type(types.get(f.name, f.type)) for f in frame.schema])), path)
    return spark.read.parquet(path)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions(spark: Any, values: str, plain: Any, condition: str) -> None:
    frame = spark.read.format("amudai").option("partitions", "2").load(values)
    got, expected = (sorted(r.row for r in f.where(condition).select("row").collect()) for f in (frame, plain))
    assert got == expected


@pytest.mark.parametrize("pushdown", ["false", "true"])
def test_queries_of_one_frame(spark: Any, values: str, pushdown: str) -> None:
    """The condition of a query is not that of others, also within one query."""
    spark.conf.set("spark.sql.python.filterPushdown.enabled", pushdown)
    frame = spark.read.format("amudai").option("partitions", "4").load(values)
    few, many = frame.where("row < 10"), frame.where("row >= 10")
    assert [f.count() for f in (frame, few, frame, many, few)] == [1_000, 10, 1_000, 990, 10]
    assert few.union(many).count() == 1_000
    assert few.join(many.withColumnRenamed("row", "r"), "i").where("row = r").count() == 0
    frame.createOrReplaceTempView("one")
    assert spark.sql("select (select count(*) from one where row < 3), (select count(*) from one)").collect() == [(3, 1_000)]


def test_values(spark: Any, values: str, plain: Any) -> None:
    for partitions in ("0", "4"):
        frame = spark.read.format("amudai").option("partitions", partitions).load(values)
        got, expected = (sorted(map(repr, f.collect())) for f in (frame, plain))
        assert got == expected
        assert frame.count() == 1_000


def test_options(spark: Any, values: str) -> None:
    reader = spark.read.format("amudai")
    frame = reader.option("columns", "row, s").option("where", "row < 7").load(values)
    assert frame.columns == ["row", "s"]
    assert frame.count() == 7
    reader = spark.read.format("amudai")
    if not ENGINE.startswith("sail"):  # it combines partitions itself
        assert reader.load(values).rdd.getNumPartitions() == 1
        assert reader.option("partitions", "4").load(values).rdd.getNumPartitions() == 4
        assert reader.option("partitions", "1").load(values).rdd.getNumPartitions() == 1


def test_union(spark: Any, tmp_path: Path) -> None:
    amudai.write(pa.table({"a": pa.array([1, 2], pa.int32())}), str(tmp_path / "1.amudai.shard"))
    amudai.write(pa.table({"a": pa.array([3], pa.int64()), "b": ["x"]}), str(tmp_path / "2.amudai.shard"))
    frame = spark.read.format("amudai").load(str(tmp_path))
    assert sorted(map(tuple, frame.collect()), key=str) == [(1, None), (2, None), (3, "x")]
    assert [tuple(r) for r in frame.where("b = 'x'").collect()] == [(3, "x")]
    assert frame.where("b is null").count() == 2


def test_other_formats(spark: Any, tmp_path: Path) -> None:
    rows = pa.table({"a": [1, 2], "dot.ted": ["x", "y"]})
    paths = [str(tmp_path / name) for name in ("t.parquet", "t.amudai.shard")]
    for path in paths:
        amudai.write(rows, path)
    (tmp_path / "t.txt").write_text("zip;n\n00501;1\n")
    assert [tuple(r) for r in spark.read.format("amudai").load(paths[0]).collect()] == [(1, "x"), (2, "y")]
    reader = spark.read.format("amudai").option("columns", "dot.ted")
    assert [tuple(r) for r in reader.load(paths[1]).collect()] == [("x",), ("y",)]
    reader = spark.read.format("amudai").option("from", "csv").option("schema", "n:utf8")
    assert [tuple(r) for r in reader.load(str(tmp_path / "t.txt")).collect()] == [("00501", "1")]
    if not ENGINE.startswith("sail"):
        assert spark.read.format("amudai").load(paths).count() == 4
    with pytest.raises(Exception, match="no-such-flag"):
        spark.read.format("amudai").option("no-such-flag", "1").load(paths[0]).collect()


def save(frame: Any, path: Path, mode: str, **options: str) -> None:
    if ENGINE.startswith("sail"):
        frame = frame.limit(1 << 30)  # Sail 0.7 refuses the messages of more than one task
    frame.write.format("amudai").mode(mode).options(**options).save(str(path))


def test_write(spark: Any, values: str, tmp_path: Path) -> None:
    def read() -> Any:
        return spark.read.format("amudai").load(str(path))

    frame = spark.read.format("amudai").option("partitions", "4").load(values)
    path = tmp_path / "new"
    save(frame, path, "append", profile="high-compression")
    assert sorted(map(repr, read().collect())) == sorted(map(repr, frame.collect()))
    amudai.verify(list(path.glob("*.amudai.shard")))
    for condition, mode, rows in [("row < 10", "append", 1_010), ("row < 10", "overwrite", 10), ("row < 0", "overwrite", 0)]:
        save(frame.where(condition), path, mode)
        assert read().count() == rows
        assert {p.suffix for p in path.iterdir()} == {".shard"}


def test_write_that_fails(spark: Any, values: str, tmp_path: Path) -> None:
    """Nothing of a failed job is visible, and what was there stays."""
    path = tmp_path / "table"
    spark.read.format("amudai").option("partitions", "4").load(values).write.format("amudai").mode("append").save(str(path))
    before = sorted(path.iterdir())
    bad = spark.sql("select id, assert_true(id < 90000) as no from range(0, 100000, 1, 4)")
    for mode in ("append", "overwrite"):
        with pytest.raises(Exception, match="."):
            bad.write.format("amudai").mode(mode).save(str(path))
        assert sorted(path.iterdir()) == before
    with pytest.raises(Exception, match="file"):
        bad.write.format("amudai").mode("append").save(values)


def test_errors(spark: Any, values: str, tmp_path: Path) -> None:
    with pytest.raises(Exception, match="does not exist"):
        spark.read.format("amudai").load(str(tmp_path / "nothing.amudai.shard")).collect()
    with pytest.raises(Exception, match="nothing"):
        spark.read.format("amudai").option("columns", "nothing").load(values).collect()
    damaged = tmp_path / "damaged.amudai.shard"
    data = bytearray(Path(values).read_bytes())
    data[1_000] ^= 1
    damaged.write_bytes(data)
    with pytest.raises(Exception, match="damaged"):
        spark.read.format("amudai").load(str(damaged)).collect()


@pytest.fixture(scope="session")
def deleted(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, set[int]]:
    """The values in a shard with indexes, of which some rows and a whole stripe are deleted, and the rows that are left."""
    path = str(tmp_path_factory.mktemp("deleted") / "values.amudai.shard")
    rows = table().append_column("line", pa.array([f"line {i % 50}" for i in range(1_000)]))
    amudai.write(rows, path, stripe_rows=100, index=["line"])
    shard = amudai.open(path)
    shard.delete("i = 1 and s = 'abc' or line = 'line 7'")
    shard.delete(rows=range(250, 420))
    shard.delete(matching=pa.table({"row": pa.array([0, 999, 500], pa.int64())}), on="row")
    shard.undelete("row = 307")
    left = [
        i
        for i in range(1_000)
        if not (i % 3 == 0 and i % 5 == 4 or i % 50 == 7 or 250 <= i < 420 or i in (0, 999, 500)) or i == 307
    ]
    return path, set(left)


# Spark evaluates conditions itself.
@pytest.mark.parametrize("condition", CONDITIONS if ENGINE.startswith("sail") else CONDITIONS[::8])
def test_deleted_rows(spark: Any, deleted: tuple[str, set[int]], plain: Any, condition: str) -> None:
    path, left = deleted
    frame = spark.read.format("amudai").option("partitions", "3").load(path)
    got, expected = (sorted(r.row for r in f.where(condition).select("row").collect()) for f in (frame, plain))
    assert got == [row for row in expected if row in left]
    assert frame.where(condition).count() == len(got)


@pytest.mark.parametrize("pushdown", ["false", "true"])
def test_questions_about_deleted_rows(spark: Any, deleted: tuple[str, set[int]], pushdown: str) -> None:
    path, left = deleted
    spark.conf.set("spark.sql.python.filterPushdown.enabled", pushdown)
    for partitions in ("0", "10"):
        spark.read.format("amudai").option("partitions", partitions).load(path).createOrReplaceTempView("left")
        asked = spark.sql("select count(*), sum(row), min(row), max(row), count(distinct line), count(s) from left").collect()
        lines = {f"line {i % 50}" for i in left}
        texts = sum(i % 5 != 3 for i in left)
        assert [tuple(r) for r in asked] == [(len(left), sum(left), min(left), max(left), len(lines), texts)]
        groups = spark.sql("select line, count(*) from left group by line").collect()
        assert {r[0]: r[1] for r in groups} == {line: sum(f"line {i % 50}" == line for i in left) for line in lines}
        assert spark.sql("select count(*) from left where line = 'line 7'").collect() == [(0 if 307 not in left else 1,)]
        assert spark.sql("select count(*) from left where row in (0, 300, 999)").collect() == [(0,)]
        ids = spark.sql("select row from left order by row desc limit 5").collect()
        assert [r.row for r in ids] == sorted(left)[:-6:-1]
    for where in ("line = 'line 8'", "row >= 250 and row < 420", "s = 'abc'", "row < 0"):
        reader = spark.read.format("amudai").option("where", where).option("columns", "row,line")
        rows = sorted(r.row for r in reader.load(path).collect())
        assert set(rows) <= left
        assert rows == amudai.open(path).to_arrow(["row"], where)["row"].to_pylist()
    everything = amudai.open(path)
    copy = Path(path).parent / f"gone-{pushdown}.amudai.shard"
    everything.relocate(copy)
    assert amudai.open(copy).delete("true") == len(left)
    frame = spark.read.format("amudai").load(str(copy))
    assert frame.count() == 0
    assert frame.where("line = 'line 8'").collect() == []
