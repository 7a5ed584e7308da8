"""Tables: what is recorded of them, scans, rows by their numbers."""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import os
import platform
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from amudai import _categories, _changes, _command, _filter
from amudai._command import Locations
from amudai._process import ChangedError

if TYPE_CHECKING:
    import pandas
    import polars

# How much of a table a notebook shows.
HTML_ROWS = 5
HTML_COLUMNS = 20
HTML_CHARACTERS = 80


@dataclasses.dataclass(frozen=True)
class Stripe:
    """A part of a table that can be read alone: a stripe of a shard, a row group of Parquet, a cluster of an RNTuple."""

    location: str
    """Of its file."""
    stripe: int
    """Its number in the file."""
    first_row: int
    """Its first row in the file."""
    rows: int | None
    selected_rows: int | None
    """The most rows that the condition of the plan leaves. Unknown numbers are None."""
    selected_bytes: int | None
    """Stored bytes of the columns that are read for them."""


@dataclasses.dataclass(frozen=True)
class ColumnStatistics:
    """What a file records of a column; unknown numbers are None."""

    location: str
    """Of its file."""
    column: str
    """Its path: fields of structs have statistics of their own."""
    type: str
    """As ``amudai schema`` names it."""
    nulls: int | None
    """The number of rows that are null."""
    distinct: int | None
    """The number of different values, which may be estimated."""
    min: Any
    """As in JSON: times and decimals are strings."""
    max: Any
    exact: bool
    """Whether min and max are values of the column, not only bounds."""
    bytes: int | None
    """Stored bytes of the column."""


@dataclasses.dataclass(frozen=True)
class Match:
    """A row that search has found."""

    location: str
    """Of its file."""
    row: int
    """Its number in the file, from 0, deleted ones included."""
    values: dict[str, Any]
    """As in JSON: times and decimals are strings."""
    context: bool
    """It is no match, but near one."""


