"""A table as a dataset of pyarrow, which DuckDB asks for columns and conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

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
