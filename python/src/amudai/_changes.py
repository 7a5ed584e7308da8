"""The life of a shard: merged, changed, moved, cleaned up (docs/life.md). The command does all of it, and says what it did."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import datetime
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from amudai import _command
from amudai._command import Locations
from amudai._process import AmudaiError

Report = TypeVar("Report")


@dataclasses.dataclass(frozen=True)
class MergeReport:
    """What a merge did, or would do."""

    location: str
    """Of the new shard."""
    shards: int
    """That were merged."""
    stripes: int
    rows: int
    """Deleted ones included."""
    written_bytes: int
    """Metadata, and new values; 0 in a dry run."""
    dropped_indexes: list[str]
    """Types of indexes that the new shard lacks."""
    widened: list[str]
    """Columns that have other types in some of the shards."""
    read_bytes: int
    """Of these, that are written anew."""
    outside: list[str]
    """Folders other than that of the new shard, which its readers have to allow; none in a dry run."""


@dataclasses.dataclass(frozen=True)
class EditReport:
    """What a change of columns did, or would do."""

    kept_bytes: int
    """Of data that stay where they are."""
    dropped_bytes: int
    """Of data that the shard does not refer to any more."""
    read_bytes: int
    """Of columns of whose values new ones are made."""
    written_bytes: int
    """Of new values; 0 in a dry run."""
    dropped_indexes: list[dict[str, Any]]
    """Indexes that went with their columns: ``type`` and ``columns``."""


@dataclasses.dataclass(frozen=True)
class CompactReport:
    """What a compaction did, or would do."""

    stripes: list[int]
    """That were written anew."""
    before: int
    """The number of stripes."""
    after: int
    """An estimate in a dry run."""
    rows: int
    """That were written anew."""
    deleted: int
    """Rows that were left out, because they were deleted."""
    kept_bytes: int
    """Of the other stripes; only in a dry run."""
    replaced_bytes: int
    written_bytes: int
    """0 in a dry run."""
    rebuilt_indexes: list[str]
    """Types of indexes that were built anew."""
    dropped_indexes: list[str]


@dataclasses.dataclass(frozen=True)
class SplitPart:
    """A shard that another one was divided into."""

    location: str
    rows: int
    bytes: int
    """Of its data; an estimate in a dry run, 0 in parts by value."""
    stripes_referred: int
    """Stripes that were not written anew."""


@dataclasses.dataclass(frozen=True)
class RelocatedFile:
    """A file of a shard that is copied or moved; that of the shard itself comes first."""

    from_: str
    to: str
    bytes: int
    referred_bytes: int
    """Of it, bytes that the shard refers to."""
    moved_bytes: int
    """Of these, bytes of the columns or stripes that ``columns`` or ``stripes`` name."""
    becomes: str
    """How: such as "copied by the store", "rewritten" or "left out"."""
    removed: bool
    """Whether the old file is."""


@dataclasses.dataclass(frozen=True)
class StoredFile:
    """A file of shards in a folder."""

    location: str
    bytes: int
    modified: datetime.datetime


@dataclasses.dataclass(frozen=True)
class Collected:
    """The files of shards in a folder."""

    roots: list[str]
    """Locations of shards."""
    needed: list[StoredFile]
    """That shards refer to."""
    young: list[StoredFile]
    """That no shard refers to, but which a writer may need yet."""
    unreferenced: list[StoredFile]
    removed: int
    """How many of these were removed."""


@dataclasses.dataclass(frozen=True)
class Version:
    """A version of a shard."""

    version: int
    time: datetime.datetime
    """When it was published, in UTC."""
    rows: int
    """That are shown."""
    deleted: int
    change: str
    """What was changed, in a few words."""


@dataclasses.dataclass(frozen=True)
class Index:
    """An index of a shard, or of one of its stripes."""

    type: str
    columns: list[str]
    """Paths."""
    together: bool
    """Whether rows are found by the values of all columns together."""
    stripe: int | None
    """Whose index it is; None for one of the whole shard."""
    bytes: int
    state: str
    """ready, unknown (to this version, which keeps it), damaged or unusable: reads go on without it."""
    properties: dict[str, Any]


class Changes(abc.ABC):
    """The changes of a table that is one shard. Each publishes a new version in one step: after an error, and after Ctrl-C, the
    old or the new one is there. The table is the new one then. Other tables of the shard, in this and in other processes, raise
    ChangedError until they are opened again. Readers go on with the version that they read.

    With ``dry_run=True`` nothing is changed, and the result says what would be done. Other options are flags of the command.

    Of two writers at once, a change that would not fit any more raises ChangedError, and nothing is changed. That is so for
    numbers of rows and for rows of other tables if the shard is not the version that the table has opened.
    """

    locations: list[str]
    _options: list[str]
    _files: list[str]
    _versions: dict[str, str]

    @abc.abstractmethod
    def _open(self, locations: list[str]) -> None:
        """Opens the table as it is now."""

    @abc.abstractmethod
    def _condition(self, where: Any) -> tuple[str | None, Any]:
        """The text of a condition, and what it does not say of it."""

    def delete(
        self,
        where: Any = None,
        *,
        rows: Iterable[int] | range | slice | str | None = None,
        matching: Any = None,
        on: str | Sequence[str] | None = None,
        dry_run: bool = False,
    ) -> int:
        """Deletes rows, and returns how many. Nothing shows them any more; the other rows keep their numbers.

        where: a condition as of scan, which a text can say. "true" means all rows.
        rows: only these rows, by their numbers from 0: a range or slice with step 1, single numbers, or a text such as "100:200".
        matching: only rows whose columns ``on`` have the values of a row of another table: its location, or anything that write
            takes.

        Of several, rows have to meet all.
        """
        return self._mark("delete", where, rows, matching, on, dry_run)

    def undelete(
        self,
        where: Any = None,
        *,
        rows: Iterable[int] | range | slice | str | None = None,
        matching: Any = None,
        on: str | Sequence[str] | None = None,
        dry_run: bool = False,
    ) -> int:
        """Brings deleted rows back, and returns how many. The arguments are those of delete. Rows of stripes that were compacted
        since are gone."""
        return self._mark("undelete", where, rows, matching, on, dry_run)

    def _mark(self, command: str, where: Any, rows: Any, matching: Any, on: Any, dry_run: bool) -> int:
        condition = self._text(where)
        if condition is None and rows is None and matching is None:
            raise ValueError("say which rows are meant: where='true' means all")
        if (matching is None) != (on is None):
            raise ValueError("matching needs on, and the other way round")
        on = None if on is None else [on] if isinstance(on, str) else list(on)
        with _rows_of(matching, on) as keys:
            flags = {"where": condition, "rows": _ranges(rows), "matching": keys, "on": on}
            return int(self._change([command], flags, dry_run=dry_run, same=rows is not None)["rows"])

    def _text(self, where: Any) -> str | None:
        condition, rest = self._condition(where)
        if rest is not None:
            raise ValueError("no text says all of this condition (docs/filters.md): write it as one")
        return condition

    def add_columns(self, columns: Mapping[str, str] | Any, *, dry_run: bool = False, **options: object) -> EditReport:
        """Adds columns at the end. Only their values are written.

        columns: expressions (docs/filters.md) by the names of the columns, such as ``{"hours": "distance / 500"}``, which are
            computed of the columns that are there. A name such as ``address.zip`` adds a field to a struct. Or a table with the
            columns, which has a row for each row of the shard, deleted ones included, in their order: its location, or anything
            that write takes.
        """
        if not isinstance(columns, Mapping):
            with _rows_of(columns) as table:
                return self._edit("add", [], {"of": table, **options}, dry_run, same=True)
        for name in columns:
            if "=" in name or name != name.strip() or not name:
                raise ValueError(f"{name!r} cannot be the name of an expression: add a table with the column, or rename it then")
        return self._edit("add", [f"{name} = {e}" for name, e in columns.items()], options, dry_run)

    def drop_columns(self, columns: Sequence[str], *, dry_run: bool = False) -> EditReport:
        """Leaves out columns, or fields of structs, by their paths, and indexes of them. Their bytes stay in the files of the
        shard."""
        return self._edit("drop", [_command.quoted(c) for c in _names(columns)], {}, dry_run)

    def order_columns(self, columns: Sequence[str], *, dry_run: bool = False) -> EditReport:
        """Puts columns before the others, which keep their order."""
        return self._edit("order", [_command.quoted(c) for c in _names(columns)], {}, dry_run)

    def rename_columns(self, names: Mapping[str, str], *, dry_run: bool = False) -> EditReport:
        """Gives columns, or fields of structs, by their paths, other names, one after the other. Indexes of them stay."""
        return self._edit("rename", [word for pair in names.items() for word in pair], {}, dry_run)

    def cast(self, types: Mapping[str, str | pa.DataType], *, dry_run: bool = False, **options: object) -> EditReport:
        """Converts columns to other types, of pyarrow or as texts (``amudai schema`` prints them). A value that a type does not
        hold exactly is an AmudaiError with its row, and nothing is changed."""
        return self._edit("cast", [word for path, kind in types.items() for word in (path, _type(kind))], options, dry_run)

    def properties(self, column: str | None = None) -> dict[str, Any]:
        """The properties of a column, or of the shard, that its users have set."""
        words = [self._shard(), *([] if column is None else [column])]
        return dict(json.loads(_command.run(["column", "set", "--json", "--", *words])))

    def set_properties(
        self, properties: Mapping[str, str | None], column: str | None = None, *, dry_run: bool = False
    ) -> EditReport:
        """Sets properties of a column, such as ``{"comment": "without tax"}``, or of the shard. None removes one."""
        if wrong := next((name for name in (*properties, column or "") if "=" in name), None):
            raise ValueError(f"{wrong!r}: neither a property nor its column may have = in its name here")
        if not properties:
            raise ValueError("say which properties")
        words = [f"{name}={value}" for name, value in properties.items() if value is not None]
        drop = [name for name, value in properties.items() if value is None] or None
        return self._edit("set", [*([] if column is None else [column]), *words], {"drop": drop}, dry_run)

    def _edit(self, what: str, words: list[str], flags: Mapping[str, object], dry_run: bool, same: bool = False) -> EditReport:
        return _of(EditReport, self._change(["column", what], flags, words, dry_run=dry_run, same=same))

    def add_index(
        self, columns: Sequence[str] | None = None, *, key: Sequence[str] | None = None, **options: object
    ) -> list[Index]:
        """Builds an index of columns, by their paths, and returns all indexes then. Conditions and search use it by themselves.

        key: columns whose values together find rows, instead of columns.
        options: flags of ``amudai index add``, such as ``type="hash"`` or ``phrases=True``; without a type it is of words.
        """
        named = {name: None if of is None else _names(of) for name, of in (("columns", columns), ("key", key))}
        self._change(["index", "add"], {**named, **options}, says=False)
        return self.indexes()

    def drop_indexes(self, columns: Sequence[str] | None = None) -> list[Index]:
        """Detaches indexes, or only those of which all columns are named, and returns the others. collect removes their files."""
        flags = {"columns": None if columns is None else _names(columns), "all": columns is None}
        self._change(["index", "drop"], flags, says=False)
        return self.indexes()

    def indexes(self) -> list[Index]:
        """The indexes of the shard. Each is read completely, as its state says whether it is damaged."""
        entries = json.loads(_command.run(["index", "list", "--json", "--", self._shard()]))
        usual: dict[str, Any] = {"together": False, "stripe": None, "properties": {}}
        return [_of(Index, {**usual, **entry}) for entry in entries]

    def compact(self, *, sort: str | Sequence[str] | None = None, dry_run: bool = False, **options: object) -> CompactReport:
        """Writes stripes anew where it pays: small ones, and those with many deleted rows. Rows get other numbers.

        sort: columns or expressions to sort all rows by, a minus before one for descending order, such as ``["origin",
            "-delay"]``.
        options: flags of ``amudai compact``, such as ``stripes="0-3"``, ``profile="high-compression"`` or ``memory="1GiB"``.
        """
        by = sort if sort is None or isinstance(sort, str) else ",".join(sort)
        return _of(CompactReport, self._change(["compact"], {"sort": by, **options}, dry_run=dry_run))

    def split(
        self,
        output: str | os.PathLike[str],
        *,
        rows: int | None = None,
        by: str | None = None,
        dry_run: bool = False,
        **options: object,
    ) -> list[SplitPart]:
        """Divides the shard into shards of some rows each, to whose stripes they refer, or into one for each value of a column.
        The shard stays as it is.

        output: the location of the parts, in which {} stands for the number or the value of a part.
        options: flags of ``amudai split``; ``force=True`` replaces existing shards.
        """
        flags = {"rows": rows, "by": by, "output": _command.locations(output)[0], **options}
        return [_of(SplitPart, part) for part in self._change(["split"], flags, dry_run=dry_run)["parts"]]

    def relocate(
        self,
        output: str | os.PathLike[str],
        *,
        columns: Sequence[str] | None = None,
        stripes: str | None = None,
        where: Any = None,
        move: bool = False,
        dry_run: bool = False,
        **options: object,
    ) -> list[RelocatedFile]:
        """Copies the shard with all of its files to another location, folder or store. With ``move=True``, the old ones are
        removed then, and the table is that of the new location.

        With ``columns``, ``stripes`` (such as "0-3,7") or ``where``, which means stripes all of whose rows meet a condition,
        only the data of these go to the folder, and the shard stays and refers to them (docs/life.md).

        options: flags of ``amudai relocate``: ``layout="single"`` makes one file of a shard, ``force=True`` replaces one.
        """
        names = None if columns is None else _names(columns)
        parts = {"columns": names, "stripes": stripes, "where": self._text(where)}
        flags = {"output": _command.locations(output)[0], "move": move, **parts, **options}
        whole = all(part is None for part in parts.values())
        files = self._change(["relocate"], flags, dry_run=dry_run, moves=move and whole)["files"]
        return [_of(RelocatedFile, {"from_": f["from"], **f}) for f in files]

    def history(self) -> list[Version]:
        """The versions of the shard that can be opened, the newest first: see keep_versions."""
        entries = json.loads(_command.run(["log", "--json", "--", self._shard()]))
        return [Version(v["version"], _time(v["time"]), v["rows"], v["deleted"], v.get("change", "")) for v in entries]

    def keep_versions(self, versions: int, *, age: datetime.timedelta | None = None) -> None:
        """Has the shard keep some earlier versions from now on, up to an age if there is one. 0 keeps none."""
        self._change(["keep"], {"versions": str(versions), "age": _seconds(age)}, says=False)

    def restore(self, version: int | datetime.datetime | str) -> None:
        """Makes an earlier version the newest one, by its number or time (see amudai.open)."""
        self._change(["restore"], {"at": at(version)}, says=False)

    def _shard(self) -> str:
        if len(self._files) != 1 or self._options:
            raise ValueError("this needs a table of one shard, its newest version, opened without options")
        return self._files[0]

    def _change(
        self,
        command: list[str],
        flags: Mapping[str, object],
        words: Sequence[str] = (),
        *,
        dry_run: bool = False,
        same: bool = False,
        moves: bool = False,
        says: bool = True,
    ) -> dict[str, Any]:
        """Runs a command that changes the shard, and opens it again. same: only if the shard is the version that is open."""
        shard, versions = self._shard(), self._versions
        arguments = [*command, *_command.flags({"dry_run": dry_run, "json": says, **flags}), "--", shard, *words]
        out = _command.change(arguments, versions if same else None)
        if not dry_run:
            # What was done is done, also if another writer has removed the shard since: its rows are an error then.
            with contextlib.suppress(AmudaiError):
                self._open([out["files"][0]["to"]] if moves else self.locations)
        return out


def merge(shards: Locations, output: str | os.PathLike[str], *, dry_run: bool = False, **options: object) -> MergeReport:
    """Makes one shard of several, which refers to their stripes: no data is copied. Columns are matched by name.

    shards: one location or several, in the order of their rows; folders and patterns stand for their shards.
    options: flags of ``amudai merge``; ``force=True`` replaces an existing shard.
    """
    flags = _command.flags({"output": _command.locations(output)[0], "dry_run": dry_run, "json": True, **options})
    return _of(MergeReport, _command.change(["merge", *flags, "--", *_command.locations(shards)]))


def collect(
    folder: str | os.PathLike[str],
    *,
    dry_run: bool = True,
    older_than: datetime.timedelta | None = None,
    roots: Locations = (),
) -> Collected:
    """Finds the files in a folder that writers of shards have left, and which no shard refers to. ``dry_run=False`` removes them.

    older_than: the age up to which files stay, 24 hours by default; longer than any writer takes.
    roots: other folders whose shards may refer to files in the folder.
    """
    others = _command.locations(roots) if roots else None
    flags = _command.flags({"yes": not dry_run, "older_than": _seconds(older_than), "roots": others, "json": True})
    out = _command.change(["gc", *flags, "--", *_command.locations(folder)])
    for kind in ("needed", "young", "unreferenced"):
        out[kind] = [StoredFile(f["location"], f["bytes"], _time(f["modified"])) for f in out[kind]]
    return _of(Collected, out)


def at(version: int | datetime.datetime | str | None) -> str | None:
    """A version of a shard as the flag --at has it."""
    if isinstance(version, datetime.datetime):
        utc = datetime.timezone.utc
        version = version.replace(tzinfo=utc) if version.tzinfo is None else version.astimezone(utc)
        return version.isoformat().replace("+00:00", "Z")
    return None if version is None else str(version)


def _of(kind: type[Report], facts: Mapping[str, Any]) -> Report:
    """What the command says. Members that are not known are no error: the change is done."""
    return kind(**{field.name: facts[field.name] for field in dataclasses.fields(kind)})  # type: ignore[arg-type]


@contextlib.contextmanager
def _rows_of(data: Any, columns: list[str] | None = None) -> Iterator[str | None]:
    """The location of a table: its own, or that of a temporary file with the rows of data in memory."""
    if data is None or isinstance(data, str | os.PathLike):
        yield None if data is None else _command.locations(data)[0]
        return
    with tempfile.TemporaryDirectory(prefix="amudai-") as folder:
        path = str(Path(folder) / "rows.arrows")
        reader = _command.reader(data.scan(columns) if isinstance(data, Changes) else data)  # type: ignore[attr-defined]
        with pa.OSFile(path, "wb") as file, pa.ipc.new_stream(file, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
        yield path


def _ranges(rows: Any) -> str | None:
    """Numbers of rows as a list of ranges."""
    if rows is None or isinstance(rows, str | range | slice):
        return _command.rows(rows)
    out: list[list[int]] = []
    for row in sorted({int(row) for row in rows}):
        if row < 0:
            raise ValueError(f"row {row}: numbers are from 0")
        if out and out[-1][1] == row:
            out[-1][1] = row + 1
        else:
            out.append([row, row + 1])
    return ",".join(f"{first}:{stop}" for first, stop in out) or "0:0"


def _names(columns: Sequence[str]) -> list[str]:
    if isinstance(columns, str):
        raise TypeError("columns: a list of names")
    return list(columns)


def _type(kind: str | pa.DataType) -> str:
    """The command's name of a type."""
    if isinstance(kind, str):
        return kind
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, pa.schema([("x", kind)])):
        pass
    plan = json.loads(_command.run(["plan", "-", "--from=arrows", "--json"], stdin=stream.getvalue().to_pybytes()))
    return str(plan["schema"][0]["type"])


def _seconds(age: datetime.timedelta | None) -> str | None:
    return None if age is None else f"{age.total_seconds():f}s"


def _time(text: str) -> datetime.datetime:
    """A time of the command. Digits that Python lacks are rounded up, so that a version is there at its time."""
    seconds, _, digits = text.removesuffix("Z").partition(".")
    digits = digits.ljust(9, "0")
    ticks = int(digits[:6]) + (int(digits[6:]) > 0)
    return datetime.datetime.fromisoformat(seconds + "+00:00") + datetime.timedelta(microseconds=ticks)
