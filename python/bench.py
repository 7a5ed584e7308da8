"""Times batches of a shard in Python, beside Polars on the same rows as Parquet: python bench.py T.amudai.shard T.parquet
T is lineitem of TPC-H, or flights (shared/bench)."""

from __future__ import annotations

import datetime
import statistics
import sys
import time
from collections.abc import Callable

import polars as pl

import amudai
from amudai import _session

ROUNDS = 15

# Columns, and a condition for amudai and for Polars.
QUESTIONS = {
    "l_orderkey": (
        ["l_orderkey", "l_extendedprice", "l_discount", "l_shipdate"],
        "l_shipdate >= '1994-01-01' and l_shipdate < '1994-03-01' and l_quantity < 10",
        (pl.col("l_shipdate") >= datetime.date(1994, 1, 1))
        & (pl.col("l_shipdate") < datetime.date(1994, 3, 1))
        & (pl.col("l_quantity") < 10),
    ),
    "origin": (["date", "delay", "distance"], "origin = 'SFO'", pl.col("origin") == "SFO"),
}


def main(shard: str, parquet: str) -> None:
    table = amudai.open(shard)
    columns, where, condition = next(q for name, q in QUESTIONS.items() if name in table.schema.names)

    def scan() -> None:
        assert sum(batch.num_rows for batch in table.scan()) == table.num_rows

    in_turn(
        {
            "all batches": scan,
            "to_polars of a condition": lambda: table.to_polars(columns=columns, where=where),
            "scan_polars of the same, opened": lambda: amudai.scan_polars(shard).filter(condition).select(columns).collect(),
            "Polars on Parquet": lambda: pl.scan_parquet(parquet).filter(condition).select(columns).collect(),
        }
    )
    if _session.shares:  # as on other systems than Linux
        _session.idle.clear()
        _session.shares = False
        in_turn({"all batches by a pipe": scan})


def in_turn(runs: dict[str, Callable[[], object]]) -> None:
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            begin = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - begin) * 1e3)
    for name, all_ in times.items():
        print(f"{name:34} {statistics.median(all_):8.1f} ms, best {min(all_):.1f}")


main(*sys.argv[1:])
