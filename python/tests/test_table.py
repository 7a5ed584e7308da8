from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from conftest import same

import amudai
from amudai import _command


def test_open(shard: str, table: pa.Table) -> None:
    opened = amudai.open(shard)
    assert opened.schema == table.schema
    assert opened.num_rows == table.num_rows
    assert opened.num_bytes == Path(shard).stat().st_size
    assert [(s.stripe, s.first_row, s.rows) for s in opened.stripes] == [
        (0, 0, 1500),
        (1, 1500, 1500),
        (2, 3000, 1500),
        (3, 4500, 500),
    ]
    (row,) = [c for c in opened.statistics if c.column == "row"]
    assert (row.nulls, row.min, row.max, row.exact) == (0, 0, 4999, True)
    assert repr(opened) == f"amudai.Table({shard!r})"


def test_first_look(shard: str, table: pa.Table, folder: Path) -> None:
    opened = amudai.open(shard)
    assert len(opened) == opened.count() == table.num_rows
    assert opened.columns == table.column_names
    assert same(opened.head(), table.slice(0, 5))
    assert same(opened.head(2, ["s"], "i = 3"), table.filter(pc.field("i") == 3).select(["s"]).slice(0, 2))
    assert opened.count("i > 3") == opened.count(pc.field("i") > 3) == table.filter(pc.field("i") > 3).num_rows
    assert opened.count(pc.field("i") * 2 > 6) == table.filter(pc.field("i") > 3).num_rows
    assert list(pl.DataFrame(opened).columns) == table.column_names  # by __arrow_c_stream__, not as a sequence
    amudai.write(table.slice(0, 0), "none.parquet")
    none = amudai.open("none.parquet")
    assert none and len(none) == 0 and none.head().num_rows == 0
    amudai.write(table.select(["i"]), "t.csv")
    assert len(amudai.open("t.csv")) == table.num_rows


def test_html(folder: Path) -> None:
    """What notebooks show: text is text, and wide tables are cut."""
    columns: dict[str, Any] = {"a<b>": ["<i>&", None, "x" * 500] * 3, "dot.ted": [1.5] * 9, "q": [{"n": 1}] * 9}
    amudai.write(pa.table(columns | {f"c{i}": range(9) for i in range(50)}), "t & u.parquet")
    page = amudai.open("t & u.parquet")._repr_html_()
    assert page.startswith("<p>t &amp; u.parquet: 9 rows × 53 columns</p><table><tr><th>a&lt;b&gt;<br><small>string</small></th>")
    assert page.count("<tr>") == 6 and page.count("<th>") == 21 and "<th>…</th>" in page
    assert "<td>&lt;i&gt;&amp;</td><td>1.5</td><td>{&#x27;n&#x27;: 1}</td>" in page
    assert "<td></td>" in page and "x" * 79 + "…</td>" in page
    ElementTree.fromstring(f"<body>{page.replace('<br>', '')}</body>")
    (folder / "t.csv").write_text("a\n1\n")
    assert amudai.open("t.csv")._repr_html_().startswith("<p>t.csv: 1 columns</p>")


def test_scan(shard: str, table: pa.Table) -> None:
    opened = amudai.open(shard)
    assert same(opened.to_arrow(), table)
    assert same(pa.table(opened), table)  # by __arrow_c_stream__
    assert same(opened.to_arrow(columns=["s", "i"]), table.select(["s", "i"]))
    assert same(opened.to_arrow(columns=["q.n"]), table.select(["q"]))
    assert opened.to_arrow(columns=[]).num_rows == table.num_rows
    assert same(opened.to_arrow(limit=7), table.slice(0, 7))
    assert opened.to_arrow(limit=0).num_rows == 0
    assert same(opened.to_arrow(rows=range(1_400, 1_600)), table.slice(1_400, 200))
    assert same(opened.to_arrow(rows=slice(4_900, None)), table.slice(4_900))
    assert same(opened.to_arrow(rows="-3:"), table.slice(4_997))
    assert opened.to_arrow(rows=range(5, 3)).num_rows == 0
    assert same(
        opened.to_arrow(stripes="1,3"),
        pa.concat_tables([table.slice(1_500, 1_500), table.slice(4_500)]).combine_chunks(),
    )
    assert same(opened.to_arrow(where="i > 3 and s = 'it''s'"), table.filter((pc.field("i") > 3) & (pc.field("s") == "it's")))


def test_plan(shard: str) -> None:
    plan = amudai.open(shard).plan(["i"], pc.field("row") >= 3_000)
    assert [s.selected_rows for s in plan] == [0, 0, 1_500, 500]
    assert plan[0].selected_bytes == 0


def test_take(shard: str, table: pa.Table) -> None:
    rows = [4_999, 0, 17, 17, 3_000]
    assert same(amudai.open(shard).take(rows), table.take(rows))
    assert amudai.open(shard).take([], columns=["s"]).num_rows == 0
    with pytest.raises(amudai.AmudaiError, match="5000"):
        amudai.open(shard).take([5_000])


