"""A table as a data frame of pandas, in which decimals are objects of Python, and conditions of pandas."""

from __future__ import annotations

import contextlib
import decimal
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas
import pyarrow as pa
from pandas.api.types import is_scalar

from amudai import _filter
from amudai._filter import Untranslatable

# The first rows, which tell whether a column repeats its values: has fewer than a quarter of them.
SAMPLE = 1 << 14

# Integers from here on are rounded if the column has nulls, so that pandas makes floats of it.
ROUNDED = 1 << 53

# What pandas computes of each value by itself, of strings and of times.
OF_STRINGS = {"contains", "endswith", "fullmatch", "len", "lower", "match", "slice", "startswith", "strip", "upper"}
OF_TIMES = {"date", "day", "dayofweek", "dayofyear", "hour", "minute", "month", "quarter", "second", "weekday", "year"}
ARITHMETIC = {f"__{r}{name}__" for r in ("", "r") for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "xor")}


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


def condition(where: Any, schema: pa.Schema) -> tuple[str | None, _filter.Keep | None]:
    """The text of a condition of columns (``pandas.col``), and what is left of it: the rows are those that it chooses of the
    frame. pandas computes the condition of columns that note what is asked of them."""
    try:
        asked = where._eval_expression(_Columns(schema))
    except Exception:  # it is asked of the rows, too, and fails there
        asked = _Part(by_row=False)
    if not isinstance(asked, _Part) or not asked.by_row:
        return None, _filter.Keep(_keep(where), together=True)
    text = _filter.conjunction(asked.texts())
    return text, None if asked.text else _filter.Keep(_keep(where), together=True)


def _keep(where: Any) -> Callable[[pa.Table], pa.Table]:
    def keep(table: pa.Table) -> pa.Table:
        rows = table.to_pandas()
        rows.index = pandas.RangeIndex(len(rows))
        return table.take(pa.array(rows.loc[where].index, pa.int64()))

    return keep


class _Columns:
    """What is asked of a frame by a condition."""

    def __init__(self, schema: pa.Schema) -> None:
        self.columns, self._schema = schema.names, schema
        self._written = {c["field_name"]: c["numpy_type"] for c in (schema.pandas_metadata or {}).get("columns", [])}

    def __getitem__(self, name: str) -> _Part:
        try:
            column, kind = _filter.column(self._schema, [name])
            np.dtype("object" if pa.types.is_dictionary(kind) else self._written.get(name, "object"))
        except (Untranslatable, TypeError):  # types of pandas alone know nulls
            return _Part()
        return _Column(column, kind)


class _Part:
    """A part of a condition."""

    def __init__(self, text: str | None = None, parts: Sequence[_Part] = (), by_row: bool = True) -> None:
        self.text = text
        """A text that is true or false, never null, as pandas knows no other conditions; or None."""
        self.parts = parts
        """They are true where this one is."""
        self.by_row = by_row
        """Each row is computed by itself."""

    def texts(self) -> list[str]:
        """The texts that are true where this part is."""
        return [self.text] if self.text else [text for part in self.parts for text in part.texts()]

    def __and__(self, other: Any) -> _Part:
        if not isinstance(other, _Part):
            return _Part(by_row=False)
        text = f"({self.text} and {other.text})" if self.text and other.text else None
        return _Part(text, [self, other], self.by_row and other.by_row)

    def __or__(self, other: Any) -> _Part:
        if not isinstance(other, _Part):
            return _Part(by_row=False)
        text = f"({self.text} or {other.text})" if self.text and other.text else None
        return _Part(text, by_row=self.by_row and other.by_row)

    def __invert__(self) -> _Part:
        return _Part(f"(not {self.text})" if self.text else None, by_row=self.by_row)

    def _compared(self, operator: str, value: Any) -> _Part:
        return self._computed(value)

    def _computed(self, *values: Any) -> _Part:
        """Something of each row: of this part, of others, and of constants."""
        return _Part(by_row=self.by_row and all(v.by_row if isinstance(v, _Part) else is_scalar(v) for v in values))

    def __eq__(self, value: object) -> _Part:  # type: ignore[override]
        return self._compared("=", value)

    def __ne__(self, value: object) -> _Part:  # type: ignore[override]
        return self._compared("<>", value)

    def __lt__(self, value: Any) -> _Part:
        return self._compared("<", value)

    def __le__(self, value: Any) -> _Part:
        return self._compared("<=", value)

    def __gt__(self, value: Any) -> _Part:
        return self._compared(">", value)

    def __ge__(self, value: Any) -> _Part:
        return self._compared(">=", value)

    def __call__(self, *arguments: Any, **options: Any) -> _Part:
        return self._computed(*arguments, *options.values())

    def __getattr__(self, name: str) -> Any:
        return self._computed if name in ARITHMETIC else _Part(by_row=False)


