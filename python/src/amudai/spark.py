"""A data source of PySpark, and of Sail, for tables of any number of shards (docs/engines.md).

amudai.spark.register(spark)
flights = spark.read.format("amudai").load("flights/")
flights.where("delay > 300").write.format("amudai").mode("append").save("late/")
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import json
import shutil
import uuid
from collections.abc import Iterable, Iterator, MutableMapping, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    EqualNullSafe,
    EqualTo,
    Filter,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    InputPartition,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringContains,
    StringEndsWith,
    StringStartsWith,
    WriterCommitMessage,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

import amudai
from amudai import _filter
from amudai._filter import Untranslatable

COMPARISONS = {EqualTo: "=", GreaterThan: ">", GreaterThanOrEqual: ">=", LessThan: "<", LessThanOrEqual: "<="}

# The most stored bytes of a part, if it is no single stripe. A part takes a tenth of a second in Spark if it has no row at all.
PART_BYTES = 32 << 20

# Options of the source itself; all others are flags of amudai plan or convert.
OWN = ("path", "paths", "columns", "where", "partitions")


def register(spark: SparkSession) -> None:
    """Makes the format ``amudai`` known to a session of Spark or Sail, for reading and writing."""
    spark.dataSource.register(AmudaiDataSource)


class AmudaiDataSource(DataSource):  # type: ignore[misc]
    """The format ``amudai``.

    Options of reading: ``path``; ``columns``, the names of the columns to read, separated by commas, as Spark does not tell a
    Python data source which columns a query needs; ``where``, a condition (docs/filters.md); ``partitions``, about how many a
    table is divided into, by default one for 32 MiB of the columns. Other options are flags: of ``amudai plan`` for reading, such
    as ``schema`` or ``from``, and of ``amudai convert`` for writing, such as ``profile``.
    """

    @classmethod
    def name(cls) -> str:
        return "amudai"

    def schema(self) -> StructType:
        schema = _projected(self._table().schema, self._columns())
        return from_arrow_schema(pa.schema([pa.field(f.name, _readable(f.type), f.nullable) for f in schema]))

    def reader(self, schema: StructType) -> DataSourceReader:
        kind = SailReader if isinstance(schema, pa.Schema) else AmudaiReader
        return kind(self._table(), schema, self._columns(), self.options.get("where"), int(self.options.get("partitions", 0)))

    def writer(self, schema: StructType, overwrite: bool) -> AmudaiWriter:
        return AmudaiWriter(self._path(), schema, overwrite, self._flags())

    def _path(self) -> str:
        path: str | None = self.options.get("path")
        if not path:
            raise ValueError("no path: use load(PATH), save(PATH) or option('path', PATH)")
        return _local(path)

    def _columns(self) -> list[str] | None:
        columns = self.options.get("columns")
        return None if columns is None else [c.strip() for c in columns.split(",")]

    def _table(self) -> amudai.Table:
        paths = self.options.get("paths")  # a list of load, as JSON
        locations = self._path() if paths is None else [_local(p) for p in json.loads(paths)]
        return amudai.open(locations, **self._flags())

    def _flags(self) -> dict[str, str]:
        return {k: v for k, v in self.options.items() if k.lower() not in OWN}


def _local(path: str) -> str:
    """A path without the scheme of local files."""
    return path.removeprefix("file://") if path.startswith("file:///") else path


@dataclasses.dataclass
class Part(InputPartition):  # type: ignore[misc]
    """Stripes of one file that follow one another."""

    location: str
    first: int
    stop: int | None  # None if the number of rows is not known
    size: int


class AmudaiReader(DataSourceReader):  # type: ignore[misc]
    """Reads parts of a table, each in a task."""

    def __init__(
        self, table: amudai.Table, schema: StructType, columns: list[str] | None, where: str | None, partitions: int
    ) -> None:
        self._table = table
        self._columns, self._partitions = columns, partitions
        self._result = _arrow_schema(schema)
        self._where = where

    def partitions(self) -> Sequence[InputPartition]:
        columns = None if self._columns is None else [_filter.path(name) for name in self._columns]
        stripes = [s for s in self._table.plan(columns, self._where) if s.selected_rows != 0]
        # Neighbouring stripes are one part up to the share of a partition.
        if self._partitions > 0:
            sizes = [s.selected_rows or 0 for s in stripes]
            share = sum(sizes) // self._partitions
        else:
            share = PART_BYTES
            sizes = [share if s.selected_bytes is None else s.selected_bytes for s in stripes]
        parts: list[Part] = []
        for s, size in zip(stripes, sizes, strict=True):
            stop = None if s.rows is None else s.first_row + s.rows
            last = parts[-1] if parts else None
            if last and (last.location, last.stop) == (s.location, s.first_row) and last.size + size <= share:
                last.stop, last.size = stop, last.size + size
            else:
                parts.append(Part(s.location, s.first_row, stop, size))
        return parts or [Part("", 0, 0, 0)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Part)
        if partition.stop == 0:
            return
        rows = None if partition.stop is None else slice(partition.first, partition.stop)
        names = [_filter.path(name) for name in self._result.names]
        strings = self._table.strings("string", partition.location)
        for batch in self._table.scan_part(partition.location, rows, names, self._where, **strings):
            yield _cast(batch, self._result)


class SailReader(AmudaiReader):
    """A reader that takes the conditions of a query. Spark 4.1 must not have it: Spark keeps what was planned for one query of a
    frame, and reads it for every other one, too, so that they lack rows."""

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802 - the name is Spark's
        parts: list[str | None] = [self._where]
        for f in filters:
            try:
                parts.append(text(f, self._table.schema))
            except Untranslatable:
                yield f
        self._where = _filter.conjunction(parts)


def text(f: Filter, schema: pa.Schema) -> str:
    """The text of a filter of Spark, in which NaN equals itself and is the greatest value."""
    if isinstance(f, Not):
        return f"(not {text(f.child, schema)})"
    name, kind = _filter.column(schema, list(f.attribute))
    floating = pa.types.is_floating(kind)
    match f:
        case IsNull():
            return _filter.is_null(name)
        case IsNotNull():
            return _filter.is_null(name, True)
        case In() if None not in f.value and not floating:
            return _filter.is_in(name, list(f.value), kind)
        case EqualNullSafe() if f.value is not None and not floating:
            return f"({_filter.is_null(name, True)} and {_filter.compare(name, '=', f.value, kind)})"
        case EqualTo() | GreaterThan() | GreaterThanOrEqual() | LessThan() | LessThanOrEqual() if f.value is not None:
            return _filter.compare_ordered(name, COMPARISONS[type(f)], f.value, kind)
        case StringStartsWith():
            return _filter.match(name, "starts with", f.value, kind)
        case StringEndsWith():
            return _filter.match(name, "ends with", f.value, kind)
        case StringContains():
            return _filter.match(name, "contains", f.value, kind)
    raise Untranslatable(repr(f))


def _arrow_schema(schema: StructType | pa.Schema) -> pa.Schema:
    """The schema of the batches that an engine expects. Sail tells it. Times of Spark are in UTC, which is the default of old
    versions and an argument of new ones."""
    if isinstance(schema, pa.Schema):
        return schema
    utc = {"timezone": "UTC"} if "timezone" in inspect.signature(to_arrow_schema).parameters else {}
    return to_arrow_schema(schema, **utc)


def _projected(schema: pa.Schema, columns: list[str] | None) -> pa.Schema:
    return schema if columns is None else pa.schema([schema.field(c) for c in columns])


def _readable(kind: pa.DataType) -> pa.DataType:
    """The type of Arrow that Spark has for the values of a type. A value that it does not hold, such as a time with
    nanoseconds, is an error when it is read."""
    if isinstance(kind, pa.BaseExtensionType):
        return _readable(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return _readable(kind.value_type)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(f.name, _readable(f.type), f.nullable) for f in kind])
    if pa.types.is_map(kind):
        return pa.map_(_readable(kind.key_type), _readable(kind.item_type))
    if hasattr(kind, "value_field"):  # lists of all kinds
        return pa.list_(pa.field("element", _readable(kind.value_type), kind.value_field.nullable))
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", kind.tz and "UTC")
    if pa.types.is_decimal(kind) and kind.precision <= 38:
        return pa.decimal128(kind.precision, kind.scale)
    return _READABLE.get(str(kind), pa.binary() if pa.types.is_fixed_size_binary(kind) else kind)


_READABLE = {
    "string_view": pa.string(),
    "large_string": pa.string(),
    "binary_view": pa.binary(),
    "large_binary": pa.binary(),
    "uint8": pa.int16(),
    "uint16": pa.int32(),
    "uint32": pa.int64(),
    "uint64": pa.decimal128(20),
    "halffloat": pa.float32(),
    "date64[ms]": pa.date32(),
    "duration[s]": pa.duration("us"),
    "duration[ms]": pa.duration("us"),
    "duration[ns]": pa.duration("us"),
}


def _cast(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with the types of a schema."""
    columns = [c if c.type == f.type else c.cast(f.type) for c, f in zip(batch.columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


@dataclasses.dataclass
class Written(WriterCommitMessage):  # type: ignore[misc]
    """The shard of a task; without rows there is none."""

    name: str | None


class AmudaiWriter(DataSourceArrowWriter):  # type: ignore[misc]
    """Writes one shard a task into a hidden folder, and moves all into the folder of the table when the job has succeeded."""

    def __init__(self, path: str, schema: StructType, overwrite: bool, flags: MutableMapping[str, str]) -> None:
        if "://" in path:
            raise ValueError(f"{path}: Spark writes shards to folders only, as objects cannot be moved into place together")
        self._path, self._overwrite, self._flags = path, overwrite, dict(flags)
        self._schema = _arrow_schema(schema)
        self._job = uuid.uuid4().hex
        if Path(path).is_file():
            raise ValueError(f"{path} is a file: Spark writes a folder of shards")
        # Only here: a task that goes on after the job has failed must not make the folder again.
        self._hidden.mkdir(parents=True)

    @property
    def _hidden(self) -> Path:
        return Path(self._path) / f".amudai-{self._job}"

    def write(self, iterator: Iterator[pa.RecordBatch]) -> WriterCommitMessage:
        first = next((batch for batch in iterator if batch.num_rows), None)
        if first is None:
            return Written(None)
        name = f"part-{uuid.uuid4().hex}.amudai.shard"

        def batches() -> Iterator[pa.RecordBatch]:
            yield first
            yield from iterator

        amudai.write(pa.RecordBatchReader.from_batches(first.schema, batches()), str(self._hidden / name), **self._flags)
        return Written(name)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        folder = Path(self._path)
        names = [m.name for m in messages if isinstance(m, Written) and m.name]
        if not names:  # a table without rows has a schema, too
            names = ["part-empty-" + self._job + ".amudai.shard"]
            amudai.write(self._schema.empty_table(), str(self._hidden / names[0]), **self._flags)
        old = list(folder.glob("*.amudai.shard")) if self._overwrite else []
        for name in names:
            (self._hidden / name).rename(folder / name)
        for shard in old:
            shard.unlink()
        self._clean()

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        self._clean()
        with contextlib.suppress(OSError):
            Path(self._path).rmdir()  # only if it is empty

    def _clean(self) -> None:
        """Removes what the tasks left, also those whose end Spark has not been told of."""
        # A task that is still running may make another file meanwhile.
        for _ in range(10):
            shutil.rmtree(self._hidden, ignore_errors=True)
            if not self._hidden.exists():
                break
