"""Conditions on special values: those that are pushed down give the rows that the engine gives which they come from."""

from __future__ import annotations

import datetime
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy
import pandas
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import special
from special import FLOATS, TEXTS

import amudai
from amudai import _filter, _pandas, _polars

QUESTIONS = 400

COLUMNS = special.columns()
WHOLE = [
    0,
    1,
    -1,
    2048,
    2049,
    4097,
    127,
    128,
    255,
    256,
    -128,
    -129,
    2**15,
    2**24,
    2**24 + 1,
    2**31 - 1,
    2**31,
    -(2**31),
    2**32,
    2**53 + 1,
]
WHOLE += [2**63 - 1, -(2**63), 2**63, 2**64 - 1]
DECIMALS = [*COLUMNS["p38"][1], Decimal("0.001"), Decimal("1.5"), Decimal(10) ** 20]
DATES = [datetime.date(*d) for d in ((1, 1, 1), (9999, 12, 31), (1970, 1, 1), (2000, 1, 1), (1969, 12, 31))]
TIMES = [datetime.datetime(d.year, d.month, d.day) for d in DATES]
TIMES += [TIMES[1] + datetime.timedelta(days=1, microseconds=-1), TIMES[2] + datetime.timedelta(microseconds=1)]
TIMES += [TIMES[3] + datetime.timedelta(microseconds=n) for n in (1, 1000)] + [TIMES[2] - datetime.timedelta(microseconds=1)]

# What a test can fail with if a constant does not fit a column.
REFUSED = (ArithmeticError, pa.ArrowException, pl.exceptions.PolarsError, duckdb.Error, OverflowError, TypeError, ValueError)


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("special") / "special.amudai.shard"
    amudai.write(special.table(), path, stripe_rows=400)
    return str(path)


def is_text(name: str) -> bool:
    return name in ("s", "ls", "sv", "cat")


def constants(name: str) -> list[Any]:
    """Values that a column is compared with: numbers with numbers of all kinds, times with dates, and so on."""
    kind = COLUMNS[name][0]
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return [*WHOLE, *FLOATS, *DECIMALS]
    if pa.types.is_date(kind):
        return [*DATES, *TIMES]
    if pa.types.is_timestamp(kind):
        return [t.replace(tzinfo=datetime.timezone.utc) if kind.tz else t for t in TIMES] + DATES[:1]
    return TEXTS if is_text(name) else COLUMNS[name][1]


def tree(draw: random.Random, leaf: Callable[[], Any], depth: int = 2) -> Any:
    """Conditions that are combined; those of SQL are texts."""
    if depth == 0 or draw.random() < 0.5:
        return leaf()
    a, b = (tree(draw, leaf, depth - 1) for _ in range(2))
    if isinstance(a, str):
        return draw.choice([f"({a} and {b})", f"({a} or {b})", f"(not {a})"])
    return draw.choice([a & b, a | b, ~a])


def compared(draw: random.Random, column: Any, value: Any) -> Any:
    a, b = (column, value) if draw.random() < 0.8 else (value, column)
    return draw.choice([a == b, a != b, a < b, a <= b, a > b, a >= b])


def check(
    draw: random.Random,
    leaf: Callable[[], Any],
    wanted: Callable[[Any], Any],
    got: Callable[[Any], Any],
    questions: int = QUESTIONS,
) -> None:
    asked = 0
    for _ in range(questions):
        try:
            condition = tree(draw, leaf)
            rows = wanted(condition)
        except REFUSED:
            continue
        asked += 1
        assert got(condition) == rows, str(condition)
    assert asked > questions // 2