class _Column(_Part):
    """A column, which is a condition if its type is boolean."""

    def __init__(self, name: str, kind: pa.DataType) -> None:
        self._name, self._kind = name, kind
        self.str, self.dt = _Accessor(self, OF_STRINGS), _Accessor(None, OF_TIMES)
        super().__init__(self.known(f"({name} = true)") if pa.types.is_boolean(kind) else None)

    def known(self, text: str) -> str:
        """A condition that is false where the column is null."""
        return f"({text} and {_filter.is_null(self._name, True)})"

    def match(self, operator: str, pattern: Any) -> _Part:
        """A condition on strings."""
        if isinstance(pattern, str) and not pa.types.is_dictionary(self._kind):
            with contextlib.suppress(Untranslatable):
                return _Part(self.known(_filter.match(self._name, operator, pattern, self._kind)))
        return self._computed(pattern)

    def _compared(self, operator: str, value: Any) -> _Part:
        try:
            if pa.types.is_dictionary(self._kind) and operator not in ("=", "<>"):
                raise Untranslatable("order of categories")
            text = _filter.compare(self._name, operator, _constant(_time(value, self._kind)), self._kind)
        except Untranslatable:
            return self._computed(value)
        return _Part(f"({text} or {_filter.is_null(self._name)})" if operator == "<>" else self.known(text))

    def between(self, left: Any, right: Any, inclusive: str = "both") -> _Part:
        low = self >= left if inclusive in ("both", "left") else self > left
        high = self <= right if inclusive in ("both", "right") else self < right
        both: _Part = low & high
        return both

    def isin(self, values: Any) -> _Part:
        try:
            constants = [_constant(v) for v in values]
            if any(isinstance(v, bytes) for v in constants):  # numpy cuts zeros off
                raise Untranslatable("bytes")
            return _Part(self.known(_filter.is_in(self._name, constants, self._kind)) if constants else "(false)")
        except (Untranslatable, TypeError):
            return _Part(by_row=False)

    def isna(self) -> _Part:
        null = _filter.is_null(self._name)
        return _Part(f"({null} or ({self._name} is nan))" if pa.types.is_floating(self._kind) else null)

    def notna(self) -> _Part:
        return ~self.isna()

    isnull, notnull = isna, notna


class _Accessor:
    """The methods of a column for strings, or for times."""

    def __init__(self, column: _Column | None, names: set[str]) -> None:
        self._column, self._names = column, names

    def __getattr__(self, name: str) -> Any:
        return _Part(by_row=name in self._names)

    def startswith(self, pattern: Any, **options: Any) -> _Part:
        return self._match("starts with", pattern, not options)

    def endswith(self, pattern: Any, **options: Any) -> _Part:
        return self._match("ends with", pattern, not options)

    def contains(self, pattern: Any, regex: bool = True, **options: Any) -> _Part:
        plain = not options and isinstance(pattern, str) and (not regex or re.escape(pattern) == pattern)
        return self._match("contains", pattern, plain)

    def _match(self, operator: str, pattern: Any, plain: bool) -> _Part:
        return self._column.match(operator, pattern) if plain and self._column is not None else _Part()


def _time(value: Any, kind: pa.DataType) -> Any:
    """A constant that is compared with a column: pandas reads texts as times."""
    if isinstance(value, str) and pa.types.is_timestamp(kind):
        try:
            return pandas.Timestamp(value, tz=kind.tz)
        except ValueError as e:
            raise Untranslatable(value) from e
    return value


def _constant(value: Any) -> Any:
    """A constant as Python's type of it. Times of pandas and numpy may have more digits."""
    if isinstance(value, (np.datetime64, pandas.Timestamp)):
        value = pandas.Timestamp(value)
        if getattr(value, "nanosecond", 1):
            raise Untranslatable("nanoseconds")
        return value.to_pydatetime()
    if isinstance(value, np.generic):
        value = value.item()
    if not is_scalar(value) or pandas.isna(value) or isinstance(value, (int, decimal.Decimal)) and not -ROUNDED < value < ROUNDED:
        raise Untranslatable(str(value))
    return value
