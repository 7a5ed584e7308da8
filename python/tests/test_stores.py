"""Tables in an object store: moto's S3."""

from __future__ import annotations

import datetime
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from conftest import same

import amudai


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_REGION", "us-east-1")
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        import boto3

        boto3.client("s3").create_bucket(Bucket="lake")
        yield "s3://lake"
    server.terminate()
    server.wait()


def test_s3(bucket: str, table: pa.Table, folder: Path) -> None:
    for i in range(3):
        amudai.write(table.slice(i * 1000, 1000), f"{bucket}/t/{i}.amudai.shard")
    expected = table.slice(0, 3000)
    for location in (f"{bucket}/t/*.amudai.shard", f"{bucket}/t/"):
        opened = amudai.open(location)
        assert opened.num_rows == 3000
        assert [s.location for s in opened.stripes] == [f"{bucket}/t/{i}.amudai.shard" for i in range(3)]
        assert same(opened.to_arrow(), expected)
        assert opened.take([2_999, 5]).column("row").to_pylist() == [2_999, 5]
    amudai.verify(f"{bucket}/t/1.amudai.shard")
    rows = amudai.scan_polars(f"{bucket}/t/").filter(pl.col("row") >= 2_990).select("row").collect()
    assert rows["row"].to_list() == list(range(2_990, 3_000))
    con = duckdb.connect()
    amudai.register(con, "t", f"{bucket}/t/*.shard")
    assert con.sql("select count(*), max(row) from t where row < 1500").fetchall() == [(1500, 1499)]
    opened = amudai.open(f"{bucket}/t/*.shard")
    amudai.write(table.slice(0, 10), f"{bucket}/t/2.amudai.shard", force=True)
    with pytest.raises(amudai.AmudaiError, match=r"2\.amudai\.shard has changed"):
        opened.to_arrow()
    with pytest.raises(amudai.AmudaiError, match="exists"):
        amudai.write(table, f"{bucket}/t/1.amudai.shard")
    with pytest.raises(amudai.AmudaiError, match="does not exist"):
        amudai.open(f"{bucket}/nothing.amudai.shard")
    assert list(Path.cwd().iterdir()) == []


def test_data_that_fail(bucket: str) -> None:
    """A write that fails leaves neither an object nor an upload."""
    import boto3

    def batches() -> Iterator[pa.RecordBatch]:
        for i in range(40):
            yield pa.record_batch({"a": pa.array(range(i << 40, (i << 40) + 100_000))})
        raise KeyError("broken")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("a", pa.int64())]), batches())
    with pytest.raises(KeyError):
        amudai.write(reader, f"{bucket}/failed.amudai.shard")
    client = boto3.client("s3")
    assert "Contents" not in client.list_objects_v2(Bucket="lake", Prefix="failed")
    assert not client.list_multipart_uploads(Bucket="lake").get("Uploads")


def test_life(bucket: str, table: pa.Table, folder: Path) -> None:
    """Changes of shards in a store: merged, deleted, versions, moved, collected. One writer of two gets a ChangedError."""
    for i in range(2):
        amudai.write(table.slice(i * 1000, 1000), f"{bucket}/life/{i}.amudai.shard")
    merged = f"{bucket}/life/all.amudai.shard"
    assert amudai.merge([f"{bucket}/life/{i}.amudai.shard" for i in range(2)], merged).rows == 2000
    opened, other = amudai.open(merged), amudai.open(merged)
    opened.keep_versions(3)
    first = opened.history()[0].version
    keys = table.select(["row"]).slice(0, 10)
    assert opened.delete(matching=keys, on=["row"]) == 10
    assert opened.delete(rows=range(1_990, 2_000)) == 10
    assert same(opened.to_arrow(), table.slice(10, 1_980).combine_chunks())
    for change in (other.to_arrow, lambda: other.delete(rows=[20]), lambda: other.add_columns(keys)):
        with pytest.raises(amudai.ChangedError):
            change()
    assert same(amudai.open(merged, version=first).to_arrow(), table.slice(0, 2000))
    opened.rename_columns({"i": "k"})
    moved = opened.relocate(f"{bucket}/cold/", move=True)
    assert moved[0].removed and opened.locations == [f"{bucket}/cold/all.amudai.shard"]
    assert opened.to_arrow(["k"]).num_rows == 1_980
    assert opened.compact().deleted == 20
    assert amudai.collect(f"{bucket}/cold", older_than=datetime.timedelta(0), dry_run=False).removed >= 0
    assert opened.to_arrow(["row"])["row"].to_pylist() == list(range(10, 1_990))
    amudai.verify(opened.locations)
    assert list(Path.cwd().iterdir()) == []
