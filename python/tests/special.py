"""A table with the special values of each type, and conditions on it that are drawn at random, always the same."""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from typing import Any

import pyarrow as pa

ROWS = 1_500
DAY = datetime.date(1970, 1, 1).toordinal()

INTEGERS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}

FLOATS = [0.0, -0.0, 1.0, -1.0, 0.1, 1.5, float("nan"), float("inf"), float("-inf"), 5e-324, 1.7976931348623157e308]
FLOATS += [
    -1.7976931348623157e308,
    2049.0,
    float(2**24 + 1),
    float(2**53),
    float(2**63),
    float(2**64),
    3.4028234663852886e38,
    65504.0,
]

TEXTS = [
    "",
    " ",
    "a",
    "A",
    "ab",
    "b",
    "it's",
    'say "hi"',
    "b\\c",
    "%",
    "_",
    "a%",
    "äöü",
    "ÄÖÜ",
    "é",
    "e\u0301",
    "ß",
    "ss",
    "𝄞",
    "\uffff",
]
TEXTS += ["a\x00", "\x00", "line\nbreak", "\U0010ffff", "nan", "null", "a" * 40]

BYTES = [b"", b"\x00", b"\x00\x00", b"a", b"ab", b"\xff", b"\xff\xfe", "ä".encode(), b"'"]

# Ticks since 1970 in the unit of a column.
TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _ticks(unit: str) -> list[int]:
    second = TICKS[unit]
    whole = [0, -1, 1, second, -second, 86_400 * second, 946_684_800 * second, 946_684_800 * second + 1, 946_684_800 * second - 1]
    if unit == "ns":
        return [*whole, 1_000, 1_001, 999, -999, -1_001, 2**63 - 1, -(2**63) + 1]
    if unit == "us":
        whole += [1_000, 1_001, 999, -999]
    least, most = ((datetime.date(y, m, d).toordinal() - DAY) * 86_400 for y, m, d in ((1, 1, 1), (9999, 12, 31)))
    return [*whole, least * second, (most + 86_400) * second - 1]


def integers(bits: int, signed: bool) -> list[int]:
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return [least, least + 1, 0, 1, most - 1, most, *([-1] if signed else [1 << bits - 1])]


def columns() -> dict[str, tuple[pa.DataType, list[Any]]]:
    """The types of columns, and their special values as pyarrow takes them."""
    out: dict[str, tuple[pa.DataType, list[Any]]] = {}
    for name, bits in INTEGERS.items():
        signed = name[0] == "i"
        kind = getattr(pa, f"{'' if signed else 'u'}int{bits}")()
        out[name] = kind, integers(bits, signed)
    out["f16"] = pa.float16(), [v for v in FLOATS if not 65504 < abs(v) < float("inf")]
    out["f32"] = pa.float32(), [v for v in FLOATS if not 3.5e38 < abs(v) < float("inf")]
    out["f64"] = pa.float64(), FLOATS
    out["s"], out["ls"], out["sv"] = ((t, TEXTS) for t in (pa.string(), pa.large_string(), pa.string_view()))
    out["cat"] = pa.dictionary(pa.int32(), pa.string()), TEXTS
    out["x"], out["x2"] = (pa.binary(), BYTES), (pa.binary(2), [b for b in BYTES if len(b) == 2])
    out["b"] = pa.bool_(), [True, False]
    days = [-719_162, 2_932_896, 0, 1, -1, 10_957, 10_958]
    out["d"] = pa.date32(), days
    for unit in TICKS:
        out[f"t_{unit}"], out[f"z_{unit}"] = ((pa.timestamp(unit, zone), _ticks(unit)) for zone in (None, "UTC"))
    small = [Decimal(v) for v in ("0", "0.01", "-0.01", "1.00", "999.99", "-999.99", "1.50")]
    out["p"] = pa.decimal128(5, 2), small
    large = "9" * 24 + "." + "9" * 10  # the most digits that shards have
    out["p38"] = (
        pa.decimal128(38, 10),
        [*small, Decimal(large), Decimal("-" + large), Decimal("1e-10"), Decimal(2**63), Decimal(2**64)],
    )
    return out


def table(seed: int = 11) -> pa.Table:
    """The special values in random rows, with nulls, in columns whose order is random, too, and the numbers of the rows."""
    draw = random.Random(seed)
    arrays: dict[str, pa.Array] = {"row": pa.array(range(ROWS), pa.int64())}
    for name, (kind, values) in columns().items():
        chosen = [None if draw.random() < 0.1 else draw.choice(values) for _ in range(ROWS)]
        if isinstance(kind, pa.DictionaryType):
            arrays[name] = pa.array(chosen, pa.string()).dictionary_encode()
        else:
            arrays[name] = pa.array(chosen, kind)
    return pa.table(arrays)
