"""A table as a lazy frame of Polars."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import json
import warnings
from collections.abc import Iterator
from typing import Any

import polars as pl
import polars.io.plugins
import pyarrow as pa

from amudai import _filter
from amudai._filter import Untranslatable
from amudai._table import Table

COMPARISONS = {"Eq": "=", "NotEq": "<>", "Lt": "<", "LtEq": "<=", "Gt": ">", "GtEq": ">="}
TURNED = {"Lt": "Gt", "Gt": "Lt", "LtEq": "GtEq", "GtEq": "LtEq"}

# Ticks of a second in the units of Polars, and in those of Arrow that Polars has them for.
TICKS = {"Milliseconds": 10**3, "Microseconds": 10**6, "Nanoseconds": 10**9}
UNITS = {"s": "Milliseconds", "ms": "Milliseconds", "us": "Microseconds", "ns": "Nanoseconds"}


def scan(table: Table) -> pl.LazyFrame:
    schema = _schema(table.schema)

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        where, whole = (None, True) if predicate is None else conjuncts(predicate, table.schema)
        rest = None if whole else predicate
        names = None
        if columns is not None:
            more = [] if rest is None else rest.meta.root_names()
            names = [_filter.path(name) for name in dict.fromkeys([*columns, *more])]
        reader = table.scan(names, where, limit=limit if rest is None else None, **table.strings("view"))
        try:
            for batch in reader:
                frame = pl.DataFrame(batch)
                if rest is not None:
                    frame = frame.filter(rest)
                if columns is not None:
                    frame = frame.select(columns)
                if limit is not None:
                    frame = frame.head(limit)
                    limit -= frame.height
                yield frame
                if limit == 0:
                    return
        finally:
            reader.close()

    return polars.io.plugins.register_io_source(read, schema=schema, is_pure=True)


def _schema(schema: pa.Schema) -> dict[str, pl.DataType]:
    return dict(pl.DataFrame(pa.Table.from_batches([], schema)).schema)  # empty_table does not know all types


def condition(where: pl.Expr, schema: pa.Schema) -> tuple[str | None, _filter.Keep | None]:
    """The text of a condition, and what is left of it."""
    pushed: list[pl.Expr | None] = []

    def read(*asked: Any) -> Iterator[pl.DataFrame]:
        pushed.append(asked[1])
        yield pl.DataFrame(schema=_schema(schema))

    polars.io.plugins.register_io_source(read, schema=_schema(schema)).filter(where).collect()

    def keep(table: pa.Table) -> pa.Table:
        chosen = pl.DataFrame(table).select(pl.repeat(True, pl.len()) & where).to_series()
        return table.filter(chosen.to_arrow())

    if pushed[0] is None:  # it may look at several rows
        return None, _filter.Keep(keep, together=True)
    text, whole = conjuncts(where, schema)
    return text, None if whole else _filter.Keep(keep)


def conjuncts(predicate: pl.Expr, schema: pa.Schema) -> tuple[str | None, bool]:
    """The text of the parts of a condition that have one, and whether these are all; the others have to be true, too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the form may change with each version: what is not known is left out
            tree = json.loads(predicate.meta.serialize(format="json"))
    except (ValueError, pl.exceptions.PolarsError):
        return None, False
    whole = True
    parts: list[str | None] = []
    pending = [tree]
    while pending:
        node = _plain(pending.pop())
        match node:
            case {"BinaryExpr": {"op": "And" | "LogicalAnd", "left": left, "right": right}}:
                pending += [right, left]
            case _:
                try:
                    parts.append(_text(node, schema))
                except Untranslatable:
                    whole = False
                    parts.append(_bounds(node, schema))
    return _filter.conjunction(parts), whole


def _plain(node: Any) -> Any:
    """A membership in an interval as two comparisons, and a comparison with the column on the left."""
    match node:
        case {"Function": {"input": [value, low, high], "function": {"Boolean": {"IsBetween": {"closed": closed}}}}}:
            left = {"BinaryExpr": {"op": "GtEq" if closed in ("Both", "Left") else "Gt", "left": value, "right": low}}
            right = {"BinaryExpr": {"op": "LtEq" if closed in ("Both", "Right") else "Lt", "left": value, "right": high}}
            return {"BinaryExpr": {"op": "And", "left": left, "right": right}}
        case {"BinaryExpr": {"op": op, "left": left, "right": {"Column": _} as right}} if op in COMPARISONS:
            return {"BinaryExpr": {"op": TURNED.get(op, op), "left": right, "right": left}}
    return node