def polars_leaf(draw: random.Random) -> pl.Expr:
    name = draw.choice(list(COLUMNS))
    column, kind = pl.col(name), COLUMNS[name][0]

    def constant() -> pl.Expr:
        value = draw.choice(constants(name))
        if isinstance(value, datetime.datetime) and draw.random() < 0.5:
            return pl.lit(value, dtype=pl.Datetime(draw.choice(["ms", "us", "ns"]), "UTC" if value.tzinfo else None))
        if isinstance(value, int) and draw.random() < 0.2:
            return pl.lit(value, dtype=draw.choice([pl.Int8, pl.Int64, pl.UInt64, pl.Float32, pl.Float64]))
        return pl.lit(value)

    match draw.randrange(10):
        case 0 | 1:
            return column.is_between(constant(), constant(), closed=draw.choice(["both", "left", "right", "none"]))
        case 2:
            values = [pl.select(constant()).to_series()[0] for _ in range(draw.randint(0, 3))]
            return column.is_in([*values, *([None] if draw.random() < 0.2 else [])], nulls_equal=draw.random() < 0.2)
        case 3 if is_text(name):
            text = draw.choice(TEXTS)
            return draw.choice(
                [column.str.starts_with(text), column.str.ends_with(text), column.str.contains(text, literal=True)]
            )
        case 3 if pa.types.is_floating(kind):
            return draw.choice([column.is_nan(), column.is_not_nan(), column.is_finite(), column.is_infinite()])
        case 4:
            nothing = pl.lit(None, dtype=pl.Boolean)
            return draw.choice(
                [column.is_null(), column.is_not_null(), pl.col("b"), ~pl.col("b"), nothing, column == pl.lit(None)]
            )
    return compared(draw, column, constant())  # type: ignore[no-any-return]


def test_polars(shard: str) -> None:
    draw = random.Random(1)
    lazy = amudai.scan_polars(shard)
    frame = pl.DataFrame(amudai.open(shard).to_arrow())
    assert lazy.collect().equals(frame)
    schema = amudai.open(shard).schema
    texts = []

    def wanted(condition: pl.Expr) -> list[int]:
        texts.append(_polars.conjuncts(condition, schema)[0])
        return frame.filter(condition)["row"].to_list()

    check(draw, lambda: polars_leaf(draw), wanted, lambda c: lazy.filter(c).select("row").collect()["row"].to_list())
    assert sum(t is not None for t in texts) > QUESTIONS // 4
    opened = amudai.open(shard)
    check(draw, lambda: polars_leaf(draw), wanted, lambda c: opened.to_arrow(["row"], c)["row"].to_pylist(), 100)


@pytest.mark.parametrize("infinite", [float("inf"), float("-inf"), float("nan")])
def test_polars_infinite(shard: str, infinite: float) -> None:
    """JSON has no such floats."""
    lazy, frame = amudai.scan_polars(shard), pl.DataFrame(amudai.open(shard).to_arrow())
    for name in ("f64", "f32", "f16", "i8", "u64"):
        c = pl.col(name)
        for where in (c <= infinite, c == infinite, c != infinite, c > infinite, infinite > c, c.is_between(-1.0, infinite)):
            assert lazy.filter(where).select("row").collect().equals(frame.filter(where).select("row")), where


def test_polars_times(shard: str) -> None:
    """Times of another unit than that of the column leave most of the rows out, and Polars the others."""
    schema = amudai.open(shard).schema
    for name in ("t_s", "t_ms", "t_us", "t_ns"):
        for unit in ("ms", "us", "ns"):
            where = pl.col(name).is_between(pl.lit(TIMES[3], dtype=pl.Datetime(unit)), pl.lit(TIMES[2]))
            text, _ = _polars.conjuncts(where, schema)
            assert text and text.count(" and ") == 1


