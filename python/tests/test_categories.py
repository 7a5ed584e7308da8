"""Categories of pandas, Polars and Arrow: their order, those without a row, their types."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import amudai

FILES = ["t.amudai.shard", "t.parquet", "t.arrow"]


def categories(rows: int = 5_000) -> pd.DataFrame:
    draw = np.random.default_rng(1)

    def some(values: object, ordered: bool = False) -> pd.Categorical:
        dtype = pd.CategoricalDtype(values, ordered)
        return pd.Categorical.from_codes(draw.integers(-1, len(dtype.categories) - 1, rows), dtype=dtype)

    return pd.DataFrame(
        {
            "size": some(["small", "it's", "", "large", "never"], ordered=True),
            "n": some([5, 7, -1]),
            "f": some([0.1, -0.5, 1e300]),
            "day": some(pd.to_datetime(["2002-01-01", "2001-01-01", "2003-01-01"]) + pd.Timedelta(1, "ns")),
            "none": some(["a"]),
            "many": some([f"{i:04}" for i in range(5_000, 0, -1)]),
            "row": range(rows),
        },
        index=pd.Index([f"r{i}" for i in range(rows)], name="name"),
    )


@pytest.mark.parametrize("name", FILES)
def test_pandas(folder: Path, name: str) -> None:
    frame = categories()
    amudai.write(frame, name)
    table = amudai.open(name)
    pd.testing.assert_frame_equal(table.to_pandas(), frame)
    few = table.to_pandas(where="row < 3")
    pd.testing.assert_frame_equal(few, frame.head(3))
    assert (table.to_pandas(["size"])["size"] < "large").sum() == (frame["size"] < "large").sum()
    assert table.head(1, ["size"])["size"].chunk(0).dictionary.to_pylist() == ["small", "it's", "", "large", "never"]
    if name != "t.arrow":
        assert table.take([2, 0], ["n"])["n"].chunk(0).dictionary.to_pylist() == [5, 7, -1]
    amudai.write(table.scan(), "again.amudai.shard")
    pd.testing.assert_frame_equal(amudai.open("again.amudai.shard").to_pandas(), frame)


@pytest.mark.parametrize("name", FILES)
def test_polars_enum_in_pandas(folder: Path, name: str) -> None:
    frame = pl.DataFrame({"e": pl.Series(["b", "a", None, "c"], dtype=pl.Enum(["c", "never", "b", "a"]))})
    amudai.write(frame, name)
    column = amudai.open(name).to_pandas()["e"]
    assert list(column.cat.categories) == ["c", "never", "b", "a"] and column.cat.ordered
    assert amudai.open(name).to_polars().equals(frame)
    assert amudai.open(name).to_polars().schema == frame.schema


def test_polars_categories_of_others(folder: Path) -> None:
    """Categoricals of Polars have one list of categories; a file does not get those of other frames."""
    kept = pl.Series(["elsewhere"], dtype=pl.Categorical)
    amudai.write(pl.DataFrame({"c": pl.Series(["here"], dtype=pl.Categorical)}), "t.amudai.shard")
    assert kept[0] == "elsewhere" and b"elsewhere" not in Path("t.amudai.shard").read_bytes()


def test_more_values_than_categories(folder: Path) -> None:
    """Values of other shards, and of changes, come behind the categories."""
    for i, texts in enumerate([["b", "a"], ["c", "b"], [f"{n}" for n in range(100)], [f"x{n}" for n in range(100)]]):
        amudai.write(pd.DataFrame({"c": pd.Categorical(texts, categories=texts)}), f"{i}.amudai.shard")
    amudai.merge(["0.amudai.shard", "1.amudai.shard"], "two.amudai.shard")
    for locations in ("two.amudai.shard", ["0.amudai.shard", "1.amudai.shard"]):
        column = amudai.open(locations).to_pandas()["c"]
        assert column.to_list() == ["b", "a", "c", "b"]
        assert column.cat.categories.to_list() == ["b", "a", "c"]
    assert amudai.open([f"{i}.amudai.shard" for i in range(4)]).to_pandas()["c"].nunique() == 203


def test_empty(folder: Path) -> None:
    for i, table in enumerate([categories().head(0), pa.table({"c": pa.array([None, None], pa.string()).dictionary_encode()})]):
        amudai.write(table, f"{i}.amudai.shard")
        assert len(amudai.open(f"{i}.amudai.shard").to_pandas()) == len(table)
