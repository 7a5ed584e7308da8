from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import amudai


def test_dask(shard: str, table: pa.Table) -> None:
    frame = amudai.read_dask(shard, ["row", "i"], "row >= 3000 and i > 2")
    assert frame.npartitions == 2
    expected = table.select(["row", "i"]).to_pandas(types_mapper=pd.ArrowDtype)
    expected = expected[(expected.row >= 3000) & (expected.i > 2)].reset_index(drop=True)
    pd.testing.assert_frame_equal(frame.compute().reset_index(drop=True), expected)
    assert frame["row"].sum().compute() == expected.row.sum()
    assert len(amudai.read_dask(shard, where="row < 0")) == 0


def test_projection(shard: str, table: pa.Table) -> None:
    """Dask reads the columns that a task needs, also those that were chosen by path."""
    whole = amudai.read_dask(shard)
    assert whole[["dot.ted", "row"]].compute().columns.tolist() == ["dot.ted", "row"]
    for names in (["q.n", "dot.ted"], ["q.n", "dot\\.ted", "i"]):
        frame = amudai.read_dask(shard, names)
        assert frame["q"].compute().tolist() == table.column("q").to_pylist()
        assert frame["dot.ted"].sum().compute() == pc.sum(table.column("dot.ted")).as_py()


def test_condition(shard: str, table: pa.Table) -> None:
    for where in ("i > 3", pc.field("i") > 3, pl.col("i") > 3):
        assert amudai.read_dask(shard, ["row"], where)["row"].compute().tolist() == (
            table.filter(pc.field("i") > 3)["row"].to_pylist()
        )
    with pytest.raises(TypeError, match="not int"):
        amudai.read_dask(shard, where=3)
    with pytest.raises(ValueError, match="no text"):
        amudai.read_dask(shard, where=pc.field("i") * 2 > 6)


def test_union(folder: Path) -> None:
    amudai.write(pa.table({"a": pa.array([1, 2], pa.int32())}), "1.amudai.shard")
    amudai.write(pa.table({"a": pa.array([3], pa.int64()), "b": ["x"]}), "2.amudai.shard")
    frame = amudai.read_dask("*.amudai.shard").compute()
    assert frame["a"].tolist() == [1, 2, 3]
    assert frame["b"].isna().tolist() == [True, True, False]
    assert amudai.read_dask(".", where="b = 'x'").compute()["a"].tolist() == [3]
