"""The categories of columns, in their order, with those that no row has: metadata of fields, as files keep the values of rows."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

# The metadata of a field: the categories as texts of Arrow, in JSON.
KEY = b"amudai.categories"

# The most bytes of them. Each reader reads them when it opens the table.
MOST = 64 << 10


def noted(reader: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Batches with the categories of the first one in the metadata of their columns."""
    if not any(isinstance(kind, pa.DictionaryType) for kind in reader.schema.types):
        return reader
    first = next(iter(reader), None)
    if first is None:
        return pa.RecordBatchReader.from_batches(reader.schema, [])
    schema = reader.schema
    for i, field in enumerate(schema):
        metadata = field.metadata or {}
        # Categoricals of Polars share their categories with all others of the process.
        own = isinstance(field.type, pa.DictionaryType) and not any(key.startswith(b"_PL_CATEGORICAL") for key in metadata)
        if own and (text := _text(first.column(i).dictionary)):
            schema = schema.set(i, field.with_metadata({**metadata, KEY: text}))

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.RecordBatch.from_arrays(first.columns, schema=schema)
        for batch in reader:
            yield pa.RecordBatch.from_arrays(batch.columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _text(categories: pa.Array) -> bytes | None:
    """Categories as texts, if they are few, and the texts mean the same values."""
    if not 0 < categories.nbytes <= MOST:
        return None
    try:
        texts = categories.cast(pa.string())
        if texts.null_count or not texts.cast(categories.type).equals(categories):
            return None
    except pa.ArrowException:
        return None
    text = json.dumps(texts.to_pylist(), ensure_ascii=False).encode()
    return text if len(text) <= MOST else None


def complete(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Batches whose columns have all categories that were noted, in their order, and behind them those of changes since."""
    known: dict[int, pa.Array] = {}
    for i, field in enumerate(schema):
        if isinstance(field.type, pa.DictionaryType) and (text := (field.metadata or {}).get(KEY)):
            known[i] = pa.array(json.loads(text), pa.string()).cast(field.type.value_type)
    return (_with(batch, known) for batch in batches) if known else batches


def _with(batch: pa.RecordBatch, known: dict[int, pa.Array]) -> pa.RecordBatch:
    columns = batch.columns
    for i, categories in known.items():
        column = columns[i]
        if column.dictionary.equals(categories):
            continue
        found, wanted = _searchable(column.dictionary), _searchable(categories)
        places = pc.index_in(found, wanted)
        if places.null_count:
            wanted = pa.concat_arrays([wanted, found.filter(places.is_null())])
            categories, places = wanted.cast(categories.type), pc.index_in(found, wanted)
        with contextlib.suppress(pa.ArrowInvalid):  # more than the type of the indices counts
            indices = places.take(column.indices).cast(column.type.index_type)
            columns[i] = pa.DictionaryArray.from_arrays(indices, categories, ordered=column.type.ordered)
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


def _searchable(values: pa.Array) -> pa.Array:
    """Values in a type that pyarrow searches: views are not."""
    return values.cast(pa.large_string()) if values.type == pa.string_view() else values