class Table(_changes.Changes):
    """A table in files, folders or objects: one, or several that are united by the names of their columns.

    It knows its files and their versions: inode, size and time of local files, the tag of objects. The process of the command
    keeps the last few open for some seconds, except on Windows. Files that appear later are not part of the table. If one of
    its files was changed, replaced or removed, all that reads it raises a ChangedError: open the table again. A table that is
    sent to another machine knows no versions of local files there. A table may be used from several threads, and after a
    fork.
    """

    locations: list[str]
    schema: pa.Schema
    """Names and types of the columns, with their metadata."""
    _plan: dict[str, Any]

    def __init__(self, locations: Locations, **options: object) -> None:
        self._options = _command.flags(options)
        self._machine = platform.node()
        self._open(_command.locations(locations))

    def _open(self, locations: list[str]) -> None:
        """Opens the table as it is now. Other threads see all of that, or nothing: whoever asks with the old versions is
        refused."""
        plan = self._planned(locations)
        with pa.ipc.open_stream(base64.b64decode(plan["arrow_schema"])) as reader:
            schema = reader.schema
        files = [i["location"] for i in plan["inputs"]]
        versions = {i["location"]: i["identity"] for i in plan["inputs"] if i.get("identity")}
        self.__dict__.update(locations=locations, schema=schema, _plan=plan, _files=files, _versions=versions)

    def _planned(self, locations: list[str], attempts: int = 10) -> dict[str, Any]:
        """The plan of what is there. A file is read several times for it, and another writer may replace it in between."""
        try:
            return _command.plan(locations, self._options)
        except ChangedError:
            if attempts == 1:
                raise
            return self._planned(locations, attempts - 1)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._machine != platform.node():  # a copy of a file there is another inode
            self._versions = {k: v for k, v in self._versions.items() if "://" in k}

    def __repr__(self) -> str:
        return f"amudai.Table({', '.join(map(repr, self.locations))})"

    def _repr_html_(self) -> str:
        """The columns with their types, and the first rows, for notebooks. Many columns and long texts are cut."""
        shown = [_filter.path(name) for name in self.columns[:HTML_COLUMNS]]
        rows = self.head(HTML_ROWS, shown)
        cut = "<th>…</th>" if len(shown) < len(self.columns) else ""
        names = "".join(f"<th>{_cell(f.name)}<br><small>{_cell(f.type)}</small></th>" for f in rows.schema)
        lines = ["".join(f"<td>{_cell(c[i].as_py())}</td>" for c in rows.columns) for i in range(rows.num_rows)]
        body = "".join(f"<tr>{line}</tr>" for line in lines)
        known = "" if self._plan["rows"] is None else f"{self.num_rows:,} rows × "
        where = _cell(", ".join(self.locations))
        return f"<p>{where}: {known}{len(self.columns):,} columns</p><table><tr>{names}{cut}</tr>{body}</table>"

    @property
    def num_rows(self) -> int:
        """The number of rows. Formats that do not record it, such as CSV, are read for it."""
        rows = self._plan["rows"]
        return int(_command.run(["count", *self._files, *self._options], self._versions)) if rows is None else int(rows)

    def __len__(self) -> int:
        """The number of rows, as num_rows."""
        return self.num_rows

    def __bool__(self) -> bool:
        """A table is true, also one without rows."""
        return True

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        names: list[str] = self.schema.names
        return names

    @property
    def num_bytes(self) -> int | None:
        """The bytes of the files, or None if one of them has no known size."""
        size: int | None = self._plan["bytes"]
        return size

    @property
    def stripes(self) -> list[Stripe]:
        """The parts of the table, in the order of their rows."""
        return _stripes(self._plan)

    @property
    def statistics(self) -> list[ColumnStatistics]:
        """What the files record of their columns."""
        return [
            ColumnStatistics(
                i["location"],
                c["column"],
                c["type"],
                c["nulls"],
                c["distinct"],
                c["min"],
                c["max"],
                c["exact"],
                c["bytes"],
            )
            for i in self._plan["inputs"]
            for c in i["statistics"]
        ]

    def plan(self, columns: Sequence[str] | None = None, where: Any = None) -> list[Stripe]:
        """The parts of the table with the rows and bytes that a condition and a choice of columns leave of each. Only metadata
        and indexes are read. Of an expression of pyarrow, the part that has no text is left out."""
        versions = self._versions
        condition, _ = self._condition(where)
        flags = _command.flags({"columns": _list(columns), "where": condition})
        return _stripes(_command.plan(self._files, [*self._options, *flags], versions))

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: Any = None,
        limit: int | None = None,
        rows: range | slice | str | None = None,
        **options: object,
    ) -> pa.RecordBatchReader:
        """Reads rows as Arrow record batches.

        columns: paths of columns or of fields of structs, in the order of the result; by default all.
        where: a condition as a text (docs/filters.md), or an expression of pyarrow.compute, Polars, DuckDB or pandas
            (``pandas.col``). What a text cannot say of an expression is evaluated by its library.
        limit: the most rows.
        rows: only these rows, by their numbers from 0: a range or slice with step 1, or a text such as "100:200".
        options: flags of ``amudai cat``, such as ``strings="view"`` or ``stripes="0,3:5"``.

        The reader may be left at any time: the process behind it ends when Python frees the reader. It is for one thread at a
        time, and for this process: after a fork, the copy scans again.
        Batches stay valid after it. Errors of the data are AmudaiErrors, here or when a batch is read; wrong arguments are
        TypeErrors and ValueErrors.
        """
        versions = self._versions
        condition, rest = self._condition(where)
        read = _list(columns)
        names: list[str] | None = None
        if rest is not None and read is not None:
            known = {text: name for name in self.schema.names for text in (_filter.path(name), name)}
            if field := next((c for c in read if c not in known), None):
                raise ValueError(f"{field!r} is no whole column, as a condition without a text needs: write it as a text")
            names, read = [known[c] for c in read], [_filter.path(name) for name in self.schema.names]
        flags: dict[str, object] = {"columns": read, "where": condition, "rows": _command.rows(rows), **options}
        if limit is not None:
            if limit < 0:
                raise ValueError(f"limit {limit}")
            if rest is None:
                flags["limit"] = str(limit)
        arguments = ["cat", *self._files, "--format=arrows", *self._options, *_command.flags(flags)]
        stream = _command.Stream(arguments, versions)
        schema, batches = stream.schema, _categories.complete(stream.schema, stream)
        if rest is None:
            return pa.RecordBatchReader.from_batches(schema, batches)
        if names is not None:
            schema = pa.schema([schema.field(n) for n in names], schema.metadata)
        return pa.RecordBatchReader.from_batches(schema, _filtered(stream, batches, rest, schema, limit))

    def to_arrow(self, columns: Sequence[str] | None = None, where: Any = None, **scan: Any) -> pa.Table:
        """Reads rows into a table of Arrow; the arguments are those of scan."""
        return self.scan(columns, where, **scan).read_all()

    def to_pandas(self, columns: Sequence[str] | None = None, where: Any = None, **scan: Any) -> pandas.DataFrame:
        """Reads rows into a data frame of pandas; the arguments are those of scan."""
        from amudai import _pandas

        return _pandas.frame(self.to_arrow(columns, where, **scan))

    def to_polars(self, columns: Sequence[str] | None = None, where: Any = None, **scan: Any) -> polars.DataFrame:
        """Reads rows into a data frame of Polars; the arguments are those of scan."""
        import polars

        # Polars keeps strings as views: there is nothing to convert then.
        frame = polars.from_arrow(self.scan(columns, where, **{**self.strings("view"), **scan}).read_all())
        assert isinstance(frame, polars.DataFrame)
        return frame

    def head(self, rows: int = 5, columns: Sequence[str] | None = None, where: Any = None) -> pa.Table:
        """Reads the first rows; columns and where are those of scan."""
        return self.to_arrow(columns, where, limit=rows)

    def count(self, where: Any = None) -> int:
        """The number of rows that meet a condition, which is that of scan. Of most conditions, few columns are read."""
        versions = self._versions
        condition, rest = self._condition(where)
        if rest is not None:
            return sum(batch.num_rows for batch in self.scan([], where))
        if condition is None:
            return self.num_rows
        return int(_command.run(["count", *self._files, *self._options, *_command.flags({"where": condition})], versions))

    def take(self, rows: Iterable[int], columns: Sequence[str] | None = None) -> pa.Table:
        """Reads rows by their numbers from 0, in the order of the numbers, and as often as they are named. Of a shard, only the
        blocks with the rows are read. Raises AmudaiError if there is no such row."""
        numbers = "".join(f"{int(row)}\n" for row in rows).encode()
        flags = _command.flags({"columns": _list(columns)})
        arguments = ["take", *self._files, "--rows-from=-", "--format=arrows", *self._options, *flags]
        stream = _command.Stream(arguments, self._versions, numbers)
        return pa.Table.from_batches(_categories.complete(stream.schema, stream), stream.schema)

    def search(self, query: str, columns: Sequence[str] | None = None, **options: object) -> list[Match]:
        """The rows whose texts match a query (docs/search.md): ``failed AND (10.1.2.3 OR blk_*)``. Indexes of words are used.

        columns: of the result, by path; by default "line", or all columns of strings.
        options: flags of ``amudai search``, such as ``in_=["line"]``, ``context=2``, ``since="2h"``, ``limit=10``, or
            ``regex=True`` for a regular expression. Without ``in_``, columns and times, files of text are searched line by line.
        """
        if self._options:
            raise ValueError("search needs a table that was opened without options")
        if wrong := {"count", "files_with_matches", "quiet", "json"} & options.keys():
            raise TypeError(f"search returns rows, and has no option {min(wrong)}")
        flags = _command.flags({"columns": _list(columns), "json": True, **options})
        out = _command.run(["search", *flags, "--", query, *self._files], self._versions, fine=1)  # of nothing that is found
        rows = map(json.loads, out.splitlines())
        return [Match(r["file"], r["row"] - 1, r["values"], r.get("context", False)) for r in rows]

    def scan_part(
        self, location: str, rows: slice | None, columns: Sequence[str] | None = None, where: str | None = None, **options: object
    ) -> pa.RecordBatchReader:
        """Reads rows of one of the files with the columns of the whole table, as a part of the work of an engine.

        location, rows: of a stripe, or of several that follow one another; all rows of the file if rows is None.
        where: a text. The other arguments are those of scan. A column that the file lacks is null.
        """
        versions = {k: v for k, v in self._versions.items() if k == location}
        flags = {"columns": _list(columns), "where": where, "rows": _command.rows(rows), **options}
        inputs, stdin = [location], b""
        if len(self._files) > 1:
            if any(option.startswith("--from=") for option in self._options):
                raise ValueError("parts of several files: from_ is the format of all inputs, and one is an Arrow stream")
            # Behind the file comes a table without rows, whose columns and types are those of the result.
            empty = pa.BufferOutputStream()
            with pa.ipc.new_stream(empty, self.schema):
                pass
            inputs, stdin = [location, "-"], empty.getvalue()
        arguments = ["cat", *inputs, "--format=arrows", *self._options, *_command.flags(flags)]
        stream = _command.Stream(arguments, versions, stdin)
        return pa.RecordBatchReader.from_batches(stream.schema, _categories.complete(stream.schema, stream))

    def strings(self, kind: str, location: str | None = None) -> dict[str, Any]:
        """The option of scans that chooses the Arrow type of strings, if the table, or one file of it, takes it: only shards
        have it. Others give strings as they are recorded, and so does a table of categories, which would become strings."""
        shard = any(i["format"] == "shard" and location in (None, i["location"]) for i in self._plan["inputs"])
        return {"strings": kind} if shard and not any(_has_categories(t) for t in self.schema.types) else {}

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """All rows, for every library that takes Arrow data."""
        return self.scan().__arrow_c_stream__(requested_schema)

    def _condition(self, where: Any) -> tuple[str | None, _filter.Keep | None]:
        """The text of a condition, and what has to be asked of its rows besides, or None."""
        if where is None or isinstance(where, str):
            return where or None, None
        if isinstance(where, pa.compute.Expression):
            condition, whole = _filter.conjuncts(where, self.schema)
            return condition, None if whole else _filter.Keep(lambda table: table.filter(where))
        # Whoever has an expression of a library has imported it.
        if "polars" in sys.modules and isinstance(where, sys.modules["polars"].Expr):
            from amudai import _polars

            return _polars.condition(where, self.schema)
        if "duckdb" in sys.modules and isinstance(where, sys.modules["duckdb"].Expression):
            from amudai import _duckdb

            return _duckdb.condition(where, self.schema)
        # Its name is exported since pandas 3.
        if "pandas" in sys.modules and isinstance(where, getattr(sys.modules["pandas"].api.typing, "Expression", ())):
            from amudai import _pandas

            return _pandas.condition(where, self.schema)
        libraries = "pyarrow.compute, Polars, DuckDB or pandas"
        raise TypeError(f"where: a text or an expression of {libraries}, not {type(where).__name__}")