def arrow_leaf(draw: random.Random) -> pc.Expression:
    # pyarrow cannot filter tables with views.
    name = draw.choice([n for n in COLUMNS if n != "sv"])
    column, kind = pc.field(name), COLUMNS[name][0]
    plain = kind.value_type if isinstance(kind, pa.DictionaryType) else kind

    def constant() -> pa.Scalar:
        value = draw.choice(constants(name))
        if isinstance(value, datetime.datetime):
            return pa.scalar(
                value, pa.timestamp(draw.choice(list(special.TICKS)), value.tzinfo and draw.choice(["UTC", "+02:00"]))
            )
        if draw.random() < 0.3:
            return pa.scalar(draw.choice(COLUMNS[name][1]), plain)
        return pa.scalar(value, pa.uint64() if isinstance(value, int) and value >= 2**63 else None)

    match draw.randrange(10):
        case 0 | 1:
            values = [constant() for _ in range(draw.randint(0, 3))]
            values += [pa.scalar(None, plain)] if draw.random() < 0.2 else []
            among = pa.array([v.as_py() for v in values], values[0].type if values else plain)
            return pc.is_in(column, options=pc.SetLookupOptions(among, skip_nulls=draw.random() < 0.3))
        case 2 if is_text(name):
            return draw.choice([pc.starts_with, pc.ends_with, pc.match_substring])(column, draw.choice(TEXTS))
        case 3:
            special_floats = [pc.is_nan(column), column.is_null(nan_is_null=True)] if pa.types.is_floating(kind) else []
            return draw.choice([column.is_null(), column.is_valid(), pc.field("b"), pc.scalar(False), *special_floats])
    return compared(draw, column, pc.scalar(constant()))


def test_pyarrow(shard: str) -> None:
    draw = random.Random(2)
    opened = amudai.open(shard)
    table = opened.to_arrow().drop_columns(["sv"])
    names = [_filter.path(n) for n in table.column_names]
    pushed = 0

    def got(condition: pc.Expression) -> list[int]:
        nonlocal pushed
        text, whole = _filter.conjuncts(condition, opened.schema)
        pushed += text is not None
        if whole:
            return opened.to_arrow(["row"], condition)["row"].to_pylist()  # type: ignore[no-any-return]
        return opened.to_arrow(names, text).filter(condition)["row"].to_pylist()  # type: ignore[no-any-return]

    check(draw, lambda: arrow_leaf(draw), lambda c: table.filter(c)["row"].to_pylist(), got)
    assert pushed > QUESTIONS // 4


def pandas_leaf(draw: random.Random) -> Any:
    name = draw.choice(list(COLUMNS))
    column, kind = pandas.col(name), COLUMNS[name][0]

    def constant() -> Any:
        value = draw.choice(constants(name))
        if isinstance(value, datetime.datetime):
            return draw.choice([value, pandas.Timestamp(value), value.isoformat(), pandas.Timestamp(value).to_datetime64()])
        return numpy.float64(value) if isinstance(value, float) and draw.random() < 0.3 else value

    match draw.randrange(12):
        case 0 | 1:
            return column.between(constant(), constant(), inclusive=draw.choice(["both", "left", "right", "neither"]))
        case 2:
            return column.isin([constant() for _ in range(draw.randint(0, 3))])
        case 3 | 4 if is_text(name):
            text = draw.choice(TEXTS)
            return draw.choice(
                [
                    column.str.startswith(text),
                    column.str.endswith(text),
                    column.str.contains(text),
                    column.str.contains(text, regex=False),
                    column.str.len() > 1,
                ]
            )
        case 5:
            return draw.choice([column.isna(), column.notna(), pandas.col("row") % 3 == 1, pandas.col("row") > 700])
        case 6 if special.TICKS.get(name[2:]):
            return column.dt.year >= 2000
        case 6 if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            return draw.choice([column * 2 > 1, column > column.mean(), column == column.max(), column.abs() > 1])
    return compared(draw, column, constant())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of numpy, about floats that overflow
def test_pandas(shard: str) -> None:
    """The rows are those that pandas chooses of the frame."""
    draw = random.Random(4)
    opened = amudai.open(shard)
    frame = opened.to_pandas()
    texts = []

    def wanted(condition: Any) -> list[int]:
        texts.append(_pandas.condition(condition, opened.schema)[0])
        return frame.loc[condition]["row"].to_list()  # type: ignore[no-any-return]

    check(draw, lambda: pandas_leaf(draw), wanted, lambda c: opened.to_arrow(["row"], c)["row"].to_pylist())
    assert sum(t is not None for t in texts) > QUESTIONS // 2


# DuckDB pushes nothing down to tables with views, and has no floats of 16 bits.
FOREIGN = ["sv", "f16"]


