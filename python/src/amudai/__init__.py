"""Amudai shards, and tables of many other formats, as Arrow.

    import amudai

    flights = amudai.open("flights.amudai.shard")
    flights.to_pandas(where="origin = 'SFO' and delay > 300")
    amudai.write(flights.scan(), "s3://bucket/flights.amudai.shard")

Every location that the command amudai reads is a table: files, folders and patterns, s3:// and https:// locations, in all of its
formats. docs/python.md describes the package.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from amudai import _changes
from amudai._changes import (
    Collected,
    CompactReport,
    EditReport,
    Index,
    MergeReport,
    RelocatedFile,
    SplitPart,
    StoredFile,
    Version,
    collect,
    merge,
)
from amudai._command import Locations
from amudai._process import AmudaiError, ChangedError
from amudai._table import ColumnStatistics, Match, Stripe, Table, verify, write

if TYPE_CHECKING:
    import dask.dataframe
    import duckdb
    import pandas
    import polars

__version__ = "0.1.0"

__all__ = [
    "AmudaiError",
    "ChangedError",
    "Collected",
    "ColumnStatistics",
    "CompactReport",
    "EditReport",
    "Index",
    "Match",
    "MergeReport",
    "RelocatedFile",
    "SplitPart",
    "StoredFile",
    "Stripe",
    "Table",
    "Version",
    "collect",
    "merge",
    "open",
    "read_amudai",
    "read_dask",
    "register",
    "scan_polars",
    "sql",
    "verify",
    "write",
]


def open(  # noqa: A001 - as open of other libraries of tables
    locations: Locations, *, version: int | datetime.datetime | str | None = None, **options: object
) -> Table:
    """Opens a table: reads its schema, the places of its stripes and its statistics.

    locations: a file, folder, pattern or URL, or several, which are one table.
    version: an earlier version of a shard (Table.history), by its number, or a time, in UTC if it has no zone: the newest up to
        it.
    options: flags of ``amudai plan``, such as ``schema="zip:utf8"`` or ``from_="csv"`` (as ``from`` is a word of Python).

    Raises AmudaiError if a location does not exist, or is no table. Files that change later are errors of scans: open them anew.
    """
    return Table(locations, **options) if version is None else Table(locations, at=_changes.at(version), **options)


def read_amudai(locations: Locations, columns: Sequence[str] | None = None, where: Any = None, **scan: Any) -> pandas.DataFrame:
    """Reads a table into a data frame of pandas, all of it in memory; the arguments are those of Table.scan."""
    return open(locations).to_pandas(columns, where, **scan)


def read_dask(locations: Locations, columns: Sequence[str] | None = None, where: Any = None) -> dask.dataframe.DataFrame:
    """A data frame of Dask with a partition for each stripe that can have matching rows, and with types of Arrow.

    columns: as of Table.scan. Of them, a task reads those that it needs.
    where: a condition as of Table.scan that a text can say. Conditions on the frame are evaluated by Dask.

    The table is planned here, and read by the workers, which need the package and the locations.
    """
    from amudai import _dask

    return _dask.collection(open(locations), columns, where)


def scan_polars(locations: Locations, **options: Any) -> polars.LazyFrame:
    """A lazy frame of Polars that reads only what a query needs: columns, the rows of conditions, the first rows.

    The options are those of open. Each collect starts a scan, and raises its AmudaiErrors.
    """
    from amudai import _polars

    return _polars.scan(open(locations, **options))


def register(connection: duckdb.DuckDBPyConnection, name: str, locations: Locations, **options: Any) -> None:
    """Gives a table a name in SQL of DuckDB. Each query reads only its columns, and the rows of its conditions.

    The options are those of open. The schema is that of now. The name belongs to the connection, and is replaced if it exists.
    """
    from amudai import _duckdb

    connection.register(name, _duckdb.dataset(open(locations, **options)))


def sql(query: str, **tables: Any) -> duckdb.DuckDBPyRelation:
    """Answers a question in SQL of DuckDB, whose package must be there, about tables at any locations.

    query: a SELECT. A name in FROM such as ``'flights.amudai.shard'``, ``'folder/'`` or ``'s3://bucket/x.root:Events'`` is a
        location; DuckDB reads Parquet, CSV and JSON files by itself. Only the columns of the query are read, and the rows of its
        conditions.
    tables: other names in FROM: a Table, a table of pyarrow, or a frame of pandas or Polars.

    The answer is computed when it is asked for rows (``fetchall``, ``df``, ``pl``, ``to_arrow_table``).
    """
    from amudai import _duckdb

    return _duckdb.sql(query, tables)
