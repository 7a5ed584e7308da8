package index

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zeebo/xxh3"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/extension"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/engine/valueset"
	"github.com/amudai/amudai-go/internal/text"
	"github.com/amudai/amudai-go/internal/text/jsontext"
)

// The hash of a value is the XXH3 of its key: the path of its column, a colon, and the bytes of the value (docs/format.md §15.3).

// keyClass is the name of the way in which values of a type become bytes, "" if they do not.
func keyClass(dt arrow.DataType) string {
	plain, name := extension.Unwrap(dt)
	if t, ok := plain.(arrow.DecimalType); ok {
		return fmt.Sprintf("decimal(%d)", t.GetScale())
	}
	if name == extension.NameUUID {
		return "uuid"
	}
	return keyClasses[plain.ID()]
}

var keyClasses = map[arrow.Type]string{
	arrow.BOOL: "bool", arrow.INT8: "int", arrow.INT16: "int", arrow.INT32: "int", arrow.INT64: "int",
	arrow.UINT8: "uint", arrow.UINT16: "uint", arrow.UINT32: "uint", arrow.UINT64: "uint",
	arrow.FLOAT16: "float", arrow.FLOAT32: "float", arrow.FLOAT64: "float",
	arrow.STRING: "bytes", arrow.LARGE_STRING: "bytes", arrow.STRING_VIEW: "bytes",
	arrow.BINARY: "bytes", arrow.LARGE_BINARY: "bytes", arrow.BINARY_VIEW: "bytes", arrow.FIXED_SIZE_BINARY: "bytes",
	arrow.DATE32: "time", arrow.DATE64: "time", arrow.TIMESTAMP: "time",
	arrow.TIME32: "clock", arrow.TIME64: "clock", arrow.DURATION: "duration",
}

// keyPath is the part of keys for a column.
func keyPath(names []string) string { return strings.Join(names, ".") + ":" }

// appendKeyNames appends the path and the class of each column in a column that has keys, such as "user.id:int".
func appendKeyNames(dst []string, path []string, dt arrow.DataType) []string {
	if storage := kinds.Storage(dt); kinds.Of(storage) == kinds.Record || kinds.Of(storage) == kinds.List {
		for i, f := range kinds.Fields(storage) {
			dst = appendKeyNames(dst, partPath(path, storage, i), f.Type)
		}
		return dst
	}
	if extension.IsJSON(dt) {
		return append(dst, keyPath(path)+classJSON)
	}
	if class := keyClass(dt); class != "" {
		dst = append(dst, keyPath(path)+class)
	}
	return dst
}

// partPath is the path of a part of a column. The items of a list have that of the list.
func partPath(path []string, dt arrow.DataType, i int) []string {
	names := kinds.Names(dt)
	if kinds.Of(dt) == kinds.List && len(names) == 1 {
		return path
	}
	return append(path[:len(path):len(path)], names[i])
}

// classJSON is the class of columns of JSON texts: their keys are those of the values within them.
const classJSON = "json"

// keyHasher calls yield with the hash of each key in an array.
type keyHasher struct {
	yield func(row uint32, hash uint64) error
	key   []byte
	text  []byte // of JSON
	texts jsontext.Scanner
}

// noRow is the row of values that are in no row.
const noRow = math.MaxUint32

// array hashes the values in an array at a path. rows are the rows of its values, which may be noRow.
func (h *keyHasher) array(path []string, arr arrow.Array, rows []uint32) error {
	json := extension.IsJSON(arr.DataType())
	arr, err := arrowutil.Plain(memory.DefaultAllocator, arr)
	if err != nil {
		return err
	}
	defer arr.Release()
	if v := kinds.Open(arr); v.Shape != kinds.Leaf {
		return h.parts(path, arr, v, withoutNulls(arr, rows))
	}
	appendValue := valueAppender(arr)
	if appendValue == nil {
		return nil
	}
	h.key = append(h.key[:0], keyPath(path)...)
	n := len(h.key)
	nulls := arrowutil.NullN(arr) > 0
	for i, row := range rows {
		if row == noRow || nulls && arr.IsNull(i) {
			continue
		}
		if json {
			h.text = appendValue(h.text[:0], i)
			if err := h.json(row, n-1, h.text); err != nil {
				return err
			}
			continue
		}
		h.key = appendValue(h.key[:n], i)
		if err := h.yield(row, xxh3.Hash(h.key)); err != nil {
			return err
		}
	}
	return nil
}