def test_frames(shard: str, table: pa.Table) -> None:
    columns = ["i", "f", "s", "b", "t", "p"]
    assert amudai.open(shard).to_polars(columns).equals(pl.DataFrame(table.select(columns)), null_equal=True)
    frame = amudai.read_amudai(shard, columns, "i > 0", limit=10)
    pd.testing.assert_frame_equal(frame, table.select(columns).filter(pc.field("i") > 0).slice(0, 10).to_pandas())


def test_decimals_in_pandas(folder: Path) -> None:
    """Those that repeat are one object; the frame is that of pyarrow."""
    cents = [Decimal(i % 11).scaleb(-2) if i % 7 else None for i in range(9_000)]
    columns = {
        "few": pa.array(cents, pa.decimal128(15, 2)),
        "many": pa.array([Decimal(i) for i in range(9_000)], pa.decimal128(38, 10)),
        "none": pa.nulls(9_000, pa.decimal128(3, 1)),
        "f": pa.array([1.5] * 9_000),
    }
    table = pa.table([*columns.values(), columns["few"]], [*columns, "few"])  # names may repeat
    for expected in (table, table.slice(0, 10), table.slice(0, 0)):
        amudai.write(expected, "t.amudai.shard", force=True, stripe_rows=2_000)
        frame = amudai.open("t.amudai.shard").to_pandas()
        pd.testing.assert_frame_equal(frame, expected.to_pandas())
        assert list(frame.iloc[:, 0]) == expected.column(0).to_pylist()
    priced = pd.DataFrame({"n": range(9_000)}, index=pd.Index(cents, name="price"))
    amudai.write(priced, "p.amudai.shard")
    pd.testing.assert_frame_equal(amudai.open("p.amudai.shard").to_pandas(), priced)