def sql(draw: random.Random, name: str) -> str:
    """A constant of SQL."""
    value = draw.choice(constants(name))
    if isinstance(value, float):
        return f"'{value}'::{draw.choice(['double', 'double', 'float'])}"
    if isinstance(value, str):
        return "'" + value.replace("\x00", "").replace("'", "''") + "'"
    if isinstance(value, bytes):
        return "'" + "".join(f"\\x{b:02x}" for b in value) + "'::blob"
    if isinstance(value, datetime.datetime):
        kinds = ["timestamptz"] if value.tzinfo else ["timestamp", "timestamp_s", "timestamp_ms"]
        if name == "t_ns":  # DuckDB refuses the first of others, if it comes to compare it
            kinds.append("timestamp_ns")
        return f"{draw.choice(kinds)} '{draw.choice([value.isoformat(' '), 'infinity', '-infinity'])}'"
    return f"date '{value}'" if isinstance(value, datetime.date) else str(value)


def sql_leaf(draw: random.Random) -> str:
    name = draw.choice([n for n in COLUMNS if n not in FOREIGN])
    c = f'"{name}"'
    match draw.randrange(10):
        case 0 | 1:
            return f"{c} between {sql(draw, name)} and {sql(draw, name)}"
        case 2:
            values = [sql(draw, name) for _ in range(draw.randint(1, 3))] + (["null"] if draw.random() < 0.2 else [])
            return f"{c} in ({', '.join(values)})"
        case 3 if is_text(name):
            form = draw.choice(["starts_with({}, {})", "ends_with({}, {})", "contains({}, {})", "{} like {} || '%'"])
            return form.format(c, sql(draw, name))
        case 3 if name[0] == "f":
            return draw.choice([f"isnan({c})", f"isfinite({c})"])
        case 4:
            return draw.choice([f"{c} is null", f"{c} is not null", "b", "not b", "null::boolean", f"{c} = null"])
    a, b = (c, sql(draw, name)) if draw.random() < 0.8 else (sql(draw, name), c)
    return f"{a} {draw.choice(['=', '<>', '<', '<=', '>', '>=', 'is not distinct from', 'is distinct from'])} {b}"


