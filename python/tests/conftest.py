from __future__ import annotations

import datetime
import random
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import amudai

ROWS = 5_000


def values(rows: int = ROWS, seed: int = 1) -> pa.Table:
    """A table with the types that conditions are about, with nulls and special floats, the same in each run."""
    draw = random.Random(seed)

    def some(make: object) -> list[object]:
        return [None if draw.random() < 0.1 else make() for _ in range(rows)]  # type: ignore[operator]

    texts = ["", "a", "ab", "abc", "it's", 'say "hi"', "b\\c", "äöü", "zz%_", "line\nbreak"]
    floats = [0.0, -0.0, 1.5, -1.5, float("nan"), float("inf"), float("-inf"), 0.1]
    start = datetime.datetime(2001, 1, 1)
    return pa.table(
        {
            "row": pa.array(range(rows), pa.int64()),
            "i": pa.array(some(lambda: draw.randint(-5, 5)), pa.int32()),
            "u": pa.array(some(lambda: draw.choice([0, 1, 2**64 - 1])), pa.uint64()),
            "f": pa.array(some(lambda: draw.choice(floats)), pa.float64()),
            "s": pa.array(some(lambda: draw.choice(texts)), pa.string()),
            "b": pa.array(some(lambda: draw.random() < 0.5), pa.bool_()),
            "d": pa.array(some(lambda: start.date() + datetime.timedelta(draw.randint(0, 9))), pa.date32()),
            "t": pa.array(some(lambda: start + datetime.timedelta(hours=draw.randint(0, 99))), pa.timestamp("us")),
            "z": pa.array(some(lambda: start + datetime.timedelta(hours=draw.randint(0, 99))), pa.timestamp("us", "UTC")),
            "p": pa.array(some(lambda: Decimal(draw.randint(-500, 500)).scaleb(-2)), pa.decimal128(12, 2)),
            "x": pa.array(some(lambda: draw.choice([b"", b"\x00", b"ab"])), pa.binary()),
            "two words": pa.array(some(lambda: draw.randint(0, 3)), pa.int16()),
            "dot.ted": pa.array(some(lambda: draw.randint(0, 3)), pa.int8()),
            "q": pa.StructArray.from_arrays([pa.array(some(lambda: draw.randint(0, 3)), pa.int64())], ["n"]),
        }
    )


def same(a: pa.Table, b: pa.Table) -> bool:
    """Whether two tables have the same columns and values, of which floats have the same bits."""

    def bits(t: pa.Table) -> pa.Table:
        t = t.combine_chunks()
        for i, f in enumerate(t.schema):
            if pa.types.is_float64(f.type) and t.num_rows:
                t = t.set_column(i, f.name, t.column(i).chunk(0).view(pa.int64()))
        return t

    return bool(a.schema == b.schema and bits(a).equals(bits(b)))


@pytest.fixture(scope="session")
def table() -> pa.Table:
    return values()


@pytest.fixture(scope="session")
def shard(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The values in a shard of four stripes."""
    path = tmp_path_factory.mktemp("data") / "values.amudai.shard"
    amudai.write(table, str(path), stripe_rows=1_500)
    return str(path)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, in which the test works."""
    monkeypatch.chdir(tmp_path)
    return tmp_path