def test_open_while_others_write(folder: Path, table: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is replaced between two reads of opening it is opened as it is then. One that never stays is an error."""
    amudai.write(table, "t.amudai.shard")
    plan, changes = _command.plan, [3]

    def replaced(*arguments: Any) -> Any:
        if changes[0] > 0:
            changes[0] -= 1
            raise amudai.ChangedError("t.amudai.shard has changed since it was opened")
        return plan(*arguments)

    monkeypatch.setattr(_command, "plan", replaced)
    assert len(amudai.open("t.amudai.shard")) == table.num_rows
    changes[0] = 100
    with pytest.raises(amudai.ChangedError):
        amudai.open("t.amudai.shard")


def test_several(folder: Path) -> None:
    amudai.write(pa.table({"a": [1, 2]}), "1.amudai.shard")
    amudai.write(pa.table({"a": [3], "b": ["x"]}), "2.amudai.shard")
    expected = [{"a": 1, "b": None}, {"a": 2, "b": None}, {"a": 3, "b": "x"}]
    choices: list[Any] = [["1.amudai.shard", Path("2.amudai.shard")], "*.amudai.shard", "."]
    for locations in choices:
        assert amudai.open(locations).to_arrow().to_pylist() == expected
        assert amudai.open(locations).num_rows == 3


@pytest.mark.parametrize("name", ["t.amudai.shard", "t.parquet", "t.arrow", "t.root"])
def test_write(folder: Path, table: pa.Table, name: str) -> None:
    plain = table.select(["row", "i", "f", "s", "b"])
    amudai.write(plain, name)
    assert same(amudai.open(name).to_arrow().cast(plain.schema), plain)
    with pytest.raises(amudai.AmudaiError, match="exists"):
        amudai.write(plain, name)
    amudai.write(plain.slice(0, 3), name, force=True)
    assert amudai.open(name).num_rows == 3


def test_write_from_everything(folder: Path, table: pa.Table) -> None:
    plain = table.select(["row", "s"])
    (batch,) = plain.to_batches()
    for i, data in enumerate([plain, batch, plain.to_reader(100), pl.DataFrame(plain), plain.to_pandas()]):
        amudai.write(data, f"{i}.amudai.shard", index=["s"], profile="plain")
        assert amudai.open(f"{i}.amudai.shard").to_arrow().cast(plain.schema).equals(plain)
        amudai.verify(f"{i}.amudai.shard")


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.arrow"])
def test_frames_of_other_formats(folder: Path, table: pa.Table, name: str) -> None:
    plain = table.select(["row", "i", "s"])
    amudai.write(plain, name)
    amudai.write(plain, "0.amudai.shard")
    assert amudai.open(name).to_polars()["row"].to_list() == list(range(table.num_rows))
    assert amudai.scan_polars(name).filter(pl.col("row") < 3).select("row").collect()["row"].to_list() == [0, 1, 2]
    assert amudai.open([name, "0.amudai.shard"]).to_polars(["row"]).height == 2 * table.num_rows


def test_columns_beside_a_condition_of_pyarrow(shard: str, table: pa.Table) -> None:
    """A condition without a text reads whole columns."""
    where = pc.field("i") * 2 > 6
    for name in ("dot.ted", "dot\\.ted"):
        assert same(amudai.open(shard).to_arrow([name], where), table.filter(where).select(["dot.ted"]))
    assert amudai.open(shard).to_arrow([], where).num_rows == table.filter(where).num_rows
    with pytest.raises(ValueError, match="q.n"):
        amudai.open(shard).to_arrow(["q.n"], where)


def test_parts(folder: Path) -> None:
    """A part has the columns of the table; a format that is named is not that of the stream which gives them."""
    Path("1.txt").write_text("zip,n\n00501,1\n")
    Path("2.txt").write_text("n\n2\n")
    one, both = amudai.open("1.txt", from_="csv"), amudai.open(["1.txt", "2.txt"], from_="csv")
    assert one.scan_part("1.txt", None).read_all().to_pylist() == [{"zip": "00501", "n": 1}]
    assert both.to_arrow().to_pylist() == [{"zip": "00501", "n": 1}, {"zip": None, "n": 2}]
    with pytest.raises(ValueError, match="from_"):
        both.scan_part("1.txt", None)


def test_csv(folder: Path) -> None:
    Path("t.csv").write_text("zip,n\n00501,1\n10001,\n")
    opened = amudai.open("t.csv")
    assert opened.num_rows == 2
    assert opened.to_arrow().to_pylist() == [{"zip": "00501", "n": 1}, {"zip": "10001", "n": None}]
    assert amudai.open("t.csv", schema="zip:int32").to_arrow().column("zip").to_pylist() == [501, 10001]


def test_values_of_repeated_options(folder: Path) -> None:
    Path("t.csv").write_text("n,b\nN/A,ja\n-,nein\n3,ja\n")
    opened = amudai.open("t.csv", null=["N/A", "-"], true=["ja"], false=["nein", "no"])
    expected = [{"n": None, "b": True}, {"n": None, "b": False}, {"n": 3, "b": True}]
    assert opened.to_arrow().to_pylist() == expected


def test_names_that_look_like_something_else(folder: Path) -> None:
    table = pa.table({name: [1, 2] for name in ["a,b", 'a"b', " a", "dot.ted", "b\\c", "--limit"]})
    amudai.write(table, "--odd.amudai.shard")
    opened = amudai.open("--odd.amudai.shard")
    assert same(opened.to_arrow(), table)
    for name in table.column_names:
        path = name.replace("\\", "\\\\").replace(".", "\\.")
        assert opened.to_arrow([path]).column_names == [name]
        assert opened.to_arrow(where=pc.field(name) == 2).num_rows == 1


def test_errors(folder: Path, shard: str) -> None:
    with pytest.raises(amudai.AmudaiError, match=r"^nothing\.amudai\.shard does not exist"):
        amudai.open("nothing.amudai.shard")
    with pytest.raises(amudai.AmudaiError, match='no column "rwo": is row meant'):
        amudai.open(shard).to_arrow(["rwo"])
    with pytest.raises(amudai.AmudaiError, match="nothing"):
        amudai.open(shard).to_arrow(where="nothing = 1")
    with pytest.raises(amudai.AmudaiError, match="unknown flag: --no-such-flag"):
        amudai.open(shard).to_arrow(no_such_flag=1)
    with pytest.raises(TypeError):
        amudai.open(shard).to_arrow(columns="row")
    with pytest.raises(TypeError):
        amudai.open(shard).to_arrow(where=3)
    with pytest.raises(ValueError, match="take"):
        amudai.open(shard).to_arrow(rows=range(0, 10, 2))
    with pytest.raises(ValueError, match="limit"):
        amudai.open(shard).to_arrow(limit=-1)
    wrong: list[list[str]] = [["-"], []]
    for locations in wrong:
        with pytest.raises(ValueError):
            amudai.open(locations)


def test_damage(folder: Path, shard: str) -> None:
    """No byte that is changed gives other values; nothing ends early without an error."""
    whole = amudai.open(shard).to_arrow()
    data = bytearray(Path(shard).read_bytes())
    for at in range(0, len(data), len(data) // 40):
        damaged = bytearray(data)
        damaged[at] ^= 0xFF
        Path("damaged.amudai.shard").write_bytes(damaged)
        try:
            assert same(amudai.open("damaged.amudai.shard").to_arrow(), whole)
        except amudai.AmudaiError as e:
            assert "damaged.amudai.shard" in str(e)  # noqa: PT017 - either is right


def test_verify(folder: Path, shard: str) -> None:
    amudai.verify(shard)
    data = bytearray(Path(shard).read_bytes())
    data[len(data) // 3] ^= 1
    Path("damaged.amudai.shard").write_bytes(data)
    with pytest.raises(amudai.AmudaiError, match="damaged"):
        amudai.verify("damaged.amudai.shard")
