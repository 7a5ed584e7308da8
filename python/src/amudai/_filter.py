"""Conditions of others as texts of filters (docs/filters.md), exactly, or not at all."""

from __future__ import annotations

import ctypes
import dataclasses
import datetime
import decimal
import math
import re
import struct
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.types as pt

COMPARISONS = {"equal": "=", "not_equal": "<>", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}


class Untranslatable(Exception):  # noqa: N818 - it is no error of anybody
    """A condition that has no text with the same meaning."""


@dataclasses.dataclass(frozen=True)
class Keep:
    """What is left of a condition that has no text."""

    rows: Callable[[pa.Table], pa.Table]
    """Gives the rows that meet it."""
    together: bool = False
    """Whether it has to see all rows at once."""


def column(schema: pa.Schema, names: Sequence[str]) -> tuple[str, pa.DataType]:
    """The name of a column, or of a field of a struct, in a filter, and its type."""
    kind: pa.DataType | None = None
    for i, name in enumerate(names):
        if i == 0:
            matches = [f for f in schema if f.name == name]
        elif kind is not None and pt.is_struct(kind):
            matches = [f for f in kind if f.name == name]
        else:
            matches = []
        if len(matches) != 1 or name == "" or "`" in name:
            raise Untranslatable(f"column {'.'.join(names)}")
        kind = matches[0].type
    if kind is None:
        raise Untranslatable("no column")
    if any("#" in name for name in names):  # counts columns of one name
        raise Untranslatable("#")
    return ".".join(f"`{name}`" for name in names), kind


def path(name: str) -> str:
    """The name of a column as a path, in which dots go down into fields."""
    return name.replace("\\", "\\\\").replace(".", "\\.")


def searchable(schema: pa.Schema) -> pa.Schema:
    """Columns in types that pyarrow compares and filters: views are not."""
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    return pa.schema([field.with_type(plain.get(field.type, field.type)) for field in schema], schema.metadata)


def head(path: str) -> str:
    """The part of a path that names a column, up to the first dot that is not escaped."""
    found = re.match(r"(?:[^\\.]|\\.)*", path)
    return found.group() if found else path


def text(value: str) -> str:
    """A string."""
    return "'" + value.replace("'", "''") + "'"


def literal(value: Any, kind: pa.DataType) -> str:
    """A value that is compared with a column of a type, if both are of a kind that all compare alike."""
    if isinstance(kind, pa.DictionaryType):
        kind = kind.value_type
    if value is None:
        return "null"
    if isinstance(value, bool):
        if pt.is_boolean(kind):
            return "true" if value else "false"
    elif isinstance(value, int):
        if pt.is_integer(kind) or pt.is_decimal(kind):
            return str(value)
        if pt.is_floating(kind) and abs(value) <= (1 << 11 if pt.is_float16(kind) else 1 << 24):  # others may be rounded
            return str(value)
    elif isinstance(value, float):
        # A float that is compared with integers or decimals makes them floats elsewhere, and is exact here.
        if pt.is_float64(kind) and math.isfinite(value):
            return f"{value!r}" if re.search("[.e]", repr(value)) else f"{value!r}.0"
    elif isinstance(value, decimal.Decimal):
        if (pt.is_integer(kind) or pt.is_decimal(kind)) and value.is_finite():
            return f"{value:f}"
    elif isinstance(value, str):
        if pt.is_string(kind) or pt.is_large_string(kind) or pt.is_string_view(kind):
            if "\x00" in value or not value.isascii() and any(0xD800 <= ord(c) < 0xE000 for c in value):
                raise Untranslatable("text")
            return text(value)
    elif isinstance(value, bytes):
        if pt.is_binary(kind) or pt.is_large_binary(kind) or pt.is_binary_view(kind) or pt.is_fixed_size_binary(kind):
            return f"x'{value.hex()}'"
    elif isinstance(value, datetime.datetime):
        if pt.is_timestamp(kind) and (value.tzinfo is None) == (kind.tz is None):
            if value.tzinfo is not None:
                value = value.astimezone(datetime.timezone.utc)
            return f"'{value.isoformat()}'"
    elif isinstance(value, datetime.date) and pt.is_date(kind):
        return f"'{value.isoformat()}'"
    raise Untranslatable(f"{value!r} of {kind}")