// parts hashes the fields of structs, and the items of lists.
func (h *keyHasher) parts(path []string, arr arrow.Array, v kinds.View, rows []uint32) error {
	for i, part := range v.Parts {
		inner := rows
		if v.Shape == kinds.List {
			first, end := v.Span(arr.Len())
			inner = make([]uint32, end-first)
			for i, row := range rows {
				from, to := v.Range(i)
				for k := from; k < to; k++ {
					inner[k-first] = row
				}
			}
			part = array.NewSlice(part, first, end)
			defer part.Release()
		}
		if err := h.array(partPath(path, arr.DataType(), i), part, inner); err != nil {
			return err
		}
	}
	return nil
}

// json hashes the values within a JSON text. The key has the path of its column, of some bytes.
func (h *keyHasher) json(row uint32, path int, b []byte) error {
	h.texts.Reset(b)
	return h.texts.Scalars(func(names [][]byte, kind byte, value []byte) error {
		if len(names) == 0 {
			return nil
		}
		h.key = h.key[:path]
		for _, name := range names {
			h.key = append(append(h.key, '.'), name...)
		}
		h.key = append(h.key, ':')
		switch kind {
		case 't', 'f':
			h.key = appendBool(h.key, kind == 't')
		case '"':
			h.key = append(h.key, value...)
		default:
			var ok bool
			if h.key, ok = text.AppendOrdered(h.key, value); !ok {
				return nil
			}
		}
		return h.yield(row, xxh3.Hash(h.key))
	})
}

// withoutNulls is the rows of an array without those of nulls.
func withoutNulls(arr arrow.Array, rows []uint32) []uint32 {
	if arrowutil.NullN(arr) == 0 {
		return rows
	}
	rows = slices.Clone(rows)
	for i := range rows {
		if arr.IsNull(i) {
			rows[i] = noRow
		}
	}
	return rows
}

// valueAppender returns a function that appends the bytes of a value, nil for arrays without such values.
func valueAppender(arr arrow.Array) func(dst []byte, i int) []byte {
	switch a := arr.(type) {
	case *array.Boolean:
		return func(dst []byte, i int) []byte { return appendBool(dst, a.Value(i)) }
	case *array.Decimal128:
		return func(dst []byte, i int) []byte {
			v := a.Value(i)
			sign := uint64(v.HighBits() >> 63)
			return appendDecimal(dst, valueset.Int256{v.LowBits(), uint64(v.HighBits()), sign, sign})
		}
	case *array.Decimal256:
		return func(dst []byte, i int) []byte { return appendDecimal(dst, valueset.Int256(a.Value(i).Array())) }
	}
	if float := arrowutil.Floats(arr); float != nil {
		return func(dst []byte, i int) []byte { return appendFloat(dst, float(i)) }
	}
	if value := arrowutil.BytesOf(arr); value != nil {
		return func(dst []byte, i int) []byte { return append(dst, value(i)...) }
	}
	integer := arrowutil.Integers(arr)
	switch unit := timeUnit(arr.DataType()); {
	case integer == nil:
		return nil
	case unit != (ticks{}):
		return func(dst []byte, i int) []byte { return unit.append(dst, integer(i)) }
	case arrow.IsDecimal(arr.DataType().ID()):
		return func(dst []byte, i int) []byte { return appendDecimal(dst, int256(integer(i))) }
	}
	return func(dst []byte, i int) []byte { return appendInt(dst, uint64(integer(i))) }
}

func appendInt(dst []byte, v uint64) []byte { return binary.LittleEndian.AppendUint64(dst, v) }

func appendBool(dst []byte, v bool) []byte {
	if v {
		return append(dst, '1')
	}
	return append(dst, '0')
}

func appendFloat(dst []byte, v float64) []byte {
	switch {
	case v == 0:
		v = 0 // not -0
	case v != v:
		v = math.Float64frombits(0x7ff8 << 48)
	}
	return appendInt(dst, math.Float64bits(v))
}

