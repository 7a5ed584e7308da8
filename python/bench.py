"""Times what the package does beside other libraries on the same rows: python bench.py flights.arrow lineitem.arrow

Each line has the CPU time of all processes and the time by the clock, the least of some rounds, and the share of the best other
library, the worst first. The files of others are Parquet of pyarrow with zstd, and Vortex, if its package is there. Vortex keeps
what it has read of an open file.
"""

from __future__ import annotations

import datetime
import gc
import itertools
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import amudai
from amudai import _session

ROUNDS = 7
MAKES_OBJECTS = 2  # rounds of what takes seconds

# A column of times, a month, and columns to read of it.
MONTHS = {
    "l_shipdate": (
        datetime.date(1995, 3, 1),
        datetime.date(1995, 4, 1),
        ["l_orderkey", "l_extendedprice", "l_discount", "l_shipdate"],
    ),
    "date": (datetime.datetime(2001, 2, 1), datetime.datetime(2001, 3, 1), ["date", "delay", "origin"]),
}

Runs = dict[str, Callable[[], Any]]


def main(source: str, folder: Path) -> list[tuple[float, str]]:
    table = pa.ipc.open_file(source).read_all()
    shard, parquet, other = (str(folder / f"t.{name}") for name in ("amudai.shard", "parquet", "vortex"))
    amudai.write(table, shard)
    pq.write_table(table, parquet, compression="zstd")
    try:
        import vortex as vx
        from vortex.dataset import ensure_vortex_expression as expression
    except ImportError:
        vx = None
    else:
        vx.io.write(table, other)
    column = next(name for name in MONTHS if name in table.schema.names)
    schema, kind = table.schema, table.schema.field(column).type
    del table
    low, high, few = MONTHS[column]
    where = (pc.field(column) >= pa.scalar(low, kind)) & (pc.field(column) < pa.scalar(high, kind))
    lazy = (pl.col(column) >= low) & (pl.col(column) < high)

    def another(ask: Callable[[pc.Expression], Any]) -> Callable[[], Any]:
        """Asks for a month that was not asked for before."""
        days = map(datetime.timedelta, itertools.count(1))

        def run() -> Any:
            by = next(days)
            return ask((pc.field(column) >= pa.scalar(low + by, kind)) & (pc.field(column) < pa.scalar(high + by, kind)))

        return run

    ours = amudai.open(shard)
    questions: dict[str, tuple[Runs, int]] = {
        "to_arrow": (
            {
                "amudai": ours.to_arrow,
                "pyarrow": lambda: pq.read_table(parquet),
                "polars": lambda: pl.read_parquet(parquet),
                "vortex": lambda: vx.open(other).to_arrow().read_all(),
            },
            ROUNDS,
        ),
        "to_polars": ({"amudai": ours.to_polars, "polars": lambda: pl.read_parquet(parquet)}, ROUNDS),
        "to_pandas": ({"amudai": ours.to_pandas, "pandas": lambda: pd.read_parquet(parquet)}, MAKES_OBJECTS),
    }
    for name, columns in (("all columns", None), (f"{len(few)} columns", few)):
        opened = vx and vx.open(other)

        def month(make: Callable[[], Any], columns: Any = columns) -> Callable[[], Any]:
            return lambda: make().to_arrow(columns, expr=expression(where, schema=schema)).read_all()

        def lazily(make: Callable[[], pl.LazyFrame], columns: Any = columns) -> Callable[[], Any]:
            return lambda: make().filter(lazy).select(columns or pl.all()).collect()

        peers: Runs = {
            "pyarrow": lambda columns=columns: pq.read_table(parquet, columns=columns, filters=where),  # type: ignore[misc]
            "polars": lazily(lambda: pl.scan_parquet(parquet)),
        }
        of_ours = lambda columns=columns: ours.to_arrow(columns, where)  # noqa: E731
        anew = lambda columns=columns: amudai.open(shard).to_arrow(columns, where)  # noqa: E731
        questions |= {
            f"a month, {name}, an open table": ({"amudai": of_ours, "vortex": month(lambda opened=opened: opened)}, ROUNDS),  # type: ignore[misc]
            f"another month each time, {name}, an open table": (
                {
                    "amudai": another(lambda of, columns=columns: ours.to_arrow(columns, of)),  # type: ignore[misc]
                    "vortex": another(
                        lambda of, columns=columns, opened=opened: (  # type: ignore[misc]
                            opened.to_arrow(columns, expr=expression(of, schema=schema)).read_all()
                        )
                    ),
                },
                ROUNDS,
            ),
            f"a month, {name}, opened": ({"amudai": anew, **peers, "vortex": month(lambda: vx.open(other))}, ROUNDS),
            f"a month, {name}, scan_polars": (
                {"amudai": lazily(lambda: amudai.scan_polars(shard)), "polars": peers["polars"]},
                ROUNDS,
            ),
        }
    out = []
    for question, (runs, rounds) in questions.items():
        times = least({name: run for name, run in runs.items() if vx or name != "vortex"}, rounds)
        cpu, clock = times.pop("amudai")
        best = min(times, key=lambda name: times[name][0])
        line = f"| {Path(source).stem}: {question} | {cpu:.1f} ({clock:.1f}) | "
        line += ", ".join(f"{name} {c:.1f} ({t:.1f})" for name, (c, t) in sorted(times.items(), key=lambda item: item[1]))
        out.append((cpu / times[best][0], f"{line} | {cpu / times[best][0]:.2f} |"))
    return out


def least(runs: Runs, rounds: int) -> dict[str, tuple[float, float]]:
    """The least CPU time and time by the clock of each, in ms."""
    best = dict.fromkeys(runs, (float("inf"), float("inf")))
    for name, run in runs.items():
        run()
        for _ in range(rounds):
            gc.collect()
            before, begin = cpu(), time.perf_counter()
            result = run()
            clock = time.perf_counter() - begin
            del result  # memory that is given back is a part of it
            best[name] = min(best[name][0], (cpu() - before) * 1e3), min(best[name][1], clock * 1e3)
    return best


def cpu() -> float:
    """Seconds of this process, and of that of the command (Linux)."""
    session = _session.idle._session
    return time.process_time() + (time.clock_gettime(~session._process.pid << 3 | 2) if session else 0)


if __name__ == "__main__":
    _session.IDLE = 3600
    lines = []
    for source in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            lines += main(source, Path(folder))
    print("| CPU time in ms (by the clock) | amudai | others | of the best |\n| --- | ---:| --- | ---:|")
    for _, line in sorted(lines, reverse=True):
        print(line)