def compare(name: str, operator: str, value: Any, kind: pa.DataType) -> str:
    """A comparison of a column with a value; NaN is as in IEEE 754."""
    return f"({name} {operator} {literal(value, kind)})"


def compare_ordered(name: str, operator: str, value: Any, kind: pa.DataType) -> str:
    """A comparison in which NaN is the greatest value, as in Spark and Polars."""
    out = compare(name, operator, value, kind)
    return f"({out} or ({name} is nan))" if operator in (">", ">=") and pt.is_floating(kind) else out


def is_in(name: str, values: Sequence[Any], kind: pa.DataType) -> str:
    """A column has one of some values, of which none is null."""
    return f"({name} in ({', '.join(literal(v, kind) for v in values)}))" if values else f"({name} <> {name})"


def is_null(name: str, not_: bool = False) -> str:
    return f"({name} is {'not ' if not_ else ''}null)"


def match(name: str, operator: str, pattern: str, kind: pa.DataType) -> str:
    """A string starts with, ends with or contains a text."""
    return f"({name} {operator} {literal(pattern, kind)})"


def conjunction(parts: Sequence[str | None]) -> str | None:
    """The texts that are given, all of which have to be true."""
    known = [f"({p})" for p in parts if p]
    return " and ".join(known) or None


# An expression of pyarrow is pickled as an Arrow file. Its batch has the constants and options in its columns. The metadata
# of the schema have the expression in Polish notation, with a name several times:
#
#     call greater · field_ref a · literal 0 · end greater
#
# pyarrow's metadata are a dict, which keeps one of them, so they are read from the C data interface.


def _metadata(schema: pa.Schema) -> list[tuple[str, str]]:
    """All metadata of a schema, in order."""
    capsule = schema.__arrow_c_schema__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = ctypes.cast(pointer(capsule, b"arrow_schema"), ctypes.POINTER(ctypes.c_void_p))[2]
    if address is None:
        return []

    def take(n: int) -> bytes:
        nonlocal address
        out = ctypes.string_at(address, n)
        address += n
        return out

    def number() -> int:
        out: int = struct.unpack("=i", take(4))[0]
        return out

    return [(take(number()).decode(), take(number()).decode()) for _ in range(number())]


def conjuncts(expression: Any, schema: pa.Schema) -> tuple[str | None, bool]:
    """The text of an expression of pyarrow, as far as it has one, and whether that is all of it. What is left out are
    conditions that also have to be true."""
    try:
        _, (serialized,) = expression.__reduce__()
        batches = pa.ipc.open_file(serialized)
        return _Expression(_metadata(batches.schema), batches.get_batch(0), schema).conjuncts()
    except Untranslatable:
        return None, False
    except (ValueError, TypeError, StopIteration, pa.ArrowException):
        return None, False  # another version of pyarrow has another form


