"""A table as a data frame of pandas, in which decimals are objects of Python."""

from __future__ import annotations

import numpy as np
import pandas
import pyarrow as pa

# The first rows, which tell whether a column repeats its values: has fewer than a quarter of them.
SAMPLE = 1 << 14


def frame(table: pa.Table) -> pandas.DataFrame:
    """As pyarrow does it. Of decimals that repeat, equal ones are one object: to make one takes longer than all else."""
    again: dict[int, np.ndarray] = {}
    for i, column in enumerate(table.columns):
        # Columns that pandas has written may become the index.
        if pa.types.is_decimal(column.type) and table.schema.pandas_metadata is None and _repeats(column):
            encoded = column.dictionary_encode("encode").chunks
            values = np.array(encoded[0].dictionary.to_pandas(), object)
            indices = pa.chunked_array([chunk.indices for chunk in encoded])
            again[i] = values[indices.to_numpy()]
            table = table.set_column(i, table.field(i).name, indices)
    out = table.to_pandas()
    for i, column in again.items():
        out.isetitem(i, column)
    return out


def _repeats(column: pa.ChunkedArray) -> bool:
    some = column.slice(0, SAMPLE)
    return len(some) > 0 and len(some.unique()) * 4 < len(some)