def test_duckdb(shard: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are those of a table of DuckDB's own."""
    draw = random.Random(3)
    table = amudai.open(shard).to_arrow().drop_columns(FOREIGN)
    amudai.write(table, "t.amudai.shard", stripe_rows=400)
    con = duckdb.connect()
    con.execute("set timezone = 'UTC'")
    con.register("table_", table)
    con.execute("create table theirs as select * from table_")
    amudai.register(con, "ours", "t.amudai.shard")
    pushed: list[str | None] = []
    conjuncts = _filter.conjuncts

    def noted(expression: Any, schema: pa.Schema) -> tuple[str | None, bool]:
        pushed.append(conjuncts(expression, schema)[0])
        return conjuncts(expression, schema)

    monkeypatch.setattr(_filter, "conjuncts", noted)

    def rows(name: str, condition: str) -> Any:
        return con.execute(f"select row from {name} where {condition} order by row").fetchall()

    check(draw, lambda: sql_leaf(draw), lambda c: rows("theirs", c), lambda c: rows("ours", c))
    assert sum(p is not None for p in pushed) > QUESTIONS // 10
    opened = amudai.open("t.amudai.shard")
    check(
        draw,
        lambda: sql_leaf(draw),
        lambda c: [row for (row,) in rows("theirs", c)],
        lambda c: opened.to_arrow(["row"], duckdb.SQLExpression(c))["row"].to_pylist(),
        100,
    )
    pushed.clear()
    assert rows("ours", "s in ('a', 'b')") == rows("theirs", "s in ('a', 'b')")
    assert pushed == ["((`s` in ('a', 'b')))"]


def test_duckdb_views(folder: Path) -> None:
    """Frames of Polars have views of strings, which DuckDB pushes no condition down for."""
    frame = pl.DataFrame({"row": range(1000), "s": ["a", "b", None, "c"] * 250})
    amudai.write(frame, "t.amudai.shard")
    assert amudai.open("t.amudai.shard").schema.field("s").type == pa.string_view()
    con = duckdb.connect()
    amudai.register(con, "t", "t.amudai.shard")
    question = "select row, s from t where row < 10 and s > 'a' order by row"
    assert "Filters:" in con.execute(f"explain {question}").fetchall()[0][1]
    assert con.execute(question).fetchall() == frame.filter((pl.col("row") < 10) & (pl.col("s") > "a")).rows()
    assert con.execute("select * from t order by row").fetchall() == frame.rows()


def test_categories(folder: Path) -> None:
    """Columns of categories are read as such, whatever their values are, at any depth."""
    frame = pl.DataFrame(
        {
            "e": pl.Series(["b", "a", None, "c"], dtype=pl.Enum(["c", "b", "a"])),
            "c": pl.Series(["x", None, "", "x"], dtype=pl.Categorical),
            "l": pl.Series([["x"], None, [], ["y", None]], dtype=pl.List(pl.Categorical)),
            "q": pl.Series([{"c": "v"}, {"c": None}, {"c": "w"}, {"c": "v"}], dtype=pl.Struct({"c": pl.Categorical})),
            "s": ["p", "q", "r", "s"],
        }
    )
    for name in ("t.amudai.shard", "t.parquet", "t.arrow"):
        amudai.write(frame, name)
        lazy = amudai.scan_polars(name)
        assert lazy.collect_schema() == frame.schema
        assert lazy.collect().equals(frame)
        assert amudai.open(name).to_polars().equals(frame)
        for where in (
            pl.col("c") == "x",
            pl.col("c") < "x",
            pl.col("e") >= "b",
            pl.col("e") == "a",
            pl.col("c").is_in(["", "y"]),
        ):
            assert lazy.filter(where).collect().equals(frame.filter(where)), where
    amudai.write(pl.concat([frame] * 2), "u.amudai.shard", stripe_rows=3)
    assert amudai.scan_polars(["t.amudai.shard", "u.amudai.shard"]).collect().height == 12
    plain = pa.table({"k": pa.array([5, 6, 5]).dictionary_encode(), "x": pa.array([b"x", None, b"y"]).dictionary_encode()})
    amudai.write(plain, "v.amudai.shard")
    assert amudai.scan_polars("v.amudai.shard").filter(pl.col("k") == 5).collect()["x"].to_list() == [b"x", b"y"]


def test_polars_types(folder: Path) -> None:
    """A lazy frame has the types that Polars has for those of the table."""
    day = datetime.date(2001, 2, 3)
    columns = {
        "null": pa.nulls(3),
        "date64": pa.array([day, None, day], pa.date64()),
        "time32": pa.array([1, None, 2], pa.time32("ms")),
        "time64": pa.array([1, None, 2], pa.time64("us")),
        "duration": pa.array([1, None, 2], pa.duration("s")),
        "float16": pa.array([1.5, None, float("inf")], pa.float16()),
        "fixed": pa.array([b"ab", None, b"cd"], pa.binary(2)),
        "list": pa.array([[1], None, []], pa.list_(pa.int8())),
        "list of texts": pa.array([["a"], None, []], pa.large_list(pa.string_view())),
        "fixed list": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2)),
        "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": ""}]),
        "map": pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int32())),
        "decimal": pa.array([Decimal("1.5"), None, Decimal("-2.25")], pa.decimal128(20, 2)),
        "large": pa.array([b"x", None, b""], pa.large_binary()),
    }
    for name, column in columns.items():
        table = pa.table({"row": [0, 1, 2], name: column})
        amudai.write(table, "t.amudai.shard", force=True)
        frame = pl.DataFrame(amudai.open("t.amudai.shard").to_arrow())
        lazy = amudai.scan_polars("t.amudai.shard")
        assert lazy.collect().equals(frame), name
        for where in (pl.col(name).is_null(), pl.col("row") > 0):
            assert lazy.filter(where).collect().equals(frame.filter(where)), name