class _Expression:
    def __init__(self, tokens: list[tuple[str, str]], constants: pa.RecordBatch, schema: pa.Schema) -> None:
        self._tokens, self._constants, self._schema = iter(tokens), constants, schema
        self._root = self._parse()

    def _parse(self, token: tuple[str, str] | None = None) -> tuple[str, Any, Any]:
        """One expression: ("field", path), ("value", scalar) or (function, arguments, options)."""
        kind, value = token or next(self._tokens)
        if kind == "field_ref":
            return "field", [value], None
        if kind == "nested_field_ref":
            return "field", [self._parse()[1][0] for _ in range(int(value))], None
        if kind == "literal":
            return "value", self._constants.column(int(value))[0], None
        if kind != "call":
            raise Untranslatable(kind)
        arguments, options = [], {}
        while (token := next(self._tokens))[0] != "end":
            if token[0] == "options":
                options = dict(self._constants.column(int(token[1]))[0].items())
            else:
                arguments.append(self._parse(token))
        return value, arguments, options

    def conjuncts(self) -> tuple[str | None, bool]:
        parts: list[str | None] = []
        whole = True
        pending = [self._root]
        while pending:
            function, arguments, options = pending.pop()
            if function in ("and_kleene", "and"):
                pending += reversed(arguments)
                continue
            try:
                parts.append(self._text(function, arguments, options))
            except Untranslatable:
                whole = False
        return conjunction(parts), whole

    def _text(self, function: str, arguments: Any, options: Any) -> str:
        if function == "value":
            value = arguments.as_py()
            if not isinstance(value, bool):
                raise Untranslatable("constant")
            return "true" if value else "false"
        if function == "field":
            name, kind = column(self._schema, arguments)
            if not pt.is_boolean(kind):
                raise Untranslatable("condition")
            return compare(name, "=", True, kind)
        if function in ("and_kleene", "or_kleene"):
            operator = function.removesuffix("_kleene")
            return f"({self._text(*arguments[0])} {operator} {self._text(*arguments[1])})"
        if function == "invert":
            return f"(not {self._text(*arguments[0])})"
        if function in COMPARISONS:
            return self._comparison(function, *arguments)
        if function == "if_else":
            return self._member(*arguments)
        handler = _FUNCTIONS.get(function)
        if handler is None or not arguments or arguments[0][0] != "field":
            raise Untranslatable(function)
        return handler(*column(self._schema, arguments[0][1]), options)

    def _comparison(self, function: str, left: Any, right: Any) -> str:
        operator = COMPARISONS[function]
        if left[0] == "value":
            left, right = right, left
            operator = operator.translate(str.maketrans("<>", "><")) if operator != "<>" else operator
        if left[0] != "field" or right[0] != "value":
            raise Untranslatable("comparison")
        name, kind = column(self._schema, left[1])
        return compare(name, operator, _python(right[1]), kind)

    def _member(self, condition: Any, member: Any, otherwise: Any) -> str:
        """A membership that is null where the column is, as DuckDB writes it."""
        function, (field,), options = member
        if condition[:2] != ("is_valid", [field]) or function != "is_in" or field[0] != "field" or otherwise[0] != "value":
            raise Untranslatable("if_else")
        name, kind = column(self._schema, field[1])
        if otherwise[1].is_valid or pt.is_floating(kind):
            raise Untranslatable("if_else")
        return is_in(name, [_python(v) for v in options["value_set"].values if v.is_valid], kind)


def _python(scalar: pa.Scalar) -> Any:
    """The value of a scalar, if Python's type holds all of it."""
    try:
        value = scalar.as_py()
    except (ValueError, OverflowError) as e:
        raise Untranslatable("time") from e
    if getattr(value, "nanosecond", 0):
        raise Untranslatable("nanoseconds")
    if pt.is_floating(scalar.type) and not pt.is_float64(scalar.type):
        raise Untranslatable("float32")
    return value


def _set(name: str, kind: pa.DataType, options: dict[str, pa.Scalar]) -> str:
    values = [_python(v) for v in options["value_set"].values]
    # 0 matches null with null, 1 skips nulls, 2 and 3 give null where a comparison does.
    behavior = options["null_matching_behavior"].as_py()
    present = [v for v in values if v is not None]
    if pt.is_floating(kind) or behavior > 1:
        raise Untranslatable("is_in")
    out = f"({is_null(name, True)} and {is_in(name, present, kind)})" if present else "(false)"
    return f"({out} or {is_null(name)})" if behavior == 0 and None in values else out


def _null(name: str, kind: pa.DataType, options: dict[str, pa.Scalar]) -> str:
    if options and options["nan_is_null"].as_py() and pt.is_floating(kind):
        return f"({is_null(name)} or ({name} is nan))"
    return is_null(name)


def _nan(name: str, kind: pa.DataType, options: dict[str, pa.Scalar]) -> str:
    if not pt.is_floating(kind):
        raise Untranslatable("is_nan")
    return f"({name} is nan)"


def _match(operator: str) -> Callable[[str, pa.DataType, dict[str, pa.Scalar]], str]:
    def handler(name: str, kind: pa.DataType, options: dict[str, pa.Scalar]) -> str:
        if options["ignore_case"].as_py():
            raise Untranslatable("ignore_case")
        pattern = options["pattern"].as_py()
        return match(name, operator, pattern, kind)

    return handler


_FUNCTIONS: dict[str, Callable[[str, pa.DataType, dict[str, pa.Scalar]], str]] = {
    "is_in": _set,
    "is_null": _null,
    "is_valid": lambda name, kind, options: is_null(name, True),
    "is_nan": _nan,
    "starts_with": _match("starts with"),
    "ends_with": _match("ends with"),
    "match_substring": _match("contains"),
}
