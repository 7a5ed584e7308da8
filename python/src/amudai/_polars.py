"""A table as a lazy frame of Polars."""

from __future__ import annotations

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
    return dict(pl.DataFrame(schema.empty_table()).schema)


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
        node = pending.pop()
        match node:
            case {"BinaryExpr": {"op": "And" | "LogicalAnd", "left": left, "right": right}}:
                pending += [right, left]
            case _:
                try:
                    parts.append(_text(node, schema))
                except Untranslatable:
                    whole = False
    return _filter.conjunction(parts), whole


def _text(node: Any, schema: pa.Schema) -> str:
    match node:
        case {"BinaryExpr": {"op": "And" | "LogicalAnd" | "Or" | "LogicalOr" as op, "left": left, "right": right}}:
            return f"({_text(left, schema)} {'and' if op.endswith('And') else 'or'} {_text(right, schema)})"
        case {"BinaryExpr": {"op": op, "left": {"Column": name}, "right": right}} if op in COMPARISONS:
            column, kind = _filter.column(schema, [name])
            return _filter.compare_ordered(column, COMPARISONS[op], _literal(right), kind)
        case {"BinaryExpr": {"op": op, "left": left, "right": {"Column": _} as right}} if op in COMPARISONS:
            turned = {"Lt": "Gt", "Gt": "Lt", "LtEq": "GtEq", "GtEq": "LtEq"}.get(op, op)
            return _text({"BinaryExpr": {"op": turned, "left": right, "right": left}}, schema)
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
        case {"Boolean": {"IsBetween": {"closed": closed}}} if closed in ("Both", "Left", "Right", "None"):
            low = ">=" if closed in ("Both", "Left") else ">"
            high = "<=" if closed in ("Both", "Right") else "<"
            lower = _filter.compare_ordered(column, low, _literal(arguments[0]), kind)
            return f"({lower} and {_filter.compare_ordered(column, high, _literal(arguments[1]), kind)})"
        case {"Boolean": {"IsIn": {"nulls_equal": False}}}:
            match arguments[0]:
                case {"Literal": {"Scalar": {"List": encoded}}}:
                    values = pl.Series(pa.ipc.open_stream(bytes(encoded)).read_all().column(0)).to_list()
                    if not pa.types.is_floating(kind) and None not in values:
                        return _filter.is_in(column, values, kind)
        case {"StringExpr": "StartsWith" | "EndsWith" as operator}:
            value = _literal(arguments[0])
            words = "starts with" if operator == "StartsWith" else "ends with"
            if isinstance(value, str):
                return _filter.match(column, words, value, kind)
        case {"StringExpr": {"Contains": {"literal": True}}}:
            value = _literal(arguments[0])
            if isinstance(value, str):
                return _filter.match(column, "contains", value, kind)
    raise Untranslatable(str(function))


def _literal(node: Any) -> Any:
    match node:
        case {"Literal": {"Dyn": {"Int": value} | {"Float": value}}}:
            return value
        case {"Literal": {"Scalar": {"String": value} | {"Boolean": value} | {"Float64": value}}}:
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
            return datetime.date(1970, 1, 1) + datetime.timedelta(days)
        case {"Literal": {"Scalar": {"Datetime": [ticks, unit, zone]}}}:
            per_second = {"Milliseconds": 10**3, "Microseconds": 10**6, "Nanoseconds": 10**9}.get(unit, 0)
            if per_second == 0 or ticks * 10**6 % per_second:
                raise Untranslatable(str(node))
            epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc if zone else None)
            return epoch + datetime.timedelta(microseconds=ticks * 10**6 // per_second)
        case {"Literal": {"Scalar": {"Decimal": [value, _, scale]}}}:
            return decimal.Decimal(value).scaleb(-scale, decimal.Context(prec=80))
    raise Untranslatable(str(node))
