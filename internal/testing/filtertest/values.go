// Package filtertest checks package filter with random conditions on random data. It evaluates
// them value by value, in numbers of any size, with code that is independent of the code under
// test.
package filtertest

import (
	"fmt"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/amudai/amudai-go/internal/arrow/arrowutil"
	"github.com/amudai/amudai-go/internal/arrow/kinds"
	"github.com/amudai/amudai-go/internal/format/schema"
)

// column is a column of a batch, or a field inside of structs, as Go values: nil for null, a
// bool, a float64, a *big.Rat for other numbers and for times in nanoseconds, a string for
// bytes, and other for values without an order.
type column struct {
	path   string
	dt     arrow.DataType // without dictionaries, runs and extensions
	kind   string         // bool, number, float, time, clock, span, text, bytes, uuid, other
	values []any
}

// other stands for a value that is only compared with null.
type other struct{}

// columnsOf lists all columns, and the fields of structs whose names are not
// ambiguous.
func columnsOf(batch arrow.RecordBatch) []column {
	var out []column
	for i, f := range batch.Schema().Fields() {
		out = append(out, nested(schema.Escape(f.Name), batch.Column(i), make([]bool, batch.NumRows()))...)
	}
	return out
}

// nested is an array as a column, and its fields. missing marks the rows for which an enclosing
// struct is null.
func nested(path string, arr arrow.Array, missing []bool) []column {
	c := column{path: path, values: make([]any, arr.Len())}
	c.dt, c.kind = kindOf(arr.DataType())
	for i := range c.values {
		if !missing[i] {
			c.values[i] = value(arr, i)
		}
	}
	out := []column{c}
	st, ok := arr.(*array.Struct)
	if !ok {
		return out
	}
	inside := make([]bool, len(missing))
	for i := range inside {
		inside[i] = missing[i] || st.IsNull(i)
	}
	count := map[string]int{}
	fields := st.DataType().(*arrow.StructType).Fields()
	for _, f := range fields {
		count[f.Name]++
	}
	for k, f := range fields {
		if count[f.Name] == 1 {
			out = append(out, nested(path+"."+schema.Escape(f.Name), st.Field(k), inside)...)
		}
	}
	return out
}

// kindOf is the kind of comparison for the values of a type.
func kindOf(dt arrow.DataType) (plain arrow.DataType, kind string) {
	dt = kinds.Decoded(dt)
	if t, ok := dt.(arrow.ExtensionType); ok {
		plain, kind = kindOf(t.StorageType())
		switch t.ExtensionName() {
		case "arrow.bool8":
			kind = "bool"
		case "arrow.uuid":
			kind = "uuid"
		}
		return plain, kind
	}
	switch id := dt.ID(); {
	case id == arrow.BOOL:
		return dt, "bool"
	case arrow.IsInteger(id) || arrow.IsDecimal(id):
		return dt, "number"
	case arrow.IsFloating(id):
		return dt, "float"
	case id == arrow.DATE32 || id == arrow.DATE64 || id == arrow.TIMESTAMP:
		return dt, "time"
	case id == arrow.TIME32 || id == arrow.TIME64:
		return dt, "clock"
	case id == arrow.DURATION:
		return dt, "span"
	case kinds.IsText(dt):
		return dt, "text"
	case kinds.IsBinary(dt):
		return dt, "bytes"
	}
	return dt, "other"
}

// value is a value as a Go value.
func value(arr arrow.Array, i int) any {
	if ext, ok := arr.(array.ExtensionArray); ok {
		v := value(ext.Storage(), i)
		if n, ok := v.(*big.Rat); ok && ext.ExtensionType().ExtensionName() == "arrow.bool8" {
			return n.Sign() != 0
		}
		return v
	}
	if inner, at, ok := kinds.Inside(arr, i); !ok {
		return nil
	} else if inner != arr {
		return value(inner, at)
	}
	switch a := arr.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Float16:
		return float64(a.Value(i).Float32())
	case *array.Float32:
		return float64(a.Value(i))
	case *array.Float64:
		return a.Value(i)
	case interface{ Value(int) string }:
		return a.Value(i)
	case interface{ Value(int) []byte }:
		return string(a.Value(i))
	case *array.Decimal256:
		return scaled(a.Value(i).BigInt(), a.DataType())
	case *array.Decimal128:
		return scaled(a.Value(i).BigInt(), a.DataType())
	case *array.Decimal64:
		return scaled(big.NewInt(int64(a.Value(i))), a.DataType())
	case *array.Decimal32:
		return scaled(big.NewInt(int64(a.Value(i))), a.DataType())
	case *array.Uint64:
		return new(big.Rat).SetInt(new(big.Int).SetUint64(a.Value(i)))
	}
	return number(arr, i)
}

func scaled(n *big.Int, dt arrow.DataType) *big.Rat {
	scale := int64(dt.(arrow.DecimalType).GetScale())
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(max(scale, -scale)), nil)
	if scale < 0 {
		return new(big.Rat).SetInt(n.Mul(n, power))
	}
	return new(big.Rat).SetFrac(n, power)
}

// number is an integer or a time in nanoseconds.
func number(arr arrow.Array, i int) any {
	unit := int64(1)
	if t, ok := arr.DataType().(arrow.TemporalWithUnit); ok {
		unit = int64(t.TimeUnit().Multiplier())
	}
	value := arrowutil.Integers(arr)
	if value == nil {
		return other{}
	}
	switch arr.DataType().ID() {
	case arrow.DATE32:
		unit = 86_400_000_000_000
	case arrow.DATE64:
		unit = 1_000_000
	}
	v := big.NewInt(value(i))
	return new(big.Rat).SetInt(v.Mul(v, big.NewInt(unit)))
}

// compare compares two values of the same kind; ok is false for NaN.
func compare(a, b any) (order int, ok bool) {
	switch a := a.(type) {
	case bool:
		return int(truth(a)) - int(truth(b.(bool))), true
	case string:
		return strings.Compare(a, b.(string)), true
	case *big.Rat:
		return a.Cmp(b.(*big.Rat)), true
	case float64:
		return compareFloat(a, b)
	}
	panic(fmt.Sprintf("filtertest: %T has no order", a))
}

// compareFloat compares a float with a float, or exactly with a number.
func compareFloat(a float64, b any) (int, bool) {
	if n, ok := b.(*big.Rat); ok {
		exact := new(big.Rat).SetFloat64(a)
		switch {
		case a != a:
			return 0, false
		case exact != nil:
			return exact.Cmp(n), true
		case a > 0:
			return 1, true
		}
		return -1, true
	}
	switch f := b.(float64); {
	case a < f:
		return -1, true
	case a > f:
		return 1, true
	default:
		return 0, a == f
	}
}

// Truth is the value of a condition for a row.
type Truth int8

// The three truths of SQL.
const (
	Unknown Truth = iota
	False
	True
)

func truth(b bool) Truth {
	if b {
		return True
	}
	return False
}

func (t Truth) not() Truth { return map[Truth]Truth{True: False, False: True, Unknown: Unknown}[t] }
