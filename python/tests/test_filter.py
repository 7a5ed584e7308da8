"""Conditions of others, compared with what their own engines make of them."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import same

import amudai
from amudai import _filter, _polars

VALUES: dict[str, list[Any]] = {
    "i": [-5, 0, 3, 99],
    "u": [0, 1],
    "f": [0.0, 1.5, -1.5, 0.1],
    "s": ["", "a", "it's", 'say "hi"', "b\\c", "äöü", "line\nbreak"],
    "d": [datetime.date(2001, 1, 3), datetime.date(1999, 1, 1)],
    "t": [datetime.datetime(2001, 1, 3, 4), datetime.datetime(2001, 1, 2, 0, 0, 0, 1)],
    "z": [datetime.datetime(2001, 1, 3, 4, tzinfo=datetime.timezone.utc)],
    "p": [Decimal("1.00"), Decimal("-3.21"), Decimal("4.50")],
    "x": [b"", b"\x00", b"ab"],
    "two words": [0, 2],
    "dot.ted": [1],
}


def random_expression(draw: random.Random, depth: int = 2) -> pc.Expression:
    if depth > 0 and draw.random() < 0.7:
        left, right = (random_expression(draw, depth - 1) for _ in range(2))
        return draw.choice([left & right, left | right, ~left])
    name = draw.choice(list(VALUES))
    column, value = pc.field(name), draw.choice(VALUES[name])
    if draw.random() < 0.5:
        return draw.choice([column == value, column != value, column < value, column <= value, column > value, column >= value])
    if name == "s" and draw.random() < 0.5:
        return draw.choice([pc.starts_with, pc.ends_with, pc.match_substring])(column, draw.choice(["a", "'", "\\", "ö", ""]))
    if name == "f" and draw.random() < 0.5:
        return draw.choice([pc.is_nan(column), column.is_null(nan_is_null=True), column.is_null()])
    if name in ("i", "s", "d", "p"):
        return draw.choice([column.isin(VALUES[name][:2]), column.isin([*VALUES[name][1:], None]), column.isin([])])
    return draw.choice([column.is_null(), column.is_valid(), pc.field("b"), ~pc.field("b")])


def test_pyarrow(shard: str, table: pa.Table) -> None:
    """Whatever is pushed down, the rows are those of pyarrow."""
    draw = random.Random(7)
    opened = amudai.open(shard)
    pushed = 0
    for _ in range(150):
        try:
            expression = random_expression(draw)
            expected = table.filter(expression)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue  # pyarrow compares a column of one type with the null of another
        text, whole = _filter.conjuncts(expression, table.schema)
        pushed += whole
        got = opened.to_arrow(["row", "s"], expression)
        assert same(got, expected.select(["row", "s"]).combine_chunks()), (expression, text)
    assert pushed > 100


@pytest.mark.parametrize(
    "expression",
    [
        pc.field("i") + 1 > 3,
        (pc.field("i") + 1 > 3) & (pc.field("s") == "a"),
        (pc.field("i") + 1 > 3) | (pc.field("s") == "a"),
        pc.field("i") < pc.field("two words"),
        pc.match_substring(pc.field("s"), "A", ignore_case=True),
        pc.field("f") > float("nan"),
        pc.field("f").isin([1.5, float("nan")]),
        pc.field("q", "n") == 2,
        pc.scalar(5) > pc.field("i"),
        pc.scalar(True) & (pc.field("i") > 0),
        pc.field("i") > 2.5,
        pc.field("p") > Decimal("1.00"),
        pc.field("t") > pa.scalar(1, pa.timestamp("ns")),
        pc.field("d") >= pc.scalar(pa.scalar(datetime.date(2001, 1, 4))),
        pc.field("s") == pa.scalar(None, pa.string()),
    ],
    ids=str,
)
def test_pyarrow_by_parts(shard: str, table: pa.Table, expression: pc.Expression) -> None:
    """What has no text is evaluated by pyarrow, with limits and columns that the condition does not name."""
    opened = amudai.open(shard)
    expected = table.filter(expression)
    assert same(opened.to_arrow(where=expression), expected.combine_chunks())
    assert same(opened.to_arrow(["row"], expression, limit=3), expected.select(["row"]).slice(0, 3).combine_chunks())


def test_expression_is_pushed(table: pa.Table) -> None:
    text, whole = _filter.conjuncts((pc.field("i") > 3) & (pc.field("two words") == 1), table.schema)
    assert (text, whole) == ("((`i` > 3)) and ((`two words` = 1))", True)


def polars_expression(draw: random.Random, depth: int = 2) -> pl.Expr:
    if depth > 0 and draw.random() < 0.7:
        left, right = (polars_expression(draw, depth - 1) for _ in range(2))
        return (left & right, left | right, ~left)[draw.randrange(3)]
    name = draw.choice([n for n in VALUES if n != "x"])
    column: pl.Expr = pl.col(name)
    value: str = draw.choice(VALUES[name])  # or of the type of another column
    if draw.random() < 0.5:
        return draw.choice([column == value, column != value, column < value, column <= value, column > value, column >= value])
    if name == "s":
        return draw.choice(
            [
                column.str.starts_with("a"),
                column.str.ends_with("'"),
                column.str.contains("a", literal=True),
                column.str.contains("^a"),
            ]
        )
    if name in ("i", "d"):
        low, high = sorted(VALUES[name][:2])
        return draw.choice(
            [
                column.is_in(VALUES[name][:2]),
                column.is_between(low, high),
                column.is_between(low, high, closed="left"),
            ]
        )
    return draw.choice([column.is_null(), column.is_not_null(), pl.col("b"), ~pl.col("b")])


def test_polars(shard: str, table: pa.Table) -> None:
    draw = random.Random(5)
    frame, lazy = pl.DataFrame(table), amudai.scan_polars(shard)
    assert lazy.collect().equals(frame, null_equal=True)
    pushed = 0
    for _ in range(100):
        predicate = polars_expression(draw)
        pushed += _polars.conjuncts(predicate, table.schema)[1]
        got = lazy.filter(predicate).select("row", "s").collect()
        assert got.equals(frame.filter(predicate).select("row", "s")), predicate
    assert pushed > 60


def test_polars_plan(shard: str, table: pa.Table) -> None:
    lazy = amudai.scan_polars(shard)
    query = lazy.filter(pl.col("i") > 2).select("row").head(3)
    assert query.collect().equals(pl.DataFrame(table).filter(pl.col("i") > 2).select("row").head(3))
    assert lazy.select(pl.len()).collect().item() == table.num_rows
    assert lazy.filter(pl.col("i") * 2 > 8).select("row").head(3).collect().height == 3
    assert lazy.join(lazy.filter(pl.col("i") == 5), on="row", how="semi").collect().height > 0


@pytest.mark.parametrize(
    "expression",
    [
        pl.col("i") > 3,
        (pl.col("i") * 2 > 3) & (pl.col("s") == "a"),
        (pl.col("f") > 1.0) & ~(pl.col("f") <= 2.0),
        pl.col("q").struct.field("n") == 2,
        pl.any_horizontal(pl.col("i", "u") > 0),
        pl.lit(True),
        pl.lit(None, pl.Boolean),
        pl.col("z") > datetime.datetime(2001, 1, 3, tzinfo=datetime.timezone.utc),
        pl.col("x").bin.starts_with(b"a"),
    ],
    ids=str,
)
def test_polars_expressions(shard: str, table: pa.Table, expression: pl.Expr) -> None:
    """Expressions of Polars are conditions as those of pyarrow, and mean what they mean in Polars."""
    opened = amudai.open(shard)
    rows = pl.DataFrame(table).filter(expression)["row"].to_list()
    expected = table.take(pa.array(rows, pa.int64()))
    assert same(opened.to_arrow(where=expression), expected)
    assert same(opened.to_arrow(["s", "row"], expression, limit=3), expected.select(["s", "row"]).slice(0, 3))
    assert opened.count(expression) == len(rows)


def test_expressions_of_several_rows(shard: str, table: pa.Table) -> None:
    """Polars has conditions that look at all rows; DuckDB has none."""
    opened = amudai.open(shard)
    i = pl.col("i")
    for expression in (i > i.mean(), i.shift() > 1, (i.cum_sum() > 3) & (i > 1), pl.col("z") > datetime.date(2001, 1, 3)):
        rows = pl.DataFrame(table).filter(expression)["row"].to_list()
        assert opened.to_arrow(["row"], expression)["row"].to_pylist() == rows
        assert opened.to_arrow(["row"], expression, limit=3)["row"].to_pylist() == rows[:3]
    with pytest.raises(duckdb.Error):
        opened.to_arrow(where=duckdb.SQLExpression("sum(i) over () > 1"))


@pytest.mark.parametrize(
    "expression",
    [
        duckdb.ColumnExpression("i") > duckdb.ConstantExpression(3),
        (duckdb.ColumnExpression("i") > 3) & duckdb.ColumnExpression("s").isin(duckdb.ConstantExpression("it's")),
        duckdb.SQLExpression("i % 2 = 0 and s like 'a%'"),
        duckdb.SQLExpression("q.n = 2 or f > 1e300"),
        duckdb.SQLExpression("z > timestamptz '2001-01-03 00:00:00+00'"),
        duckdb.SQLExpression("p > 1.5 and x = 'ab'::blob"),
        duckdb.SQLExpression("true"),
        duckdb.SQLExpression("null"),
    ],
    ids=str,
)
def test_duckdb_expressions(shard: str, table: pa.Table, expression: duckdb.Expression) -> None:
    connection = duckdb.connect()
    connection.register("theirs", table)
    rows = [row for (row,) in connection.sql(f"select row from theirs where {expression} order by row").fetchall()]
    opened = amudai.open(shard)
    expected = table.take(pa.array(rows, pa.int64()))
    assert same(opened.to_arrow(where=expression), expected)
    assert same(opened.to_arrow(["s", "row"], expression, limit=3), expected.select(["s", "row"]).slice(0, 3))
    assert opened.count(expression) == len(rows)


@pytest.mark.parametrize(
    "expression",
    [
        pd.col("i") > 3,
        ~(pd.col("i") > 3) | pd.col("b"),
        (pd.col("i") * 2 > 3) & (pd.col("s") == "a"),
        (pd.col("i") > pd.col("i").mean()) & (pd.col("u") == 1),
        (pd.col("f") >= 1.0) & ~(pd.col("f") <= 2.0),
        pd.col("z") > "2001-01-03",
        pd.col("p") >= Decimal("1.00"),
        pd.col("two words").isin([1, 2]) & pd.col("dot.ted").notna(),
        pd.col("s").str.contains("a") & (pd.col("t").dt.hour == 3),
        np.sqrt(pd.col("u")) > 1,
        pd.col("i") != pd.col("two words"),
    ],
    ids=str,
)
def test_pandas_expressions(shard: str, table: pa.Table, expression: Any) -> None:
    opened = amudai.open(shard)
    frame = opened.to_pandas()
    frame["b"] = frame["b"] == True  # noqa: E712 - of a column with nulls pandas makes objects
    rows = frame.loc[expression]["row"].to_list()
    expected = table.take(pa.array(rows, pa.int64()))
    assert same(opened.to_arrow(where=expression), expected)
    assert same(opened.to_arrow(["s", "row"], expression, limit=3), expected.select(["s", "row"]).slice(0, 3))
    assert opened.count(expression) == len(rows)


def test_pandas_types(folder: Path) -> None:
    """Types of pandas that know nulls are compared by pandas, and its errors are those of the caller."""
    frame = pd.DataFrame({"n": pd.array([1, None, 3], "Int64"), "s": ["a", "b", None]}, index=[7, 8, 9])
    amudai.write(frame, "t.amudai.shard")
    opened = amudai.open("t.amudai.shard")
    for where in (pd.col("n") > 1, ~(pd.col("n") > 1), (pd.col("n") != 3) & (pd.col("s") != "a"), pd.col("s").isna()):
        assert opened.to_pandas(where=where).equals(opened.to_pandas().loc[where])
    with pytest.raises(ValueError, match="none"):
        opened.count(pd.col("none") > 1)
    with pytest.raises(TypeError):
        opened.count(pd.col("s") > 1)


def test_duckdb(shard: str, table: pa.Table) -> None:
    con = duckdb.connect()
    amudai.register(con, "ours", shard)
    con.register("theirs", table)
    questions = [
        "select * from {} order by row",
        "select count(*) from {}",
        "select count(*), sum(i), min(d), max(s) from {} where i > 2 and s <> 'a'",
        "select row from {} where f > 1 order by row",
        "select row from {} where f >= 'nan'::double or f < -1 order by row",
        "select row from {} where not (f <= 1) order by row",
        "select row from {} where s in ('a', 'it''s', 'äöü') order by row",
        "select row from {} where s like 'a%' and t >= timestamp '2001-01-02' and t < timestamp '2001-01-04' order by row",
        "select row from {} where d = date '2001-01-04' or d is null order by row",
        "select row from {} where p between -1.5 and 1.5 and b order by row",
        "select row from {} where z > timestamptz '2001-01-02 00:00:00+00' and not b order by row",
        "select row from {} where q.n = 2 and u > 1 order by row",
        'select "two words", count(*) from {} where "dot.ted" = 1 group by 1 order by 1',
        "select a.row from {0} a join {0} b on a.row = b.row + 1 where b.i = 5 order by 1 limit 20",
        "select row from {} where x = 'ab'::blob order by row limit 5",
    ]
    for question in questions:
        ours, theirs = (con.sql(question.format(name)).to_arrow_table() for name in ("ours", "theirs"))
        assert same(ours, theirs), question


def test_sql(shard: str, table: pa.Table, folder: Path) -> None:
    con = duckdb.connect()
    con.register("theirs", table)
    (folder / "sub").mkdir()
    amudai.write(table.slice(0, 100), "sub/a b.amudai.shard")
    amudai.write(table.slice(100), "sub/rest.parquet")
    questions = [
        ("select * from 'sub/' order by row", "select * from theirs order by row"),
        (
            f"with big as (from '{shard}' where i > 2) select count(*) as n from big",
            "select count(*) as n from theirs where i > 2",
        ),
        (
            "select a.row from ours a join 'sub/rest.parquet' b using (row) order by row",
            "select row from theirs where row >= 100 order by row",
        ),
        (
            f"select i from '{shard}' where row in (select row from \"sub/a b.amudai.shard\") union select -9 order by i",
            "select i from theirs where row < 100 union select -9 order by i",
        ),
    ]
    for ours, theirs in questions:
        got = amudai.sql(ours, ours=amudai.open(shard)).to_arrow_table()
        assert same(got, con.sql(theirs).to_arrow_table()), ours
    assert amudai.sql("select count(*) from t", t=pl.DataFrame({"x": [1, 2]})).fetchall() == [(2,)]
    with pytest.raises(amudai.AmudaiError, match=r"none\.amudai\.shard does not exist"):
        amudai.sql("from 'none.amudai.shard'")
    with pytest.raises(duckdb.Error, match="selec"):
        amudai.sql("selec 1")