def _filtered(
    stream: _command.Stream, batches: Iterator[pa.RecordBatch], keep: _filter.Keep, schema: pa.Schema, limit: int | None
) -> Iterator[pa.RecordBatch]:
    """Batches with the columns of a schema and the rows that meet a condition."""
    searchable = _filter.searchable(stream.schema)
    for some in [batches] if keep.together else ([batch] for batch in batches):
        table = keep.rows(pa.Table.from_batches(some, stream.schema).cast(searchable)).slice(0, limit).select(schema.names)
        limit = None if limit is None else limit - table.num_rows
        table = table if table.schema == schema else table.cast(schema)
        if table.num_rows > 0:
            yield from table.combine_chunks().to_batches()
        if limit == 0:
            break
    stream.close()


def write(data: Any, path: str | os.PathLike[str], **options: object) -> None:
    """Writes a table to a shard, or to another format by the name of the path (docs/command-line.md).

    data: anything with Arrow's stream interface: a table or reader of pyarrow, a data frame of Polars or pandas, a result of
        DuckDB. Batches are written as they come.
    options: flags of ``amudai convert``, such as ``profile="high-compression"``, ``index=["line"]``, ``stripe_rows=100_000``;
        ``force=True`` replaces an existing table.

    The table appears under its name when it is complete. If the data end with an exception, nothing appears, and the exception is
    raised again. Raises AmudaiError if the output exists or cannot be written, and TypeError if data has no such interface.
    """
    (path,) = _command.locations(path)
    _command.feed(["convert", "-", path, "--from=arrows", "--quiet", *_command.flags(options)], _command.reader(data))


def verify(locations: Locations, **options: object) -> None:
    """Reads everything, and compares it with all checksums, counts and statistics. Raises AmudaiError with what is wrong.

    options: flags of ``amudai verify``.
    """
    _command.run(["verify", *_command.locations(locations), *_command.flags(options)])


def _stripes(plan: Mapping[str, Any]) -> list[Stripe]:
    return [
        Stripe(i["location"], s["stripe"], s["first_row"], s["rows"], s["selected_rows"], s["selected_bytes"])
        for i in plan["inputs"]
        for s in i["stripes"]
    ]


def _has_categories(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _has_categories(kind.storage_type)
    return isinstance(kind, pa.DictionaryType) or any(_has_categories(kind.field(i).type) for i in range(kind.num_fields))


def _cell(value: object) -> str:
    """A value as HTML."""
    text = "" if value is None else str(value)
    return html.escape(text if len(text) <= HTML_CHARACTERS else text[: HTML_CHARACTERS - 1] + "…")


def _list(columns: Sequence[str] | None) -> list[str] | None:
    if columns is None:
        return None
    if isinstance(columns, str):
        raise TypeError("columns: a list of names")
    return list(columns)
