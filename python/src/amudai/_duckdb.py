"""A table as a dataset of pyarrow, which DuckDB asks for columns and conditions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.dataset

from amudai import _filter
from amudai._table import Table


class _Scanner:
    """The reading of a query: DuckDB asks for its schema, and then for its batches."""

    def __init__(self, dataset: Dataset, columns: Sequence[str] | None, where: Any) -> None:
        self._dataset, self._columns, self._where = dataset, columns, where
        names = dataset.schema.names if columns is None else columns
        self.projected_schema = pa.schema([dataset.schema.field(name) for name in names])

    def to_reader(self) -> pa.RecordBatchReader:
        columns = None if self._columns is None else [_filter.path(name) for name in self._columns]
        return self._dataset.table.scan(columns, self._where, **self._dataset.options)


class Dataset(pa.dataset.Dataset):  # type: ignore[misc]
    """A dataset in name only: DuckDB checks the class, and calls these methods."""

    def __init__(self, table: Table) -> None:
        self.table, self._schema = table, table.schema
        # DuckDB pushes no condition down to a table with views.
        self.options = table.strings("large") if pa.string_view() in table.schema.types else {}
        if self.options:
            self._schema = table.to_arrow(limit=0, **self.options).schema

    @property
    def schema(self) -> pa.Schema:
        return self._schema

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **_: Any) -> _Scanner:  # noqa: A002
        return _Scanner(self, columns, filter)


def dataset(table: Table) -> Dataset:
    return Dataset(table)


def condition(where: duckdb.Expression, schema: pa.Schema) -> tuple[str | None, _filter.Keep]:
    """The text of the parts of a condition that DuckDB pushes down, and all of it for the rows that are left."""
    connection = duckdb.connect()
    pushed = _Pushed(schema)
    connection.register("rows", pushed)
    connection.table("rows").filter(where).fetchall()
    text = None if pushed.where is None else _filter.conjuncts(pushed.where, schema)[0]

    # What pyarrow makes of a condition may differ.
    connection.execute("set threads = 1; set disabled_optimizers = 'filter_pushdown'")
    position = "position" + "_" * max(map(len, schema.names), default=0)

    def keep(table: pa.Table) -> pa.Table:
        connection.register("rows", table.append_column(position, pa.array(range(table.num_rows))))
        return table.take(connection.table("rows").filter(where).select(position).to_arrow_table()[position])

    return text, _filter.Keep(keep)


class _Pushed(pa.dataset.Dataset):  # type: ignore[misc]
    """A table without rows, which keeps the condition that DuckDB asks it for."""

    def __init__(self, schema: pa.Schema) -> None:
        self._empty, self.where = pa.Table.from_batches([], schema), None

    @property
    def schema(self) -> pa.Schema:
        return self._empty.schema

    def scanner(self, columns: Sequence[str] | None = None, filter: Any = None, **_: Any) -> Any:  # noqa: A002
        self.where = filter
        return pa.dataset.Scanner.from_batches(self._empty.select(columns or self._empty.column_names).to_reader())


def sql(query: str, tables: Mapping[str, Any]) -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    for name, table in tables.items():
        connection.register(name, dataset(table) if isinstance(table, Table) else table)
    parsed = connection.execute("select json_serialize_sql(?)", [query]).fetchall()
    for location in set(_sources(json.loads(parsed[0][0]))) - set(tables):
        connection.register(location, dataset(Table(location)))
    return connection.sql(query)


# Locations that DuckDB reads by itself.
_OWN = re.compile(r"\.(parquet|csv|tsv|json|jsonl|ndjson)(\.\w+)?$", re.IGNORECASE)


def _sources(parsed: Any) -> Iterator[str]:
    """The locations of tables in a query that DuckDB has parsed: names with a character that those of tables rarely have."""
    if isinstance(parsed, dict):
        name = parsed.get("table_name", "") if parsed.get("type") == "BASE_TABLE" else ""
        if re.search(r"[./:*\\]", name) and not parsed.get("schema_name") and not _OWN.search(name):
            yield name
    if isinstance(parsed, (dict, list)):
        for part in parsed.values() if isinstance(parsed, dict) else parsed:
            yield from _sources(part)