def _text(node: Any, schema: pa.Schema) -> str:
    node = _plain(node)
    match node:
        case {"BinaryExpr": {"op": "And" | "LogicalAnd" | "Or" | "LogicalOr" as op, "left": left, "right": right}}:
            return f"({_text(left, schema)} {'and' if op.endswith('And') else 'or'} {_text(right, schema)})"
        case {"BinaryExpr": {"op": op, "left": {"Column": name}, "right": right}} if op in COMPARISONS:
            column, kind = _filter.column(schema, [name])
            if pa.types.is_dictionary(kind) and op not in ("Eq", "NotEq"):
                raise Untranslatable("order of categories")
            return _filter.compare_ordered(column, COMPARISONS[op], _literal(right, kind), kind)
        case {"Column": name}:
            column, kind = _filter.column(schema, [name])
            if pa.types.is_boolean(kind):
                return _filter.compare(column, "=", True, kind)
        case {"Function": {"input": [{"Column": name}, *arguments], "function": function}}:
            return _function(function, *_filter.column(schema, [name]), arguments)
        case {"Function": {"input": [inner], "function": {"Boolean": "Not"}}}:
            return f"(not {_text(inner, schema)})"
    raise Untranslatable(str(node))


def _function(function: Any, column: str, kind: pa.DataType, arguments: list[Any]) -> str:
    match function:
        case {"Boolean": "Not"} if pa.types.is_boolean(kind):
            return _filter.compare(column, "=", False, kind)
        case {"Boolean": "IsNull"}:
            return _filter.is_null(column)
        case {"Boolean": "IsNotNull"}:
            return _filter.is_null(column, True)
        case {"Boolean": {"IsIn": {"nulls_equal": False}}}:
            match arguments[0]:
                case {"Literal": {"Scalar": {"List": encoded}}}:
                    # Times may have another unit, and more digits than Python's.
                    if pa.types.is_floating(kind) or pa.types.is_timestamp(kind):
                        raise Untranslatable("is_in")
                    values = pl.Series(pa.ipc.open_stream(bytes(encoded)).read_all().column(0)).to_list()
                    if None not in values:
                        return _filter.is_in(column, values, kind)
        case {"StringExpr": "StartsWith" | "EndsWith" as operator}:
            value = _literal(arguments[0], kind)
            words = "starts with" if operator == "StartsWith" else "ends with"
            if isinstance(value, str):
                return _filter.match(column, words, value, kind)
        case {"StringExpr": {"Contains": {"literal": True}}}:
            value = _literal(arguments[0], kind)
            if isinstance(value, str):
                return _filter.match(column, "contains", value, kind)
    raise Untranslatable(str(function))


def _bounds(node: Any, schema: pa.Schema) -> str | None:
    """A condition that is true where a comparison with a time is, if it has none with the same meaning: Polars cuts the time or
    the values of the column off to the coarser unit of both."""
    match node:
        case {
            "BinaryExpr": {
                "op": "Eq" | "Lt" | "LtEq" | "Gt" | "GtEq" as op,
                "left": {"Column": name},
                "right": {"Literal": {"Scalar": {"Datetime": [ticks, unit, zone]}}},
            }
        }:
            with contextlib.suppress(Untranslatable, OverflowError, KeyError):
                column, kind = _filter.column(schema, [name])
                if not pa.types.is_timestamp(kind):
                    return None
                digits = min(TICKS[unit], 10**6)  # that Python has
                step = datetime.timedelta(microseconds=10**6 // min(digits, TICKS[UNITS[kind.unit]]))
                value = _time(ticks * digits // TICKS[unit] * (10**6 // digits), zone)
                low = [] if op in ("Lt", "LtEq") else [_filter.compare(column, ">", value - 2 * step, kind)]
                high = [] if op in ("Gt", "GtEq") else [_filter.compare(column, "<", value + 2 * step, kind)]
                return _filter.conjunction([*low, *high])
    return None


def _time(microseconds: int, zone: Any) -> datetime.datetime:
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc if zone else None)
    return epoch + datetime.timedelta(microseconds=microseconds)


def _literal(node: Any, kind: pa.DataType) -> Any:
    """The value of a constant that is compared with a column of a type. None of JSON is a float that JSON does not have."""
    match node:
        case {"Literal": {"Dyn": {"Int": value} | {"Float": value}}} if value is not None:
            return value
        case {"Literal": {"Scalar": {"String": value} | {"Boolean": value} | {"Float64": value}}} if value is not None:
            return value
        case {
            "Literal": {
                "Scalar": {"Int8": v}
                | {"Int16": v}
                | {"Int32": v}
                | {"Int64": v}
                | {"UInt8": v}
                | {"UInt16": v}
                | {"UInt32": v}
                | {"UInt64": v}
            }
        }:
            return v
        case {"Literal": {"Scalar": {"Date": days}}}:
            with contextlib.suppress(OverflowError):
                return datetime.date(1970, 1, 1) + datetime.timedelta(days)
        case {"Literal": {"Scalar": {"Datetime": [ticks, unit, zone]}}}:
            per_second = TICKS.get(unit, 0)
            if pa.types.is_timestamp(kind) and UNITS[kind.unit] == unit and ticks * 10**6 % per_second == 0:
                with contextlib.suppress(OverflowError):
                    return _time(ticks * 10**6 // per_second, zone)
        case {"Literal": {"Scalar": {"Decimal": [value, _, scale]}}}:
            return decimal.Decimal(value).scaleb(-scale, decimal.Context(prec=80))
    raise Untranslatable(str(node))