func appendDecimal(dst []byte, v valueset.Int256) []byte {
	for _, word := range v {
		dst = appendInt(dst, word)
	}
	return dst
}

func int256(v int64) valueset.Int256 {
	sign := uint64(v >> 63)
	return valueset.Int256{uint64(v), sign, sign, sign}
}

// ticks is the unit of a time: so many in a second, or so many seconds.
type ticks struct{ perSecond, seconds int64 }

// timeUnit is the unit of a type of times; zero for others.
func timeUnit(dt arrow.DataType) ticks {
	switch t := dt.(type) {
	case *arrow.Date32Type:
		return ticks{1, 86_400}
	case *arrow.Date64Type:
		return ticks{1000, 1}
	case arrow.TemporalWithUnit:
		return ticks{text.PerSecond(t.TimeUnit()), 1}
	}
	return ticks{}
}

// append appends whole seconds, and nanoseconds.
func (u ticks) append(dst []byte, v int64) []byte {
	seconds, rest := text.FloorDiv(v, u.perSecond)
	dst = appendInt(dst, uint64(seconds*u.seconds))
	return binary.LittleEndian.AppendUint32(dst, uint32(rest*(1e9/u.perSecond)))
}

// maxKeys bounds the keys of a condition. One of more is not asked.
const maxKeys = 1 << 16

// countKeys is the number of values that meet a test. ok is false if they cannot be listed.
func countKeys(test any) (n int64, ok bool) {
	switch t := test.(type) {
	case valueset.Bools:
		return 1, t.False != t.True
	case valueset.Ints:
		for _, i := range t {
			if uint64(i.Hi-i.Lo) >= maxKeys {
				return 0, false
			}
			n += i.Hi - i.Lo + 1
		}
	case valueset.Uints:
		for _, i := range t {
			if i.Hi-i.Lo >= maxKeys {
				return 0, false
			}
			n += int64(i.Hi-i.Lo) + 1
		}
	case valueset.Floats:
		for _, i := range t.Intervals {
			if i.Lo != i.Hi {
				return 0, false
			}
		}
		n = int64(len(t.Intervals))
		if t.NaN {
			n++
		}
	case valueset.Decimals:
		for _, i := range t {
			if i.Lo != i.Hi {
				return 0, false
			}
		}
		n = int64(len(t))
	case valueset.Bytes:
		_, ok := t.Constants()
		return int64(len(t)), ok && len(t) <= maxKeys
	default:
		return 0, false
	}
	return n, n <= maxKeys
}

// eachKey calls yield with the bytes of each value of a type that meets a test with countKeys.
func eachKey(dt arrow.DataType, test any, yield func(value []byte)) {
	var b []byte
	switch t := test.(type) {
	case valueset.Bools:
		yield(appendBool(b, t.True))
	case valueset.Ints:
		plain, _ := extension.Unwrap(dt)
		appendOne := func(b []byte, v int64) []byte { return appendInt(b, uint64(v)) }
		if unit := timeUnit(plain); unit != (ticks{}) {
			appendOne = unit.append
		} else if _, ok := plain.(arrow.DecimalType); ok {
			appendOne = func(b []byte, v int64) []byte { return appendDecimal(b, int256(v)) }
		}
		for _, i := range t {
			for k := range uint64(i.Hi-i.Lo) + 1 {
				yield(appendOne(b[:0], i.Lo+int64(k)))
			}
		}
	case valueset.Uints:
		for _, i := range t {
			for k := range i.Hi - i.Lo + 1 {
				yield(appendInt(b[:0], i.Lo+k))
			}
		}
	case valueset.Floats:
		for _, i := range t.Intervals {
			yield(appendFloat(b[:0], i.Lo))
		}
		if t.NaN {
			yield(appendFloat(b[:0], math.NaN()))
		}
	case valueset.Decimals:
		for _, i := range t {
			yield(appendDecimal(b[:0], i.Lo))
		}
	case valueset.Bytes:
		values, _ := t.Constants()
		for _, v := range values {
			yield(v)
		}
	}
}
