"""A table as a collection of Dask, a partition for each stripe."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask.dataframe as dd
import pandas
import pyarrow as pa

from amudai import _filter
from amudai._table import Stripe, Table


def _read(
    stripe: Stripe, table: Table, paths: list[str] | None, where: str | None, columns: list[str] | None = None
) -> pandas.DataFrame:
    """Reads a partition. Dask sees the parameter columns, and gives the columns of the frame that a task needs."""
    if columns is not None:
        whole = [_filter.path(name) for name in table.schema.names]
        heads = {_filter.path(name) for name in columns}
        paths = (
            [p for p in whole if p in heads] if paths is None else [p for p in paths if p in columns or _filter.head(p) in heads]
        )
    rows = None if stripe.rows is None else slice(stripe.first_row, stripe.first_row + stripe.rows)
    frame = _pandas(table.scan_part(stripe.location, rows, paths, where).read_all())
    return frame if columns is None else frame[columns]


def _pandas(table: pa.Table) -> pandas.DataFrame:
    """A frame with types of Arrow, so that a part with nulls has the types of one without."""
    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def collection(table: Table, columns: Sequence[str] | None, where: Any) -> dd.DataFrame:
    where = table._text(where)
    paths = None if columns is None else list(columns)
    none = Stripe(table._files[0], 0, 0, 0, 0, 0)  # for Dask, which needs a partition
    stripes = [s for s in table.plan(paths, where) if s.selected_rows != 0] or [none]
    return dd.from_map(_read, stripes, table=table, paths=paths, where=where, meta=_pandas(table.to_arrow(paths, limit=0)))
