"""A table as a collection of Dask, a partition for each stripe."""

from __future__ import annotations

from collections.abc import Sequence

import dask.dataframe as dd
import pandas
import pyarrow as pa

from amudai._table import Stripe, Table


def _read(stripe: Stripe, table: Table, columns: list[str] | None, where: str | None) -> pandas.DataFrame:
    rows = None if stripe.rows is None else slice(stripe.first_row, stripe.first_row + stripe.rows)
    return _pandas(table.scan_part(stripe.location, rows, columns, where).read_all())


def _pandas(table: pa.Table) -> pandas.DataFrame:
    """A frame with types of Arrow, so that a part with nulls has the types of one without."""
    return table.to_pandas(types_mapper=pandas.ArrowDtype)


def collection(table: Table, columns: Sequence[str] | None, where: str | None) -> dd.DataFrame:
    names = None if columns is None else list(columns)
    stripes = [s for s in table.plan(names, where) if s.selected_rows != 0] or table.stripes[:1]
    return dd.from_map(_read, stripes, table=table, columns=names, where=where, meta=_pandas(table.to_arrow(names, limit=0)))
